//! One scheme in one cell: who is on the path before, a first visit where there is something to
//! remember, and the transfer that is measured.

use super::TIME_LIMIT;
use super::cells::{BackgroundLoad, MatrixCell, Memory};
use super::standing::{Standing, Tally};
use crate::limit::{Capacity, limit_without_handshake};
use crate::path::PathSpec;
use crate::{BASELINE, Phases, as_browsers_use_it, loader_for};
use netsim::{
    Access, AppId, BulkSpec, BulkTransfer, PageLoad, PageSpec, Simulation, SimulationConfig,
    derive_seed,
};
use std::cell::RefCell;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::{Http, LoaderConfig, Object, ObjectKind, Page, PageHost};

/// What came of it. Durations count from the start of the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferOutcome {
    /// Until its last byte had arrived; `None` if it had not within [`TIME_LIMIT`].
    pub completion: Option<Duration>,
    /// The earliest that any transport could.
    pub limit: Duration,
    /// Until the background had heard of so many bytes more as it has to bring; `None` without it.
    pub background: Option<Duration>,
    /// Packets of the background offered to queues until then …
    pub background_packets: u64,
    /// … and dropped by them.
    pub background_drops: u64,
}

/// From the end of a first visit to the measured one: longer than any retransmission timeout of the
/// matrix's paths.
const IDLE: Duration = Duration::from_secs(5);
/// How much faster a path was that is remembered wrongly.
const FASTER: u64 = 4;
/// How long before the first visit the background begins: so long, and so many round trips.
const HEAD_START: (Duration, u64) = (Duration::from_secs(5), 10);

/// Transfers the cell's page under `scheme`.
pub(super) fn run(cell: &MatrixCell, scheme: &Scheme, seed: u64) -> TransferOutcome {
    let mut stage = Stage::new(cell, scheme, seed);
    let limit = earliest(cell, &stage.page);
    let start = match cell.memory {
        Memory::Cold => Some(stage.start),
        Memory::Warm | Memory::Stale => stage.visit_before(cell),
    };
    let missed = TransferOutcome { limit, ..TransferOutcome::default() };
    start.map_or(missed, |start| stage.measure(cell, start, limit))
}

/// The limit that binds every scheme, also those that need no handshake.
fn earliest(cell: &MatrixCell, page: &Page) -> Duration {
    let capacity = Capacity::of(&cell.path(), Rate::from_bps(0));
    limit_without_handshake(page, &plain(), capacity).page
}

fn plain() -> LoaderConfig {
    LoaderConfig::default()
}

/// Equal objects asked for at once, over connections that close behind them.
fn page(cell: &MatrixCell) -> Page {
    let host = PageHost::plain("server", Http::Http10);
    let count = cell.shape.objects();
    let object = |n: u64| {
        // What does not divide goes to the first.
        let bytes = cell.bytes / count + if n == 0 { cell.bytes % count } else { 0 };
        Object::plain(
            format!("object{n}"),
            if n == 0 { ObjectKind::Html } else { ObjectKind::Image },
            bytes,
        )
    };
    let objects = (0..count).map(object).collect();
    Page::new("transfer", vec![host], objects).expect("a page of equal objects is one")
}

/// A simulation of a cell under a scheme, and who is in it.
struct Stage {
    simulation: Simulation,
    access: Access,
    page: Arc<Page>,
    load: AppId,
    /// When the first visit begins.
    start: Instant,
}

impl Stage {
    fn new(cell: &MatrixCell, scheme: &Scheme, seed: u64) -> Self {
        let seed = derive_seed(seed, &format!("cell/{}", cell.name()));
        let flows = background(cell);
        let mut links = cell.path().links();
        if cell.memory == Memory::Stale {
            // The queue is what it is when measured.
            links = fast(cell).links();
        }
        let access = Access::new(1 + flows.len(), None, links);
        let config = SimulationConfig { seed, ..SimulationConfig::default() };
        let mut simulation = Simulation::new(access.topology.clone(), config);
        let mut phases = Phases::of(seed);
        let phase = phases.draw();
        for (scheme, source) in flows.iter().zip(&access.servers[1..]) {
            let bulk = bulk(scheme, (*source, access.client));
            simulation.add_background(Instant::ZERO + phases.draw(), bulk);
        }
        let rtt = Duration::from_millis(cell.rtt_ms);
        let head_start = match cell.load {
            BackgroundLoad::Idle => Duration::ZERO,
            BackgroundLoad::Half | BackgroundLoad::Full => {
                HEAD_START.0 + rtt.saturating_mul(HEAD_START.1)
            }
        };
        let start = Instant::ZERO + head_start + phase;
        let page = Arc::new(page(cell));
        let scheme = as_browsers_use_it(scheme);
        let load = PageLoad::new(PageSpec {
            page: Arc::clone(&page),
            config: loader_for(&plain(), &scheme),
            client: access.client,
            servers: vec![access.servers[0]],
            client_scheme: scheme.clone(),
            server_scheme: scheme,
        });
        let load = simulation.add(start, load);
        Self { simulation, access, page, load, start }
    }

