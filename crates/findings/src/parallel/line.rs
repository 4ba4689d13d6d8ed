//! The straight line through points, and their correlation, from sums.

use serde::{Deserialize, Serialize};

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
    /// Adds a point, by the method of Welford (1962), which loses no precision to large sums.
    pub(crate) fn add(&mut self, x: f64, y: f64) {
        self.points += 1;
        let before = [x - self.mean[0], y - self.mean[1]];
        self.mean[0] += before[0] / self.points as f64;
        self.mean[1] += before[1] / self.points as f64;
        self.squares[0] += before[0] * (x - self.mean[0]);
        self.squares[1] += before[1] * (y - self.mean[1]);
        self.products += before[0] * (y - self.mean[1]);
    }

    pub(crate) const fn point_count(&self) -> u64 {
        self.points
    }

    /// Fits a line; `None` if all `x` or all `y` are the same.
    pub(crate) fn fit_line(&self) -> Option<LineFit> {
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

/// Sums of points with whole coordinates. They are exact, so they do not depend on the order of
/// points.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CountLine {
    points: u64,
    xs: u128,
    ys: u128,
    squares_of_xs: u128,
    squares_of_ys: u128,
    products: u128,
}

impl CountLine {
    pub(crate) fn add(&mut self, x: u64, y: u64) {
        let (x, y) = (u128::from(x), u128::from(y));
        self.points += 1;
        self.xs += x;
        self.ys += y;
        self.squares_of_xs += x * x;
        self.squares_of_ys += y * y;
        self.products += x * y;
    }

    /// Adds other points.
    pub(crate) const fn add_all(&mut self, other: &Self) {
        self.points += other.points;
        self.xs += other.xs;
        self.ys += other.ys;
        self.squares_of_xs += other.squares_of_xs;
        self.squares_of_ys += other.squares_of_ys;
        self.products += other.products;
    }

    /// Fits a line; `None` if all `x` or all `y` are the same.
    pub(crate) fn fit_line(&self) -> Option<LineFit> {
        let points = u128::from(self.points);
        let xs = points * self.squares_of_xs - self.xs * self.xs;
        let ys = points * self.squares_of_ys - self.ys * self.ys;
        if xs == 0 || ys == 0 {
            return None;
        }
        let products = (points * self.products) as i128 - (self.xs * self.ys) as i128;
        let slope = products as f64 / xs as f64;
        let mean = |sum: u128| sum as f64 / self.points as f64;
        Some(LineFit {
            points: self.points,
            slope,
            intercept: mean(self.ys) - slope * mean(self.xs),
            correlation: products as f64 / (xs as f64 * ys as f64).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points (1, 2), (2, 3), (4, 5) lie on y = x + 1; a fourth, (1, 0), takes them off it. Sums of
    /// four: 8, 10, 22, 38, 28. So the slope is (4·28 − 80) / (4·22 − 64) = 4/3, the intercept
    /// 2.5 − 8/3, and the correlation 32 / √(24 · 52).
    #[test]
    fn counts_have_the_line_of_their_points() {
        let (mut line, mut more) = (CountLine::default(), CountLine::default());
        [(1, 2), (2, 3), (4, 5)].iter().for_each(|(x, y)| line.add(*x, *y));
        let fit = line.fit_line().unwrap();
        assert_eq!((fit.slope, fit.intercept, fit.correlation), (1.0, 1.0, 1.0));
        more.add(1, 0);
        line.add_all(&more);
        let fit = line.fit_line().unwrap();
        assert_eq!(fit.points, 4);
        assert!((fit.slope - 4.0 / 3.0).abs() < 1e-12, "{fit:?}");
        assert!((fit.intercept + 1.0 / 6.0).abs() < 1e-12, "{fit:?}");
        assert!((fit.correlation - 32.0 / 1248_f64.sqrt()).abs() < 1e-12, "{fit:?}");
        assert_eq!(more.fit_line(), None);
    }

    #[test]
    fn points_of_a_line_are_correlated_by_one() {
        let mut sums = LineSums::default();
        for x in [1.0, 2.0, 3.0, 5.0] {
            sums.add(x, 0.5 * x + 0.1);
        }
        let line = sums.fit_line().unwrap();
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
        let line = sums.fit_line().unwrap();
        assert!(line.correlation.abs() < 1e-12 && (line.intercept - 1.0 / 3.0).abs() < 1e-12);
        let mut same = LineSums::default();
        same.add(1.0, 2.0);
        same.add(1.0, 3.0);
        assert_eq!(same.fit_line(), None);
    }
}
