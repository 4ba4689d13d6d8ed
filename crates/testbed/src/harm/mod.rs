//! Whether the agent is ever slower than stock Linux, or retransmits more: both load the same
//! answers over the same paths, in the same run.
//!
//! `cells` is the table of loads and paths, for simulation and kernel alike. A cell is repeated
//! until its ratio of times is known well enough (`estimate`). `figures` has its numbers, `verdict`
//! compares them with the bounds, `summary` counts the cells.

mod cells;
mod estimate;
mod figures;
mod summary;
mod verdict;

pub use cells::{HarmCell, HarmControl, all as cells};
pub use estimate::RatioEstimate;
pub use figures::{HarmFigures, HarmSide};
pub use summary::{CELLS_WITHIN, HarmSummary};
pub use verdict::{BoundCheck, HarmVerdict, RETRANSMISSION_BOUND, TIME_BOUND, TIME_BOUND_OF_ALL};

use crate::client::Browser;
use crate::contender::Contender;
use crate::contest::{self, ContestOptions};
use crate::kernel::{Agent, ServerProgram};
use emulator::Clock;
use figures::RepeatSums;
use race::{Contestant, Race, RaceOutcome, World};
use serde::Serialize;
use std::io::{self, ErrorKind};
use std::thread;
use std::time;
use units::Duration;

/// Number of attempts to start the agent for a repeat: a machine has one agent at a time, and
/// another may run.
const AGENT_ATTEMPTS: u32 = 12;
/// Time between two attempts.
const AGENT_PAUSE: time::Duration = time::Duration::from_secs(10);

/// Rule for the number of repeats of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarmEffort {
    /// Repeats, at least.
    pub least: u32,
    /// Least number of repeats of a cell with random loss or a mobile path, whose repeats differ.
    pub least_if_random: u32,
    /// Repeats, at most.
    pub most: u32,
    /// The cell is repeated no more once half of the 95 % interval of the ratio of times is this,
    /// or less.
    pub half_width: f64,
    /// The cell is repeated no more after this time; `None` where results must not depend on the
    /// machine.
    pub budget: Option<Duration>,
}

impl HarmEffort {
    /// All cells in less than a minute. The results depend on nothing but the seeds.
    pub const SIM: Self =
        Self { least: 3, least_if_random: 6, most: 48, half_width: 0.03, budget: None };
    /// All cells in about 40 minutes.
    pub const KERNEL: Self = Self {
        least: 2,
        least_if_random: 4,
        most: 12,
        half_width: 0.03,
        budget: Some(Duration::from_secs(40)),
    };
}

/// The measurements to make.
#[derive(Clone, Debug)]
pub struct HarmPlan {
    /// The cells, in their order.
    pub cells: Vec<HarmCell>,
    /// The scheme that is compared with stock Linux instead of the agent's.
    pub challenger: Option<Contender>,
    /// [`World::Sim`] or [`World::Kernel`].
    pub world: World,
    /// Rule for the number of repeats.
    pub effort: HarmEffort,
}

/// A cell, and its results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarmRow {
    /// The cell, as the table has it.
    pub cell: String,
    /// Its figures; `None` if it was not measured.
    pub figures: Option<HarmFigures>,
    /// Reason why it was not measured.
    pub left_out: Option<String>,
    /// Reason why a visit did not complete: the cell fails.
    pub failed: Option<String>,
    /// Repeats of a side that were repeated because of scheduling delay.
    pub redone: u32,
}

