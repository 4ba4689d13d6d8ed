//! Captures written packet by packet: a client and a server on the wire, in milliseconds.
//!
//! A test lists the packets in order, by [`CapturedWire::open`], [`CapturedWire::ask`],
//! [`CapturedWire::send`] and [`CapturedWire::ack`]. Segments have [`MSS`] bytes and are numbered
//! from 0.

use capture::{Observed, TcpEnd};
use segment::{Flags, SackBlocks, TcpOptions, Timestamps};
use std::net::IpAddr;
use units::{Duration, Instant, SeqNum};

/// A capture written packet by packet. Sequence numbers of both sides begin at [`ISN`], just before
/// the wrap.
#[derive(Clone, Debug, Default)]
pub struct CapturedWire {
    /// The segments captured so far.
    pub segments: Vec<Observed>,
    /// The client's port.
    pub port: u16,
    /// IP ID of the last packet.
    pub ip_id: u32,
}

/// The number of both SYNs.
pub const ISN: u32 = u32::MAX - 1500;
/// Payload of a segment, bytes.
pub const MSS: u32 = 1000;
/// The client's address.
pub const CLIENT: [u8; 4] = [192, 0, 2, 9];
/// The server's address; its port is 80.
pub const SERVER: [u8; 4] = [192, 0, 2, 1];

/// Returns the time `ms` milliseconds after the start, which is a second after the clock's zero.
pub fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(1) + Duration::from_millis(ms)
}

impl CapturedWire {
    /// Creates an empty capture.
    pub fn new() -> Self {
        Self { port: 40_000, ..Self::default() }
    }

    fn ends(&self) -> (TcpEnd, TcpEnd) {
        let end = |ip, port| TcpEnd { ip: IpAddr::from(ip), port };
        (end(CLIENT, self.port), end(SERVER, 80))
    }

    fn push(&mut self, ms: u64, from_server: bool, segment: Observed) -> &mut Observed {
        let (client, server) = self.ends();
        let (source, destination) = if from_server { (server, client) } else { (client, server) };
        self.ip_id += 1;
        let (at, ip_id, window) = (at(ms), self.ip_id, 60_000);
        let last = self.segments.len();
        self.segments.push(Observed { at, source, destination, ip_id, window, ..segment });
        &mut self.segments[last]
    }

    /// Adds a handshake of 100 ms, seen at the server; `sack`: the client offers SACK.
    pub fn open(&mut self, ms: u64, sack: bool) {
        let options =
            TcpOptions { mss: Some(MSS as u16), sack_permitted: sack, ..TcpOptions::default() };
        self.open_with(ms, ms, &options);
    }

    /// Adds a handshake of 100 ms without options, seen at the client.
    pub fn open_at_client(&mut self, ms: u64) {
        self.open_with(ms, ms + 100, &TcpOptions::default());
    }

    /// Adds a handshake from `ms` on, whose SYN-ACK passes the capture at `answered`.
    fn open_with(&mut self, ms: u64, answered: u64, options: &TcpOptions) {
        let (seq, options) = (SeqNum(ISN), options.into());
        let syn = Observed { seq, flags: Flags::SYN, options, ..Observed::default() };
        self.push(ms, false, syn);
        let flags = Flags::SYN.with(Flags::ACK);
        self.push(answered, true, Observed { flags, ack: SeqNum(ISN) + 1, ..syn });
        self.push(ms + 100, false, ack_of(1));
    }

    /// Adds a request of `len` bytes after `asked`, which acknowledges the server's first `n`
    /// segments.
    pub fn ask(&mut self, ms: u64, asked: u32, len: u32, n: u32) {
        let seq = SeqNum(ISN) + 1 + asked;
        self.push(ms, false, Observed { seq, payload: len, ..ack_of(1 + n * MSS) });
    }

    /// Adds these segments of the server, numbered from 0.
    pub fn send(&mut self, ms: u64, segments: impl IntoIterator<Item = u32>) {
        for n in segments {
            let seq = SeqNum(ISN) + 1 + n * MSS;
            let flags = Flags::ACK;
            let ack = SeqNum(ISN) + 301;
            self.push(ms, true, Observed { seq, ack, payload: MSS, flags, ..Observed::default() });
        }
    }

    /// Adds an ACK of all data before the n-th segment.
    pub fn ack(&mut self, ms: u64, n: u32) -> &mut Observed {
        let seq = SeqNum(ISN) + 301;
        self.push(ms, false, Observed { seq, ..ack_of(1 + n * MSS) })
    }

    /// Adds an ACK with SACK blocks for these ranges of segments.
    pub fn sack(&mut self, ms: u64, n: u32, ranges: &[(u32, u32)]) {
        let mut sack = SackBlocks::default();
        for &(from, to) in ranges {
            sack.push(SeqNum(ISN) + 1 + from * MSS, SeqNum(ISN) + 1 + to * MSS);
        }
        let options = TcpOptions { sack, ..TcpOptions::default() };
        self.ack(ms, n).options = (&options).into();
    }

    /// Adds any segment of the server or the client.
    pub fn other(&mut self, ms: u64, from_server: bool, segment: Observed) -> &mut Observed {
        self.push(ms, from_server, segment)
    }
}

/// Returns an ACK of all data below this offset.
pub fn ack_of(offset: u32) -> Observed {
    let (seq, ack) = (SeqNum(ISN) + 1, SeqNum(ISN) + offset);
    Observed { seq, ack, flags: Flags::ACK, ..Observed::default() }
}

/// Returns the timestamps of a segment.
pub fn stamped(value: u32, echo: u32) -> TcpOptions {
    TcpOptions { timestamps: Some(Timestamps { value, echo }), ..TcpOptions::default() }
}
