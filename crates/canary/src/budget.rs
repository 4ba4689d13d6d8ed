//! Error budget of an agent: its comparisons share one probability of error. All intervals that it
//! ever shows hold the truth together with a probability of 95 %, under any dependence between them
//! (the shares are added up: Bonferroni). So 5 % bounds the false alarms of the off switch, of all
//! parts, over all time; it bounds the gains that are claimed falsely as well.
//!
//! Half goes to the comparison of all connections, since most depends on it. Each of the six ways
//! to divide them has a twelfth.

use crate::sequence::ConfidenceSequence;

/// Probability that any interval ever misses.
pub const ERROR: f64 = 0.05;
/// Effects on times that are found soonest: a fifth faster or slower.
const TIME_SCALE: f64 = 0.2;
/// Effects on retransmissions that are found soonest: twice or half as much.
const RETRANSMISSION_SCALE: f64 = 0.7;

/// Share of [`ERROR`] for one way to divide the connections.
const DIVISION: f64 = 1.0 / 12.0;

/// Share of [`ERROR`] that a comparison has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorShare(f64);

impl ErrorShare {
    /// Share of the comparison of all connections.
    pub const ALL: Self = Self(1.0 / 2.0);

    /// Returns the share of one of `classes` classes, which have a twelfth in all.
    pub fn of_class(classes: usize) -> Self {
        Self(DIVISION / classes as f64)
    }

    /// Returns the share of the `nth` prefix length that was seen, or network that could be
    /// compared, from 0 on: a half, a sixth, a twelfth, … of a twelfth. However many follow, they
    /// have no more than the twelfth: `1/(1·2) + 1/(2·3) + … = 1`.
    pub fn of_nth(nth: u64) -> Self {
        let n = nth as f64 + 1.0;
        Self(DIVISION / (n * (n + 1.0)))
    }

    /// Returns the probability of error for the ratio of lossy connections: three eighths of the
    /// share.
    pub fn loss_ratio_error(self) -> f64 {
        3.0 / 8.0 * self.0 * ERROR
    }

    /// Returns the intervals of the ratio of times, which have half of the share.
    pub fn times(self) -> ConfidenceSequence {
        ConfidenceSequence { alpha: self.0 / 2.0 * ERROR, scale: TIME_SCALE }
    }

    /// Returns the intervals of the ratio of retransmissions, which have an eighth of the share.
    /// More retransmissions in each lossy connection are a rare effect, and more lossy connections
    /// are found by their number.
    pub fn retransmissions(self) -> ConfidenceSequence {
        ConfidenceSequence { alpha: self.0 / 8.0 * ERROR, scale: RETRANSMISSION_SCALE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::{LOSSES, SIZES, WINDOWS};

    #[test]
    fn all_shares_add_up_to_the_whole() {
        let of_classes = |bounds: usize| vec![ErrorShare::of_class(bounds + 1); bounds + 1];
        let sizes = of_classes(SIZES.len());
        let classes = [of_classes(WINDOWS.len()), of_classes(LOSSES.len()), sizes.clone(), sizes];
        let lengths: Vec<_> = (0..161).map(ErrorShare::of_nth).collect();
        let networks: Vec<_> = (0..10_000).map(ErrorShare::of_nth).collect();
        let all = [vec![ErrorShare::ALL], classes.concat(), lengths, networks].concat();
        let sum: f64 = all
            .iter()
            .map(|share| {
                share.times().alpha + share.loss_ratio_error() + share.retransmissions().alpha
            })
            .sum();
        // There are 33 lengths of IPv4 prefixes and 129 of IPv6: 1/162 of their twelfth is left
        // over at least, and 1/10,001 of the networks.
        assert!(sum <= ERROR && sum > ERROR * (1.0 - DIVISION / 159.0), "{sum}");
    }
}
