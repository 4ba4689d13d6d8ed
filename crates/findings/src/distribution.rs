//! Distributions of values, in memory that does not grow with their number.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Precision of values, significant digits.
const DIGITS: u8 = 2;
/// Number of steps of a distribution.
const STEPS: u32 = 200;

/// A step of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CumulativeStep {
    /// A value, in the unit of its distribution.
    pub value: f64,
    /// The share of counts that are no larger, in `0..=1`.
    pub share: f64,
}

/// A cumulative distribution.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CumulativeDistribution {
    /// Number of values.
    pub count: u64,
    /// At most 201 steps, values ascending. Each value is true within one per cent, and never above
    /// the greatest one.
    pub steps: Vec<CumulativeStep>,
}

impl CumulativeDistribution {
    /// Returns the value that a share of the counts does not exceed; `None` without values.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let at = self.steps.partition_point(|step| step.share < share);
        self.steps.get(at).or(self.steps.last()).map(|step| step.value)
    }
}

/// A histogram of whole numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "SavedCounts", into = "SavedCounts")]
pub(crate) struct Counts {
    histogram: Histogram<u64>,
    /// The greatest value: the histogram only has the rounded one.
    greatest: u64,
}

/// A histogram as values, each with its count.
#[derive(Serialize, Deserialize)]
struct SavedCounts {
    values: Vec<(u64, u64)>,
    greatest: u64,
}

impl From<Counts> for SavedCounts {
    fn from(counts: Counts) -> Self {
        let recorded = counts.histogram.iter_recorded();
        let values = recorded.map(|one| (one.value_iterated_to(), one.count_at_value())).collect();
        Self { values, greatest: counts.greatest }
    }
}

impl From<SavedCounts> for Counts {
    fn from(saved: SavedCounts) -> Self {
        let mut counts = Self { greatest: saved.greatest, ..Self::default() };
        for (value, count) in saved.values {
            counts.histogram.record_n(value.min(1 << 62), count).unwrap_or_default();
        }
        counts
    }
}

impl Default for Counts {
    fn default() -> Self {
        let histogram = Histogram::new(DIGITS).expect("two digits are possible");
        Self { histogram, greatest: 0 }
    }
}

impl Counts {
    /// Counts a value.
    pub(crate) fn add(&mut self, value: u64) {
        let value = value.min(1 << 62);
        self.greatest = self.greatest.max(value);
        // The histogram resizes itself, and supports values up to 2^62.
        self.histogram.record(value).unwrap_or_default();
    }

    /// Adds all values of others.
    pub(crate) fn add_all(&mut self, others: &Self) {
        // The histogram resizes itself.
        self.histogram.add(&others.histogram).unwrap_or_default();
        self.greatest = self.greatest.max(others.greatest);
    }

    /// Returns the number of values that are no larger than this, to two digits.
    #[cfg(test)]
    pub(crate) fn up_to(&self, value: u64) -> u64 {
        self.histogram.count_between(0, value)
    }

    /// Returns the distribution; `unit` is the value of one: 1e-9 turns nanoseconds into seconds.
    pub(crate) fn distribution(&self, unit: f64) -> CumulativeDistribution {
        let mut steps: Vec<CumulativeStep> = Vec::new();
        if self.histogram.is_empty() {
            return CumulativeDistribution::default();
        }
        // The loop computes all quantiles in one pass: `Histogram::value_at_quantile` makes one for
        // each.
        let (mut recorded, mut value, mut passed) = (self.histogram.iter_recorded(), 0, 0);
        for step in 0..=STEPS {
            let share = f64::from(step) / f64::from(STEPS);
            let needed = ((share * self.histogram.len() as f64).ceil() as u64).max(1);
            while passed < needed
                && let Some(next) = recorded.next()
            {
                (value, passed) = (next.value_iterated_to(), passed + next.count_at_value());
            }
            let value = if step == 0 { self.histogram.lowest_equivalent(value) } else { value };
            let value = value.min(self.greatest) as f64 * unit;
            match steps.last_mut().filter(|last| last.value == value) {
                Some(last) => last.share = share,
                None => steps.push(CumulativeStep { value, share }),
            }
        }
        CumulativeDistribution { count: self.histogram.len(), steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_has_the_quantiles_of_its_values() {
        let mut counts = Counts::default();
        (1..=100).for_each(|value| counts.add(value));
        let found = counts.distribution(0.1);
        assert_eq!((found.count, counts.up_to(25)), (100, 25));
        // The fiftieth of 1 to 100 is 50, in tenths 5.
        assert_eq!(found.quantile(0.5), Some(5.0));
        assert_eq!(found.quantile(1.0), Some(10.0));
        assert_eq!(CumulativeDistribution::default().quantile(0.5), None);
    }

    /// 1001 is in a step of 1000 to 1007, of which the histogram only has the end.
    #[test]
    fn nothing_is_above_the_greatest_value() {
        let mut counts = Counts::default();
        counts.add(3);
        let mut others = Counts::default();
        others.add(1001);
        counts.add_all(&others);
        assert_eq!(counts.distribution(1.0).quantile(1.0), Some(1001.0));
        counts.add(7);
        assert_eq!(counts.distribution(1.0).quantile(1.0), Some(1001.0));
    }

    #[test]
    fn equal_values_are_one_step() {
        let mut counts = Counts::default();
        (0..10).for_each(|_| counts.add(7));
        let expected = CumulativeStep { value: 7.0, share: 1.0 };
        assert_eq!(counts.distribution(1.0).steps, [expected]);
    }

    #[test]
    fn the_largest_number_is_counted() {
        let mut counts = Counts::default();
        counts.add(u64::MAX);
        assert_eq!(counts.distribution(1.0).count, 1);
    }
}
