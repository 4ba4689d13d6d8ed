//! The race: one page, one path, under each scheme, beside the physical limit.
//!
//! # Where to begin
//!
//! One object of 30 kB, under `linux` and with a larger initial window, over a cable line:
//!
//! ```
//! use race::{Hosts, ProcessingDelay, Race, RaceMetric, RaceResult, RunOptions};
//! use race::{VisitKind, Visits, World};
//! use std::sync::Arc;
//! use workload::{LoaderConfig, Page};
//!
//! let race = Race {
//!     page: Arc::new(Page::single(30_000)),
//!     path: "20mbit,80ms,100p".parse()?,
//!     loader: LoaderConfig::default(),
//!     schemes: race::contestants("linux,linux+iw=32")?,
//!     client: None,
//!     hosts: Hosts::Apart,
//!     processing: ProcessingDelay::NONE,
//!     visits: Visits::default(),
//!     background: 0,
//!     repeats: 1,
//!     seed: 1,
//! };
//! let options = RunOptions { threads: 0, record: false, capture: false, on_run: &|| () };
//! let result = RaceResult::new(&race, &race.run(options));
//!
//! let seconds = |scheme| {
//!     let row = result.row(scheme, World::Sim, VisitKind::First)?;
//!     row.median(RaceMetric::PageSeconds)
//! };
//! // A handshake, a request, and the second flight that the larger window saves: a round trip.
//! let saved = seconds("linux").expect("it ended") - seconds("linux+iw=32").expect("it ended");
//! assert!((0.07..0.09).contains(&saved));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a race is run
//!
//! Every load runs by itself on the same topology: the client behind its access link, the page's
//! hosts on the other side of it, all at the same distance. With background traffic, bulk `linux`
//! flows to the same client begin about ten seconds before the page ([`Race::background`]). `linux`
//! always runs, because gains and harm are relative to it.
//!
//! Repeats differ by their seed: it moves the instants at which page and background flows start
//! and, where the path loses packets, which. The schemes of a repeat share its seed, so gains are
//! paired. Where a path's rate is recorded, each repeat starts at another phase of the recording
//! (`phase`). Runs are independent of one another: they are spread over threads, and their results
//! do not depend on how many.
//!
//! A client may visit the page several times, idling between ([`Visits`]): connections and memories
//! of hosts from one visit serve the next.
//!
//! This crate simulates races. Crates with real hosts add their turns, and all have one result.
//!
//! Read on in `limit` (a bound on every transport), `setup` (topology and start phases), `run` (one
//! client's visits), `counters` and `record` (observations). Then come `account` (the bounds of a
//! load), `critical` (the chain of objects that it waited for), `contestant` (turns and loads),
//! `times` (milestones of a load). Results are in `result` (medians over repeats), `page_runs`
//! (several runs of a page), `comparison` (races that differ in one condition), `visits` (first and
//! repeated). `scoreboard` compares every scheme with the limit over `link`'s matrix of paths and
//! sizes.

mod account;
mod bound;
mod comparison;
mod contestant;
mod counters;
mod critical;
mod critical_path;
mod distance;
mod ends;
pub mod estimate;
mod harm;
mod host_set;
mod hosts;
mod json;
pub mod limit;
mod limits;
mod load_detail;
mod metric;
mod milestone_times;
mod page_run;
mod page_runs;
pub mod perfect;
mod phase;
mod record;
mod result;
mod run;
mod sample;
pub mod scoreboard;
mod setup;
mod spread;
pub mod student;
mod unpaired;
mod visits;
mod what_if;
mod world;

