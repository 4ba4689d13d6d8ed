//! Exits of Paced Start's search, over the share `alpha` of the capacity that is available (its
//! Table 2 and Figure 6). They come from the closed forms, and from stepping the search through the
//! model behind them.
//!
//! Gaps are in units of `g_B`, the gap of the capacity. A train with gap `g` that is too fast
//! arrives `F(g) = 1 + (1 − alpha) g` apart; it is if `F(g) > g`.

use arith::paced_start::{Search, TrainVerdict, WHOLE, ack_gap};
use serde::Serialize;

/// Exit of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Exit {
    /// Share of the capacity that is available.
    pub alpha: f64,
    /// Case of Table 2, from 1.
    pub case: u32,
    /// Gap at the end by the closed form, in gaps of the capacity.
    pub gap: f64,
    /// Gap from the search in integers, stepped through the model.
    pub gap_by_search: f64,
    /// The gap that would be right: `1 / alpha`.
    pub ideal: f64,
    /// Rate at the end over the available rate.
    pub rate_over_available: f64,
    /// Trains sent, the pair included.
    pub trains: u32,
}

/// A line of Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GapCase {
    /// Its number.
    pub case: u32,
    /// Closed form of its gap, in words.
    pub form: &'static str,
    /// It holds from here …
    pub alpha_from: f64,
    /// … to here.
    pub alpha_to: f64,
    /// Trains sent, the pair included.
    pub trains: u32,
    /// Least rate at the end over the available rate.
    pub rate_from: f64,
    /// Greatest; `None` if it is unbounded.
    pub rate_to: Option<f64>,
}

/// The closed forms of Table 2, case by case.
const FORMS: [&str; 5] = [
    "8/7",
    "F(4/3) = 7/3 - 4/3 alpha",
    "G = F(2) = 3 - 2 alpha",
    "G^2 = 1 + 2 (1-alpha) (3 - 2 alpha)",
    "2 G^3 = 2 (1 + 2 (1-alpha) (1 + 2 (1-alpha) (3 - 2 alpha)))",
];

/// Gap at which a train with gap `gap` arrives if it is too fast (§3.2.3).
const fn queued(alpha: f64, gap: f64) -> f64 {
    1.0 + (1.0 - alpha) * gap
}

/// Case and gap of Table 2: down the decision tree of Figure 5.
fn closed_form(alpha: f64) -> (u32, f64) {
    let first = queued(alpha, 2.0);
    if first <= 2.0 {
        let quarter = queued(alpha, 4.0 / 3.0);
        return if quarter <= 4.0 / 3.0 { (1, 8.0 / 7.0) } else { (2, quarter) };
    }
    let second = queued(alpha, 2.0 * first);
    if second <= 2.0 * first {
        return (3, first);
    }
    let third = queued(alpha, 2.0 * second);
    if third <= 2.0 * second { (4, second) } else { (5, 2.0 * third) }
}

/// Trains of a case, the pair included.
const fn trains(case: u32) -> u32 {
    if case <= 3 { 3 } else { 4 }
}

/// Exit of the search if a share `alpha` is available; between 0, which has no ideal, and 1.
pub fn exit_at(alpha: f64) -> Exit {
    let (case, gap) = closed_form(alpha);
    let (steps, gap_by_search) = search_gap(alpha);
    debug_assert_eq!(steps + 1, trains(case), "alpha {alpha}");
    Exit {
        alpha,
        case,
        gap,
        gap_by_search,
        ideal: 1.0 / alpha,
        rate_over_available: 1.0 / (alpha * gap),
        trains: steps + 1,
    }
}

/// Trains after the pair, and the gap at the end, by the search.
fn search_gap(alpha: f64) -> (u32, f64) {
    /// A gap of the capacity in the search's unit: a millionth of it is of no account.
    const UNIT: u64 = 12_000_000;
    let available = (alpha * WHOLE as f64) as u64;
    let mut search = Search::new(UNIT, 0);
    let mut trains = 0;
    loop {
        trains += 1;
        let arrived = ack_gap(UNIT, search.gap(), available);
        if let TrainVerdict::Exit { gap } = search.on_train(arrived) {
            return (trains, gap as f64 / UNIT as f64);
        }
    }
}

/// Exits at `steps` shares of equal distance, the last of them 1.
pub fn exits(steps: u32) -> Vec<Exit> {
    (1..=steps).map(|n| exit_at(f64::from(n) / f64::from(steps))).collect()
}

