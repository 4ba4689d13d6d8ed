//! The scoreboard: every scheme over one fixed set of paths, sizes and conditions, compared with
//! the limit, and with the harm that `linux` does instead.
//!
//! `cells` has the matrix and its published sample, `strata` the quick set and the weights of
//! cells, `real` the board of real shapes. `set` selects cells, `use_shares` has the use of each
//! path and visit, `half` the halves to tune and to check on. `setup` is a cell as it is run, `run`
//! one transfer in it, `standing` the progress of the background meanwhile, `causes` the reasons
//! for lost time. `cell_score` has the results of a scheme in a cell, `score` those over all cells,
//! `ranking` whether two boards rank alike. The cells do not change: figures of different versions
//! are of the same cells, with the same seeds.

mod causes;
mod cell_score;
mod cell_setup;
mod cells;
mod half;
mod ranking;
mod real;
mod run;
mod score;
mod set;
mod standing;
mod statistics;
mod strata;
mod use_shares;
mod wander;

pub use causes::CauseCounts;
pub use cell_score::CellScore;
pub use cell_setup::BackgroundLoad;
pub use cells::{FACTORS, LEVELS, MatrixCell, MatrixFactor, Memory, SAMPLE_CELLS, TransferShape};
pub use half::Half;
pub use ranking::{RankAgreement, Ranked, Ranking, SwappedPair};
pub use real::{RealCell, RealVisit};
pub use run::TransferOutcome;
pub use score::{Board, HarmScore, LevelScore, LimitScore, Score, StateScore, TimeScore};
pub use set::{BoardCell, BoardFactor, Set};
pub use statistics::MeanBounds;

use crate::{BASELINE, ProcessingDelay, REAL_PROCESSING, in_threads};
use cell_setup::CellSetup;
use rayon::prelude::*;
use run::Draw;
use score::BoardRuns;
use strata::WeighedCell;
use tcp::Scheme;
use units::Duration;

/// Schemes that run by default. They are the congestion controls of present and past servers, BBR
/// included, and each of the papers' ways to start, to share and to recover. The latter run by
/// themselves and as a choice over `linux`. Related schemes complete the list.
pub const DEFAULT_SCHEMES: &str = "linux,headstart,linux-bbr,newreno,sack,right-edge,fs,spand,past,session,session-fs,\
                                   tcp-int,etcp,linux+limited_transmit=edge,linux+startup=fs,linux+startup=spand,\
                                   linux+startup=past,linux-session,linux-etcp,careful-resume,jump-start";

/// A transfer that is not over after this long, in virtual time, has not completed; it counts as
/// long as this.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// A run of the scoreboard.
#[derive(Clone, Debug)]
pub struct ScoreboardPlan {
    /// The contestants; [`BASELINE`] among them, as [`crate::contestants`] sees to.
    pub schemes: Vec<Scheme>,
    /// The set of cells.
    pub set: Set,
    /// Half of the cells; `None`: both halves.
    pub half: Option<Half>,
    /// The first seed of start phases.
    pub seed: u64,
    /// Seeds of each cell, from the first on; at least 1.
    pub seeds: u32,
    /// Processing delay of every host before it sends a packet; [`REAL_PROCESSING`] or
    /// [`ProcessingDelay::NONE`]. Each seed draws other delays, all schemes under a seed the same.
    pub processing: ProcessingDelay,
}

impl ScoreboardPlan {
    /// Hosts work on packets for no time.
    pub fn is_exact(&self) -> bool {
        self.processing == ProcessingDelay::NONE
    }

    /// The processing delay that suits this number of seeds: that of real hosts, if there are
    /// several. Start phases alone leave the race between two packets for the last slot in a queue
    /// unchanged.
    pub const fn usual_processing(seeds: u32) -> ProcessingDelay {
        if seeds > 1 { REAL_PROCESSING } else { ProcessingDelay::NONE }
    }

    /// Number of times that `on_run` will be called.
    pub fn run_count(&self) -> u64 {
        let cells = WeighedCell::all(self.set, self.half);
        // Each cell under each scheme, with its background alone, and with perfect start.
        (cells.len() * (self.schemes.len() + 2)) as u64 * u64::from(self.seeds)
    }

    /// Runs every scheme in every cell under every seed, spread over `threads` (0: as many as there
    /// are cores), and scores them. `on_run` is called after every run, from any thread. The result
    /// does not depend on the threads.
    ///
    /// # Panics
    /// If [`BASELINE`] is not among the schemes, or the operating system gives no threads.
    pub fn run(&self, threads: usize, on_run: &(dyn Fn() + Sync)) -> Board {
        self.board(&self.outcomes(threads, &|_| true, on_run))
    }

