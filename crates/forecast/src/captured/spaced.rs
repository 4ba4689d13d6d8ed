//! An evenly spaced sample of a sequence of values: it keeps every n-th, so that memory is bounded
//! and all times of a capture count.

use units::Duration;

/// Maximum number of values that are kept.
const MAX_VALUES: usize = 256;

/// Every `2^n`-th of the values so far, for the least `n` that keeps 256 at most.
#[derive(Clone, Debug, Default)]
pub(super) struct SpacedSample {
    kept: Vec<Duration>,
    /// Number of all values so far.
    passed: u64,
    /// The exponent `n`.
    halved: u32,
}

impl SpacedSample {
    /// Adds a value. If more than [`MAX_VALUES`] are kept, every second one is dropped, and from
    /// then on only half as many of the passing values are kept.
    pub(super) fn add(&mut self, value: Duration) {
        if self.passed.trailing_zeros() >= self.halved {
            self.kept.push(value);
        }
        self.passed += 1;
        if self.kept.len() > MAX_VALUES {
            self.halved += 1;
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// Returns the values that are kept.
    pub(super) fn kept_values(&self) -> &[Duration] {
        &self.kept
    }

    /// Returns the value that `percent` of the values do not exceed, by nearest rank. `None`
    /// without values.
    pub(super) fn percentile(&self, percent: usize) -> Option<Duration> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.checked_sub(1)?).copied()
    }

    /// Returns the longest of the values after the removal of a hundredth of them, one at least.
    /// `None` with fewer than two.
    pub(super) fn below_longest(&self) -> Option<Duration> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let left_out = sorted.len().div_ceil(100);
        sorted.get(sorted.len().checked_sub(left_out + 1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(values: u64) -> SpacedSample {
        let mut sample = SpacedSample::default();
        (0..values).for_each(|n| sample.add(Duration::from_millis(n)));
        sample
    }

    /// The 257th value is one too many, so every second stays: 0, 2, … 256. Every fourth of 1,000
    /// values is kept.
    #[test]
    fn values_stay_evenly_spaced() {
        assert_eq!(sampled(256).kept_values().len(), 256);
        let kept: Vec<u64> =
            sampled(257).kept_values().iter().map(|value| value.as_millis()).collect();
        assert_eq!(kept, (0..129).map(|n| 2 * n).collect::<Vec<_>>());
        let kept: Vec<u64> =
            sampled(1000).kept_values().iter().map(|value| value.as_millis()).collect();
        assert_eq!(kept, (0..250).map(|n| 4 * n).collect::<Vec<_>>());
    }

    /// Two of 200 values from 0 to 199 ms are above 197 ms; the last of 50 is the 99th percentile,
    /// too. A quarter of 200 is above 149 ms.
    #[test]
    fn so_many_of_a_hundred_values_are_not_beyond() {
        assert_eq!(sampled(200).percentile(99), Some(Duration::from_millis(197)));
        assert_eq!(sampled(50).percentile(99), Some(Duration::from_millis(49)));
        assert_eq!(sampled(200).percentile(75), Some(Duration::from_millis(149)));
        assert_eq!(sampled(0).percentile(99), None);
    }

    /// Two of 200 values from 0 to 199 ms are removed, and one of 50: the longest others are 197
    /// and 48 ms.
    #[test]
    fn the_longest_values_are_left_out() {
        assert_eq!(sampled(200).below_longest(), Some(Duration::from_millis(197)));
        assert_eq!(sampled(50).below_longest(), Some(Duration::from_millis(48)));
        assert_eq!(sampled(1).below_longest(), None);
        assert_eq!(sampled(0).below_longest(), None);
    }
}
