//! Properties of each discipline, under any load or under one worked out by hand.

use crate::common::{End, Offered, Seen, Story, loads, quick, run_on_time};
use link::{
    CoDelConfig, Discipline, FqCoDelConfig, Link, LinkConfig, PacketInfo, QueueLimit, RateTrace,
    Reordering, TraceStep,
};
use proptest::prelude::*;
use rand_pcg::Pcg32;
use std::sync::Arc;
use units::{Duration, Instant, Rate};

const fn at_us(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// 8 Mbit/s: a byte takes a microsecond.
fn link(limit: QueueLimit, discipline: Discipline) -> Link {
    let config = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, limit)
        .and_then(|link| link.with_discipline(discipline))
        .unwrap();
    Link::new(config, Pcg32::new(1, 1))
}

/// Packets `bytes` long of `flow` every `gap` microseconds from `start` until `end`.
fn stream(flow: u64, bytes: u32, gap: u64, (start, end): (u64, u64)) -> Vec<Offered> {
    let info = PacketInfo { flow, ..PacketInfo::plain(bytes) };
    (start..end).step_by(gap as usize).map(|at| Offered { at: at_us(at), info }).collect()
}

fn merged(streams: &[Vec<Offered>]) -> Vec<Offered> {
    let mut all = streams.concat();
    all.sort_by_key(|offered| offered.at);
    all
}

/// True if the packet waits at `now` as an arrival at `now` finds it: in the queue, and its service
/// not started.
fn waits(seen: &Seen, offered: &Offered, now: Instant) -> bool {
    offered.at <= now
        && match seen.end {
            End::Refused => false,
            End::Discarded(at) => at >= now,
            End::Sent { start, .. } => start >= now && start > offered.at,
        }
}

proptest! {
    /// No other packet is dropped while one of high drop precedence waits, and among those the last
    /// one is dropped.
    #[test]
    fn priority_drop_spares_ordinary_packets(load in loads(), limit in 1u32..20) {
        let limit = QueueLimit::Packets(limit);
        let story = run_on_time(link(limit, Discipline::PriorityDrop), &load);
        let discarded_by: Vec<_> = story.discarded.clone();
        for (n, (seen, offered)) in story.packets.iter().zip(&load).enumerate() {
            let gone = |m: usize| discarded_by.iter().any(|(who, when)| *who == m && *when <= n);
            let low_waits = (0..n).filter(|m| {
                load[*m].info.low_priority
                    && waits(&story.packets[*m], &load[*m], offered.at)
                    && !gone(*m)
            });
            match seen.end {
                End::Refused if !offered.info.low_priority => {
                    prop_assert_eq!(low_waits.count(), 0, "{} dropped", n);
                }
                End::Discarded(_) => prop_assert!(offered.info.low_priority),
                _ => {}
            }
        }
        for (who, when) in &story.discarded {
            let nearer = (who + 1..*when).filter(|m| {
                let later = story.discarded.iter().any(|(other, at)| other == m && at <= when);
                load[*m].info.low_priority
                    && waits(&story.packets[*m], &load[*m], load[*when].at)
                    && !later
            });
            prop_assert_eq!(nearer.count(), 0, "{} was not the last", who);
        }
    }

    /// When other packets are served, no pure acknowledgement that came before waits.
    #[test]
    fn acks_never_wait_behind_waiting_data(load in loads()) {
        let story = run_on_time(link(QueueLimit::Unlimited, Discipline::AcksFirst), &load);
        let served: Vec<_> = story.packets.iter().zip(&load).filter_map(|(seen, offered)| {
            match seen.end {
                End::Sent { start, .. } => Some((start, offered)),
                _ => None,
            }
        }).collect();
        let acks: Vec<_> = served.iter().filter(|(_, o)| o.info.pure_ack).collect();
        for (start, offered) in served.iter().filter(|(_, o)| !o.info.pure_ack) {
            let overtaken = acks.iter().find(|(other, ack)| ack.at < *start && other > start);
            prop_assert!(overtaken.is_none(), "{offered:?} before {overtaken:?}");
        }
    }
}

