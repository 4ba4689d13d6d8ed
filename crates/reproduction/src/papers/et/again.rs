//! Repeated access: pages visited again, and one connection after another.

use super::{
    CLIENT, CONNECTIONS, DELAY, MODEL, NETWORK, PAGE, PAGES, QUEUE, REALISTIC, ROUND_TRIP,
    Scenario, TWO_ROUND_TRIPS_S, set_acked,
};
use crate::papers::book::{Book, ExperimentRecord};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PERCENT, SECONDS};

const RENO: &str = "reno";
const SHARING: &str = "etcp";
const SIZE: &str = "workload.first.traffic.size";

pub(super) const ET_5: Experiment = Experiment {
    name: "ET-5",
    plan: include_str!("../../../../../plans/papers/ET-5.toml"),
    read: visits,
    quick: Quick { repeats: 1, keep: &[] },
};

pub(super) const CONNECTION: Experiment = Experiment {
    name: "ET-5-connection",
    plan: include_str!("../../../../../plans/papers/ET-5-connection.toml"),
    read: transfers,
    quick: Quick { repeats: 1, keep: &[] },
};

/// Sets the times of HTML and page of both visits; the variant of the second without the round trip
/// that it saves at its opening.
fn visits(run: &RunRecords<'_>, readings: &mut Readings) {
    for (visit, number) in [("first", 0), ("again", 1)] {
        let of = || run.of("page").filter(move |flow| flow.flow == number);
        let since = |at: Option<f64>, start: f64| at.map(|at| at - start + TWO_ROUND_TRIPS_S);
        readings.set_mean(format!("{visit}.html"), of().map(|v| since(v.html, v.start)));
        readings.set_mean(format!("{visit}.total"), of().map(|v| since(v.received, v.start)));
    }
    for what in ["html", "total"].map(|what| format!("again.{what}")) {
        let opened = readings.value(&what) - ROUND_TRIP;
        readings.set(format!("{what}.opening"), opened);
    }
    set_acked(readings, &["first.html", "first.total"]);
    set_acked(
        readings,
        &["again.html", "again.total", "again.html.opening", "again.total.opening"],
    );
}

/// Sets the times of both transfers, and how far apart the first four packets of the later one
/// left.
fn transfers(run: &RunRecords<'_>, readings: &mut Readings) {
    for workload in ["first", "later"] {
        readings.set_mean(workload, run.of(workload).map(Flow::time_to_receive));
    }
    let begins = run.of("later").next().map_or(f64::INFINITY, |flow| flow.start);
    let leaves = run
        .packet_steps()
        .filter(|step| step.link == "bottleneck" && step.step == "enter" && step.time >= begins);
    let first: Vec<f64> = leaves.take(4).map(|step| step.time).collect();
    let apart = first.first().zip(first.last()).map(|(first, last)| (last - first) / 3.0);
    readings.set("apart", apart.unwrap_or(f64::NAN));
}

/// The intervals of one scenario, in per cent: HTML and total below the first access's, then below
/// Reno's.
struct Ranges {
    scenario: Scenario,
    first: [(f64, f64); 2],
    reno: [(f64, f64); 2],
}

const RANGES: [Ranges; 4] = [
    Ranges {
        scenario: MODEL,
        first: [(17.0, 53.0), (11.0, 28.0)],
        reno: [(48.0, 82.0), (4.0, 72.0)],
    },
    Ranges {
        scenario: CLIENT,
        first: [(17.0, 53.0), (10.0, 28.0)],
        reno: [(35.0, 55.0), (17.0, 37.0)],
    },
    Ranges {
        scenario: NETWORK,
        first: [(10.0, 53.0), (8.0, 28.0)],
        reno: [(63.0, 87.0), (27.0, 96.0)],
    },
    Ranges {
        scenario: REALISTIC,
        first: [(17.0, 53.0), (10.0, 28.0)],
        reno: [(30.0, 89.0), (32.0, 72.0)],
    },
];