/// Table 2, its borders found in the decision tree itself.
pub fn cases() -> Vec<GapCase> {
    let mut cases = Vec::new();
    let mut upper = 1.0;
    for case in 1..=5 {
        let lower = if case == 5 { 0.0 } else { border_below(case) };
        cases.push(line(case, lower, upper));
        upper = lower;
    }
    cases
}

/// The least `alpha` of a case, by bisection to the last bit: the number of the case decreases as
/// `alpha` rises.
fn border_below(case: u32) -> f64 {
    let (mut outside, mut inside) = (0.0, 1.0);
    loop {
        let middle = f64::midpoint(outside, inside);
        if middle <= outside || middle >= inside {
            return inside;
        }
        if closed_form(middle).0 <= case { inside = middle } else { outside = middle }
    }
}

/// A case within its borders. Rates are extreme at a border or where the rate's slope changes sign,
/// which no closed form spares: a fine grid does.
fn line(case: u32, from: f64, to: f64) -> GapCase {
    const GRID: u32 = 4096;
    let place = |n: u32| from + (to - from) * f64::from(n) / f64::from(GRID);
    let rates: Vec<f64> =
        (1..GRID).map(place).map(|alpha| 1.0 / (alpha * closed_form(alpha).1)).collect();
    GapCase {
        case,
        form: FORMS[case as usize - 1],
        alpha_from: from,
        alpha_to: to,
        trains: trains(case),
        rate_from: rates.iter().copied().fold(f64::INFINITY, f64::min),
        rate_to: (from > 0.0).then(|| rates.iter().copied().fold(0.0, f64::max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders_are_those_of_table_2() {
        // The first two are 3/4 and 1/2 by the probes' rates. (3 - sqrt 5) / 4 solves 4 a^2 - 6 a +
        // 1 = 0, the paper's 0.19. The paper's 0.08 is where 1 = 2 alpha (1 + 2 (1 - alpha) (3 - 2
        // alpha)).
        let cases = cases();
        let borders: Vec<f64> = cases.iter().map(|case| case.alpha_from).collect();
        assert!((borders[0] - 0.75).abs() < 1e-12 && (borders[1] - 0.5).abs() < 1e-12);
        assert!((borders[2] - (3.0 - 5f64.sqrt()) / 4.0).abs() < 1e-12, "{borders:?}");
        let a = borders[3];
        assert!((2.0 * a * (1.0 + 2.0 * (1.0 - a) * (3.0 - 2.0 * a)) - 1.0).abs() < 1e-9);
        assert!((a - 0.08).abs() < 0.005 && borders[4] == 0.0);
    }

    #[test]
    fn the_rates_are_those_of_table_2() {
        // Its last column, to the digit it has: (0.9, 1.2), (1.0, 1.2), (1.0, 2.0), (1.0, 2.0),
        // (0.5, ∞).
        let rounded = |rate: f64| (rate * 10.0).round() / 10.0;
        let rows = cases();
        let rates: Vec<_> =
            rows.iter().map(|c| (rounded(c.rate_from), c.rate_to.map(rounded))).collect();
        let some = Some;
        assert_eq!(
            rates,
            [(0.9, some(1.2)), (1.0, some(1.2)), (1.0, some(2.0)), (1.0, some(2.0)), (0.5, None)]
        );
        assert_eq!(rows.iter().map(|c| c.trains).collect::<Vec<_>>(), [3, 3, 3, 4, 4]);
    }

    #[test]
    fn the_closed_forms_are_those_of_table_2() {
        for n in 1..1000 {
            let alpha = f64::from(n) / 1000.0;
            let exit = exit_at(alpha);
            let a = alpha;
            let written = match exit.case {
                1 => 8.0 / 7.0,
                2 => 7.0 / 3.0 - 4.0 * a / 3.0,
                3 => 3.0 - 2.0 * a,
                4 => 1.0 + 2.0 * (1.0 - a) * (3.0 - 2.0 * a),
                _ => 2.0 * (1.0 + 2.0 * (1.0 - a) * (1.0 + (1.0 - a) * 2.0 * (3.0 - 2.0 * a))),
            };
            assert!((exit.gap - written).abs() < 1e-12, "{exit:?}");
        }
    }

    #[test]
    fn stepping_the_search_ends_where_the_closed_form_does() {
        for exit in exits(997) {
            assert!((exit.gap - exit.gap_by_search).abs() < 2e-4, "{exit:?}");
        }
    }
}
