//! Ends of start-ups: by the rate that was found, or by a loss.

use super::keys::{ACKS, DELAYED, FIFO, QUEUE};
use super::{PAST, SACK};
use crate::papers::book::{Book, RecordCell};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::reading::{Flow, Readings};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PERCENT, PLAIN};

/// Readings: start-ups that ended; those of them that found the available rate, and that lost
/// nothing.
const ENDED: &str = "starts.ended";
const BY_RATE: &str = "starts.by_rate";
const WHOLE: &str = "starts.whole";

/// Counts the start-ups of Paced Start's flows that ended.
pub(super) fn count<'f>(flows: impl Iterator<Item = &'f Flow>, readings: &mut Readings) {
    let of_past = flows.filter(|flow| flow.scheme.split('+').next() == Some(PAST));
    let ended: Vec<&Flow> = of_past.filter(|flow| flow.startup_exit.is_some()).collect();
    let count = |which: fn(&Flow) -> bool| ended.iter().filter(|flow| which(flow)).count() as f64;
    readings.set(ENDED, ended.len() as f64);
    readings.set(BY_RATE, count(|flow| flow.startup_exit.as_deref() == Some("completed")));
    readings.set(WHOLE, count(|flow| flow.startup_lost == Some(0)));
}

/// Returns a reading of several cells together, repeat by repeat.
fn sum_over_cells(cells: &[&RecordCell], reading: &str) -> Samples {
    let each: Vec<Samples> = cells
        .iter()
        .map(|cell| Samples::new(cell.repeats.iter().map(|r| r.value(reading)).collect()))
        .collect();
    let count = each.len() as f64;
    Samples::mean_of(&each).map(|mean| mean * count)
}

/// Returns a count of cells in per cent of their start-ups that ended.
fn share(cells: &[&RecordCell], reading: &str) -> Measured {
    sum_over_cells(cells, reading).map(|starts| 100.0 * starts).over(&sum_over_cells(cells, ENDED))
}

fn value<'c>(cell: &'c RecordCell, key: &str) -> Option<&'c str> {
    cell.coordinates.iter().find(|c| c.key == key).map(|c| c.value.as_str())
}

/// Returns true for cells under the choices that the results of their experiments rest on.
fn is_counted(cell: &&RecordCell) -> bool {
    let is = |key, chosen| value(cell, key).is_none_or(|value| value == chosen);
    is(ACKS, DELAYED) && is(QUEUE, FIFO)
}

/// Returns true if flows of both schemes come and go in it.
fn is_mixed(cell: &&RecordCell) -> bool {
    let has = |scheme: &str| cell.coordinates.iter().any(|c| c.value == scheme);
    has(SACK) && has(PAST)
}

/// Returns the findings on claim PS-8.
pub(super) fn ps_8(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let mut all: Vec<(f64, Measured)> = Vec::new();
    for experiment in ["PS-2", "PS-4", "PS-4-200", "PS-6"] {
        let cells: Vec<&RecordCell> = book.of(experiment).cells.iter().filter(is_counted).collect();
        let by_rate = share(&cells, BY_RATE);
        let starts = sum_over_cells(&cells, ENDED).values().iter().sum();
        findings
            .line(FigureLine::new(format!("exits by rate, {experiment}"), PERCENT).ours(by_rate));
        let line = FigureLine::new(format!("start-ups that ended, {experiment}"), PLAIN);
        findings.line(line.ours(Measured::exact(starts)));
        all.push((starts, by_rate));
    }
    let line = FigureLine::new("exits by rate", PERCENT).ours(weighted_mean(&all));
    findings.line(line.must(ClaimInterval::between(75.0, 85.0)));
    by_company(&mut findings, book);
    findings
}

/// Shows how often start-ups of long flows end by rate, and lose nothing, by the other flows and by
/// the receivers' ACKs.
fn by_company(findings: &mut Findings, book: &Book) {
    let fifo = |cell: &&RecordCell| value(cell, QUEUE) == Some(FIFO);
    let cells: Vec<&RecordCell> = book.of("PS-4-200").cells.iter().filter(fifo).collect();
    for mixed in [false, true] {
        for delayed in [true, false] {
            let is_one = |cell: &&&RecordCell| {
                is_mixed(cell) == mixed && (value(cell, ACKS) == Some(DELAYED)) == delayed
            };
            let these: Vec<&RecordCell> = cells.iter().filter(is_one).copied().collect();
            if these.is_empty() {
                continue;
            }
            let beside = if mixed { "beside Sack's" } else { "among their own" };
            let acks = if delayed { "delayed ACKs" } else { "every segment acknowledged" };
            for (what, reading) in [("exits by rate", BY_RATE), ("starts without a loss", WHOLE)] {
                let label = format!("mean 200: {what} {beside}, {acks}");
                findings.line(FigureLine::new(label, PERCENT).ours(share(&these, reading)));
            }
        }
    }
}

/// Returns the mean of independent figures by their weights.
fn weighted_mean(figures: &[(f64, Measured)]) -> Measured {
    let weights: f64 = figures.iter().map(|(weight, _)| weight).sum();
    let mean = figures.iter().map(|(weight, ours)| weight * ours.mean).sum::<f64>() / weights;
    let errors = figures.iter().map(|(weight, ours)| weight * ours.standard_error);
    let variance: f64 = errors.map(|error| error * error).sum();
    Measured { mean, standard_error: variance.sqrt() / weights }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_start_counts_once() {
        // The shares are 90 per cent of 100 starts and 70 of 300: 300 of 400. The error of the
        // first counts a quarter, that of the second three.
        let share = |mean, standard_error| Measured { mean, standard_error };
        let all = weighted_mean(&[(100.0, share(90.0, 4.0)), (300.0, share(70.0, 0.0))]);
        assert_eq!(all, share(75.0, 1.0));
    }
}
