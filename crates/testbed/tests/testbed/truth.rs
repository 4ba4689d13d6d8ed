//! Transfers of known cause between two kernels. `headstart lab check truth` compares the
//! analyser's account of them.

use std::cell::RefCell;
use test_support::{EMULATION, has, retry_on_any_stall};
use testbed::truth::{MeasuredRow, TruthPlan};
use trace::TimeShare;

/// Share of the time by which a busy machine delays each step.
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
    let quick = TruthPlan { jobs: 2, ..TruthPlan::new(true) };
    let wrong = RefCell::new(quick.rows.clone());
    // A machine that stands still spoils single rows: those that were right are not measured again.
    retry_on_any_stall(|| {
        let rows = wrong.borrow().clone();
        let all = rows.len();
        let plan = TruthPlan { rows, ..quick.clone() };
        let report = plan.run(&|| ()).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            all < quick.rows.len() || report.rows.len() > 10,
            "left out: {:?}",
            report.left_out
        );
        let faults: Vec<(&MeasuredRow, String)> =
            report.rows.iter().filter_map(|row| Some((row, fault(row)?))).collect();
        wrong.replace(faults.iter().map(|(row, _)| row.row.clone()).collect());
        assert!(faults.is_empty(), "{:#?}", faults.iter().map(|(_, why)| why).collect::<Vec<_>>());
    });
}

/// The first difference between a measured row and its construction, in words.
fn fault(measured: &MeasuredRow) -> Option<String> {
    let MeasuredRow { row, truth, at_server, at_client, .. } = measured;
    let all: f64 = truth.shares.iter().map(|share| share.low).sum();
    let is_handshake_wrong = share(measured, TimeShare::Handshake).is_some_and(|handshake| {
        let expected = row.path.spec.rtt().as_secs_f64() / truth.total_s;
        (handshake - expected).abs() >= SHARE_MARGIN
    });
    let why = if !truth.contradictions.is_empty() {
        format!("{:?}", truth.contradictions)
    } else if all > 1.0 + SHARE_MARGIN || is_handshake_wrong {
        format!("{:?}", truth.shares)
    } else if !at_server.is_inside() {
        format!("at the server: {:?}, {:?}", at_server.found, at_server.errors)
    } else if at_server.found.retransmissions != truth.retransmissions {
        format!("{} retransmissions: {:?}", truth.retransmissions, at_server.found)
    } else if !at_client.is_first_right {
        format!("at the client: {:?}", at_client.found)
    } else {
        return None;
    };
    Some(format!("{}: {why}", row.name))
}
