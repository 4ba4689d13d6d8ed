//! One run: members become applications, time goes on, and what came of it is read off.

use super::document::{Bulk, Traffic};
use super::metrics::{self, WorkloadResult};
use super::scenario::{Begin, End, Group, Interval, Scenario};
use link::Counters;
use netsim::{
    AppId, BulkSpec, BulkTransfer, FlowRecord, HostId, LinkId, Simulation, SimulationConfig,
    SimulationError, stream,
};
use rand_core::RngCore;
use serde::Serialize;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Instant};

/// Virtual time passes in slices, between which a run can be stopped: a fraction of what has
/// passed, at least this and at most the end over [`SLICES`]. Results do not depend on them.
const FIRST_SLICE: Duration = Duration::from_millis(10);
const SLICES: u64 = 1000;

/// Receives what a run has to tell while it is read off.
pub trait Observed {
    /// A transfer.
    fn flow(&mut self, row: &FlowRow<'_>);
}

/// One transfer. Times are seconds since the origin of the run.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRow<'a> {
    /// Name of the workload.
    pub workload: &'a str,
    /// Number of the member, from 0.
    pub member: u32,
    /// Number of the member's transfer, from 0.
    pub flow: usize,
    /// The sender's scheme.
    pub scheme: &'a str,
    /// Sending host.
    pub from: &'a str,
    /// Receiving host.
    pub to: &'a str,
    /// When its bytes were handed to TCP.
    pub start: f64,
    /// When the sender's side was established.
    pub connected: Option<f64>,
    /// When its last byte had arrived.
    pub received: Option<f64>,
    /// When the last acknowledgement was back.
    pub acked: Option<f64>,
    /// Bytes to transfer; of a transfer without end, those acknowledged.
    pub bytes: u64,
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The connection was reset or given up.
    pub reset: bool,
}

/// One link over the measured interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// Its name.
    pub link: String,
    /// Share of the interval in which it transmitted.
    pub utilisation: f64,
    /// Packets taken into its queue.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets its queue dropped.
    pub drops: u64,
    /// Packets lost on the wire.
    pub losses: u64,
}

