//! A pipe without a clock: late wake-ups change nothing, marks reach the packets.

use crate::packets::{Made, adds_up};
use emulator::Pipe;
use link::{
    Discipline, FqCoDelConfig, Link, LinkConfig, QueueLimit, RateTrace, RedConfig, Reordering,
};
use proptest::prelude::*;
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::sync::Arc;
use units::{Duration, Instant, Rate};

/// A packet and when it arrives.
type Arrival = (Instant, Vec<u8>);
/// When a packet was due at the far end, and all of it.
type Delivered = (Instant, Vec<u8>);

/// Offers all packets and takes the due ones out at wake-ups that are late, by `scheduling_delay`.
/// At last it takes all.
fn run(
    link: Link,
    load: &[Arrival],
    mut scheduling_delay: impl FnMut() -> Duration,
) -> (Vec<Delivered>, Pipe) {
    let mut pipe = Pipe::new(link);
    let mut delivered = Vec::new();
    let mut take_until = |pipe: &mut Pipe, limit: Instant| {
        while let Some(due) = pipe.poll_timeout()
            && let woken = due + scheduling_delay()
            && woken < limit
        {
            pipe.handle_timeout(woken);
            while let Some(delivery) = pipe.poll_delivery(woken) {
                assert!(delivery.due <= woken);
                delivered.push((delivery.due, delivery.packet.to_vec()));
            }
        }
    };
    for (at, packet) in load {
        take_until(&mut pipe, *at);
        pipe.offer(*at, packet);
    }
    take_until(&mut pipe, Instant::FAR_FUTURE);
    assert_eq!(pipe.held(), 0);
    (delivered, pipe)
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    let few_queues = FqCoDelConfig { queues: 4, quantum: 300, ..FqCoDelConfig::default() };
    let mut all = Discipline::all().to_vec();
    all.push(Discipline::FqCoDel(few_queues));
    prop::sample::select(all)
}

prop_compose! {
    fn configs()(
        discipline in disciplines(), delay in 0u64..50_000, packets in 2u32..30,
        loss in prop::sample::select(vec![0.0, 0.1]),
        jitter in prop::sample::select(vec![0, 5_000]),
        burst in prop::sample::select(vec![0, 7_000]), traced: bool,
    ) -> LinkConfig {
        let (rate, limit) = (Rate::from_mbps(8), QueueLimit::Packets(packets));
        let link = LinkConfig::new(rate, Duration::from_micros(delay), limit).unwrap();
        let link = link.with_discipline(discipline).unwrap().with_loss(loss).unwrap();
        let jitter = Reordering::Jitter(Duration::from_micros(jitter));
        let link = link.with_reordering(jitter).unwrap();
        let link = link.with_aggregation(Duration::from_micros(burst));
        match traced {
            true => link.with_rate_trace(Arc::new(RateTrace::parse("t", "1\n1\n4\n9").unwrap())),
            false => link,
        }
    }
}

fn loads() -> impl Strategy<Value = Vec<Arrival>> {
    // At 8 Mbit/s a packet of 40 to 1000 bytes takes 40 us to 1 ms: about as often as they arrive.
    let classes = prop::sample::select(vec![0, 2, 0b10_1010, 0b11_1010]);
    let packet = (0u64..1_500, any::<bool>(), 5_000u16..5_006, classes, 0usize..960);
    prop::collection::vec(packet, 1..200).prop_map(|packets| {
        let mut now = Instant::ZERO;
        let made = packets.into_iter().zip(0..).map(|((gap, v6, port, class, payload), serial)| {
            now += Duration::from_micros(gap);
            (now, Made { v6, port, traffic_class: class, payload, serial }.tcp())
        });
        made.collect()
    })
}

proptest! {
    /// A late wake-up finds the same packets, due at the same instants, marked, dropped and lost
    /// alike.
    #[test]
    fn waking_late_changes_nothing(
        config in configs(), load in loads(), seed: u64, late: u64,
        at_most in prop::sample::select(vec![1_000u64, 100_000, 5_000_000, 100_000_000]),
    ) {
        let link = || Link::new(config.clone(), Pcg32::new(seed, 1));
        let (on_time, pipe) = run(link(), &load, || Duration::ZERO);
        let counters = *pipe.counters();
        let mut random = Pcg32::new(late, 1);
        let scheduling_delay = || Duration::from_nanos(random.next_u64() % (at_most + 1));
        let (later, pipe) = run(link(), &load, scheduling_delay);
        prop_assert_eq!(&on_time, &later);
        prop_assert_eq!(counters, *pipe.counters());
        // Every packet that went in came out or is accounted for.
        prop_assert_eq!(later.len() as u64, counters.taken_packets - counters.lost_packets);
        prop_assert_eq!(counters.taken_packets + counters.dropped_packets, load.len() as u64);
    }
}

