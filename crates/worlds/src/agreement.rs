//! Do the three worlds tell the same story? Single objects and a page under what Linux servers run, over
//! a grid of paths, simulated, by our endpoint and by the kernel, each figure beside the others.

use crate::client::{Browser, Client};
use crate::contender::Contender;
use crate::contest::{self, Run};
use crate::kernel::Server;
use crate::summary::{Measured, Spread, Summary};
use crate::world::World;
use experiment::path::{PathSpec, QueueSize};
use experiment::race::{Hosts, Race, Visits};
use netsim::ProcessingDelay;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use tcp::Scheme;
use tcp::scheme::catalogue;
use units::{Duration, Rate};
use workload::{LoaderConfig, Page};

/// What is compared if nothing else is asked for: the models of what the kernel has.
pub const LINUX_SCHEMES: [&str; 3] = ["linux", "linux-bbr", "linux-reno"];
/// The page among the single objects.
const PAGE: &str = "news";
/// Bodies of the single objects, bytes.
const OBJECTS: [u64; 3] = [30_000, 200_000, 2_000_000];

/// How far the simulated time may be from the median of a real world: nine of ten cells within the
/// first, all within the second; as shares of the latter.
const BOUNDS: [(World, f64, f64); 2] = [(World::Wire, 0.03, 0.10), (World::Kernel, 0.05, 0.15)];
/// Share of cells that have to be within the first bound.
const MOST: f64 = 0.9;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Paths.
    pub paths: Vec<PathSpec>,
    /// Schemes.
    pub schemes: Vec<Scheme>,
    /// What is held against simulation.
    pub worlds: Vec<World>,
    /// Visits of each cell in each real world.
    pub repeats: u32,
    /// Cells measured at a time.
    pub jobs: usize,
    /// What serves in the kernel's world.
    pub server: Server,
}

impl Grid {
    /// The whole grid: 5, 20 and 100 Mbit/s, 20, 80 and 200 ms, queues of half and all of the
    /// bandwidth-delay product.
    pub fn full(schemes: Vec<Scheme>) -> Self {
        let mut paths = Vec::new();
        for mbps in [5, 20, 100] {
            for millis in [20, 80, 200] {
                paths.extend([500, 1000].map(|queue| path(mbps, millis, queue)));
            }
        }
        let worlds = vec![World::Wire, World::Kernel];
        Self { paths, schemes, worlds, repeats: 7, jobs: 1, server: Server::Builtin }
    }

    /// A part of it that takes a minute.
    pub fn quick(schemes: Vec<Scheme>) -> Self {
        let paths = [20, 80].map(|millis| path(20, millis, 1000)).to_vec();
        Self { paths, repeats: 3, ..Self::full(schemes) }
    }

    /// Every scheme of the catalogue over our endpoint, on three of its paths: each rate, each round trip
    /// and both queues are among them.
    pub fn every_scheme() -> Self {
        let names = catalogue().iter().map(|named| Scheme::parse(named.name));
        let schemes = names.map(|scheme| scheme.expect("the catalogue's names are schemes"));
        let paths = vec![path(5, 80, 1000), path(20, 20, 500), path(100, 200, 1000)];
        let worlds = vec![World::Wire];
        Self { paths, worlds, repeats: 3, ..Self::full(schemes.collect()) }
    }

    /// Loads in real time, all in all.
    pub fn load_count(&self) -> u64 {
        let of = |race: &Race| contest::load_count(&contenders(race), &self.worlds, self.repeats);
        self.races().iter().map(of).sum()
    }

    /// Measures every cell; `on_run` is called after each load, from any thread.
    ///
    /// # Errors
    /// If the machine does not let it.
    pub fn run(&self, on_run: &(dyn Fn() + Sync)) -> io::Result<Agreement> {
        let races = self.races();
        let todo = Mutex::new(longest_first(&races));
        let next = || todo.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop_front();
        let worlds: Vec<World> = [World::Sim].into_iter().chain(self.worlds.clone()).collect();
        let worker = || {
            let mut done = Vec::new();
            while let Some(index) = next() {
                let how = Run {
                    worlds: &worlds,
                    contenders: &contenders(&races[index]),
                    client: Client::default(),
                    browser: &Browser::Loader,
                    server: &self.server,
                    agent: None,
                    captures: None,
                    on_run,
                };
                let entries = contest::run(&races[index], how)?;
                done.push((index, Summary::new(&races[index], &entries)));
            }
            io::Result::Ok(done)
        };
        let mut done = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, io::Result<Vec<_>>>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect::<io::Result<Vec<_>>>()
        })?
        .concat();
        done.sort_by_key(|(index, _)| *index);
        let cells = done.iter().flat_map(|(_, summary)| Cell::of(summary)).collect();
        Ok(Agreement::new(cells))
    }

    /// One for each path, load and scheme.
    fn races(&self) -> Vec<Race> {
        let mut races = Vec::new();
        for path in &self.paths {
            for page in loads() {
                let of = |scheme| self.race(Arc::clone(&page), *path, scheme);
                races.extend(self.schemes.iter().map(of));
            }
        }
        races
    }

    fn race(&self, page: Arc<Page>, path: PathSpec, scheme: &Scheme) -> Race {
        Race {
            page,
            path,
            loader: LoaderConfig::default(),
            schemes: vec![scheme.clone()],
            client: Some(Client::default().model()),
            hosts: simulated_hosts(),
            visits: Visits::default(),
            background: 0,
            repeats: self.repeats,
            seed: 1,
        }
    }
}

