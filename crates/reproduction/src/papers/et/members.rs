//! Connections that join an ensemble and leave it, and the shares of each in the data sent
//! meanwhile.

use crate::papers::book::Book;
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::reading::{PacketStep, Readings, RunRecords};
use crate::papers::unit::{PERCENT, SECONDS};

const QUICK: Quick = Quick { repeats: 1, keep: &[] };
/// The connections in the order in which they open.
const MEMBERS: [&str; 3] = ["first", "second", "third"];

pub(super) const ET_6: Experiment = Experiment {
    name: "ET-6",
    plan: include_str!("../../../../../plans/papers/ET-6.toml"),
    read: record_shares,
    quick: QUICK,
};

pub(super) const ONE: Experiment = Experiment {
    name: "ET-6-one",
    plan: include_str!("../../../../../plans/papers/ET-6-one.toml"),
    read: |run, readings| set_total(run, &["all"], readings),
    quick: QUICK,
};

/// Payload that entered the link.
struct SentPayload {
    /// When, in seconds.
    at: f64,
    /// Number of the member.
    member: usize,
    bytes: f64,
}

/// Sets the time until all is received, from the first's start.
fn set_total(run: &RunRecords<'_>, workloads: &[&str], readings: &mut Readings) {
    let received = workloads.iter().flat_map(|name| run.of(name)).map(|flow| flow.received);
    readings.set("total", last_of(received));
}

/// Returns the last of several times; not a number if one is missing, or all.
fn last_of(times: impl Iterator<Item = Option<f64>>) -> f64 {
    let times: Option<Vec<f64>> = times.collect();
    times.and_then(|times| times.into_iter().reduce(f64::max)).unwrap_or(f64::NAN)
}

/// Sets each member's share of the data sent between two changes of membership, and the total.
fn record_shares(run: &RunRecords<'_>, readings: &mut Readings) {
    set_total(run, &MEMBERS, readings);
    let sent = sent(run);
    // Segments sent up to a member's last byte: the member leaves then.
    let leaves = |member: usize| {
        let own = sent.iter().filter(|sent| sent.member == member);
        own.map(|sent| sent.at).fold(f64::NAN, f64::max)
    };
    let starts = MEMBERS.map(|name| run.of(name).next().map_or(f64::NAN, |flow| flow.start));
    let [_, second, third] = starts;
    let phases = [
        ("two", second, third, vec![0, 1]),
        ("three", third, leaves(2), vec![0, 1, 2]),
        ("two again", leaves(2), leaves(1), vec![0, 1]),
    ];
    for (phase, from, until, members) in phases {
        let within = |sent: &&SentPayload| sent.at >= from && sent.at <= until;
        let bytes = |member: Option<usize>| -> f64 {
            let of = sent.iter().filter(within).filter(|s| member.is_none_or(|m| m == s.member));
            of.map(|sent| sent.bytes).sum()
        };
        for member in members {
            let share = 100.0 * bytes(Some(member)) / bytes(None);
            readings.set(format!("{phase}, {}", MEMBERS[member]), share);
        }
    }
}

/// Returns all payload in sending order; members are distinguished by their ports, which are in
/// order.
fn sent(run: &RunRecords<'_>) -> Vec<SentPayload> {
    let enters = |step: &PacketStep| step.step == "enter" && step.payload.unwrap_or(0) > 0;
    let steps: Vec<PacketStep> = run.packet_steps().filter(enters).collect();
    let mut ports = Vec::new();
    for port in steps.iter().map(|step| step.source_port) {
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    let member = |step: &PacketStep| ports.iter().position(|port| *port == step.source_port);
    let of = |step: &PacketStep| {
        Some(SentPayload { at: step.time, member: member(step)?, bytes: f64::from(step.payload?) })
    };
    steps.iter().filter_map(of).collect()
}

/// Returns the findings on claim ET-6.
pub(super) fn et_6(book: &Book) -> Findings {
    let (record, one, mut findings) = (book.of("ET-6"), book.of("ET-6-one"), Findings::default());
    let phases: [(&str, &[&str]); 3] =
        [("two", &MEMBERS[..2]), ("three", &MEMBERS), ("two again", &MEMBERS[..2])];
    for (phase, members) in phases {
        let equal = 100.0 / members.len() as f64;
        for member in members {
            let share = record.samples(&[], &format!("{phase}, {member}")).mean();
            let line = FigureLine::new(format!("share of the {member} among {phase}"), PERCENT);
            findings.line(line.ours(share).must(ClaimInterval::between(equal - 5.0, equal + 5.0)));
        }
    }
    let [ours, alone] = [record, one].map(|record| record.samples(&[], "total"));
    let line = FigureLine::new("total above that of one TCP with all bytes", PERCENT);
    findings.line(line.ours(ours.excess_over(&alone)).must(ClaimInterval::between(-1.0, 1.0)));
    findings.line(FigureLine::new("total of the ensemble", SECONDS).ours(ours.mean()));
    findings.line(FigureLine::new("total of one TCP", SECONDS).ours(alone.mean()));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_that_did_not_arrive_leaves_no_total() {
        assert_eq!(last_of([Some(1.0), Some(3.0), Some(2.0)].into_iter()), 3.0);
        assert!(last_of([Some(1.0), None, Some(2.0)].into_iter()).is_nan());
        assert!(last_of([None, Some(2.0)].into_iter()).is_nan());
        assert!(last_of([].into_iter()).is_nan());
    }
}
