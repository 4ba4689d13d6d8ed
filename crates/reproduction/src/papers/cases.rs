//! Cells that differ in their scheme alone, as one case with several contestants.

use super::book::ExperimentRecord;
use super::finding::{ClaimInterval, FigureLine};
use super::sample::{Measured, Samples};

/// The schemes' axis.
pub(super) const SCHEME: &str = experiment::plan::SCHEME;

/// A point on all axes of a plan but the schemes'.
#[derive(Clone, Debug)]
pub(super) struct Case<'a> {
    record: &'a ExperimentRecord,
    place: Vec<(&'a str, &'a str)>,
}

impl<'a> Case<'a> {
    /// Returns every case of an experiment, in the order of its plan.
    pub(super) fn all(record: &'a ExperimentRecord) -> Vec<Self> {
        let mut cases: Vec<Self> = Vec::new();
        for cell in &record.cells {
            let others = cell.coordinates.iter().filter(|c| c.key != SCHEME);
            let place: Vec<_> = others.map(|c| (c.key.as_str(), c.value.as_str())).collect();
            if !cases.iter().any(|case| case.place == place) {
                cases.push(Self { record, place });
            }
        }
        cases
    }

    /// Returns its value on an axis; empty if there is no such axis.
    pub(super) fn value(&self, key: &str) -> &'a str {
        self.place.iter().find(|(known, _)| *known == key).map_or("", |(_, value)| value)
    }

    /// Returns the value on an axis with which it was run. The chosen reading of the paper may have
    /// changed the value of the plan.
    pub(super) fn run_value(&self, key: &str) -> &'a str {
        self.record.run_value(&self.place, key).unwrap_or_else(|| self.value(key))
    }

    /// Returns its value on an axis of numbers as it was run, with or without a unit behind them.
    pub(super) fn axis_value(&self, key: &str) -> f64 {
        let value = self.run_value(key);
        let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        digits.parse().unwrap_or(f64::NAN)
    }

    /// Returns the case that differs on one axis alone, if it was run.
    pub(super) fn at(&self, key: &str, value: &'a str) -> Option<Self> {
        let mut place = self.place.clone();
        place.iter_mut().filter(|(known, _)| *known == key).for_each(|place| place.1 = value);
        let other = Self { record: self.record, place };
        let run = Self::all(self.record).into_iter().any(|case| case.place == other.place);
        run.then_some(other)
    }

    /// Returns its values as it was run, as a label.
    pub(super) fn label(&self) -> String {
        let values: Vec<&str> = self.place.iter().map(|(key, _)| self.run_value(key)).collect();
        values.join(", ")
    }

    /// Returns a figure of a scheme.
    pub(super) fn samples(&self, scheme: &str, reading: &str) -> Samples {
        let mut at = self.place.clone();
        at.push((SCHEME, scheme));
        self.record.samples(&at, reading)
    }

    /// Returns the percentage by which a scheme's figure is below that of another.
    pub(super) fn gain(&self, [scheme, baseline]: [&str; 2], reading: &str) -> Measured {
        self.samples(scheme, reading).gain_over(&self.samples(baseline, reading))
    }
}

/// Returns the mean of figures that are independent of each other.
pub(super) fn mean_of(figures: &[Measured]) -> Measured {
    let count = figures.len() as f64;
    let variance: f64 = figures.iter().map(|f| f.standard_error * f.standard_error).sum();
    Measured {
        mean: figures.iter().map(|f| f.mean).sum::<f64>() / count,
        standard_error: variance.sqrt() / count,
    }
}

/// Returns the percentage of figures that meet an interval.
pub(super) fn share_meeting(within: ClaimInterval, figures: &[Measured]) -> Measured {
    share_of(figures, |ours| within.meets(ours))
}

/// Returns a line with the share of figures that meet an interval, and that of those whose means
/// lie in it.
pub(super) fn share_line(
    line: FigureLine,
    within: ClaimInterval,
    figures: &[Measured],
) -> FigureLine {
    let by_means = share_of(figures, |ours| within.contains(ours.mean));
    line.ours(share_meeting(within, figures)).by_means(by_means.mean)
}

