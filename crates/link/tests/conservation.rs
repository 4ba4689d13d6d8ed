//! What every link keeps under any load: packets are conserved, order holds, the rate and the
//! limit are never exceeded.

use link::{Fate, Link, LinkConfig, QueueLimit, Stage};
use proptest::prelude::*;
use rand_pcg::Pcg32;
use std::ops::Range;
use units::{Duration, Instant, Rate};

/// Arrivals as (gap in ns since the one before, bytes).
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let size = prop_oneof![Just(40u32), Just(1000), 1u32..9000];
    prop::collection::vec((0u64..3_000_000, size), 1..300)
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (1u32..40).prop_map(QueueLimit::Packets),
        (1u64..40_000).prop_map(QueueLimit::Bytes),
        Just(QueueLimit::Unlimited),
    ]
}

fn links() -> impl Strategy<Value = Link> {
    const RATES: Range<u64> = 100_000..1_000_000_000;
    (RATES, 0u64..100, limits(), 0.0..0.5f64, any::<u64>()).prop_map(
        |(rate, delay, queue, loss, seed)| {
            let (rate, delay) = (Rate::from_bps(rate), Duration::from_millis(delay));
            let config = LinkConfig::new(rate, delay, queue).unwrap().with_loss(loss).unwrap();
            Link::new(config, Pcg32::new(seed, 1))
        },
    )
}

fn offer(link: &mut Link, now: Instant, bytes: u32) -> Fate {
    match link.stage() {
        Stage::Fifo(fifo) => fifo.offer(now, bytes),
        stage => panic!("{stage:?}"),
    }
}

/// When a packet left the queue, if it entered.
fn departure(fate: Fate) -> Option<Instant> {
    match fate {
        Fate::Delivered { departs, .. } | Fate::Lost { departs } => Some(departs),
        Fate::Dropped => None,
    }
}

proptest! {
    #[test]
    fn in_equals_out_plus_dropped_plus_queued(mut link in links(), load in arrivals()) {
        let (mut now, mut taken, mut dropped) = (Instant::ZERO, Vec::new(), 0);
        for (gap, bytes) in load {
            now += Duration::from_nanos(gap);
            match departure(offer(&mut link, now, bytes)) {
                Some(departs) => taken.push((departs, u64::from(bytes))),
                None => dropped += 1,
            }
            let queued: Vec<_> = taken.iter().filter(|(departs, _)| *departs >= now).collect();
            let occupancy = link.occupancy(now);
            prop_assert_eq!(queued.len(), occupancy.packets as usize);
            prop_assert_eq!(queued.iter().map(|(_, b)| b).sum::<u64>(), occupancy.bytes);
        }
        let counters = link.counters();
        prop_assert_eq!(counters.taken_packets, taken.len() as u64);
        prop_assert_eq!(counters.taken_bytes, taken.iter().map(|(_, b)| b).sum::<u64>());
        prop_assert_eq!(counters.dropped_packets, dropped);
        let last = taken.last().map_or(Instant::ZERO, |(departs, _)| *departs);
        prop_assert_eq!(link.occupancy(last + Duration::from_nanos(1)).packets, 0);
    }

    #[test]
    fn packets_leave_in_order_and_no_faster_than_the_rate(mut link in links(), load in arrivals()) {
        let (rate, delay) = (link.config().rate(), link.config().delay());
        let (mut now, mut free_at) = (Instant::ZERO, Instant::ZERO);
        for (gap, bytes) in load {
            now += Duration::from_nanos(gap);
            let fate = offer(&mut link, now, bytes);
            let Some(departs) = departure(fate) else { continue };
            // Work-conserving: it starts as soon as it is there and the one before has gone.
            let start = now.max(free_at);
            prop_assert_eq!(departs, start + rate.transmit_time(u64::from(bytes)));
            if let Fate::Delivered { arrives, .. } = fate {
                prop_assert_eq!(arrives, departs + delay);
            }
            free_at = departs;
        }
    }

    #[test]
    fn the_limit_is_never_exceeded(mut link in links(), load in arrivals()) {
        let mut now = Instant::ZERO;
        for (gap, bytes) in load {
            now += Duration::from_nanos(gap);
            offer(&mut link, now, bytes);
            let held = link.occupancy(now);
            match link.config().queue() {
                QueueLimit::Packets(limit) => prop_assert!(held.packets <= limit),
                QueueLimit::Bytes(limit) => prop_assert!(held.bytes <= limit || held.packets == 1),
                QueueLimit::Unlimited => prop_assert_eq!(link.counters().dropped_packets, 0),
            }
        }
    }
}
