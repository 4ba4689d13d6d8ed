//! Connections that retransmit anything, as they are compared: how many times as many of those
//! chosen do so as of the control group. Losses are rare and come in bursts, so the number of
//! losing connections is known far better than the number of their losses.
//!
//! Chance has chosen a part of all connections, with odds `o`. If warm starts have `r` times as
//! many lose, one that loses was chosen with odds `r o`. Each losing connection is therefore a bet
//! on `r` against any `s`, which pays `P(r)/P(s)` by the side on which it is. If the truth is `s`,
//! the wealth of the better is a martingale, and so is the mean wealth of many betters on several
//! `r`. It exceeds `1/alpha` at any time with probability `alpha` at most (J. Ville, 1939; J.
//! Kelly, 1956). No normal approximation is needed.
//!
//! Against `s = 1` it is enough that the lots were drawn by chance, of each connection by itself.
//! Losses may come together in any way, as of one network at one time. Against others it takes that
//! `r` is about the same for all.

use crate::interval::ConfidenceInterval;
use serde::{Deserialize, Serialize};

/// Ratios by the one that is bet against, from which the wealth is divided evenly.
const BETS: [f64; 10] = [1.15, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 7.0, 15.0];
/// Share of an interval's error for its lower end: harm is to be found soon.
const LOWER: f64 = 0.8;
/// Logarithm of the largest ratio that is reported, and of the smallest, below 0.
const LARGEST: f64 = 7.0;
/// Halvings of that to an end of an interval: to a ten-millionth.
const HALVINGS: u32 = 27;
/// Odds at which past stages are kept apart, and logarithms of odds that are the same.
const MAX_ODDS: usize = 12;
const SAME_ODDS: f64 = 0.02;

/// Ratio of the groups' shares of losing connections, with its probability of error.
#[derive(Clone, Debug, PartialEq)]
pub struct LosingRatio {
    stages: Losing,
    alpha: f64,
}

/// Counts of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LosingGroup {
    /// Connections.
    pub closed: u64,
    /// Connections that retransmitted anything.
    pub losing: u64,
}

/// Both groups of one stage, or of several in which chance had the same odds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LosingStage {
    /// Chosen for a warm start.
    pub chosen: LosingGroup,
    /// Control group.
    pub control: LosingGroup,
}

/// All stages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losing(Vec<LosingStage>);

impl LosingGroup {
    /// Adds a connection.
    pub fn add(&mut self, again: u32) {
        self.closed += 1;
        self.losing += u64::from(again > 0);
    }

    const fn join(&mut self, other: Self) {
        self.closed += other.closed;
        self.losing += other.losing;
    }
}

impl LosingStage {
    /// Odds of being chosen rather than of being in the control group.
    fn odds_of_chosen(&self) -> f64 {
        self.chosen.closed as f64 / self.control.closed as f64
    }

    /// Logarithm of the likelihood of a ratio, without terms that do not depend on it.
    fn log_likelihood(&self, ratio: f64) -> f64 {
        let odds = ratio * self.odds_of_chosen();
        let losing = self.chosen.losing + self.control.losing;
        self.chosen.losing as f64 * odds.ln() - losing as f64 * odds.ln_1p()
    }
}

impl Losing {
    /// Adds a stage; ignores it if either side has fewer than `fewest` connections, as in all
    /// comparisons.
    pub fn add(&mut self, stage: &LosingStage, fewest: u64) {
        if stage.chosen.closed.min(stage.control.closed) < fewest.max(1) {
            return;
        }
        let apart =
            |other: &LosingStage| (other.odds_of_chosen() / stage.odds_of_chosen()).ln().abs();
        let is_full = self.0.len() >= MAX_ODDS;
        let nearest = self.0.iter_mut().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        match nearest {
            Some(of) if apart(of) < SAME_ODDS || is_full => {
                of.chosen.join(stage.chosen);
                of.control.join(stage.control);
            }
            _ => self.0.push(*stage),
        }
    }

    /// The ratio with a probability of error; `None` without any stage.
    pub fn ratio(self, alpha: f64) -> Option<LosingRatio> {
        (!self.0.is_empty()).then_some(LosingRatio { stages: self, alpha })
    }

    /// The ratio by Mantel and Haenszel (1959), by which stages that differ do not mix. A zero
    /// counts as half of one.
    pub fn estimate(&self) -> f64 {
        let chosen = self.weighted_losing(|stage| (stage.chosen, stage.control));
        let control = self.weighted_losing(|stage| (stage.control, stage.chosen));
        chosen / control
    }

    /// Connections of one group that lose, of each stage by the part of the other group in it.
    fn weighted_losing(&self, groups: impl Fn(&LosingStage) -> (LosingGroup, LosingGroup)) -> f64 {
        let (mut sum, mut largest) = (0.0, 0.0);
        for (group, other) in self.0.iter().map(groups) {
            let part = other.closed as f64 / (group.closed + other.closed) as f64;
            sum += group.losing as f64 * part;
            largest = f64::max(largest, part);
        }
        if sum > 0.0 { sum } else { largest / 2.0 }
    }

    /// Logarithm of the wealth of equal bets on the ratios that `on` makes of [`BETS`], against a
    /// ratio.
    fn log_wealth(&self, against: f64, on: impl Fn(f64) -> f64) -> f64 {
        let likelihood =
            |ratio: f64| self.0.iter().map(|stage| stage.log_likelihood(ratio)).sum::<f64>();
        let base = likelihood(against);
        let gains = BETS.map(|bet| likelihood(on(bet)) - base);
        let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = gains.iter().map(|gain| (gain - most).exp()).sum();
        most + (sum / BETS.len() as f64).ln()
    }
}

