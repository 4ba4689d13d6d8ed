//! Links against times worked out by hand, and against the ties that the reference traces show.

use link::{Link, LinkConfig, LinkFate, Occupancy, QueueLimit, Stage};
use rand_pcg::Pcg32;
use units::{Duration, Instant, Rate};

const MS: u64 = 1_000_000;

fn link(rate: u64, delay_ms: u64, queue: QueueLimit) -> Link {
    let delay = Duration::from_millis(delay_ms);
    Link::new(LinkConfig::new(Rate::from_bps(rate), delay, queue).unwrap(), Pcg32::new(1, 1))
}

fn offer(link: &mut Link, now: Instant, bytes: u32) -> LinkFate {
    match link.stage() {
        Stage::Fifo(fifo) => fifo.offer(now, bytes),
        stage => panic!("{stage:?}"),
    }
}

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// Time at which a packet of `bytes` entering the first of `path` at `now` has left the last.
fn traverse(path: &mut [Link], now: Instant, bytes: u32) -> Instant {
    path.iter_mut().fold(now, |now, link| match offer(link, now, bytes) {
        LinkFate::Delivered { arrives, .. } => arrives,
        fate => panic!("{fate:?}"),
    })
}

/// The reference path, one way: 10 Mbit/s 1 ms, 1.5 Mbit/s 50 ms, 10 Mbit/s 1 ms.
fn one_way() -> [Link; 3] {
    let unlimited = QueueLimit::Unlimited;
    [link(10_000_000, 1, unlimited), link(1_500_000, 50, unlimited), link(10_000_000, 1, unlimited)]
}

fn round_trip(out: u32, back: u32) -> Instant {
    let there = traverse(&mut one_way(), Instant::ZERO, out);
    traverse(&mut one_way(), there, back)
}

#[test]
fn round_trips_of_the_reference_path() {
    // 1040 bytes: 832 us + 5546667 ns + 832 us and 52 ms of delay one way; 40 bytes back:
    // 32 us + 213333 ns + 32 us and 52 ms.
    assert_eq!(round_trip(1040, 40), at(111_488_000));
    // 1000 bytes: 800 us + 5333333 ns + 800 us there.
    assert_eq!(round_trip(1000, 40), at(111_210_666));
    // 40 bytes both ways.
    assert_eq!(round_trip(40, 40), at(104_554_666));
}

#[test]
fn queue_size_counts_the_packet_in_service() {
    // 1000 bytes at 8 Mbit/s take 1 ms.
    let mut link = link(8_000_000, 0, QueueLimit::Packets(3));
    let fates: Vec<_> = (0..4).map(|_| offer(&mut link, at(0), 1000)).collect();
    assert_eq!(fates[2], LinkFate::Delivered { departs: at(3 * MS), arrives: at(3 * MS) });
    assert_eq!(fates[3], LinkFate::Dropped, "one in service, two waiting");
    assert_eq!(link.occupancy(at(0)), Occupancy { packets: 3, bytes: 3000 });
}

#[test]
fn a_departure_at_exactly_t_is_in_the_way_of_an_arrival_at_t() {
    let mut link = link(8_000_000, 5, QueueLimit::Packets(1));
    assert_eq!(
        offer(&mut link, at(0), 1000),
        LinkFate::Delivered { departs: at(MS), arrives: at(6 * MS) }
    );
    assert_eq!(offer(&mut link, at(MS), 1000), LinkFate::Dropped);
    let next = offer(&mut link, at(MS + 1), 1000);
    assert_eq!(next, LinkFate::Delivered { departs: at(2 * MS + 1), arrives: at(7 * MS + 1) });
}

#[test]
fn no_fraction_is_carried() {
    // 1040 bytes at 1.5 Mbit/s: 5546666.67 ns, rounded up each time, so three take 1 ns more than
    // the 16640000 of exact arithmetic.
    let mut link = link(1_500_000, 0, QueueLimit::Unlimited);
    for k in 1..=3 {
        let departs = at(k * 5_546_667);
        assert_eq!(
            offer(&mut link, at(0), 1040),
            LinkFate::Delivered { departs, arrives: departs }
        );
    }
}

#[test]
fn a_lost_packet_has_taken_its_time_on_the_link() {
    let config = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, QueueLimit::Unlimited);
    let mut link = Link::new(config.unwrap().with_loss(0.5).unwrap(), Pcg32::new(1, 1));
    for k in 1..=100 {
        match offer(&mut link, at(0), 1000) {
            LinkFate::Delivered { departs, .. } | LinkFate::Lost { departs } => {
                assert_eq!(departs, at(k * MS));
            }
            LinkFate::Dropped => panic!("unlimited"),
        }
    }
    // Mean 50, standard deviation 5; four of them.
    assert!((30..=70).contains(&link.counters().lost_packets));
}
