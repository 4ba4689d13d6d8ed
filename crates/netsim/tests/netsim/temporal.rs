//! Temporal sharing: the second connection to a host starts with the final state of the first one's
//! path.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Body, BulkSpec, BulkTransfer, Dumbbell, Duplex, Simulation, SimulationConfig, Step, StepRecord,
    StepRecorder, WireSizes,
};
use tcp::{Flags, Scheme};
use units::{Duration, Instant, Rate};

fn wire(bps: u64, ms: u64) -> LinkConfig {
    let queue = QueueLimit::Packets(100);
    LinkConfig::new(Rate::from_bps(bps), Duration::from_millis(ms), queue).unwrap()
}

/// Returns a source's records for each of two transfers of 60 KB to the same sink, over 10 Mbit/s
/// and a round trip of 100 ms. The second one starts `idle` after the first.
fn twice(scheme: &str, idle: Duration) -> [(Duration, Vec<StepRecord>); 2] {
    let bell = Dumbbell::new(1, wire(100_000_000, 1), Duplex::symmetric(wire(10_000_000, 48)));
    let sizes =
        WireSizes { data_overhead: Some(0), control_bytes: Some(40), ..WireSizes::default() };
    let config = SimulationConfig { seed: 1, wire_sizes: sizes };
    let mut sim = Simulation::new(bell.topology.clone(), config);
    sim.observe(StepRecorder::of(bell.first_links.iter().copied()));
    let scheme = Scheme::parse(scheme).unwrap();
    let transfer = || {
        BulkTransfer::new(BulkSpec {
            from: bell.sources[0],
            to: bell.sinks[0],
            bytes: Some(60_000),
            scheme: scheme.clone(),
            receiver: scheme.clone(),
            close: true,
        })
    };
    let starts = [Instant::ZERO, Instant::ZERO + idle];
    let apps = starts.map(|start| sim.add(start, transfer()));
    sim.run(Instant::ZERO + idle + Duration::from_secs(10)).unwrap();
    let records = sim.observer::<StepRecorder>().unwrap().records();
    [0, 1].map(|n| {
        let flow = sim.application::<BulkTransfer>(apps[n]).unwrap().flows()[0];
        let end = starts[n] + Duration::from_secs(4);
        let entered = records.iter().filter(|record| matches!(record.step, Step::Enter { .. }));
        let own = entered.filter(|record| record.at >= starts[n] && record.at < end);
        (flow.received_at.unwrap() - starts[n], own.copied().collect())
    })
}

/// Returns when segments with data were sent, in seconds after the first packet, and whether that
/// was a SYN.
fn data(records: &[StepRecord]) -> Vec<(f64, bool)> {
    let first = records[0].at;
    let segments = records.iter().filter_map(|record| match &record.packet.body {
        Body::Segment(transit) => Some((record.at, transit.segment)),
        Body::Datagram(_) => None,
    });
    let data = segments.filter(|(_, segment)| segment.len > 0);
    data.map(|(at, segment)| ((at - first).as_secs_f64(), segment.has(Flags::SYN))).collect()
}

#[test]
fn the_second_visit_skips_handshake_and_slow_start_and_is_paced() {
    // Ageing is negligible in 5 s: 50 of 3000 round trips.
    let [(first, cold), (second, warm)] = twice("etcp+mss=1000", Duration::from_secs(5));
    let (cold, warm) = (data(&cold), data(&warm));
    assert!(!cold[0].1 && cold[0].0 >= 0.1, "a handshake first: {cold:?}");
    assert!(warm[0].1 && warm[0].0 == 0.0, "data in the SYN: {warm:?}");
    // The difference is a round trip for the handshake, and at least two of slow start from three
    // segments.
    assert!(second + Duration::from_millis(300) < first, "{first}, then {second}");
    // Within the first round trip it sends more than the cold start did in any, and no two segments
    // at once.
    let round: Vec<f64> = warm.iter().map(|(at, _)| *at).take_while(|at| *at < 0.098).collect();
    assert!(round.len() > 10, "{round:?}");
    let gaps: Vec<f64> = round.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (0.001..0.01).contains(gap)), "{gaps:?}");
}

#[test]
fn a_memory_older_than_the_gate_believes_is_none() {
    let [(first, cold), (second, later)] = twice("etcp+mss=1000", Duration::from_secs(700));
    assert_eq!(first, second);
    assert_eq!(data(&cold), data(&later));
}

#[test]
fn fast_start_and_sessions_begin_a_new_path_where_the_last_ended() {
    for scheme in ["fs+mss=1000", "fs-pdrop+mss=1000", "session-fs+mss=1000"] {
        let [(first, _), (second, warm)] = twice(scheme, Duration::from_secs(5));
        // They still have their handshake, and save at least two round trips of slow start.
        assert!(second + Duration::from_millis(200) < first, "{scheme}: {first}, then {second}");
        assert!(!data(&warm)[0].1, "{scheme}: no data in the SYN");
    }
}
