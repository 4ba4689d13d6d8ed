//! How start-ups end: by the rate that was found, or by a loss.

use super::PAST;
use crate::papers::book::{Book, Record};
use crate::papers::finding::{Findings, Interval, Line, PERCENT, PLAIN};
use crate::papers::reading::{Flow, Readings};
use crate::papers::sample::{Measured, Samples};

/// Readings: start-ups that ended, and those of them that found what they looked for.
const ENDED: &str = "starts.ended";
const BY_RATE: &str = "starts.by_rate";

/// Counts the start-ups of Paced Start's flows that ended.
pub(super) fn count<'f>(flows: impl Iterator<Item = &'f Flow>, readings: &mut Readings) {
    let of_past = flows.filter(|flow| flow.scheme.split('+').next() == Some(PAST));
    let exits: Vec<&str> = of_past.filter_map(|flow| flow.startup_exit.as_deref()).collect();
    let by_rate = exits.iter().filter(|exit| **exit == "completed").count();
    readings.set(ENDED, exits.len() as f64);
    readings.set(BY_RATE, by_rate as f64);
}

/// A reading of all cells together, repeat by repeat.
fn total(record: &Record, reading: &str) -> Samples {
    let cells = record.cells.iter();
    let each: Vec<Samples> = cells
        .map(|cell| Samples::new(cell.repeats.iter().map(|r| r.value(reading)).collect()))
        .collect();
    let count = each.len() as f64;
    Samples::mean_of(&each).map(|mean| mean * count)
}

pub(super) fn ps_8(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let mut all: Vec<(f64, Measured)> = Vec::new();
    for experiment in ["PS-2", "PS-4", "PS-4-200", "PS-6"] {
        let record = book.of(experiment);
        let [by_rate, ended] = [BY_RATE, ENDED].map(|reading| total(record, reading));
        let share = by_rate.map(|starts| 100.0 * starts).over(&ended);
        let starts = ended.values().iter().sum();
        findings.line(Line::new(format!("exits by rate, {experiment}"), PERCENT).ours(share));
        let line = Line::new(format!("start-ups that ended, {experiment}"), PLAIN);
        findings.line(line.ours(Measured::exact(starts)));
        all.push((starts, share));
    }
    let line = Line::new("exits by rate", PERCENT).ours(weighted(&all));
    findings.line(line.must(Interval::between(75.0, 85.0)));
    findings
}

/// The mean of independent figures by their weights.
fn weighted(figures: &[(f64, Measured)]) -> Measured {
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
        // 100 starts of which 90, 300 of which 70 per cent exit by rate: 300 of 400. The error of the
        // first counts a quarter, that of the second three.
        let share = |mean, standard_error| Measured { mean, standard_error };
        let all = weighted(&[(100.0, share(90.0, 4.0)), (300.0, share(70.0, 0.0))]);
        assert_eq!(all, share(75.0, 1.0));
    }
}
