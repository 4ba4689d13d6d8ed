//! `headstart check`: the simulator against measurements made with another.

use crate::failure::Failure;
use crate::{input, pages, stdout};
use experiment::check::ns2::{self, CaseFile, Row, Verdict};
use report::{Cell, Quantity, Table};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    against: Against,
}

#[derive(Debug, clap::Subcommand)]
enum Against {
    /// Single flows measured with ns-2.35
    #[command(after_help = EXAMPLES)]
    Ns2 {
        /// Measurements in the columns of ns2-single-flow.csv [default: those shipped]
        #[arg(value_name = "FILE.csv")]
        files: Vec<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

const EXAMPLES: &str = "\
Examples:
  headstart check ns2                 the measurements that come with headstart
  headstart check ns2 mine.csv --json

A case agrees if its completion lies within 1 % where ns-2 lost nothing, within 5 % where it did, or
in the band that ns-2 spans when the phase of its clock varies: a file with columns time_min and
time_max, named here, FILE-spread.csv beside FILE.csv, or the one shipped. \"other ties\" is our time
if a packet that leaves a queue as another arrives is no longer in its way; docs/validation.md says
why that matters. Exit code 0 only if all cases agree.";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Against::Ns2 { files, json } = &args.against;
    let files = read(files)?;
    let mut skipped = BTreeMap::new();
    for reason in files.iter().flat_map(|file| &file.skipped) {
        *skipped.entry(reason).or_insert(0) += 1;
    }
    for (reason, rows) in skipped {
        eprintln!("note: {reason} ({rows} rows left out)");
    }
    let rows = ns2::check(&files).map_err(Failure::input)?;
    if rows.is_empty() {
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        let why = format!("{}: no case to check", names.join(", "));
        return Err(Failure::input(why));
    }
    match json {
        true => stdout::print_json(&rows)?,
        false => stdout::print_table(&table(&rows))?,
    }
    let outside = rows.iter().filter(|row| row.verdict == Verdict::Outside);
    match outside.count() {
        0 => Ok(()),
        n => Err(Failure::failed(format!(
            "{n} of {} cases are outside; docs/validation.md says what is known of such cases",
            rows.len()
        ))),
    }
}

/// The named files, each with its file of spreads if one lies beside it; or those shipped.
fn read(files: &[PathBuf]) -> Result<Vec<CaseFile>, Failure> {
    if files.is_empty() {
        return ns2::shipped().map_err(Failure::input);
    }
    let one = |path: &PathBuf| {
        let name = path.display().to_string();
        let bytes = input::read(path)?;
        ns2::read(&name, &String::from_utf8_lossy(&bytes)).map_err(Failure::input)
    };
    let beside = files.iter().filter_map(|path| spread_of(path)).filter(|path| path.exists());
    files.iter().cloned().chain(beside).map(|path| one(&path)).collect()
}

/// `FILE-spread.csv` for `FILE.csv`.
fn spread_of(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_str()?;
    Some(path.with_file_name(format!("{stem}-spread.csv")))
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        ("case", Quantity::Text, "Variant, packets, queue, receiver"),
        ("ns-2", Quantity::Time, "Completion measured with ns-2"),
        ("ours", Quantity::Time, "Completion here"),
        ("at least", Quantity::Time, "Earliest that agrees"),
        ("at most", Quantity::Time, "Latest that agrees"),
        ("drops", Quantity::Text, "ns-2 / ours"),
        ("rexmit", Quantity::Text, "ns-2 / ours"),
        ("timeouts", Quantity::Text, "ns-2 / ours"),
        ("other ties", Quantity::Time, "Ours under the other rule for exact ties"),
        ("verdict", Quantity::Text, "Whether completion agrees"),
    ];
    Table { columns: columns.map(pages::column).to_vec(), rows: rows.iter().map(line).collect() }
}

fn line(row: &Row) -> report::Row {
    let key = &row.case;
    let receiver = if key.delack { ", delayed ACKs" } else { "" };
    let case = format!("{} {}p, queue {}{receiver}", key.variant, key.npkts, key.buffer);
    let seconds = |value: f64| match value.is_finite() {
        true => Cell::Number(value.into()),
        false => Cell::Undefined,
    };
    let pair = |[theirs, ours]: [u64; 2]| Cell::Text(format!("{theirs} / {ours}"));
    let verdict = match row.verdict {
        Verdict::Inside => "inside",
        Verdict::Outside => "OUTSIDE",
    };
    report::Row {
        cells: vec![
            Cell::Text(case),
            seconds(row.ns2),
            seconds(row.ours),
            seconds(row.bound[0]),
            seconds(row.bound[1]),
            pair(row.beside.drops),
            pair(row.beside.rexmit),
            pair(row.beside.timeouts),
            row.beside.time_with_other_ties.map_or(Cell::Undefined, seconds),
            Cell::Text(verdict.to_owned()),
        ],
        is_reference: false,
    }
}
