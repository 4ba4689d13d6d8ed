//! A box beside one connection, step by step, and packets that no sender sends.

use super::*;
use memory::{EarlyLoss, Gateway, GatewayConfig, QuietShare};
use proptest::prelude::*;
use trace::testing::wire::{CLIENT, CapturedWire, SERVER, at};

/// A box, and one connection beside it whose segments have 1000 bytes.
struct Beside {
    wire: CapturedWire,
    passive: PassiveGateway,
    gateway: Rc<RefCell<Gateway>>,
}

impl Beside {
    fn new() -> Self {
        Self::by(ShareRule::default())
    }

    fn by(rule: ShareRule) -> Self {
        let gateway = Rc::new(RefCell::new(Gateway::new(GatewayConfig::default())));
        let servers = std::iter::once(SERVER.into());
        let model = SenderModel::of(SenderProfile::NewReno);
        let passive = PassiveGateway::for_servers(gateway.clone(), servers, model).by(rule);
        Self { wire: CapturedWire::new(), passive, gateway }
    }

    /// Sends the n-th segments, from 0.
    fn send(&mut self, ms: u64, segments: impl IntoIterator<Item = u32>) {
        self.wire.send(ms, segments);
        self.wire.segments.drain(..).for_each(|segment| self.passive.on_outgoing(&segment));
    }

    /// Receives an ACK of all before the n-th segment, with a request of `len` bytes.
    fn ack_with(&mut self, ms: u64, n: u32, len: u32) {
        self.wire.ask(ms, 0, len, n);
        let in_transit = self.wire.segments.drain(..);
        in_transit.for_each(|segment| self.passive.in_transit.push(segment.at, segment));
    }

    fn ack(&mut self, ms: u64, n: u32) {
        self.ack_with(ms, n, 0);
    }

    /// Sends three segments and, in slow start, six more. The fourth is found lost at 202 ms, and
    /// retransmitted.
    fn lose_the_fourth(&mut self) {
        self.send(0, 0..3);
        for n in 1..=3 {
            self.ack(99 + u64::from(n), n);
            self.send(99 + u64::from(n), [2 * n + 1, 2 * n + 2]);
        }
        for ms in [200, 201, 202] {
            self.ack(ms, 3);
        }
        self.send(202, [3]);
    }

    /// Returns the mean share that the gateway knows at a time, and the number of samples.
    fn shares(&mut self, ms: u64) -> Option<(u64, usize)> {
        self.passive.recall(at(ms), CLIENT.into());
        let (share, _) = self.gateway.borrow_mut().averages(at(ms), CLIENT.into());
        share.map(|average| (average.mean, average.count))
    }
}

/// NewReno begins with three segments of 1000 bytes. Slow start makes it six with three ACKs. A
/// loss there shows nothing about the share. After it the threshold is half of the six that were
/// outstanding, and the window 2000, because nothing is outstanding (RFC 6582 §3.2). An ACK makes
/// it 3000, and the next adds 1000 * 1000 / 3000 = 333. At the timeout the share is a segment less
/// than these 3333.
#[test]
fn a_loss_in_avoidance_tells_the_share() {
    let mut beside = Beside::new();
    beside.lose_the_fourth();
    assert_eq!(beside.shares(202), None);
    beside.ack(300, 9);
    beside.send(300, 9..11);
    beside.ack(400, 10);
    beside.send(400, 11..13);
    beside.ack(401, 11);
    beside.send(401, [13]);
    assert_eq!(beside.shares(402), None);
    beside.send(2_000, [11]);
    assert_eq!(beside.shares(2_000), Some((2_333, 1)));
}

/// Three ACKs make six segments from three. The gateway gets that once the connection has been
/// quiet for a round trip of 100 ms, and at once if the next request arrives.
#[test]
fn a_transfer_without_loss_tells_its_window_when_it_has_ended() {
    let mut beside = Beside::new();
    beside.send(0, 0..3);
    for n in 1..=3 {
        beside.ack(100, n);
    }
    assert_eq!(beside.shares(150), None, "it may send on");
    assert_eq!(beside.shares(201), Some((6_000, 1)));
    let known = beside.passive.recall(at(201), CLIENT.into()).unwrap();
    assert_eq!(known.age, Duration::from_millis(101), "it was known at 100 ms");
    beside.send(300, 3..5);
    beside.ack(400, 5);
    beside.ack_with(401, 5, 300);
    assert_eq!(beside.shares(401).unwrap().1, 2);
}

/// Three segments are sent at once under a window of 3. Rules that ignore the growth by the last
/// ACKs report that window, or as much in flight. A rule of losses alone reports nothing.
#[test]
fn a_rebuilt_sender_tells_what_the_rule_asks_for() {
    let expected = [
        (QuietShare::Sent, Some((3_000, 1))),
        (QuietShare::Used, Some((3_000, 1))),
        (QuietShare::Nothing, None),
    ];
    for (quiet, share) in expected {
        let mut beside = Beside::by(ShareRule { quiet, ..ShareRule::default() });
        beside.send(0, 0..3);
        for n in 1..=3 {
            beside.ack(100, n);
        }
        assert_eq!(beside.shares(201), share, "{quiet:?}");
    }
}

/// The fourth is found lost in slow start at a window of 6: the share is 5 segments.
#[test]
fn a_rebuilt_loss_in_slow_start_tells_the_share_if_the_rule_says_so() {
    let mut beside = Beside::by(ShareRule { early_loss: EarlyLoss::Share, ..ShareRule::default() });
    beside.lose_the_fourth();
    assert_eq!(beside.shares(202), Some((5_000, 1)));
}

proptest! {
    /// With any packets, the box goes on, and its gateway's answers pass.
    #[test]
    fn no_packets_upset_it(bytes in prop::collection::vec(any::<u8>(), 16..3_000)) {
        let gateway = Rc::new(RefCell::new(Gateway::new(GatewayConfig::default())));
        let model = SenderModel::of(SenderProfile::Linux);
        let mut passive = PassiveGateway::for_servers(gateway, std::iter::once(SERVER.into()), model);
        for segment in trace::testing::segments_of(&bytes) {
            if segment.source.ip == IpAddr::from(SERVER) {
                passive.on_outgoing(&segment);
            } else {
                passive.in_transit.push(segment.at, segment);
            }
            passive.recall(segment.at, CLIENT.into());
        }
    }
}
