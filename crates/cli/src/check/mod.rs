//! `headstart check`: the simulator against measurements made with another, and against real worlds; the trace engine
//! against labelled captures; what an agent gains against what is asked of it.

mod agent;
mod table;
mod traces;
mod worlds;

use crate::failure::{Failure, remark};
use crate::progress::Progress;
use crate::{input, stdout};
use reproduction::check::ns2::{self, Measurements, Prepared, Row, Selection, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::counted;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    against: Against,
}

#[derive(Debug, clap::Subcommand)]
enum Against {
    /// Measurements made with ns-2.35
    #[command(after_help = after_help())]
    Ns2 {
        /// Measurements in the columns of one of the suites [default: those shipped]
        #[arg(value_name = "FILE.csv")]
        files: Vec<PathBuf>,
        /// Only this suite
        #[arg(long, value_name = "NAME")]
        suite: Option<String>,
        /// A few cases of each suite
        #[arg(long)]
        quick: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Simulation, our endpoint and the Linux kernel, on the same paths
    Worlds(worlds::Args),
    /// Captures whose retransmissions have labels
    Traces(traces::Args),
    /// What Linux gains by an agent, over emulated links
    Agent(agent::Args),
}

const EXAMPLES: &str = "\
Examples:
  headstart check ns2                 the measurements that come with headstart
  headstart check ns2 --suite single
  headstart check ns2 mine.csv --json

A file's columns say which suite it is of:
";

const BOUNDS: &str = "
Single flows agree if completion lies within 1 % where ns-2 lost nothing, within 5 % where it did, or
in the band that ns-2 spans when the phase of its clock varies: a file with columns time_min and
time_max, named here, FILE-spread.csv beside FILE.csv, or the one shipped. \"time_with_other_ties\" is
our time if a packet that leaves a queue as another arrives is no longer in its way. The other suites
agree within 10 % or two standard errors. docs/validation.md says what is compared and what is known
of the cases that differ. Exit code 0 only if all agree: of the measurements that come with headstart
some are known to differ, so the whole check and --quick exit with 1.";

fn after_help() -> String {
    let suites = ns2::SUITES.iter();
    let lines: String =
        suites.map(|suite| format!("  {:<9} {}\n", suite.name(), suite.about())).collect();
    format!("{EXAMPLES}{lines}{BOUNDS}")
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.against {
        Against::Ns2 { files, suite, quick, json } => against_ns2(files, (suite, *quick), *json),
        Against::Worlds(args) => worlds::run(args),
        Against::Traces(args) => traces::run(args),
        Against::Agent(args) => agent::run(args),
    }
}

fn against_ns2(
    files: &[PathBuf],
    (suite, quick): (&Option<String>, bool),
    json: bool,
) -> Result<(), Failure> {
    let selection = Selection { suite: suite.clone(), quick };
    let files = read(files)?;
    let prepared = ns2::prepare(&files, &selection).map_err(Failure::input)?;
    say_what_is_left_out(&prepared);
    if prepared.is_empty() {
        let names: Vec<_> = files.iter().map(Measurements::name).collect();
        return Err(Failure::input(format!("{}: no case to check", names.join(", "))));
    }
    let progress = Progress::begin(prepared.len() as u64, "cases");
    let rows = prepared.run(&|| progress.step());
    progress.end();
    let rows = rows.map_err(Failure::input)?;
    match json {
        true => stdout::print_json(&rows)?,
        false => table::print(&rows)?,
    }
    verdict(&rows)
}

fn verdict(rows: &[Row]) -> Result<(), Failure> {
    match rows.iter().filter(|row| row.verdict == Verdict::Outside).count() {
        0 => Ok(()),
        n => Err(Failure::failed(format!(
            "{n} of {} outside; docs/validation.md says what is known of such cases",
            counted(rows.len(), "figure")
        ))),
    }
}

fn say_what_is_left_out(prepared: &Prepared) {
    let mut skipped = BTreeMap::new();
    for reason in &prepared.skipped {
        *skipped.entry(reason).or_insert(0) += 1;
    }
    for (reason, rows) in skipped {
        remark(&format!("note: {reason} ({} left out)", counted(rows, "row")));
    }
}

/// The named files, each with its file of spreads if one lies beside it; or those shipped.
fn read(files: &[PathBuf]) -> Result<Vec<Measurements>, Failure> {
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