pub use bound::{Bound, BoundFrom, BoundShares};
pub use comparison::{RaceComparison, RaceOfVariant, RaceVariant, VariantGain};
pub use contestant::{ClientTurn, Contestant, MeasuredLoad, SentSegments};
pub use critical::{CriticalCause, CriticalObject, CriticalPhases};
pub use critical_path::{CriticalPath, CriticalWait};
pub use hosts::{Hosts, ProcessingDelay, REAL_PROCESSING, ReadingDelay, WAKING_PROCESSING};
pub use load_detail::{LoadDetail, LoadedConnection, LoadedObject};
pub use metric::RaceMetric;
pub use milestone_times::MilestoneTimes;
pub use page_run::{PageRun, PageRunRow};
pub use perfect::PERFECT_START;
pub use record::{
    LinkStep, LinkWatch, LoadRecording, Offer, Queue, QueueLevel, SeenAtLink, SequenceEvent,
    SequenceStep, Stretch, TransferRecord, Way,
};
pub use result::{MilestoneResult, RaceResult, SchemeResult, Setting};
pub use run::as_browsers_use_it;
pub use sample::VisitSample;
pub(crate) use setup::Phases;
pub use spread::Spread;
pub use visits::{Alternation, Crossing, OtherLine, VisitKind, Visits};
pub use what_if::{Change, ChangeResult};
pub use world::World;

use crate::limit::{Capacity, Limit, limit, limit_again, limit_without_handshake};
use link::path::PathSpec;
use rayon::prelude::*;
use run::SimulationParts;
use std::borrow::Cow;
use std::sync::Arc;
use tcp::Scheme;
use tcp::scheme::Transfers;
use units::{Duration, Instant, Rate};
use workload::{Http, LoaderConfig, Page};

/// The scheme to which gains and harm are relative.
pub const BASELINE: &str = "linux";
/// The name of the limit's row.
pub const LIMIT: &str = "limit";
/// The name of the row of the limit that no handshake delays.
pub const LIMIT_WITHOUT_HANDSHAKE: &str = "limit, no handshake";
/// A load that is not done after this long, in virtual time, has not completed.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);
/// Time between the starts of background flows and page, give or take a second of start phase.
pub const HEAD_START: Duration = Duration::from_secs(10);

/// A race: page, path, schemes and conditions.
#[derive(Clone, Debug)]
pub struct Race {
    /// The page.
    pub page: Arc<Page>,
    /// The path.
    pub path: PathSpec,
    /// Protocols and settings of the loader, unless a scheme has its own.
    pub loader: LoaderConfig,
    /// The contestants; see [`contestants`].
    pub schemes: Vec<Scheme>,
    /// The browser's TCP. `None` is its servers' scheme, with the receive window of `linux` unless
    /// the scheme has `rwnd=`: a client's offer does not depend on its server's start.
    pub client: Option<Scheme>,
    /// Grouping of the page's hosts.
    pub hosts: Hosts,
    /// Processing delay of every host before it sends a packet; [`REAL_PROCESSING`] or
    /// [`ProcessingDelay::NONE`]. Each repeat draws other delays, all schemes of a repeat the same.
    pub processing: ProcessingDelay,
    /// Number and kinds of the page's visits.
    pub visits: Visits,
    /// Bulk `linux` flows that share the access link.
    pub background: u32,
    /// Loads under each scheme; at least 1.
    pub repeats: u32,
    /// Seed of all repeats.
    pub seed: u64,
}

/// Options of a run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// Threads to spread runs over; 0: as many as there are cores.
    pub threads: usize,
    /// Record the loads of the first repeat for figures.
    pub record: bool,
    /// Capture the packets of the first repeat.
    pub capture: bool,
    /// Called after each run, from any thread.
    pub on_run: &'a (dyn Fn() + Sync),
}

/// Result of a race.
#[derive(Clone, Debug)]
pub struct RaceOutcome {
    /// The physical limit of a first visit, which has to open its connections. If a rate of the
    /// path changes, this limit and the next two are those of `linux` in the first repeat.
    pub limit: Limit,
    /// The physical limit of a repeated visit: connections that the protocol keeps alive are open.
    pub limit_again: Limit,
    /// The physical limit of every visit under every scheme: no handshake delays it.
    pub limit_without_handshake: Limit,
    /// Each scheme in each world.
    pub contestants: Vec<Contestant>,
}

