//! Bounds on a scheme, and whether the measurements meet them.

use super::cases::{Beside, GainBound, GainCase, GainMeasure};
use super::limit_of;
use race::{RaceMetric, RaceResult, SchemeResult, World};
use serde::Serialize;

/// One bound on a scheme.
#[derive(Clone, Debug, Serialize)]
pub struct GainClaim {
    /// Name of the load and its conditions.
    pub load: String,
    /// The path, as it may be written.
    pub path: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Kind of the visits.
    pub visit: &'static str,
    /// The measured quantity.
    pub measure: GainMeasure,
    /// The baseline of the comparison.
    pub beside: &'static str,
    /// Measured value: the median in seconds, or packets in all visits; `None` if a load did not
    /// complete.
    pub measured: Option<f64>,
    /// Value of the baseline.
    pub other: Option<f64>,
    /// Measured value over the baseline's; `None` if there is none, or if the baseline's is 0.
    pub ratio: Option<f64>,
    /// Largest allowed ratio. If the baseline's value is 0, the measured value has to be 0, too.
    pub at_most: f64,
    /// Ratio of times if the median were the limit.
    pub limit_ratio: Option<f64>,
    /// Whether it is so.
    pub verdict: GainVerdict,
}

/// Whether a bound was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GainVerdict {
    /// The bound is met.
    Holds,
    /// The bound is not met.
    Fails,
    /// The bound is not met, and no transport could meet it: the limit itself exceeds it.
    Barred,
}

impl GainClaim {
    pub(super) fn new(case: &GainCase, result: &RaceResult, bound: &GainBound) -> Self {
        let of = |scheme: &str| bound.measure.of(result.row(scheme, World::Kernel, bound.visit)?);
        let limit = (bound.measure == GainMeasure::Time).then(|| limit_of(result, bound.visit));
        let measured = of(bound.scheme);
        let other = match bound.beside {
            Beside::Scheme(name) => of(name),
            Beside::Limit => limit,
        };
        let over_other = |value: Option<f64>| Some(value? / other.filter(|other| *other > 0.0)?);
        let limit_ratio = over_other(limit);
        Self {
            load: case.name.clone(),
            path: result.path.to_string(),
            scheme: bound.scheme.to_owned(),
            visit: bound.visit.name(),
            measure: bound.measure,
            beside: bound.beside.name(),
            measured,
            other,
            ratio: over_other(measured),
            at_most: bound.at_most,
            limit_ratio,
            verdict: GainVerdict::of(measured, other, limit_ratio, bound.at_most),
        }
    }
}

impl GainMeasure {
    /// Value of the measure in a scheme's visits of one kind; `None` if one did not complete.
    fn of(self, row: &SchemeResult) -> Option<f64> {
        let time = row.median(RaceMetric::PageSeconds)?;
        Some(match self {
            Self::Time => time,
            Self::Drops => row.counted().map(|visit| visit.dropped_packets).sum::<u64>() as f64,
        })
    }
}

impl GainVerdict {
    fn of(
        measured: Option<f64>,
        other: Option<f64>,
        limit_ratio: Option<f64>,
        at_most: f64,
    ) -> Self {
        match (measured, other, limit_ratio) {
            (Some(measured), Some(other), _) if measured <= at_most * other => Self::Holds,
            (Some(_), Some(_), Some(limit)) if limit > at_most => Self::Barred,
            _ => Self::Fails,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_limit_excuses() {
        let of = |measured, limit| GainVerdict::of(measured, Some(2.0), limit, 0.5);
        // The bound is half of the other's time, and the limit is 0.4 of it: possible.
        assert_eq!(of(Some(1.0), Some(0.4)), GainVerdict::Holds);
        assert_eq!(of(Some(1.02), Some(0.4)), GainVerdict::Fails);
        // The limit is 0.6 of it: no scheme can meet the bound.
        assert_eq!(of(Some(1.22), Some(0.6)), GainVerdict::Barred);
        // A load that never ended is no excuse.
        assert_eq!(of(None, Some(0.6)), GainVerdict::Fails);
    }

    #[test]
    fn beside_who_dropped_nothing_nothing_may_be_dropped() {
        let of = |measured| GainVerdict::of(Some(measured), Some(0.0), None, 1.0);
        assert_eq!(of(0.0), GainVerdict::Holds);
        assert_eq!(of(1.0), GainVerdict::Fails);
        // The bound allows as many as the other has, and not one more.
        let beside = |measured| GainVerdict::of(Some(measured), Some(7.0), None, 1.0);
        assert_eq!((beside(7.0), beside(8.0)), (GainVerdict::Holds, GainVerdict::Fails));
    }
}
