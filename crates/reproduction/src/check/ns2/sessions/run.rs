//! One run: a page between each pair of hosts.

use super::super::paper::{PACKET, Wires};
use link::Discipline;
use netsim::{AppId, BulkSpec, BulkTransfer, FlowRecord, Simulation};
use tcp::Scheme;
use units::{Duration, Instant};
use workload::Distribution;

/// Transfers of a page, and packets of each.
const TRANSFERS: u64 = 4;
const PACKETS: u64 = 10;
/// Longer than any page takes.
const LIMIT: Duration = Duration::from_secs(3600);

/// The parameters in a row.
#[derive(Clone, Debug)]
pub(super) struct SetUp {
    pub(super) scheme: String,
    /// All transfers of a page on one connection.
    pub(super) persistent: bool,
    /// Seconds within which pages start.
    pub(super) jitter: f64,
    pub(super) pairs: usize,
    /// Sources take up to a millisecond to send.
    pub(super) processing: bool,
}

/// The measurements of a run; times in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// Mean time of a page.
    pub(super) mean: f64,
    pub(super) longest: f64,
    pub(super) sent: u64,
    pub(super) timeouts: u64,
    pub(super) drops: u64,
}

impl Measured {
    pub(super) fn loss(&self) -> f64 {
        self.drops as f64 / self.sent.max(1) as f64
    }
}

/// Simulates the set-up and measures it.
pub(super) fn run(set_up: &SetUp, seed: u64) -> Result<Measured, String> {
    let wires = Wires {
        pairs: set_up.pairs,
        side_delay: Duration::from_millis(1),
        delay: Duration::from_millis(50),
        buffer: 20,
        discipline: Discipline::DropTail,
        processing: set_up.processing,
    };
    let (mut simulation, bell) = wires.simulation(seed)?;
    let scheme = Scheme::parse(&set_up.scheme).map_err(|e| e.to_string())?;
    let transfers = if set_up.persistent { 1 } else { TRANSFERS };
    let start = Distribution::uniform(0.0, set_up.jitter).map_err(|e| e.to_string())?;
    let mut pages: Vec<Vec<AppId>> = Vec::new();
    for n in 0..set_up.pairs {
        let at = simulation.draw_start(&format!("page{n}"), Instant::ZERO, &start);
        let spec = BulkSpec {
            from: bell.sources[n],
            to: bell.sinks[n],
            bytes: Some(TRANSFERS * PACKETS * PACKET / transfers),
            scheme: scheme.clone(),
            receiver: scheme.clone(),
            close: false,
        };
        let page = (0..transfers).map(|_| simulation.add(at, BulkTransfer::new(spec.clone())));
        pages.push(page.collect());
    }
    // A page that never ends has no time.
    let _ended = simulation.run(Instant::ZERO + LIMIT).is_ok();
    let mut measured = Measured {
        drops: simulation.link(bell.bottleneck.forward).counters().dropped_packets,
        ..Measured::default()
    };
    for page in &pages {
        let flows = flows(&simulation, page);
        let time = page_time(&flows);
        measured.mean += time / set_up.pairs as f64;
        measured.longest = measured.longest.max(time);
        measured.sent += flows.iter().map(|f| f.segments_sent).sum::<u64>();
        measured.timeouts += flows.iter().map(|f| f.timeouts).sum::<u64>();
    }
    Ok(measured)
}

fn flows<'a>(simulation: &'a Simulation, page: &[AppId]) -> Vec<&'a FlowRecord> {
    let of = |id: &AppId| simulation.application::<BulkTransfer>(*id).map(BulkTransfer::flows);
    page.iter().filter_map(of).flatten().collect()
}

/// Returns the time from the start of a page's transfers until the last ACK of the last one.
fn page_time(flows: &[&FlowRecord]) -> f64 {
    let time = |flow: &&FlowRecord| {
        flow.acked_at.map_or(f64::INFINITY, |at| (at - flow.started_at).as_secs_f64())
    };
    flows.iter().map(time).fold(0.0, f64::max)
}
