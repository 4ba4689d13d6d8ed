//! Plans: experiments as files that anyone can read and run again.
//!
//! A plan names a topology, workloads on it, the compared schemes, the varied values and the
//! measurements. Every combination of varied values and schemes is a *cell*; a cell is *run*
//! `repeats` times, each run with other random numbers. Runs are independent of one another.
//!
//! The random numbers of a run are a function of the plan's seed, the cell's coordinates other than
//! schemes, and the repeat. Schemes therefore meet the same arrivals, sizes and losses.
//!
//! Read on in `document` (contents of a file), `tree` and `sweep` (variation of values), `scenario`
//! (names resolved), `run` (one run) and `metrics` (results).

mod document;
mod error;
mod files;
mod metrics;
mod run;
mod scenario;
mod sweep;
mod tree;

pub use error::PlanError;
pub use files::Loader;
pub use metrics::{ALL as ALL_WORKLOADS, WorkloadMetric, WorkloadResult};
pub use run::{LinkRow, Output, RunError, RunResult};
pub use scenario::Scenario;
pub use sweep::{Coordinate, SCHEME};

use document::PlanDocument;
use error::{Fault, of_toml};
use files::Files;
use schemars::Schema;
use serde::Deserialize;
use std::sync::atomic::AtomicBool;
use sweep::Sweep;
use tcp::Scheme;
use tree::Tree;

/// Most repeats of a cell.
const MAX_REPEATS: u32 = 100_000;

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
    files: Files,
}

/// One run: its cell, and the number of its repeat.
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
    /// Reads a plan and checks every cell of it; `loader` gives the files that it names.
    ///
    /// # Errors
    /// With file and line, at the first thing that is wrong.
    pub fn read(file: &str, text: &'a str, loader: Loader<'_>) -> Result<Self, PlanError> {
        Self::checked(file, text, loader).map_err(|fault| fault.of_file(file, text))
    }

    /// Reads the varied values of a plan, without its traffic and the files that it names: enough
    /// to identify runs that were made elsewhere.
    ///
    /// # Errors
    /// Fails like [`Plan::read`].
    pub fn outline(file: &str, text: &'a str) -> Result<Self, PlanError> {
        Self::parse(file, text).map_err(|fault| fault.of_file(file, text))
    }

    fn checked(file: &str, text: &'a str, loader: Loader<'_>) -> Result<Self, Fault> {
        let mut plan = Self::parse(file, text)?;
        for cell in 0..plan.cell_count() {
            let document = plan.document(cell)?;
            plan.files.load(&document, loader)?;
            plan.scenario(&document, cell)?;
        }
        Ok(plan)
    }

    fn parse(file: &str, text: &'a str) -> Result<Self, Fault> {
        let tree = tree::parse(text)?;
        let document = read_document(tree.clone())?;
        let schemes = match &document.schemes {
            Some(listed) => sweep::listed_schemes(listed)?,
            None => vec![Scheme::parse("linux").map_err(|error| Fault::new(0..0, error))?],
        };
        if schemes.is_empty() {
            return Err(Fault::new(0..0, "schemes is empty: name at least one"));
        }
        let sweep = Sweep::new(&document.sweep, tree.get_ref().get("sweep"), schemes)?;
        let repeats = match &document.repeats {
            None => 1,
            Some(n) if (1..=MAX_REPEATS).contains(&**n) => **n,
            Some(n) => {
                let why = format!("{} repeats: use 1 to {MAX_REPEATS}", **n);
                return Err(Fault::new(n.span(), why));
            }
        };
        let (seed, title) = (document.seed.unwrap_or(1), document.title);
        let (file, files) = (file.to_owned(), Files::default());
        Ok(Self { file, text, title, seed, repeats, tree, sweep, files })
    }

    /// The file's text.
    pub const fn text(&self) -> &str {
        self.text
    }

    /// Title of the plan.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Names of the workloads, in the order of results.
    pub fn workload_names(&self) -> Vec<String> {
        let workloads = self.tree.get_ref().get("workload");
        let named = workloads.and_then(|workloads| workloads.get_ref().as_table());
        let mut names: Vec<String> = named
            .into_iter()
            .flat_map(|named| named.keys())
            .map(|key| key.get_ref().to_string())
            .collect();
        names.sort();
        names
    }

    /// Seed of all random streams.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs of each cell.
    pub const fn repeats(&self) -> u32 {
        self.repeats
    }

    /// Identifies the experiment: the SHA-256 of the plan's text and the files that it names.
    pub fn hash(&self) -> String {
        self.files.hash(self.text)
    }

    /// Names of the coordinates, in order; the last is [`SCHEME`].
    pub fn keys(&self) -> Vec<String> {
        self.sweep.keys()
    }

    /// Number of cells.
    pub fn cell_count(&self) -> usize {
        self.sweep.cell_count()
    }

    /// Coordinates of a cell on each axis.
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

    /// The document of a cell.
    fn document(&self, cell: usize) -> Result<PlanDocument, Fault> {
        let mut tree = self.tree.clone();
        self.sweep.apply(cell, &mut tree)?;
        read_document(tree)
    }

    fn scenario(&self, document: &PlanDocument, cell: usize) -> Result<Scenario, Fault> {
        Scenario::new(document, self.sweep.scheme(cell), &self.files)
    }

    /// Makes one run; its rows go to files that `output` creates.
    ///
    /// # Errors
    /// If it did not end as planned, or `stop` was set meanwhile.
    pub fn execute(
        &self,
        run: &Run,
        output: Output<'_>,
        stop: &AtomicBool,
    ) -> Result<RunResult, RunError> {
        let resolved = self.document(run.cell).and_then(|d| self.scenario(&d, run.cell));
        let scenario = resolved
            .map_err(|fault| RunError::Failed(fault.of_file(&self.file, self.text).to_string()))?;
        let seed = sweep::seed_of(self.seed, &self.coordinates(run.cell), run.repeat);
        run::run(&scenario, seed, run.repeat, output, stop)
    }
}

/// Schema of a plan, as JSON Schema (2020-12). TOML's tables are its objects.
pub fn schema() -> Schema {
    schemars::schema_for!(PlanDocument)
}

fn read_document(mut tree: Tree<'_>) -> Result<PlanDocument, Fault> {
    tree::tag_kinds(tree.get_mut());
    PlanDocument::deserialize(toml::de::Deserializer::from(tree)).map_err(of_toml)
}
