//! A sender rebuilt from packets alone, step by step, and packets that no sender sends.

use memory::passive::{FlowKey, IncomingPacket, ObservedSender, OutgoingPacket, Passive};
use memory::{Gateway, GatewayConfig, PathMemory, Shared};
use proptest::prelude::*;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::{Duration, Instant, SeqNum};

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn flow(port: u16) -> FlowKey {
    let [local, remote] = [1, 9].map(|host| IpAddr::from([192, 0, 2, host]));
    FlowKey { local, remote, ports: (80, port) }
}

/// A box, and one connection of which the first byte has number `FIRST`, close before the wrap.
struct Wire {
    passive: Passive,
    gateway: Rc<RefCell<Gateway>>,
}

const FIRST: u32 = u32::MAX - 1500;

impl Wire {
    fn new() -> Self {
        let gateway = Rc::new(RefCell::new(Gateway::new(GatewayConfig::default())));
        Self { passive: Passive::new(gateway.clone() as Shared, 10), gateway }
    }

    /// The n-th segment of 1000 bytes, from 0, goes out.
    fn send(&mut self, ms: u64, segments: impl IntoIterator<Item = u32>) {
        for n in segments {
            let seq = SeqNum(FIRST) + n * 1000;
            let packet = OutgoingPacket { seq, len: 1000, ..OutgoingPacket::default() };
            self.passive.on_outgoing(at(ms), &flow(1), &packet);
        }
    }

    /// An ACK of all before the n-th segment comes in.
    fn ack(&mut self, ms: u64, n: u32) {
        let ack = Some(SeqNum(FIRST) + n * 1000);
        let packet = IncomingPacket { ack, window: 65_535, ..IncomingPacket::default() };
        self.passive.on_incoming(at(ms), &flow(1), &packet);
    }

    fn sender(&self) -> &ObservedSender {
        self.passive.sender(&flow(1)).unwrap()
    }

    fn windows(&self) -> (u64, u64) {
        (self.sender().cwnd(), self.sender().ssthresh())
    }

    fn shares(&self, ms: u64) -> Option<(u64, usize)> {
        let (share, _) = self.gateway.borrow_mut().averages(at(ms), flow(1).remote);
        share.map(|average| (average.mean, average.count))
    }
}

#[test]
fn slow_start_loss_and_avoidance_are_followed() {
    let mut wire = Wire::new();
    wire.send(0, 0..2);
    assert_eq!(wire.windows(), (2000, u64::MAX), "the first window is what was sent");
    // Each ACK brings two more: slow start, 2 to 4, in a round trip of 100 ms.
    wire.ack(100, 1);
    wire.send(100, 2..4);
    wire.ack(101, 2);
    wire.send(101, 4..6);
    assert_eq!(wire.windows(), (4000, u64::MAX));
    assert_eq!(wire.sender().srtt(), Duration::from_micros(100_125), "100, then 101: an eighth");
    // The third is lost; three duplicates, and it goes again: half of the four outstanding.
    for ms in [200, 201, 202] {
        wire.ack(ms, 2);
    }
    wire.send(202, [2]);
    assert_eq!(wire.windows(), (2000, 2000));
    assert_eq!(wire.shares(202), None, "a loss in slow start says nothing of the share");
    wire.ack(300, 6);
    // Recovery is over; from here on avoidance: a segment a window.
    wire.send(300, 6..8);
    wire.ack(400, 7);
    wire.send(400, [8]);
    wire.ack(401, 8);
    wire.send(401, [9]);
    // 2000 + 1000 * 1000 / 2000 = 2500, + 1000 * 1000 / 2500 = 2900.
    assert_eq!(wire.windows(), (2900, 2000));
    wire.send(900, [8]);
    assert_eq!(wire.shares(900), Some((1900, 1)), "a segment less than the window at the loss");
}

#[test]
fn a_retransmission_that_no_ack_brings_out_is_a_timeout() {
    let mut wire = Wire::new();
    wire.send(0, 0..4);
    wire.ack(100, 1);
    wire.send(600, [1]);
    // Three are outstanding: half of it is less than two segments, the least.
    assert_eq!(wire.windows(), (1000, 2000));
}

#[test]
fn a_transfer_that_stays_quiet_for_a_round_trip_tells_its_last_window() {
    let mut wire = Wire::new();
    wire.send(0, 0..2);
    wire.ack(100, 1);
    wire.ack(101, 2);
    assert_eq!(wire.passive.recall(at(150), flow(1).remote), None, "it may send on");
    let known = wire.passive.recall(at(202), flow(1).remote).unwrap();
    // Slow start from 2 by two ACKs; and it was known at 101 ms.
    assert_eq!((known.share, known.age), (Some(4000), Duration::from_millis(101)));
    // With a request the next transfer begins, however soon.
    wire.send(300, 2..4);
    wire.ack(400, 4);
    let request =
        IncomingPacket { ack: Some(SeqNum(FIRST) + 4000), len: 300, ..IncomingPacket::default() };
    wire.passive.on_incoming(at(401), &flow(1), &request);
    assert_eq!(wire.shares(401).unwrap().1, 2);
}

#[test]
fn a_window_that_new_data_shows_to_be_full_is_no_larger() {
    // Begins with four in avoidance, as a sender does that a gateway has told its window.
    let mut wire = Wire::new();
    wire.send(0, 0..4);
    for n in 1..=3 {
        wire.ack(100 + u64::from(n), n);
        wire.send(100 + u64::from(n), [n + 3]);
    }
    // Slow start would have seven by now. The second new segment showed that four was all.
    let (cwnd, ssthresh) = wire.windows();
    assert!((4000..6000).contains(&cwnd), "{cwnd}");
    assert_eq!(ssthresh, 4000);
}

proptest! {
    /// Whatever passes, the box goes on, follows no more than it may, and its gateway's answers pass.
    #[test]
    fn no_packets_upset_it(
        packets in prop::collection::vec(
            (any::<bool>(), 0..20_u16, any::<u32>(), any::<u32>(), any::<u16>(), any::<(bool, bool)>(), any::<u64>()),
            1..200,
        ),
    ) {
        let gateway = Rc::new(RefCell::new(Gateway::new(GatewayConfig::default())));
        let mut passive = Passive::new(gateway as Shared, 4);
        for (out, port, number, len, window, (syn, flag), nanos) in packets {
            // Close numbers and far ones, real sizes and absurd ones, a clock that jumps.
            let (number, len) = if flag { (number % 8000, len % 1461) } else { (number, len) };
            let now = Instant::from_nanos(if flag { nanos % 1_000_000_000_000 } else { nanos });
            if out {
                let packet = OutgoingPacket { seq: SeqNum(number), len, syn, scaling: flag };
                passive.on_outgoing(now, &flow(port), &packet);
            } else {
                let window_scale = syn.then_some(len as u8);
                let ack = Some(SeqNum(number));
                let packet = IncomingPacket { ack, window, len: len / 2, window_scale, ends: flag && syn };
                passive.on_incoming(now, &flow(port), &packet);
            }
            let followed = (0..20).filter(|port| passive.sender(&flow(*port)).is_some()).count();
            prop_assert!(followed <= 4);
            passive.recall(now, flow(port).remote);
        }
    }
}
