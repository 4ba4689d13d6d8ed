//! Lossy connections, which retransmit anything, as they are compared: how many times as many of
//! those chosen do so as of the control group. Losses are rare and come in bursts, so the number of
//! lossy connections is known far better than the number of their losses.
//!
//! Chance has chosen a part of all connections, with odds `o`. If warm starts make `r` times as
//! many lossy, a lossy connection was chosen with odds `r o`. Each lossy connection is therefore a
//! bet on `r` against any `s`, which pays `P(r)/P(s)` by the connection's group. If the truth is
//! `s`, the wealth of the better is a martingale, and so is the mean wealth of many betters on
//! several `r`. It exceeds `1/alpha` at any time with probability `alpha` at most (J. Ville, 1939;
//! J. Kelly, 1956). No normal approximation is needed.
//!
//! Against `s = 1` it is enough that the lots were drawn by chance, of each connection by itself.
//! Losses may come together in any way, as of one network at one time. Against others it takes that
//! `r` is about the same for all.

use crate::interval::ConfidenceInterval;
use serde::{Deserialize, Serialize};

/// Ratios that are bet on, as factors of the ratio that is bet against. The wealth is divided
/// evenly among them.
const BETS: [f64; 10] = [1.15, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 7.0, 15.0];
/// Share of an interval's error for its lower end: harm is to be found soon.
const LOWER: f64 = 0.8;
/// Logarithm of the largest ratio that is reported. The smallest one is its inverse.
const LARGEST: f64 = 7.0;
/// Halvings of the range in which an end of an interval is searched: to a ten-millionth.
const HALVINGS: u32 = 27;
/// Odds at which past stages are kept apart, and logarithms of odds that are the same.
const MAX_ODDS: usize = 12;
const SAME_ODDS: f64 = 0.02;

/// Ratio of the groups' shares of lossy connections, with its probability of error.
#[derive(Clone, Debug, PartialEq)]
pub struct LossyRatio {
    stages: LossyStages,
    alpha: f64,
}

/// Numbers of connections of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossyGroup {
    /// Connections.
    pub closed: u64,
    /// Connections that retransmitted anything.
    #[serde(rename = "losing")]
    pub lossy: u64,
}

/// Both groups of one stage, or of several in which chance had the same odds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossyStage {
    /// Chosen for a warm start.
    pub chosen: LossyGroup,
    /// Control group.
    pub control: LossyGroup,
}

/// Stages of a comparison. Stages with nearly the same odds are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossyStages(Vec<LossyStage>);

impl LossyGroup {
    /// Adds a connection with this number of retransmissions.
    pub fn add(&mut self, retransmissions: u32) {
        self.closed += 1;
        self.lossy += u64::from(retransmissions > 0);
    }

    const fn join(&mut self, other: Self) {
        self.closed += other.closed;
        self.lossy += other.lossy;
    }
}

impl LossyStage {
    /// Returns true if each group has `fewest` connections or more, one at least.
    pub(crate) fn is_counted(&self, fewest: u64) -> bool {
        self.chosen.closed.min(self.control.closed) >= fewest.max(1)
    }

    /// Returns the odds of being chosen rather than of being in the control group.
    fn odds_of_chosen(&self) -> f64 {
        self.chosen.closed as f64 / self.control.closed as f64
    }

    /// Returns the logarithm of the likelihood of a ratio, without terms that do not depend on it.
    fn log_likelihood(&self, ratio: f64) -> f64 {
        let odds = ratio * self.odds_of_chosen();
        let lossy = self.chosen.lossy + self.control.lossy;
        self.chosen.lossy as f64 * odds.ln() - lossy as f64 * odds.ln_1p()
    }
}

