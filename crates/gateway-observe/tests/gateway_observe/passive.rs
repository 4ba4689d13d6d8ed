//! Reports rebuilt from packets match the capture.

use capture::{CaptureFiles, SegmentSource};
use gateway::replay::Replay;
use gateway_observe::passive::PassiveSink;
use gateway_proto::v1::{Bound, Network};
use std::path::Path;
use trace::{EngineConfig, TraceEngine};

/// A public capture of one connection whose server serves three responses
/// (crates/capture/tests/tcprs).
const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/tests/tcprs/fast001.pcap");

#[test]
fn transfers_with_a_loss_are_estimates_and_the_others_lower_bounds() {
    let mut found = Vec::new();
    let mut engine =
        TraceEngine::new(EngineConfig::default(), PassiveSink::new(|report| found.push(report)));
    let (mut source, mut batch) = (CaptureFiles::new([Path::new(CAPTURE)]), Vec::new());
    while source.next_batch(&mut batch).unwrap() {
        batch.iter().for_each(|segment| engine.on_segment(segment));
    }
    drop(engine.finish_all());
    // `headstart analyze --json` gives the same: 15,437 bytes with a fast retransmission, 1,497
    // without any, and 1,168 with a timeout.
    let told: Vec<_> = found
        .iter()
        .map(|one| (one.report.transfer_bytes, one.report.lost, one.report.bound() == Bound::Loss))
        .collect();
    assert_eq!(told, [(15_437, 1, true), (1_497, 0, false), (1_168, 1, true)]);
    // 12 segments of at most 1,380 bytes, and one retransmission.
    assert_eq!(found[0].report.sent, 13);
    let network = Some(Network::of("10.1.96.0/24".parse().unwrap()));
    assert!(found.iter().all(|one| one.report.network == network));
    let mut replay = Replay::default();
    found.iter().for_each(|one| replay.on_transfer(one.began(), one.at, &one.report));
    let answers = replay.findings();
    assert_eq!(
        (answers.asked, answers.reported, answers.with_loss, answers.unanswered),
        (3, 3, 2, 1)
    );
}
