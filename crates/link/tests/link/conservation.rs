//! Invariants of every link under any load, whatever its discipline. Packets are conserved, the
//! rate and the limit are never exceeded, and the link is never idle while a packet waits. The
//! times at which the driver wakes change nothing.

use crate::common::{self, End, loads, quick, run, run_on_time};
use link::{Discipline, Link, LinkConfig, QueueLimit, RateTrace, RedConfig, Ties, TraceStep};
use proptest::prelude::*;
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Duration, Instant, Rate};

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (4u32..40).prop_map(QueueLimit::Packets),
        (2000u64..40_000).prop_map(QueueLimit::Bytes),
    ]
}

/// Every discipline, with parameters that make it act on loads this short.
fn disciplines() -> impl Strategy<Value = Discipline> {
    prop::sample::select(Discipline::all().to_vec()).prop_map(quick)
}

fn ties() -> impl Strategy<Value = Ties> {
    prop_oneof![Just(Ties::StillIn), Just(Ties::Gone)]
}

/// Drop-tail links of any limit and links of any discipline that can be.
fn configs() -> impl Strategy<Value = LinkConfig> {
    let queue = prop_oneof![
        (1u32..40).prop_map(|n| (QueueLimit::Packets(n), Discipline::DropTail)),
        (1u64..40_000).prop_map(|n| (QueueLimit::Bytes(n), Discipline::DropTail)),
        Just((QueueLimit::Unlimited, Discipline::DropTail)),
        (limits(), disciplines()),
        (limits(), disciplines()),
        (limits(), disciplines()),
    ];
    (100_000u64..1_000_000_000, 0u64..100, queue, 0.0..0.5f64, ties()).prop_map(
        |(rate, delay, (limit, discipline), loss, ties)| {
            let (rate, delay) = (Rate::from_bps(rate), Duration::from_millis(delay));
            LinkConfig::new(rate, delay, limit)
                .and_then(|link| link.with_discipline(discipline)?.with_loss(loss))
                .unwrap()
                .with_ties(ties)
                .with_statistics()
        },
    )
}

/// Configurations over a trace with opportunities a few milliseconds apart.
fn traced() -> impl Strategy<Value = LinkConfig> {
    (configs(), prop::collection::vec(0u32..8, 1..20)).prop_map(|(config, gaps)| {
        let mut at = 0;
        let line = |gap| {
            at += gap;
            format!("{at}\n")
        };
        let text: String = gaps.into_iter().chain([3]).map(line).collect();
        config.with_rate_trace(Arc::new(RateTrace::parse("trace", &text).unwrap()))
    })
}

/// Links of rates that last a few milliseconds each, outages among them.
fn stepped() -> impl Strategy<Value = LinkConfig> {
    let steps = prop::collection::vec((0u64..3, 1u64..8), 1..8);
    (configs(), steps, 0u64..20).prop_map(|(config, mut steps, offset)| {
        steps.push((1, 3));
        let step = |(mbps, ms)| TraceStep {
            rate: Rate::from_mbps(mbps * 5),
            lasts: Duration::from_millis(ms),
        };
        let steps: Vec<_> = steps.into_iter().map(step).collect();
        let trace = RateTrace::of_steps(&steps).unwrap();
        config.with_rate_trace(Arc::new(trace)).beginning_at(Duration::from_millis(offset))
    })
}

fn any_configs() -> impl Strategy<Value = LinkConfig> {
    prop_oneof![2 => configs(), 1 => traced(), 1 => stepped()]
}

fn link(config: &LinkConfig, seed: u64) -> Link {
    Link::new(config.clone(), Pcg32::new(seed, 1))
}

