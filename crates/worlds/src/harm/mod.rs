//! Whether the agent is ever slower than stock Linux, or retransmits more: both load the same
//! answers over the same paths, interleaved.
//!
//! `cells` is the table of what is loaded over which paths, for simulation and kernel alike. A cell
//! is repeated until its ratio of times is known well enough (`estimate`). `figures` has its numbers,
//! `verdict` the bounds.

mod cells;
mod estimate;
mod figures;
mod verdict;

pub use cells::{HarmCell, HarmControl, all as cells};
pub use estimate::RatioEstimate;
pub use figures::{HarmFigures, HarmSide};
pub use verdict::{
    BoundCheck, CELLS_WITHIN, HarmSummary, HarmVerdict, RETRANSMISSION_BOUND, TIME_BOUND,
    TIME_BOUND_OF_ALL,
};

use crate::client::Browser;
use crate::contest::{self, ContestOptions};
use crate::kernel::{Agent, ServerProgram};
use figures::{RepeatSums, SideSum};
use race::{RaceOutcome, World};
use serde::Serialize;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// When a cell has been repeated often enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarmEffort {
    /// Repeats, at least.
    pub least: u32,
    /// Repeats, at most.
    pub most: u32,
    /// No more repeats once half of the 95 % interval of the ratio of times is this, or less.
    pub half_width: f64,
    /// No more repeats after this time; `None` where results must not depend on the machine.
    pub budget: Option<Duration>,
}

impl HarmEffort {
    /// All cells in about a minute. The results depend on nothing but the seeds.
    pub const SIM: Self = Self { least: 4, most: 48, half_width: 0.03, budget: None };
    /// All cells in at most about 40 minutes.
    pub const KERNEL: Self =
        Self { least: 3, most: 12, half_width: 0.03, budget: Some(Duration::from_secs(30)) };
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct HarmPlan {
    /// The cells, in their order.
    pub cells: Vec<HarmCell>,
    /// [`World::Sim`] or [`World::Kernel`].
    pub world: World,
    /// How often.
    pub effort: HarmEffort,
}

/// A cell, and what it showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarmRow {
    /// The cell, as the table has it.
    pub cell: String,
    /// Its figures; `None` if it was not measured.
    pub figures: Option<HarmFigures>,
    /// Why it was not measured.
    pub left_out: Option<String>,
    /// Repeats of a side that were made again because of scheduling delay.
    pub redone: u32,
}

/// All cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarmReport {
    /// Where they were measured.
    pub world: World,
    /// The cells; the slowest agent first, and last the cells that were not measured.
    pub cells: Vec<HarmRow>,
    /// How many are within the bounds.
    pub summary: HarmSummary,
}

impl HarmPlan {
    /// Measures the cells. `on_cell` is called after each.
    ///
    /// # Errors
    /// If the machine does not let it: see [`crate::cannot_be_had`].
    pub fn run(&self, agent: Option<&Agent>, on_cell: &dyn Fn(&HarmRow)) -> io::Result<HarmReport> {
        let mut rows = Vec::new();
        for cell in &self.cells {
            let row = self.measure(cell, agent)?;
            on_cell(&row);
            rows.push(row);
        }
        Ok(HarmReport::new(self.world, rows))
    }

    fn measure(&self, cell: &HarmCell, agent: Option<&Agent>) -> io::Result<HarmRow> {
        let began = Instant::now();
        let mut row = HarmRow { cell: cell.to_string(), figures: None, left_out: None, redone: 0 };
        let mut repeats = Vec::new();
        for repeat in 0..self.effort.most {
            let outcome = match self.repeat(cell, repeat, agent) {
                Ok(outcome) => outcome,
                // The kernel may lack a congestion control, as some cells need.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    row.left_out = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(error),
            };
            let turns = outcome.contestants.iter().flat_map(|one| &one.turns);
            row.redone += turns.filter(|turn| turn.is_redone).count() as u32;
            match sums(cell, &outcome) {
                Ok(sums) => repeats.push(sums),
                Err(why) => {
                    row.left_out = Some(why);
                    break;
                }
            }
            row.figures = HarmFigures::of(&repeats, cell.connections());
            if self.is_enough(&row, began.elapsed()) {
                break;
            }
        }
        if row.left_out.is_some() {
            row.figures = None;
        }
        Ok(row)
    }

    fn is_enough(&self, row: &HarmRow, took: Duration) -> bool {
        let HarmEffort { least, half_width, budget, .. } = self.effort;
        let Some(figures) = &row.figures else { return false };
        let is_over = budget.is_some_and(|budget| took >= budget);
        figures.repeats >= least && (is_over || figures.is_known_within(half_width))
    }

    fn repeat(
        &self,
        cell: &HarmCell,
        repeat: u32,
        agent: Option<&Agent>,
    ) -> io::Result<RaceOutcome> {
        let how = ContestOptions {
            worlds: &[self.world],
            contenders: &cell.contenders(),
            client: cell.client(),
            browser: &Browser::Loader,
            server: &ServerProgram::Builtin,
            agent,
            captures: None,
            record: false,
            threads: 0,
            on_run: &|| (),
        };
        contest::run(&cell.race(repeat), how)
    }
}

/// Both sides of one repeat.
fn sums(cell: &HarmCell, outcome: &RaceOutcome) -> Result<RepeatSums, String> {
    let visits = cell.race(0).visits;
    let [stock, agent] = &outcome.contestants[..] else {
        return Err("the world does not have both contenders".to_owned());
    };
    Ok(RepeatSums { stock: SideSum::of(stock, visits)?, agent: SideSum::of(agent, visits)? })
}

impl HarmReport {
    fn new(world: World, mut cells: Vec<HarmRow>) -> Self {
        let summary = HarmSummary::of(&cells);
        let ratio = |row: &HarmRow| row.figures.as_ref().map_or(0.0, |of| of.time_ratio.value);
        cells.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        Self { world, cells, summary }
    }
}
