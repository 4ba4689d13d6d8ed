//! One run: arrivals until enough flows have completed.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Body, Dumbbell, Duplex, FlowRecord, LinkId, Observer, PairChoice, PoissonFlows, PoissonSpec,
    SimPacket, Simulation, SimulationConfig, Step, WireSizes,
};
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

/// Hosts on each side.
const PAIRS: usize = 102;
/// Payload of a packet.
const PACKET: u64 = 1000;
/// Packets with the one in service, both ways.
const QUEUE: QueueLimit = QueueLimit::Packets(100);
/// Flows at the beginning that are left out of the measurements.
const WARM_UP: usize = 500;
/// Share of all flows that start after the last measured one, so that no measured flow ends on an
/// empty link.
const TAIL: f64 = 0.1;
/// Longer than any run takes.
const LIMIT: Duration = Duration::from_secs(1_000_000);
/// Largest size, in multiples of the mean: larger sizes have a probability of e^-40 and occur in no
/// run.
const LARGEST: f64 = 40.0;

/// The parameters that rows of different seeds share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SetUp {
    pub(super) scheme: String,
    /// Bytes of header on top of a packet.
    pub(super) overhead: u32,
    pub(super) flows_per_s: f64,
    pub(super) mean_packets: f64,
    /// Number of measured flows.
    pub(super) flows: u32,
    /// True if flows go both ways, with equal probability.
    pub(super) both_ways: bool,
}

/// The measurements of a run.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// Mbit/s of each flow, its packets over the time to its last ACK; ascending.
    throughputs: Vec<f64>,
    /// Flows under way at a time, on average (by Little's law).
    pub(super) mean_active: f64,
    /// Share of the measured flows that retransmitted.
    pub(super) share_lossy: f64,
    /// Data packets dropped by the bottleneck, of all sent in the run.
    pub(super) loss: f64,
}

impl Measured {
    pub(super) fn mean(&self) -> f64 {
        self.throughputs.iter().sum::<f64>() / self.throughputs.len() as f64
    }

    /// Returns the quantile, interpolated between the two flows around it.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let last = self.throughputs.len() - 1;
        let at = share * last as f64;
        let (low, part) = (at as usize, at.fract());
        let high = self.throughputs[last.min(low + 1)];
        self.throughputs[low] * (1.0 - part) + high * part
    }
}

/// Simulates the set-up and measures it.
pub(super) fn run(set_up: &SetUp, seed: u64) -> Result<Measured, String> {
    let dumbbell = dumbbell()?;
    let wire_sizes = WireSizes {
        data_overhead: Some(set_up.overhead),
        control_bytes: Some(40),
        ..WireSizes::default()
    };
    let config = SimulationConfig { seed, wire_sizes };
    let mut simulation = Simulation::new(dumbbell.topology.clone(), config);
    let Duplex { forward, reverse } = dumbbell.bottleneck;
    simulation.observe(Drops { links: [forward, reverse], count: 0 });
    let start = Instant::ZERO;
    let mut apps = Vec::new();
    for spec in specs(set_up, &dumbbell)? {
        apps.push(simulation.add(start, PoissonFlows::new(spec)));
    }
    simulation.run(start + LIMIT).map_err(|e| e.to_string())?;
    let mut flows: Vec<FlowRecord> = Vec::new();
    for id in apps {
        let app: Option<&PoissonFlows> = simulation.application(id);
        flows.extend(app.map_or(&[][..], PoissonFlows::flows));
    }
    flows.sort_by_key(|flow| flow.started_at);
    let drops = simulation.observer::<Drops>().map_or(0, |drops| drops.count);
    measure(set_up, &flows, drops)
}

