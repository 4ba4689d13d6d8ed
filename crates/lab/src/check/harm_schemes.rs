//! `headstart lab check harm --schemes`: in how many cells each scheme is slower than stock Linux.

use super::of_machine;
use cmdline::{Failure, remark, stdout};
use race::{BASELINE, World};
use report::{Cell, Column, Quantity, Row, Table};
use serde::Serialize;
use std::cmp::Reverse;
use tcp::Scheme;
use testbed::Contender;
use testbed::harm::{HarmCell, HarmControl, HarmEffort, HarmPlan, HarmReport};

/// A scheme, and what its cells showed.
#[derive(Serialize)]
struct SchemeHarm {
    scheme: String,
    #[serde(flatten)]
    report: HarmReport,
}

/// Simulates the cells of CUBIC under each scheme beside `linux`.
pub(super) fn run(
    schemes: &[Scheme],
    mut cells: Vec<HarmCell>,
    is_json: bool,
) -> Result<(), Failure> {
    cells.retain(|cell| cell.control() == HarmControl::Cubic);
    if cells.is_empty() {
        return Err(Failure::input("--cells: --schemes takes cells of cubic, and none is chosen"));
    }
    let challengers: Vec<&Scheme> = schemes.iter().filter(|one| one.name() != BASELINE).collect();
    if challengers.is_empty() {
        return Err(Failure::input(
            "--schemes: name a scheme beside linux, which each is compared with",
        ));
    }
    let mut harms = Vec::new();
    for scheme in challengers {
        let challenger = Some(Contender::new(scheme.clone()));
        let effort = HarmEffort::SIM;
        let plan = HarmPlan { cells: cells.clone(), world: World::Sim, challenger, effort };
        let report = plan.run(None, &|_| ()).map_err(of_machine)?;
        remark(&format!("{}: {} cells", scheme.name(), cells.len()));
        harms.push(SchemeHarm { scheme: scheme.name().to_owned(), report });
    }
    harms.sort_by_key(|harm| Reverse(harm.report.summary.within));
    match is_json {
        true => stdout::print_json(&harms),
        false => stdout::print_table(&schemes_table(&harms)),
    }
}

/// The schemes that are within the bounds in most cells come first.
fn schemes_table(harms: &[SchemeHarm]) -> Table {
    let count = |name, help| Column::new(name, Quantity::Count, help);
    let columns = vec![
        Column::new("scheme", Quantity::Text, "How the servers send"),
        Column::new(
            "× linux",
            Quantity::Ratio,
            "Mean time over linux's, geometric mean over cells",
        ),
        count("cells", "Cells that were simulated"),
        count("within", "Cells within the bounds of time and retransmissions"),
        count("slower", "Cells that take more than 1.05 of linux's time"),
        count("much slower", "Cells that take more than 1.15 of linux's time"),
        count("retransmit", "Cells that retransmit more than linux by 2 % of the segments"),
        Column::new("worst", Quantity::Ratio, "The greatest ratio of times"),
        Column::new("worst cell", Quantity::Text, "Where it was"),
    ];
    Table { columns, rows: harms.iter().map(scheme_row).collect() }
}

fn scheme_row(harm: &SchemeHarm) -> Row {
    let summary = &harm.report.summary;
    let count = |count: usize| Cell::Number((count as f64).into());
    let ratio = |ratio: Option<f64>| ratio.map_or(Cell::Undefined, |of| Cell::Number(of.into()));
    // The report has the slowest cell first.
    let worst = harm.report.cells.first();
    let cells = vec![
        Cell::Text(harm.scheme.clone()),
        ratio(summary.mean_time_ratio),
        count(summary.cells),
        count(summary.within),
        count(summary.slower),
        count(summary.much_slower),
        count(summary.retransmit),
        ratio(worst.and_then(|row| Some(row.figures.as_ref()?.time_ratio.value))),
        Cell::Text(worst.map_or_else(String::new, |row| row.cell.clone())),
    ];
    Row { cells, is_reference: false }
}