fn contenders(race: &Race) -> Vec<Contender> {
    race.schemes.iter().cloned().map(Contender::Core).collect()
}

/// Their indices, what takes the link longest before the others: who is left with one at the end keeps everybody waiting.
fn longest_first(races: &[Race]) -> VecDeque<usize> {
    let time = |race: &Race| race.path.down().transmit_time(race.page.response_bytes());
    let mut order: Vec<usize> = (0..races.len()).collect();
    order.sort_by_key(|index| Reverse(time(&races[*index])));
    order.into()
}

/// Of megabits per second both ways, a round trip in milliseconds, and a queue in thousandths of their
/// product.
fn path(mbps: u64, millis: u64, queue: u64) -> PathSpec {
    let (rate, rtt) = (Rate::from_mbps(mbps), Duration::from_millis(millis));
    PathSpec::new(rate, rtt, QueueSize::MilliBdp(queue)).expect("paths of the grid exist")
}

/// How long a thread of a real world takes to answer a packet that has arrived, where processors stay awake: captures of
/// both ends showed 0.13 to 0.25 ms more than a path's round trip; at either end nine of ten answers left within 0.1 ms. After a pause
/// of 8 ms or more the median answer took 49 us in place of 23 by the kernel's clients, 44 in place of 23 by its servers, 95 in place of
/// 53 by our endpoint.
const WAKE: ProcessingDelay = ProcessingDelay {
    least: Duration::from_micros(50),
    most: Duration::from_micros(130),
    rested: Duration::from_micros(30),
};

/// The hosts of a simulation that stands beside real worlds.
pub const fn simulated_hosts() -> Hosts {
    Hosts::Together(WAKE)
}

/// What is loaded: single objects and a page.
pub fn loads() -> Vec<Arc<Page>> {
    let page = Page::builtin(PAGE).expect("the page is built in");
    OBJECTS.map(Page::single).into_iter().chain([page]).map(Arc::new).collect()
}

/// One scheme's time for one load over one path, simulated and in one real world.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// What was loaded.
    pub load: String,
    /// The path, as it may be written.
    pub path: String,
    /// The scheme.
    pub scheme: String,
    /// The real world.
    pub world: &'static str,
    /// Seconds in simulation, over seeds: when a thread wakes up is drawn.
    pub sim_s: Option<Spread>,
    /// Seconds there.
    pub real_s: Option<Spread>,
    /// Simulated over measured time, less one.
    pub difference: Option<f64>,
    /// How near they are.
    pub verdict: Verdict,
    /// Packets that the link dropped, in simulation (median).
    pub sim_drops: Option<f64>,
    /// Packets that the link dropped there.
    pub real_drops: Option<Spread>,
    /// Loads repeated for lateness.
    pub redone: u32,
    /// All loads there.
    pub samples: Vec<Measured>,
}

/// How near a simulated time is to a measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the first bound, or, beside the kernel, between its fastest and its slowest load.
    Inside,
    /// Within the second bound.
    Near,
    /// Beyond it, or a load did not complete.
    Outside,
}

impl Cell {
    fn of(summary: &Summary) -> Vec<Self> {
        let real = |scheme: &str| {
            let scheme = scheme.to_owned();
            BOUNDS.iter().filter_map(move |bounds| Self::new(summary, &scheme, *bounds))
        };
        let sim = summary.lines.iter().filter(|line| line.world == World::Sim.name());
        sim.flat_map(|line| real(&line.scheme).collect::<Vec<_>>()).collect()
    }

    fn new(
        summary: &Summary,
        scheme: &str,
        (world, inner, outer): (World, f64, f64),
    ) -> Option<Self> {
        let visit = "first";
        let sim = summary.line(scheme, World::Sim, visit)?;
        let real = summary.line(scheme, world, visit)?;
        let median = sim.page_s.map(|spread| spread.median);
        let difference = median.zip(real.page_s).map(|(sim, real)| sim / real.median - 1.0);
        let is_among = |real: Spread| {
            world == World::Kernel && median.is_some_and(|s| (real.min..=real.max).contains(&s))
        };
        let verdict = match difference {
            Some(_) if real.page_s.is_some_and(is_among) => Verdict::Inside,
            Some(by) if by.abs() <= inner => Verdict::Inside,
            Some(by) if by.abs() <= outer => Verdict::Near,
            _ => Verdict::Outside,
        };
        Some(Self {
            load: summary.page.clone(),
            path: summary.path.clone(),
            scheme: scheme.to_owned(),
            world: world.name(),
            sim_s: sim.page_s,
            real_s: real.page_s,
            difference,
            verdict,
            sim_drops: sim.dropped_packets.map(|spread| spread.median),
            real_drops: real.dropped_packets,
            redone: real.redone,
            samples: real.samples.clone(),
        })
    }

