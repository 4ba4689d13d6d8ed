//! Completion times as they are compared: by their logarithms, so that the ratio of geometric means says by which factor a
//! typical connection is faster, and a connection that lasts for hours decides nothing.

use crate::sequence::LogRatio;

use serde::{Deserialize, Serialize};

/// Sums over connections whose time is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogTimes {
    /// Connections.
    pub count: u64,
    /// Natural logarithms of their times in seconds, added up.
    pub sum: f64,
    /// The same of their squares.
    pub squares: f64,
}

impl LogTimes {
    /// One more; nothing if its time is not above 0.
    pub fn add(&mut self, seconds: f64) {
        if seconds > 0.0 {
            let log = seconds.ln();
            self.count += 1;
            self.sum += log;
            self.squares += log * log;
        }
    }

    /// Geometric mean, seconds; `None` without connections.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.mean().exp())
    }

    /// These by those, of the geometric means; `None` with fewer than `fewest` (two at least) on either side. The standard error is Welch's:
    /// each side has a variance of its own.
    pub fn by(&self, others: &Self, fewest: u64) -> Option<LogRatio> {
        if self.count.min(others.count) < fewest.max(2) {
            return None;
        }
        let error_squared = self.error_squared() + others.error_squared();
        // All times alike to the last bit: no ratio is known so well.
        (error_squared > f64::EPSILON)
            .then(|| LogRatio { log: self.mean() - others.mean(), error_squared })
    }

    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Of the mean.
    fn error_squared(&self) -> f64 {
        let n = self.count as f64;
        let variance = (self.squares - n * self.mean().powi(2)) / (n - 1.0);
        // Sums of floats may be a little below what they sum.
        variance.max(0.0) / n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many, half of them `apart` above the mean in logarithms, half below.
    fn sums(count: u64, mean: f64, apart: f64) -> LogTimes {
        let mut sums = LogTimes::default();
        for n in 0..count {
            sums.add((mean + if n % 2 == 0 { apart } else { -apart }).exp());
        }
        sums
    }

    #[test]
    fn half_the_time_is_a_ratio_of_a_half() {
        // Variance 0.01 · 100/99 of each; squared error of the mean 0.01/99 each.
        let ratio = sums(100, 0.5_f64.ln(), 0.1).by(&sums(100, 0.0, 0.1), 100).unwrap();
        assert!((ratio.log - 0.5_f64.ln()).abs() < 1e-9);
        assert!((ratio.error_squared - 0.02 / 99.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn few_say_nothing_and_no_time_is_no_connection() {
        assert_eq!(sums(99, 0.0, 0.1).by(&sums(100, 0.0, 0.1), 100), None);
        assert_eq!(sums(100, 0.0, 0.1).by(&sums(99, 0.0, 0.1), 100), None);
        assert_eq!(sums(100, 0.0, 0.0).by(&sums(100, 0.0, 0.0), 100), None);
        let mut none = LogTimes::default();
        none.add(0.0);
        assert_eq!((none.count, none.mean_s()), (0, None));
        none.add(2.0);
        none.add(8.0);
        // √(2 · 8) = 4.
        assert!((none.mean_s().unwrap() - 4.0).abs() < 1e-12);
    }
}