/// Comparison of two kinds of accesses.
#[derive(Clone, Copy)]
struct Comparison {
    name: &'static str,
    /// Time that repeated accesses save in addition to the measured time, seconds.
    saved: f64,
    /// Delay before objects are requested.
    delay: &'static str,
}

const AS_CHOSEN: Comparison = Comparison { name: "", saved: 0.0, delay: "0s" };
const OTHERWISE: [Comparison; 2] = [
    Comparison { name: ", its opening included", saved: ROUND_TRIP, delay: "0s" },
    Comparison { name: ", asked for half a round trip later", saved: 0.0, delay: "50ms" },
];

/// Selection of the record's cells, without the scheme.
#[derive(Clone, Copy)]
struct Setting<'a> {
    scenario: Scenario,
    page: &'a str,
    delay: &'a str,
}

impl Setting<'_> {
    /// Returns a reading of a scheme on the page.
    fn time(self, record: &ExperimentRecord, scheme: &str, reading: &str) -> Samples {
        let Self { scenario: Scenario { queue, connections, .. }, page, delay } = self;
        let at = [
            (QUEUE, queue),
            (CONNECTIONS, connections),
            (PAGE, page),
            (DELAY, delay),
            ("scheme", scheme),
        ];
        record.samples(&at, reading)
    }
}

/// Returns the findings on claim ET-5.
pub(super) fn et_5(book: &Book) -> Findings {
    let (record, mut findings) = (book.of("ET-5"), Findings::default());
    for ranges in &RANGES {
        accesses(&mut findings, record, ranges, AS_CHOSEN, FigureLine::must);
    }
    for comparison in OTHERWISE {
        for ranges in &RANGES {
            accesses(&mut findings, record, ranges, comparison, FigureLine::also);
        }
    }
    connections(&mut findings, book.of("ET-5-connection"));
    findings
}

/// Adds, for each of HTML and total, the page that decides against the first access and Reno.
fn accesses(
    findings: &mut Findings,
    record: &ExperimentRecord,
    ranges: &Ranges,
    comparison: Comparison,
    bear: impl Fn(FigureLine, ClaimInterval) -> FigureLine,
) {
    let scenario = ranges.scenario;
    let Comparison { name, saved, delay } = comparison;
    let baselines = [("the first's", SHARING, ranges.first), ("Reno's", RENO, ranges.reno)];
    for (whose, baseline, intervals) in baselines {
        for (what, (least, most)) in ["html", "total"].into_iter().zip(intervals) {
            let gain = |page: &&'static str| -> (&'static str, Measured) {
                let setting = Setting { scenario, page, delay };
                let again = setting.time(record, SHARING, &format!("again.{what}"));
                let before = setting.time(record, baseline, &format!("first.{what}"));
                (page, again.map(|time| time - saved).gain_over(&before))
            };
            let within = ClaimInterval::between(least, most);
            if let Some((page, gain)) = furthest_out(within, PAGES.iter().map(gain)) {
                let label = format!(
                    "{}: {what} faster than {whose}{name}, the page that decides ({page})",
                    scenario.name
                );
                findings.line(bear(FigureLine::new(label, PERCENT).ours(gain), within));
            }
        }
    }
}

/// Adds the savings of a connection that follows another.
fn connections(findings: &mut Findings, record: &ExperimentRecord) {
    for size in record.values(SIZE) {
        let samples = |reading| record.samples(&[(SIZE, &size)], reading);
        let saved = samples("first").minus(&samples("later")).mean();
        let line =
            FigureLine::new(format!("saved by a later connection, {size}"), SECONDS).ours(saved);
        findings.line(line.also(ClaimInterval::between(0.175, 0.185)));
        let apart = samples("apart").mean();
        let line =
            FigureLine::new(format!("its first four packets apart, {size}"), SECONDS).ours(apart);
        findings.line(line.also(ClaimInterval::at_least(0.001)));
    }
}
