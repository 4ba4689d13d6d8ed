//! A number that is shown: what it is, and how sure.

/// A mean and, where it was repeated, its standard error, both in the quantity's base unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Standard error of the mean; `None` for a single run.
    pub standard_error: Option<f64>,
}

impl From<f64> for Estimate {
    fn from(mean: f64) -> Self {
        Self { mean, standard_error: None }
    }
}

/// The median of repeats and, if there are enough of them, its confidence interval, in the
/// quantity's base unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Median {
    /// The median.
    pub value: f64,
    /// Least and greatest value of the interval.
    pub interval: Option<(f64, f64)>,
}

impl From<f64> for Median {
    fn from(value: f64) -> Self {
        Self { value, interval: None }
    }
}

/// Quantity of a column's numbers, which determines how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Not a number: aligned left.
    Text,
    /// Seconds.
    Time,
    /// A plain ratio.
    Ratio,
    /// A fraction of one, shown in per cent with its sign.
    Gain,
    /// A fraction of one, shown in per cent.
    Share,
    /// A count of things.
    Count,
    /// Bits per second.
    Rate,
    /// Bytes.
    Bytes,
}
