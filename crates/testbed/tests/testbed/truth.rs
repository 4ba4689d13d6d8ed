//! Transfers of known cause between two kernels. `headstart lab check truth` compares the
//! analyser's account of them.

use test_support::{EMULATION, calmly_throughout, has};
use testbed::truth::{MeasuredRow, TruthPlan};
use trace::TimeShare;

/// A busy machine delays each step by so much, in parts of the time.
const SHARE_MARGIN: f64 = 0.03;

fn share(row: &MeasuredRow, cause: TimeShare) -> Option<f64> {
    let shares = &row.truth.shares;
    shares.iter().find(|share| share.cause == cause).map(|share| share.high)
}

/// The kernel's counters contradict no row: retransmissions are those that crossed the link, and
/// windows and buffers limited those rows that were built for it. A handshake takes one round trip
/// of the path. The analyser names the cause at the server, with its share of the time, and at the
/// client no other.
#[test]
fn rows_are_what_they_were_built_to_be() {
    if !has(&EMULATION) {
        return;
    }
    let _alone = crate::alone();
    calmly_throughout(|| {
        let plan = TruthPlan { jobs: 2, ..TruthPlan::new(true) };
        let report = plan.run(&|| ()).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.rows.len() > 10, "left out: {:?}", report.left_out);
        for row in &report.rows {
            let (name, truth) = (&row.row.name, &row.truth);
            assert!(truth.contradictions.is_empty(), "{name}: {:?}", truth.contradictions);
            let all: f64 = truth.shares.iter().map(|share| share.low).sum();
            assert!(all <= 1.0 + SHARE_MARGIN, "{name}: {:?}", truth.shares);
            if let Some(handshake) = share(row, TimeShare::Handshake) {
                let expected = row.row.path.spec.rtt().as_secs_f64() / truth.total_s;
                assert!((handshake - expected).abs() < SHARE_MARGIN, "{name}: {handshake}");
            }
            let found = &row.at_server;
            assert!(found.is_inside(), "{name}: {:?}, {:?}", found.found, found.errors);
            assert_eq!(found.found.retransmissions, truth.retransmissions, "{name}");
            assert!(row.at_client.is_first_right, "{name}: {:?}", row.at_client.found);
        }
    });
}
