//! The tables of a folder of results, computed from the runs in it, in the order of runs.
//!
//! `cells.csv` and `workloads.csv` come from the runs' summaries, `summary.csv` from the means over
//! repeats. `flows.csv` and `queues.csv` are the runs' own tables, one behind the other.

use crate::plan::{Plan, WorkloadMetric};
use crate::results::ResultsError;
use crate::results::run::{self, FLOWS, LINK_METRICS, QUEUES, RunSummary};
use crate::results::summary::{Summary, csv_number};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use support::parquet::{TableColumn, TableRows};

/// One line per run.
const CELLS: &str = "cells.csv";
/// One line per run and workload.
const WORKLOADS: &str = "workloads.csv";
/// Means over repeats.
const SUMMARY: &str = "summary.csv";

/// All tables.
pub(crate) const ALL: [&str; 5] = [CELLS, WORKLOADS, SUMMARY, FLOWS, QUEUES];

/// Columns that say which run it was.
const RUN_COLUMNS: [&str; 3] = ["run", "cell", "repeat"];

/// Format of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableFormat {
    /// Text, a line per row.
    #[default]
    Csv,
    /// Columns, for programs.
    Parquet,
}

/// Writes all tables of the runs `done` into the folder `results`, and removes those of an earlier
/// time in the other format; returns the means over repeats.
///
/// # Errors
/// If a run's result cannot be read, or a table cannot be written.
pub fn write_tables(
    results: &Path,
    plan: &Plan<'_>,
    done: &[usize],
    format: TableFormat,
) -> Result<Summary, ResultsError> {
    let written = |error: io::Error| {
        ResultsError::failed(format!("cannot write tables in {}: {error}", results.display()))
    };
    let mut summary = Summary::default();
    let mut runs = Runs::begin(results, plan).map_err(written)?;
    for &index in done {
        let run = RunSummary::read(&run::folder(results, index))?;
        runs.add(plan, index, &run).map_err(written)?;
        summary.add(plan.run(index).cell, &run);
    }
    runs.finish().map_err(written)?;
    for name in [FLOWS, QUEUES] {
        concatenate(results, name, done).map_err(written)?;
    }
    summary.write(&results.join(SUMMARY), plan).map_err(written)?;
    match format {
        TableFormat::Csv => remove_parquet(results).map_err(written)?,
        TableFormat::Parquet => to_parquet(results, &plan.keys()).map_err(written)?,
    }
    Ok(summary)
}

/// A table of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepTable {
    /// One row per run.
    Cells,
    /// One row per run and workload.
    Workloads,
    /// Means over repeats.
    Summary,
    /// One row per transfer.
    Flows,
    /// One row per link and run.
    Queues,
}

impl SweepTable {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Cells, Self::Workloads, Self::Summary, Self::Flows, Self::Queues];

    /// Its name: that of its file without the ending.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Workloads => "workloads",
            Self::Summary => "summary",
            Self::Flows => "flows",
            Self::Queues => "queues",
        }
    }

    /// Hands the rows of the table to what `begin` makes of its columns. The folder `results` has
    /// the tables of a sweep over `keys` as CSV. A table without a run is not there: `None`.
    ///
    /// # Errors
    /// If the table cannot be read, or its rows cannot be kept.
    pub fn read<R: TableRows>(
        self,
        results: &Path,
        keys: &[String],
        begin: impl FnOnce(&[TableColumn]) -> io::Result<R>,
    ) -> io::Result<Option<R>> {
        let file = results.join(self.name()).with_extension("csv");
        match file.exists() {
            true => crate::results::parquet::read(&file, keys, begin).map(Some),
            false => Ok(None),
        }
    }
}

/// Path of a table as Parquet.
fn parquet_of(results: &Path, name: &str) -> PathBuf {
    results.join(name).with_extension("parquet")
}

/// Removes tables as Parquet, which are of an earlier time.
fn remove_parquet(results: &Path) -> io::Result<()> {
    ALL.iter().try_for_each(|name| remove(&parquet_of(results, name)))
}

/// Removes a file, if it is there.
fn remove(file: &Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces the tables in the folder `results`, of a sweep over `keys`, by the same as Parquet.
///
/// # Errors
/// If a table cannot be read or written.
pub fn to_parquet(results: &Path, keys: &[String]) -> io::Result<()> {
    for name in ALL {
        let (table, parquet) = (results.join(name), parquet_of(results, name));
        if table.exists() {
            crate::results::parquet::convert(&table, &parquet, keys)?;
            std::fs::remove_file(&table)?;
        } else {
            remove(&parquet)?;
        }
    }
    Ok(())
}

type CsvFile = csv::Writer<BufWriter<File>>;

fn csv_file(path: &Path) -> io::Result<CsvFile> {
    Ok(csv::Writer::from_writer(BufWriter::new(File::create(path)?)))
}

/// The tables that have a line per run.
struct Runs {
    cells: CsvFile,
    workloads: CsvFile,
}

impl Runs {
    fn begin(results: &Path, plan: &Plan<'_>) -> io::Result<Self> {
        let mut runs = Self {
            cells: csv_file(&results.join(CELLS))?,
            workloads: csv_file(&results.join(WORKLOADS))?,
        };
        let keys = plan.keys();
        let place = RUN_COLUMNS.into_iter().chain(keys.iter().map(String::as_str));
        let place: Vec<&str> = place.collect();
        let metrics = WorkloadMetric::ALL.map(WorkloadMetric::name);
        runs.cells.write_record(place.iter().chain(&LINK_METRICS).chain(&metrics))?;
        runs.workloads.write_record(place.iter().chain(&["workload"]).chain(&metrics))?;
        Ok(runs)
    }

    fn add(&mut self, plan: &Plan<'_>, index: usize, summary: &RunSummary) -> io::Result<()> {
        let run = plan.run(index);
        let numbers = [index.to_string(), run.cell.to_string(), run.repeat.to_string()];
        let coordinates = plan.coordinates(run.cell).into_iter().map(|c| c.value);
        let place: Vec<String> = numbers.into_iter().chain(coordinates).collect();
        for (nth, workload) in summary.workloads.iter().enumerate() {
            let values = workload.values.iter().copied().map(csv_number);
            if nth == 0 {
                let links = summary.link_values().map(csv_number);
                let record = place.iter().cloned().chain(links).chain(values);
                self.cells.write_record(record)?;
            } else {
                let name = [workload.workload.clone()];
                let record = place.iter().cloned().chain(name).chain(values);
                self.workloads.write_record(record)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.cells.flush()?;
        self.workloads.flush()
    }
}

/// Joins the files `name` of all runs, each line with the number of its run. Runs without the file
/// add nothing. If no run has it, there is no table, nor one of an earlier time.
fn concatenate(results: &Path, name: &str, done: &[usize]) -> io::Result<()> {
    remove(&results.join(name))?;
    let mut table = None;
    for &index in done {
        let file = match File::open(run::folder(results, index).join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        let mut lines = BufReader::new(file).lines();
        let Some(header) = lines.next().transpose()? else {
            continue;
        };
        let out = match &mut table {
            Some(out) => out,
            None => {
                let mut out = BufWriter::new(File::create(results.join(name))?);
                writeln!(out, "run,{header}")?;
                table.insert(out)
            }
        };
        for line in lines {
            writeln!(out, "{index},{}", line?)?;
        }
    }
    table.map_or(Ok(()), |mut out| out.flush())
}
