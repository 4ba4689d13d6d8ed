//! Distributions of what was counted, in memory that does not grow with the counts.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Values are kept to two digits.
const DIGITS: u8 = 2;
/// Steps of a distribution.
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
    /// How many values were counted.
    pub count: u64,
    /// At most 201 steps, values ascending; each value is true within one per cent, and never above the greatest that was counted.
    pub steps: Vec<CumulativeStep>,
}

impl CumulativeDistribution {
    /// The value that a share of the counts does not exceed; `None` of nothing.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let at = self.steps.partition_point(|step| step.share < share);
        self.steps.get(at).or(self.steps.last()).map(|step| step.value)
    }
}

/// Counts whole numbers.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    histogram: Histogram<u64>,
    /// The greatest value: the histogram knows what it rounds it up to.
    greatest: u64,
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
        // It grows as it must, and up to 2^62 it can.
        self.histogram.record(value).unwrap_or_default();
    }

    /// Counts all that others have counted.
    pub(crate) fn add_all(&mut self, others: &Self) {
        // It grows as it must.
        self.histogram.add(&others.histogram).unwrap_or_default();
        self.greatest = self.greatest.max(others.greatest);
    }

    /// How many values no larger than this were counted, to two digits.
    #[cfg(test)]
    pub(crate) fn up_to(&self, value: u64) -> u64 {
        self.histogram.count_between(0, value)
    }

    /// The distribution, `unit` for one: 1e-9 turns nanoseconds into seconds.
    pub(crate) fn distribution(&self, unit: f64) -> CumulativeDistribution {
        let mut steps: Vec<CumulativeStep> = Vec::new();
        if self.histogram.is_empty() {
            return CumulativeDistribution::default();
        }
        // All quantiles in one pass: `Histogram::value_at_quantile` makes one for each.
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

    /// 1001 is in a step of 1000 to 1007, of which the histogram knows the end alone.
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
