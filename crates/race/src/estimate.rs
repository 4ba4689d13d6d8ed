//! Means and their standard errors.

/// The mean of repeated measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard error of the mean, from the sample's standard deviation; `None` for a single
    /// measurement.
    pub standard_error: Option<f64>,
}

impl MeanEstimate {
    /// The estimate from these values; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let standard_error = (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt());
        Some(Self { mean, standard_error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_standard_error_by_hand() {
        // Mean 3; squares 4 + 1 + 0 + 1 + 4 = 10; variance 10 / 4; error sqrt(2.5 / 5).
        let estimate = MeanEstimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(estimate.mean, 3.0);
        assert_eq!(estimate.standard_error, Some(0.5f64.sqrt()));
    }

    #[test]
    fn one_value_has_no_error_and_none_no_mean() {
        assert_eq!(MeanEstimate::of(&[7.0]).unwrap().standard_error, None);
        assert_eq!(MeanEstimate::of(&[]), None);
    }
}
