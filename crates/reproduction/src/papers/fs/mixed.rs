//! FS-8: connections that fast-start beside connections that do not.

use super::{OTHER_PARAMETERS, PAPER, PARAMETERS};
use crate::papers::book::{Book, ExperimentRecord};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::Samples;
use crate::papers::unit::{PERCENT, SECONDS};

pub(super) const FS_8: Experiment = Experiment {
    name: "FS-8",
    plan: include_str!("../../../../../plans/papers/FS-8.toml"),
    read: second_bursts,
    quick: Quick { repeats: 30, keep: &[] },
};

/// Sets the mean times of each group's second bursts: to the last acknowledgement, and to the last
/// byte.
fn second_bursts(run: &RunRecords<'_>, readings: &mut Readings) {
    for group in ["group1", "group2"] {
        let second = || run.of(group).filter(|flow| flow.flow == 1);
        readings.set_mean(format!("{group}.second"), second().map(Flow::time_to_ack));
        let received = second().map(Flow::time_to_receive);
        readings.set_mean(format!("{group}.second.received"), received);
    }
}

/// A cell of the paper's table.
struct PaperTime {
    scheme: &'static str,
    group: &'static str,
    seconds: f64,
}

const fn paper(scheme: &'static str, group: &'static str, seconds: f64) -> PaperTime {
    PaperTime { scheme, group, seconds }
}

/// Table 1.
const TABLE: [PaperTime; 6] = [
    paper("newreno", "group1", 2.41),
    paper("newreno", "group2", 2.34),
    paper("fs", "group1", 1.90),
    paper("fs", "group2", 2.88),
    paper("fs-pdrop", "group1", 1.80),
    paper("fs-pdrop", "group2", 2.38),
];

/// Returns the times of a group's second bursts under a scheme, repeat by repeat.
fn time(record: &ExperimentRecord, parameters: &str, scheme: &str, group: &str) -> Samples {
    record.samples(&[(PARAMETERS, parameters), ("scheme", scheme)], &format!("{group}.second"))
}

/// Returns the findings on claim FS-8.
pub(super) fn fs_8(book: &Book) -> Findings {
    let record = book.of("FS-8");
    let ns2 = Ns2::read(include_str!("../../../data/ns2-fs8-table1.csv"));
    let ns2_time = |scheme: &str, group: &str| {
        let column = format!("g{}_second", &group[group.len() - 1..]);
        ns2.measured(&[("proto", scheme)], &column).map(|time| time.mean)
    };
    let mut findings = Findings::default();
    checks(&mut findings, record, PAPER, "");
    for PaperTime { scheme, group, seconds } in TABLE {
        let line = FigureLine::new(format!("{scheme}, {group}"), SECONDS).paper(seconds);
        let line = line.ns2(ns2_time(scheme, group));
        findings.line(line.ours(time(record, PAPER, scheme, group).mean()));
    }
    for (parameters, what) in OTHER_PARAMETERS {
        checks(&mut findings, record, parameters, what);
    }
    findings
}

/// Checks the paper's statements about its table.
fn checks(findings: &mut Findings, record: &ExperimentRecord, parameters: &str, what: &str) {
    let time = |scheme, group| time(record, parameters, scheme, group);
    let mut check = |label: &str, ours, within| {
        findings.line(match parameters {
            PAPER => FigureLine::new(label, PERCENT).ours(ours).must(within),
            _ => FigureLine::new(format!("{label}, {what}"), PERCENT).ours(ours).also(within),
        });
    };
    for scheme in ["fs", "fs-pdrop"] {
        let gain = time(scheme, "group1").gain_over(&time("newreno", "group1"));
        check(&format!("group 1 gains under {scheme}"), gain, ClaimInterval::between(20.0, 25.0));
    }
    let costs = [("fs", ClaimInterval::at_least(10.0)), ("fs-pdrop", ClaimInterval::at_most(10.0))];
    for (scheme, within) in costs {
        let cost = time(scheme, "group2").excess_over(&time("newreno", "group2"));
        check(&format!("group 2 pays under {scheme}"), cost, within);
    }
}