fn share_of(figures: &[Measured], which: impl Fn(Measured) -> bool) -> Measured {
    let count = figures.iter().filter(|ours| which(**ours)).count();
    Measured::exact(100.0 * count as f64 / figures.len() as f64)
}

/// "In most cases": a share above one half, in per cent.
pub(super) const MAJORITY_SHARE: ClaimInterval = ClaimInterval::at_least(50.01);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::book::RecordCell;
    use crate::papers::reading::Readings;
    use experiment::plan::Coordinate;

    fn cell(count: &str, scheme: &str, figure: f64) -> RecordCell {
        let coordinate =
            |(key, value): (&str, &str)| Coordinate { key: key.into(), value: value.into() };
        let mut readings = Readings::default();
        readings.set("time", figure);
        let coordinates = [("count", count), (SCHEME, scheme)].map(coordinate).to_vec();
        RecordCell { run_at: coordinates.clone(), coordinates, repeats: vec![readings] }
    }

    #[test]
    fn a_case_has_the_schemes_that_met_at_its_place() {
        let cells = vec![
            cell("1", "old", 4.0),
            cell("1", "new", 3.0),
            cell("2", "old", 5.0),
            cell("2", "new", 1.0),
        ];
        let record = ExperimentRecord { cells };
        let cases = Case::all(&record);
        let labels: Vec<String> = cases.iter().map(Case::label).collect();
        assert_eq!(labels, ["1", "2"]);
        // 3 is a quarter below 4, 1 four fifths below 5.
        let gains: Vec<f64> = cases.iter().map(|c| c.gain(["new", "old"], "time").mean).collect();
        assert_eq!(gains, [25.0, 80.0]);
        assert_eq!(cases[0].at("count", "2").unwrap().label(), "2");
        assert!(cases[0].at("count", "3").is_none());
    }

    #[test]
    fn numbers_have_units_behind_them_or_not() {
        let record =
            ExperimentRecord { cells: vec![cell("12.5ms", "old", 0.0), cell("30", "old", 0.0)] };
        let numbers: Vec<f64> = Case::all(&record).iter().map(|c| c.axis_value("count")).collect();
        assert_eq!(numbers, [12.5, 30.0]);
    }

    #[test]
    fn a_case_is_called_as_it_was_run() {
        let mut cells = vec![cell("9", "old", 4.0), cell("7", "old", 4.0)];
        cells[0].run_at[0].value = "8".to_owned();
        let record = ExperimentRecord { cells };
        let cases = Case::all(&record);
        assert_eq!((cases[0].label(), cases[0].axis_value("count")), ("8".to_owned(), 8.0));
        // It is found by the plan's value, and drawn where it was run.
        assert_eq!(cases[0].value("count"), "9");
        let xs = record.curve("count", &[], "time").into_iter().map(|point| point.x);
        assert_eq!(xs.collect::<Vec<_>>(), [8.0, 7.0]);
    }

    #[test]
    fn errors_add_up_by_squares() {
        let [a, b] = [
            Measured { mean: 5.0, standard_error: 3.0 },
            Measured { mean: 1.0, standard_error: 4.0 },
        ];
        assert_eq!(mean_of(&[a, b]), Measured { mean: 3.0, standard_error: 2.5 });
    }

    #[test]
    fn most_is_more_than_half() {
        let figures = [1.0, 2.0, 3.0, 4.0].map(Measured::exact);
        let share = |least| share_meeting(ClaimInterval::at_least(least), &figures);
        assert_eq!(share(3.0).mean, 50.0);
        assert!(!MAJORITY_SHARE.meets(share(3.0)) && MAJORITY_SHARE.meets(share(2.0)));
        // Three of four are at least 2 with their error bars, two by their means alone: most by
        // error bars.
        let unsure = [1.0, 1.5, 2.0, 3.0].map(|mean| Measured { mean, standard_error: 0.25 });
        let line = |least| {
            let line = FigureLine::new("cases", crate::papers::PERCENT);
            share_line(line, ClaimInterval::at_least(least), &unsure).must(MAJORITY_SHARE)
        };
        assert!(line(2.0).holds() == Some(true) && line(2.0).holds_by_error_bars());
        assert!(line(1.5).holds() == Some(true) && !line(1.5).holds_by_error_bars());
    }
}