proptest! {
    #[test]
    fn every_packet_is_accounted_for(config in any_configs(), seed: u64, load in loads()) {
        let story = run_on_time(link(&config, seed), &load);
        let sum = |is: fn(&common::Seen) -> bool| {
            let of = story.packets.iter().zip(&load).filter(|(packet, _)| is(packet));
            let bytes: Vec<u64> = of.map(|(_, offered)| u64::from(offered.info.bytes)).collect();
            (bytes.len() as u64, bytes.iter().sum::<u64>())
        };
        let counters = story.counters;
        let sent = sum(|packet| matches!(packet.end, End::Sent { .. }));
        prop_assert_eq!((counters.taken_packets, counters.taken_bytes), sent);
        let gone = sum(|packet| !matches!(packet.end, End::Sent { .. }));
        prop_assert_eq!((counters.dropped_packets, counters.dropped_bytes), gone);
        let lost = sum(|packet| matches!(packet.end, End::Sent { arrives: None, .. }));
        prop_assert_eq!((counters.lost_packets, counters.lost_bytes), lost);
        // RED marks on the way in; a packet that priority drop throws out then was marked too.
        let marked = sum(|packet| packet.marked);
        prop_assert_eq!((counters.marked_packets, counters.marked_bytes), marked);
        for (packet, offered) in story.packets.iter().zip(&load) {
            prop_assert!(offered.info.ecn_capable || !packet.marked, "only those that can");
        }
    }

    /// The link's reported contents are the packets that entered and have not left, at every
    /// arrival.
    #[test]
    fn occupancy_is_who_entered_and_has_not_left(
        config in any_configs(), seed: u64, load in loads(),
    ) {
        let story = run_on_time(link(&config, seed), &load);
        let gone: BTreeMap<_, _> = story.discarded.iter().copied().collect();
        for (n, offered) in load.iter().enumerate() {
            let is_in = |packet: usize| match (story.packets[packet].end, config.ties()) {
                (End::Refused, _) => false,
                (End::Discarded(_), _) => gone.get(&packet).is_none_or(|from| *from > n),
                (End::Sent { departs, .. }, Ties::StillIn) => departs >= offered.at,
                (End::Sent { departs, .. }, Ties::Gone) => departs > offered.at,
            };
            let there = (0..=n).filter(|packet| is_in(*packet));
            let bytes: Vec<_> = there.map(|packet| u64::from(load[packet].info.bytes)).collect();
            let held = story.packets[n].held;
            prop_assert_eq!((held.packets as usize, held.bytes), (bytes.len(), bytes.iter().sum()));
        }
    }

    #[test]
    fn the_limit_is_never_exceeded(config in any_configs(), seed: u64, load in loads()) {
        let story = run_on_time(link(&config, seed), &load);
        for packet in &story.packets {
            match config.queue() {
                QueueLimit::Packets(limit) => prop_assert!(packet.held.packets <= limit),
                QueueLimit::Bytes(limit) => {
                    prop_assert!(packet.held.bytes <= limit || packet.held.packets <= 1);
                }
                QueueLimit::Unlimited => prop_assert_eq!(story.counters.dropped_packets, 0),
            }
        }
    }

    /// The link sends one packet at a time at its rate, and none waits while it is idle. In the
    /// order of departures every service starts when the one before has ended or, if nothing was
    /// there then, when the first packet comes.
    #[test]
    fn the_link_sends_at_its_rate_and_is_never_idle_in_vain(
        config in configs(), seed: u64, load in loads(),
    ) {
        let story = run_on_time(link(&config, seed), &load);
        let ends = story.packets.iter().zip(&load);
        let mut sent: Vec<_> = ends.filter_map(|(packet, offered)| match packet.end {
            End::Sent { departs, arrives, .. } => Some((departs, arrives, offered)),
            _ => None,
        }).collect();
        sent.sort_by_key(|(departs, ..)| *departs);
        let mut free_at = Instant::ZERO;
        for n in 0..sent.len() {
            let (departs, arrives, offered) = sent[n];
            let first = sent[n..].iter().map(|(.., later)| later.at).min().unwrap_or(offered.at);
            let start = free_at.max(first);
            let time = config.rate().transmit_time(u64::from(offered.info.bytes));
            prop_assert_eq!(departs, start + time);
            prop_assert!(offered.at <= start);
            prop_assert!(arrives.is_none_or(|arrives| arrives == departs + config.delay()));
            free_at = departs;
        }
    }

    /// Decisions have instants of their own. Whether the driver wakes on time or late by any time,
    /// the same packets leave at the same times, are dropped and marked.
    #[test]
    fn waking_late_changes_nothing(
        config in any_configs(), seed: u64, load in loads(), late: u64,
        at_most in prop_oneof![Just(1u64), Just(1_000_000), Just(1_000_000_000)],
    ) {
        let on_time = run_on_time(link(&config, seed), &load);
        let mut random = Pcg32::new(late, 1);
        let scheduling_delay = || Duration::from_nanos(random.next_u64() % (at_most + 1));
        let late = run(link(&config, seed), &load, scheduling_delay);
        prop_assert_eq!((late.packets, late.counters), (on_time.packets, on_time.counters));
    }

    /// Every discipline keeps the order of packets of one flow and kind.
    #[test]
    fn a_flow_is_kept_in_order(config in any_configs(), seed: u64, load in loads()) {
        let story = run_on_time(link(&config, seed), &load);
        let mut last = BTreeMap::new();
        for (packet, offered) in story.packets.iter().zip(&load) {
            let kind = (offered.info.flow, offered.info.pure_ack);
            if let End::Sent { departs, .. } = packet.end {
                let before = last.insert(kind, departs);
                prop_assert!(before.is_none_or(|before| before <= departs));
            }
        }
    }

    /// Where nothing has priority, priority drop is drop-tail: the service stage and the ledger of
    /// departures agree on every packet.
    #[test]
    fn the_service_stage_agrees_with_promises(
        config in configs(), limit in limits(), seed: u64, mut load in loads(),
        drop_tail: bool,
    ) {
        load.iter_mut().for_each(|offered| offered.info.low_priority = false);
        let base = LinkConfig::new(config.rate(), config.delay(), limit).unwrap();
        let base = base.with_ties(config.ties()).with_loss(config.loss()).unwrap();
        let Discipline::Red(red) = quick(Discipline::Red(RedConfig::default())) else {
            unreachable!()
        };
        let (promised, served) = if drop_tail {
            (Discipline::DropTail, Discipline::PriorityDrop)
        } else {
            let served = RedConfig { low_priority_first: true, ..red };
            (Discipline::Red(red), Discipline::Red(served))
        };
        let story = |discipline| {
            let config = base.clone().with_discipline(discipline).unwrap();
            let mut story = run_on_time(link(&config, seed), &load);
            for packet in &mut story.packets {
                // The ledger does not report when a service starts.
                if let End::Sent { start, departs, .. } = &mut packet.end {
                    *start = *departs;
                }
            }
            (story.packets, story.counters)
        };
        prop_assert_eq!(story(promised), story(served));
    }
}
