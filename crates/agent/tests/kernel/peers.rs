//! Hosts that the test itself plays, segment by segment. They connect to the server through a
//! device of their own in its namespace, from any address that no link of the bed has.

use crate::bed::{Bed, NAME};
use emulator::{Addresses, Interface, InterfaceConfig, Port};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;
use tcp::{Flags, SackBlocks, Segment, TcpOptions};
use units::SeqNum;
use wire::{Marking, Packet, TcpPacket};

/// Delay of a peer's answers: the round trip that the server sees.
const ROUND_TRIP: Duration = Duration::from_millis(20);
/// A window as wide as one can be, by the largest shift (RFC 7323 §2.3).
const WINDOW: u16 = u16::MAX;
const SHIFT: u8 = 14;
const MSS: u16 = 1460;
/// Handshakes under way at a time, fewer than a queue of them holds.
const AT_ONCE: usize = 500;

/// The way to all of them.
pub(crate) struct Peers {
    port: Port,
    server: SocketAddr,
    _device: Interface,
}

/// State of a connection at its peer.
pub(crate) struct Standing {
    /// Next sequence number to send.
    pub(crate) next: SeqNum,
    /// The first that it has not got, were it to say the truth of a network that loses nothing.
    pub(crate) got: SeqNum,
}

impl Peers {
    /// Peers of a server that listens already.
    pub(crate) fn of(bed: &Bed, server: SocketAddr) -> Self {
        let [_, near] = Addresses::numbered(12);
        let config = InterfaceConfig::new(near).with_default_route();
        let device = Interface::open(bed.server.namespace(), &config).unwrap();
        Self { port: device.port(), server, _device: device }
    }

    /// Asks for `bytes` from an address, and acknowledges each segment at once.
    pub(crate) fn visit(&self, from: SocketAddr, bytes: u64) {
        self.visit_announcing(from, bytes, |standing, _| vec![standing.agrees()]);
    }

    /// The same, and says `announce` of each round trip's segments instead.
    pub(crate) fn visit_announcing(
        &self,
        from: SocketAddr,
        bytes: u64,
        mut announce: impl FnMut(&Standing, &[Segment]) -> Vec<Segment>,
    ) {
        let mut standing = self.open(from, Flags::FIN, &bytes.to_be_bytes());
        loop {
            let came = self.round_trip(from);
            for segment in &came {
                if segment.seq == standing.got {
                    standing.got = segment.seq + segment.sequence_len();
                }
            }
            for claim in announce(&standing, &came) {
                self.send(from, &claim, &[]);
            }
            let has_ended =
                |s: &Segment| s.has(Flags::FIN) && s.seq + s.sequence_len() == standing.got;
            if came.iter().any(has_ended) {
                self.send(from, &standing.agrees(), &[]);
                return;
            }
        }
    }

    /// Asks for `bytes` from an address, acknowledges each segment, and closes when all are
    /// received. If `loses_fin`, the first FIN of the server is lost.
    pub(crate) fn visit_and_close(&self, from: SocketAddr, bytes: u64, loses_fin: bool) {
        let mut standing = self.open(from, Flags(0), &bytes.to_be_bytes());
        let end = standing.got + (NAME + bytes) as u32;
        while standing.got != end {
            for segment in self.round_trip(from) {
                if segment.seq == standing.got {
                    standing.got = segment.seq + segment.sequence_len();
                }
            }
            self.send(from, &standing.agrees(), &[]);
        }
        let fin = Segment { flags: Flags::ACK.with(Flags::FIN), ..standing.agrees() };
        self.send(from, &fin, &[]);
        standing.next = standing.next + 1;
        let mut fins = 0;
        while fins <= u32::from(loses_fin) {
            fins += self.round_trip(from).iter().filter(|segment| segment.has(Flags::FIN)).count()
                as u32;
        }
        standing.got = standing.got + 1;
        self.send(from, &standing.agrees(), &[]);
    }

