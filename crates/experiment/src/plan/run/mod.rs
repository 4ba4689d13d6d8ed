//! One run: workloads become applications, time goes on, and the results are read off.

mod apps;
mod flows;
mod links;
mod record;
mod rows;

pub use rows::{LinkRow, Output};

use super::metrics::WorkloadResult;
use super::scenario::{End, MeasuredInterval, Scenario};
use apps::{FinishedTransfer, RunState, WorkloadApp};
use flows::{Flows, SharedFlows};
use links::LinkTotals;
use netsim::{LinkId, Simulation, SimulationConfig, SimulationError};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Instant};

/// Virtual time passes in slices, between which a run can be stopped: a fraction of the elapsed
/// time, at least this and at most the end over [`SLICES`]. Results do not depend on them.
const FIRST_SLICE: Duration = Duration::from_millis(10);
const SLICES: u64 = 1000;

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// When it ended, seconds.
    pub end: f64,
    /// All workloads together that are not in the background, named `all`, then each workload.
    pub workloads: Vec<WorkloadResult>,
    /// Every link that had something to do.
    pub links: Vec<LinkRow>,
    /// Name of the link whose utilisation is a metric.
    pub bottleneck: Option<String>,
}

/// Reason why a run has no result.
#[derive(Debug)]
pub enum RunError {
    /// It did not end as planned.
    Failed(String),
    /// It was asked to stop.
    Stopped,
    /// Its rows cannot be written.
    Output(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) => f.write_str(why),
            Self::Stopped => f.write_str("stopped"),
            Self::Output(error) => write!(f, "cannot write results: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<SimulationError> for RunError {
    fn from(error: SimulationError) -> Self {
        let hint = match error {
            SimulationError::TimeLimit { .. } => "; time_limit gives it longer, duration ends it",
            _ => "",
        };
        Self::Failed(format!("{error}{hint}"))
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Runs a scenario with the random numbers of `seed`.
pub(super) fn run(
    scenario: &Scenario,
    seed: u64,
    repeat: u32,
    output: Output<'_>,
    stop: &AtomicBool,
) -> Result<RunResult, RunError> {
    let mut stage = Stage::new(scenario, seed, Flows::begin(scenario, output)?);
    if repeat < scenario.records.repeats {
        record::begin(&mut stage.simulation, scenario, output)?;
    }
    stage.go_to(scenario.interval.from, stop)?;
    let mut before = stage.snapshot();
    if !scenario.has_warm_up {
        // Nothing is sent before, so the counters have not changed by then.
        before.links.at = stage.first_start();
    }
    stage.go_to(scenario.interval.until, stop)?;
    let after = stage.snapshot();
    stage.go_to(Instant::FAR_FUTURE, stop)?;
    record::finish(&mut stage.simulation)?;
    let name = |id: LinkId| scenario.net.topology.links()[id.index()].name.clone();
    Ok(RunResult {
        end: stage.simulation.now().as_secs_f64(),
        workloads: stage.read_flows(&before, &after)?,
        links: after.links.since(&before.links, &stage.simulation),
        bottleneck: scenario.bottleneck.map(name),
    })
}

/// The state of links and workloads at an instant.
struct Snapshot {
    links: LinkTotals,
    /// Payload bytes received, by actor.
    received: Vec<u64>,
}

struct Stage<'a> {
    scenario: &'a Scenario,
    simulation: Simulation,
    actors: Vec<WorkloadApp>,
    flows: SharedFlows,
    finished: bool,
}

impl<'a> Stage<'a> {
    fn new(scenario: &'a Scenario, seed: u64, flows: SharedFlows) -> Self {
        let config = SimulationConfig { seed, wire_sizes: scenario.wire_sizes };
        let mut simulation = Simulation::new(scenario.net.topology.clone(), config);
        if let Some(memories) = &scenario.memories {
            memories.equip(&mut simulation);
        }
        let mut actors = Vec::new();
        for (index, group) in scenario.groups.iter().enumerate() {
            let surroundings = RunState { net: &scenario.net, seed, flows: &flows };
            actors.extend(apps::add(&mut simulation, index, group, &surroundings));
        }
        Self { scenario, simulation, actors, flows, finished: false }
    }

    /// Runs to `target` or to the run's end, whichever comes first.
    fn go_to(&mut self, target: Instant, stop: &AtomicBool) -> Result<(), RunError> {
        let (end, until_finished) = match self.scenario.end {
            End::At(end) => (end, false),
            End::Finished(limit) => (limit, true),
        };
        let target = target.min(end);
        let longest = ((end - Instant::ZERO) / SLICES).max(FIRST_SLICE);
        while !self.finished && self.simulation.now() < target {
            if stop.load(Ordering::Relaxed) {
                return Err(RunError::Stopped);
            }
            let passed = self.simulation.now() - Instant::ZERO;
            let slice = (passed / 4).max(FIRST_SLICE).min(longest);
            let next = (self.simulation.now() + slice).min(target);
            match until_finished {
                false => self.simulation.run_until(next)?,
                true => match self.simulation.run(next) {
                    Ok(_) => self.finished = true,
                    Err(SimulationError::TimeLimit { .. }) if next < end => {}
                    Err(error) => return Err(error.into()),
                },
            }
        }
        Ok(())
    }

    /// Start of the first member of a workload; the origin without workloads.
    fn first_start(&self) -> Instant {
        self.actors.iter().map(|actor| actor.start).min().unwrap_or(Instant::ZERO)
    }

    fn snapshot(&mut self) -> Snapshot {
        let links = LinkTotals::of(&mut self.simulation);
        let received = self.actors.iter().map(|actor| actor.received(&self.simulation));
        Snapshot { links, received: received.collect() }
    }

    /// Hands on the transfers that applications have kept, and sums all up by workload.
    fn read_flows(&self, before: &Snapshot, after: &Snapshot) -> io::Result<Vec<WorkloadResult>> {
        let interval = MeasuredInterval { from: before.links.at, until: after.links.at };
        let mut flows = self.flows.borrow_mut();
        flows.group_sums().set_interval(interval);
        for (index, actor) in self.actors.iter().enumerate() {
            let received = after.received[index] - before.received[index];
            flows.group_sums().received(actor.group, received);
            for FinishedTransfer { id, flow, received } in actor.flows(&self.simulation, received) {
                flows.push(id, &flow, received);
            }
        }
        flows.finish(interval)
    }
}
