//! The control law at its boundaries (RFC 8289 §5.5, §5.6): a target of 5 ms, an interval of 100
//! ms, an MTU of 1514 bytes.

use super::*;
use crate::PacketInfo;

const fn at_us(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// Adds packets of `bytes` at the time `since`.
fn arrive(queue: &mut Waiting, since: Instant, (ecn_capable, sizes): (bool, &[u32])) {
    for &bytes in sizes {
        let info = PacketInfo { ecn_capable, ..PacketInfo::plain(bytes) };
        queue.push(Queued { token: 0, info, since, marked: false });
    }
}

/// A queue of `count` packets of 1000 bytes since 0.
fn full(ecn_capable: bool, count: usize) -> Waiting {
    let mut queue = Waiting::default();
    arrive(&mut queue, Instant::ZERO, (ecn_capable, &vec![1000; count]));
    queue
}

/// Number of packets dropped at the departure at each of these instants.
fn drops<const N: usize>(queue: &mut Waiting, us: [u64; N]) -> [usize; N] {
    let mut codel = CoDel::new(CoDelConfig::default());
    us.map(|us| {
        let mut dropped = Dropped::new();
        assert!(codel.dequeue(at_us(us), queue, &mut dropped).is_some());
        dropped.len()
    })
}

/// A wait of the target is above it. The first drop comes an interval after it was found, the
/// second an interval after the first.
#[test]
fn the_first_drop_comes_an_interval_after_the_target_was_reached() {
    let found = drops(&mut full(false, 20), [5_000, 104_999, 105_000, 204_999, 205_000]);
    assert_eq!(found, [0, 0, 1, 0, 1]);
    // At 4.999 ms nothing had waited for the target: the interval does not begin then.
    assert_eq!(drops(&mut full(false, 20), [4_999, 5_000, 104_999, 105_000]), [0, 0, 0, 1]);
}

/// A packet that has waited for less than the target ends the interval; the next one begins its
/// own.
#[test]
fn a_good_packet_begins_the_interval_anew() {
    let mut queue = full(false, 1);
    arrive(&mut queue, at_us(49_000), (false, &[1000; 20]));
    assert_eq!(drops(&mut queue, [5_000, 50_000, 105_000, 204_999, 205_000]), [0, 0, 0, 0, 1]);
}

/// At most an MTU is left behind the head: nothing is at fault.
#[test]
fn a_queue_of_one_mtu_is_never_at_fault() {
    for (behind, dropped) in [(1514, 0), (1515, 1)] {
        let mut queue = Waiting::default();
        arrive(&mut queue, Instant::ZERO, (false, &[1000, 1000, behind]));
        assert_eq!(drops(&mut queue, [5_000, 105_000]), [0, dropped]);
    }
}

/// The link stood still from 105 ms to 500 ms. By then strikes were due at 205 ms, and 71, 58, 50,
/// 45 and 41 ms after each other. They are six, of which the last was due at 469 ms and the next
/// one is at 507 ms. Overdue drops are made at once; a mark strikes one departing packet.
#[test]
fn strikes_that_are_overdue_are_made_up_for() {
    let times = [5_000, 105_000, 500_000, 500_000];
    assert_eq!(drops(&mut full(false, 20), times), [0, 1, 6, 0]);
    let (mut codel, mut queue) = (CoDel::new(CoDelConfig::default()), full(true, 20));
    let mut dropped = Dropped::new();
    let times = [5_000, 105_000].into_iter().chain([500_000; 7]);
    let marks: Vec<bool> = times
        .map(|us| codel.dequeue(at_us(us), &mut queue, &mut dropped).is_some_and(|one| one.marked))
        .collect();
    assert_eq!(marks, [false, true, true, true, true, true, true, true, false]);
    assert!(dropped.is_empty());
}

/// Without ECN, drops replace marks.
#[test]
fn without_ecn_nothing_is_marked() {
    let config = CoDelConfig { ecn: false, ..CoDelConfig::default() };
    let (mut codel, mut queue) = (CoDel::new(config), full(true, 20));
    let mut dropped = Dropped::new();
    let goes = [5_000, 105_000].map(|us| codel.dequeue(at_us(us), &mut queue, &mut dropped));
    assert!(goes.into_iter().all(|packet| packet.is_some_and(|packet| !packet.marked)));
    assert_eq!(dropped.len(), 1);
}

/// RFC 8289 §5.5: `count - lastcount` strikes of the last state of dropping are where the next
/// begins if that is less than 16 intervals ago and they were more than one. The second strike is
/// then 100 ms over their root away.
#[test]
fn a_rate_of_less_than_sixteen_intervals_ago_is_taken_up() {
    for (ago_us, strikes, next_us) in
        [(1_599_999, 4, 50_000), (1_600_000, 4, 100_000), (0, 1, 100_000), (0, 2, 70_710)]
    {
        let mut codel = CoDel::new(CoDelConfig::default());
        (codel.count, codel.last_count, codel.drop_next) = (7 + strikes, 7, at_us(10_000_000));
        let now = at_us(10_000_000 + ago_us);
        codel.begin_dropping(now);
        assert_eq!(
            (codel.drop_next - now).as_nanos() / 1000,
            next_us,
            "{strikes}, {ago_us} us ago"
        );
    }
}