    /// Opens a connection and sends `data` with its last segment of the handshake, and `flags`.
    fn open(&self, from: SocketAddr, flags: Flags, data: &[u8]) -> Standing {
        self.send(from, &syn(), &[]);
        let answer = self.round_trip(from);
        let answer = answer.iter().find(|segment| segment.has(Flags::SYN)).expect("it listens");
        let standing = Standing::after(answer);
        let mut first = standing.agrees();
        first.flags = first.flags.with(flags);
        first.len = data.len() as u32;
        self.send(from, &first, data);
        Standing { next: first.seq + first.sequence_len(), ..standing }
    }

    /// Begins a connection, and lets it be.
    pub(crate) fn knock(&self, from: SocketAddr) {
        self.send(from, &syn(), &[]);
    }

    /// Opens a connection from each address, and says nothing over it.
    pub(crate) fn open_many(&self, from: &[SocketAddr]) {
        for some in from.chunks(AT_ONCE) {
            for from in some {
                self.send(*from, &syn(), &[]);
            }
            let mut open = 0;
            while open < some.len() {
                self.wait();
                for packet in self.came().iter().filter(|packet| packet.segment.has(Flags::SYN)) {
                    self.send(packet.destination, &Standing::after(&packet.segment).agrees(), &[]);
                    open += 1;
                }
            }
        }
    }

    /// Segments to an address until a round trip has passed since the first of them.
    fn round_trip(&self, to: SocketAddr) -> Vec<Segment> {
        self.wait();
        thread::sleep(ROUND_TRIP);
        let came = self.came().into_iter().filter(|packet| packet.destination == to);
        came.map(|packet| packet.segment).collect()
    }

    /// Waits for a packet.
    fn wait(&self) {
        let mut fds = [PollFd::new(self.port.as_fd(), PollFlags::POLLIN)];
        let ready = poll(&mut fds, PollTimeout::from(20_000_u16)).unwrap();
        assert!(ready > 0, "the server is silent");
    }

    /// Reads all packets that are waiting.
    fn came(&self) -> Vec<TcpPacket> {
        let mut buffer = [0; 1 << 16];
        let mut came = Vec::new();
        while let Ok(length) = self.port.read(&mut buffer) {
            if let Ok(Packet::Tcp(packet, _)) = wire::parse(&buffer[..length]) {
                came.push(packet);
            }
        }
        came
    }

    fn send(&self, from: SocketAddr, segment: &Segment, data: &[u8]) {
        let packet = TcpPacket::new(from, self.server, *segment, &Marking::default());
        let mut bytes = Vec::new();
        wire::write(&packet, data, &mut bytes).unwrap();
        self.port.write(&bytes).unwrap();
    }
}

impl Standing {
    /// State after the second segment of the handshake.
    fn after(answer: &Segment) -> Self {
        Self { next: answer.ack, got: answer.seq + 1 }
    }

    /// Acknowledges all that was received.
    pub(crate) fn agrees(&self) -> Segment {
        self.acknowledges(self.got)
    }

    /// Acknowledges everything before `ack`.
    pub(crate) fn acknowledges(&self, ack: SeqNum) -> Segment {
        segment(self.next, ack)
    }

    /// Acknowledges everything before `ack`, and by SACK these parts behind it.
    pub(crate) fn selects(&self, ack: SeqNum, parts: &[(SeqNum, SeqNum)]) -> Segment {
        let mut sack = SackBlocks::default();
        for (left, right) in parts {
            sack.push(*left, *right);
        }
        let options = TcpOptions { sack, ..TcpOptions::default() };
        Segment { options, ..self.acknowledges(ack) }
    }
}

fn syn() -> Segment {
    let options = TcpOptions {
        mss: Some(MSS),
        window_scale: Some(SHIFT),
        sack_permitted: true,
        ..TcpOptions::default()
    };
    Segment { flags: Flags::SYN, options, ..segment(SeqNum(1), SeqNum(0)) }
}

fn segment(seq: SeqNum, ack: SeqNum) -> Segment {
    Segment { seq, ack, window: WINDOW, flags: Flags::ACK, ..Segment::default() }
}
