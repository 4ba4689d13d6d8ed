//! Turns, and drops where there is no room, packet by packet (RFC 8290 §4.1, §4.2). No packet waits
//! long enough for CoDel.

use super::*;
use crate::{PacketInfo, QueueLimit};
use units::Duration;

/// A scheduler with quantum 1500, that has taken in packets of these flows and sizes; with the
/// flows of dropped packets.
fn taken(limit: u32, drop_batch: u32, packets: &[(u64, u32)]) -> (FqCoDel, Vec<u64>) {
    let config = FqCoDelConfig { quantum: 1500, drop_batch, ..FqCoDelConfig::default() };
    let room = Room { limit: QueueLimit::Packets(limit), in_service: Occupancy::default() };
    let (mut queue, mut dropped) = (FqCoDel::new(config, 1), Dropped::new());
    for (token, &(flow, bytes)) in (0..).zip(packets) {
        let info = PacketInfo { flow, ..PacketInfo::plain(bytes) };
        let packet = Queued { token, info, since: Instant::ZERO, marked: false };
        assert!(queue.enqueue(packet, room, &mut dropped));
    }
    (queue, dropped.iter().map(|packet| packet.info.flow).collect())
}

/// The flows of the packets that go.
fn order(queue: &mut FqCoDel) -> Vec<u64> {
    let next = || queue.dequeue(Instant::ZERO, &mut Dropped::new()).map(|packet| packet.info.flow);
    std::iter::from_fn(next).collect()
}

/// A packet of exactly the quantum uses up the turn. Flows that are new go in the order in which
/// they came.
#[test]
fn a_turn_is_a_quantum() {
    let [one, two, three] = [1, 2, 3].map(|flow| (flow, 1500));
    let (mut queue, _) = taken(100, 64, &[two, two, one, one, three]);
    assert_eq!(order(&mut queue), [2, 1, 3, 2, 1]);
    assert_eq!(queue.occupancy(), Occupancy::default());
}

/// A packet of 1501 bytes owes one: after its next turn of 1500 the flow is still below a whole
/// quantum. Its packet of 1499 therefore uses the turn up, and the other flow's two of 750 go
/// before its last.
#[test]
fn what_a_flow_owes_is_taken_off_its_next_turn() {
    let packets = [(1, 1501), (1, 1499), (1, 1500), (2, 1500), (2, 750), (2, 750)];
    let (mut queue, _) = taken(100, 64, &packets);
    assert_eq!(order(&mut queue), [1, 2, 1, 2, 2, 1]);
}

/// Half of the longest queue pays for one packet too many, rounded up, but no more than a batch.
#[test]
fn the_longest_queue_loses_half_or_a_batch() {
    let of = |limit, batch| {
        let (queue, dropped) = taken(limit, batch, &vec![(1, 1000); limit as usize + 1]);
        (dropped.len(), queue.occupancy().packets)
    };
    assert_eq!([of(4, 64), of(7, 64), of(8, 2)], [(3, 2), (4, 4), (2, 7)]);
}

/// The longest queue is the one with most bytes, also if another has more packets.
#[test]
fn bytes_say_which_queue_is_longest() {
    let packets = [vec![(1, 1500); 2], vec![(2, 100); 9]].concat();
    assert_eq!(taken(10, 64, &packets).1, [1]);
}

/// CoDel's drops free room: 1000 packets wait 10 ms when the first goes, and a second later the
/// next one finds them at fault.
#[test]
fn what_codel_drops_frees_its_room() {
    let (mut queue, _) = taken(1000, 64, &[(1, 1000); 1000]);
    let mut dropped = Dropped::new();
    let after_ms = |ms| Instant::ZERO + Duration::from_millis(ms);
    assert!(queue.dequeue(after_ms(10), &mut dropped).is_some());
    assert!(queue.dequeue(after_ms(1010), &mut dropped).is_some());
    assert_eq!(dropped.len(), 1);
    assert_eq!(queue.occupancy(), Occupancy { packets: 997, bytes: 997_000 });
}

/// The flows that share one of eight queues differ from run to run.
#[test]
fn collisions_of_flows_change_with_the_salt() {
    let config = FqCoDelConfig { queues: 8, ..FqCoDelConfig::default() };
    let of =
        |salt| (0..64).map(|flow| FqCoDel::new(config, salt).queue_of(flow)).collect::<Vec<_>>();
    let (one, other) = (of(1), of(2));
    // An eighth of 2016 pairs share a queue, 252 with a standard deviation of 15; an eighth of
    // those share one with both salts.
    let pairs = |queues: &[u32]| -> Vec<(usize, usize)> {
        let all = (0..64).flat_map(|a| (0..a).map(move |b| (a, b)));
        all.filter(|&(a, b)| queues[a] == queues[b]).collect()
    };
    let common = pairs(&one).iter().filter(|pair| pairs(&other).contains(pair)).count();
    assert!(common < 80, "{common}");
}
