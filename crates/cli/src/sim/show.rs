//! What a sweep prints: a table for people, JSON for machines.

use crate::failure::Failure;
use crate::{pages, stdout};
use plan::{Plan, SCHEME};
use report::{Cell, Estimate, Quantity, Row, Table};
use results::{FailedRun, Manifest, Summary, SummaryEntry};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Metrics shown, with their titles.
const COLUMNS: [(&str, &str, Quantity, &str); 9] = [
    ("completion_mean", "mean", Quantity::Time, "Mean time until the last byte has arrived"),
    ("completion_median", "median", Quantity::Time, "Its median"),
    ("completion_p95", "p95", Quantity::Time, "Its 95th percentile"),
    ("goodput", "goodput", Quantity::Rate, "Payload received over the measured interval"),
    ("utilisation", "utilis.", Quantity::Share, "Share of time in which the bottleneck sent"),
    ("drops", "drops", Quantity::Count, "Packets dropped by queues"),
    ("retransmissions", "retrans.", Quantity::Count, "Segments sent again"),
    ("timeouts", "timeouts", Quantity::Count, "Expiries of retransmission timers"),
    ("fairness", "fairness", Quantity::Ratio, "Jain's index of the transfers' goodputs"),
];

/// A cell, for machines.
#[derive(Serialize)]
struct CellJson {
    cell: usize,
    coordinates: BTreeMap<String, String>,
    metrics: Vec<SummaryEntry>,
}

/// All that `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    headstart: &'a str,
    plan_sha256: &'a str,
    seed: u64,
    cells: Vec<CellJson>,
    failed: &'a [FailedRun],
}

pub(crate) fn json(plan: &Plan<'_>, summary: &Summary, manifest: &Manifest) -> Result<(), Failure> {
    let cells = summary.cells().map(|(cell, metrics)| {
        let coordinates = plan.coordinates(cell).into_iter();
        CellJson { cell, coordinates: coordinates.map(|c| (c.key, c.value)).collect(), metrics }
    });
    stdout::print_json(&Json {
        headstart: &manifest.headstart,
        plan_sha256: &manifest.plan_sha256,
        seed: manifest.seed,
        cells: cells.collect(),
        failed: &manifest.failed,
    })
}

/// One line per cell: what varies, and the metrics of all workloads together.
pub(crate) fn table(plan: &Plan<'_>, summary: &Summary) -> Result<(), Failure> {
    let varying = varying(plan, summary);
    let mut columns: Vec<_> = varying
        .iter()
        .map(|key| pages::column((short(key, &varying), Quantity::Text, "What varies")))
        .collect();
    columns
        .extend(COLUMNS.map(|(_, title, quantity, help)| pages::column((title, quantity, help))));
    let rows = summary.cells().map(|(cell, entries)| {
        let coordinates = plan.coordinates(cell).into_iter();
        let place = coordinates.filter(|c| varying.contains(&c.key)).map(|c| Cell::Text(c.value));
        let values = COLUMNS.map(|(metric, ..)| value(&entries, metric));
        Row { cells: place.chain(values).collect(), is_reference: false }
    });
    let rows = rows.collect();
    stdout::print_table(&Table { columns, rows })
}

/// Keys of more than one value, and the scheme.
fn varying(plan: &Plan<'_>, summary: &Summary) -> Vec<String> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (cell, _) in summary.cells() {
        for coordinate in plan.coordinates(cell) {
            values.entry(coordinate.key).or_default().insert(coordinate.value);
        }
    }
    let varies = |key: &String| key == SCHEME || values.get(key).is_some_and(|v| v.len() > 1);
    plan.keys().into_iter().filter(varies).collect()
}

/// The last parts of a dotted path: two, or as many as tell it from all other keys.
fn short<'a>(key: &'a str, keys: &[String]) -> &'a str {
    let starts = key.rmatch_indices('.').skip(1).map(|(at, _)| at + 1);
    let unique = |tail: &&str| {
        let tail = format!(".{tail}");
        keys.iter().filter(|other| *other != key).all(|other| !other.ends_with(&tail))
    };
    starts.map(|from| &key[from..]).find(unique).unwrap_or(key)
}

fn value(entries: &[SummaryEntry], metric: &str) -> Cell {
    // Those of all workloads together come first.
    entries.iter().find(|entry| entry.metric == metric).map_or(Cell::Undefined, |entry| {
        Cell::Number(Estimate { mean: entry.mean, standard_error: entry.standard_error })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names_of_their_own() {
        let keys = ["workload.a.traffic.rate", "workload.b.traffic.rate", "topology.hops", SCHEME]
            .map(str::to_owned);
        let titles = keys.each_ref().map(|key| short(key, &keys));
        assert_eq!(titles, ["a.traffic.rate", "b.traffic.rate", "topology.hops", SCHEME]);
    }
}
