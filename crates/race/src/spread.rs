//! The median of a race's repeats, and how sure it is.
//!
//! Times of a race are skewed and have several courses: one packet more or less in a full queue
//! decides a round trip. So a race reports medians, and its intervals assume no distribution of the
//! times.

use serde::Serialize;

/// The median of repeated measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The median; of an even number of values the mean of the two in the middle.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Least and greatest value of a 95 % confidence interval of the median: two of the values
    /// themselves, by their rank. With fewer than [`Spread::MIN_FOR_INTERVAL`] values it is
    /// `None`: even the extremes do not suffice.
    pub interval: Option<(f64, f64)>,
}

/// Probability with which an interval may miss the median.
const MISSES: f64 = 0.05;

impl Spread {
    /// Least number of values with an interval: six lie on one side of the median in 2 of 64 cases,
    /// five in 2 of 32.
    pub const MIN_FOR_INTERVAL: usize = 6;

    /// Spread of these values; `None` if there are none or one is missing.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let mut values = values.collect::<Option<Vec<f64>>>()?;
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let (min, max) = (*values.first()?, *values.last()?);
        let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
        let interval = rank_from_either_end(n).map(|rank| (values[rank], values[n - 1 - rank]));
        Some(Self { median, min, max, interval })
    }

    /// Spread of the medians of several spreads; `None` if there are none or one is missing.
    pub(super) fn of_medians(spreads: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        Self::of(spreads.map(|spread| Some(spread?.median)))
    }

    /// Creates the spread of one value without uncertainty.
    pub const fn exactly(value: f64) -> Self {
        Self { median: value, min: value, max: value, interval: None }
    }
}

/// The greatest rank, from 0, of a 95 % interval. With that probability at least, the median lies
/// between the values of that rank from below and from above (David & Nagaraja 2003 §7.1). The
/// number of values below the median is binomial with probability 1/2, so the interval misses with
/// twice P(B ≤ rank).
fn rank_from_either_end(n: usize) -> Option<usize> {
    // The probability is a logarithm: that of zero among a thousand values underflows an `f64`.
    let mut log_probability = -(n as f64) * std::f64::consts::LN_2;
    let (mut below, mut rank) = (0.0, None);
    for k in 0..n / 2 {
        below += log_probability.exp();
        if 2.0 * below > MISSES {
            break;
        }
        rank = Some(k);
        log_probability += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Option<Spread> {
        Spread::of(values.iter().copied().map(Some))
    }

    #[test]
    fn median_extremes_and_interval_by_hand() {
        let values = [7.0, 1.0, 4.0, 2.0, 6.0, 3.0, 5.0];
        // The extremes of seven miss in 2 of 128 cases, the second ones in 2 · 8 of 128: 12.5 %.
        let seven = Spread { median: 4.0, min: 1.0, max: 7.0, interval: Some((1.0, 7.0)) };
        assert_eq!(spread(&values), Some(seven));
        let even = Spread { median: 2.5, min: 1.0, max: 4.0, interval: None };
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), Some(even));
        assert_eq!(spread(&[]), None);
        assert_eq!(Spread::of([Some(1.0), None].into_iter()), None);
    }

    /// The ranks, from 1, in the tables of the sign test at 5 %: those of 6, 8, 9, 12, 15, 17, 20,
    /// 25 values.
    #[test]
    fn ranks_are_those_of_the_sign_test() {
        for (n, rank) in
            [(5, 0), (6, 1), (8, 1), (9, 2), (12, 3), (15, 4), (17, 5), (20, 6), (25, 8)]
        {
            assert_eq!(rank_from_either_end(n).map_or(0, |r| r + 1), rank, "{n}");
        }
        // A normal distribution gives about the same: 5000 − 1.96 · 50.
        let many = rank_from_either_end(10_000).expect("a rank");
        assert!((4900..=4903).contains(&many), "{many}");
        assert_eq!(rank_from_either_end(Spread::MIN_FOR_INTERVAL - 1), None);
    }
}
