//! One scheme in one cell: earlier transfers on the path, a first visit where there is something to
//! remember, and the measured transfer.

use super::TIME_LIMIT;
use super::causes::{CauseCounts, RetransmissionWatch};
use super::cell_setup::{BackgroundLoad, Before, CellSetup, DownRate};
use super::standing::{CountersFrom, StandingCounters};
use super::wander;
use crate::ends::EndCounts;
use crate::perfect::{self, LinkOrder};
use crate::{Phases, ProcessingDelay, as_browsers_use_it, loader_for};
use link::LinkConfig;
use link::path::PathSpec;
use netsim::{
    Access, AppId, BulkSpec, BulkTransfer, Duplex, HostId, PageLoad, PageSpec, Simulation,
    SimulationConfig, derive_seed,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};

/// Result of a transfer. Durations count from the start of the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TransferOutcome {
    /// Time until its last byte was delivered; `None` if it was not within [`TIME_LIMIT`].
    pub completion: Option<Duration>,
    /// Time until the background's goal of further bytes was acknowledged; `None` without a
    /// background.
    pub background: Option<Duration>,
    /// Packets of the background offered to queues until then …
    pub background_packets: u64,
    /// … and dropped by them.
    pub background_drops: u64,
    /// Causes of the transfer's lost time.
    pub causes: CauseCounts,
}

impl TransferOutcome {
    /// The outcome as numbers, for another process.
    pub fn to_numbers(&self) -> [u64; 10] {
        let nanos = |time: Option<Duration>| time.map_or(u64::MAX, Duration::as_nanos);
        let CauseCounts {
            lost_syns,
            timeouts,
            data_timeouts,
            timeout_seconds,
            probes,
            retransmitted,
        } = self.causes;
        [
            nanos(self.completion),
            nanos(self.background),
            self.background_packets,
            self.background_drops,
            lost_syns,
            timeouts,
            data_timeouts,
            timeout_seconds.to_bits(),
            probes,
            retransmitted,
        ]
    }

    /// The outcome with these numbers.
    pub fn from_numbers(numbers: [u64; 10]) -> Self {
        let time = |nanos: u64| (nanos != u64::MAX).then_some(Duration::from_nanos(nanos));
        let [completion, background, background_packets, background_drops, causes @ ..] = numbers;
        let [lost_syns, timeouts, data_timeouts, timeout_seconds, probes, retransmitted] = causes;
        Self {
            completion: time(completion),
            background: time(background),
            background_packets,
            background_drops,
            causes: CauseCounts {
                lost_syns,
                timeouts,
                data_timeouts,
                timeout_seconds: f64::from_bits(timeout_seconds),
                probes,
                retransmitted,
            },
        }
    }
}

/// Random choices of a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    pub(super) seed: u64,
    /// Processing delay of each host before it sends a packet.
    pub(super) processing: ProcessingDelay,
}

/// From the end of a first visit to the measured one: longer than any retransmission timeout of the
/// matrix's paths.
const IDLE: Duration = Duration::from_secs(5);
/// Time by which the background begins before the first visit: the sum of a duration and a number
/// of round trips.
const HEAD_START: (Duration, u64) = (Duration::from_secs(5), 10);

/// Transfers the scenario's page under `scheme`.
pub(super) fn run(setup: &CellSetup, scheme: &Scheme, draw: Draw) -> TransferOutcome {
    let scheme = as_browsers_use_it(scheme);
    transfer(Stage::new(setup, draw, None), setup, Ends { server: &scheme, client: &scheme })
}

/// Transfers it by servers that know the path, in the better order of the link. Its queues lose
/// nothing, so the background's time would not measure harm, and is left out.
pub(super) fn perfect_transfer(setup: &CellSetup, draw: Draw) -> TransferOutcome {
    let window = match setup.down_rate {
        DownRate::Steady => perfect::window(&setup.path, setup.path.rtt(), perfect::PACKET),
        DownRate::Wandering => perfect::NO_WINDOW,
    };
    let server = &as_browsers_use_it(&perfect::server(window));
    let client = &as_browsers_use_it(&crate::run::linux());
    let outcome = |order: &LinkOrder| {
        transfer(Stage::new(setup, draw, Some(*order)), setup, Ends { server, client })
    };
    let orders = LinkOrder::all(setup.load != BackgroundLoad::Idle).iter();
    let faster = orders.map(outcome).min_by_key(|one| one.completion.unwrap_or(Duration::MAX));
    let TransferOutcome { completion, causes, .. } = faster.expect("there is an order");
    TransferOutcome { completion, causes, ..TransferOutcome::default() }
}

