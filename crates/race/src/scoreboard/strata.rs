//! Weights of the cells of a set: strata, each with its share of the matrix.
//!
//! The cost of a cell depends on the data that its background sends, so on the rate; without a
//! background a cell costs next to nothing. The quick set takes many of the cheap cells and few of
//! the costly ones. Every figure weighs a cell by its share of the matrix. So the quick set is as
//! precise as the sample, which takes two and a half times as long.

use super::cell_setup::BackgroundLoad;
use super::cells::{
    CellLevels, MatrixCell, MatrixFactor, SAMPLE_CELLS, all, balanced_cells, first_cells,
};
use super::half::Half;
use super::real;
use super::set::{BoardCell, Set};

/// Cells that stand for a part of the matrix, each for as much of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stratum {
    pub(super) cells: Vec<BoardCell>,
    /// The part, of 1.
    share: f64,
}

/// Cells of the quick set without a background, and with one by rate, the slowest first. Neyman's
/// allocation among strata of equal spread takes cells by size over the root of the cost. A
/// background of four to seven times the rate costs as much more, so each stratum has half of the
/// cells of the one before.
pub(super) const QUICK_IDLE: usize = 200;
/// See [`QUICK_IDLE`].
pub(super) const QUICK_BUSY: [usize; 4] = [100, 50, 25, 12];

impl Set {
    /// The cells by stratum.
    pub(super) fn strata(self) -> Vec<Stratum> {
        match self {
            Self::Quick => quick_strata(),
            Self::Sample => vec![whole_matrix(first_cells(SAMPLE_CELLS))],
            Self::All => vec![whole_matrix(all().into_iter().map(MatrixCell::at).collect())],
            Self::Real => [real::documents(), real::pages()].map(half_of_shapes).into(),
        }
    }

    /// The share of the board that each cell stands for, in the order of [`Set::cells`]; together
    /// 1.
    pub fn weights(self) -> Vec<f64> {
        WeighedCell::all(self, None).into_iter().map(|cell| cell.weight).collect()
    }
}

/// Cells of the matrix that stand for all of it, each for as much.
fn whole_matrix(cells: Vec<MatrixCell>) -> Stratum {
    Stratum { cells: of_board(cells), share: 1.0 }
}

/// Documents, or pages: half of the board of real shapes.
fn half_of_shapes(cells: Vec<real::RealCell>) -> Stratum {
    Stratum { cells: cells.into_iter().map(BoardCell::Real).collect(), share: 0.5 }
}

fn of_board(cells: Vec<MatrixCell>) -> Vec<BoardCell> {
    cells.into_iter().map(BoardCell::Matrix).collect()
}

/// A cell of a set, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WeighedCell {
    pub(super) cell: BoardCell,
    pub(super) weight: f64,
    pub(super) stratum: usize,
}

impl WeighedCell {
    /// Multiplies the cell's weight by the share of its path and visit in use; cells of the matrix
    /// stay unchanged.
    pub(super) fn by_use(self) -> Self {
        let share = match &self.cell {
            BoardCell::Real(cell) => cell.share_of_use(),
            BoardCell::Matrix(_) => 1.0,
        };
        Self { weight: self.weight * share, ..self }
    }

    /// The cells of a set, in its order, or those of one half, which then stand for the whole
    /// stratum.
    pub(super) fn all(set: Set, half: Option<Half>) -> Vec<Self> {
        let strata = set.strata().into_iter().enumerate();
        let places = strata.flat_map(|(stratum, Stratum { cells, share })| {
            let chosen = |cell: &BoardCell| half.is_none_or(|half| Half::of(&cell.name()) == half);
            let cells: Vec<BoardCell> = cells.into_iter().filter(chosen).collect();
            let weight = share / cells.len() as f64;
            cells.into_iter().map(move |cell| Self { cell, weight, stratum })
        });
        places.collect()
    }
}

fn quick_strata() -> Vec<Stratum> {
    let (idle, busy): (Vec<CellLevels>, Vec<CellLevels>) =
        all().into_iter().partition(|place| MatrixCell::at(*place).load == BackgroundLoad::Idle);
    let rate = |place: &CellLevels| place[MatrixFactor::Rate as usize];
    let of_rate = |at| busy.iter().copied().filter(|place| rate(place) == at).collect();
    let busy = QUICK_BUSY.iter().enumerate().map(|(at, count)| stratum(of_rate(at), *count));
    [stratum(idle, QUICK_IDLE)].into_iter().chain(busy).collect()
}

/// A stratum of `count` cells that represent all of these combinations.
fn stratum(places: Vec<CellLevels>, count: usize) -> Stratum {
    let share = places.len() as f64 / all().len() as f64;
    Stratum { cells: of_board(balanced_cells(places, count)), share }
}
