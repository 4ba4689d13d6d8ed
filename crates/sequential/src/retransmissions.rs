//! Retransmissions as they are compared: how many a connection has in the mean. A connection counts with [`MOST`] at most, so that
//! a long download over a bad link, which has thousands, decides nothing. Not by segments sent: few downloads send most of
//! all segments, and would make the ratio as uncertain as they are few.

use crate::sequence::LogRatio;
use serde::{Deserialize, Serialize};

/// Retransmissions of a connection that count: a first flight that loses more is bad enough.
pub const MOST: u32 = 32;

/// Sums over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Retransmissions {
    /// Connections.
    pub closed: u64,
    /// Their retransmissions, [`MOST`] of each at most.
    pub sum: u64,
    /// Squares of these numbers.
    pub squares: u64,
}

impl Retransmissions {
    /// One more connection.
    pub fn add(&mut self, again: u32) {
        let again = u64::from(again.min(MOST));
        self.closed += 1;
        self.sum += again;
        self.squares += again * again;
    }

    /// These by those, of the means; `None` with fewer than `fewest` (two at least) connections on either side. No retransmission may be chance:
    /// none counts as one.
    pub fn by(&self, others: &Self, fewest: u64) -> Option<LogRatio> {
        if self.closed.min(others.closed) < fewest.max(2) {
            return None;
        }
        Some(LogRatio {
            log: (self.mean() / others.mean()).ln(),
            error_squared: self.relative_error_squared() + others.relative_error_squared(),
        })
    }

    fn mean(&self) -> f64 {
        self.sum.max(1) as f64 / self.closed as f64
    }

    /// Square of the standard error of the mean, by that of the mean: what the logarithm has (delta method).
    fn relative_error_squared(&self) -> f64 {
        let (n, mean) = (self.closed as f64, self.mean());
        let variance = (self.squares.max(1) as f64 - n * mean * mean) / (n - 1.0);
        // All alike: as uncertain as one that differs.
        variance.max(1.0 / n) / n / (mean * mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many connections, of which the first `lossy` retransmit `again`.
    fn sums(count: u64, lossy: u64, again: u32) -> Retransmissions {
        let mut sums = Retransmissions::default();
        for n in 0..count {
            sums.add(if n < lossy { again } else { 0 });
        }
        sums
    }

    #[test]
    fn twice_as_much_is_known_as_well_as_the_connections_that_lose() {
        let ratio = sums(100, 20, 10).by(&sums(100, 10, 10), 100).unwrap();
        assert!((ratio.log - 2.0_f64.ln()).abs() < 1e-12);
        // 2 in the mean, variance (20 · 100 - 100 · 4) / 99 = 1600/99, by 100 and by 4: 4/99. Of the others 1 in the mean,
        // (10 · 100 - 100) / 99 = 900/99, by 100: 9/99.
        assert!((ratio.error_squared - 13.0 / 99.0).abs() < 1e-12, "{ratio:?}");
    }

    #[test]
    fn none_counts_as_one_and_many_count_as_the_most() {
        let ratio = sums(100, 10, 10).by(&sums(200, 0, 0), 100).unwrap();
        // One in the mean by one of 200 connections.
        assert!((ratio.log - 200.0_f64.ln()).abs() < 1e-12);
        // Variance (1 - 200 / 200²) / 199 = 1/200, by 200, by 1/200²: 1.
        assert!((ratio.error_squared - (9.0 / 99.0 + 1.0)).abs() < 1e-9, "{ratio:?}");
        assert_eq!(sums(99, 10, 10).by(&sums(100, 10, 10), 100), None);
        assert_eq!(sums(100, 3, 5000), sums(100, 3, MOST));
        // All alike: the variance of the mean is that of one in a hundred.
        let alike = sums(100, 100, 1).by(&sums(100, 100, 1), 100).unwrap();
        assert!((alike.error_squared - 2e-4).abs() < 1e-12, "{alike:?}");
    }
}
