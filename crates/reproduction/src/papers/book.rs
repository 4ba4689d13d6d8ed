//! All readings that claims are answered from: by experiment, cell and repeat.

use super::curve::CurvePoint;
use super::reading::Readings;
use super::sample::Samples;
use super::site::{LogFound, SiteFound};
use experiment::plan::Coordinate;

/// One cell: where it is, and the readings of its repeats.
#[derive(Clone, Debug)]
pub struct RecordCell {
    /// Coordinates of the cell on each axis, as the plan has them.
    pub coordinates: Vec<Coordinate>,
    /// Coordinates that were run: a reading may have changed a swept value.
    pub run_at: Vec<Coordinate>,
    /// The readings of repeats 0, 1, …
    pub repeats: Vec<Readings>,
}

/// The readings of one experiment.
#[derive(Clone, Debug, Default)]
pub struct ExperimentRecord {
    /// Cells in the order of the plan.
    pub cells: Vec<RecordCell>,
}

impl ExperimentRecord {
    /// Returns the values of a swept key, in the order of the plan. A quick run may have fewer.
    pub fn values(&self, key: &str) -> Vec<String> {
        let mut values = Vec::new();
        for coordinate in self.cells.iter().flat_map(|cell| &cell.coordinates) {
            if coordinate.key == key && !values.contains(&coordinate.value) {
                values.push(coordinate.value.clone());
            }
        }
        values
    }

    /// Returns the values of a swept key that are plain numbers.
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        self.values(key).iter().filter_map(|value| value.parse().ok()).collect()
    }

    /// Returns a figure of the repeats of the one cell that lies at all of these coordinates; none
    /// if there is no such cell, or more than one.
    pub fn samples(&self, at: &[(&str, &str)], reading: &str) -> Samples {
        let values = |cell: &RecordCell| cell.repeats.iter().map(|r| r.value(reading)).collect();
        self.only_cell(at).map_or_else(Samples::default, |cell| Samples::new(values(cell)))
    }

    /// Returns the one cell at these coordinates; none if there is no such cell, or more than one.
    fn only_cell(&self, at: &[(&str, &str)]) -> Option<&RecordCell> {
        let mut found = self.cells_at(at);
        found.next().filter(|_| found.next().is_none())
    }

    fn cells_at(&self, at: &[(&str, &str)]) -> impl Iterator<Item = &RecordCell> {
        self.cells
            .iter()
            .filter(move |cell| at.iter().all(|(key, value)| cell.has_value(key, value)))
    }

    /// Returns the value of a swept key with which the first cell at these coordinates was run. The
    /// chosen reading of the paper may have changed the value of the plan.
    pub fn run_value(&self, at: &[(&str, &str)], key: &str) -> Option<&str> {
        let cell = self.cells_at(at).next()?;
        cell.run_at.iter().find(|c| c.key == key).map(|c| c.value.as_str())
    }
}

impl ExperimentRecord {
    /// Returns a figure over a swept key whose values are numbers, all else fixed.
    pub fn curve(&self, key: &str, at: &[(&str, &str)], reading: &str) -> Vec<CurvePoint> {
        let point = |value: String| {
            let mut place = at.to_vec();
            place.push((key, &value));
            let y = self.samples(&place, reading).mean();
            let x = self.run_value(&place, key).unwrap_or(&value).parse().ok()?;
            Some(CurvePoint { x, y })
        };
        self.values(key).into_iter().filter_map(point).collect()
    }
}

impl RecordCell {
    fn has_value(&self, key: &str, value: &str) -> bool {
        self.coordinates.iter().any(|c| c.key == key && c.value == value)
    }
}

/// The readings of all experiments that were made.
#[derive(Clone, Debug, Default)]
pub struct Book {
    records: Vec<(&'static str, ExperimentRecord)>,
    chosen: Vec<(&'static str, ExperimentRecord)>,
    site: Vec<SiteFound>,
    logs: Vec<LogFound>,
    captures_given: bool,
    log_given: bool,
    /// A part of the runs was made.
    quick: bool,
}

impl Book {
    /// Creates an empty book; `quick`: for a part of the repeats and points of each plan.
    pub fn new(quick: bool) -> Self {
        Self { quick, ..Self::default() }
    }

    /// Returns true if only a part of the repeats and points of each plan was run.
    pub const fn is_quick(&self) -> bool {
        self.quick
    }

    /// Adds the readings of an experiment.
    pub fn add(&mut self, name: &'static str, record: ExperimentRecord) {
        self.records.push((name, record));
    }

    /// Adds the readings of an experiment under the reading that was chosen of its paper.
    pub fn add_chosen(&mut self, name: &'static str, record: ExperimentRecord) {
        self.chosen.push((name, record));
    }

    /// Returns true if an experiment was also made under the chosen reading.
    pub fn has_chosen(&self, name: &str) -> bool {
        self.chosen.iter().any(|(known, _)| *known == name)
    }

    /// Returns the book under the chosen readings: their cells replace those of the default
    /// readings.
    #[must_use]
    pub fn under_chosen(&self) -> Self {
        let mut book = self.clone();
        for (name, chosen) in &self.chosen {
            let record = book.records.iter_mut().find(|(known, _)| known == name);
            let cells = record.into_iter().flat_map(|(_, record)| &mut record.cells);
            for cell in cells {
                let made = chosen.cells.iter().find(|made| made.coordinates == cell.coordinates);
                made.into_iter().for_each(|made| cell.clone_from(made));
            }
        }
        book
    }

    /// Adds the findings of a capture beside a busy server.
    pub fn add_site(&mut self, found: SiteFound) {
        self.site.push(found);
    }

    /// Adds the findings of a real server's capture, which replaces simulated ones.
    pub fn give_site(&mut self, found: SiteFound) {
        self.captures_given = true;
        self.add_site(found);
    }

    /// Adds the findings of a real log, which replaces simulated ones.
    pub fn give_log(&mut self, found: LogFound) {
        self.log_given = true;
        self.add_log(found);
    }

    /// Captures are the user's.
    pub const fn has_given_captures(&self) -> bool {
        self.captures_given
    }

    /// Returns true if the log is the user's.
    pub const fn has_given_log(&self) -> bool {
        self.log_given
    }

    /// Returns the findings of captures beside a busy server.
    pub fn site(&self) -> &[SiteFound] {
        &self.site
    }

    /// Adds the findings of a busy site's log.
    pub fn add_log(&mut self, found: LogFound) {
        self.logs.push(found);
    }

    /// Returns the findings of logs of a busy site.
    pub fn logs(&self) -> &[LogFound] {
        &self.logs
    }

    /// Returns the readings of an experiment; empty if it was not made.
    pub fn of(&self, name: &str) -> &ExperimentRecord {
        const EMPTY: &ExperimentRecord = &ExperimentRecord { cells: Vec::new() };
        self.records.iter().find(|(known, _)| *known == name).map_or(EMPTY, |(_, record)| record)
    }
}