/// What came of a run.
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

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It did not end as planned.
    Failed(String),
    /// It was asked to stop.
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) => f.write_str(why),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<SimulationError> for RunError {
    fn from(error: SimulationError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Runs a scenario.
pub(super) fn run(
    scenario: &Scenario,
    seed: u64,
    (observed, stop): (&mut dyn Observed, &AtomicBool),
) -> Result<RunResult, RunError> {
    let mut stage = Stage::new(scenario, seed);
    stage.go_to(scenario.interval.from, stop)?;
    let before = stage.snapshot();
    let until = scenario.interval.until;
    stage.go_to(until, stop)?;
    let after = stage.snapshot();
    stage.go_to(Instant::FAR_FUTURE, stop)?;
    let workloads = stage.read_flows((&before, &after), observed);
    let links = stage.links((&before, &after));
    let name = |id: LinkId| scenario.net.topology.links()[id.index()].name.clone();
    Ok(RunResult {
        end: stage.simulation.now().as_secs_f64(),
        workloads,
        links,
        bottleneck: scenario.bottleneck.map(name),
    })
}

/// One member: which workload, which of it, and its application.
struct Member {
    group: usize,
    number: u32,
    app: AppId,
}

/// The state of links and members at an instant.
struct Snapshot {
    at: Instant,
    links: Vec<Counters>,
    /// Bytes received in order, by member.
    received: Vec<u64>,
}

struct Stage<'a> {
    scenario: &'a Scenario,
    simulation: Simulation,
    members: Vec<Member>,
    finished: bool,
}

impl<'a> Stage<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Self {
        let config = SimulationConfig { seed, wire_sizes: scenario.wire_sizes };
        let mut simulation = Simulation::new(scenario.net.topology.clone(), config);
        let mut members = Vec::new();
        for (index, group) in scenario.groups.iter().enumerate() {
            for number in 0..group.members {
                let app = add(&mut simulation, group, (number, seed));
                members.push(Member { group: index, number, app });
            }
        }
        Self { scenario, simulation, members, finished: false }
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

    fn snapshot(&self) -> Snapshot {
        let links = 0..self.scenario.net.topology.links().len() as u32;
        Snapshot {
            at: self.simulation.now(),
            links: links.map(|id| *self.simulation.link(LinkId(id)).counters()).collect(),
            received: self.members.iter().map(|member| self.received(member)).collect(),
        }
    }

    fn received(&self, member: &Member) -> u64 {
        let app = self.simulation.application::<BulkTransfer>(member.app);
        app.map_or(0, BulkTransfer::received)
    }

    /// What links did between two snapshots; those that did nothing are left out.
    fn links(&self, (before, after): (&Snapshot, &Snapshot)) -> Vec<LinkRow> {
        let specs = self.scenario.net.topology.links().iter();
        let counters = before.links.iter().zip(&after.links);
        let interval = after.at.saturating_since(before.at);
        specs
            .zip(counters)
            .map(|(spec, (before, after))| {
                let bytes = after.taken_bytes - before.taken_bytes;
                let busy = spec.config.rate().transmit_time(bytes).as_secs_f64();
                LinkRow {
                    link: spec.name.clone(),
                    utilisation: (busy / interval.as_secs_f64()).min(1.0),
                    packets: after.taken_packets - before.taken_packets,
                    bytes,
                    drops: after.dropped_packets - before.dropped_packets,
                    losses: after.lost_packets - before.lost_packets,
                }
            })
            .filter(|row| row.packets + row.drops > 0)
            .collect()
    }

    /// Hands all flows out and sums them up by workload.
    fn read_flows(
        &self,
        (before, after): (&Snapshot, &Snapshot),
        observed: &mut dyn Observed,
    ) -> Vec<WorkloadResult> {
        let topology = &self.scenario.net.topology;
        let interval = Interval { from: before.at, until: after.at };
        let mut tallies = metrics::Tallies::new(&self.scenario.groups, interval);
        for (index, member) in self.members.iter().enumerate() {
            let group = &self.scenario.groups[member.group];
            let (from, to) = group.hosts(member.number);
            let received = after.received[index] - before.received[index];
            tallies.received(member.group, received);
            for (number, flow) in self.flows(member).iter().enumerate() {
                tallies.flow(member.group, flow, received);
                observed.flow(&FlowRow {
                    workload: &group.name,
                    member: member.number,
                    flow: number,
                    scheme: group.scheme.name(),
                    from: topology.host_name(from),
                    to: topology.host_name(to),
                    start: flow.started_at.as_secs_f64(),
                    connected: flow.connected_at.map(Instant::as_secs_f64),
                    received: flow.received_at.map(Instant::as_secs_f64),
                    acked: flow.acked_at.map(Instant::as_secs_f64),
                    bytes: flow.bytes,
                    segments: flow.segments_sent,
                    retransmissions: flow.segments_retransmitted,
                    timeouts: flow.timeouts,
                    reset: flow.reset,
                });
            }
        }
        tallies.results()
    }

    fn flows(&self, member: &Member) -> &[FlowRecord] {
        let bulk = self.simulation.application::<BulkTransfer>(member.app);
        bulk.map_or(&[], BulkTransfer::flows)
    }
}

/// Adds the application of a workload's member.
fn add(simulation: &mut Simulation, group: &Group, (number, seed): (u32, u64)) -> AppId {
    let start = begin(group, (number, seed));
    let (from, to) = group.hosts(number);
    let Traffic::Bulk(plan) = &group.traffic;
    let app = bulk(group, plan, (from, to));
    match group.background {
        true => simulation.add_background(start, app),
        false => simulation.add(start, app),
    }
}

fn bulk(group: &Group, plan: &Bulk, (from, to): (HostId, HostId)) -> BulkTransfer {
    BulkTransfer::new(BulkSpec {
        from,
        to,
        bytes: plan.size.map(|size| size.0.0),
        scheme: group.scheme.clone(),
        receiver: group.receiver.clone(),
        close: false,
    })
}

/// When a member begins; drawn from a stream of its own, so that members shift no others.
fn begin(group: &Group, (number, seed): (u32, u64)) -> Instant {
    match group.begin {
        Begin::Fixed(at) => at,
        Begin::Staggered(from, every) => from + every * u64::from(number),
        Begin::Uniform(from, width) => {
            let name = format!("workload/{}/{number}/start", group.name);
            let fraction = u128::from(stream(seed, &name).next_u64());
            let nanos = (fraction * u128::from(width.as_nanos())) >> 64;
            from + Duration::from_nanos(nanos as u64)
        }
    }
}
