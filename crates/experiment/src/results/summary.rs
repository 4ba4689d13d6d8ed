//! Means over repeats, with their standard errors: one entry per cell, workload and metric.

use crate::plan::{Plan, WorkloadMetric};
use crate::results::ResultsError;
use crate::results::run::{self, LINK_METRICS, RunSummary};
use race::estimate::MeanEstimate;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// A metric of a workload in a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryEntry {
    /// Name of the workload; `all` for all that are not in the background.
    pub workload: String,
    /// Name of the metric, as in the tables.
    pub metric: &'static str,
    /// Mean over the runs that have the metric.
    pub mean: f64,
    /// Standard error of the mean; `null` for a single run.
    pub standard_error: Option<f64>,
    /// Runs that have the metric.
    pub n: usize,
}

/// A metric of a workload in a cell, by run.
#[derive(Clone, Debug)]
struct MetricValues {
    workload: String,
    metric: &'static str,
    /// Values of the runs that have the metric, in the metric's unit.
    values: Vec<f64>,
}

/// Values of all cells that have results.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Metrics by cell, in the order of workloads.
    cells: BTreeMap<usize, Vec<MetricValues>>,
}

impl Summary {
    /// Reads the summary of the runs `done` from their own folders in the folder `results`.
    ///
    /// # Errors
    /// If a run's result cannot be read.
    pub fn read(results: &Path, plan: &Plan<'_>, done: &[usize]) -> Result<Self, ResultsError> {
        let mut summary = Self::default();
        for &index in done {
            let run = RunSummary::read(&run::folder(results, index))?;
            summary.add(plan.run(index).cell, &run);
        }
        Ok(summary)
    }

    /// Adds a run to its cell. The metrics of links are kept with the first workload, `all`.
    pub(crate) fn add(&mut self, cell: usize, run: &RunSummary) {
        let metrics = self.cells.entry(cell).or_default();
        for (nth, workload) in run.workloads.iter().enumerate() {
            let links = LINK_METRICS.into_iter().zip(run.link_values()).filter(|_| nth == 0);
            let own = WorkloadMetric::ALL
                .map(WorkloadMetric::name)
                .into_iter()
                .zip(workload.values.clone());
            for (metric, value) in links.chain(own) {
                let workload = &workload.workload;
                let is_it = |m: &MetricValues| m.workload == *workload && m.metric == metric;
                let at = metrics.iter().position(is_it).unwrap_or_else(|| {
                    let workload = workload.clone();
                    metrics.push(MetricValues { workload, metric, values: Vec::new() });
                    metrics.len() - 1
                });
                metrics[at].values.extend(value);
            }
        }
    }

    /// Returns the cells that have results, with their metrics.
    pub fn cells(&self) -> impl Iterator<Item = (usize, Vec<SummaryEntry>)> + '_ {
        let entries = |metrics: &[MetricValues]| {
            metrics.iter().filter_map(MetricValues::mean_entry).collect()
        };
        self.cells.iter().map(move |(cell, metrics)| (*cell, entries(metrics)))
    }

    /// Writes `summary.csv`: a line for each cell, workload and metric, behind the coordinates of
    /// the cell.
    pub(crate) fn write(&self, path: &Path, plan: &Plan<'_>) -> io::Result<()> {
        let mut out = csv::Writer::from_path(path)?;
        let keys = plan.keys();
        let head = ["cell".to_owned()].into_iter().chain(keys);
        let tail = ["workload", "metric", "mean", "standard_error", "n"].map(str::to_owned);
        out.write_record(head.chain(tail))?;
        for (cell, entries) in self.cells() {
            let place: Vec<String> = plan.coordinates(cell).into_iter().map(|c| c.value).collect();
            for entry in entries {
                let head = [cell.to_string()].into_iter().chain(place.iter().cloned());
                let tail = [
                    entry.workload,
                    entry.metric.to_owned(),
                    csv_number(Some(entry.mean)),
                    csv_number(entry.standard_error),
                    entry.n.to_string(),
                ];
                out.write_record(head.chain(tail))?;
            }
        }
        out.flush()
    }
}

/// Returns a number in the shortest form that reads back as the same; `None` becomes an empty
/// field.
pub(crate) fn csv_number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

impl MetricValues {
    /// Returns the mean over the runs that have the metric; `None` if no run has it.
    fn mean_entry(&self) -> Option<SummaryEntry> {
        let MeanEstimate { mean, standard_error } = MeanEstimate::of(&self.values)?;
        let (workload, metric) = (self.workload.clone(), self.metric);
        Some(SummaryEntry { workload, metric, mean, standard_error, n: self.values.len() })
    }
}
