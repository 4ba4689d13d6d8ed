//! The bounds, and what is within them.

use super::HarmRow;
use super::estimate::RatioEstimate;
use super::figures::HarmFigures;
use serde::Serialize;

/// The agent's mean time over stock's, at most.
pub const TIME_BOUND: f64 = 1.05;
/// The same in every cell, without exception.
pub const TIME_BOUND_OF_ALL: f64 = 1.15;
/// Retransmissions that the agent may add, as a share of the segments that stock sends.
pub const RETRANSMISSION_BOUND: f64 = 0.02;
/// The share of cells that have to be within [`TIME_BOUND`] and [`RETRANSMISSION_BOUND`].
pub const CELLS_WITHIN: f64 = 0.95;
/// A wider interval of the time ratio excuses nothing: the mean alone decides then.
const TRUSTED_TIME_HALF_WIDTH: f64 = 0.2;
/// The same for retransmissions.
const TRUSTED_RETRANSMISSION_HALF_WIDTH: f64 = 0.04;

/// How an estimate compares with its bound.
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
    fn of(estimate: &RatioEstimate, (bound, trusted): (f64, f64)) -> Self {
        if estimate.value <= bound {
            return Self::Within;
        }
        let half_width = estimate.half_width.filter(|half| *half <= trusted);
        match half_width {
            Some(half) if estimate.value - half <= bound => Self::Unsure,
            _ => Self::Above,
        }
    }
}

/// What a cell's figures mean.
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
        let of_time = |bound| BoundCheck::of(time, (bound, TRUSTED_TIME_HALF_WIDTH));
        let of_extra = (RETRANSMISSION_BOUND, TRUSTED_RETRANSMISSION_HALF_WIDTH);
        Self {
            time: of_time(TIME_BOUND),
            time_of_all: of_time(TIME_BOUND_OF_ALL),
            retransmissions: BoundCheck::of(extra, of_extra),
        }
    }

    /// The worse of time and retransmissions.
    pub fn worst(&self) -> BoundCheck {
        self.time.max(self.retransmissions)
    }
}

/// How many cells are within the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HarmSummary {
    /// Cells that were measured.
    pub cells: usize,
    /// Cells whose time and retransmissions are not above their bounds.
    pub within: usize,
    /// Those of them of which one mean is above its bound, but not surely.
    pub unsure: usize,
    /// Cells whose time is above [`TIME_BOUND`].
    pub slower: usize,
    /// Cells whose time is above [`TIME_BOUND_OF_ALL`].
    pub much_slower: usize,
    /// Cells whose retransmissions are above [`RETRANSMISSION_BOUND`].
    pub retransmit: usize,
    /// Cells that this world could not measure.
    pub left_out: usize,
    /// The geometric mean of the ratios of times: cells that are unsure one by one are surer together.
    pub mean_time_ratio: Option<f64>,
    /// The bounds hold.
    pub holds: bool,
}

impl HarmSummary {
    pub(super) fn of(rows: &[HarmRow]) -> Self {
        let figures: Vec<&HarmFigures> =
            rows.iter().filter_map(|row| row.figures.as_ref()).collect();
        let verdicts: Vec<HarmVerdict> = figures.iter().map(|of| of.verdict).collect();
        let logs: f64 = figures.iter().map(|of| of.time_ratio.value.ln()).sum();
        let count = |is: &dyn Fn(&HarmVerdict) -> bool| verdicts.iter().filter(|v| is(v)).count();
        let (cells, above) = (verdicts.len(), BoundCheck::Above);
        let within = count(&|verdict| verdict.worst() != above);
        let much_slower = count(&|verdict| verdict.time_of_all == above);
        let enough = within as f64 >= CELLS_WITHIN * cells as f64;
        Self {
            cells,
            within,
            unsure: count(&|verdict| verdict.worst() == BoundCheck::Unsure),
            slower: count(&|verdict| verdict.time == above),
            much_slower,
            retransmit: count(&|verdict| verdict.retransmissions == above),
            left_out: rows.len() - cells,
            mean_time_ratio: (cells > 0).then(|| (logs / cells as f64).exp()),
            holds: cells > 0 && enough && much_slower == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::{RepeatSums, SideSum};
    use super::*;

    fn estimate(value: f64, half_width: Option<f64>) -> RatioEstimate {
        RatioEstimate { value, half_width }
    }

    /// A mean of 1.08 is above 1.05 if its interval is narrow, unsure if it includes 1.05. An interval that
    /// includes everything excuses nothing.
    #[test]
    fn an_interval_decides_if_it_is_narrow() {
        let check = |value, half| BoundCheck::of(&estimate(value, half), (1.05, 0.2));
        assert_eq!(check(1.05, None), BoundCheck::Within);
        assert_eq!(check(1.04, Some(0.5)), BoundCheck::Within);
        assert_eq!(check(1.08, Some(0.02)), BoundCheck::Above);
        assert_eq!(check(1.08, Some(0.03)), BoundCheck::Unsure);
        assert_eq!(check(1.08, Some(0.2)), BoundCheck::Unsure);
        assert_eq!(check(1.08, Some(0.21)), BoundCheck::Above);
        assert_eq!(check(1.08, None), BoundCheck::Above);
    }

    fn row(ratio: f64, extra: f64) -> HarmRow {
        let side =
            |seconds, retransmitted| SideSum { visits: 1, seconds, segments: 100.0, retransmitted };
        let both = RepeatSums { stock: side(1.0, 0.0), agent: side(ratio, extra * 100.0) };
        let figures = HarmFigures::of(&[both, both], 1);
        HarmRow { cell: String::new(), figures, left_out: None, redone: 0 }
    }

    /// One of twenty cells may be above the bound, none above 1.15.
    #[test]
    fn the_bounds_hold_for_nineteen_of_twenty() {
        let summary = |bad: &[HarmRow]| {
            let good = std::iter::repeat_n(row(0.9, 0.0), 20 - bad.len());
            HarmSummary::of(&good.chain(bad.iter().cloned()).collect::<Vec<_>>())
        };
        assert!(summary(&[]).holds && summary(&[row(1.1, 0.0)]).holds);
        assert!(summary(&[row(0.8, 0.03)]).holds);
        let two = summary(&[row(1.1, 0.0), row(0.8, 0.03)]);
        assert!(!two.holds);
        assert_eq!((two.within, two.slower, two.retransmit), (18, 1, 1));
        let one = summary(&[row(1.2, 0.0)]);
        assert!(!one.holds);
        assert_eq!((one.within, one.slower, one.much_slower), (19, 1, 1));
        // Nineteen times 0.9 and once 1.2.
        let mean = one.mean_time_ratio.expect("cells");
        assert!((mean - (0.9_f64.powi(19) * 1.2).powf(0.05)).abs() < 1e-9, "{mean}");
    }

    /// Cells that were not measured are counted apart, and nothing measured is nothing shown.
    #[test]
    fn what_is_left_out_does_not_hold() {
        let figures = None;
        let left_out = Some("no BBR".to_owned());
        let missing = HarmRow { cell: String::new(), figures, left_out, redone: 0 };
        let summary = HarmSummary::of(&[missing.clone(), row(1.0, 0.0)]);
        assert_eq!((summary.cells, summary.left_out, summary.holds), (1, 1, true));
        assert!(!HarmSummary::of(&[missing]).holds);
    }
}