/// 1000 bytes take 1 ms. Three data packets and then an acknowledgement of 40 bytes at once: the
/// first is in service, the acknowledgement goes next.
#[test]
fn an_ack_waits_only_for_the_packet_in_service() {
    let ack = PacketInfo { pure_ack: true, ..PacketInfo::plain(40) };
    let infos = [PacketInfo::plain(1000); 3].into_iter().chain([ack]);
    let load: Vec<_> = infos.map(|info| Offered { at: at_us(0), info }).collect();
    let story = run_on_time(link(QueueLimit::Unlimited, Discipline::AcksFirst), &load);
    assert_eq!(departures(&story), [1000, 2040, 3040, 1040].map(at_us));
}

fn departures(story: &Story) -> Vec<Instant> {
    let departure = |seen: &Seen| match seen.end {
        End::Sent { departs, .. } => Some(departs),
        End::Refused | End::Discarded(_) => None,
    };
    story.packets.iter().filter_map(departure).collect()
}

/// An overload of twice the rate that ignores losses, in packets of 100 us. CoDel finds the queue
/// above its target an interval after the waiting time first was. From then on it strikes at
/// `interval / sqrt(n)` after the one before (RFC 8289 §3.3), each time at the next service.
#[test]
fn codel_strikes_at_its_control_law() {
    let load = stream(1, 100, 50, (0, 1_000_000));
    for ecn in [false, true] {
        let mut load = load.clone();
        load.iter_mut().for_each(|offered| offered.info.ecn_capable = ecn);
        let link = link(QueueLimit::Unlimited, Discipline::CoDel(CoDelConfig::default()));
        let story = run_on_time(link, &load);
        let mut strikes = strikes(&story);
        strikes.retain(|at| *at < at_us(1_000_000));
        // The n-th packet comes at 50 n us and its service would start at 100 n us: it waits 5 ms
        // from n = 100 on, at 10 ms. More than an MTU is behind it then. The first strike is due
        // 100 ms later.
        let mut expected = 110_000.0;
        for (n, strike) in strikes.iter().enumerate() {
            let late = strike.as_nanos() as f64 / 1000.0 - expected;
            // It strikes at the first service at or after the scheduled time; each time continues
            // from the previous schedule, not from the strike, but for the first.
            assert!((-0.1..=100.1).contains(&late), "strike {n}, ecn {ecn}: {late} us late");
            if n == 0 {
                expected += late;
            }
            expected += 100_000.0 / ((n + 1) as f64).sqrt();
        }
        // Sum of 100 / sqrt(n) ms up to n is about 200 sqrt(n) - 146: 890 ms at 27.
        assert!((25..=29).contains(&strikes.len()), "{}", strikes.len());
    }
}

/// When packets were dropped from the queue or marked at its head, in order.
fn strikes(story: &Story) -> Vec<Instant> {
    let strike = |seen: &Seen| match seen.end {
        End::Discarded(at) => Some(at),
        End::Sent { start, .. } if seen.marked => Some(start),
        End::Refused | End::Sent { .. } => None,
    };
    let mut strikes: Vec<_> = story.packets.iter().filter_map(strike).collect();
    strikes.sort_unstable();
    strikes
}

/// An overload that comes back soon is met at the rate that was right when it went. With `n`
/// strikes the first time, the second of the next time comes `interval / sqrt(n - 1)` after the
/// first (RFC 8289 §5.5: `count - lastcount`). One that comes back after more than 16 intervals is
/// new.
#[test]
fn codel_remembers_for_sixteen_intervals() {
    for (again, remembers) in [(1_600_000, true), (4_000_000, false)] {
        let first = stream(1, 100, 50, (0, 600_000));
        let load = merged(&[first, stream(1, 100, 50, (again, again + 500_000))]);
        let link = link(QueueLimit::Unlimited, Discipline::CoDel(CoDelConfig::default()));
        let strikes = strikes(&run_on_time(link, &load));
        let (before, after) = strikes.split_at(strikes.partition_point(|at| *at < at_us(again)));
        let count = if remembers { before.len() - 1 } else { 1 };
        assert!(before.len() > 10);
        let gap = (after[1] - after[0]).as_nanos() as f64 / 1000.0;
        let late = gap - 100_000.0 / (count as f64).sqrt();
        assert!((-0.1..=100.1).contains(&late), "{gap} us after {} strikes", before.len());
    }
}