/// At 8 Mbit/s and 5 ms, 1000 bytes take 1 ms to send, so the third of three sent at once is
/// delivered at 8 ms.
#[test]
fn a_packet_arrives_whole_when_the_link_says() {
    let limit = QueueLimit::Packets(2);
    let link = LinkConfig::new(Rate::from_mbps(8), Duration::from_millis(5), limit).unwrap();
    let packets = [0, 1, 2].map(|serial| Made { serial, ..Made::plain(960) }.tcp());
    // Two have room; the third comes when the first has left.
    let times = [0, 0, 1_000_001].map(Instant::from_nanos);
    let load: Vec<Arrival> = times.into_iter().zip(packets.clone()).collect();
    let (delivered, _) = run(Link::new(link.clone(), Pcg32::new(1, 1)), &load, || Duration::ZERO);
    let due = [6, 7, 8].map(|ms| Instant::from_nanos(ms * 1_000_000));
    assert_eq!(delivered, due.into_iter().zip(packets).collect::<Vec<_>>());

    let load: Vec<Arrival> = load.into_iter().map(|(_, packet)| (Instant::ZERO, packet)).collect();
    let (delivered, pipe) = run(Link::new(link, Pcg32::new(1, 1)), &load, || Duration::ZERO);
    assert_eq!((delivered.len(), pipe.counters().dropped_packets), (2, 1));
}

/// A queue that marks writes CE into the packet, and the checksum stays right.
#[test]
fn marks_are_on_the_packets() {
    let red = RedConfig { weight: 1.0, ..RedConfig::default() };
    for discipline in [Discipline::Red(red), Discipline::CoDel(Default::default())] {
        for v6 in [false, true] {
            let limit = QueueLimit::Packets(400);
            let link = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, limit).unwrap();
            let link = link.with_discipline(discipline).unwrap();
            let packet = |serial| Made { v6, traffic_class: 2, serial, ..Made::plain(940) }.tcp();
            // Twice as fast as they leave.
            let arrival = |n: u32| (Instant::from_nanos(u64::from(n) * 500_000), packet(n));
            let load: Vec<Arrival> = (0..350).map(arrival).collect();
            let link = Link::new(link, Pcg32::new(1, 1));
            let (delivered, pipe) = run(link, &load, || Duration::ZERO);
            let is_marked = |packet: &[u8]| match v6 {
                true => packet[1] & 0x30 == 0x30,
                false => packet[1] & 3 == 3,
            };
            let marked = delivered.iter().filter(|(_, packet)| is_marked(packet)).count() as u64;
            assert_eq!(marked, pipe.counters().marked_packets);
            assert!(marked > 0, "{discipline}");
            assert!(v6 || delivered.iter().all(|(_, packet)| adds_up(packet)));
        }
    }
}

/// If there is no room, the packet with high drop precedence is dropped.
#[test]
fn drop_precedence_decides_who_goes() {
    let limit = QueueLimit::Packets(3);
    let link = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, limit).unwrap();
    let link = link.with_discipline(Discipline::PriorityDrop).unwrap();
    let (af11, af13) = (10 << 2, 14 << 2);
    let classes = [af11, af13, af11, af11];
    let made = |(traffic_class, serial)| Made { traffic_class, serial, ..Made::plain(900) }.tcp();
    let packets: Vec<_> = classes.into_iter().zip(0..).map(made).collect();
    let load: Vec<Arrival> = packets.iter().map(|p| (Instant::ZERO, p.clone())).collect();
    let (delivered, _) = run(Link::new(link, Pcg32::new(1, 1)), &load, || Duration::ZERO);
    let delivered: Vec<_> = delivered.into_iter().map(|(_, packet)| packet).collect();
    assert_eq!(delivered, [&packets[0], &packets[2], &packets[3]].map(Vec::clone));
}
