//! Properties of findings for any capture: sums of groups are those of all, parts are parts, and
//! nothing panics.

use capture::Observed;
use findings::{FindingsSink, FindingsSums, TimeRow, TimeSums, TraceFindings};
use proptest::prelude::*;
use std::net::IpAddr;
use trace::{
    ConnectionTrace, EngineConfig, ShardedTraceEngine, TraceEngine, TraceSink, TracedSender,
    TransferReport, testing::segments_of,
};
use units::Instant;

/// Sum of the durations of all transfers, which shares have to add up to.
#[derive(Default)]
struct Durations(u128);

impl TraceSink for Durations {
    fn on_connection(&mut self, _: &ConnectionTrace) {}

    fn on_transfer(&mut self, _: &TracedSender, report: &TransferReport) {
        self.0 += u128::from(report.duration().as_nanos());
    }
}

fn play(segments: impl Iterator<Item = Observed>, acks_only: bool) -> (TraceFindings, u128) {
    let config = EngineConfig { acks_only, max_connections: 3, ..EngineConfig::default() };
    let mut engine = TraceEngine::new(config, (FindingsSink::default(), Durations::default()));
    segments.for_each(|segment| engine.on_segment(&segment));
    let ((sink, durations), _) = engine.finish_all();
    (sink.finish(), durations.0)
}

/// Returns the findings on this many threads.
fn sharded(segments: impl Iterator<Item = Observed>, threads: usize) -> TraceFindings {
    let config = EngineConfig { max_connections: 24, ..EngineConfig::default() };
    let mut engine = ShardedTraceEngine::new(&config, FindingsSink::default(), threads).unwrap();
    segments.for_each(|segment| engine.on_segment(&segment));
    engine.finish_all().0.finish()
}

fn sum(rows: &[TimeRow]) -> TimeSums {
    let mut sums = TimeSums::default();
    rows.iter().for_each(|row| sums.merge(&row.sums));
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn sums_are_sums_and_parts_are_parts(
        bytes in prop::collection::vec(any::<u8>(), 0..4_000),
        acks_only: bool,
    ) {
        let (found, durations) = play(segments_of(&bytes), acks_only);
        let all = found.time.all;
        prop_assert_eq!(all.total_nanos(), durations);
        prop_assert_eq!(sum(&found.time.by_size), all);
        prop_assert_eq!(sum(&found.time.by_hour), all);
        let mut by_prefix = sum(&found.time.by_prefix);
        by_prefix.merge(&found.time.other_prefixes);
        prop_assert_eq!(by_prefix, all);
        let warm = &found.warm;
        let known = warm.fit_first_window + warm.host_knew_more + warm.network_knew_more;
        prop_assert!(known <= warm.first_transfers && warm.first_transfers <= all.transfers);
        prop_assert!(warm.sparable_s <= warm.seconds);
        for row in &found.parallel.epochs.by_open {
            prop_assert!(row.hit <= row.open as f64 && row.outstanding <= row.open as f64);
            prop_assert!((0.5 - 1e-9..=1.0).contains(&row.left_by_fast_recovery), "{:?}", row);
            prop_assert!((0.0..=1.0).contains(&row.left_by_timeout), "{:?}", row);
        }
        let compression = &found.compression;
        for step in compression.by_median.iter().chain(&compression.by_flight) {
            prop_assert!(step.lost_next <= step.followed && step.followed <= step.windows);
        }
        prop_assert!(found.requests.soon_after_host <= found.requests.soon_after_network);
        serde_json::to_string(&found).expect("JSON");
    }

    /// The parts beside shards, with notes in order, give the same findings as one thread.
    #[test]
    fn threads_find_what_one_finds(bytes in prop::collection::vec(any::<u8>(), 0..4_000)) {
        let alone = sharded(segments_of(&bytes), 1);
        // With two threads, the calling one runs shards, too.
        for threads in [2, 3] {
            prop_assert_eq!(&sharded(segments_of(&bytes), threads), &alone);
        }
    }
}

/// The sums of a capture whose clients are in a network of their own, read back from JSON.
fn sums_of(segments: impl Iterator<Item = Observed>) -> FindingsSums {
    let mut sink = FindingsSink::with_epochs();
    sink.keep_sums();
    let mut engine = TraceEngine::new(EngineConfig::default(), sink);
    segments.for_each(|segment| engine.on_segment(&segment));
    let sums = engine.finish_all().0.sums();
    let json = serde_json::to_string(&sums).expect("JSON");
    serde_json::from_str(&json).expect("the same sums")
}

/// Segments whose addresses are in networks that no other number has. Their times are a thousandth
/// of random ones: connections that are idle for minutes end when other connections send.
fn renumbered(bytes: &[u8], number: u8) -> Vec<Observed> {
    let renamed = |mut segment: Observed| {
        for end in [&mut segment.source, &mut segment.destination] {
            end.ip = match end.ip {
                IpAddr::V4(ip) => {
                    let [_, b, c, d] = ip.octets();
                    IpAddr::from([100 + number, b, c, d])
                }
                IpAddr::V6(ip) => {
                    let mut octets = ip.octets();
                    octets[2] = 100 + number;
                    IpAddr::from(octets)
                }
            };
        }
        segment.at = Instant::from_nanos(segment.at.as_nanos() / 1_000);
        segment
    };
    segments_of(bytes).map(renamed).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Two captures of other networks, each followed alone, have the findings of one run over both.
    /// The order in which sums are added does not matter. A run over both may notice a request of
    /// one after a later one of the other, so it may count other numbers of networks.
    #[test]
    fn sums_of_captures_are_those_of_all(
        one in prop::collection::vec(any::<u8>(), 0..3_000),
        other in prop::collection::vec(any::<u8>(), 0..3_000),
    ) {
        let parts = [renumbered(&one, 1), renumbered(&other, 2)];
        let mut both = parts.concat();
        both.sort_by_key(|segment| segment.at);
        // Times in order: a clock that is set back concerns all connections of a run.
        let sorted = |part: &Vec<Observed>| {
            let mut part = part.clone();
            part.sort_by_key(|segment| segment.at);
            part
        };
        let mut engine = TraceEngine::new(EngineConfig::default(), FindingsSink::with_epochs());
        both.iter().for_each(|segment| engine.on_segment(segment));
        let without_networks = |mut found: TraceFindings| {
            let within = std::mem::take(&mut found.requests.networks_within);
            (found, within.count)
        };
        let whole = without_networks(engine.finish_all().0.finish());
        for order in [[0, 1], [1, 0]] {
            let mut sums = FindingsSums::default();
            order.iter().for_each(|n: &usize| sums.add(sums_of(sorted(&parts[*n]).into_iter())));
            prop_assert_eq!(&without_networks(sums.finish()), &whole);
        }
    }
}