/// All cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarmReport {
    /// The world of the measurements.
    pub world: World,
    /// The cells; the slowest agent first, and last the cells that were not measured.
    pub cells: Vec<HarmRow>,
    /// Number of cells within the bounds.
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
        let clock = Clock::start();
        let mut row = HarmRow {
            cell: cell.to_string(),
            figures: None,
            left_out: None,
            failed: None,
            redone: 0,
        };
        let mut repeats = Vec::new();
        for repeat in 0..self.effort.most {
            let sides = match self.repeat(cell, repeat, agent) {
                Ok(sides) => sides,
                // The kernel may lack a congestion control that some cells need.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(HarmRow { left_out: Some(error.to_string()), figures: None, ..row });
                }
                Err(error) => return Err(error),
            };
            let turns = sides.iter().flat_map(|side| &side.turns);
            row.redone += turns.filter(|turn| turn.is_redone).count() as u32;
            if let Some(why) = sides.iter().find_map(|side| side.left_out.clone()) {
                return Ok(HarmRow { left_out: Some(why), figures: None, ..row });
            }
            match RepeatSums::of(&sides, cell.visits()) {
                Ok(sums) => repeats.push(sums),
                Err(why) => return Ok(HarmRow { failed: Some(why), figures: None, ..row }),
            }
            row.figures = HarmFigures::of(&repeats, cell.connections());
            if self.is_enough(
                cell,
                row.figures.as_ref(),
                clock.now().saturating_since(units::Instant::ZERO),
            ) {
                break;
            }
        }
        Ok(row)
    }

    fn is_enough(&self, cell: &HarmCell, figures: Option<&HarmFigures>, took: Duration) -> bool {
        let HarmEffort { least, least_if_random, half_width, budget, .. } = self.effort;
        let Some(figures) = figures else { return false };
        let is_over = budget.is_some_and(|budget| took >= budget);
        let least = if cell.is_random() { least_if_random } else { least };
        figures.repeats >= least && (is_over || figures.is_known_within(half_width))
    }

    /// Runs one repeat of stock Linux and of the agent, in this order. In the kernel both run at
    /// the same time, each in a world of its own, so that both meet the same load of the machine.
    fn repeat(
        &self,
        cell: &HarmCell,
        repeat: u32,
        agent: Option<&Agent>,
    ) -> io::Result<Vec<Contestant>> {
        let [stock, agent_scheme] = cell.contenders();
        let contenders = [stock, self.challenger.clone().unwrap_or(agent_scheme)];
        let race = cell.race(repeat, &contenders);
        let how = ContestOptions {
            worlds: &[self.world],
            contenders: &contenders,
            client: cell.client(),
            browser: &Browser::Loader,
            server: &ServerProgram::Builtin,
            agent,
            captures: None,
            record: false,
            threads: 0,
            on_run: &|| (),
        };
        if !self.world.is_real() {
            return contest::run(&race, how).map(|outcome| outcome.contestants);
        }
        let mut attempts = AGENT_ATTEMPTS;
        loop {
            let sides = at_once(&race, how)?;
            attempts -= 1;
            if attempts == 0 || sides.iter().all(|side| side.left_out.is_none()) {
                return Ok(sides);
            }
            thread::sleep(AGENT_PAUSE);
        }
    }
}

/// All contenders at the same time.
fn at_once(race: &Race, how: ContestOptions<'_>) -> io::Result<Vec<Contestant>> {
    let outcomes = thread::scope(|scope| {
        let side = |contenders| {
            scope.spawn(move || contest::run(race, ContestOptions { contenders, ..how }))
        };
        let sides: Vec<_> = how.contenders.chunks(1).map(side).collect();
        let end = |side: thread::ScopedJoinHandle<'_, io::Result<RaceOutcome>>| {
            side.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        sides.into_iter().map(end).collect::<io::Result<Vec<RaceOutcome>>>()
    })?;
    Ok(outcomes.into_iter().flat_map(|outcome| outcome.contestants).collect())
}

impl HarmReport {
    fn new(world: World, mut cells: Vec<HarmRow>) -> Self {
        let summary = HarmSummary::of(&cells);
        let ratio = |row: &HarmRow| row.figures.as_ref().map_or(0.0, |of| of.time_ratio.value);
        cells.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        Self { world, cells, summary }
    }
}
