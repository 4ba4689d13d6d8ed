//! Drives any link through a load and records the fate of every packet.

use link::{
    Admission, CoDelConfig, Discipline, Link, LinkCounters, LinkFate, Occupancy, PacketInfo,
    ServiceOutcome, Stage,
};
use proptest::prelude::*;
use units::{Duration, Instant};

/// One packet of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offered {
    pub at: Instant,
    pub info: PacketInfo,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It never entered.
    Refused,
    /// It entered and was thrown out.
    Discarded(Instant),
    /// It was transmitted.
    Sent { start: Instant, departs: Instant, arrives: Option<Instant> },
}

/// Everything about a packet that is visible from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub end: End,
    pub marked: bool,
    /// Contents of the queue after it was offered.
    pub held: Occupancy,
}

/// All packets of a load, and the link's own count of them.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) packets: Vec<Seen>,
    pub(crate) counters: LinkCounters,
    /// Packets that were discarded, and the first arrival that found them gone, from the link's own
    /// reports.
    pub(crate) discarded: Vec<(usize, usize)>,
}

/// Offers `load` to `link`, waking it as late after its timeouts as `scheduling_delay` says, and
/// drains it.
pub(crate) fn run(
    mut link: Link,
    load: &[Offered],
    mut scheduling_delay: impl FnMut() -> Duration,
) -> Story {
    let (mut packets, mut discarded) = (Vec::new(), Vec::new());
    for (token, offered) in load.iter().enumerate() {
        // A wake-up at the instant of an arrival comes after it.
        while let Some(due) = timeout(&mut link)
            && let woken = due + scheduling_delay()
            && woken < offered.at
        {
            let gone = wake(&mut link, woken, &mut packets);
            discarded.extend(gone.into_iter().map(|packet| (packet, token)));
        }
        offer(&mut link, offered, token as u32, &mut packets);
        packets[token].held = link.occupancy(offered.at);
        let gone = take_outcomes(&mut link, &mut packets);
        discarded.extend(gone.into_iter().map(|packet| (packet, token)));
    }
    while let Some(due) = timeout(&mut link) {
        wake(&mut link, due + scheduling_delay(), &mut packets);
    }
    assert_eq!(link.occupancy(Instant::FAR_FUTURE).packets, 0, "drained");
    Story { packets, counters: *link.counters(), discarded }
}

/// The same, woken on time.
pub(crate) fn run_on_time(link: Link, load: &[Offered]) -> Story {
    run(link, load, || Duration::ZERO)
}

fn offer(link: &mut Link, offered: &Offered, token: u32, packets: &mut Vec<Seen>) {
    let Offered { at, info } = offered;
    let held = Occupancy::default();
    let known = |start: Instant, fate, marked| Seen { end: end_of(start, fate), marked, held };
    // Links that answer at once do not report when service starts; tests get it from the rate.
    let seen = match link.stage() {
        Stage::Fifo(fifo) => known(*at, fifo.offer(*at, info.bytes), false),
        Stage::Judged(judged) => {
            let verdict = judged.offer(*at, info);
            known(*at, verdict.fate, verdict.marked)
        }
        Stage::Served(served) => match served.offer(*at, info, token) {
            Admission::Queued { marked } => Seen { end: End::Refused, marked, held },
            Admission::Dropped => Seen { end: End::Refused, marked: false, held },
        },
    };
    packets.push(seen);
}

fn end_of(start: Instant, fate: LinkFate) -> End {
    match fate {
        LinkFate::Delivered { departs, arrives } => {
            End::Sent { start, departs, arrives: Some(arrives) }
        }
        LinkFate::Lost { departs } => End::Sent { start, departs, arrives: None },
        LinkFate::Dropped => End::Refused,
    }
}

fn timeout(link: &mut Link) -> Option<Instant> {
    match link.stage() {
        Stage::Served(served) => served.poll_timeout(),
        Stage::Fifo(_) | Stage::Judged(_) => None,
    }
}

/// Returns the discarded packets.
fn wake(link: &mut Link, now: Instant, packets: &mut [Seen]) -> Vec<usize> {
    if let Stage::Served(served) = link.stage() {
        served.handle_timeout(now);
    }
    take_outcomes(link, packets)
}

fn take_outcomes(link: &mut Link, packets: &mut [Seen]) -> Vec<usize> {
    let mut discarded = Vec::new();
    let Stage::Served(served) = link.stage() else {
        return discarded;
    };
    while let Some(outcome) = served.poll_outcome() {
        match outcome {
            ServiceOutcome::Served { token, at, fate, marked } => {
                let packet = &mut packets[token as usize];
                packet.end = end_of(at, fate);
                packet.marked |= marked;
            }
            ServiceOutcome::Discarded { token, at } => {
                packets[token as usize].end = End::Discarded(at);
                discarded.push(token as usize);
            }
        }
    }
    discarded
}

/// Loads of up to 300 packets of four flows: bursts at one instant, bursts close together, and
/// pauses.
pub(crate) fn loads() -> impl Strategy<Value = Vec<Offered>> {
    let size = prop_oneof![Just(40u32), Just(1000), 1u32..9000];
    let gap = prop_oneof![Just(0u64), 0u64..300_000, 0u64..3_000_000, 0u64..60_000_000];
    let packet = (gap, size, any::<[bool; 3]>(), 0u64..4);
    prop::collection::vec(packet, 1..300).prop_map(|packets| {
        let mut at = Instant::ZERO;
        let offered = |(gap, bytes, [ecn_capable, low_priority, pure_ack], flow): (
            u64,
            u32,
            [bool; 3],
            u64,
        )| {
            at += Duration::from_nanos(gap);
            Offered { at, info: PacketInfo { bytes, ecn_capable, low_priority, pure_ack, flow } }
        };
        packets.into_iter().map(offered).collect()
    })
}

/// The same discipline with parameters that make it act on loads as short as these.
pub(crate) fn quick(discipline: Discipline) -> Discipline {
    let codel = CoDelConfig {
        target: Duration::from_millis(1),
        interval: Duration::from_millis(4),
        ..CoDelConfig::default()
    };
    match discipline {
        Discipline::Red(red) => Discipline::Red(link::RedConfig { weight: 0.2, ..red }),
        Discipline::CoDel(_) => Discipline::CoDel(codel),
        Discipline::FqCoDel(fq) => {
            Discipline::FqCoDel(link::FqCoDelConfig { codel, queues: 8, ..fq })
        }
        other => other,
    }
}