/// CoDel ignores a burst that leaves within an interval, however long it waits.
#[test]
fn codel_lets_a_burst_pass() {
    // 90 packets of 1 ms at once, then nothing.
    let load = stream(1, 1000, 1, (0, 90));
    let link = link(QueueLimit::Unlimited, Discipline::CoDel(CoDelConfig::default()));
    assert_eq!(run_on_time(link, &load).counters.dropped_packets, 0);
}

/// Bytes sent in the second half of 2 s by each flow.
fn shares(story: &Story, load: &[Offered]) -> Vec<u64> {
    let mut shares = vec![0; 4];
    for (seen, offered) in story.packets.iter().zip(load) {
        if let End::Sent { departs, .. } = seen.end
            && (at_us(1_000_000)..at_us(2_000_000)).contains(&departs)
        {
            shares[offered.info.flow as usize] += u64::from(offered.info.bytes);
        }
    }
    shares
}

fn fq_codel() -> Discipline {
    Discipline::FqCoDel(FqCoDelConfig::default())
}

/// Three flows ignore losses and send 1, 2 and 3 times the rate, in packets of 1500, 300 and 700
/// bytes. Each has a third of the bytes, to within two rounds of quantum and packet.
#[test]
fn fq_codel_shares_equally() {
    let load = merged(&[
        stream(0, 1500, 1500, (0, 2_000_000)),
        stream(1, 300, 150, (100, 2_000_000)),
        stream(2, 700, 233, (200, 2_000_000)),
    ]);
    let story = run_on_time(link(QueueLimit::Packets(300), fq_codel()), &load);
    let shares = shares(&story, &load);
    for share in &shares[..3] {
        // 1 s at 8 Mbit/s is 1,000,000 bytes.
        assert!(share.abs_diff(333_333) <= 2 * (1514 + 1500), "{shares:?}");
    }
}

/// Three flows that fill the link, and one of half its rate that finds its queue empty when it
/// begins. An empty queue has a turn among the old ones before it may be new again (RFC 8290 §4.2).
/// Otherwise this flow would be new for ever and have its half.
#[test]
fn fq_codel_lets_no_flow_be_new_for_ever() {
    let mut streams: Vec<_> = (0..3).map(|n| stream(n, 1500, 700, (n, 2_000_000))).collect();
    // It begins when the others are old.
    streams.push(stream(3, 1500, 3000, (500_500, 2_000_000)));
    let load = merged(&streams);
    let story = run_on_time(link(QueueLimit::Packets(300), fq_codel()), &load);
    let shares = shares(&story, &load);
    for share in &shares {
        assert!(share.abs_diff(250_000) <= 2 * (1514 + 1500), "{shares:?}");
    }
}

/// A flow of a packet every 20 ms runs beside two that fill the link. It is always new, and waits
/// for no more than the packet in service, once the two others are no longer new themselves. It
/// loses none, although the queue is full.
#[test]
fn fq_codel_isolates_a_sparse_flow() {
    let load = merged(&[
        stream(0, 1500, 1000, (0, 2_000_000)),
        stream(1, 1500, 700, (0, 2_000_000)),
        stream(2, 200, 20_000, (7, 2_000_000)),
    ]);
    let waits = |discipline| {
        let story = run_on_time(link(QueueLimit::Packets(100), discipline), &load);
        let sparse = story.packets.iter().zip(&load).filter(|(_, o)| o.info.flow == 2).skip(1);
        let wait = |(seen, offered): (&Seen, &Offered)| match seen.end {
            End::Sent { start, .. } => Some(start - offered.at),
            End::Refused | End::Discarded(_) => None,
        };
        sparse.map(wait).collect::<Vec<_>>()
    };
    let longest = waits(fq_codel()).into_iter().map(|wait| wait.expect("sent")).max();
    assert!(longest.is_some_and(|longest| longest <= Duration::from_micros(1500)), "{longest:?}");
    // In one queue with the others the flow suffers from their load.
    assert!(waits(Discipline::DropTail).contains(&None));
}