impl LossyStages {
    /// Adds a stage. Ignores it if a group has fewer than `fewest` connections, as in all
    /// comparisons. At most `MAX_ODDS` odds are kept apart; further stages join the nearest ones.
    pub fn add(&mut self, stage: &LossyStage, fewest: u64) {
        if !stage.is_counted(fewest) {
            return;
        }
        let apart =
            |other: &LossyStage| (other.odds_of_chosen() / stage.odds_of_chosen()).ln().abs();
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

    /// Returns true if there is a stage, so that there is a ratio.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ratio with a probability of error; `None` without any stage.
    pub fn ratio(self, alpha: f64) -> Option<LossyRatio> {
        (!self.0.is_empty()).then_some(LossyRatio { stages: self, alpha })
    }

    /// Returns the ratio by Mantel and Haenszel (1959), in which stages that differ do not mix. A
    /// group without a lossy connection counts as if it had half of one.
    pub fn estimate(&self) -> f64 {
        let chosen = self.weighted_lossy(|stage| (stage.chosen, stage.control));
        let control = self.weighted_lossy(|stage| (stage.control, stage.chosen));
        chosen / control
    }

    /// Returns the sum over stages: lossy connections of one group, times the share of the other
    /// group in the stage's connections. `groups`: the one group and the other one. Without a lossy
    /// connection, returns half of the largest share.
    fn weighted_lossy(&self, groups: impl Fn(&LossyStage) -> (LossyGroup, LossyGroup)) -> f64 {
        let (mut sum, mut largest) = (0.0, 0.0);
        for (group, other) in self.0.iter().map(groups) {
            let part = other.closed as f64 / (group.closed + other.closed) as f64;
            sum += group.lossy as f64 * part;
            largest = f64::max(largest, part);
        }
        if sum > 0.0 { sum } else { largest / 2.0 }
    }

    /// Returns the logarithm of the wealth of equal bets against the ratio `against`. `on` turns a
    /// factor of [`BETS`] into the ratio that is bet on.
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

impl LossyRatio {
    /// Returns true if the ratio significantly exceeds `ratio`. The probability that this is ever
    /// false, at any look, is the probability of error at most.
    pub fn exceeds(&self, ratio: f64) -> bool {
        self.stages.estimate() > ratio && self.is_above(ratio)
    }

    /// Returns the estimate with its confidence interval, which holds at all looks.
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

/// Returns the last excluded value on the way from `outer` to `inner`; `outer` if none is excluded.
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

    fn stage(chosen: (u64, u64), control: (u64, u64)) -> LossyStage {
        let group = |(closed, lossy)| LossyGroup { closed, lossy };
        LossyStage { chosen: group(chosen), control: group(control) }
    }

    fn of(stages: &[LossyStage]) -> LossyStages {
        let mut lossy = LossyStages::default();
        stages.iter().for_each(|stage| lossy.add(stage, 100));
        lossy
    }

    #[test]
    fn the_wealth_is_that_of_the_bets() {
        // Odds of 1. If the lossy connection was chosen, a bet on r against 1 has 2 r / (1 + r) of
        // its stake. If it was of the control group, the bet has 2 / (1 + r). After two and one: 8
        // r² / (1 + r)³.
        let lossy = of(&[stage((100, 2), (100, 1))]);
        let by_hand: f64 = BETS.iter().map(|r| 8.0 * r * r / (1.0 + r).powi(3)).sum();
        let by_hand = (by_hand / BETS.len() as f64).ln();
        assert!((lossy.log_wealth(1.0, |bet| bet) - by_hand).abs() < 1e-12);
        // A bet on the ratio that it is against wins nothing.
        assert!(lossy.log_wealth(1.0, |_| 1.0).abs() < 1e-12);
    }

    #[test]
    fn whoever_knows_the_truth_neither_wins_nor_loses_in_the_mean() {
        // Odds of 3 and a true ratio of 2: chosen with 6/7. Against 2, a bet on 2 b pays (6b / (6b
        // + 1)) / (6/7) or (1 / (6b + 1)) / (1/7), and 6/7 of the one and 1/7 of the other are 1.
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
        let mut lossy = of(&[stage((1000, 1), (100, 1)), stage((2000, 1), (200, 1))]);
        assert_eq!(lossy.0, [stage((3000, 2), (300, 2))]);
        for n in 1..50 {
            lossy.add(&stage((100 * n, 1), (100, 1)), 100);
        }
        assert_eq!(lossy.0.len(), MAX_ODDS);
        let closed: u64 = lossy.0.iter().map(|stage| stage.control.closed).sum();
        assert_eq!(closed, 300 + 49 * 100);
    }
}
