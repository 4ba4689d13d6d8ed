//! The paper's measurements of real systems: transfers over the Internet, and a web server.

use super::keys::QUEUE;
use super::{PAST, SACK};
use crate::papers::book::Book;
use crate::papers::cases::Case;
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::unit::{PERCENT, PLAIN, SECONDS};

pub(super) const PS_9: Experiment = Experiment {
    name: "PS-9",
    plan: include_str!("../../../../../plans/papers/PS-9.toml"),
    read: medians,
    quick: Quick { repeats: 1, keep: &[] },
};

/// Returns the middle value, or the mean of both; not a number if one is missing.
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
    (LOSS, PERCENT, |f| Some(100.0 * f.startup_loss()?), [5.75, 0.55]),
    (
        "throughput in start-up",
        "Mbit/s",
        |f| Some(f.startup_acked? as f64 * 8e-6 / (f.startup_end? - f.start)),
        [21.63, 6.77],
    ),
    ("throughput", "Mbit/s", |f| Some(f.bytes as f64 * 8e-6 / f.time_to_ack()?), [22.68, 22.07]),
    ("loss", PERCENT, |f| Some(100.0 * f.lost as f64 / f.segments as f64), [0.90, 0.11]),
];
const THROUGHPUT: &str = "throughput";
const LOSS: &str = "loss in start-up";

/// Sets the medians over the transfers of either kind.
fn medians(run: &RunRecords<'_>, readings: &mut Readings) {
    for scheme in [SACK, PAST] {
        for (name, _, figure, _) in TABLE {
            readings.set(format!("{scheme}.{name}"), median(run.of(scheme).map(figure)));
        }
        let received = run.of(scheme).map(|f| Some(f.bytes as f64 * 8e-6 / f.time_to_receive()?));
        readings.set(format!("{scheme}.{THROUGHPUT}.received"), median(received));
        let lost = run.of(scheme).map(|f| Some(100.0 * f.startup_loss_with_window()?));
        readings.set(format!("{scheme}.{LOSS}.window"), median(lost));
    }
}

/// Returns the findings on claim PS-9.
pub(super) fn ps_9(book: &Book) -> Findings {
    let (record, mut findings) = (book.of("PS-9"), Findings::default());
    for (name, unit, _, paper) in TABLE {
        let [sack, past] =
            [SACK, PAST].map(|scheme| record.samples(&[], &format!("{scheme}.{name}")));
        let line = match name {
            THROUGHPUT => FigureLine::new(format!("{name} above Sack's"), PERCENT)
                .ours(past.excess_over(&sack))
                .must(ClaimInterval::between(-5.0, 5.0)),
            _ => FigureLine::new(format!("{name} over Sack's"), PLAIN)
                .ours(past.over(&sack))
                .must(ClaimInterval::at_most(1.0)),
        };
        findings.line(line);
        for ((scheme, samples), paper) in [("Sack", sack), ("Paced Start", past)].iter().zip(paper)
        {
            let line = FigureLine::new(format!("median {name}, {scheme}"), unit);
            findings.line(line.paper(paper).ours(samples.mean()));
        }
    }
    findings
}

const MINIMUM: &str = "workload.server.traffic.size.minimum";
const SHAPE: &str = "workload.server.traffic.size.shape";
/// The paper's smallest page, and long pages.
const PAGES: [&str; 2] = ["2kB", "500kB"];

pub(super) const PS_10: Experiment = Experiment {
    name: "PS-10",
    plan: include_str!("../../../../../plans/papers/PS-10.toml"),
    read: pages,
    quick: Quick { repeats: 2, keep: &[(MINIMUM, &PAGES)] },
};

/// Readings of the pages of the server under test, and of both queues.
const PER_PAGE: &str = "per_page";
const REQUESTS: &str = "requests";
const SERVER_LOST: &str = "server_lost";
const DROPS: &str = "drops";

/// Sets the median throughput of the server's pages, its losses, and the drops of both queues.
fn pages(run: &RunRecords<'_>, readings: &mut Readings) {
    let over = || run.of("server").filter(|page| page.acked.is_some());
    let throughput = |time: fn(&Flow) -> Option<f64>| {
        median(over().map(|page| Some(page.bytes as f64 * 8e-6 / time(page)?)))
    };
    readings.set(PER_PAGE, throughput(Flow::time_to_ack));
    readings.set(format!("{PER_PAGE}.received"), throughput(Flow::time_to_receive));
    let requests = run.flows.iter().filter(|page| page.acked.is_some());
    readings.set(REQUESTS, requests.count() as f64);
    readings.set(SERVER_LOST, over().map(|page| page.lost).sum::<u64>() as f64);
    let both = ["bottleneck", "bottleneck-back"];
    let links = run.result.links.iter().filter(|row| both.contains(&row.link.as_str()));
    readings.set(DROPS, links.map(|row| row.drops).sum::<u64>() as f64);
}

/// Returns the findings on claim PS-10.
pub(super) fn ps_10(book: &Book) -> Findings {
    let mut findings = Findings::default();
    for (nth, case) in Case::all(book.of("PS-10")).iter().enumerate() {
        // The first is the paper's law of sizes behind a queue of its kind; the others show the
        // conditions for the paper's result.
        let bear = |line: FigureLine| {
            if nth == 0 { line.must(ClaimInterval::at_least(10.0)) } else { line }
        };
        let [minimum, shape, queue] = [MINIMUM, SHAPE, QUEUE].map(|key| case.value(key));
        let what = format!("pages from {minimum} on, shape {shape}, {queue}");
        let better = case.samples(PAST, PER_PAGE).excess_over(&case.samples(SACK, PER_PAGE));
        let line = FigureLine::new(format!("throughput per page above Sack's, {what}"), PERCENT);
        findings.line(bear(line.ours(better)));
        let fewer = case.samples(SACK, DROPS).over(&case.samples(PAST, DROPS));
        let line =
            FigureLine::new(format!("drops with Sack over those with Paced Start, {what}"), PLAIN);
        findings.line(bear(line.ours(fewer)));
        for (scheme, paper) in [(SACK, 94_186.0), (PAST, 1168.0)] {
            let line = FigureLine::new(format!("drops, {scheme}, {what}"), PLAIN).paper(paper);
            findings.line(line.ours(case.samples(scheme, DROPS).mean()));
            let line = FigureLine::new(format!("of the server's packets, {scheme}, {what}"), PLAIN);
            findings.line(line.ours(case.samples(scheme, SERVER_LOST).mean()));
        }
        let line = FigureLine::new(format!("requests, {what}"), PLAIN).paper(2100.0);
        findings.line(line.ours(case.samples(SACK, REQUESTS).mean()));
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
