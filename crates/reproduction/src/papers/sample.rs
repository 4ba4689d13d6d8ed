//! Figures of repeated runs, and statistics of them with standard errors.
//!
//! The runs of two cells that differ in schemes alone share their random numbers, repeat by repeat.
//! Differences and ratios are therefore paired. A ratio is the ratio of the means. Its error
//! follows from linearisation: the standard error of `a - R*b` over the mean of `b` (Cochran 1977
//! §6.4). It takes the correlation of the pairs into account and also holds without correlation.

use race::estimate::MeanEstimate;

/// A mean and its standard error; not a number where something is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Its standard error; 0 if it has none.
    pub standard_error: f64,
}

impl Measured {
    /// A figure that was not found.
    pub const NOTHING: Self = Self { mean: f64::NAN, standard_error: 0.0 };

    /// Returns a figure without error.
    pub const fn exact(mean: f64) -> Self {
        Self { mean, standard_error: 0.0 }
    }

    /// Returns the difference of two figures that are not paired.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        let variance =
            self.standard_error * self.standard_error + other.standard_error * other.standard_error;
        Self { mean: self.mean - other.mean, standard_error: variance.sqrt() }
    }
}

/// A figure of each repeat of a cell, in their order; not a number where a run has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Collects the figures of repeats 0, 1, …
    pub const fn new(values: Vec<f64>) -> Self {
        Self(values)
    }

    /// Returns the figures.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Returns the mean of the figures. With a run that has no figure there is none.
    pub fn mean(&self) -> Measured {
        let Some(MeanEstimate { mean, standard_error }) = MeanEstimate::of(&self.0) else {
            return Measured::NOTHING;
        };
        Measured { mean, standard_error: standard_error.unwrap_or(0.0) }
    }

    /// Changes each figure.
    #[must_use]
    pub fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().map(|value| change(*value)).collect())
    }

    /// Joins the figures repeat by repeat; nothing if the repeats are not as many.
    #[must_use]
    pub fn zip(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        if self.0.len() != other.0.len() {
            return Self::default();
        }
        Self(self.0.iter().zip(&other.0).map(|(a, b)| join(*a, *b)).collect())
    }

    /// Returns the mean of several figures, repeat by repeat; nothing if the repeats are not as
    /// many.
    pub fn mean_of(all: &[Self]) -> Self {
        let Some((first, rest)) = all.split_first() else {
            return Self::default();
        };
        let sum = rest.iter().fold(first.clone(), |sum, other| sum.zip(other, |a, b| a + b));
        sum.map(|value| value / all.len() as f64)
    }

    /// Returns the difference `self - other`, paired.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    /// Returns the ratio of the means, `self / other`, paired.
    pub fn over(&self, other: &Self) -> Measured {
        let below = other.mean().mean;
        let ratio = self.mean().mean / below;
        let rest = self.zip(other, |a, b| a - ratio * b).mean();
        match ratio.is_finite() && rest.mean.is_finite() {
            true => Measured { mean: ratio, standard_error: rest.standard_error / below.abs() },
            false => Measured::NOTHING,
        }
    }

    /// Returns the percentage by which `self` is above `other`, of two experiments that share no
    /// random numbers: the errors are independent (linearisation), and the repeats may differ in
    /// number.
    pub fn excess_over_apart(&self, other: &Self) -> Measured {
        let (above, below) = (self.mean(), other.mean());
        let ratio = above.mean / below.mean;
        if !ratio.is_finite() {
            return Measured::NOTHING;
        }
        let error = above.standard_error.hypot(ratio * below.standard_error) / below.mean.abs();
        Measured { mean: 100.0 * (ratio - 1.0), standard_error: 100.0 * error }
    }

    /// Returns the percentage by which `self` is below `other`: `100 * (1 - self/other)`, paired.
    pub fn gain_over(&self, other: &Self) -> Measured {
        let Measured { mean, standard_error } = self.over(other);
        Measured { mean: 100.0 * (1.0 - mean), standard_error: 100.0 * standard_error }
    }

    /// Returns the gain of [`gain_over`](Self::gain_over) with a part for each repeat: their mean
    /// is the gain, their standard error its own. So gains of the same repeats can be subtracted in
    /// pairs.
    #[must_use]
    pub fn gains_over(&self, other: &Self) -> Self {
        let below = other.mean().mean;
        let ratio = self.over(other).mean;
        // The ratio is linearised: the term is a repeat's contribution to the ratio of the means.
        let part = |a: f64, b: f64| 100.0 * (1.0 - ratio - (a - ratio * b) / below);
        self.zip(other, part)
    }

    /// Returns the percentage by which `self` is above `other`: `100 * (self/other - 1)`, paired.
    pub fn excess_over(&self, other: &Self) -> Measured {
        let Measured { mean, standard_error } = self.gain_over(other);
        Measured { mean: -mean, standard_error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Samples {
        Samples::new(values.to_vec())
    }

    #[test]
    fn ratios_of_proportional_pairs_have_no_error() {
        let ratio = samples(&[1.0, 2.0, 3.0]).over(&samples(&[2.0, 4.0, 6.0]));
        assert_eq!(ratio, Measured { mean: 0.5, standard_error: 0.0 });
        let gain = samples(&[1.0, 2.0, 3.0]).gain_over(&samples(&[2.0, 4.0, 6.0]));
        assert_eq!(gain.mean, 50.0);
    }

    #[test]
    fn the_error_of_a_ratio_by_hand() {
        // Means 2 and 4, ratio 0.5; a - R*b = 1 - 2, 3 - 2 = -1, 1; variance 2, error of the mean
        // sqrt(2 / 2) = 1; over the mean of b: 0.25.
        let ratio = samples(&[1.0, 3.0]).over(&samples(&[4.0, 4.0]));
        assert_eq!(ratio, Measured { mean: 0.5, standard_error: 0.25 });
    }

    /// 1 and 3 over 4 and 4: a gain of 50 with parts of 75 and 25, whose error is that of the
    /// ratio, 25. Less the same gain nothing remains, and no error; unpaired it would be 35.
    #[test]
    fn gains_of_the_same_repeats_are_subtracted_in_pairs() {
        let (fast, slow) = (samples(&[1.0, 3.0]), samples(&[4.0, 4.0]));
        let gains = fast.gains_over(&slow);
        assert_eq!(gains.values(), [75.0, 25.0]);
        assert_eq!(gains.mean(), fast.gain_over(&slow));
        assert_eq!(gains.minus(&gains).mean(), Measured::exact(0.0));
        // Against a baseline of 2 and 6, twice the values each time, the gain is 50 without error.
        let other = fast.gains_over(&samples(&[2.0, 6.0]));
        assert_eq!(other.values(), [50.0, 50.0]);
        assert!(fast.gains_over(&samples(&[0.0, 0.0])).mean().mean.is_nan());
    }

    /// Means 3 and 2: half as much again. Errors of the means: sqrt(2/2) = 1, and 1 by chance of 1,
    /// 3 (variance 2, of two): 1, so sqrt(1 + (1.5 · 1)²) / 2 = 0.9014. The third figure exists on
    /// one side alone and does not matter.
    #[test]
    fn two_experiments_are_compared_by_their_own_errors() {
        let excess = samples(&[2.0, 4.0]).excess_over_apart(&samples(&[1.0, 3.0]));
        assert!(
            (excess.mean - 50.0).abs() < 1e-9 && (excess.standard_error - 90.1388).abs() < 1e-3
        );
        let uneven = samples(&[3.0, 3.0, 3.0]).excess_over_apart(&samples(&[2.0, 2.0]));
        assert_eq!(uneven, Measured { mean: 50.0, standard_error: 0.0 });
        assert!(samples(&[1.0]).excess_over_apart(&samples(&[0.0])).mean.is_nan());
    }

    #[test]
    fn a_run_without_a_figure_leaves_no_mean() {
        assert!(samples(&[1.0, f64::NAN]).mean().mean.is_nan());
        assert!(samples(&[]).mean().mean.is_nan());
        assert!(samples(&[1.0]).over(&samples(&[1.0, 2.0])).mean.is_nan());
        assert!(samples(&[1.0]).over(&samples(&[0.0])).mean.is_nan());
    }
}
