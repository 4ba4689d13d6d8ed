//! Exits of the search over the share of the capacity that is available.

use crate::papers::curve::{CurvePoint, Plot, PlotAxis};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::sample::Measured;
use crate::papers::unit::{PERCENT, PLAIN};
use arith::paced_start::{Search, TrainVerdict, WHOLE, ack_gap};

/// The gap of the capacity: large, so that rounding is small.
const CAPACITY_GAP: u64 = 1_000_000;
/// Steps of alpha.
const STEP: u64 = WHOLE / 10_000;

/// Outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exit {
    /// Available share.
    alpha: f64,
    /// Gap, in gaps of the capacity.
    gap: f64,
    /// The pair included.
    trains: u32,
}

impl Exit {
    /// Runs the search of Paced Start against a path with this available rate, until the search
    /// ends.
    fn at(available: u64) -> Self {
        let mut search = Search::new(CAPACITY_GAP, 0);
        let mut trains = 1;
        loop {
            trains += 1;
            let verdict = search.on_train(ack_gap(CAPACITY_GAP, search.gap(), available));
            if let TrainVerdict::Exit { gap } = verdict {
                let alpha = available as f64 / WHOLE as f64;
                return Self { alpha, gap: gap as f64 / CAPACITY_GAP as f64, trains };
            }
        }
    }

    /// Returns its final rate, divided by the available rate.
    fn overshoot(self) -> f64 {
        1.0 / (self.alpha * self.gap)
    }
}

/// A row of Table 2: up to which alpha, the gap, and the overshoot between which.
struct Row {
    below: f64,
    gap: fn(f64) -> f64,
    overshoot: (f64, f64),
}

/// Returns q of the table's last rows.
fn q_of_alpha(alpha: f64) -> f64 {
    1.0 + 2.0 * (1.0 - alpha) * (3.0 - 2.0 * alpha)
}

/// Table 2 from the least alpha on; the borders of the first two are the text's 0.08 and 0.19.
const TABLE: [Row; 5] = [
    Row {
        below: 0.08,
        gap: |a| 2.0 * (1.0 + 2.0 * (1.0 - a) * q_of_alpha(a)),
        overshoot: (0.5, f64::INFINITY),
    },
    Row { below: 0.19, gap: q_of_alpha, overshoot: (1.0, 2.0) },
    Row { below: 0.5, gap: |a| 3.0 - 2.0 * a, overshoot: (1.0, 2.0) },
    Row { below: 0.75, gap: |a| 7.0 / 3.0 - 4.0 * a / 3.0, overshoot: (1.0, 1.2) },
    Row { below: 1.0, gap: |_| 8.0 / 7.0, overshoot: (0.9, 1.2) },
];

/// Returns true if a search ends with a row's gap, within 0.1 %.
fn has_gap(exit: Exit, row: &Row) -> bool {
    ((row.gap)(exit.alpha) / exit.gap - 1.0).abs() < 1e-3
}

/// Returns the exits, ascending by alpha, with their rows: one has the row before it as long as it
/// has that row's gap, then the next row. Exits without a row are left out.
fn by_row(exits: &[Exit]) -> Vec<(usize, Exit)> {
    let mut row = 0;
    let mut found = Vec::new();
    for exit in exits {
        if let Some(next) = (row..TABLE.len()).find(|row| has_gap(*exit, &TABLE[*row])) {
            row = next;
            found.push((row, *exit));
        }
    }
    found
}

