//! Errors of impossible distributions.

use std::fmt;

/// Reason why a distribution is impossible: the parameter, its value, and its range.
#[derive(Clone, Debug, PartialEq)]
pub struct DistributionError {
    parameter: &'static str,
    value: f64,
    must: String,
}

impl fmt::Display for DistributionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} must be {}", self.parameter, self.value, self.must)
    }
}

impl std::error::Error for DistributionError {}

/// The error unless `ok`.
pub(super) fn require(
    ok: bool,
    parameter: &'static str,
    value: f64,
    must: impl Into<String>,
) -> Result<(), DistributionError> {
    match ok {
        true => Ok(()),
        false => Err(DistributionError { parameter, value, must: must.into() }),
    }
}

pub(super) fn require_positive(name: &'static str, value: f64) -> Result<(), DistributionError> {
    require(value.is_finite() && value > 0.0, name, value, "above 0 and finite")
}

pub(super) fn require_non_negative(
    name: &'static str,
    value: f64,
) -> Result<(), DistributionError> {
    require(value.is_finite() && value >= 0.0, name, value, "0 or more, and finite")
}
