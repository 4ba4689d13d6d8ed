//! One client's visits: builds the simulation of a repeat, runs it, keeps the data that the race
//! needs.

use super::contestant::MeasuredLoad;
use super::counters::PageCounters;
use super::ends::EndCounts;
use super::record::{LoadRecording, Recorder};
use super::setup::Setup;
use super::{BASELINE, Race, RunOptions, TIME_LIMIT};
use link::LinkConfig;
use link::path::PathSpec;
use memory::site::SiteConfig;
use memory::{GatewayConfig, ShareRule};
use netsim::{
    Access, AccessLine, AppId, BulkSpec, BulkTransfer, Captures, Collecting, Duplex, HostId,
    LinkId, Observer, PageLoad, PageSpec, Simulation, SimulationConfig, SiteSpec, WireSizes,
};
use std::any::Any;
use std::sync::Arc;
use tcp::Scheme;
use units::Instant;
use workload::LoaderConfig;

/// A simulation of a repeat under a scheme, and its applications.
pub(super) struct Stage {
    pub(super) simulation: Simulation,
    /// Start of the first visit.
    pub(super) start: Instant,
    background: Vec<AppId>,
    /// The page's servers, once for each of the site's: in the order of the page's hosts, or one
    /// for all.
    sites: Vec<Vec<HostId>>,
    /// The loads by server and client, from the first visit of each pair on.
    loads: Vec<SiteLoad>,
    access: Access,
    /// The first client's line, and its neighbour's if there is one.
    lines: Vec<AccessLine>,
    scheme: Scheme,
    /// The path of the repeat.
    path: PathSpec,
    /// Counts of the visits before the present one.
    before: Counts,
}

/// The loads that a client makes from one server of the site.
#[derive(Clone, Copy, Debug)]
struct SiteLoad {
    site: usize,
    client: usize,
    app: AppId,
}

/// Totals over all visits so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    retransmitted: u64,
    dropped: u64,
    timeouts: u64,
}

/// The parts that a simulation is made of.
#[derive(Clone)]
pub(super) struct SimulationParts<'a> {
    pub(super) race: &'a Race,
    pub(super) scheme: &'a Scheme,
    /// The access link of a path.
    pub(super) links: fn(&PathSpec) -> Duplex<LinkConfig>,
}

impl<'a> SimulationParts<'a> {
    /// A scheme over the race's path.
    pub(super) fn new(race: &'a Race, scheme: &'a Scheme) -> Self {
        Self { race, scheme, links: PathSpec::links }
    }
}

/// Visits the page, as often as the race has it.
pub(super) fn run(
    staging: &SimulationParts<'_>,
    repeat: u32,
    options: RunOptions<'_>,
) -> Vec<MeasuredLoad> {
    let first = repeat == 0;
    let record = options.record && first;
    let race = staging.race;
    let recorded = staging.scheme.recorded();
    let scheme = if record { &recorded } else { staging.scheme };
    let mut stage = Stage::new(&SimulationParts { scheme, ..staging.clone() }, repeat);
    stage.attach_observers(record);
    if options.capture && first {
        stage.capture();
    }
    let mut loads = stage.visits(race);
    stage.finish(race, &mut loads, record);
    if !first {
        // Only the first repeat is shown in detail, and there may be thousands.
        loads.iter_mut().for_each(|load| load.detail = None);
    }
    loads
}

/// State of a load at the end of the simulated time.
struct EndedLoad {
    /// Bytes that the background flows received during it.
    background_bytes: u64,
    /// Reason for a failure.
    failure: Option<String>,
}

impl Stage {
    pub(super) fn new(staging: &SimulationParts<'_>, repeat: u32) -> Self {
        let SimulationParts { race, scheme, .. } = *staging;
        let scheme = as_browsers_use_it(scheme);
        let setup = Setup::new(race, repeat);
        let mut access = setup.topology(race, staging.links);
        let neighbour = race.visits.neighbour().map(|path| access.add_neighbour(path.links()));
        let lines = [access.line()].into_iter().chain(neighbour).collect();
        let config = SimulationConfig { seed: setup.seed, wire_sizes: WireSizes::default() };
        let mut simulation = Simulation::new(access.topology.clone(), config);
        let own = race.servers_of_a_visit();
        let (servers, sources) = access.servers.split_at(own * race.visits.site.max(1) as usize);
        let flows = setup.background.iter().zip(sources);
        let linux = race.baseline();
        let background = flows
            .map(|(at, from)| simulation.add_background(*at, bulk(*from, access.client, &linux)))
            .collect();
        let sites = servers.chunks(own).map(<[HostId]>::to_vec).collect();
        let (loads, before) = (Vec::new(), Counts::default());
        let (start, path) = (setup.page, setup.path);
        let mut stage = Self {
            simulation,
            start,
            background,
            sites,
            loads,
            access,
            lines,
            scheme,
            path,
            before,
        };
        stage.share_gateways();
        stage.begin_visit(race, 0, start);
        stage
    }

