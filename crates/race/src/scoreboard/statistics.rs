//! Means, intervals and percentiles over cells, each weighed by the share of the matrix that it
//! stands for.

use serde::{Deserialize, Serialize};

/// Bounds of a mean.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct MeanBounds {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl MeanBounds {
    /// No value is in both.
    pub fn is_apart_from(self, other: Self) -> bool {
        self.high < other.low || other.high < self.low
    }
}

/// A value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellValue {
    pub(super) value: f64,
    /// The share of the matrix that the cell stands for.
    pub(super) weight: f64,
    /// The stratum that it was drawn from.
    pub(super) stratum: usize,
}

pub(super) fn mean(values: &[CellValue]) -> Option<f64> {
    let weights: f64 = values.iter().map(|v| v.weight).sum();
    let sum: f64 = values.iter().map(|v| v.weight * v.value).sum();
    (!values.is_empty()).then(|| sum / weights)
}

fn logarithms(values: &[CellValue]) -> Vec<CellValue> {
    values.iter().map(|v| CellValue { value: v.value.ln(), ..*v }).collect()
}

/// Geometric mean of positive values.
pub(super) fn geometric_mean(values: &[CellValue]) -> Option<f64> {
    mean(&logarithms(values)).map(f64::exp)
}

/// The 95 % interval of the mean: 1.96 standard errors on either side. The error is that of a
/// stratified sample (Cochran 1977 §5.4): the squares of the strata's own, each by the square of
/// its weight. A stratum of fewer than two values adds none. Cells are the units, whatever the
/// number of their seeds: seeds of one cell say little of others.
pub(super) fn mean_interval(values: &[CellValue]) -> Option<MeanBounds> {
    let centre = mean(values)?;
    let weights: f64 = values.iter().map(|v| v.weight).sum();
    let strata = values.iter().map(|v| v.stratum).max().map_or(0, |last| last + 1);
    let square_of = |stratum: usize| {
        let own: Vec<CellValue> = values.iter().filter(|v| v.stratum == stratum).copied().collect();
        let share = own.iter().map(|v| v.weight).sum::<f64>() / weights;
        share.powi(2) * square_error(&own)
    };
    let error = (0..strata).map(square_of).sum::<f64>().sqrt();
    Some(MeanBounds { low: centre - 1.96 * error, high: centre + 1.96 * error })
}

/// The 95 % interval of the geometric mean: [`mean_interval`] of the logarithms.
pub(super) fn interval(values: &[CellValue]) -> MeanBounds {
    let of_logarithms = mean_interval(&logarithms(values));
    let MeanBounds { low, high } =
        of_logarithms.unwrap_or(MeanBounds { low: f64::NAN, high: f64::NAN });
    MeanBounds { low: low.exp(), high: high.exp() }
}

/// The square of the standard error of the mean of values of equal weight.
fn square_error(values: &[CellValue]) -> f64 {
    let centre = mean(values).unwrap_or(f64::NAN);
    let squares = values.iter().map(|v| (v.value - centre).powi(2)).sum::<f64>();
    let count = values.len() as f64;
    if values.len() < 2 { 0.0 } else { squares / (count - 1.0) / count }
}

/// The least value that `percent` per cent, by weight, do not exceed (nearest rank).
pub(super) fn percentile(mut values: Vec<CellValue>, percent: u32) -> Option<f64> {
    /// Weights are shares, which do not add up to the last bit.
    const WHOLE_LESS_ROUNDING: f64 = 1.0 - 1e-9;
    values.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
    let wanted = values.iter().map(|v| v.weight).sum::<f64>() * f64::from(percent) / 100.0
        * WHOLE_LESS_ROUNDING;
    let mut reached = 0.0;
    let rank = values.iter().position(|v| {
        reached += v.weight;
        reached >= wanted
    });
    Some(values[rank?].value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(values: &[f64]) -> Vec<CellValue> {
        values.iter().map(|value| CellValue { value: *value, weight: 0.25, stratum: 0 }).collect()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn twice_as_long_and_half_as_long_cancel() {
        near(geometric_mean(&equal(&[2.0, 0.5])).unwrap(), 1.0);
        near(geometric_mean(&equal(&[2.0, 8.0])).unwrap(), 4.0);
        assert_eq!(geometric_mean(&[]), None);
        // Three times the weight: 8^(3/4) · 2^(1/4) = 2^(10/4).
        let [two, eight] = equal(&[2.0, 8.0])[..] else { unreachable!() };
        let eight = CellValue { weight: 0.75, ..eight };
        near(geometric_mean(&[two, eight]).unwrap(), 2f64.powf(2.5));
    }

    #[test]
    fn an_interval_by_hand() {
        // Logarithms -1 and 1: variance 2, standard error 1.
        let e = std::f64::consts::E;
        let MeanBounds { low, high } = interval(&equal(&[e, 1.0 / e]));
        near(low, (-1.96f64).exp());
        near(high, 1.96f64.exp());
        assert_eq!(interval(&equal(&[1.0, 1.0])), MeanBounds { low: 1.0, high: 1.0 });
    }

    /// Two strata of half of the matrix each. In one the logarithms are -1 and 1 (standard error
    /// 1), in the other all are 3: the mean is 1.5, its error a half.
    #[test]
    fn an_interval_of_strata_by_hand() {
        let value =
            |logarithm: f64, stratum| CellValue { value: logarithm.exp(), weight: 0.25, stratum };
        let values = [value(-1.0, 0), value(1.0, 0), value(3.0, 1), value(3.0, 1)];
        let MeanBounds { low, high } = interval(&values);
        near(low.ln(), 1.5 - 0.98);
        near(high.ln(), 1.5 + 0.98);
    }

    /// 1 and 3: variance 2, standard error 1.
    #[test]
    fn an_interval_of_a_mean_by_hand() {
        let MeanBounds { low, high } = mean_interval(&equal(&[1.0, 3.0])).unwrap();
        near(low, 2.0 - 1.96);
        near(high, 2.0 + 1.96);
        assert_eq!(mean_interval(&[]), None);
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(equal(&hundred), 95), Some(95.0));
        // 95 % of 3 is 2.85: the third.
        assert_eq!(percentile(equal(&[3.0, 1.0, 2.0]), 95), Some(3.0));
        assert_eq!(percentile(Vec::new(), 95), None);
        // The greatest value stands for a thirtieth of the others: 95 % do not reach it.
        let mut values = equal(&[1.0, 2.0, 9.0]);
        values[2].weight = 0.5 / 30.0;
        assert_eq!(percentile(values, 95), Some(2.0));
    }
}