    /// The visit that leaves something to remember; returns when the next begins, or `None` if it did
    /// not end.
    fn visit_before(&mut self, cell: &MatrixCell) -> Option<Instant> {
        let end = self.simulation.run(self.start + TIME_LIMIT).ok()?;
        if cell.memory == Memory::Stale {
            self.simulation.run_until(end + IDLE / 2).ok()?;
            let rate = Rate::from_bps(cell.rate_bps);
            for link in [self.access.access.forward, self.access.access.reverse] {
                self.simulation.set_rate(link, rate).ok()?;
            }
        }
        let next = end + IDLE;
        self.simulation.wake(self.load, next, PageLoad::AGAIN);
        Some(next)
    }

    fn measure(mut self, cell: &MatrixCell, start: Instant, limit: Duration) -> TransferOutcome {
        let _ = self.simulation.run_until(start);
        let sources = &self.access.servers[1..];
        let (standing, tally) = Standing::new(sources, start, goal(cell));
        if !sources.is_empty() {
            self.simulation.observe(standing);
        }
        let ended = self.simulation.run(start + TIME_LIMIT).is_ok();
        let load = self.simulation.application::<PageLoad>(self.load).expect("it was added");
        let done = load.loader().page_done_at().filter(|_| ended);
        if !sources.is_empty() {
            self.finish_background(cell, start + TIME_LIMIT, &tally);
        }
        let tally = *tally.borrow();
        TransferOutcome {
            completion: done.map(|at| at.saturating_since(start)),
            limit,
            background: tally.reached.map(|at| at.saturating_since(start)),
            background_packets: tally.offered,
            background_drops: tally.dropped,
        }
    }

    /// Goes on until the background has its bytes, some round trips at a time.
    fn finish_background(&mut self, cell: &MatrixCell, limit: Instant, tally: &RefCell<Tally>) {
        let step = Duration::from_millis(4 * cell.rtt_ms);
        while tally.borrow().reached.is_none() && self.simulation.now() < limit {
            let next = self.simulation.now() + step;
            if self.simulation.run_until(next).is_err() {
                break;
            }
        }
    }
}

/// The path four times faster, with the queue it has when measured.
fn fast(cell: &MatrixCell) -> PathSpec {
    let slow = cell.path();
    let rate = Rate::from_bps(FASTER * cell.rate_bps);
    PathSpec::new(rate, slow.rtt(), slow.queue()).expect("a rate that can be")
}

/// Bytes that the background has to bring while it is watched: as many as the transfer, and enough for
/// some round trips.
fn goal(cell: &MatrixCell) -> u64 {
    let rtt = Duration::from_millis(cell.rtt_ms);
    cell.bytes.max(2 * Rate::from_bps(cell.rate_bps).bytes_in(rtt))
}

/// The schemes of the background.
fn background(cell: &MatrixCell) -> Vec<Scheme> {
    let linux = |text: &str| Scheme::parse(text).expect("linux and its parameters");
    match cell.load {
        BackgroundLoad::Idle => Vec::new(),
        BackgroundLoad::Full => vec![linux(BASELINE), linux(BASELINE)],
        BackgroundLoad::Half => {
            let rtt = Duration::from_millis(cell.rtt_ms);
            let half = Rate::from_bps(cell.rate_bps).bytes_in(rtt) / 2;
            // In packets of 1500 bytes.
            vec![linux(&format!("{BASELINE}+window={}", (half / 1500).max(1)))]
        }
    }
}

fn bulk(scheme: &Scheme, (from, to): (netsim::HostId, netsim::HostId)) -> BulkTransfer {
    BulkTransfer::new(BulkSpec {
        from,
        to,
        bytes: None,
        scheme: scheme.clone(),
        receiver: scheme.clone(),
        close: false,
    })
}
