//! Tests of a host against forged segments, floods, and peers that break the rules. Each test names
//! the rule and checks the counter of it.

mod floods;
mod forged;
mod patience;

use std::net::{IpAddr, Ipv4Addr};
use tcp::{
    ConnId, EventKind, Flags, FourTuple, Host, HostConfig, HostCounters, KeepAlive, Lifetimes,
    Limits, Scheme, Segment, State, TcpOptions, Timestamps, Transmit,
};
use units::{Duration, Instant, Rate, SeqNum};

const START: Instant = Instant::ZERO;
const PORT: u16 = 80;

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).unwrap()
}

fn ms(n: u64) -> Instant {
    START + Duration::from_millis(n)
}

fn secs(n: u64) -> Instant {
    START + Duration::from_secs(n)
}

fn from(n: u32, port: u16) -> FourTuple {
    let remote = IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + n));
    FourTuple { local_port: PORT, remote, remote_port: port }
}

fn sent(host: &mut Host, now: Instant) -> Vec<Transmit> {
    std::iter::from_fn(|| host.poll_transmit(now)).collect()
}

fn event_kinds(host: &mut Host) -> Vec<EventKind> {
    std::iter::from_fn(|| host.poll_event()).map(|event| event.kind).collect()
}

fn syn(seq: u32) -> Segment {
    let options = TcpOptions {
        mss: Some(1460),
        sack_permitted: true,
        window_scale: Some(7),
        timestamps: Some(Timestamps { value: 1000, echo: 0 }),
        ..TcpOptions::default()
    };
    Segment { seq: SeqNum(seq), flags: Flags::SYN, window: 60_000, options, ..Segment::default() }
}

/// A peer that has opened a connection to port 80, and both sides' next numbers.
struct Peer {
    tuple: FourTuple,
    id: ConnId,
    seq: SeqNum,
    ack: SeqNum,
    clock: Option<(u32, u32)>,
}

impl Peer {
    fn open(host: &mut Host, now: Instant, tuple: FourTuple) -> Self {
        Self::open_by(host, now, (tuple, syn(100)))
    }

    fn open_by(host: &mut Host, now: Instant, (tuple, syn): (FourTuple, Segment)) -> Self {
        host.handle_segment(now, &tuple, &syn);
        let answer = sent(host, now).pop().unwrap().segment;
        assert!(answer.has(Flags::SYN.with(Flags::ACK)));
        let clock = answer.options.timestamps.map(|ts| (1000, ts.value));
        let id = ConnId(u32::MAX);
        let mut peer = Self { tuple, id, seq: syn.seq + 1, ack: answer.seq + 1, clock };
        peer.give(host, now, peer.segment(Flags::ACK));
        let accepted = std::iter::from_fn(|| host.poll_event());
        peer.id = accepted.last().unwrap().conn;
        peer
    }

    fn segment(&self, flags: Flags) -> Segment {
        let timestamps = self.clock.map(|(value, echo)| Timestamps { value, echo });
        let options = TcpOptions { timestamps, ..TcpOptions::default() };
        let (seq, ack) = (self.seq, self.ack);
        Segment { seq, ack, flags, window: 60_000, options, ..Segment::default() }
    }

    fn give(&self, host: &mut Host, now: Instant, segment: Segment) -> Vec<Transmit> {
        host.handle_segment(now, &self.tuple, &segment);
        sent(host, now)
    }

    fn state(&self, host: &Host) -> Option<State> {
        host.connection(self.id).map(|conn| conn.state())
    }
}

fn server(name: &str) -> Host {
    let mut host = Host::new(HostConfig { seed: 1 });
    host.listen(PORT, scheme(name));
    host
}

/// Returns the distance of a segment's start from the peer's acknowledgement.
fn offset(segment: &Segment, peer: &Peer) -> u32 {
    segment.seq.distance_from(peer.ack) as u32
}

/// Receives the host's data from now on for ten minutes, in order only, after `una` bytes received
/// before, and acknowledges it. Returns the number of bytes in the end.
fn receive_from(host: &mut Host, peer: &Peer, (mut now, mut una): (Instant, u32)) -> u32 {
    let mut answered = Vec::new();
    for _ in 0..6000 {
        let until = now + Duration::from_millis(100);
        let timed = run(host, &mut now, until).into_iter().map(|(_, segment)| segment);
        for segment in timed.chain(answered.drain(..)).collect::<Vec<_>>() {
            if offset(&segment, peer) == una {
                una += segment.len;
            }
        }
        let ack = Segment { ack: peer.ack + una, ..peer.segment(Flags::ACK) };
        answered = peer.give(host, now, ack).into_iter().map(|t| t.segment).collect();
    }
    una
}

/// Runs all timers until `until`; returns the segments sent, and their times.
fn run(host: &mut Host, now: &mut Instant, until: Instant) -> Vec<(Instant, Segment)> {
    let mut all = Vec::new();
    loop {
        all.extend(sent(host, *now).into_iter().map(|t| (*now, t.segment)));
        match host.poll_timeout().filter(|at| *at <= until) {
            Some(at) => {
                *now = (*now).max(at);
                host.handle_timeout(*now);
            }
            None => break,
        }
    }
    *now = until;
    all
}
