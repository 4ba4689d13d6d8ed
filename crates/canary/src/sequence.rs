//! The confidence sequence of a mean that is nearly normal: the normal mixture (H. Robbins, 1970,
//! "Statistical methods related to the law of the iterated logarithm"; S. R. Howard et al., 2021,
//! "Time-uniform, nonparametric, nonasymptotic confidence sequences", §3.2). With the probability
//! `1 - alpha` every interval of the sequence holds the truth.
//!
//! For a sum of independent steps with variance `v`, and any deviation `y` of it from the truth,
//! `exp(λy - λ²v/2)` is a martingale. Mixed over `λ` by a normal distribution it is one, too, and
//! exceeds `1/alpha` at any time with probability `alpha` at most (J. Ville, 1939). Solved for `y`
//! that gives the width.
//!
//! A mean of few is not nearly normal if a single connection can move it far. Bernstein's
//! inequality adds the width that this requires: with steps of at most `b`, a deviation of
//! `√(2vL) + bL/3` has the probability `exp(-L)`, where `L` is the exponent above. Only steps away
//! from the truth count, so each end of an interval has a largest step of its own.

use crate::interval::ConfidenceInterval;

/// Connections in each group before any result is reported, unless the operator sets another
/// number. Means of fewer are not nearly normal, and intervals miss more often than they state
/// (`examples/operators.rs`).
pub const MIN_GROUP_CONNECTIONS: u64 = 100;

/// Error of the sequence, and the scale at which it is narrowest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceSequence {
    /// Probability that any interval of the sequence misses the truth.
    pub alpha: f64,
    /// Standard deviation of the mixture, on the scale of the estimate: effects of about this size
    /// are found soonest.
    pub scale: f64,
}

/// The logarithm of a ratio, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// Natural logarithm.
    pub log: f64,
    /// Square of its standard error, above 0.
    pub error_squared: f64,
    /// Largest increase of the estimate by one connection; 0: negligible.
    pub step_up: f64,
    /// Largest decrease of the estimate by one connection.
    pub step_down: f64,
}

impl ConfidenceSequence {
    /// Returns half of the width of an interval around an estimate that no single connection moves
    /// far: `se √((1 + 1/k) 2 L)`. `error_squared`: the square of its standard error `se`. `L` is
    /// the exponent, and `k = scale² / se²`.
    pub fn half_width(&self, error_squared: f64) -> f64 {
        let k = self.scale * self.scale / error_squared;
        (error_squared * (1.0 + 1.0 / k) * 2.0 * self.exponent(error_squared)).sqrt()
    }

    /// Returns `L = ln(1/α) + ln(1 + k)/2`. Looking all the time costs the second term.
    fn exponent(&self, error_squared: f64) -> f64 {
        (self.scale * self.scale / error_squared).ln_1p() / 2.0 - self.alpha.ln()
    }

    /// Returns the interval of a ratio.
    pub fn ratio(&self, of: LogRatio) -> ConfidenceInterval {
        let half = self.half_width(of.error_squared);
        let per_step = self.exponent(of.error_squared) / 3.0;
        ConfidenceInterval {
            estimate: of.log.exp(),
            low: (of.log - half - of.step_up * per_step).exp(),
            high: (of.log + half + of.step_down * per_step).exp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEQUENCE: ConfidenceSequence = ConfidenceSequence { alpha: 0.05, scale: 0.2 };

    #[test]
    fn the_width_is_that_of_the_mixture() {
        // se = 0.02: k = 0.04 / 0.0004 = 100, and 0.02 √(1.01 (2 ln 20 + ln 101)) = 0.02 √(1.01
        // (5.991465 + 4.615121)) = 0.02 · 3.273018.
        assert!((SEQUENCE.half_width(0.0004) - 0.065_460_4).abs() < 1e-6);
        // The martingale at that deviation is 1/α. For a normal mixture it is exp(y² k / (2 se²
        // (1 + k))) / √(1 + k), with y in units of the estimate. Robbins (1970) has the sum `y/se²`
        // and its variance `1/se²`.
        let (se2, k) = (0.0004, 100.0_f64);
        let y = SEQUENCE.half_width(se2);
        let martingale = (y * y * k / (2.0 * se2 * (1.0 + k))).exp() / (1.0 + k).sqrt();
        assert!((martingale - 20.0).abs() < 1e-6, "{martingale}");
    }

    #[test]
    fn more_data_narrow_it_and_a_smaller_error_widens_it() {
        let sure = ConfidenceSequence { alpha: 0.005, ..SEQUENCE };
        for se2 in [1.0, 0.1, 0.01, 0.001] {
            assert!(SEQUENCE.half_width(se2 / 2.0) < SEQUENCE.half_width(se2));
            assert!(SEQUENCE.half_width(se2) < sure.half_width(se2));
            // Never narrower than the interval of a single look.
            assert!(SEQUENCE.half_width(se2) > 1.96 * se2.sqrt());
        }
    }

    #[test]
    fn a_ratio_has_its_interval_in_logarithms() {
        let of =
            LogRatio { log: 0.5_f64.ln(), error_squared: 0.0004, step_up: 0.0, step_down: 0.0 };
        let ratio = SEQUENCE.ratio(of);
        assert!((ratio.estimate - 0.5).abs() < 1e-12);
        assert!((ratio.low - 0.5 * (-0.065_460_4_f64).exp()).abs() < 1e-6);
        assert!((ratio.high - 0.5 * 0.065_460_4_f64.exp()).abs() < 1e-6);
        // L = (5.991465 + 4.615121) / 2 = 5.303293. One connection can have raised it by 0.06: that
        // adds 0.06 L / 3 = 0.106066 below, and nothing above.
        let raised = SEQUENCE.ratio(LogRatio { step_up: 0.06, ..of });
        assert!((raised.low - ratio.low * (-0.106_066_f64).exp()).abs() < 1e-6);
        assert_eq!((raised.estimate, raised.high), (ratio.estimate, ratio.high));
        let lowered = SEQUENCE.ratio(LogRatio { step_down: 0.06, ..of });
        assert!((lowered.high - ratio.high * 0.106_066_f64.exp()).abs() < 1e-6);
        assert_eq!(lowered.low, ratio.low);
    }
}
