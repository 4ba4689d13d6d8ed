//! Means over repeats, with their standard errors.

use super::part::RunPart;
use super::tables::{LINK_METRICS, link_values, shown};
use plan::{Metric, Plan};
use race::estimate::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// A metric of a workload in a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Entry {
    pub(crate) workload: String,
    pub(crate) metric: &'static str,
    pub(crate) mean: f64,
    /// `null` for a single run.
    pub(crate) standard_error: Option<f64>,
    /// Runs that have the metric.
    pub(crate) n: usize,
}

/// By cell: names of workloads and metrics in order, each with its values.
type Values = Vec<((String, &'static str), Vec<f64>)>;

/// Values of all cells.
pub(crate) struct Summary {
    cells: BTreeMap<usize, Values>,
}

impl Summary {
    pub(crate) const fn new(_: &Plan<'_>) -> Self {
        Self { cells: BTreeMap::new() }
    }

    /// Adds a run of a cell.
    pub(crate) fn add(&mut self, cell: usize, part: &RunPart) {
        let values = self.cells.entry(cell).or_default();
        for (nth, workload) in part.workloads.iter().enumerate() {
            let links = LINK_METRICS.into_iter().zip(link_values(part)).filter(|_| nth == 0);
            let own = Metric::ALL.map(Metric::name).into_iter().zip(workload.values.clone());
            for (metric, value) in links.chain(own) {
                let key = (workload.workload.clone(), metric);
                let at = values.iter().position(|(known, _)| *known == key);
                let at = at.unwrap_or_else(|| {
                    values.push((key, Vec::new()));
                    values.len() - 1
                });
                values[at].1.extend(value);
            }
        }
    }

    /// The cells that have results, with their metrics.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, Vec<Entry>)> + '_ {
        self.cells.iter().map(|(cell, values)| (*cell, values.iter().filter_map(entry).collect()))
    }

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
                    shown(Some(entry.mean)),
                    shown(entry.standard_error),
                    entry.n.to_string(),
                ];
                out.write_record(head.chain(tail))?;
            }
        }
        out.flush()
    }
}

fn entry(((workload, metric), values): &((String, &'static str), Vec<f64>)) -> Option<Entry> {
    let Estimate { mean, standard_error } = Estimate::of(values)?;
    let workload = workload.clone();
    Some(Entry { workload, metric, mean, standard_error, n: values.len() })
}