    /// The servers behind one of the page's hosts are a site, if there are several.
    fn share_gateways(&mut self) {
        if self.sites.len() < 2 {
            return;
        }
        for host in 0..self.sites[0].len() {
            self.simulation.add_site(&SiteSpec {
                servers: self.sites.iter().map(|servers| servers[host]).collect(),
                gateway: GatewayConfig::default(),
                estimator: SiteConfig::default(),
                collecting: Collecting::Reports,
                shares: ShareRule::default(),
            });
        }
    }

    /// The `n`-th visit is to begin at `at`.
    pub(super) fn begin_visit(&mut self, race: &Race, n: u32, at: Instant) {
        match self.site_load(race, n) {
            Some(load) => self.simulation.wake(load.app, at, PageLoad::RESTART_TOKEN),
            None => {
                let (site, client) = (self.site(n), race.visits.client(n));
                let knows_hosts = self.loads.iter().any(|load| load.client == client);
                let config = LoaderConfig { knows_hosts, ..race.loader_between(&self.scheme) };
                let load = PageLoad::new(PageSpec {
                    page: Arc::clone(&race.page),
                    config,
                    client: self.lines[client].client,
                    servers: self.servers(race, site),
                    client_scheme: self.client_scheme(race),
                    server_scheme: self.scheme.clone(),
                });
                let app = self.simulation.add(at, load);
                self.loads.push(SiteLoad { site, client, app });
            }
        }
    }

    /// Index of the site's server for the `n`-th visit.
    fn site(&self, n: u32) -> usize {
        n as usize % self.sites.len()
    }

    /// The loads that include the `n`-th visit; `None` before the first.
    fn site_load(&self, race: &Race, n: u32) -> Option<SiteLoad> {
        let pair = (self.site(n), race.visits.client(n));
        self.loads.iter().find(|load| (load.site, load.client) == pair).copied()
    }

    /// Gives the first client's line the rates of the `n`-th visit, if they change.
    fn set_rates(&mut self, race: &Race, n: u32) {
        let Some(rates) = race.visits.rates(n, &race.path) else { return };
        let access = self.access.access;
        for (link, rate) in [(access.forward, rates.forward), (access.reverse, rates.reverse)] {
            self.simulation.set_rate(link, rate).expect("a path has no rate of zero");
        }
    }

    /// The server of each of the page's hosts.
    fn servers(&self, race: &Race, site: usize) -> Vec<HostId> {
        let hosts = race.page.hosts().len();
        self.sites[site].iter().copied().cycle().take(hosts).collect()
    }

    fn client_scheme(&self, race: &Race) -> Scheme {
        let own = || self.scheme.with_window_of(&race.baseline());
        race.client.as_ref().map_or_else(own, as_browsers_use_it)
    }

    /// All visits, in order. Behind one that does not end there is none.
    fn visits(&mut self, race: &Race) -> Vec<MeasuredLoad> {
        let mut loads: Vec<MeasuredLoad> = Vec::new();
        let mut start = self.start;
        for n in 0..race.visits.count.max(1) {
            if n > 0 {
                self.begin_visit(race, n, start);
            }
            self.set_rates(race, n);
            let ended = self.load_page(race, n, start);
            let load = self.result(race, n, start, ended);
            loads.push(load);
            if !self.load_of(race, n).loader().is_done() {
                break;
            }
            start = self.simulation.now() + race.visits.idle;
        }
        let missing = loads.len()..race.visits.count.max(1) as usize;
        let unreached = || Some("the visit before it did not end".to_owned());
        loads.extend(
            missing.map(|_| MeasuredLoad { failure: unreached(), ..MeasuredLoad::default() }),
        );
        loads
    }

