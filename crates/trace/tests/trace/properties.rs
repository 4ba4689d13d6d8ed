//! Properties that hold for any capture.

use crate::common::collect::{Collected, collect};
use crate::common::{Exchange, Pipe, Scenario, run};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tcp::Scheme;
use trace::testing::wire::CapturedWire;
use trace::{EngineConfig, RetransmissionKind, SenderModel, SenderModels, TraceEngine};
use units::{Duration, Instant};

fn config(scheme: &str) -> EngineConfig {
    let model = SenderModel::of_scheme(scheme).unwrap().without_nagle();
    EngineConfig { models: SenderModels::all(model), ..EngineConfig::default() }
}

fn scenario(scheme: &str, pipe: Pipe, seed: u64, port: u16) -> Scenario {
    let scheme = Scheme::parse(scheme).unwrap().without_nagle();
    run(&Exchange {
        server: &scheme,
        client: &scheme,
        pipe,
        sizes: &[20_000, 100_000, 5_000],
        think: Duration::from_millis(50),
        seed,
        port,
        begin: Instant::ZERO + Duration::from_secs(5),
    })
}

/// Returns the results of each connection, by its client's port, without connection numbers.
fn by_client(found: &Collected) -> BTreeMap<u16, Vec<String>> {
    let mut all: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for (sender, again) in &found.again {
        all.entry(sender.client.port).or_default().push(format!("{again:?}"));
    }
    for (sender, transfer) in &found.transfers {
        all.entry(sender.client.port).or_default().push(format!("{transfer:?}"));
    }
    for (sender, point) in &found.windows {
        all.entry(sender.client.port).or_default().push(format!("{point:?}"));
    }
    all
}

/// Connections do not influence each other: interleaved or one after another, in any order.
#[test]
fn the_order_of_connections_changes_nothing() {
    let pipe = Pipe::new(10, 20, 20, 20);
    let scenarios: Vec<_> =
        (0..6_u16).map(|n| scenario("linux", pipe, n.into(), 40_000 + n)).collect();
    let mut segments: Vec<_> = scenarios.iter().flat_map(|s| s.segments.clone()).collect();
    segments.sort_by_key(|segment| segment.at);
    let together = Scenario { segments, ..Scenario::default() };
    let mut segments: Vec<_> = scenarios.iter().rev().flat_map(|s| s.segments.clone()).collect();
    segments.sort_by_key(|segment| segment.at);
    let reversed = Scenario { segments, ..Scenario::default() };
    let alone: BTreeMap<_, _> = scenarios
        .iter()
        .flat_map(|scenario| by_client(&collect(config("linux"), scenario).0))
        .collect();
    assert_eq!(by_client(&collect(config("linux"), &together).0), alone);
    assert_eq!(by_client(&collect(config("linux"), &reversed).0), alone);
}

/// If no timer ran out, ACKs alone show the same retransmissions, and the same windows after them.
#[test]
fn acks_alone_tell_the_same_where_no_timer_acted() {
    let mut compared = 0;
    for scheme in ["newreno", "linux"] {
        for seed in 0..40 {
            let scenario = scenario(scheme, Pipe::new(20, 15, 40, 10), seed, 40_000);
            let (seen, _) = collect(config(scheme), &scenario);
            let timers = [RetransmissionKind::Timeout, RetransmissionKind::TailProbe];
            let acted = seen.again.iter().any(|(_, again)| timers.contains(&again.kind));
            if acted {
                continue;
            }
            let acks_only = EngineConfig { acks_only: true, ..config(scheme) };
            let (predicted, _) = collect(acks_only, &scenario);
            let sink_calls = |found: &Collected| -> Vec<_> {
                let data = found.again.iter().filter(|(_, again)| again.len > 0);
                data.map(|(_, a)| (a.at, a.start, a.len, a.kind, a.phase)).collect()
            };
            assert_eq!(sink_calls(&predicted), sink_calls(&seen), "{scheme} {seed}");
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

/// If there are more connections than the limit, the least recently used one ends and counts as
/// evicted.
#[test]
fn the_table_has_a_limit_and_tells_of_what_it_drops() {
    let limited = EngineConfig { max_connections: 10, ..config("linux") };
    let mut engine = TraceEngine::new(limited, Collected::default());
    for n in 0..50_u16 {
        let mut wire = CapturedWire { port: 1_000 + n, ..CapturedWire::new() };
        wire.open(u64::from(n) * 200, true);
        wire.segments.iter().for_each(|segment| engine.on_segment(segment));
    }
    assert_eq!(engine.counters().evicted, 40);
    let (found, counters) = engine.finish_all();
    assert_eq!((found.connections.len() as u64, counters.connections), (50, 50));
    // Ends follow the order of last packets.
    let ports: Vec<_> = found.connections.iter().map(|summary| summary.client.port).collect();
    assert!(ports.is_sorted());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// For any packets, shares add up, no bytes in flight are negative, and every connection is
    /// reported once.
    #[test]
    fn no_capture_upsets_the_engine(bytes in prop::collection::vec(any::<u8>(), 0..4_000)) {
        trace::testing::play_capture(&bytes);
    }
}

/// Replays the corpus of the fuzz target.
#[test]
fn the_corpus_is_played() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz-corpus/trace");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("a file").path();
        trace::testing::play_capture(&std::fs::read(path).expect("readable"));
        played += 1;
    }
    assert!(played >= 4, "the corpus has only {played} files");
}
