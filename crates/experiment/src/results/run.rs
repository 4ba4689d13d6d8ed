//! The results of one run, in a folder of its own that appears whole or not at all.
//!
//! A run writes to `runs/NNNNNN.started`, which is renamed to `runs/NNNNNN` when the run is done.
//! `run.json` in it holds the run's [`RunSummary`], beside the parts of the tables.

use crate::plan::RunResult;
use crate::results::ResultsError;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Folder of the runs within the folder of results.
pub(crate) const RUNS: &str = "runs";
/// File of a run's summary.
const RESULT: &str = "run.json";
/// One line per transfer.
pub(crate) const FLOWS: &str = "flows.csv";
/// One line per link.
pub(crate) const QUEUES: &str = "queues.csv";

/// Columns about the links of a run.
pub(crate) const LINK_METRICS: [&str; 5] = ["end", "utilisation", "drops", "marks", "losses"];

/// A workload's metrics; `null` where there is nothing to compute them from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorkloadSummary {
    pub(crate) workload: String,
    /// Values in the order of [`crate::plan::WorkloadMetric::ALL`].
    pub(crate) values: Vec<Option<f64>>,
}

/// Summary of a run: the numbers from which all but the tables of transfers and links are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunSummary {
    /// When it ended, seconds.
    pub end: f64,
    /// Utilisation of the link that the plan measures.
    pub utilisation: Option<f64>,
    /// Packets dropped by queues, all links together.
    pub drops: u64,
    /// Packets marked by queues, all links together.
    pub marks: u64,
    /// Packets lost on wires, all links together.
    pub losses: u64,
    /// All together first.
    pub(crate) workloads: Vec<WorkloadSummary>,
}

impl RunSummary {
    fn of(result: &RunResult) -> Self {
        let bottleneck =
            result.links.iter().find(|row| Some(&row.link) == result.bottleneck.as_ref());
        let idle = result.bottleneck.as_ref().map(|_| 0.0);
        let workloads = result
            .workloads
            .iter()
            .map(|of| WorkloadSummary { workload: of.workload.clone(), values: of.values.clone() });
        Self {
            end: result.end,
            utilisation: bottleneck.map(|row| row.utilisation).or(idle),
            drops: result.links.iter().map(|row| row.drops).sum(),
            marks: result.links.iter().map(|row| row.marks).sum(),
            losses: result.links.iter().map(|row| row.losses).sum(),
            workloads: workloads.collect(),
        }
    }

    /// The summary of a run that is done, in its own folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, ResultsError> {
        let path = folder.join(RESULT);
        let wrong = |error: &dyn std::fmt::Display| {
            ResultsError::failed(format!(
                "{}: {error}; remove its folder to run it again",
                path.display()
            ))
        };
        let text = fs::read(&path).map_err(|error| wrong(&error))?;
        serde_json::from_slice(&text).map_err(|error| wrong(&error))
    }

    /// Values of [`LINK_METRICS`].
    pub(crate) fn link_values(&self) -> [Option<f64>; 5] {
        let [drops, marks, losses] =
            [self.drops, self.marks, self.losses].map(|count| Some(count as f64));
        [Some(self.end), self.utilisation, drops, marks, losses]
    }
}

/// Where the results of run `index` are, once it is done.
pub(crate) fn folder(results: &Path, index: usize) -> PathBuf {
    results.join(RUNS).join(format!("{index:06}"))
}

/// Whether the run has a result.
pub(crate) fn is_done(results: &Path, index: usize) -> bool {
    folder(results, index).join(RESULT).is_file()
}

/// Lets the results of a run that is done count in another folder too.
pub(crate) fn link_run(from: &Path, to: &Path, index: usize) -> io::Result<()> {
    if !is_done(from, index) || is_done(to, index) {
        return Ok(());
    }
    let done = folder(to, index);
    let started = done.with_extension("begun");
    if started.exists() {
        fs::remove_dir_all(&started)?;
    }
    fs::create_dir_all(&started)?;
    for entry in fs::read_dir(folder(from, index))? {
        let entry = entry?;
        let target = started.join(entry.file_name());
        // Results are never changed, so both folders may share the files; across file systems
        // they cannot.
        if fs::hard_link(entry.path(), &target).is_err() {
            fs::copy(entry.path(), &target)?;
        }
    }
    fs::rename(&started, &done)
}

/// A run's results being written.
pub(crate) struct Writer {
    started: PathBuf,
    done: PathBuf,
}

impl Writer {
    /// Begins with a folder that does not count yet.
    pub(crate) fn begin(results: &Path, index: usize) -> io::Result<Self> {
        let done = folder(results, index);
        let started = done.with_extension("begun");
        if started.exists() {
            fs::remove_dir_all(&started)?;
        }
        fs::create_dir_all(&started)?;
        Ok(Self { started, done })
    }

    /// Creates a file of the run.
    pub(crate) fn file(&self, name: &str) -> io::Result<Box<dyn Write>> {
        Ok(Box::new(BufWriter::new(File::create(self.started.join(name))?)))
    }

    /// Writes the run's summary and lets the folder count.
    pub(crate) fn finish(self, result: &RunResult) -> io::Result<()> {
        let mut queues = csv::Writer::from_path(self.started.join(QUEUES))?;
        for row in &result.links {
            queues.serialize(row)?;
        }
        queues.flush()?;
        let part = serde_json::to_string_pretty(&RunSummary::of(result))? + "\n";
        fs::write(self.started.join(RESULT), part)?;
        fs::rename(&self.started, &self.done)
    }

    /// Leaves nothing behind.
    pub(crate) fn give_up(self) {
        // A folder that cannot be removed now is removed when the run is repeated.
        let _ = fs::remove_dir_all(&self.started);
    }
}