    /// Simulated and measured times overlap. Where a load takes one of two courses, both worlds may have both and yet medians
    /// that are far apart.
    pub fn have_met(&self) -> bool {
        let both = self.sim_s.zip(self.real_s);
        both.is_some_and(|(sim, real)| sim.min <= real.max && real.min <= sim.max)
    }
}

/// All cells, and whether they agree.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// By world: cells, those inside, those outside.
    pub worlds: Vec<Count>,
    /// The same by scheme, in their order; worlds that have none of its cells are left out.
    pub schemes: Vec<SchemeCount>,
    /// Every cell.
    pub cells: Vec<Cell>,
}

/// Cells of a world.
#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// Which.
    pub world: &'static str,
    /// All of them.
    pub cells: usize,
    /// Within the first bound.
    pub inside: usize,
    /// Beyond the second.
    pub outside: usize,
    /// Of those, where some load here and there took as long ([`Cell::have_met`]).
    pub met: usize,
    /// Nine of ten are inside, none outside.
    pub agrees: bool,
}

/// Cells of a scheme.
#[derive(Clone, Debug, Serialize)]
pub struct SchemeCount {
    /// Which.
    pub scheme: String,
    /// How many.
    #[serde(flatten)]
    pub count: Count,
    /// The difference that is furthest from zero; `None` if a cell has none.
    pub worst: Option<f64>,
}

impl Count {
    /// Of the cells of a world; `None` if it has none.
    fn of<'a>(world: World, cells: impl Iterator<Item = &'a Cell>) -> Option<Self> {
        let of_world: Vec<&Cell> = cells.filter(|cell| cell.world == world.name()).collect();
        let are = |verdict| of_world.iter().filter(|cell| cell.verdict == verdict).count();
        let (cells, inside, outside) =
            (of_world.len(), are(Verdict::Inside), are(Verdict::Outside));
        let met = of_world.iter().filter(|cell| cell.verdict == Verdict::Outside);
        let met = met.filter(|cell| cell.have_met()).count();
        let agrees = outside == 0 && inside as f64 >= MOST * cells as f64;
        (cells > 0).then_some(Self { world: world.name(), cells, inside, outside, met, agrees })
    }
}

impl SchemeCount {
    fn of(scheme: &str, world: World, cells: &[Cell]) -> Option<Self> {
        let own = || cells.iter().filter(|cell| cell.scheme == scheme);
        let count = Count::of(world, own())?;
        let differences = own().filter(|cell| cell.world == world.name()).map(|c| c.difference);
        let differences = differences.collect::<Option<Vec<f64>>>().unwrap_or_default();
        let worst = differences.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        Some(Self { scheme: scheme.to_owned(), count, worst })
    }
}

impl Agreement {
    fn new(cells: Vec<Cell>) -> Self {
        let worlds = BOUNDS.map(|(world, ..)| world);
        let mut names: Vec<&str> = Vec::new();
        for cell in &cells {
            if !names.contains(&cell.scheme.as_str()) {
                names.push(&cell.scheme);
            }
        }
        let of_scheme = |name: &&str| worlds.map(|world| SchemeCount::of(name, world, &cells));
        let schemes = names.iter().flat_map(of_scheme).flatten().collect();
        let worlds = worlds.iter().filter_map(|world| Count::of(*world, cells.iter())).collect();
        Self { worlds, schemes, cells }
    }

    /// Every world agrees with the simulation.
    pub fn holds(&self) -> bool {
        self.worlds.iter().all(|count| count.agrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_measures_begins_with_what_takes_the_link_longest() {
        let schemes = ["linux", "reno"].map(|name| Scheme::parse(name).unwrap()).to_vec();
        let races = Grid::full(schemes).races();
        // 18 paths, four loads, two schemes.
        assert_eq!(races.len(), 18 * 4 * 2);
        let order = longest_first(&races);
        let at = |place: usize| &races[order[place]];
        // 2 MB at 5 Mbit/s: three round trips, two queues, two schemes.
        let first: Vec<_> = (0..12).map(|place| at(place).path.down()).collect();
        assert_eq!(first, [Rate::from_mbps(5); 12]);
        assert!((0..12).all(|place| at(place).page.response_bytes() > 2_000_000));
        // 30 KB at 100 Mbit/s.
        let last = at(races.len() - 1);
        assert_eq!(last.path.down(), Rate::from_mbps(100));
        assert!(last.page.response_bytes() < 31_000);
    }
}
