//! One load: builds the simulation of a repeat, runs it, keeps what the race needs.

use super::record::{Recorder, Recording};
use super::setup::Setup;
use super::tally::Tally;
use super::{BASELINE, Race, RunOptions, TIME_LIMIT};
use netsim::{
    Access, AppId, BulkSpec, BulkTransfer, Captures, HostId, LinkId, Observer, PageLoad, PageSpec,
    Simulation, SimulationConfig, Transfer, WireSizes,
};
use std::any::Any;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant};

/// One load of the page. Durations count from its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Until the last byte of the last HTML part had arrived.
    pub html: Option<Duration>,
    /// Until the last byte of the page had; `None` if it never did.
    pub page: Option<Duration>,
    /// Segments sent again, by servers and client.
    pub retransmitted: u64,
    /// Expiries of retransmission timers, of servers and client.
    pub timeouts: u64,
    /// The page's own packets dropped by queues or lost on the way.
    pub dropped: u64,
    /// Bytes the background flows received from the load's start to its end.
    pub background_bytes: u64,
    /// Why it did not complete.
    pub failure: Option<String>,
    /// When each object arrived, by [`workload::ObjectId`].
    pub objects: Vec<Option<Duration>>,
    /// For figures; if asked for.
    pub recording: Option<Recording>,
    /// Captures of the access link, if asked for: what crossed each direction, by its name, and
    /// with `-sent` behind it what was handed to its queue.
    pub captures: Vec<(String, Vec<u8>)>,
}

/// A simulation of a repeat under a scheme, and who is in it.
pub(super) struct Stage {
    pub(super) simulation: Simulation,
    pub(super) start: Instant,
    background: Vec<AppId>,
    load: AppId,
    access: Access,
}