/// Computes the figures of the flows behind the warm-up.
///
/// # Errors
///
/// If there are too few flows, or one was reset.
fn measure(set_up: &SetUp, flows: &[FlowRecord], drops: u64) -> Result<Measured, String> {
    let counted = flows.get(WARM_UP..WARM_UP + set_up.flows as usize);
    let counted = counted.ok_or("fewer flows than are measured")?;
    let seconds = |flow: &FlowRecord| flow.time_to_ack().map(|time| time.as_secs_f64());
    let times: Option<Vec<f64>> = counted.iter().map(seconds).collect();
    let times = times.ok_or("a flow was reset")?;
    let mbps = |(flow, time): (&FlowRecord, &f64)| flow.bytes as f64 * 8e-6 / time;
    let mut throughputs: Vec<f64> = counted.iter().zip(&times).map(mbps).collect();
    throughputs.sort_by(f64::total_cmp);
    let span = counted[counted.len() - 1].started_at - counted[0].started_at;
    let lossy = counted.iter().filter(|flow| flow.segments_retransmitted > 0).count();
    let sent: u64 = flows.iter().map(|flow| flow.segments_sent).sum();
    Ok(Measured {
        mean_active: times.iter().sum::<f64>() / span.as_secs_f64(),
        share_lossy: lossy as f64 / counted.len() as f64,
        loss: drops as f64 / sent as f64,
        throughputs,
    })
}

/// Returns the dumbbell of the runs.
fn dumbbell() -> Result<Dumbbell, String> {
    let link = |mbit, us, queue| {
        LinkConfig::new(Rate::from_mbps(mbit), Duration::from_micros(us), queue)
            .map_err(|e| e.to_string())
    };
    let side = link(50, 100, QueueLimit::Unlimited)?;
    let bottleneck =
        Duplex { forward: link(20, 20_000, QUEUE)?, reverse: link(20, 20_000, QUEUE)? };
    Ok(Dumbbell::new(PAIRS, side, bottleneck))
}

/// Returns the arrivals, one way or both.
fn specs(set_up: &SetUp, dumbbell: &Dumbbell) -> Result<Vec<PoissonSpec>, String> {
    let scheme = Scheme::parse(&format!("{}+rwnd=1000MB", set_up.scheme));
    let scheme = scheme.map_err(|e| e.to_string())?;
    let there: Vec<_> =
        dumbbell.sources.iter().copied().zip(dumbbell.sinks.iter().copied()).collect();
    let back = there.iter().map(|(from, to)| (*to, *from)).collect();
    let ways: Vec<_> = match set_up.both_ways {
        true => vec![("there", there), ("back", back)],
        false => vec![("there", there)],
    };
    let flows = (WARM_UP as f64 + f64::from(set_up.flows)) * (1.0 + TAIL);
    let (count, rate) = (flows / ways.len() as f64, set_up.flows_per_s / ways.len() as f64);
    let gaps = Distribution::exponential(1.0 / rate).map_err(|e| e.to_string())?;
    let bytes = sizes(set_up.mean_packets)?;
    let spec = |(name, pairs): (&str, Vec<_>)| PoissonSpec {
        name: name.to_owned(),
        pairs,
        choice: PairChoice::Random,
        gaps: gaps.clone(),
        bytes: bytes.clone(),
        count: Some(count as u64),
        scheme: scheme.clone(),
        receiver: scheme.clone(),
    };
    Ok(ways.into_iter().map(spec).collect())
}

/// Returns the sizes of transfers: bytes of an exponential number of packets with this mean,
/// rounded up to whole ones.
fn sizes(mean_packets: f64) -> Result<Distribution, String> {
    let ratio = libm::exp(-1.0 / mean_packets);
    let mut weight = 1.0;
    let largest = (mean_packets * LARGEST).max(LARGEST) as u64;
    let weighted = (1..=largest).map(|packets| {
        let value = ((packets * PACKET) as f64, weight);
        weight *= ratio;
        value
    });
    Distribution::weighted(&weighted.collect::<Vec<_>>()).map_err(|e| e.to_string())
}

/// Counts data segments that either direction of the bottleneck drops.
struct Drops {
    links: [LinkId; 2],
    count: u64,
}

impl Observer for Drops {
    fn on_packet(&mut self, _: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let data = matches!(packet.body, Body::Segment(transit) if transit.segment.len > 0);
        if self.links.contains(&link) && data && matches!(step, Step::Drop { .. }) {
            self.count += 1;
        }
    }
}