/// The flow that fills the queue pays for the room: a flow that never has more than one packet in
/// it loses none to one that sends twice the rate.
#[test]
fn fq_codel_drops_from_the_longest_queue() {
    let quiet = CoDelConfig { interval: Duration::from_secs(1000), ..CoDelConfig::default() };
    let fq = FqCoDelConfig { codel: quiet, ..FqCoDelConfig::default() };
    let load = merged(&[stream(0, 1000, 500, (0, 500_000)), stream(1, 1000, 4000, (3, 500_000))]);
    let story = run_on_time(link(QueueLimit::Packets(50), Discipline::FqCoDel(fq)), &load);
    let dropped: Vec<u64> = story.discarded.iter().map(|(who, _)| load[*who].info.flow).collect();
    assert!(dropped.len() > 100 && dropped.iter().all(|flow| *flow == 0));
}

fn traced(text: &str, discipline: Discipline) -> Link {
    let config =
        LinkConfig::new(Rate::from_mbps(8), Duration::from_millis(1), QueueLimit::Packets(100))
            .and_then(|link| link.with_discipline(discipline))
            .unwrap();
    let trace = Arc::new(RateTrace::parse("trace", text).unwrap());
    Link::new(config.with_rate_trace(trace), Pcg32::new(1, 1))
}

/// Opportunities at 2, 5, 5 and 10 ms, and again from there. Two packets of 700 bytes share the
/// first; 104 bytes of it are left for the one of 1500, which ends in the next. The packet of 3000
/// takes the 108 bytes that are left of that, all of the other one at 5 ms, and ends at 10 ms. The
/// next comes at 12 ms too late for the rest of that and takes the opportunity of its own instant.
#[test]
fn a_trace_moves_bytes_at_its_opportunities() {
    let packet = |us, bytes| Offered { at: at_us(us), info: PacketInfo::plain(bytes) };
    let load = [
        packet(0, 700),
        packet(0, 700),
        packet(0, 1500),
        packet(3000, 3000),
        packet(12_000, 1000),
        packet(12_001, 1000),
    ];
    for discipline in [Discipline::DropTail, fq_codel()] {
        // All are of one flow.
        let story = run_on_time(traced("2\n5\n5\n10\n", discipline), &load);
        let expected = [2000, 2000, 5000, 10_000, 12_000, 15_000].map(at_us);
        assert_eq!(departures(&story), expected);
        let arrival = |seen: &Seen| match seen.end {
            End::Sent { arrives, .. } => arrives,
            End::Refused | End::Discarded(_) => None,
        };
        let arrivals: Vec<_> = story.packets.iter().filter_map(arrival).collect();
        assert_eq!(arrivals, expected.map(|at| at + Duration::from_millis(1)));
    }
}

fn followed(trace: RateTrace, offset_ms: u64) -> Link {
    let (rate, delay) = (Rate::from_mbps(8), Duration::from_millis(1));
    let config = LinkConfig::new(rate, delay, QueueLimit::Packets(100)).unwrap();
    let config = config.with_rate_trace(Arc::new(trace));
    Link::new(config.beginning_at(Duration::from_millis(offset_ms)), Pcg32::new(1, 1))
}

/// 8 Mbit/s, a byte a microsecond, for 3 ms; 2 ms of outage; 4 Mbit/s for 5 ms. The first two
/// packets of 1,500 bytes take 3 ms, and the third waits for the end of the outage. A packet that
/// comes at 9.5 ms has 0.5 ms at half the rate, 250 bytes, and the rest in the next cycle.
#[test]
fn a_link_follows_rates_and_their_outage() {
    let step =
        |mbps, ms| TraceStep { rate: Rate::from_mbps(mbps), lasts: Duration::from_millis(ms) };
    let steps = [step(8, 3), step(0, 2), step(4, 5)];
    let trace = || RateTrace::of_steps(&steps).unwrap();
    let packet = |us, bytes| Offered { at: at_us(us), info: PacketInfo::plain(bytes) };
    let load = [packet(0, 1500), packet(0, 1500), packet(0, 1500), packet(9_500, 1000)];
    let story = run_on_time(followed(trace(), 0), &load);
    assert_eq!(departures(&story), [1_500, 3_000, 8_000, 10_750].map(at_us));
    // The link's clock begins at 2 ms of the trace: a third of the first packet is missing at 3 ms.
    let story = run_on_time(followed(trace(), 2), &load[..2]);
    assert_eq!(departures(&story), [4_000, 7_000].map(at_us));
}

