//! A capture of any length of a busy server, many of whose connections are open at a time. Each
//! opens, asks, is answered and closes. An analysis in bounded memory has to drop the connections
//! that are over.

use std::io::{self, Read};

/// Bytes of a record: its header, Ethernet, IPv4 and TCP with timestamps. Payload is not captured.
const RECORD: usize = 16 + PACKET;
const PACKET: usize = 14 + IP;
const IP: usize = 20 + 32;
/// Payload of a full segment.
const MSS: u32 = 1448;
/// First port of a client and number of its ports, which it uses in turn.
const PORTS: (u16, u32) = (40_000, 25_000);
/// Payload of a request, bytes.
const REQUEST: u32 = 300;
/// Time between two packets of the capture, microseconds.
const PACKET_SPACING_US: u64 = 20;

const FIN: u8 = 1;
const SYN: u8 = 2;
const PUSH: u8 = 8;
const ACK: u8 = 16;

/// The bytes of an endless pcap file; the same each time. One client in 64 loses a segment, which
/// is retransmitted.
pub struct BusyServer {
    open: Vec<Exchange>,
    hosts: u32,
    /// Index of the connection whose packet is next.
    turn: usize,
    started: u32,
    packets: u64,
    record: Vec<u8>,
    /// Number of bytes of the record that have been read.
    read: usize,
}

/// A connection, and its next step.
#[derive(Clone, Copy)]
struct Exchange {
    number: u32,
    step: u32,
}

/// A packet of a connection: its sender, the offset of its first byte, and the offset that it
/// acknowledges.
struct Sent {
    is_server: bool,
    flags: u8,
    start: u32,
    acked: u32,
    payload: u32,
}

impl BusyServer {
    /// Creates a capture with `open` connections at a time, the first of which start together, of
    /// `hosts` hosts in turn; at most 2^24.
    pub fn new(open: u32, hosts: u32) -> Self {
        // pcap 2.4, microseconds, no zone, snap length, Ethernet.
        let words: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 96, 1];
        let record = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let open: Vec<_> = (0..open).map(|number| Exchange { number, step: 0 }).collect();
        Self { started: open.len() as u32, open, hosts, turn: 0, packets: 0, record, read: 0 }
    }

    /// Returns the number of connections that have started.
    pub const fn connections(&self) -> u32 {
        self.started
    }

    /// Returns address and port of a connection's client.
    const fn client(&self, exchange: Exchange) -> ([u8; 4], u16) {
        let [_, a, b, c] = (exchange.number % self.hosts).to_be_bytes();
        let (first, ports) = PORTS;
        ([10, a, b, c], first + (exchange.number / self.hosts % ports) as u16)
    }

    /// Writes the next packet.
    fn next(&mut self) {
        let exchange = self.open[self.turn];
        match exchange.sent() {
            Some(sent) => {
                self.open[self.turn].step += 1;
                self.turn = (self.turn + 1) % self.open.len();
                self.record.clear();
                self.record.extend(record(
                    self.client(exchange),
                    self.packets * PACKET_SPACING_US,
                    &sent,
                ));
                self.packets += 1;
                self.read = 0;
            }
            None => {
                self.open[self.turn] = Exchange { number: self.started, step: 0 };
                self.started += 1;
                self.next();
            }
        }
    }
}

impl Exchange {
    /// Returns the packet of the step; `None` after the last.
    fn sent(self) -> Option<Sent> {
        let Self { number, step } = self;
        let client = |flags, start, acked, payload| {
            Some(Sent { is_server: false, flags, start, acked, payload })
        };
        let server = |flags, start, acked, payload| {
            Some(Sent { is_server: true, flags, start, acked, payload })
        };
        // 2 to 32 segments, two and an ACK at a time.
        let pairs = 1 + number % 16;
        let end = 1 + 2 * pairs * MSS;
        let asked = 1 + REQUEST;
        let is_lossy = number % 64 == 63;
        match step {
            0 => client(SYN, 0, 0, 0),
            1 => server(SYN | ACK, 0, 1, 0),
            2 => client(ACK, 1, 1, 0),
            3 => client(PUSH | ACK, 1, 1, REQUEST),
            _ if step - 4 < 3 * pairs => {
                let (pair, part) = ((step - 4) / 3, (step - 4) % 3);
                let start = 1 + 2 * pair * MSS;
                // The last segment of a lossy client is lost.
                let lost = if is_lossy && pair + 1 == pairs { MSS } else { 0 };
                match part {
                    2 => client(ACK, asked, start + 2 * MSS - lost, 0),
                    _ => server(ACK, start + part * MSS, asked, MSS),
                }
            }
            _ => match (step - 4 - 3 * pairs, is_lossy) {
                (0, true) => server(ACK, end - MSS, asked, MSS),
                (1, true) => client(ACK, asked, end, 0),
                (2, true) | (0, false) => server(FIN | ACK, end, asked, 0),
                (3, true) | (1, false) => client(FIN | ACK, asked, end + 1, 0),
                (4, true) | (2, false) => server(ACK, end + 1, asked + 1, 0),
                _ => None,
            },
        }
    }
}

/// Returns the record of a packet between the server and this client, sent `micros` microseconds
/// after the start.
fn record(client: ([u8; 4], u16), micros: u64, sent: &Sent) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    let length = PACKET as u32 + sent.payload;
    let seconds = (1_700_000_000 + micros / 1_000_000) as u32;
    let head = [seconds, (micros % 1_000_000) as u32, PACKET as u32, length];
    for (field, word) in record.chunks_exact_mut(4).zip(head) {
        field.copy_from_slice(&word.to_le_bytes());
    }
    let mut put = |at: usize, bytes: &[u8]| record[16 + at..][..bytes.len()].copy_from_slice(bytes);
    put(12, &[8, 0, 0x45]);
    put(16, &((IP as u32 + sent.payload) as u16).to_be_bytes());
    // Each packet has an IP ID of its own, so that none is a copy of another.
    put(18, &((micros / PACKET_SPACING_US) as u16).to_be_bytes());
    put(22, &[64, 6]);
    let ends = [client, ([192, 0, 2, 1], 443)];
    let [from, to] = if sent.is_server { [1, 0] } else { [0, 1] }.map(|end| ends[end]);
    put(26, &from.0);
    put(30, &to.0);
    put(34, &from.1.to_be_bytes());
    put(36, &to.1.to_be_bytes());
    put(38, &sent.start.to_be_bytes());
    put(42, &sent.acked.to_be_bytes());
    put(46, &[0x80, sent.flags, 0xff, 0xff]);
    let millis = (micros / 1000) as u32 + 1;
    put(54, &[1, 1, 8, 10]);
    put(58, &millis.to_be_bytes());
    put(62, &millis.to_be_bytes());
    record
}

impl Read for BusyServer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            if self.read == self.record.len() {
                self.next();
            }
            let bytes = self.record.len().min(self.read + into.len() - filled) - self.read;
            into[filled..][..bytes].copy_from_slice(&self.record[self.read..][..bytes]);
            self.read += bytes;
            filled += bytes;
        }
        Ok(filled)
    }
}
