//! The engine on several threads gives the same results, in the same order, as on one, and as the
//! unsharded engine.

use crate::common::collect::Collected;
use crate::common::sink_calls::SinkCalls;
use crate::common::{Exchange, Pipe, run};
use capture::Observed;
use proptest::prelude::*;
use tcp::Scheme;
use trace::testing::wire::CapturedWire;
use trace::{EngineConfig, EngineCounters, ShardedTraceEngine, TraceEngine, Undivided};
use units::{Duration, Instant};

fn on_threads(
    config: &EngineConfig,
    segments: &[Observed],
    threads: usize,
) -> (Vec<String>, EngineCounters) {
    let mut engine =
        ShardedTraceEngine::new(config, Undivided(SinkCalls::default()), threads).expect("threads");
    segments.iter().for_each(|segment| engine.on_segment(segment));
    let (sink_calls, counters) = engine.finish_all();
    (sink_calls.0.0, counters)
}

/// Returns 60 simulated connections over a lossy path, one started every 20 ms.
fn mixed() -> Vec<Observed> {
    let scheme = Scheme::parse("linux").expect("a scheme of the catalogue");
    let mut segments = Vec::new();
    for n in 0..60_u16 {
        let scenario = run(&Exchange {
            server: &scheme,
            client: &scheme,
            pipe: Pipe::new(10, 20, 20, 10),
            sizes: &[30_000, 100_000],
            think: Duration::from_millis(100),
            seed: n.into(),
            port: 40_000 + n,
            begin: Instant::ZERO + Duration::from_millis(1_000 + u64::from(n) * 20),
        });
        segments.extend(scenario.segments);
    }
    segments.sort_by_key(|segment| segment.at);
    segments
}

#[test]
fn any_number_of_threads_tells_the_same_in_the_same_order() {
    let segments = mixed();
    // More than a round.
    assert!(segments.len() > 8_192, "{}", segments.len());
    for acks_only in [false, true] {
        let config = EngineConfig { acks_only, ..EngineConfig::default() };
        let alone = on_threads(&config, &segments, 1);
        assert!(alone.0.len() > 5_000);
        for threads in [2, 3, 8, 20] {
            assert!(on_threads(&config, &segments, threads) == alone, "{threads} threads");
        }
    }
}

/// Connections have the same numbers and results as with one engine.
#[test]
fn shards_find_what_one_engine_finds() {
    let segments = mixed();
    let config = EngineConfig::default();
    let mut one = TraceEngine::new(config.clone(), Collected::default());
    let mut sharded =
        ShardedTraceEngine::new(&config, Undivided(Collected::default()), 2).expect("threads");
    segments.iter().for_each(|segment| {
        one.on_segment(segment);
        sharded.on_segment(segment);
    });
    let (mut one, one_counters) = one.finish_all();
    let (Undivided(mut sharded), counters) = sharded.finish_all();
    assert_eq!(counters, one_counters);
    for found in [&mut one, &mut sharded] {
        found.connections.sort_by_key(|summary| summary.connection);
        found.transfers.sort_by_key(|(sender, report)| (sender.connection, report.index));
    }
    assert_eq!(sharded.connections, one.connections);
    assert_eq!(sharded.transfers, one.transfers);
    assert_eq!(sharded.again, one.again);
    assert_eq!(sharded.windows, one.windows);
}

/// Connections are evicted, and many are still open when the capture ends.
#[test]
fn evictions_do_not_depend_on_threads() {
    let mut segments = Vec::new();
    for n in 0..3_000_u16 {
        let mut wire = CapturedWire { port: 1_000 + n, ..CapturedWire::new() };
        wire.open(u64::from(n) * 3, true);
        segments.extend(wire.segments);
    }
    segments.sort_by_key(|segment| segment.at);
    let config = EngineConfig { max_connections: 1_600, ..EngineConfig::default() };
    let alone = on_threads(&config, &segments, 1);
    // Each of eight shards has 200 at most.
    assert_eq!((alone.1.connections, alone.1.evicted), (3_000, 3_000 - 1_600));
    // Each connection has a start and a summary.
    assert_eq!(alone.0.len(), 2 * 3_000);
    for threads in [2, 5] {
        assert!(on_threads(&config, &segments, threads) == alone, "{threads} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// Returns any mix of packets of many connections.
    #[test]
    fn any_order_of_packets(order in prop::collection::vec((0..200_u16, 0..6_u8), 0..2_000)) {
        let mut segments = Vec::new();
        for (ms, (port, what)) in order.into_iter().enumerate() {
            let mut wire = CapturedWire { port: 1_000 + port, ip_id: ms as u32, ..CapturedWire::new() };
            let ms = ms as u64;
            match what {
                0 => wire.open(ms, true),
                1 => wire.ask(ms, 0, 300, 0),
                2 => wire.send(ms, 0..4),
                3 => wire.send(ms, 1..2),
                4 => { wire.ack(ms, 2); }
                _ => wire.sack(ms, 0, &[(2, 4)]),
            }
            segments.extend(wire.segments);
        }
        let config = EngineConfig::default();
        prop_assert!(on_threads(&config, &segments, 3) == on_threads(&config, &segments, 1));
    }
}
