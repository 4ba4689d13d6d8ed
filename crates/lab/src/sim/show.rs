//! Output of a sweep: a table for people, JSON for machines.

use cmdline::{Failure, stdout};
use experiment::plan::{Plan, SCHEME};
use experiment::results::{FailedRun, Manifest, Measure, Summary, SummaryEntry, short_key};
use report::{Cell, Column, Estimate, Quantity, Row, Table};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Measures shown, with their titles.
const COLUMNS: [(&str, &str); 9] = [
    ("completion_mean", "mean"),
    ("completion_median", "median"),
    ("completion_p95", "p95"),
    ("goodput", "goodput"),
    ("utilisation", "utilis."),
    ("drops", "drops"),
    ("retransmissions", "retrans."),
    ("timeouts", "timeouts"),
    ("fairness", "fairness"),
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

/// Prints the JSON.
pub(crate) fn json(plan: &Plan<'_>, summary: &Summary, manifest: &Manifest) -> Result<(), Failure> {
    stdout::print(&json_of(plan, summary, manifest)?)
}

/// The JSON that `json` prints.
pub(crate) fn json_of(
    plan: &Plan<'_>,
    summary: &Summary,
    manifest: &Manifest,
) -> Result<String, Failure> {
    let cells = summary.cells().map(|(cell, metrics)| {
        let coordinates = plan.coordinates(cell).into_iter();
        CellJson { cell, coordinates: coordinates.map(|c| (c.key, c.value)).collect(), metrics }
    });
    stdout::json(&Json {
        headstart: &manifest.headstart,
        plan_sha256: &manifest.plan_sha256,
        seed: manifest.seed,
        cells: cells.collect(),
        failed: &manifest.failed,
    })
}

/// One line per cell: what varies, and the metrics of all workloads together.
pub(crate) fn print_table(plan: &Plan<'_>, summary: &Summary) -> Result<(), Failure> {
    stdout::print_table(&table_of(plan, summary))
}

/// The table that `table` prints.
pub(crate) fn table_of(plan: &Plan<'_>, summary: &Summary) -> Table {
    let varying = varying_keys(plan, summary);
    let mut columns: Vec<_> = varying
        .iter()
        .map(|key| Column::new(short_key(key, &varying), Quantity::Text, "What varies"))
        .collect();
    columns.extend(COLUMNS.iter().filter_map(|(name, title)| {
        let Measure { quantity, help, .. } = Measure::named(name)?;
        Some(Column::new(*title, *quantity, *help))
    }));
    let rows = summary.cells().map(|(cell, entries)| {
        let coordinates = plan.coordinates(cell).into_iter();
        let place = coordinates.filter(|c| varying.contains(&c.key)).map(|c| Cell::Text(c.value));
        let values = COLUMNS.map(|(metric, _)| value(&entries, metric));
        Row { cells: place.chain(values).collect(), is_reference: false }
    });
    Table { columns, rows: rows.collect() }
}

/// Keys of more than one value, and the scheme.
fn varying_keys(plan: &Plan<'_>, summary: &Summary) -> Vec<String> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (cell, _) in summary.cells() {
        for coordinate in plan.coordinates(cell) {
            values.entry(coordinate.key).or_default().insert(coordinate.value);
        }
    }
    let varies = |key: &String| key == SCHEME || values.get(key).is_some_and(|v| v.len() > 1);
    plan.keys().into_iter().filter(varies).collect()
}

fn value(entries: &[SummaryEntry], metric: &str) -> Cell {
    // Entries of all workloads together come first.
    entries.iter().find(|entry| entry.metric == metric).map_or(Cell::Undefined, |entry| {
        Cell::Number(Estimate { mean: entry.mean, standard_error: entry.standard_error })
    })
}
