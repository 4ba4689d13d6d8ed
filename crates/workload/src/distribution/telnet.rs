//! Gaps of telnet packets: a log-logistic body and a bounded Pareto tail.
//!
//! With survival `S(t) = 1 / (1 + (t / MEDIAN)^SHAPE)`, `S(8 ms) = 0.98` and `S(1 s) = 0.15` give
//! `125^SHAPE = (0.85 / 0.15) * (0.98 / 0.02)` and `MEDIAN = (0.85 / 0.15)^(-1 / SHAPE)`. The body
//! ends where `S` is 0.03, at `MEDIAN * (0.97 / 0.03)^(1 / SHAPE)`, and the tail's bound follows
//! from the mean. The tests derive all of this again.

use super::Pareto;

/// Mean of all gaps, seconds.
pub(super) const MEAN: f64 = 1.1;
/// Shape of the body.
const SHAPE: f64 = 1.165_297_381_160_312_5;
/// Seconds.
const MEDIAN: f64 = 0.225_700_140_281_852_62;
/// Share of gaps in the body.
const BODY: f64 = 0.97;
/// Longer gaps, seconds.
const TAIL: Pareto = Pareto { shape: 0.95, minimum: 4.456_957_120_668_828, bound: 408.438_188_699 };

pub(super) fn quantile(u: f64) -> f64 {
    if u < BODY {
        MEDIAN * libm::pow(u / (1.0 - u), 1.0 / SHAPE)
    } else {
        TAIL.quantile((u - BODY) / (1.0 - BODY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_follow_from_the_measured_shares() {
        let shape = ((0.85 / 0.15) * (0.98 / 0.02_f64)).ln() / 125_f64.ln();
        assert!((SHAPE / shape - 1.0).abs() < 1e-12, "{shape}");
        assert!((MEDIAN / (0.85 / 0.15_f64).powf(-1.0 / shape) - 1.0).abs() < 1e-12);
        assert!(
            (TAIL.minimum / (MEDIAN * (0.97 / 0.03_f64).powf(1.0 / shape)) - 1.0).abs() < 1e-12
        );
        assert!((quantile(0.02) - 0.008).abs() < 1e-12);
        assert!((quantile(0.85) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn body_and_tail_meet() {
        assert!((quantile(BODY - 1e-12) / quantile(BODY) - 1.0).abs() < 1e-9);
        assert!(quantile(1.0 - 1e-16) <= TAIL.bound);
    }

    /// The mean is the integral of the quantiles. Midpoints of a million steps miss at most the
    /// spread within the last step, 0.03 * (408 - 4.5) / 30,000 steps of the tail: far below 1e-3.
    #[test]
    fn the_mean_is_that_of_tcplib() {
        let n = 1_000_000;
        let sum: f64 = (0..n).map(|i| quantile((f64::from(i) + 0.5) / f64::from(n))).sum();
        assert!((sum / f64::from(n) - MEAN).abs() < 1e-3, "{}", sum / f64::from(n));
    }
}
