//! Plans: experiments as files that anyone can read and run again.
//!
//! A plan names a topology, workloads on it, the schemes under comparison, what is varied and what
//! is measured. Every combination of varied values and schemes is a *cell*; a cell is *run*
//! `repeats` times, each run with other random numbers. Runs are independent of one another.
//!
//! The random numbers of a run are a function of the plan's seed, the cell's coordinates that are
//! no schemes, and the repeat: schemes meet the same arrivals, sizes and losses.
//!
//! Read on in `document` (what stands in a file), `tree` and `sweep` (how values are varied),
//! `scenario` (names resolved), `run` (one run) and `metrics` (what comes out).

mod document;
mod error;
mod metrics;
mod run;
mod scenario;
mod sweep;
mod tree;

pub use error::PlanError;
pub use metrics::{Metric, WorkloadResult};
pub use run::{FlowRow, LinkRow, Observed, RunError, RunResult};
pub use scenario::Scenario;
pub use sweep::{Coordinate, SCHEME};

use document::Document;
use error::Fault;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::sync::atomic::AtomicBool;
use sweep::Sweep;
use tcp::Scheme;
use tree::Tree;

/// Most repeats of a cell.
const MOST_REPEATS: u32 = 100_000;

/// A plan that can be run.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    file: String,
    text: &'a str,
    title: String,
    seed: u64,
    repeats: u32,
    tree: Tree<'a>,
    sweep: Sweep<'a>,
}

/// One run: which cell, and the how manieth time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the run, from 0: repeats of a cell follow one another.
    pub index: usize,
    /// Number of the cell, from 0.
    pub cell: usize,
    /// Number of the repeat, from 0.
    pub repeat: u32,
}

impl<'a> Plan<'a> {
    /// Reads a plan and checks every cell of it.
    ///
    /// # Errors
    /// With file and line, at the first thing that is wrong.
    pub fn read(file: &str, text: &'a str) -> Result<Self, PlanError> {
        let located = |fault: Fault| fault.of_file(file, text);
        let plan = Self::parse(file, text).map_err(located)?;
        (0..plan.cell_count())
            .try_for_each(|cell| plan.resolve(cell).map(drop))
            .map_err(located)?;
        Ok(plan)
    }

    fn parse(file: &str, text: &'a str) -> Result<Self, Fault> {
        let tree = tree::parse(text)?;
        let document = read_document(tree.clone())?;
        let schemes = match &document.schemes {
            Some(listed) => sweep::schemes(listed)?,
            None => vec![Scheme::parse("linux").map_err(|error| Fault::new(0..0, error))?],
        };
        if schemes.is_empty() {
            return Err(Fault::new(0..0, "schemes is empty: name at least one"));
        }
        let sweep = Sweep::new(&document.sweep, tree.get_ref().get("sweep"), schemes)?;
        let repeats = match &document.repeats {
            None => 1,
            Some(n) if (1..=MOST_REPEATS).contains(n.get_ref()) => *n.get_ref(),
            Some(n) => {
                let why = format!("{} repeats: use 1 to {MOST_REPEATS}", n.get_ref());
                return Err(Fault::new(n.span(), why));
            }
        };
        let (seed, title) = (document.seed.unwrap_or(1), document.title);
        Ok(Self { file: file.to_owned(), text, title, seed, repeats, tree, sweep })
    }

    /// The file's text.
    pub const fn text(&self) -> &str {
        self.text
    }

    /// What the plan says it is about.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Seed of all random streams.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs of each cell.
    pub const fn repeats(&self) -> u32 {
        self.repeats
    }

    /// Identifies what is run: the SHA-256 of the plan's text.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.text.as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Names of the coordinates, in order; the last is [`SCHEME`].
    pub fn keys(&self) -> Vec<String> {
        self.sweep.keys()
    }

    /// Number of cells.
    pub fn cell_count(&self) -> usize {
        self.sweep.cell_count()
    }

    /// A cell's place on each axis.
    pub fn coordinates(&self, cell: usize) -> Vec<Coordinate> {
        self.sweep.coordinates(cell, self.text)
    }

    /// Number of runs: cells × repeats.
    pub fn run_count(&self) -> usize {
        self.cell_count() * self.repeats as usize
    }

    /// The run of this number.
    pub const fn run(&self, index: usize) -> Run {
        let repeats = self.repeats as usize;
        Run { index, cell: index / repeats, repeat: (index % repeats) as u32 }
    }

    fn resolve(&self, cell: usize) -> Result<Scenario, Fault> {
        let mut tree = self.tree.clone();
        self.sweep.apply(cell, &mut tree)?;
        Scenario::new(&read_document(tree)?, self.sweep.scheme(cell))
    }

    /// Makes one run; flows are handed to `observed` one by one.
    ///
    /// # Errors
    /// If it did not end as planned, or `stop` was set meanwhile.
    pub fn execute(
        &self,
        run: &Run,
        observed: &mut dyn Observed,
        stop: &AtomicBool,
    ) -> Result<RunResult, RunError> {
        let scenario = self
            .resolve(run.cell)
            .map_err(|fault| RunError::Failed(fault.of_file(&self.file, self.text).to_string()))?;
        let seed = sweep::seed_of(self.seed, &self.coordinates(run.cell), run.repeat);
        run::run(&scenario, seed, (observed, stop))
    }
}

fn read_document(mut tree: Tree<'_>) -> Result<Document, Fault> {
    tree::tag_kinds(tree.get_mut());
    Document::deserialize(toml::de::Deserializer::from(tree)).map_err(Fault::from)
}
