//! What the cells of a set stand for: strata, each with its share of the matrix.
//!
//! What a cell costs to run is what its background sends, so its rate; without a background it costs next to nothing.
//! The quick set takes many of the cheap cells and few of the costly ones, and every figure weighs a cell by the share of
//! the matrix that it stands for. So it is as sure as the sample, which takes two and a half times as long.

use super::cells::{
    BackgroundLoad, MatrixCell, MatrixFactor, Place, SAMPLE_CELLS, Set, all, balanced, sample,
};

/// Cells that stand for a part of the matrix, each for as much of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stratum {
    pub(super) cells: Vec<MatrixCell>,
    /// The part, of 1.
    pub(super) share: f64,
}

/// Cells of the quick set without a background, and with one by rate, the slowest first. Neyman's allocation among
/// strata of equal spread takes cells by size over the root of the cost: a background of four to seven times the rate
/// costs as much more, so each stratum has half of the cells of the one before.
pub(super) const QUICK_IDLE: usize = 200;
/// See [`QUICK_IDLE`].
pub(super) const QUICK_BUSY: [usize; 4] = [100, 50, 25, 12];

impl Set {
    /// The cells by stratum.
    pub(super) fn strata(self) -> Vec<Stratum> {
        match self {
            Self::Quick => quick(),
            Self::Sample => vec![Stratum { cells: sample(SAMPLE_CELLS), share: 1.0 }],
            Self::All => {
                vec![Stratum { cells: all().into_iter().map(MatrixCell::at).collect(), share: 1.0 }]
            }
        }
    }

    /// The share of the matrix that each cell stands for, in the order of [`Set::cells`]; together 1.
    pub fn weights(self) -> Vec<f64> {
        let weights = |stratum: Stratum| {
            let count = stratum.cells.len();
            std::iter::repeat_n(stratum.share / count as f64, count)
        };
        self.strata().into_iter().flat_map(weights).collect()
    }
}

fn quick() -> Vec<Stratum> {
    let (idle, busy): (Vec<Place>, Vec<Place>) =
        all().into_iter().partition(|place| MatrixCell::at(*place).load == BackgroundLoad::Idle);
    let rate = |place: &Place| place[MatrixFactor::Rate as usize];
    let of_rate = |at| busy.iter().copied().filter(|place| rate(place) == at).collect();
    let busy = QUICK_BUSY.iter().enumerate().map(|(at, count)| stratum(of_rate(at), *count));
    [stratum(idle, QUICK_IDLE)].into_iter().chain(busy).collect()
}

/// So many cells that stand for all of these places.
fn stratum(places: Vec<Place>, count: usize) -> Stratum {
    let share = places.len() as f64 / all().len() as f64;
    Stratum { cells: balanced(places, count), share }
}
