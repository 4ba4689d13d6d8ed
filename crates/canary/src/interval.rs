//! Confidence intervals.

use serde::{Deserialize, Serialize};

/// Quantile of the normal distribution, for 95 %.
const Z: f64 = 1.96;

/// An estimate with its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// The measured value.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Returns `part` divided by `whole`, with Wilson's interval (E. B. Wilson, 1927). Returns `None`
/// if `whole` is 0. The interval also holds for few and for none. It holds for one look at 95 %: it
/// describes, and nothing is decided by it.
pub fn share(part: u64, whole: u64) -> Option<ConfidenceInterval> {
    if whole == 0 {
        return None;
    }
    let (n, z2) = (whole as f64, Z * Z);
    let p = part as f64 / n;
    let scale = 1.0 + z2 / n;
    let middle = (p + z2 / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / scale;
    Some(ConfidenceInterval {
        estimate: p,
        low: (middle - half).max(0.0),
        high: (middle + half).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_of_a_hundred_may_be_6_to_17_percent() {
        // z² = 3.8416: middle (0.1 + 0.019208) / 1.038416 = 0.114798, half of the width
        // 1.96 √(0.0009 + 0.00009604) / 1.038416 = 0.059569.
        let close = |a: f64, b: f64| (a - b).abs() < 1e-4;
        let interval = share(10, 100).unwrap();
        assert!(close(interval.low, 0.05523) && close(interval.high, 0.17437), "{interval:?}");
        assert_eq!(share(0, 0), None);
        // For none of 10, the interval is 0 to z² / (10 + z²) = 0.2775.
        let none = share(0, 10).unwrap();
        assert!(none.low < 1e-9 && close(none.high, 0.27754), "{none:?}");
    }
}
