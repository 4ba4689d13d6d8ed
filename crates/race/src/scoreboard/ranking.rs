//! Whether two boards rank schemes alike, such as the quick set's and the whole matrix's.

use super::score::Board;
use super::set::Set;
use super::statistics::MeanBounds;
use serde::Deserialize;

/// The ranking of a board, as far as its JSON is read for it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Ranking {
    /// The set of cells.
    pub set: Set,
    /// The schemes, in any order.
    pub schemes: Vec<Ranked>,
}

/// The score by which a scheme is ranked.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Ranked {
    /// The scheme.
    pub name: String,
    /// Equals [`TimeScore::over_linux`](super::TimeScore::over_linux).
    pub over_linux: f64,
    /// Equals [`TimeScore::over_linux_interval`](super::TimeScore::over_linux_interval).
    pub over_linux_interval: MeanBounds,
}

/// Agreement of two boards in ranking the schemes that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct RankAgreement {
    /// Pairs of schemes.
    pub pairs: usize,
    /// Kendall's tau: the share of pairs in the same order, less that of pairs in the other; 1 for
    /// equal rankings. `NaN` without a pair.
    pub tau: f64,
    /// The pairs in the other order.
    pub swapped: Vec<SwappedPair>,
}

/// Two schemes that boards rank differently.
#[derive(Clone, Debug, PartialEq)]
pub struct SwappedPair {
    /// The faster one on the first board, then the slower one.
    pub names: [String; 2],
    /// Time of the former over the latter's: on the first board below 1, on the second above.
    pub ratios: [f64; 2],
    /// Whether the two intervals of a board have nothing in common, by board: it is sure of its
    /// order.
    pub is_sure: [bool; 2],
}

impl From<&Board> for Ranking {
    fn from(board: &Board) -> Self {
        let ranked = |score: &super::Score| Ranked {
            name: score.name.clone(),
            over_linux: score.time.over_linux,
            over_linux_interval: score.time.over_linux_interval,
        };
        Self { set: board.set, schemes: board.schemes.iter().map(ranked).collect() }
    }
}

impl RankAgreement {
    /// Computes the agreement over the schemes of both.
    pub fn of(first: &Ranking, second: &Ranking) -> Self {
        let beside = |one: &Ranked| second.schemes.iter().find(|other| other.name == one.name);
        let mut both: Vec<[&Ranked; 2]> =
            first.schemes.iter().filter_map(|one| Some([one, beside(one)?])).collect();
        both.sort_by(|a, b| a[0].over_linux.total_cmp(&b[0].over_linux));
        let mut order = 0;
        let mut swapped = Vec::new();
        for (at, slower) in both.iter().enumerate() {
            for faster in &both[..at] {
                let sign = |board: usize| sign(faster[board].over_linux, slower[board].over_linux);
                order += sign(0) * sign(1);
                if sign(0) * sign(1) < 0 {
                    swapped.push(SwappedPair::of(*faster, *slower));
                }
            }
        }
        let pairs = both.len() * both.len().saturating_sub(1) / 2;
        Self { pairs, tau: f64::from(order) / pairs as f64, swapped }
    }
}

/// −1 if `a` is less, 1 if it is more.
fn sign(a: f64, b: f64) -> i32 {
    i32::from(a > b) - i32::from(a < b)
}

impl SwappedPair {
    fn of(faster: [&Ranked; 2], slower: [&Ranked; 2]) -> Self {
        Self {
            names: [&faster[0].name, &slower[0].name].map(String::clone),
            ratios: [0, 1].map(|board| faster[board].over_linux / slower[board].over_linux),
            is_sure: [0, 1].map(|board: usize| {
                let interval = faster[board].over_linux_interval;
                interval.is_apart_from(slower[board].over_linux_interval)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(schemes: &[(&str, f64)]) -> Ranking {
        let ranked = |(name, over_linux): &(&str, f64)| Ranked {
            name: (*name).to_owned(),
            over_linux: *over_linux,
            over_linux_interval: MeanBounds { low: over_linux - 0.1, high: over_linux + 0.1 },
        };
        Ranking { set: Set::All, schemes: schemes.iter().map(ranked).collect() }
    }

    /// The schemes a, b, c and d make six pairs; b and c are swapped: (5 − 1) / 6. The first board
    /// has 1.0 to 1.2 and 1.3 to 1.5, which are apart, the second 1.2 to 1.4 and 1.15 to 1.35.
    #[test]
    fn kendalls_tau_and_the_swapped_pair_by_hand() {
        let first = ranking(&[("a", 0.5), ("c", 1.4), ("b", 1.1), ("d", 2.0), ("alone", 9.0)]);
        let second = ranking(&[("a", 0.6), ("b", 1.3), ("c", 1.25), ("d", 1.9)]);
        let found = RankAgreement::of(&first, &second);
        assert_eq!(found.pairs, 6);
        assert!((found.tau - 4.0 / 6.0).abs() < 1e-12);
        let [pair] = &found.swapped[..] else { panic!("{found:?}") };
        assert_eq!(pair.names, ["b", "c"]);
        assert_eq!(pair.is_sure, [true, false]);
        assert!((pair.ratios[1] - 1.04).abs() < 1e-12 && pair.ratios[0] < 1.0);
    }

    #[test]
    fn equal_and_opposite_rankings_are_the_ends() {
        let first = ranking(&[("a", 1.0), ("b", 2.0), ("c", 3.0)]);
        assert_eq!(RankAgreement::of(&first, &first).tau, 1.0);
        let last = ranking(&[("a", 3.0), ("b", 2.0), ("c", 1.0)]);
        let found = RankAgreement::of(&first, &last);
        assert_eq!((found.tau, found.swapped.len()), (-1.0, 3));
        // Equal figures are in neither order.
        let tied = ranking(&[("a", 1.0), ("b", 1.0), ("c", 3.0)]);
        assert!((RankAgreement::of(&first, &tied).tau - 2.0 / 3.0).abs() < 1e-12);
        assert!(RankAgreement::of(&first, &ranking(&[])).tau.is_nan());
    }
}
