//! The bounds of a cell.

use super::estimate::RatioEstimate;
use serde::Serialize;

/// The agent's mean time over stock's, at most.
pub const TIME_BOUND: f64 = 1.05;
/// Bound on the time in every cell, without exception.
pub const TIME_BOUND_OF_ALL: f64 = 1.15;
/// Retransmissions that the agent may add, as a share of the segments that stock sends.
pub const RETRANSMISSION_BOUND: f64 = 0.02;
/// A wider interval of the time ratio excuses nothing: the mean alone decides then.
const TRUSTED_TIME_HALF_WIDTH: f64 = 0.2;
/// A wider interval of the retransmissions excuses nothing, either: their mean alone decides then.
const TRUSTED_RETRANSMISSION_HALF_WIDTH: f64 = 0.04;

/// Comparison of an estimate with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundCheck {
    /// The mean is within the bound.
    Within,
    /// The mean is above the bound, and the 95 % interval includes the bound.
    Unsure,
    /// The 95 % interval is above the bound. If there is none that can be trusted, the mean is.
    Above,
}

impl BoundCheck {
    fn of(estimate: &RatioEstimate, bound: f64, trusted_half_width: f64) -> Self {
        if estimate.value <= bound {
            return Self::Within;
        }
        let half_width = estimate.half_width.filter(|half| *half <= trusted_half_width);
        match half_width {
            Some(half) if estimate.value - half <= bound => Self::Unsure,
            _ => Self::Above,
        }
    }
}

/// Judgement of a cell's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HarmVerdict {
    /// The time, compared with [`TIME_BOUND`].
    pub time: BoundCheck,
    /// The time, compared with [`TIME_BOUND_OF_ALL`].
    pub time_of_all: BoundCheck,
    /// The retransmissions, compared with [`RETRANSMISSION_BOUND`].
    pub retransmissions: BoundCheck,
}

impl HarmVerdict {
    pub(super) fn of(time: &RatioEstimate, extra: &RatioEstimate) -> Self {
        let of_time = |bound| BoundCheck::of(time, bound, TRUSTED_TIME_HALF_WIDTH);
        Self {
            time: of_time(TIME_BOUND),
            time_of_all: of_time(TIME_BOUND_OF_ALL),
            retransmissions: BoundCheck::of(
                extra,
                RETRANSMISSION_BOUND,
                TRUSTED_RETRANSMISSION_HALF_WIDTH,
            ),
        }
    }

    /// The worse of time and retransmissions.
    pub fn worst(&self) -> BoundCheck {
        self.time.max(self.retransmissions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, half_width: Option<f64>) -> RatioEstimate {
        RatioEstimate { value, half_width }
    }

    /// A mean of 1.08 is above 1.05 if its interval is narrow, unsure if it includes 1.05. An
    /// interval that includes everything excuses nothing.
    #[test]
    fn an_interval_decides_if_it_is_narrow() {
        let check = |value, half| BoundCheck::of(&estimate(value, half), 1.05, 0.2);
        assert_eq!(check(1.05, None), BoundCheck::Within);
        assert_eq!(check(1.04, Some(0.5)), BoundCheck::Within);
        assert_eq!(check(1.08, Some(0.02)), BoundCheck::Above);
        assert_eq!(check(1.08, Some(0.03)), BoundCheck::Unsure);
        assert_eq!(check(1.08, Some(0.2)), BoundCheck::Unsure);
        assert_eq!(check(1.08, Some(0.21)), BoundCheck::Above);
        assert_eq!(check(1.08, None), BoundCheck::Above);
    }
}