/// Loads the page under `scheme`.
pub(super) fn run(race: &Race, scheme: &Scheme, (repeat, options): (u32, RunOptions<'_>)) -> Load {
    let first = repeat == 0;
    let record = options.record && first;
    let scheme = if record { &scheme.recorded() } else { scheme };
    let mut stage = Stage::new(race, scheme, repeat);
    let servers = stage.servers(race).to_vec();
    stage.simulation.observe(Tally::of(&servers));
    if record {
        let recorder = Recorder::new(&servers, stage.start);
        stage.simulation.observe(recorder);
    }
    if options.capture && first {
        stage.capture();
    }
    let (bytes, failure) = stage.load_page();
    stage.result(race, bytes, failure)
}

impl Stage {
    pub(super) fn new(race: &Race, scheme: &Scheme, repeat: u32) -> Self {
        let scheme = &as_browsers_use_it(scheme);
        let setup = Setup::new(race, repeat);
        let access = setup.topology(race);
        let config = SimulationConfig { seed: setup.seed, wire_sizes: WireSizes::default() };
        let mut simulation = Simulation::new(access.topology.clone(), config);
        let (servers, sources) = access.servers.split_at(race.page.hosts().len());
        let flows = setup.background.iter().zip(sources);
        let background = flows
            .map(|(at, from)| simulation.add_background(*at, bulk(*from, access.client)))
            .collect();
        let load = PageLoad::new(PageSpec {
            page: Arc::clone(&race.page),
            config: race.loader_for(scheme),
            client: access.client,
            servers: servers.to_vec(),
            client_scheme: scheme.clone(),
            server_scheme: scheme.clone(),
        });
        let load = simulation.add(setup.page, load);
        Self { simulation, start: setup.page, background, load, access }
    }

    fn servers(&self, race: &Race) -> &[HostId] {
        &self.access.servers[..race.page.hosts().len()]
    }

    /// Captures both directions of the access link, behind their queues and ahead of them.
    fn capture(&mut self) {
        let access = self.access.access;
        let links = || [access.forward, access.reverse].map(|link| (link, Vec::new()));
        let crossed = Captures::begin(links()).expect("writing to memory");
        let sent = Captures::begin_at_sender(links()).expect("writing to memory");
        self.simulation.observe(crossed);
        self.simulation.observe(sent);
    }

    /// The captures among the observers, by name, in the order in which they were begun.
    fn captured(&self, observers: &mut Vec<Box<dyn Observer>>) -> Vec<(String, Vec<u8>)> {
        let name = |link: LinkId| self.access.topology.links()[link.index()].name.as_str();
        let mut files = Vec::new();
        for place in ["", "-sent"] {
            let Some(captures) = take::<Captures<Vec<u8>>>(observers) else { break };
            let captures = captures.finish().expect("writing to memory");
            files.extend(
                captures.into_iter().map(|(l, file)| (format!("{}{place}", name(l)), file)),
            );
        }
        files
    }

    /// Bytes that the background flows have received so far.
    pub(super) fn background_bytes(&self) -> u64 {
        let flows = self.background.iter();
        flows
            .filter_map(|id| self.simulation.application::<BulkTransfer>(*id))
            .map(BulkTransfer::received)
            .sum()
    }

    /// Runs to the end of the load; returns the background's bytes during it, and what went wrong.
    fn load_page(&mut self) -> (u64, Option<String>) {
        let warm_up = self.simulation.run_until(self.start);
        let before = self.background_bytes();
        let end = self.simulation.run(self.start + TIME_LIMIT);
        let failure = warm_up.and(end.map(drop)).err();
        (self.background_bytes() - before, failure.map(|error| error.to_string()))
    }

    /// Expiries of both ends' timers; of a load that never ended, so far.
    fn timeouts(&self, transfer: &Transfer) -> u64 {
        let live = |host: HostId, conn| {
            let connection = self.simulation.host(host).connection(conn);
            connection.map_or(0, |connection| connection.stats().timeouts)
        };
        let server = match (transfer.is_recorded(), transfer.server_conn()) {
            (false, Some(conn)) => live(transfer.server(), conn),
            _ => transfer.stats().timeouts,
        };
        let client = match (transfer.client_stats(), transfer.client_conn()) {
            (Some(stats), _) => stats.timeouts,
            (None, Some(conn)) => live(self.access.client, conn),
            (None, None) => 0,
        };
        server + client
    }

    fn result(mut self, race: &Race, background_bytes: u64, failure: Option<String>) -> Load {
        let mut observers = self.simulation.take_observers();
        let observed = &mut observers;
        let tally = take::<Tally>(observed).unwrap_or_default();
        let recorder = take::<Recorder>(observed);
        let captures = self.captured(observed);
        let load = self.simulation.application::<PageLoad>(self.load).expect("the load was added");
        let loader = load.loader();
        let since = |at: Option<Instant>| at.map(|at| at.saturating_since(self.start));
        let lost = loader
            .failures()
            .first()
            .map(|(id, why)| format!("{:?}: {why}", race.page.object(*id).label));
        Load {
            html: since(loader.html_done_at()),
            page: since(loader.page_done_at()),
            retransmitted: tally.retransmitted,
            timeouts: load.transfers().iter().map(|t| self.timeouts(t)).sum(),
            dropped: tally.dropped,
            background_bytes,
            failure: failure.or(lost),
            objects: loader.milestones().iter().map(|m| since(m.done)).collect(),
            recording: recorder.map(|r| r.finish(load, &self.access)),
            captures,
        }
    }
}

/// Browsers and web servers set `TCP_NODELAY`; a scheme may say otherwise (`nagle=on`).
pub(crate) fn as_browsers_use_it(scheme: &Scheme) -> Scheme {
    let says = scheme.name().split('+').any(|part| part.starts_with("nagle="));
    match says {
        true => scheme.clone(),
        false => scheme.without_nagle(),
    }
}

/// An endless `linux` flow to the client.
fn bulk(from: HostId, to: HostId) -> BulkTransfer {
    let linux = Scheme::parse(BASELINE).expect("the baseline is in the catalogue");
    BulkTransfer::new(BulkSpec {
        from,
        to,
        bytes: None,
        scheme: linux.clone(),
        receiver: linux,
        close: false,
    })
}

/// Takes the observer of this kind out.
fn take<T: Observer>(observers: &mut Vec<Box<dyn Observer>>) -> Option<T> {
    let index = observers.iter().position(|observer| {
        let observer: &dyn Any = &**observer;
        observer.is::<T>()
    })?;
    let observer: Box<dyn Any> = observers.remove(index);
    observer.downcast().ok().map(|observer| *observer)
}
