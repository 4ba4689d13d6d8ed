//! Retransmissions as they are compared: how many a connection has in the mean. A connection counts
//! with [`MAX_COUNTED`] at most, so that a long download over a bad link, which has thousands,
//! decides nothing. The unit is not sent segments: few downloads send most of all segments, and
//! would make the ratio as uncertain as they are few.

use crate::sequence::LogRatio;
use serde::{Deserialize, Serialize};

/// Retransmissions of a connection that count: a first flight that loses more is bad enough.
pub const MAX_COUNTED: u32 = 32;

/// Sums over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Retransmissions {
    /// Connections.
    pub closed: u64,
    /// Their retransmissions, [`MAX_COUNTED`] of each at most.
    pub sum: u64,
    /// Squares of these numbers.
    pub squares: u64,
}

impl Retransmissions {
    /// Adds a connection with this number of retransmissions.
    pub fn add(&mut self, retransmissions: u32) {
        let counted = u64::from(retransmissions.min(MAX_COUNTED));
        self.closed += 1;
        self.sum += counted;
        self.squares += counted * counted;
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.closed as f64
    }

    /// Returns the square of the standard error of the mean.
    fn error_squared(&self) -> f64 {
        let (n, mean) = (self.closed as f64, self.mean());
        let variance = (self.squares as f64 - n * mean * mean) / (n - 1.0);
        variance.max(0.0) / n
    }
}

/// Means of both groups over stages, for their ratio. Within a stage the groups' means are
/// compared, and a stage counts by how many connections both have (Mantel & Haenszel 1959). Means
/// are pooled, and not the stages' ratios. The logarithm of a ratio of few retransmissions is
/// biased, the more so the more the groups differ in size. The mean of many of them would be
/// biased, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PooledMeans {
    /// Sum of the stages' weights.
    pub weight: f64,
    /// Mean of the chosen group.
    pub chosen: PooledMean,
    /// Mean of the control group.
    pub control: PooledMean,
}

/// Mean of one group over all stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PooledMean {
    /// Connections.
    pub closed: u64,
    /// Their retransmissions.
    pub retransmissions: u64,
    /// Sum over stages: a stage's weight times its mean.
    pub sum: f64,
    /// Square of the standard error of `sum`.
    pub error_squared: f64,
}

impl PooledMeans {
    /// Adds a stage. Ignores it if either group has fewer than `fewest` connections (two at least).
    pub fn add(&mut self, chosen: &Retransmissions, control: &Retransmissions, fewest: u64) {
        if chosen.closed.min(control.closed) < fewest.max(2) {
            return;
        }
        let (a, b) = (chosen.closed as f64, control.closed as f64);
        let weight = a * b / (a + b);
        self.weight += weight;
        self.chosen.add(chosen, weight);
        self.control.add(control, weight);
    }

    /// Adds the stages of another host.
    pub(crate) fn join(&mut self, other: &Self) {
        self.weight += other.weight;
        self.chosen.join(&other.chosen);
        self.control.join(&other.control);
    }

    /// Returns the chosen group's mean, divided by the control group's; `None` without a stage.
    pub fn ratio(&self) -> Option<LogRatio> {
        (self.weight > 0.0).then(|| LogRatio {
            log: (self.chosen.counted_sum(self.weight) / self.control.counted_sum(self.weight))
                .ln(),
            error_squared: self.chosen.relative_error_squared(self.weight)
                + self.control.relative_error_squared(self.weight),
            // A connection counts with few retransmissions, and a group without any is as uncertain
            // as one of them.
            step_up: 0.0,
            step_down: 0.0,
        })
    }
}

impl PooledMean {
    fn add(&mut self, stage: &Retransmissions, weight: f64) {
        self.closed += stage.closed;
        self.retransmissions += stage.sum;
        self.sum += weight * stage.mean();
        self.error_squared += weight * weight * stage.error_squared();
    }

    fn join(&mut self, other: &Self) {
        self.closed += other.closed;
        self.retransmissions += other.retransmissions;
        self.sum += other.sum;
        self.error_squared += other.error_squared;
    }

    /// Returns the contribution of one retransmission to `sum`.
    fn weight_of_one(&self, weight: f64) -> f64 {
        weight / self.closed as f64
    }

