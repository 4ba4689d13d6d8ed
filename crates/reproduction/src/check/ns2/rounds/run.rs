//! One run of a case: sources and sinks around one bottleneck, a pair of hosts for everything that
//! sends.

use super::case::{CaseKey, bottleneck_of, scheme_of};
use link::{LinkConfig, QueueLimit};
use netsim::{
    AppId, BulkSpec, BulkTransfer, Dumbbell, Duplex, FlowRecord, HostId, OnOff, OnOffSpec,
    RoundPair, Rounds, RoundsSpec, Simulation, SimulationConfig, Telnet, TelnetSpec, WireSizes,
};
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

/// Payload of a packet; 40 bytes of header come on top.
const PACKET: u64 = 1000;
/// Packets in the bottleneck's queue, the one in service included: 10 KB.
const BUFFER: u32 = 10;
/// Start of the first round: the traffic beside runs at a steady rate by then.
const FIRST_ROUND: Instant = Instant::from_nanos(30_000_000_000);
/// Endless transfers start within this time, in seconds, so that they do not stay in step.
const BULK_STARTS: f64 = 5.0;
/// Idle time between rounds.
const IDLE: Duration = Duration::from_secs(120);
/// Longer than any case takes.
const LIMIT: Instant = Instant::from_nanos(10_000_000_000_000_000);

/// The measurements of a run, times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Over all transfers, from data handed to TCP until its last ACK reaches the sender.
    pub(super) mean: f64,
    /// Mean time of all rounds but the first.
    pub(super) later_mean: f64,
    pub(super) median: f64,
    pub(super) percentile_95: f64,
    /// Timeouts of all transfers.
    pub(super) timeouts: f64,
    /// Packets dropped at the bottleneck.
    pub(super) drops: f64,
    /// Segments of all transfers, retransmissions included.
    pub(super) sent: f64,
}

/// Runs a case once.
///
/// # Errors
/// If the case is impossible or never ends.
pub(super) fn run_case(key: &CaseKey, seed: u64) -> Result<Outcome, String> {
    let bell = dumbbell(key)?;
    let text = scheme_of(&key.profile, &key.variant).ok_or("no scheme")?;
    let scheme = Scheme::parse(&text).map_err(|e| e.to_string())?;
    let wire_sizes =
        WireSizes { data_overhead: Some(40), control_bytes: Some(40), ..WireSizes::default() };
    let config = SimulationConfig { seed, wire_sizes };
    let mut simulation = Simulation::new(bell.topology.clone(), config);
    let mut pairs = bell.sources.iter().copied().zip(bell.sinks.iter().copied());
    let rounds = rounds(key, &scheme, pairs.by_ref().take(key.n).collect())?;
    let id = simulation.add(FIRST_ROUND, rounds);
    add_beside(&mut simulation, key, &scheme, &mut pairs)?;
    simulation.run(LIMIT).map_err(|e| e.to_string())?;
    Ok(measure(&simulation, key, id, &bell))
}

/// Returns the dumbbell of the scenario, with a pair of hosts for each connection.
fn dumbbell(key: &CaseKey) -> Result<Dumbbell, String> {
    let (rate, delay) = bottleneck_of(key.scenario).ok_or("no such scenario")?;
    let link = |rate, delay, queue| LinkConfig::new(rate, delay, queue).map_err(|e| e.to_string());
    let side = link(Rate::from_mbps(10), Duration::from_millis(1), QueueLimit::Unlimited)?;
    let bottleneck = Duplex {
        forward: link(rate, delay, QueueLimit::Packets(BUFFER))?,
        reverse: link(rate, delay, QueueLimit::Unlimited)?,
    };
    Ok(Dumbbell::new(key.n + key.telnet + key.udp + key.ftp, side, bottleneck))
}

/// Returns the measured connections, which send in rounds.
fn rounds(key: &CaseKey, scheme: &Scheme, pairs: Vec<(HostId, HostId)>) -> Result<Rounds, String> {
    let pair =
        |(from, to)| RoundPair { from, to, scheme: scheme.clone(), receiver: scheme.clone() };
    let distribution = |d: Result<_, workload::DistributionError>| d.map_err(|e| e.to_string());
    Ok(Rounds::new(RoundsSpec {
        first_start: None,
        every: Duration::ZERO,
        name: "rounds".into(),
        pairs: pairs.into_iter().map(pair).collect(),
        rounds: key.rounds,
        bytes: distribution(Distribution::fixed((key.pkts * PACKET) as f64))?,
        start: distribution(Distribution::uniform(0.0, key.jitter))?,
        idle: IDLE,
    }))
}

/// Adds Telnet sessions, ON/OFF sources and endless transfers, on the next pairs of hosts.
fn add_beside(
    simulation: &mut Simulation,
    key: &CaseKey,
    scheme: &Scheme,
    pairs: &mut impl Iterator<Item = (HostId, HostId)>,
) -> Result<(), String> {
    let pareto = |mean| Distribution::pareto(mean, 1.2).map_err(|e| e.to_string());
    for (n, (from, to)) in pairs.by_ref().take(key.telnet).enumerate() {
        let (name, gaps) = (format!("telnet/{n}"), Distribution::telnet());
        let (scheme, receiver) = (scheme.clone(), scheme.clone());
        let spec =
            TelnetSpec { name, from, to, gaps, bytes: PACKET, count: None, scheme, receiver };
        simulation.add_background(Instant::ZERO, Telnet::new(spec));
    }
    for (n, (from, to)) in pairs.by_ref().take(key.udp).enumerate() {
        let (name, rate) = (format!("udp/{n}"), Rate::from_bps(12_000));
        let (on, off) = (pareto(1.0)?, pareto(2.0)?);
        let spec = OnOffSpec { name, from, to, wire_bytes: 210, rate, on, off };
        simulation.add_background(Instant::ZERO, OnOff::new(spec));
    }
    let within = Distribution::uniform(0.0, BULK_STARTS).map_err(|e| e.to_string())?;
    for (n, (from, to)) in pairs.by_ref().take(key.ftp).enumerate() {
        let (scheme, receiver) = (scheme.clone(), scheme.clone());
        let spec = BulkSpec { from, to, bytes: None, scheme, receiver, close: false };
        let start = simulation.draw_start(&format!("ftp/{n}"), Instant::ZERO, &within);
        simulation.add_background(start, BulkTransfer::new(spec));
    }
    Ok(())
}

/// Computes the figures of all rounds of a run.
fn measure(simulation: &Simulation, key: &CaseKey, id: AppId, bell: &Dumbbell) -> Outcome {
    let flows = simulation.application::<Rounds>(id).map_or(&[][..], Rounds::flows);
    let seconds = |flow: &FlowRecord| flow.time_to_ack().map_or(f64::INFINITY, |t| t.as_secs_f64());
    let times: Vec<f64> = flows.iter().map(seconds).collect();
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let quantile = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let total = |count: fn(&FlowRecord) -> u64| flows.iter().map(count).sum::<u64>() as f64;
    let forward = simulation.link(bell.bottleneck.forward);
    Outcome {
        mean: mean(&times),
        later_mean: mean(times.get(key.n..).unwrap_or_default()),
        median: quantile(0.5),
        percentile_95: quantile(0.95),
        timeouts: total(|flow| flow.timeouts),
        drops: forward.counters().dropped_packets as f64,
        sent: total(|flow| flow.segments_sent),
    }
}