/// Opportunities at 2, 5, 5 and 10 ms. From 5 ms on, both of them are past.
#[test]
fn opportunities_before_the_beginning_are_past() {
    let trace = || RateTrace::parse("trace", "2\n5\n5\n10\n").unwrap();
    let load = [0, 0, 0].map(|us| Offered { at: at_us(us), info: PacketInfo::plain(1504) });
    let departures_from = |offset| departures(&run_on_time(followed(trace(), offset), &load));
    assert_eq!(departures_from(4), [1_000, 1_000, 6_000].map(at_us));
    assert_eq!(departures_from(5), [5_000, 7_000, 10_000].map(at_us));
    assert_eq!(departures_from(15), departures_from(5));
}

/// Under a standing queue every byte of every opportunity is used: 40 packets of 1500 bytes,
/// 60,000, need 40 opportunities of 1504, ten rounds of four in 10 ms each.
#[test]
fn a_trace_gives_its_mean_rate_to_a_standing_queue() {
    // Where a discipline would drop, it marks.
    let mut load = stream(1, 1500, 1, (0, 40));
    load.iter_mut().for_each(|offered| offered.info.ecn_capable = true);
    for discipline in Discipline::all().map(quick) {
        let departures = departures(&run_on_time(traced("2\n5\n5\n10\n", discipline), &load));
        assert_eq!(departures.len(), 40, "{discipline}");
        assert_eq!(departures.iter().max(), Some(&at_us(100_000)), "{discipline}");
    }
}

/// Departures and losses are unchanged; arrivals are later.
#[test]
fn reordering_touches_arrivals_alone() {
    let config = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, QueueLimit::Packets(10))
        .and_then(|link| link.with_loss(0.1))
        .unwrap();
    let extra = Duration::from_millis(3);
    let hold = Reordering::HoldBack { probability: 0.25, extra };
    let load = stream(1, 1000, 1200, (0, 1_200_000));
    let plain = run_on_time(Link::new(config.clone(), Pcg32::new(3, 1)), &load);
    let config = config.with_reordering(hold).unwrap();
    let held = run_on_time(Link::new(config, Pcg32::new(3, 1)), &load);
    assert_eq!((plain.counters, departures(&plain)), (held.counters, departures(&held)));
    let mut late = 0;
    for (plain, held) in plain.packets.iter().zip(&held.packets) {
        let (End::Sent { arrives: plain, .. }, End::Sent { arrives: held, .. }) =
            (plain.end, held.end)
        else {
            panic!("the queue never fills")
        };
        late += u32::from(plain != held);
        assert!(plain == held || plain.map(|at| at + extra) == held);
    }
    // The link delivers 900 of 1000 packets and holds 225 back, with a standard deviation of 13.7;
    // the bound is four.
    assert!((170..=280).contains(&late), "{late}");
}

/// Departures and losses are unchanged; each packet waits for the next burst, at a link of either
/// kind.
#[test]
fn aggregation_touches_arrivals_alone() {
    let (delay, interval) = (Duration::from_millis(7), Duration::from_millis(10));
    let load = stream(1, 1000, 1200, (0, 1_200_000));
    for discipline in [Discipline::DropTail, Discipline::FqCoDel(FqCoDelConfig::default())] {
        let config = LinkConfig::new(Rate::from_mbps(8), delay, QueueLimit::Packets(10))
            .and_then(|link| link.with_loss(0.1)?.with_discipline(discipline))
            .unwrap();
        let plain = run_on_time(Link::new(config.clone(), Pcg32::new(3, 1)), &load);
        let config = config.with_aggregation(interval);
        let bursts = run_on_time(Link::new(config, Pcg32::new(3, 1)), &load);
        assert_eq!((plain.counters, departures(&plain)), (bursts.counters, departures(&bursts)));
        for (plain, burst) in plain.packets.iter().zip(&bursts.packets) {
            let (End::Sent { arrives: plain, .. }, End::Sent { arrives: burst, .. }) =
                (plain.end, burst.end)
            else {
                panic!("the queue never fills")
            };
            let Some((plain, burst)) = plain.zip(burst) else { continue };
            // The wire takes 7 ms, so arrivals are 7 ms after a multiple of 10 ms.
            assert_eq!(burst.as_nanos() % 10_000_000, 7_000_000);
            assert!(burst >= plain && burst.saturating_since(plain) < interval);
        }
    }
}
