//! Measurements that others published, and the command that simulates each.

mod rows;

pub use rows::MEASUREMENTS;

use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use units::parse_bytes;

/// Largest difference from the published figure, as a part of it.
pub const TOLERANCE: f64 = 0.10;

/// A published measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Name, by which it is chosen.
    pub name: &'static str,
    /// Publication, with its year.
    pub source: &'static str,
    /// Path and size as published.
    pub about: &'static str,
    /// Figures of the publication.
    pub figures: &'static [PublishedFigure],
    /// Assumptions of the command where the publication leaves something open, and the cause of a
    /// known difference; empty if there are none.
    pub remark: &'static str,
}

/// A figure of a publication and the race that gives ours.
#[derive(Clone, Copy, Debug)]
pub struct PublishedFigure {
    /// Smallest and largest published value, in `unit`.
    pub published: (f64, f64),
    /// Unit.
    pub unit: Unit,
    /// Arguments of `headstart race`, separated by spaces. `-` is the recording `input`.
    pub race: &'static str,
    /// CountedVisit whose time counts.
    pub visit: MeasuredVisit,
    /// A HAR file.
    pub input: Option<&'static str>,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Completion time, seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Size over completion time, bits of payload per second in millions.
    #[serde(rename = "Mbit/s")]
    GoodputMbit,
    /// Packets dropped by queues.
    #[serde(rename = "drops")]
    Drops,
}

/// CountedVisit whose time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredVisit {
    /// The only one, or the first.
    First,
    /// The mean of the later ones.
    Repeated,
}

impl PublishedFigure {
    /// True if ours differs by at most [`TOLERANCE`].
    pub fn holds(&self, ours: f64) -> bool {
        self.difference(ours).abs() <= TOLERANCE
    }

    /// Difference of ours from the published value, or from the nearer end of the published range,
    /// as a part of it. Zero inside the range.
    pub fn difference(&self, ours: f64) -> f64 {
        let (low, high) = self.published;
        let nearest = ours.clamp(low, high);
        (ours - nearest) / nearest
    }

    /// The command as one would type it.
    pub fn command(&self) -> String {
        format!("headstart race {}", self.race)
    }

    /// Runs the command with the program `headstart` and returns our figure.
    ///
    /// # Errors
    /// Fails if the program cannot be run, refuses the command, or its JSON lacks the figure.
    pub fn measure(&self, headstart: &Path) -> io::Result<f64> {
        let mut command = Command::new(headstart);
        command.arg("race").args(self.race.split_whitespace()).arg("--json");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(self.input.unwrap_or_default().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("`{}` failed: {}", self.command(), why.trim())));
        }
        let race = serde_json::from_slice(&output.stdout)?;
        let missing = || format!("the JSON of `{}` does not have the figure", self.command());
        self.read(&race).ok_or_else(|| io::Error::other(missing()))
    }

    /// Reads our figure from the JSON of the race.
    fn read(&self, race: &Value) -> Option<f64> {
        let scheme = self.option_value("--schemes").unwrap_or("linux");
        let is_asked = |row: &&Value| {
            let visit = row["visit"].as_str().unwrap_or("first");
            let is_visit = visit == "first" || visit == "only";
            row["name"] == scheme && is_visit == (self.visit == MeasuredVisit::First)
        };
        let row = race["schemes"].as_array()?.iter().find(is_asked)?;
        let seconds = row["page_s"].as_f64()?;
        match self.unit {
            Unit::Seconds => Some(seconds),
            Unit::Drops => row["dropped_packets"].as_f64(),
            Unit::GoodputMbit => {
                let bytes = parse_bytes(self.race.split_whitespace().next()?).ok()?;
                Some(bytes as f64 * 8e-6 / seconds)
            }
        }
    }

    fn option_value(&self, option: &str) -> Option<&'static str> {
        let mut words = self.race.split_whitespace().skip_while(|word| *word != option);
        words.nth(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FIGURE: PublishedFigure = PublishedFigure {
        published: (1.0, 1.3),
        unit: Unit::Seconds,
        race: "1MB --path 10mbit,600ms,1bdp --schemes linux+iw=4 --visits 2",
        visit: MeasuredVisit::Repeated,
        input: None,
    };

    #[test]
    fn a_difference_is_from_the_nearer_end() {
        assert_eq!(FIGURE.difference(1.1), 0.0);
        assert!((FIGURE.difference(0.9) + 0.1).abs() < 1e-9 && FIGURE.holds(0.9001));
        assert!((FIGURE.difference(1.43) - 0.1).abs() < 1e-9);
        assert!(!FIGURE.holds(0.89) && !FIGURE.holds(1.44));
    }

    /// 1 MB in 4 s is 2 Mbit/s.
    #[test]
    fn the_figure_is_of_the_scheme_and_the_visit_that_are_named() {
        let row = |name: &str, visit: Option<&str>, seconds: f64| json!({"name": name, "visit": visit, "page_s": seconds, "dropped_packets": 7.0});
        let race = json!({"schemes": [
            row("linux", Some("first"), 1.0),
            row("linux+iw=4", Some("first"), 2.0),
            row("linux+iw=4", Some("repeated"), 4.0),
        ]});
        assert_eq!(FIGURE.read(&race), Some(4.0));
        let first = PublishedFigure { visit: MeasuredVisit::First, unit: Unit::Drops, ..FIGURE };
        assert_eq!(first.read(&race), Some(7.0));
        assert_eq!(PublishedFigure { unit: Unit::GoodputMbit, ..FIGURE }.read(&race), Some(2.0));
        let only = json!({"schemes": [row("linux+iw=4", None, 3.0)]});
        assert_eq!(
            PublishedFigure { visit: MeasuredVisit::First, ..FIGURE }.read(&only),
            Some(3.0)
        );
        assert_eq!(FIGURE.read(&only), None);
    }

    #[test]
    fn names_are_unique_and_ranges_have_an_order() {
        for (n, row) in MEASUREMENTS.iter().enumerate() {
            assert!(MEASUREMENTS[..n].iter().all(|other| other.name != row.name), "{}", row.name);
            assert!(!row.figures.is_empty(), "{}", row.name);
            for figure in row.figures {
                let (low, high) = figure.published;
                assert!(0.0 < low && low <= high, "{}", row.name);
                assert_eq!(figure.race.starts_with("- "), figure.input.is_some(), "{}", row.name);
            }
        }
    }
}
