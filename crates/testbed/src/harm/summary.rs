//! Counts the cells within their bounds, and judges whether they suffice.

use super::HarmRow;
use super::figures::HarmFigures;
use super::verdict::{BoundCheck, HarmVerdict};
use serde::Serialize;

/// The share of cells that have to be within [`super::TIME_BOUND`] and
/// [`super::RETRANSMISSION_BOUND`].
pub const CELLS_WITHIN: f64 = 0.95;

/// Number of cells within the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HarmSummary {
    /// Cells that were measured.
    pub cells: usize,
    /// Cells whose time and retransmissions are not above their bounds.
    pub within: usize,
    /// Cells among them with a mean above its bound, though not significantly.
    pub unsure: usize,
    /// Cells whose time is above [`super::TIME_BOUND`].
    pub slower: usize,
    /// Cells whose time is above [`super::TIME_BOUND_OF_ALL`].
    pub much_slower: usize,
    /// Cells whose retransmissions are above [`super::RETRANSMISSION_BOUND`].
    pub retransmit: usize,
    /// Cells in which a visit did not complete.
    pub failed: usize,
    /// Cells that this world could not measure.
    pub left_out: usize,
    /// The geometric mean of the ratios of times: cells that are unsure one by one are surer
    /// together.
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
        let failed = rows.iter().filter(|row| row.failed.is_some()).count();
        let enough = within as f64 >= CELLS_WITHIN * cells as f64;
        Self {
            cells,
            within,
            unsure: count(&|verdict| verdict.worst() == BoundCheck::Unsure),
            slower: count(&|verdict| verdict.time == above),
            much_slower,
            retransmit: count(&|verdict| verdict.retransmissions == above),
            failed,
            left_out: rows.len() - cells - failed,
            mean_time_ratio: (cells > 0).then(|| (logs / cells as f64).exp()),
            holds: cells > 0 && enough && much_slower == 0 && failed == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::{RepeatSums, SideSum};
    use super::*;

    fn row(ratio: f64, extra: f64) -> HarmRow {
        let side =
            |seconds, retransmitted| SideSum { visits: 1, seconds, segments: 100.0, retransmitted };
        let both = RepeatSums { stock: side(1.0, 0.0), agent: side(ratio, extra * 100.0) };
        let figures = HarmFigures::of(&[both, both], 1);
        HarmRow { cell: String::new(), figures, left_out: None, failed: None, redone: 0 }
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

    /// Cells that were not measured have a counter of their own, and no measurement is no proof.
    #[test]
    fn what_is_left_out_does_not_hold() {
        let figures = None;
        let left_out = Some("no BBR".to_owned());
        let cell = String::new();
        let missing = HarmRow { cell, figures, left_out, failed: None, redone: 0 };
        let summary = HarmSummary::of(&[missing.clone(), row(1.0, 0.0)]);
        assert_eq!((summary.cells, summary.left_out, summary.holds), (1, 1, true));
        assert!(!HarmSummary::of(std::slice::from_ref(&missing)).holds);
        // A visit that never ends is no gap in the table: the bounds do not hold.
        let failed = Some("not over after 600s".to_owned());
        let summary =
            HarmSummary::of(&[HarmRow { failed, left_out: None, ..missing }, row(1.0, 0.0)]);
        assert_eq!((summary.failed, summary.left_out, summary.holds), (1, 0, false));
    }
}
