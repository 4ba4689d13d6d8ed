//! Halves of a set: parameters are tuned on one, and figures come from the other.
//!
//! A cell's half is a hash of its name, so it is the same in every set. A scheme that is tuned on
//! half of the quick set has therefore seen no cell of the other half of the whole matrix. The
//! seeds of a cell derive from its name, too. The hash's seed is the first under which each half
//! has 45 to 55 % of each stratum of each set; the schemes have no part in it.

use netsim::derive_seed;
use serde::Serialize;

/// One half of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Half {
    /// The half for tuning.
    Tune,
    /// The half for figures.
    Check,
}

/// Seed of the hash; see the tests.
const SEED: u64 = 11;

impl Half {
    /// Both halves.
    pub const ALL: [Self; 2] = [Self::Tune, Self::Check];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tune => "tune",
            Self::Check => "check",
        }
    }

    /// The half that the cell of this name is in.
    pub fn of(cell: &str) -> Self {
        Self::half_under(SEED, cell)
    }

    fn half_under(seed: u64, cell: &str) -> Self {
        match derive_seed(seed, &format!("half/{cell}")) & 1 {
            0 => Self::Tune,
            _ => Self::Check,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BoardCell, Set, WeighedCell};
    use super::*;

    /// Cells in which half, and all, by stratum.
    fn tuned(set: Set, seed: u64) -> Vec<(usize, usize)> {
        let strata = set.strata();
        let count = |cells: &[BoardCell]| {
            cells.iter().filter(|cell| Half::half_under(seed, &cell.name()) == Half::Tune).count()
        };
        strata.iter().map(|stratum| (count(&stratum.cells), stratum.cells.len())).collect()
    }

    /// Each half has 45 to 55 % of each stratum of each set, or one cell more or less where that is
    /// less than one.
    fn halves(seed: u64) -> bool {
        let even = |(tuned, all): (usize, usize)| {
            let off = (tuned as f64 - all as f64 / 2.0).abs();
            off <= (all as f64 / 20.0).max(1.0)
        };
        Set::ALL.into_iter().all(|set| tuned(set, seed).into_iter().all(even))
    }

    #[test]
    fn strata_are_halved_evenly_and_the_seed_is_the_first_that_does() {
        let first = (0..10_000).find(|seed| halves(*seed));
        assert_eq!(first, Some(SEED));
    }

    #[test]
    fn halves_are_apart_and_together_all_and_each_stands_for_the_matrix() {
        for set in Set::ALL {
            let [tune, check] = Half::ALL.map(|half| WeighedCell::all(set, Some(half)));
            assert_eq!(tune.len() + check.len(), set.cells().len());
            for half in [&tune, &check] {
                let share: f64 = half.iter().map(|cell| cell.weight).sum();
                assert!((share - 1.0).abs() < 1e-9, "{share}");
            }
            let names = |half: &[WeighedCell]| -> std::collections::BTreeSet<String> {
                half.iter().map(|weighed| weighed.cell.name()).collect()
            };
            assert!(names(&tune).is_disjoint(&names(&check)));
        }
    }
}
