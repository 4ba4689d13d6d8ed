//! The cells of a plan with their coordinates and values, and the keys that separate plots and
//! curves.

use crate::plan::{Plan, SCHEME};
use crate::results::{Summary, SummaryEntry, short_key};
use report::Estimate;
use std::collections::{BTreeMap, BTreeSet};

/// The cells of a plan that have results.
pub(super) struct Cells {
    /// Keys of more than one value, in the order of the plan.
    varying: Vec<String>,
    /// Coordinates by key, and the entries of the summary.
    cells: Vec<(BTreeMap<String, String>, Vec<SummaryEntry>)>,
    /// Values by key, in the order of the plan.
    values: BTreeMap<String, Vec<String>>,
}

/// Layout of a plot over an axis.
pub(super) struct Layout {
    /// The key whose values are curves, if another than the axis varies.
    pub(super) series: Option<String>,
    /// Keys whose combinations have a figure each.
    pub(super) facets: Vec<String>,
}

impl Cells {
    pub(super) fn of(plan: &Plan<'_>, summary: &Summary) -> Self {
        let cells = summary.cells().map(|(cell, entries)| (coordinates(plan, cell), entries));
        let values = plan.keys().into_iter().map(|key| {
            let values = values_of(plan, &key);
            (key, values)
        });
        Self { varying: varying_keys(plan), cells: cells.collect(), values: values.collect() }
    }

    /// Estimates of the measure `metric` of a workload, by cell; `None` if no run has it.
    pub(super) fn estimates(&self, workload: &str, metric: &str) -> Vec<Option<Estimate>> {
        let value = |entries: &[SummaryEntry]| {
            // Measures of links stand with all workloads together.
            let fits = |entry: &&SummaryEntry| entry.metric == metric && entry.workload == workload;
            let SummaryEntry { mean, standard_error, .. } = entries.iter().find(fits)?;
            Some(Estimate { mean: *mean, standard_error: *standard_error })
        };
        self.cells.iter().map(|(_, entries)| value(entries)).collect()
    }

    /// The values of a key, in the order of the plan.
    pub(super) fn values_of(&self, key: &str) -> &[String] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    /// A key's short name.
    pub(super) fn short_name<'k>(&self, key: &'k str) -> &'k str {
        short_key(key, &self.varying)
    }

    /// The value of a key in the `nth` cell.
    pub(super) fn value(&self, nth: usize, key: &str) -> &str {
        self.cells[nth].0.get(key).map_or("", String::as_str)
    }

    /// Schemes are curves; without them another key is. Keys that follow the axis or the curves add
    /// nothing.
    pub(super) fn layout(&self, axis: &str) -> Layout {
        let others =
            self.varying.iter().filter(|key| *key != axis && !self.is_determined_by(key, &[axis]));
        let mut others: Vec<String> = others.cloned().collect();
        let at = others.iter().position(|key| key == SCHEME);
        let series = match (at, others.is_empty()) {
            (Some(at), _) => Some(others.remove(at)),
            (None, false) => Some(others.remove(0)),
            (None, true) => None,
        };
        if let Some(series) = &series {
            others.retain(|key| !self.is_determined_by(key, &[axis, series]));
        }
        Layout { series, facets: others }
    }

    /// Whether the value of `key` follows from those of `others`, as where a sweep varies them
    /// together.
    fn is_determined_by(&self, key: &str, others: &[&str]) -> bool {
        let mut known: BTreeMap<Vec<&str>, &str> = BTreeMap::new();
        (0..self.cells.len()).all(|nth| {
            let value = self.value(nth, key);
            let place = others.iter().map(|other| self.value(nth, other)).collect();
            *known.entry(place).or_insert(value) == value
        })
    }

    /// The cells by their values of the keys `facets`, in order.
    pub(super) fn cells_by_facet(&self, facets: &[String]) -> Vec<(Vec<String>, Vec<usize>)> {
        let mut found: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
        for nth in 0..self.cells.len() {
            let place: Vec<String> =
                facets.iter().map(|key| self.value(nth, key).to_owned()).collect();
            match found.iter_mut().find(|(known, _)| *known == place) {
                Some((_, cells)) => cells.push(nth),
                None => found.push((place, vec![nth])),
            }
        }
        found
    }
}

fn coordinates(plan: &Plan<'_>, cell: usize) -> BTreeMap<String, String> {
    plan.coordinates(cell).into_iter().map(|c| (c.key, c.value)).collect()
}

/// Keys of more than one value, in the order of the plan.
pub(super) fn varying_keys(plan: &Plan<'_>) -> Vec<String> {
    plan.keys().into_iter().filter(|key| values_of(plan, key).len() > 1).collect()
}

/// The distinct values of a key, in the order of the plan.
pub(super) fn values_of(plan: &Plan<'_>, key: &str) -> Vec<String> {
    let (mut values, mut known) = (Vec::new(), BTreeSet::new());
    for cell in 0..plan.cell_count() {
        let coordinates = plan.coordinates(cell).into_iter();
        let own = coordinates.filter(|c| c.key == key).map(|c| c.value);
        values.extend(own.filter(|value| known.insert(value.clone())));
    }
    values
}
