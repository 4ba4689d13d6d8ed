//! The fast path through the engine gives the same results as the slow path, word for word.

use crate::common::sink_calls::sink_calls;
use crate::common::{Exchange, Pipe, Scenario, run};
use capture::Observed;
use proptest::prelude::*;
use tcp::Scheme;
use trace::testing::{fast_path_segments, segments_of, without_fast_path};
use trace::{EngineConfig, SenderModel, SenderModels, SenderProfile};
use units::{Duration, Instant};

/// Compares both paths; returns the number of segments on the fast path.
fn check(config: &EngineConfig, segments: &[Observed]) -> u64 {
    let slow = without_fast_path(|| sink_calls(config, segments));
    let before = fast_path_segments();
    let fast = sink_calls(config, segments);
    let differs = slow.0.iter().zip(&fast.0).find(|(slow, fast)| slow != fast);
    assert!(differs.is_none(), "{differs:#?}");
    assert_eq!(slow.0.len(), fast.0.len());
    fast_path_segments() - before
}

fn scenario(server: SenderProfile, pipe: Pipe, seed: u64, think_ms: u64) -> Scenario {
    let scheme = Scheme::parse(server.scheme()).expect("profiles are schemes");
    let client = Scheme::parse("linux").expect("a scheme");
    run(&Exchange {
        server: &scheme,
        client: &client,
        pipe,
        sizes: &[30_000, 150_000, 9_000],
        think: Duration::from_millis(think_ms),
        seed,
        port: 40_000,
        begin: Instant::ZERO + Duration::from_secs(1),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The property holds for any server, profile and path, at either end.
    #[test]
    fn both_ways_tell_the_same(
        server in 0_usize..5,
        profile in 0_usize..5,
        (mbit, delay_ms, queue, loss) in (1_u64..100, 1_u64..80, 5_usize..60, 0_u64..40),
        seed in 0_u64..1_000,
        think_ms in prop_oneof![Just(0_u64), Just(300), Just(2_500)],
    ) {
        let pipe = Pipe::new(mbit, delay_ms, queue, loss);
        let scenario = scenario(SenderProfile::ALL[server], pipe, seed, think_ms);
        let models = SenderModels::all(SenderModel::of(SenderProfile::ALL[profile]));
        let config = EngineConfig { models, ..EngineConfig::default() };
        check(&config, &scenario.segments);
        check(&config, &scenario.at_client);
    }

    /// The property holds for segments from arbitrary bytes.
    #[test]
    fn both_ways_tell_the_same_of_any_segments(bytes in proptest::collection::vec(any::<u8>(), 0..3_000)) {
        let segments: Vec<_> = segments_of(&bytes).collect();
        check(&EngineConfig::default(), &segments);
    }
}

/// 189,000 bytes in segments of 1,448 are 131 segments, of which a few begin a burst. Without
/// losses nearly all others take the fast path.
#[test]
fn most_segments_of_a_response_are_ordinary() {
    let scenario = scenario(SenderProfile::Linux, Pipe::new(20, 20, 1_000, 0), 1, 0);
    let models = SenderModels::all(SenderModel::of(SenderProfile::Linux));
    let config = EngineConfig { models, ..EngineConfig::default() };
    let ordinary = check(&config, &scenario.segments);
    let all = scenario.segments.len() as u64;
    assert!(ordinary * 4 > all * 3, "{ordinary} of {all}");
}

/// The same path has a queue of 20 packets, and every fiftieth packet is lost at random. Repairs
/// and the first segment of a burst take the slow path, but ACKs with SACK blocks do not.
#[test]
fn most_segments_are_ordinary_while_losses_are_repaired() {
    let scenario = scenario(SenderProfile::Linux, Pipe::new(20, 20, 20, 20), 1, 0);
    let models = SenderModels::all(SenderModel::of(SenderProfile::Linux));
    let config = EngineConfig { models, ..EngineConfig::default() };
    let with_blocks =
        scenario.segments.iter().filter(|segment| !segment.options.sack().is_empty()).count();
    assert!(with_blocks > 10, "{with_blocks}");
    let ordinary = check(&config, &scenario.segments);
    let all = scenario.segments.len() as u64;
    assert!(ordinary * 3 > all * 2, "{ordinary} of {all}, {with_blocks} with SACK blocks");
}