    /// Attaches observers that count the page's packets and watch them and, if wanted, the queues
    /// of the access link.
    pub(super) fn attach_observers(&mut self, queues: bool) {
        let servers = self.sites.concat();
        self.simulation.observe(PageCounters::of(&servers, &self.lines));
        for line in &self.lines {
            self.simulation.observe(Recorder::new(&servers, &self.access, line, queues));
        }
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

    /// The captures among the observers, by name, in the order in which they were started.
    fn take_captures(&self, observers: &mut Vec<Box<dyn Observer>>) -> Vec<(String, Vec<u8>)> {
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

    /// Runs to the end of the load, and then until every object is complete.
    fn load_page(&mut self, race: &Race, n: u32, start: Instant) -> EndedLoad {
        let warm_up = self.simulation.run_until(start);
        let before = self.background_bytes();
        let end = self.simulation.run(start + TIME_LIMIT);
        let background_bytes = self.background_bytes() - before;
        let load = self.site_load(race, n).expect("the visit was added");
        let is_done = self.page_load(load).loader().is_done();
        let failure = warm_up.and(end.map(drop)).err();
        if failure.is_none() && !is_done {
            self.simulation.wait_for(load.app);
            // If this fails, the later milestones are unknown.
            let _ = self.simulation.run(start + TIME_LIMIT);
        }
        EndedLoad { background_bytes, failure: failure.map(|error| error.to_string()) }
    }

    /// The load of the `n`-th visit.
    pub(super) fn load_of(&self, race: &Race, n: u32) -> &PageLoad {
        let load = self.site_load(race, n).expect("the visit has started");
        self.page_load(load)
    }

    fn page_load(&self, load: SiteLoad) -> &PageLoad {
        self.simulation.application(load.app).expect("the load was added")
    }

    /// Totals so far.
    fn counts(&self) -> Counts {
        let counters = self.simulation.observer::<PageCounters>().cloned().unwrap_or_default();
        let ends: EndCounts = self.loads.iter().map(|load| self.end_counts(*load)).sum();
        Counts {
            retransmitted: counters.retransmitted,
            dropped: counters.dropped,
            timeouts: ends.timeouts,
        }
    }

    fn end_counts(&self, load: SiteLoad) -> EndCounts {
        let client = self.lines[load.client].client;
        let transfers = self.page_load(load).transfers().iter();
        transfers.map(|transfer| EndCounts::of(&self.simulation, client, transfer)).sum()
    }

    fn result(&mut self, race: &Race, n: u32, start: Instant, ended: EndedLoad) -> MeasuredLoad {
        let counts = self.counts();
        let before = std::mem::replace(&mut self.before, counts);
        let recording = Some(LoadRecording::start_recording(start, self.load_of(race, n)));
        let loader = self.load_of(race, n).loader();
        let since = |at: Option<Instant>| at.map(|at| at.saturating_since(start));
        let lost = loader
            .failures()
            .first()
            .map(|(id, why)| format!("{:?}: {why}", race.page.object(*id).label));
        let objects = loader.milestones().iter().map(|m| since(m.done)).collect();
        let load = MeasuredLoad::of_objects(&race.page, objects);
        // A failure after the end of the load changes no result.
        let failure = ended.failure.or(lost).filter(|_| load.page.is_none());
        MeasuredLoad {
            began: Some(start),
            phase: self.path.trace_time(start),
            retransmitted: Some(counts.retransmitted - before.retransmitted),
            timeouts: Some(counts.timeouts - before.timeouts),
            dropped: counts.dropped - before.dropped,
            background_bytes: ended.background_bytes,
            failure,
            recording,
            ..load
        }
    }

    /// Adds the observers' results to the loads. `record`: the first ones are to be drawn.
    fn finish(mut self, race: &Race, loads: &mut [MeasuredLoad], record: bool) {
        let mut observers = self.simulation.take_observers();
        for client in 0..self.lines.len() {
            let Some(recorder) = take::<Recorder>(&mut observers) else { break };
            let mut own = race.visits.loads_of(client, loads);
            MeasuredLoad::settle_all(&mut own, &race.page, Some(recorder.link_watch()), record);
        }
        if let Some(first) = loads.first_mut() {
            first.captures = self.take_captures(&mut observers);
        }
    }
}

/// Browsers and web servers set `TCP_NODELAY`; a scheme may say otherwise (`nagle=on`).
pub fn as_browsers_use_it(scheme: &Scheme) -> Scheme {
    let says = scheme.name().split('+').any(|part| part.starts_with("nagle="));
    match says {
        true => scheme.clone(),
        false => scheme.without_nagle(),
    }
}

/// The scheme that others are compared with, as the catalogue has it.
pub(super) fn linux() -> Scheme {
    Scheme::parse(BASELINE).expect("the baseline is in the catalogue")
}

impl Race {
    /// The scheme that others are compared with, of the version of Linux that it has in this race.
    pub(super) fn baseline(&self) -> Scheme {
        let own = self.schemes.iter().find(|scheme| scheme.name() == BASELINE);
        own.cloned().unwrap_or_else(linux)
    }
}

/// An endless `linux` flow to the client.
fn bulk(from: HostId, to: HostId, linux: &Scheme) -> BulkTransfer {
    BulkTransfer::new(BulkSpec {
        from,
        to,
        bytes: None,
        scheme: linux.clone(),
        receiver: linux.clone(),
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
