//! The scoreboard: every scheme over one fixed matrix of paths, sizes and circumstances, held against
//! the limit, and against what `linux` does to others in its place.
//!
//! `cells` has the matrix and its published sample, `strata` the quick set and what cells stand for, `run` one transfer
//! in one cell, `standing` what happens to the background meanwhile, `score` what is said of a scheme over all cells,
//! `ranking` whether two boards rank alike. The matrix does not change: figures of different versions are of the same
//! cells, with the same seeds.

mod cells;
mod ranking;
mod run;
mod score;
mod standing;
mod statistics;
mod strata;

pub use cells::{
    BackgroundLoad, FACTORS, LEVELS, MatrixCell, MatrixFactor, Memory, SAMPLE_CELLS, Set,
    TransferShape, listing,
};
pub use ranking::{RankAgreement, Ranked, Ranking, SwappedPair};
pub use run::TransferOutcome;
pub use score::{Board, CellScore, LevelScore, Score};
pub use statistics::MeanBounds;

use crate::BASELINE;
use rayon::prelude::*;
use score::WeighedCell;
use tcp::Scheme;
use units::Duration;

/// What runs if nothing is named: what servers run and ran, BBR among it, each of the papers' ways to begin and to
/// share, and those that are compared with them elsewhere.
pub const DEFAULT_SCHEMES: &str = "linux,linux-bbr,newreno,sack,right-edge,fs,spand,past,session,session-fs,\
                                   tcp-int,etcp,careful-resume,jump-start";

/// A transfer that is not over after this long, in virtual time, has not completed; it counts as long
/// as this.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// What to run.
#[derive(Clone, Debug)]
pub struct ScoreboardPlan {
    /// The contestants; [`BASELINE`] among them, as [`crate::contestants`] sees to.
    pub schemes: Vec<Scheme>,
    /// Which cells.
    pub set: Set,
    /// Seed of start phases.
    pub seed: u64,
}

impl ScoreboardPlan {
    /// Number of times that `on_run` will be called.
    pub fn run_count(&self) -> u64 {
        (self.schemes.len() * self.set.cells().len()) as u64
    }

    /// Runs every scheme in every cell, spread over `threads` (0: as many as there are cores), and
    /// scores them; `on_run` is told of every run, from any thread. The result does not depend on the
    /// threads.
    ///
    /// # Panics
    /// If [`BASELINE`] is not among the schemes, or the operating system gives no threads.
    pub fn run(&self, threads: usize, on_run: &(dyn Fn() + Sync)) -> Board {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads to run in");
        let cells = WeighedCell::all(self.set);
        let runs: Vec<(&Scheme, &MatrixCell)> =
            self.schemes.iter().flat_map(|s| cells.iter().map(move |c| (s, &c.cell))).collect();
        let one = |(scheme, cell): &(&Scheme, &MatrixCell)| {
            let outcome = run::run(cell, scheme, self.seed);
            on_run();
            outcome
        };
        let outcomes: Vec<TransferOutcome> = pool.install(|| runs.par_iter().map(one).collect());
        let by_scheme: Vec<&[TransferOutcome]> = outcomes.chunks(cells.len()).collect();
        let baseline = self.schemes.iter().position(|s| s.name() == BASELINE);
        let baseline = by_scheme[baseline.expect("the baseline is among the schemes")];
        let scored = self.schemes.iter().zip(&by_scheme);
        let scored = scored.map(|(s, o)| Score::of(s.name(), &cells, (o, baseline)));
        Board::new(self, scored.collect())
    }
}

#[cfg(test)]
mod tests;
