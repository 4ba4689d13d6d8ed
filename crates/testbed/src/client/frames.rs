//! Counts the delivered bytes of each HTTP/2 response, including those of incomplete frames.
//!
//! A browser reads a document as its bytes come in, and so does the simulated one. The HTTP library
//! delivers a DATA frame when all of it is there, which takes nginx's frames of 16 KiB a round trip
//! longer. The bytes are therefore observed on their way to the library.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::sync::Notify;

/// Length, type, flags and stream of a frame (RFC 9113 §4.1).
const HEADER: usize = 9;
/// The type of frames that carry a body (RFC 9113 §6.1).
const DATA: u8 = 0;

/// Delivered bytes on a connection, by stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    bytes: RefCell<BTreeMap<u32, u64>>,
    /// Streams that have been opened.
    opened: Cell<u32>,
    moved: Notify,
}

impl Arrivals {
    /// The stream of the next request: clients' are odd, one after another (RFC 9113 §5.1.1).
    pub(super) fn open(&self) -> u32 {
        let before = self.0.opened.get();
        self.0.opened.set(before + 1);
        2 * before + 1
    }

    /// Bytes of the body delivered on a stream.
    pub(super) fn of(&self, stream: u32) -> u64 {
        self.0.bytes.borrow().get(&stream).copied().unwrap_or(0)
    }

    /// Waits until further bytes are delivered on some stream.
    pub(super) async fn wait_for_bytes(&self) {
        self.0.moved.notified().await;
    }

    fn add(&self, stream: u32, bytes: u64) {
        *self.0.bytes.borrow_mut().entry(stream).or_default() += bytes;
        self.0.moved.notify_waiters();
    }
}

/// Finds DATA frames in a server's stream. nginx pads none.
#[derive(Debug, Default)]
pub(super) struct Frames {
    arrivals: Arrivals,
    header: Vec<u8>,
    /// Bytes of the present frame that are to come, and its stream if it is DATA.
    left: usize,
    stream: Option<u32>,
}

impl Frames {
    pub(super) fn new(arrivals: Arrivals) -> Self {
        Self { arrivals, ..Self::default() }
    }

    /// Processes the next bytes.
    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let (now, rest) = bytes.split_at(self.left.min(bytes.len()));
                self.left -= now.len();
                if let Some(stream) = self.stream {
                    self.arrivals.add(stream, now.len() as u64);
                }
                bytes = rest;
                continue;
            }
            let (now, rest) = bytes.split_at((HEADER - self.header.len()).min(bytes.len()));
            self.header.extend_from_slice(now);
            bytes = rest;
            if let [a, b, c, kind, _flags, d, e, f, g] = self.header[..] {
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
                // The highest bit means nothing.
                let stream = u32::from_be_bytes([d, e, f, g]) & (u32::MAX >> 1);
                self.stream = (kind == DATA).then_some(stream);
                self.header.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0, 0, payload as u8, kind, 0, 0x80, 0, 0, stream];
        bytes.resize(HEADER + payload, 7);
        bytes
    }

    /// HEADERS of 20 bytes, DATA of 100 and 50 on stream 1, and of 30 on stream 3 are cut anywhere.
    /// After a cut, each stream has the bytes before the cut; in the end all bytes are there.
    #[test]
    fn a_part_of_a_frame_counts_wherever_it_is_cut() {
        let all = [frame(1, 1, 20), frame(0, 1, 100), frame(0, 3, 30), frame(0, 1, 50)].concat();
        for cut in 0..=all.len() {
            let arrivals = Arrivals::default();
            let mut frames = Frames::new(arrivals.clone());
            frames.read(&all[..cut]);
            // The first DATA begins behind 29 bytes and its header, the second behind 38 + 100 and
            // its own, the third 39 later.
            let within = |begin: usize, bytes: usize| cut.saturating_sub(begin).min(bytes) as u64;
            assert_eq!(arrivals.of(1), within(38, 100) + within(186, 50), "{cut}");
            assert_eq!(arrivals.of(3), within(147, 30), "{cut}");
            frames.read(&all[cut..]);
            assert_eq!((arrivals.of(1), arrivals.of(3)), (150, 30));
        }
    }

    #[test]
    fn streams_of_a_client_are_odd() {
        let arrivals = Arrivals::default();
        assert_eq!([arrivals.open(), arrivals.open(), arrivals.open()], [1, 3, 5]);
    }
}
