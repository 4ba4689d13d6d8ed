//! If slow start meets a short queue, ties alone decide which packet is dropped: every departure of
//! the bottleneck coincides with an arrival. The reference has the same drops.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Body, BulkSpec, BulkTransfer, Dumbbell, Duplex, Simulation, SimulationConfig, Step,
    StepRecorder, WireSizes,
};
use tcp::Scheme;
use units::{Duration, Instant, Rate};

/// Runs SACK, with 100 segments of 1000 bytes, 40 on top, IW 2, an ACK per segment, T1 at 50 ms,
/// and ten packets of queue in all. Segments are numbered from 1, as the reference's SYN is
/// segment 0.
fn drops() -> Vec<(u64, Instant)> {
    let wire = |bps, ms, queue| {
        LinkConfig::new(Rate::from_bps(bps), Duration::from_millis(ms), queue).unwrap()
    };
    let side = wire(10_000_000, 1, QueueLimit::Unlimited);
    let t1 = wire(1_500_000, 50, QueueLimit::Packets(10));
    let bell = Dumbbell::new(1, side, Duplex::symmetric(t1));
    let wire_sizes =
        WireSizes { data_overhead: Some(40), control_bytes: Some(40), ..WireSizes::default() };
    let mut sim = Simulation::new(bell.topology, SimulationConfig { seed: 1, wire_sizes });
    sim.observe(StepRecorder::of([bell.bottleneck.forward]));
    let scheme = Scheme::parse("sack+mss=1000+iw=2+ack=all+rwnd=4MB").unwrap();
    let spec = BulkSpec {
        from: bell.sources[0],
        to: bell.sinks[0],
        bytes: Some(100_000),
        scheme: scheme.clone(),
        receiver: scheme,
        close: false,
    };
    sim.add(Instant::ZERO, BulkTransfer::new(spec));
    sim.run(Instant::from_nanos(60_000_000_000)).unwrap();
    let records = sim.observer::<StepRecorder>().unwrap().records().iter();
    let dropped = records.filter(|record| matches!(record.step, Step::Drop { .. }));
    dropped
        .filter_map(|record| match record.packet.body {
            Body::Segment(transit) => Some((transit.payload_offset / 1000 + 1, record.at)),
            Body::Datagram(_) => None,
        })
        .collect()
}

#[test]
fn the_reference_drops_the_same_packets() {
    // Only drops before the first loss is detected count; later ones depend on the recovery.
    let drops = &drops()[..21];
    let expected: Vec<u64> = (49..=61).step_by(2).chain((72..=98).step_by(2)).collect();
    let segments: Vec<u64> = drops.iter().map(|(segment, _)| *segment).collect();
    assert_eq!(segments, expected);
    // The reference's trace has five decimals.
    for (n, seconds) in [(0, 0.602_26), (6, 0.635_54), (7, 0.686_85), (19, 0.753_40)] {
        assert!((drops[n].1.as_secs_f64() - seconds).abs() < 1e-5, "{:?}", drops[n]);
    }
}
