//! A box beside one connection, step by step, and packets that no sender sends.

use super::*;
use memory::{Gateway, GatewayConfig};
use proptest::prelude::*;
use tcp::{Flags, Segment};
use units::SeqNum;

const SERVER: [u8; 4] = [192, 0, 2, 1];
const CLIENT: [u8; 4] = [192, 0, 2, 9];
/// The first byte has this number, close before the wrap.
const FIRST: u32 = u32::MAX - 1500;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A box, and one connection of it whose segments have 1000 bytes.
struct Wire {
    passive: PassiveGateway,
    gateway: Rc<RefCell<Gateway>>,
}

impl Wire {
    fn new() -> Self {
        let gateway = Rc::new(RefCell::new(Gateway::new(GatewayConfig::default())));
        let servers = std::iter::once(SERVER.into());
        let model = SenderModel::of(SenderProfile::NewReno);
        Self { passive: PassiveGateway::beside(gateway.clone(), servers, model), gateway }
    }

    fn ends() -> [TcpEnd; 2] {
        [(SERVER, 80), (CLIENT, 40_000)].map(|(ip, port)| TcpEnd { ip: ip.into(), port })
    }

    /// The n-th segments, from 0, go out.
    fn send(&mut self, ms: u64, segments: impl IntoIterator<Item = u32>) {
        let [server, client] = Self::ends();
        for n in segments {
            let seq = SeqNum(FIRST) + n * 1000;
            let segment = Segment { seq, len: 1000, flags: Flags::ACK, ..Segment::default() };
            let segment = Observed::of_segment(at(ms), (server, client), &segment);
            self.passive.on_outgoing(&segment);
        }
    }

    /// An ACK of all before the n-th segment comes in, with a request of `len` bytes.
    fn ack_with(&mut self, ms: u64, n: u32, len: u32) {
        let [server, client] = Self::ends();
        let ack = SeqNum(FIRST) + n * 1000;
        let flags = Flags::ACK;
        let segment = Segment { ack, len, flags, window: 65_535, ..Segment::default() };
        let segment = Observed::of_segment(at(ms), (client, server), &segment);
        self.passive.coming.push(at(ms), segment);
    }

    fn ack(&mut self, ms: u64, n: u32) {
        self.ack_with(ms, n, 0);
    }

    /// Mean share that the gateway knows at a time, and of how many.
    fn shares(&mut self, ms: u64) -> Option<(u64, usize)> {
        self.passive.recall(at(ms), CLIENT.into());
        let (share, _) = self.gateway.borrow_mut().averages(at(ms), CLIENT.into());
        share.map(|average| (average.mean, average.count))
    }
}

/// NewReno begins with three segments of 1000 bytes. Slow start makes it six with three ACKs. A loss there says nothing of
/// the share. After it the threshold is half of the six that were outstanding, and the window 2000, because nothing is
/// outstanding (RFC 6582 §3.2). An ACK makes it 3000, and the next adds 1000 * 1000 / 3000 = 333. At the timeout the share is
/// a segment less than these 3333.
#[test]
fn a_loss_in_avoidance_tells_the_share() {
    let mut wire = Wire::new();
    wire.send(0, 0..3);
    for n in 1..=3 {
        wire.ack(99 + u64::from(n), n);
        wire.send(99 + u64::from(n), [2 * n + 1, 2 * n + 2]);
    }
    for ms in [200, 201, 202] {
        wire.ack(ms, 3);
    }
    wire.send(202, [3]);
    assert_eq!(wire.shares(202), None);
    wire.ack(300, 9);
    wire.send(300, 9..11);
    wire.ack(400, 10);
    wire.send(400, 11..13);
    wire.ack(401, 11);
    wire.send(401, [13]);
    assert_eq!(wire.shares(402), None);
    wire.send(2_000, [11]);
    assert_eq!(wire.shares(2_000), Some((2_333, 1)));
}

/// From three segments three ACKs make six. That is told once it has been quiet for a round trip of 100 ms, and at once if
/// the next request comes.
#[test]
fn a_transfer_without_loss_tells_its_window_when_it_has_ended() {
    let mut wire = Wire::new();
    wire.send(0, 0..3);
    for n in 1..=3 {
        wire.ack(100, n);
    }
    assert_eq!(wire.shares(150), None, "it may send on");
    assert_eq!(wire.shares(201), Some((6_000, 1)));
    let known = wire.passive.recall(at(201), CLIENT.into()).unwrap();
    assert_eq!(known.age, Duration::from_millis(101), "it was known at 100 ms");
    wire.send(300, 3..5);
    wire.ack(400, 5);
    wire.ack_with(401, 5, 300);
    assert_eq!(wire.shares(401).unwrap().1, 2);
}

proptest! {
    /// Whatever passes, the box goes on, and its gateway's answers pass.
    #[test]
    fn no_packets_upset_it(bytes in prop::collection::vec(any::<u8>(), 16..3_000)) {
        let gateway = Rc::new(RefCell::new(Gateway::new(GatewayConfig::default())));
        let model = SenderModel::of(SenderProfile::Linux);
        let mut passive = PassiveGateway::beside(gateway, std::iter::once(SERVER.into()), model);
        for segment in trace::testing::segments_of(&bytes) {
            if segment.source.ip == IpAddr::from(SERVER) {
                passive.on_outgoing(&segment);
            } else {
                passive.coming.push(segment.at, segment);
            }
            passive.recall(segment.at, CLIENT.into());
        }
    }
}
