//! One run: sources and sinks around T1, hosts that take up to a millisecond over a packet.

use super::super::paper::Wires;
use super::set_up::{Load, SetUp};
use netsim::{
    AppId, BulkSpec, BulkTransfer, Dumbbell, FlowRecord, RoundPair, Rounds, RoundsSpec, Simulation,
};
use tcp::Scheme;
use units::{Duration, Instant};
use workload::Distribution;

/// Bytes of a burst: 30 packets.
const BURST: f64 = 30_000.0;
/// Packets that wait at the bottleneck besides the one in service.
const BUFFER: u32 = 50;
/// Earliest start of the first bursts: bulk transfers run at a steady rate by then.
const FIRST_BURST: Instant = Instant::from_nanos(20_000_000_000);
/// Time from the end of the first burst to the second.
const IDLE: Duration = Duration::from_secs(20);
/// Time within which the first burst begins, seconds: under constant load, and in a crowd.
const FIRST_SPREAD: f64 = 1.0;
const CROWD_SPREAD: f64 = 10.0;
/// Idle time between the rounds of a crowd of connections.
const CROWD_IDLE: Duration = Duration::from_secs(30);
/// Bulk transfers begin within this time, in seconds.
const BULK_STARTS: f64 = 5.0;
/// Time after which a first burst alone is over.
const ALONE: Duration = Duration::from_millis(700);
/// Time that exceeds any case.
const LIMIT: Instant = Instant::from_nanos(10_000_000_000_000);

/// A burst of one connection, or the bursts of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Time from the data's write to TCP until its last ACK reaches the sender. For a group it is
    /// the mean.
    pub(super) seconds: f64,
    /// Packets retransmitted; for a group the total.
    pub(super) rexmit: f64,
    pub(super) timeouts: f64,
}

/// Runs an experiment once: the first and second bursts of each group.
///
/// # Errors
/// If it is impossible or never ends.
pub(super) fn run_once(set_up: &SetUp, seed: u64) -> Result<Vec<[Burst; 2]>, String> {
    let wires = Wires {
        pairs: set_up.groups.len() * set_up.connections + set_up.bulk,
        side_delay: Duration::from_millis(1),
        delay: set_up.delay,
        buffer: BUFFER,
        discipline: set_up.discipline,
        processing: true,
    };
    let (mut simulation, bell) = wires.simulation(seed)?;
    let start = match set_up.load {
        Load::Constant => {
            let within = uniform(FIRST_SPREAD)?;
            simulation.draw_start("bursts", FIRST_BURST, &within)
        }
        Load::Changed | Load::None => FIRST_BURST,
    };
    let rounds = simulation.add(start, rounds(set_up, &bell)?);
    add_bulk(&mut simulation, set_up, &bell)?;
    simulation.run(LIMIT).map_err(|e| e.to_string())?;
    Ok(measure(&simulation, set_up, rounds))
}

/// Returns a uniform distribution of seconds from nothing to `most`.
fn uniform(most: f64) -> Result<Distribution, String> {
    Distribution::uniform(0.0, most).map_err(|e| e.to_string())
}

/// Returns the bursty connections of all groups, with their idle times.
fn rounds(set_up: &SetUp, bell: &Dumbbell) -> Result<Rounds, String> {
    let mut pairs = Vec::new();
    for (n, text) in set_up.groups.iter().enumerate() {
        let scheme = Scheme::parse(text).map_err(|e| e.to_string())?;
        for k in n * set_up.connections..(n + 1) * set_up.connections {
            let (from, to) = (bell.sources[k], bell.sinks[k]);
            let (scheme, receiver) = (scheme.clone(), scheme.clone());
            pairs.push(RoundPair { from, to, scheme, receiver });
        }
    }
    // Alone, a connection idles for 20 s; a crowd gathers.
    let (first, later, idle) = match set_up.load {
        Load::None => (CROWD_SPREAD, set_up.gap.as_secs_f64(), CROWD_IDLE),
        Load::Constant | Load::Changed => (0.0, 0.0, IDLE),
    };
    Ok(Rounds::new(RoundsSpec {
        name: "bursts".into(),
        pairs,
        rounds: 2,
        bytes: Distribution::fixed(BURST).map_err(|e| e.to_string())?,
        start: uniform(later)?,
        first_start: Some(uniform(first)?),
        idle,
        every: Duration::ZERO,
    }))
}

/// Adds the bulk transfers. If load appears later, they begin after the first burst.
fn add_bulk(simulation: &mut Simulation, set_up: &SetUp, bell: &Dumbbell) -> Result<(), String> {
    let scheme = Scheme::parse(&set_up.bulk_scheme).map_err(|e| e.to_string())?;
    let within = uniform(BULK_STARTS)?;
    let base = match set_up.load {
        Load::Changed => FIRST_BURST + ALONE,
        Load::Constant | Load::None => Instant::ZERO,
    };
    let pairs = bell.sources.iter().zip(&bell.sinks).rev();
    for (n, (&from, &to)) in pairs.take(set_up.bulk).enumerate() {
        let (scheme, receiver) = (scheme.clone(), scheme.clone());
        let spec = BulkSpec { from, to, bytes: None, scheme, receiver, close: false };
        let start = simulation.draw_start(&format!("bulk/{n}"), base, &within);
        simulation.add_background(start, BulkTransfer::new(spec));
    }
    Ok(())
}

/// Computes the figures of both bursts, group by group.
fn measure(simulation: &Simulation, set_up: &SetUp, id: AppId) -> Vec<[Burst; 2]> {
    let flows = simulation.application::<Rounds>(id).map_or(&[][..], Rounds::flows);
    let count = set_up.connections;
    let group = |round: usize, n: usize| {
        let from = (round * set_up.groups.len() + n) * count;
        of_group(flows.get(from..from + count).unwrap_or_default())
    };
    (0..set_up.groups.len()).map(|n| [group(0, n), group(1, n)]).collect()
}

/// Computes the mean time of a group's flows, and their retransmissions and timeouts in all.
fn of_group(flows: &[FlowRecord]) -> Burst {
    let sum = |figure: &dyn Fn(&FlowRecord) -> f64| flows.iter().map(figure).sum::<f64>();
    let seconds = |f: &FlowRecord| f.time_to_ack().map_or(f64::INFINITY, |t| t.as_secs_f64());
    Burst {
        seconds: sum(&seconds) / flows.len() as f64,
        rexmit: sum(&|f| f.segments_retransmitted as f64),
        timeouts: sum(&|f| f.timeouts as f64),
    }
}
