//! The part of HTTP/2 (RFC 9113) that consecutive calls need. It is small, so that the asker takes
//! little of the processors that it shares with the gateway. The headers of all calls are the same:
//! after the first call they are six indices of tables (RFC 7541).

use std::error::Error;

/// The first bytes of a client (RFC 9113 §3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Size of a frame's header, bytes.
const HEAD: usize = 9;
/// Initial window of a connection, bytes (RFC 9113 §6.9.2).
const FIRST_WINDOW: i64 = 65_535;
/// The largest window (RFC 9113 §6.9.1).
const MAX_WINDOW: u32 = (1 << 31) - 1;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;

/// Writes a client's frames, within the limits of the peer.
pub(crate) struct FrameWriter {
    /// Frames that have not been written yet.
    pub(crate) bytes: Vec<u8>,
    authority: String,
    next_stream: u32,
    /// Number of bytes of data that the peer accepts.
    window: i64,
    /// Number of calls that the peer answers at a time.
    most_calls: u32,
}

impl FrameWriter {
    /// Starts with the preface, no server push, and room for all answers.
    pub(crate) fn new(authority: String) -> Self {
        let mut writer = Self {
            bytes: PREFACE.to_vec(),
            authority,
            next_stream: 1,
            window: FIRST_WINDOW,
            most_calls: u32::MAX,
        };
        let settings = [(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, MAX_WINDOW)];
        let settings: Vec<u8> =
            settings.iter().flat_map(|(key, value)| setting(*key, *value)).collect();
        writer.frame(SETTINGS, 0, 0, &settings);
        writer.allow(MAX_WINDOW - FIRST_WINDOW as u32);
        writer
    }

    /// Returns true if another call may begin with a message of this many bytes, while `open` calls
    /// are open.
    pub(crate) fn may_call(&self, open: usize, message: usize) -> bool {
        open < self.most_calls as usize && self.window >= message as i64
    }

    /// Starts a call with its one message. The number of its stream is two more than that of the
    /// call before.
    pub(crate) fn call(&mut self, message: &[u8]) {
        let stream = self.next_stream;
        let headers =
            if stream == 1 { first_headers(&self.authority) } else { LATER_HEADERS.to_vec() };
        self.frame(HEADERS, END_HEADERS, stream, &headers);
        self.frame(DATA, END_STREAM, stream, message);
        self.window -= message.len() as i64;
        self.next_stream += 2;
    }

    /// Lets the peer send this many more bytes of answers.
    pub(crate) fn allow(&mut self, bytes: u32) {
        self.frame(WINDOW_UPDATE, 0, 0, &bytes.to_be_bytes());
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
        self.bytes.extend_from_slice(&[kind, flags]);
        self.bytes.extend_from_slice(&stream.to_be_bytes());
        self.bytes.extend_from_slice(payload);
    }

    /// Applies a frame of the peer that concerns the connection.
    fn heed(&mut self, frame: &Frame<'_>) -> Result<(), Box<dyn Error>> {
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => {
                for setting in frame.payload.chunks_exact(6) {
                    let [a, b, value @ ..] = setting else { continue };
                    let value: [u8; 4] = value.try_into()?;
                    if u16::from_be_bytes([*a, *b]) == MAX_CONCURRENT_STREAMS {
                        self.most_calls = u32::from_be_bytes(value);
                    }
                }
                self.frame(SETTINGS, ACK, 0, &[]);
            }
            PING if frame.flags & ACK == 0 => self.frame(PING, ACK, 0, frame.payload),
            WINDOW_UPDATE if frame.stream == 0 => {
                self.window += i64::from(u32::from_be_bytes(frame.payload.try_into()?));
            }
            GO_AWAY => return Err("the gateway ends the connection".into()),
            RESET => return Err(format!("the gateway ends call {}", frame.stream).into()),
            _ => {}
        }
        Ok(())
    }
}

fn setting(key: u16, value: u32) -> [u8; 6] {
    let ([a, b], [c, d, e, f]) = (key.to_be_bytes(), value.to_be_bytes());
    [a, b, c, d, e, f]
}

/// Headers of later calls. The first two are indices of the static table: the method POST, the
/// scheme https. The others are indices of the entries that [`first_headers`] has put in the
/// dynamic table, whose newest entry has the index 62.
const LATER_HEADERS: [u8; 6] = [0x83, 0x87, 0x80 | 65, 0x80 | 64, 0x80 | 63, 0x80 | 62];

/// Returns the headers of the first call, as literals for the dynamic table (RFC 7541 §6.2.1)
/// without Huffman coding. The method and the scheme are indices here, too.
fn first_headers(authority: &str) -> Vec<u8> {
    let mut block = LATER_HEADERS[..2].to_vec();
    let path = "/headstart.gateway.v1.Gateway/Ask";
    // The static table has `:authority` at 1, `:path` at 4 and `content-type` at 31; `te` is not in
    // it.
    for (name, value) in [(1, authority), (4, path), (31, "application/grpc")] {
        block.push(0x40 | name);
        push_text(&mut block, value);
    }
    block.push(0x40);
    push_text(&mut block, "te");
    push_text(&mut block, "trailers");
    block
}

/// Texts in this block are shorter than 127 bytes, so the length is one byte.
fn push_text(block: &mut Vec<u8>, text: &str) {
    block.push(text.len() as u8);
    block.extend_from_slice(text.as_bytes());
}

/// A received frame.
struct Frame<'a> {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Returns the first frame of `bytes`, and the bytes after it; nothing if the frame is
    /// incomplete.
    fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let &[a, b, c, kind, flags, s, t, u, v] = head;
        let (payload, rest) = rest.split_at_checked(u32::from_be_bytes([0, a, b, c]) as usize)?;
        let stream = u32::from_be_bytes([s, t, u, v]) & MAX_WINDOW;
        Some((Self { kind, flags, stream, payload }, rest))
    }
}

/// A gateway's output for a call.
pub(crate) enum Said<'a> {
    /// A part of its answer.
    Data(&'a [u8]),
    /// The end of the answer.
    End,
}

/// Received bytes that form no whole frame yet.
#[derive(Default)]
pub(crate) struct FrameReader {
    pub(crate) bytes: Vec<u8>,
    /// Bytes of answers since the peer's window was last extended.
    taken: u32,
}

impl FrameReader {
    /// Calls `hear` with the output of each call and the number of its stream, and lets `writer`
    /// answer frames that concern the connection.
    pub(crate) fn read(
        &mut self,
        writer: &mut FrameWriter,
        mut hear: impl FnMut(u32, Said<'_>) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let mut rest = &self.bytes[..];
        while let Some((frame, behind)) = Frame::split(rest) {
            match frame.kind {
                DATA => {
                    self.taken += frame.payload.len() as u32;
                    hear(frame.stream, Said::Data(frame.payload))?;
                }
                HEADERS => {}
                _ => writer.heed(&frame)?,
            }
            if matches!(frame.kind, DATA | HEADERS) && frame.flags & END_STREAM != 0 {
                hear(frame.stream, Said::End)?;
            }
            rest = behind;
        }
        let left = rest.len();
        self.bytes.drain(..self.bytes.len() - left);
        if self.taken > MAX_WINDOW / 4 {
            writer.allow(self.taken);
            self.taken = 0;
        }
        Ok(())
    }
}
