//! The ratio of two sums over repeats, and how sure it is.

use race::student::two_sided_95;
use serde::Serialize;

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioEstimate {
    /// The sum of the numerators over the sum of the denominators.
    pub value: f64,
    /// Half the width of the 95 % interval; `None` of a single repeat.
    pub half_width: Option<f64>,
}

/// Amounts that one repeat adds to both sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RatioPart {
    pub(super) numerator: f64,
    pub(super) denominator: f64,
}

impl RatioEstimate {
    /// The ratio of sums over repeats, which are independent of each other. Visits within a repeat
    /// are not: they share the agent's memory. The variance is that of the residuals (Cochran,
    /// Sampling Techniques, 1977, §2.11). `None` without repeats, or over nothing.
    pub(super) fn of(parts: &[RatioPart]) -> Option<Self> {
        let sum = |of: fn(&RatioPart) -> f64| parts.iter().map(of).sum::<f64>();
        let below = sum(|part| part.denominator);
        if below <= 0.0 {
            return None;
        }
        let value = sum(|part| part.numerator) / below;
        let n = parts.len() as f64;
        let residual = |part: &RatioPart| part.numerator - value * part.denominator;
        let squares: f64 = parts.iter().map(|part| residual(part).powi(2)).sum();
        let half_width = (parts.len() > 1).then(|| {
            let standard_error = (squares * n / (n - 1.0)).sqrt() / below;
            two_sided_95(parts.len() - 1) * standard_error
        });
        Some(Self { value, half_width })
    }

    /// Both ends of the 95 % interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.half_width.map(|half| (self.value - half, self.value + half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(parts: &[(f64, f64)]) -> Option<RatioEstimate> {
        let part = |(numerator, denominator): &(f64, f64)| RatioPart {
            numerator: *numerator,
            denominator: *denominator,
        };
        RatioEstimate::of(&parts.iter().map(part).collect::<Vec<_>>())
    }

    /// Sums 6 and 4: 1.5. Residuals 1 − 1.5 = −0.5 and 5 − 4.5 = 0.5, so the variance of a residual
    /// is 0.5 and the standard error √(2 · 0.5) / 4 = 0.25. Student's t with one degree of freedom
    /// is 12.706.
    #[test]
    fn ratio_and_interval_by_hand() {
        let two = estimate(&[(1.0, 1.0), (5.0, 3.0)]).expect("a ratio");
        assert_eq!(two.value, 1.5);
        let half = two.half_width.expect("two repeats");
        assert!((half - 12.706 * 0.25).abs() < 0.001, "{half}");
        let (low, high) = two.interval().expect("two repeats");
        assert!(low < 1.5 - 3.17 && high > 1.5 + 3.17);
    }

    #[test]
    fn one_repeat_has_no_interval_and_nothing_has_no_ratio() {
        let one = estimate(&[(3.0, 2.0)]).expect("a ratio");
        assert_eq!((one.value, one.half_width, one.interval()), (1.5, None, None));
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[(1.0, 0.0)]), None);
        // Repeats that differ in length but not in ratio leave no doubt.
        let same = estimate(&[(2.0, 1.0), (6.0, 3.0), (8.0, 4.0)]).expect("a ratio");
        assert_eq!((same.value, same.half_width), (2.0, Some(0.0)));
    }
}