    /// Returns `sum`, as it counts. A group without any retransmission counts with one, since that
    /// may be chance. `weight`: sum of the stages' weights.
    fn counted_sum(&self, weight: f64) -> f64 {
        if self.retransmissions == 0 { self.weight_of_one(weight) } else { self.sum }
    }

    /// Returns the square of the relative error, which is that of the logarithm (delta method). If
    /// all connections are alike, the mean counts as uncertain as with one that differs.
    fn relative_error_squared(&self, weight: f64) -> f64 {
        let (sum, one) = (self.counted_sum(weight), self.weight_of_one(weight));
        self.error_squared.max(one * one) / (sum * sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of `count` connections, of which the first `lossy` retransmit `again`.
    fn sums(count: u64, lossy: u64, again: u32) -> Retransmissions {
        let mut sums = Retransmissions::default();
        for n in 0..count {
            sums.add(if n < lossy { again } else { 0 });
        }
        sums
    }

    /// The ratio of one stage.
    fn by(chosen: Retransmissions, control: Retransmissions) -> Option<LogRatio> {
        let mut means = PooledMeans::default();
        means.add(&chosen, &control, 100);
        means.ratio()
    }

    #[test]
    fn twice_as_much_is_known_as_well_as_the_connections_that_lose() {
        let ratio = by(sums(100, 20, 10), sums(100, 10, 10)).unwrap();
        assert!((ratio.log - 2.0_f64.ln()).abs() < 1e-12);
        // 2 in the mean, variance (20 · 100 - 100 · 4) / 99 = 1600/99, by 100 and by 4: 4/99. The
        // others have 1 in the mean, (10 · 100 - 100) / 99 = 900/99, by 100: 9/99.
        assert!((ratio.error_squared - 13.0 / 99.0).abs() < 1e-12, "{ratio:?}");
    }

    #[test]
    fn none_counts_as_one_and_many_count_as_the_most() {
        let ratio = by(sums(100, 10, 10), sums(200, 0, 0)).unwrap();
        // The mean is one, all from one of 200 connections.
        assert!((ratio.log - 200.0_f64.ln()).abs() < 1e-12);
        // Variance (1 - 200 / 200²) / 199 = 1/200, by 200, by 1/200²: 1.
        assert!((ratio.error_squared - (9.0 / 99.0 + 1.0)).abs() < 1e-9, "{ratio:?}");
        assert_eq!(by(sums(99, 10, 10), sums(100, 10, 10)), None);
        assert_eq!(sums(100, 3, 5000), sums(100, 3, MAX_COUNTED));
        // All are alike: the variance of the mean is that of one in a hundred.
        let alike = by(sums(100, 100, 1), sums(100, 100, 1)).unwrap();
        assert!((alike.error_squared - 2e-4).abs() < 1e-12, "{alike:?}");
    }

    /// Nine times as many are in the control group, and one connection in a thousand loses, in
    /// both. In one of ten stages the chosen connections have the loss, and in nine they have none:
    /// together 1 of 1000 by 9 of 9000. The logarithms of the stages' ratios, of which none counts
    /// as one, would have shown nine times as many.
    #[test]
    fn stages_with_rare_losses_do_not_add_up_to_a_difference() {
        let mut means = PooledMeans::default();
        for stage in 0..10 {
            let (chosen, control) = if stage == 0 { (1, 0) } else { (0, 1) };
            means.add(&sums(100, chosen, 1), &sums(900, control, 1), 100);
        }
        let ratio = means.ratio().unwrap();
        assert!(ratio.log.abs() < 1e-9, "{ratio:?}");
        // Each one that loses is as uncertain as itself: 1 and 1/9, but for the small-sample factor
        // of the variances.
        assert!((ratio.error_squared - (1.0 + 1.0 / 9.0)).abs() < 0.01, "{ratio:?}");
    }

    /// A busy night with 4 retransmissions a connection and 9 of 10 in the control group, a quiet
    /// day with none and 9 of 10 chosen. All together those chosen would have 400 of 1000, and the
    /// control group 3600 of 1000.
    #[test]
    fn a_ramp_over_losses_that_change_shows_no_effect_of_them() {
        let mut means = PooledMeans::default();
        means.add(&sums(100, 100, 4), &sums(900, 900, 4), 100);
        means.add(&sums(900, 0, 0), &sums(100, 0, 0), 100);
        assert!(means.ratio().unwrap().log.abs() < 1e-9);
    }
}
