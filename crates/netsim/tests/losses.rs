//! What a flow's record says of its losses is what its links did to its packets.

use link::{Discipline, LinkConfig, QueueLimit};
use netsim::{
    Body, BulkSpec, BulkTransfer, Dumbbell, Duplex, Losses, Simulation, SimulationConfig, Step,
    StepRecorder,
};
use tcp::Scheme;
use units::{Duration, Instant, Rate};

const BYTES: u64 = 4_000_000;

fn wire(mbit: u64, queue: QueueLimit) -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(5), queue).unwrap()
}

/// Two transfers over a bottleneck: the records of both, and what an observer saw happen to the
/// data, SYN and FIN of each until it was acknowledged, in all and in its start-up.
fn watched(bottleneck: LinkConfig) -> Vec<(Losses, Losses)> {
    let bell = Dumbbell::new(2, wire(100, QueueLimit::Unlimited), Duplex::symmetric(bottleneck));
    let config = SimulationConfig { seed: 4, ..SimulationConfig::default() };
    let mut sim = Simulation::new(bell.topology.clone(), config);
    sim.observe(StepRecorder::of([bell.bottleneck.forward]));
    let scheme = Scheme::parse("sack").unwrap();
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
    let seen = |from, until| {
        let lost = records.iter().filter(|record| {
            let is_loss =
                matches!(record.step, Step::Drop { .. } | Step::Discard { .. } | Step::Lose);
            let Body::Segment(transit) = &record.packet.body else { return false };
            is_loss && record.at < until && record.packet.from == from && !transit.is_pure_ack()
        });
        lost.count() as u64
    };
    let both = apps.iter().map(|app| {
        let flow = sim.application::<BulkTransfer>(*app).unwrap().flows()[0];
        let end = flow.startup.unwrap().ended_at.unwrap();
        let (segments, in_startup) =
            (seen(flow.from, flow.acked_at.unwrap()), seen(flow.from, end));
        (flow.losses, Losses { segments, in_startup })
    });
    both.collect()
}

#[test]
fn a_record_counts_what_queues_drop_and_wires_lose() {
    let tail = wire(10, QueueLimit::Packets(20));
    let served = tail.clone().with_discipline(Discipline::PriorityDrop).unwrap();
    for bottleneck in [tail.clone(), served] {
        for (recorded, seen) in watched(bottleneck.clone()) {
            assert_eq!(recorded, seen, "{bottleneck:?}");
            // Slow start overflows 20 packets of buffer: 10 Mbit/s and 20 ms hold 25 more.
            assert!(seen.in_startup > 0 && seen.segments > seen.in_startup, "{seen:?}");
        }
    }
    // A packet that a wire will lose is counted when it enters and seen lost when it leaves: by
    // then a start-up may be over.
    for (recorded, seen) in watched(tail.with_loss(0.01).unwrap()) {
        assert_eq!(recorded.segments, seen.segments);
    }
}