/// The schemes of both ends.
#[derive(Clone, Copy)]
struct Ends<'a> {
    server: &'a Scheme,
    client: &'a Scheme,
}

fn transfer(mut stage: Stage, setup: &CellSetup, ends: Ends<'_>) -> TransferOutcome {
    let load = stage.add_page_load(setup, ends);
    let start = stage.visit_before(setup);
    start.map_or_else(TransferOutcome::default, |start| {
        if setup.before != Before::Nothing {
            stage.simulation.wake(load, start, PageLoad::RESTART_TOKEN);
        }
        stage.measure(setup, load, start)
    })
}

/// Time that the background takes for its bytes without a transfer. Where there is a first visit by
/// `linux`, it counts from the instant at which the measured one would begin. `None` without a
/// background.
pub(super) fn background_alone(setup: &CellSetup, draw: Draw) -> Option<Duration> {
    let mut stage = Stage::new(setup, draw, None);
    let start = match setup.before {
        Before::Nothing => stage.start,
        Before::SameTransfer | Before::FasterPath(_) => {
            let linux = as_browsers_use_it(&crate::run::linux());
            stage.add_page_load(setup, Ends { server: &linux, client: &linux });
            stage.visit_before(setup)?
        }
    };
    let counters = stage.watch_background(setup, start)?;
    stage.finish_background(setup, start + TIME_LIMIT, &counters);
    let reached = counters.borrow().reached;
    Some(reached.map_or(TIME_LIMIT, |at| at.saturating_since(start)))
}

/// A simulation of a cell, and its applications.
struct Stage {
    simulation: Simulation,
    access: Access,
    /// Servers of the page; behind them are the sources of the background.
    servers: usize,
    /// Start of the first visit.
    start: Instant,
}

impl Stage {
    /// The access link is the cell's, or one that loses nothing and has an order.
    fn new(setup: &CellSetup, draw: Draw, order: Option<LinkOrder>) -> Self {
        let seed = derive_seed(draw.seed, &format!("cell/{}", setup.name));
        let flows = setup.background();
        let servers = setup.page.hosts().len();
        let links = LinkOrder::of_links(order, links(setup, seed));
        let mut access = Access::new(servers + flows.len(), None, links);
        for host in access.servers.iter().chain([&access.client]) {
            access.topology.set_processing_delay(*host, draw.processing);
        }
        let config = SimulationConfig { seed, ..SimulationConfig::default() };
        let mut simulation = Simulation::new(access.topology.clone(), config);
        let mut phases = Phases::of(seed);
        let phase = phases.next_start();
        for (scheme, source) in flows.iter().zip(&access.servers[servers..]) {
            let bulk = bulk(scheme, *source, access.client);
            simulation.add_background(Instant::ZERO + phases.next_start(), bulk);
        }
        let head_start = match flows.is_empty() {
            true => Duration::ZERO,
            false => HEAD_START.0 + setup.path.rtt().saturating_mul(HEAD_START.1),
        };
        let start = Instant::ZERO + head_start + phase;
        Self { simulation, access, servers, start }
    }

    /// Adds the load of the page, to begin with the first visit.
    fn add_page_load(&mut self, setup: &CellSetup, ends: Ends<'_>) -> AppId {
        let load = PageLoad::new(PageSpec {
            page: Arc::clone(&setup.page),
            config: loader_for(&setup.loader, ends.server),
            client: self.access.client,
            servers: self.access.servers[..self.servers].to_vec(),
            client_scheme: ends.client.clone(),
            server_scheme: ends.server.clone(),
        });
        self.simulation.add(self.start, load)
    }