impl RaceOutcome {
    /// Adds the turns of a later run of the same race, which had `before` repeats until then.
    pub fn add(&mut self, later: Self, before: u32) {
        let orders = self.contestants.iter().flat_map(|one| &one.turns).filter_map(|t| t.order);
        let first = orders.max().map_or(0, |last| last + 1);
        for (one, more) in self.contestants.iter_mut().zip(later.contestants) {
            one.turns.extend(more.turns.into_iter().map(|turn| ClientTurn {
                order: turn.order.map(|order| order + first),
                repeat: turn.repeat + before,
                ..turn
            }));
            one.left_out = one.left_out.take().or(more.left_out);
        }
    }
}

/// The schemes named in a comma-separated list, each once, `linux` first if it was not named.
/// [`LIMIT`] and [`PERFECT_START`] may be named and add nothing: they are no schemes.
///
/// # Errors
/// On a scheme that does not exist.
pub fn contestants(list: &str) -> Result<Vec<Scheme>, tcp::SchemeError> {
    named(list).into_iter().map(Scheme::parse).collect()
}

/// Their texts, whether they are schemes or not.
pub fn named(list: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| ![LIMIT, PERFECT_START].contains(name))
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.contains(&BASELINE) {
        names.insert(0, BASELINE);
    }
    names
}

impl Race {
    /// Number of times that [`RunOptions::on_run`] will be called.
    pub fn run_count(&self) -> u64 {
        let contestants = self.schemes.len() as u64;
        let baselines = u64::from(self.background > 0);
        u64::from(self.repeats) * (contestants + baselines)
    }

    /// Servers that a visit needs.
    pub(crate) fn servers_of_a_visit(&self) -> usize {
        match self.hosts {
            Hosts::Apart => self.page.hosts().len(),
            Hosts::Together => 1,
        }
    }

    /// Protocols and settings of the loader in all visits: connections stay open between them,
    /// unless visits open their own.
    pub fn loader_between(&self, scheme: &Scheme) -> LoaderConfig {
        loader_for(&self.loader_of_visits(), scheme)
    }

    /// The same under schemes that have no way of their own.
    pub fn loader_of_visits(&self) -> LoaderConfig {
        LoaderConfig { keep_open: self.visits.keep_open(), ..self.loader.clone() }
    }

    /// Protocols and settings of the loader under a scheme: `phttp` has one connection per host.
    pub fn loader_for(&self, scheme: &Scheme) -> LoaderConfig {
        loader_for(&self.loader, scheme)
    }

    /// The limit of a visit of a kind. It does not depend on the schemes of the race. The limit of
    /// repeated visits is below each of them: connections are open if they are open in any. `phase`
    /// is the time of the path's recordings when the visit begins ([`MeasuredLoad::phase`]).
    pub fn limit(&self, kind: VisitKind, phase: Option<Duration>) -> Limit {
        // The first visit to each server of the site finds none.
        let returns = self.visits.site <= 1 || self.visits.count > self.visits.site;
        let is_open = kind == VisitKind::Repeated && returns && self.visits.keep_open();
        let limit = if is_open { limit_again } else { limit };
        let knows_hosts = kind == VisitKind::Repeated;
        let loader = LoaderConfig { knows_hosts, ..self.loader.clone() };
        limit(&self.located_page(), &loader, &self.capacity(phase))
    }

    /// The limit of every visit under every scheme: no handshake delays it.
    pub fn limit_without_handshake(&self, phase: Option<Duration>) -> Limit {
        limit_without_handshake(&self.located_page(), &self.loader, &self.capacity(phase))
    }

