//! The losses in a flow's record match the fates of its packets on the links.

use link::{Discipline, LinkConfig, QueueLimit};
use netsim::{
    Body, BulkSpec, BulkTransfer, Dumbbell, Duplex, Losses, Simulation, SimulationConfig, Step,
    StepRecorder,
};
use tcp::{Scheme, StartUpExit};
use units::{Duration, Instant, Rate};

const BYTES: u64 = 4_000_000;

fn wire(mbit: u64, queue: QueueLimit) -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(5), queue).unwrap()
}

/// Runs two transfers over a bottleneck. Returns the losses of both records, and those that an
/// observer saw for the data, SYN and FIN of each until it was acknowledged. The numbers are for
/// the whole transfer, for its start-up, and for the window that this left.
fn watched(scheme: &str, bottleneck: LinkConfig) -> Vec<(Losses, Losses)> {
    let bell = Dumbbell::new(2, wire(100, QueueLimit::Unlimited), Duplex::symmetric(bottleneck));
    let config = SimulationConfig { seed: 4, ..SimulationConfig::default() };
    let mut sim = Simulation::new(bell.topology.clone(), config);
    sim.observe(StepRecorder::of([bell.bottleneck.forward]));
    let scheme = Scheme::parse(scheme).unwrap();
    let apps: Vec<_> = (0..2)
        .map(|pair| {
            let (from, to) = (bell.sources[pair], bell.sinks[pair]);
            let (scheme, receiver) = (scheme.clone(), scheme.clone());
            let spec = BulkSpec { from, to, bytes: Some(BYTES), scheme, receiver, close: true };
            sim.add(Instant::ZERO, BulkTransfer::new(spec))
        })
        .collect();
    sim.run(Instant::from_nanos(100_000_000_000)).unwrap();
    let records = sim.observer::<StepRecorder>().unwrap().records();
    let seen = |from, (since, until), below| {
        let lost = records.iter().filter(|record| {
            let is_loss =
                matches!(record.step, Step::Drop { .. } | Step::Discard { .. } | Step::Lose);
            let Body::Segment(transit) = &record.packet.body else { return false };
            let is_meant =
                record.at >= since && record.at < until && transit.payload_offset < below;
            is_loss && is_meant && record.packet.from == from && !transit.is_pure_ack()
        });
        lost.count() as u64
    };
    let both = apps.iter().map(|app| {
        let flow = sim.application::<BulkTransfer>(*app).unwrap().flows()[0];
        let startup = flow.startup.unwrap();
        let (end, acked) = (startup.ended_at.unwrap(), flow.acked_at.unwrap());
        // This window is as much data after the start-up as was outstanding at its end, if it found
        // that itself.
        let window = match startup.exit {
            Some(StartUpExit::Completed) => 2 * startup.sent - startup.acked,
            _ => 0,
        };
        let seen = Losses {
            segments: seen(flow.from, (Instant::ZERO, acked), u64::MAX),
            in_startup: seen(flow.from, (Instant::ZERO, end), u64::MAX),
            in_first_window: seen(flow.from, (end, acked), window),
        };
        (flow.losses, seen)
    });
    both.collect()
}

#[test]
fn a_record_counts_what_queues_drop_and_wires_lose() {
    let tail = wire(10, QueueLimit::Packets(20));
    let served = tail.clone().with_discipline(Discipline::PriorityDrop).unwrap();
    for bottleneck in [tail.clone(), served] {
        for (recorded, seen) in watched("sack", bottleneck.clone()) {
            assert_eq!(recorded, seen, "{bottleneck:?}");
            // Slow start overflows 20 packets of buffer: 10 Mbit/s and 20 ms hold 25 more.
            assert!(seen.in_startup > 0 && seen.segments > seen.in_startup, "{seen:?}");
            // A loss ended it.
            assert_eq!(seen.in_first_window, 0);
        }
    }
    // A packet that a wire will lose counts when it enters, and the observer sees the loss when it
    // leaves: by then a start-up may be over.
    for (recorded, seen) in watched("sack", tail.with_loss(0.01).unwrap()) {
        assert_eq!(recorded.segments, seen.segments);
    }
}

/// Two start-ups that end at 30 segments ask for 60 slots, but pipe and buffer have 45. Slow start
/// adds the last seven of each within 17 ms, and no sender learns of a drop before a round trip of
/// 50 ms. So each start-up finds its own end, and packets sent in the 5 ms before are dropped after
/// it.
#[test]
fn a_record_counts_what_the_window_of_a_start_up_that_found_its_end_loses() {
    let both = watched("sack+ssthresh=30", wire(10, QueueLimit::Packets(20)));
    for (recorded, seen) in &both {
        assert_eq!(recorded, seen);
    }
    assert!(both.iter().any(|(recorded, _)| recorded.in_first_window > 0), "{both:?}");
}

/// A transfer and forty more go to the same host. The latter join its path after its start-up has
/// found its end at 30 segments. Congestion avoidance overflows the queue again and again, also at
/// the first bytes of those that join. These are not in the window that the start-up left, though
/// their offsets are below its end: 40 transfers of 160 kB, and a window that ends above that.
#[test]
fn those_who_join_a_path_lose_nothing_of_the_window_of_its_start_up() {
    let bottleneck = wire(10, QueueLimit::Packets(20));
    let bell = Dumbbell::new(1, wire(100, QueueLimit::Unlimited), Duplex::symmetric(bottleneck));
    let config = SimulationConfig { seed: 4, ..SimulationConfig::default() };
    let mut sim = Simulation::new(bell.topology.clone(), config);
    let scheme = Scheme::parse("session+ssthresh=30").unwrap();
    let (from, to) = (bell.sources[0], bell.sinks[0]);
    let mut begin = |ms: u64, bytes| {
        let (scheme, receiver) = (scheme.clone(), scheme.clone());
        let spec = BulkSpec { from, to, bytes: Some(bytes), scheme, receiver, close: true };
        sim.add(Instant::from_nanos(1_000_000 * ms), BulkTransfer::new(spec))
    };
    let first = begin(0, 8 * BYTES);
    let joined: Vec<_> = (0..40).map(|n| begin(2000 + 300 * n, BYTES / 25)).collect();
    sim.run(Instant::from_nanos(100_000_000_000)).unwrap();
    let flow = |app| sim.application::<BulkTransfer>(app).unwrap().flows()[0];
    let startup = flow(first).startup.unwrap();
    assert!(startup.ended_at.unwrap() < Instant::from_nanos(2_000_000_000), "{startup:?}");
    assert!(startup.window_end().unwrap() > BYTES / 25, "{startup:?}");
    let losses: Vec<_> = joined.into_iter().map(|app| flow(app).losses).collect();
    // A SYN is lost in a start-up of its own. Later losses are data on the shared path.
    assert!(losses.iter().any(|lost| lost.segments > lost.in_startup), "{losses:?}");
    assert!(losses.iter().all(|lost| lost.in_first_window == 0), "{losses:?}");
}
