//! The straight line through points, and their correlation, from sums.

use serde::Serialize;

/// The line of least squares through points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LineFit {
    /// Points.
    pub points: u64,
    /// `y` for each 1 of `x`.
    pub slope: f64,
    /// `y` at `x = 0`.
    pub intercept: f64,
    /// Coefficient of correlation, in `-1..=1`.
    pub correlation: f64,
}

/// Means and sums of squares, updated point by point (Welford 1962), so that large numbers do not
/// cancel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineSums {
    points: u64,
    mean: [f64; 2],
    squares: [f64; 2],
    products: f64,
}

impl LineSums {
    pub(crate) fn add(&mut self, x: f64, y: f64) {
        self.points += 1;
        let before = [x - self.mean[0], y - self.mean[1]];
        self.mean[0] += before[0] / self.points as f64;
        self.mean[1] += before[1] / self.points as f64;
        self.squares[0] += before[0] * (x - self.mean[0]);
        self.squares[1] += before[1] * (y - self.mean[1]);
        self.products += before[0] * (y - self.mean[1]);
    }

    pub(crate) const fn points(&self) -> u64 {
        self.points
    }

    /// The line; `None` if all `x` or all `y` are the same.
    pub(crate) fn fit(&self) -> Option<LineFit> {
        let [xs, ys] = self.squares;
        if xs <= 0.0 || ys <= 0.0 {
            return None;
        }
        let slope = self.products / xs;
        Some(LineFit {
            points: self.points,
            slope,
            intercept: self.mean[1] - slope * self.mean[0],
            correlation: self.products / (xs * ys).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_line_are_correlated_by_one() {
        let mut sums = LineSums::default();
        for x in [1.0, 2.0, 3.0, 5.0] {
            sums.add(x, 0.5 * x + 0.1);
        }
        let line = sums.fit().unwrap();
        assert!((line.slope - 0.5).abs() < 1e-12 && (line.intercept - 0.1).abs() < 1e-12);
        assert!((line.correlation - 1.0).abs() < 1e-12);
    }

    /// Points (0, 0), (1, 1), (2, 0): no correlation, and a level line at 1/3.
    #[test]
    fn a_hill_has_no_correlation() {
        let mut sums = LineSums::default();
        for (x, y) in [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)] {
            sums.add(x, y);
        }
        let line = sums.fit().unwrap();
        assert!(line.correlation.abs() < 1e-12 && (line.intercept - 1.0 / 3.0).abs() < 1e-12);
        let mut same = LineSums::default();
        same.add(1.0, 2.0);
        same.add(1.0, 3.0);
        assert_eq!(same.fit(), None);
    }
}