    /// The page with the round trips that its hosts have in the race: one server for all hosts has
    /// one, that of the path.
    fn located_page(&self) -> Cow<'_, Page> {
        match self.hosts {
            Hosts::Apart => Cow::Borrowed(&*self.page),
            Hosts::Together => {
                let page = Page::clone(&self.page);
                Cow::Owned(page.with_hosts(|_, host| host.rtt = None))
            }
        }
    }

    fn capacity(&self, phase: Option<Duration>) -> Capacity {
        let path = phase.map_or(self.path, |phase| self.path.beginning_at(phase));
        Capacity::of(&path, Rate::from_bps(0))
    }

    /// The path as a repeat has it. A load that starts at `start` of the links' clocks meets the
    /// repeat's phase of the recordings. The path names that phase, or seed and repeat draw one,
    /// the same for all schemes.
    pub fn path_of(&self, repeat: u32, start: Instant) -> PathSpec {
        phase::of_repeat(self, repeat, start)
    }

    /// Runs all loads.
    ///
    /// # Panics
    /// If there is no scheme, or the operating system gives no threads.
    pub fn run(&self, options: RunOptions<'_>) -> RaceOutcome {
        RaceOutcome::new(self, in_threads(options.threads, || self.run_all(options)))
    }

    fn run_all(&self, options: RunOptions<'_>) -> Vec<Contestant> {
        let mut contestants = self.load_all(options);
        if self.background > 0 {
            harm::fill_in_harm(self, &mut contestants, options);
        }
        contestants
    }

    /// The loads of all schemes, whose harm is not judged.
    fn load_all(&self, options: RunOptions<'_>) -> Vec<Contestant> {
        let all = self.schemes.iter().flat_map(|s| (0..self.repeats).map(move |r| (s, r)));
        let runs: Vec<(&Scheme, u32)> = all.collect();
        let visits = |(scheme, repeat): &(&Scheme, u32)| {
            let visits = run::run(&SimulationParts::new(self, scheme), *repeat, options);
            (options.on_run)();
            visits
        };
        let runs: Vec<Vec<MeasuredLoad>> = runs.par_iter().map(visits).collect();
        let mut runs = runs.into_iter();
        self.schemes
            .iter()
            .map(|scheme| Contestant::simulated(scheme, runs.by_ref().take(self.repeats as usize)))
            .collect()
    }
}

/// Runs a job in a number of threads; 0: as many as there are cores.
///
/// # Panics
/// If the operating system gives no threads.
fn in_threads<R: Send>(threads: usize, job: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads to run in").install(job)
}

impl RaceOutcome {
    /// Creates the outcome of these contestants in a race, beside its limits.
    pub fn new(race: &Race, contestants: Vec<Contestant>) -> Self {
        let baseline = contestants.iter().find(|one| one.name == BASELINE);
        let first = baseline.or_else(|| contestants.first()).and_then(Contestant::first);
        let phase = |kind| first.and_then(|turn| turn.loads(kind).first()?.phase);
        let [limit, limit_again] =
            [VisitKind::First, VisitKind::Repeated].map(|kind| race.limit(kind, phase(kind)));
        let limit_without_handshake = race.limit_without_handshake(phase(VisitKind::First));
        Self { limit, limit_again, limit_without_handshake, contestants }
    }

    /// The contestant that is the baseline of a world.
    pub fn baseline(&self, world: World) -> Option<&Contestant> {
        self.contestants.iter().find(|c| c.name == BASELINE && c.world == world)
    }

    /// True if every load of every contestant ended with every object.
    pub fn is_complete(&self) -> bool {
        let mut loads = self.contestants.iter().flat_map(Contestant::loads);
        loads.all(|load| load.page.is_some())
    }
}

/// Protocols and settings of the loader under a scheme that may have its own.
pub fn loader_for(loader: &LoaderConfig, scheme: &Scheme) -> LoaderConfig {
    let mut loader = loader.clone();
    if scheme.transfers() == Transfers::Sequential {
        loader.http = Some(Http::Persistent);
    }
    loader
}