    /// The visit that leaves something to remember; returns when the measured one begins, or `None`
    /// if it did not end.
    fn visit_before(&mut self, setup: &CellSetup) -> Option<Instant> {
        if setup.before == Before::Nothing {
            return Some(self.start);
        }
        let end = self.simulation.run(self.start + TIME_LIMIT).ok()?;
        if let Before::FasterPath(_) = setup.before {
            self.simulation.run_until(end + IDLE / 2).ok()?;
            let links = self.access.access;
            for (link, rate) in
                [(links.forward, setup.path.down()), (links.reverse, setup.path.up())]
            {
                self.simulation.set_rate(link, rate).ok()?;
            }
        }
        Some(end + IDLE)
    }

    /// Runs up to `start` and watches the background from there on, if there is one.
    fn watch_background(&mut self, setup: &CellSetup, start: Instant) -> Option<Watched> {
        let _ = self.simulation.run_until(start);
        let sources = &self.access.servers[self.servers..];
        let (standing, counters) = CountersFrom::new(sources, start, setup.background_bytes());
        if sources.is_empty() {
            return None;
        }
        self.simulation.observe(standing);
        Some(counters)
    }

    fn measure(mut self, setup: &CellSetup, load: AppId, start: Instant) -> TransferOutcome {
        let counters = self.watch_background(setup, start);
        let before = self.end_counts(load);
        self.simulation
            .observe(RetransmissionWatch::new(&self.access.servers[..self.servers], start));
        let ended = self.simulation.run(start + TIME_LIMIT).is_ok();
        let done = self.load(load).loader().page_done_at().filter(|_| ended);
        let ends = self.end_counts(load).since(before);
        let resends = self.simulation.observer::<RetransmissionWatch>().expect("it was added");
        let causes = resends.with(ends);
        if let Some(counters) = &counters {
            self.finish_background(setup, start + TIME_LIMIT, counters);
        }
        let counters =
            counters.map_or_else(StandingCounters::default, |counters| *counters.borrow());
        TransferOutcome {
            completion: done.map(|at| at.saturating_since(start)),
            background: counters.reached.map(|at| at.saturating_since(start)),
            background_packets: counters.offered,
            background_drops: counters.dropped,
            causes,
        }
    }

    fn load(&self, load: AppId) -> &PageLoad {
        self.simulation.application(load).expect("it was added")
    }

    fn end_counts(&self, load: AppId) -> EndCounts {
        let transfers = self.load(load).transfers().iter();
        transfers.map(|t| EndCounts::of(&self.simulation, self.access.client, t)).sum()
    }

    /// Goes on until the background has its bytes, some round trips at a time.
    fn finish_background(&mut self, setup: &CellSetup, limit: Instant, counters: &Watched) {
        let step = setup.path.rtt().saturating_mul(4);
        while counters.borrow().reached.is_none() && self.simulation.now() < limit {
            let next = self.simulation.now() + step;
            if self.simulation.run_until(next).is_err() {
                break;
            }
        }
    }
}

/// A counter that an observer adds to.
type Watched = Rc<RefCell<StandingCounters>>;

/// The access link at first.
fn links(setup: &CellSetup, seed: u64) -> Duplex<LinkConfig> {
    let mut links = setup.path.links();
    if let Before::FasterPath(times) = setup.before {
        // The queue is that of the measured path.
        links = faster(&setup.path, times).links();
    }
    if setup.down_rate == DownRate::Wandering {
        links.forward = links.forward.with_rate_trace(wander::trace(setup.path.down(), seed));
    }
    links
}

/// The path at `times` its rate, with the queue it has when measured.
fn faster(slow: &PathSpec, times: u64) -> PathSpec {
    let rate = Rate::from_bps(times * slow.down().as_bps());
    PathSpec::new(rate, slow.rtt(), slow.queue()).expect("a rate that can be")
}

fn bulk(scheme: &Scheme, from: HostId, to: HostId) -> BulkTransfer {
    BulkTransfer::new(BulkSpec {
        from,
        to,
        bytes: None,
        scheme: scheme.clone(),
        receiver: scheme.clone(),
        close: false,
    })
}
