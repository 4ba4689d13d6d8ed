//! Cells of either board, and which of them are run.

use super::cell_setup::CellSetup;
use super::cells::{MatrixCell, MatrixFactor};
use super::half::Half;
use super::real::RealCell;
use serde::{Deserialize, Serialize};

/// A set of cells.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Set {
    /// Many cells that cost little and few that cost much, weighed by their shares of the matrix.
    Quick,
    /// The sample.
    Sample,
    /// The whole matrix.
    All,
    /// Recorded pages and documents over the paths that people have.
    Real,
}

/// A cell of a board.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum BoardCell {
    /// A cell of the matrix.
    Matrix(MatrixCell),
    /// A cell of the board of real shapes.
    Real(RealCell),
}

/// A factor of a board's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardFactor {
    /// Its name.
    pub name: &'static str,
    /// Names of its levels.
    pub levels: &'static [&'static str],
}

impl Set {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Quick, Self::Sample, Self::All, Self::Real];

    /// The cells, in the order in which they are reported.
    pub fn cells(self) -> Vec<BoardCell> {
        self.strata().into_iter().flat_map(|stratum| stratum.cells).collect()
    }

    /// The factors of its cells.
    pub fn factors(self) -> Vec<BoardFactor> {
        let factor = |name, levels| BoardFactor { name, levels };
        match self {
            Self::Quick | Self::Sample | Self::All => {
                MatrixFactor::ALL.map(|of| factor(of.name(), of.levels())).into()
            }
            Self::Real => vec![
                factor("content", &RealCell::CONTENTS),
                factor("path", &RealCell::PATHS),
                factor("visit", &RealCell::VISITS),
                factor("load", &RealCell::LOADS),
            ],
        }
    }

    /// The cells as CSV: a line each, with their numbers in the whole set, from 1. With a half,
    /// those of it alone.
    pub fn listing(self, half: Option<Half>) -> String {
        let columns = match self {
            Self::Quick | Self::Sample | Self::All => {
                "size_bytes,rtt_ms,rate_bps,queue_millibdp,load,memory,shape"
            }
            Self::Real => "content,path,visit,load",
        };
        let cells = self.cells().into_iter().enumerate();
        let cells =
            cells.filter(|(_, cell)| half.is_none_or(|half| Half::of(&cell.name()) == half));
        let lines = cells.map(|(n, cell)| format!("{},{}\n", n + 1, cell.list_line()));
        [format!("cell,{columns}\n")].into_iter().chain(lines).collect()
    }
}

impl BoardCell {
    /// Its levels by name, for labels and seeds.
    pub fn name(&self) -> String {
        match self {
            Self::Matrix(cell) => cell.name(),
            Self::Real(cell) => cell.name(),
        }
    }

    /// Its levels, as indices into those of [`Set::factors`].
    pub(super) fn levels(&self) -> Vec<usize> {
        match self {
            Self::Matrix(cell) => cell.levels().into(),
            Self::Real(cell) => cell.levels().into(),
        }
    }

    pub(super) fn setup(&self) -> CellSetup {
        match self {
            Self::Matrix(cell) => cell.setup(),
            Self::Real(cell) => cell.setup(),
        }
    }

    fn list_line(&self) -> String {
        match self {
            Self::Matrix(cell) => cell.list_line(),
            Self::Real(cell) => cell.list_line(),
        }
    }
}