    /// Makes the runs whose numbers, from 0, are `wanted`. Returns their outcomes in the order of
    /// runs. `threads` and `on_run` are as for [`ScoreboardPlan::run`].
    ///
    /// # Panics
    /// If the operating system gives no threads.
    pub fn outcomes(
        &self,
        threads: usize,
        wanted: &(dyn Fn(usize) -> bool + Sync),
        on_run: &(dyn Fn() + Sync),
    ) -> Vec<TransferOutcome> {
        in_threads(threads, || self.run_cells(wanted, on_run))
    }

    /// Scores the outcomes of all runs, in the order of runs.
    ///
    /// # Panics
    /// If [`BASELINE`] is not among the schemes, or the number of outcomes is not that of runs.
    pub fn board(&self, outcomes: &[TransferOutcome]) -> Board {
        assert_eq!(outcomes.len() as u64, self.run_count(), "an outcome for each run");
        Board::new(self, &self.sorted(outcomes))
    }

    fn all_draws(&self) -> Vec<Draw> {
        (0..self.seeds.max(1)).map(|n| self.nth_draw(n)).collect()
    }

    fn run_cells(
        &self,
        wanted: &(dyn Fn(usize) -> bool + Sync),
        on_run: &(dyn Fn() + Sync),
    ) -> Vec<TransferOutcome> {
        let cells = WeighedCell::all(self.set, self.half);
        let setups: Vec<CellSetup> = cells.iter().map(|weighed| weighed.cell.setup()).collect();
        let draws = self.all_draws();
        let runs: Vec<(&CellSetup, Draw)> =
            setups.iter().flat_map(|setup| draws.iter().map(move |draw| (setup, *draw))).collect();
        let parts = [Part::Alone, Part::Perfect].into_iter();
        let parts = parts.chain(self.schemes.iter().map(Part::Scheme));
        let all = parts.flat_map(|part| runs.iter().map(move |run| (part, run))).enumerate();
        let all = all.filter(|(number, _)| wanted(*number)).map(|(_, run)| run);
        let all: Vec<(Part<'_>, &(&CellSetup, Draw))> = all.collect();
        let one = |(part, (setup, draw)): &(Part<'_>, &(&CellSetup, Draw))| {
            let outcome = match part {
                Part::Scheme(scheme) => run::run(setup, scheme, *draw),
                Part::Perfect => run::perfect_transfer(setup, *draw),
                Part::Alone => TransferOutcome {
                    background: run::background_alone(setup, *draw),
                    ..TransferOutcome::default()
                },
            };
            on_run();
            outcome
        };
        all.par_iter().map(one).collect()
    }

    /// The outcomes by parts, cells and seeds.
    fn sorted(&self, outcomes: &[TransferOutcome]) -> BoardRuns {
        let cells = WeighedCell::all(self.set, self.half);
        let seeds = self.all_draws().len();
        let by_cell = |runs: &[TransferOutcome]| -> Vec<Vec<TransferOutcome>> {
            runs.chunks(seeds).map(<[TransferOutcome]>::to_vec).collect()
        };
        let mut by_scheme = outcomes.chunks(cells.len() * seeds);
        let alone = by_cell(by_scheme.next().unwrap_or_default());
        let perfect = by_cell(by_scheme.next().unwrap_or_default());
        let times = |seeds: Vec<TransferOutcome>| seeds.iter().map(|one| one.background).collect();
        let baseline = self.schemes.iter().position(|s| s.name() == BASELINE);
        BoardRuns {
            references: cells.iter().map(|weighed| weighed.cell.setup().reference()).collect(),
            cells,
            alone: alone.into_iter().map(times).collect(),
            perfect,
            outcomes: by_scheme.map(by_cell).collect(),
            baseline: baseline.expect("the baseline is among the schemes"),
        }
    }

    /// The n-th seed and its delays.
    fn nth_draw(&self, n: u32) -> Draw {
        Draw { seed: self.seed.wrapping_add(u64::from(n)), processing: self.processing }
    }
}

/// A part of a cell with a run of its own.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// The background alone.
    Alone,
    /// Perfect start.
    Perfect,
    /// A scheme.
    Scheme(&'a Scheme),
}

#[cfg(test)]
mod tests;