impl LosingRatio {
    /// Whether it surely exceeds a ratio: by chance at no look ever, but with the probability of
    /// error.
    pub fn exceeds(&self, ratio: f64) -> bool {
        self.stages.estimate() > ratio && self.is_above(ratio)
    }

    /// The estimate, and where it surely lies.
    pub fn interval(&self) -> ConfidenceInterval {
        let estimate = self.stages.estimate();
        let middle = estimate.ln().clamp(-LARGEST, LARGEST);
        ConfidenceInterval {
            estimate,
            low: end(-LARGEST, middle, |log| self.is_above(log.exp())).exp(),
            high: end(LARGEST, middle, |log| self.is_below(log.exp())).exp(),
        }
    }

    fn is_above(&self, ratio: f64) -> bool {
        self.stages.log_wealth(ratio, |bet| ratio * bet) >= -(LOWER * self.alpha).ln()
    }

    fn is_below(&self, ratio: f64) -> bool {
        self.stages.log_wealth(ratio, |bet| ratio / bet) >= -((1.0 - LOWER) * self.alpha).ln()
    }
}

/// The last value, from `outer` on towards `inner`, that is excluded; `outer` if none is.
fn end(mut outer: f64, mut inner: f64, is_excluded: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(outer, inner);
        *(if is_excluded(middle) { &mut outer } else { &mut inner }) = middle;
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(chosen: (u64, u64), control: (u64, u64)) -> LosingStage {
        let group = |(closed, losing)| LosingGroup { closed, losing };
        LosingStage { chosen: group(chosen), control: group(control) }
    }

    fn of(stages: &[LosingStage]) -> Losing {
        let mut losing = Losing::default();
        stages.iter().for_each(|stage| losing.add(stage, 100));
        losing
    }

    #[test]
    fn the_wealth_is_that_of_the_bets() {
        // Odds of 1. If the losing connection was chosen, a bet on r against 1 has 2 r / (1 + r) of
        // its stake. If it was of the control group, the bet has 2 / (1 + r). After two and one: 8
        // r² / (1 + r)³.
        let losing = of(&[stage((100, 2), (100, 1))]);
        let by_hand: f64 = BETS.iter().map(|r| 8.0 * r * r / (1.0 + r).powi(3)).sum();
        let by_hand = (by_hand / BETS.len() as f64).ln();
        assert!((losing.log_wealth(1.0, |bet| bet) - by_hand).abs() < 1e-12);
        // A bet on the ratio that it is against wins nothing.
        assert!(losing.log_wealth(1.0, |_| 1.0).abs() < 1e-12);
    }

    #[test]
    fn whoever_knows_the_truth_neither_wins_nor_loses_in_the_mean() {
        // Odds of 3 and a true ratio of 2: chosen with 6/7. Against 2, a bet on 2 b pays (6b /
        // (6b + 1)) / (6/7) or (1 / (6b + 1)) / (1/7), and 6/7 of the one and 1/7 of the other
        // are 1.
        let pays = |chosen: u64, control: u64| {
            of(&[stage((300, chosen), (100, control))]).log_wealth(2.0, |bet| 2.0 * bet).exp()
        };
        assert!((6.0 / 7.0 * pays(1, 0) + 1.0 / 7.0 * pays(0, 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn twice_as_many_is_twice_whatever_the_odds_of_a_stage() {
        // 20 of 1000 beside 10 of 1000, and by night, with other odds and more losses, 200 of 900
        // beside 11 of 100.
        let both = of(&[stage((1000, 20), (1000, 10)), stage((900, 200), (100, 11))]);
        // By hand: (20 · 0.5 + 200 · 0.1) / (10 · 0.5 + 11 · 0.9) = 30 / 14.9.
        assert!((both.estimate() - 30.0 / 14.9).abs() < 1e-12);
        let known = both.clone().ratio(0.05).unwrap();
        let ratio = known.interval();
        assert!(ratio.low < 2.0 && ratio.high > 2.0 && ratio.low > 0.8, "{ratio:?}");
        // The ends are where the wealth equals the bound of the error.
        let at_low = both.log_wealth(ratio.low, |bet| ratio.low * bet);
        assert!((at_low + (LOWER * 0.05).ln()).abs() < 1e-4, "{at_low}");
        assert!(known.exceeds(ratio.low * 0.999) && !known.exceeds(ratio.low * 1.001));
    }

    #[test]
    fn few_say_nothing_and_none_counts_as_half_of_one() {
        assert_eq!(of(&[stage((99, 9), (1000, 0))]).ratio(0.05), None);
        // 5 of 500 by half of one of 500.
        assert!((of(&[stage((500, 5), (500, 0))]).estimate() - 10.0).abs() < 1e-12);
        let nobody = of(&[stage((500, 0), (500, 0))]);
        let ratio = nobody.clone().ratio(0.05).unwrap().interval();
        assert!((nobody.estimate() - 1.0).abs() < 1e-12);
        assert!(ratio.low < 0.001 && ratio.high > 1000.0, "{ratio:?}");
    }

    #[test]
    fn stages_of_the_same_odds_are_one_and_there_are_never_many() {
        let mut losing = of(&[stage((1000, 1), (100, 1)), stage((2000, 1), (200, 1))]);
        assert_eq!(losing.0, [stage((3000, 2), (300, 2))]);
        for n in 1..50 {
            losing.add(&stage((100 * n, 1), (100, 1)), 100);
        }
        assert_eq!(losing.0.len(), MAX_ODDS);
        let closed: u64 = losing.0.iter().map(|stage| stage.control.closed).sum();
        assert_eq!(closed, 300 + 49 * 100);
    }
}
