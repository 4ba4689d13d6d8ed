//! What the paper measured with real systems: transfers over the Internet, and a web server.

use super::{PAST, SACK};
use crate::papers::book::Book;
use crate::papers::cases::Case;
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{Findings, Interval, Line, PERCENT, PLAIN, SECONDS};
use crate::papers::reading::{Flow, Readings, RunRecords};

pub(super) const PS_9: Experiment = Experiment {
    name: "PS-9",
    plan: include_str!("../../../../../plans/papers/PS-9.toml"),
    read: medians,
    quick: Quick { repeats: 1, keep: &[] },
};

/// The middle value, or the mean of both; not a number if one is missing.
fn median(values: impl Iterator<Item = Option<f64>>) -> f64 {
    let Some(mut values) = values.collect::<Option<Vec<f64>>>() else { return f64::NAN };
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.len() % 2, values.get(middle)) {
        (_, None) => f64::NAN,
        (1, Some(value)) => *value,
        (_, Some(upper)) => (values[middle - 1] + upper) / 2.0,
    }
}

/// A figure of a transfer.
type Figure = fn(&Flow) -> Option<f64>;

/// Table 4's rows: name, unit, figure, and the paper's medians of Sack and Paced Start.
const TABLE: [(&str, &str, Figure, [f64; 2]); 5] = [
    ("start-up", SECONDS, |f| Some(f.startup_end? - f.start), [0.4062, 0.1607]),
    (
        "loss in start-up",
        PERCENT,
        |f| Some(100.0 * f.startup_retransmissions? as f64 / f.startup_segments? as f64),
        [5.75, 0.55],
    ),
    (
        "throughput in start-up",
        "Mbit/s",
        |f| Some(f.startup_acked? as f64 * 8e-6 / (f.startup_end? - f.start)),
        [21.63, 6.77],
    ),
    ("throughput", "Mbit/s", |f| Some(f.bytes as f64 * 8e-6 / f.time_to_ack()?), [22.68, 22.07]),
    ("loss", PERCENT, |f| Some(100.0 * f.retransmissions as f64 / f.segments as f64), [0.90, 0.11]),
];
const THROUGHPUT: &str = "throughput";

/// Medians over the transfers of either kind.
fn medians(run: &RunRecords<'_>, readings: &mut Readings) {
    for scheme in [SACK, PAST] {
        for (name, _, figure, _) in TABLE {
            readings.set(format!("{scheme}.{name}"), median(run.of(scheme).map(figure)));
        }
    }
}

pub(super) fn ps_9(book: &Book) -> Findings {
    let (record, mut findings) = (book.of("PS-9"), Findings::default());
    for (name, unit, _, paper) in TABLE {
        let [sack, past] =
            [SACK, PAST].map(|scheme| record.samples(&[], &format!("{scheme}.{name}")));
        let line = match name {
            THROUGHPUT => Line::new(format!("{name} above Sack's"), PERCENT)
                .ours(past.excess_over(&sack))
                .must(Interval::between(-5.0, 5.0)),
            _ => Line::new(format!("{name} over Sack's"), PLAIN)
                .ours(past.over(&sack))
                .must(Interval::at_most(1.0)),
        };
        findings.line(line);
        for ((scheme, samples), paper) in [("Sack", sack), ("Paced Start", past)].iter().zip(paper)
        {
            let line = Line::new(format!("median {name}, {scheme}"), unit);
            findings.line(line.paper(paper).ours(samples.mean()));
        }
    }
    findings
}

pub(super) const PS_10: Experiment = Experiment {
    name: "PS-10",
    plan: include_str!("../../../../../plans/papers/PS-10.toml"),
    read: pages,
    quick: Quick { repeats: 2, keep: &[] },
};

/// Bytes of a large page: a hundred packets of 1500.
const LARGE: u64 = 150_000;
/// Readings of the pages of the server under test, and of both queues.
const PER_PAGE: &str = "per_page";
const PER_LARGE_PAGE: &str = "per_large_page";
const DROPS: &str = "drops";
const GAP: &str = "workload.server.traffic.mean_gap";

/// Median throughput of the server's pages, and what both queues dropped.
fn pages(run: &RunRecords<'_>, readings: &mut Readings) {
    let over = || run.of("server").filter(|page| page.acked.is_some());
    let throughput = |page: &Flow| Some(page.bytes as f64 * 8e-6 / page.time_to_ack()?);
    readings.set(PER_PAGE, median(over().map(throughput)));
    let large = over().filter(|page| page.bytes >= LARGE);
    readings.set(PER_LARGE_PAGE, median(large.map(throughput)));
    let both = ["bottleneck", "bottleneck-back"];
    let links = run.result.links.iter().filter(|row| both.contains(&row.link.as_str()));
    let dropped: u64 = links.map(|row| row.drops).sum();
    readings.set(DROPS, dropped as f64);
}

pub(super) fn ps_10(book: &Book) -> Findings {
    let (record, mut findings) = (book.of("PS-10"), Findings::default());
    let cases = Case::all(record);
    for (nth, case) in cases.iter().enumerate() {
        // The first is the paper's number of requests, the other a loaded link.
        let bear: fn(Line, Interval) -> Line = if nth == 0 { Line::must } else { Line::also };
        let what = format!("a page every {}", case.value(GAP));
        let better = case.samples(PAST, PER_PAGE).excess_over(&case.samples(SACK, PER_PAGE));
        let line = Line::new(format!("throughput per page above Sack's, {what}"), PERCENT);
        findings.line(bear(line.ours(better), Interval::at_least(10.0)));
        let better =
            case.samples(PAST, PER_LARGE_PAGE).excess_over(&case.samples(SACK, PER_LARGE_PAGE));
        let line = Line::new(format!("the same of pages of 150 KB or more, {what}"), PERCENT);
        findings.line(line.ours(better));
        let fewer = case.samples(SACK, DROPS).over(&case.samples(PAST, DROPS));
        let line = Line::new(format!("drops with Sack over those with Paced Start, {what}"), PLAIN);
        findings.line(bear(line.ours(fewer), Interval::at_least(10.0)));
        for (scheme, paper) in [(SACK, 94_186.0), (PAST, 1168.0)] {
            let drops = case.samples(scheme, DROPS).mean();
            let line = Line::new(format!("drops, {scheme}, {what}"), PLAIN).paper(paper);
            findings.line(line.ours(drops));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_hand() {
        let of = |values: &[Option<f64>]| median(values.iter().copied());
        assert_eq!(of(&[Some(3.0), Some(1.0), Some(2.0)]), 2.0);
        assert_eq!(of(&[Some(4.0), Some(1.0)]), 2.5);
        assert!(of(&[Some(4.0), None]).is_nan() && of(&[]).is_nan());
    }
}