/// Returns the findings on claim PS-1.
pub(super) fn ps_1() -> Findings {
    let exits: Vec<Exit> = (1..WHOLE / STEP).map(|step| Exit::at(step * STEP)).collect();
    let mut findings = Findings::default();
    let rows = by_row(&exits);
    let outside = exits.len() - rows.len();
    let line = FigureLine::new("exits whose gap is none of the table's", PLAIN);
    findings.line(line.ours(Measured::exact(outside as f64)).must(ClaimInterval::at_most(0.0)));
    for (number, row) in TABLE.iter().enumerate() {
        let of_row = rows.iter().filter(|(row, _)| *row == number);
        let of_row: Vec<Exit> = of_row.map(|(_, exit)| *exit).collect();
        let border = of_row.last().map_or(f64::NAN, |exit| exit.alpha);
        let (case, digit) = (TABLE.len() - number, 0.005);
        let label = format!("case {case}: alpha up to");
        let within = ClaimInterval::between(row.below - digit, row.below + digit);
        findings.line(FigureLine::new(label, PLAIN).ours(Measured::exact(border)).must(within));
        overshoots(&mut findings, case, &of_row, row);
    }
    let trains = exits.iter().map(|exit| exit.trains);
    let (least, most) = (trains.clone().min().unwrap_or(0), trains.max().unwrap_or(0));
    for (which, trains) in [("least", least), ("most", most)] {
        let line =
            FigureLine::new(format!("{which} trains"), PLAIN).ours(Measured::exact(trains.into()));
        findings.line(line.also(ClaimInterval::between(3.0, 4.0)));
    }
    let above = exits.iter().filter(|exit| exit.alpha > 0.08);
    let worst = above.map(|exit| exit.overshoot().max(1.0 / exit.overshoot())).fold(0.0, f64::max);
    let line = FigureLine::new("factor from what is available, above alpha 0.08", PLAIN);
    findings.line(line.ours(Measured::exact(worst)).also(ClaimInterval::at_most(2.0)));
    findings.plot(figure_6(&exits));
    findings
}

/// Adds the overshoots of a row that are nearest to its bounds, to the table's digit.
fn overshoots(findings: &mut Findings, case: usize, exits: &[Exit], row: &Row) {
    let overshoots = exits.iter().map(|exit| exit.overshoot());
    let rounded = |value: f64| Measured::exact((10.0 * value).round() / 10.0);
    let least = rounded(overshoots.clone().fold(f64::INFINITY, f64::min));
    let most = rounded(overshoots.fold(0.0, f64::max));
    let (low, high) = row.overshoot;
    let line = |which, ours| {
        FigureLine::new(format!("case {case}: rate over available, {which}"), PLAIN).ours(ours)
    };
    findings.line(line("least", least).must(ClaimInterval::at_least(low)));
    findings.line(line("most", most).must(ClaimInterval::at_most(high)));
}

/// Plots Figure 6: the difference of the gap from the ideal one, in microseconds of a packet of
/// 1000 bytes at 100 Mbit/s.
fn figure_6(exits: &[Exit]) -> Plot {
    const GAP: f64 = 80.0;
    let point = |exit: &Exit| CurvePoint {
        x: 100.0 * exit.alpha,
        y: Measured::exact(GAP * (exit.gap - 1.0 / exit.alpha)),
    };
    let points = exits.iter().filter(|exit| exit.alpha >= 0.02).map(point).collect();
    let mut plot = Plot::new(
        "Gap of Paced Start less the ideal gap (Figure 6)",
        PlotAxis::new("available", PERCENT),
        PlotAxis::new("difference, microseconds", PLAIN),
    );
    plot.smooth = true;
    plot.ours("100 Mbit/s, 1000 bytes", points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_by_hand() {
        // alpha 0.6: a train at 2 passes (1 + 0.4 * 2 = 1.8), at 4/3 it arrives 1 + 0.4 * 4/3
        // apart.
        let exit = Exit::at(600_000);
        assert!((exit.gap - (1.0 + 0.4 * 4.0 / 3.0)).abs() < 1e-5, "{exit:?}");
        assert_eq!(exit.trains, 3);
        // alpha 0.1: at 2 it arrives 2.8 apart, at 5.6 it does 6.04, at 12.08 it passes (11.872).
        let exit = Exit::at(100_000);
        assert!((exit.gap - 6.04).abs() < 1e-5, "{exit:?}");
        assert_eq!(exit.trains, 4);
        assert!(has_gap(exit, &TABLE[1]));
    }
}
