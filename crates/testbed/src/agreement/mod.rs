//! Checks whether the three worlds agree. It loads single objects and a page, under the congestion
//! controls of Linux servers, over a grid of paths: simulated, by our endpoint and by the kernel.
//! Each figure is shown beside the others.

mod cell;
mod courses;
mod loads;
mod plan;
mod shares;

use crate::client::ClientTcp;
use crate::contender::Contender;
use crate::kernel::{Agent, ServerProgram};
use cell::BOUNDS;
pub use cell::{AgreementCell, AgreementVerdict};
use link::path::{PathSpec, QueueSize};
pub use loads::{AgreementLoad, load_names};
pub use plan::AgreementPlan;
use race::World;
use race::{Hosts, Race, WAKING_PROCESSING};
use serde::Serialize;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tcp::Scheme;
use tcp::scheme::catalogue;
use units::{Duration, Rate};
use workload::ServerModel;

/// Schemes that are compared by default: the models of the kernel's congestion controls.
pub const LINUX_SCHEMES: [&str; 3] = ["linux", "linux-bbr", "linux-reno"];
/// Compared schemes whose decisions the agent makes in the kernel.
pub const AGENT_SCHEMES: [&str; 3] = ["hs-cubic", "hs-bbr", "hs-session"];

/// Share of cells that have to be within the first bound.
const MIN_AGREEING_SHARE: f64 = 0.9;

/// Cells of the comparison: paths, loads, schemes, worlds.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Paths.
    pub paths: Vec<PathSpec>,
    /// Loads and their numbers of visits.
    pub loads: Vec<AgreementLoad>,
    /// Schemes.
    pub schemes: Vec<Scheme>,
    /// Worlds that are compared with simulation.
    pub worlds: Vec<World>,
    /// Visits of each cell in each real world.
    pub repeats: u32,
    /// Visits more of a cell that is not inside by these; all of them count.
    pub more: u32,
    /// Cells measured at a time.
    pub jobs: usize,
    /// Server program in the kernel's world.
    pub server: ServerProgram,
    /// The agent there, of schemes that take one.
    pub agent: Option<Agent>,
    /// A folder for captures of each cell's first load in each world.
    pub captures: Option<PathBuf>,
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
        Self {
            paths,
            loads: loads::first_visits(),
            schemes,
            worlds,
            repeats: 7,
            more: 0,
            jobs: 1,
            server: ServerProgram::Builtin,
            agent: None,
            captures: None,
        }
    }

    /// The schemes whose decisions the agent makes, over the paths of `check agent`: first visits,
    /// repeated ones, and answers over connections that were idle.
    pub fn of_agent(schemes: Vec<Scheme>, agent: Agent) -> Self {
        let paths = crate::gain::paths();
        let (loads, agent) = (loads::of_agent(), Some(agent));
        Self { paths, loads, agent, repeats: 1, more: 6, ..Self::full(schemes) }
    }

    /// A part of it that takes a minute.
    pub fn quick(schemes: Vec<Scheme>) -> Self {
        let paths = [20, 80].map(|millis| path(20, millis, 1000)).to_vec();
        Self { paths, repeats: 3, ..Self::full(schemes) }
    }

    /// Every scheme of the catalogue over our endpoint, on three of its paths: each rate, each
    /// round trip and both queues are among them.
    pub fn every_scheme() -> Self {
        let names = catalogue().iter().map(|named| Scheme::parse(named.name));
        let schemes = names.map(|scheme| scheme.expect("the catalogue's names are schemes"));
        let paths = vec![path(5, 80, 1000), path(20, 20, 500), path(100, 200, 1000)];
        let worlds = vec![World::Wire];
        Self { paths, worlds, repeats: 3, ..Self::full(schemes.collect()) }
    }

    /// The part of it that has these loads, by their names, and these paths; none stand for all.
    ///
    /// # Errors
    /// If it has no such load or path; the error lists those that there are.
    pub fn only(mut self, loads: &[String], paths: &[PathSpec]) -> Result<Self, String> {
        let listed = |all: Vec<String>| all.join("; ");
        let names = || self.loads.iter().map(|load| load.name.clone()).collect::<Vec<_>>();
        if let Some(unknown) = loads.iter().find(|name| !names().contains(name)) {
            return Err(format!("no load {unknown:?} among: {}", listed(names())));
        }
        if let Some(unknown) = paths.iter().find(|path| !self.paths.contains(path)) {
            let all = self.paths.iter().map(ToString::to_string).collect();
            return Err(format!("no path {unknown} among: {}", listed(all)));
        }
        self.loads.retain(|load| loads.is_empty() || loads.contains(&load.name));
        self.paths.retain(|path| paths.is_empty() || paths.contains(path));
        Ok(self)
    }

    /// Where captures of a load over a path go, if they are kept.
    fn folder_of(&self, load: &AgreementLoad, path: PathSpec) -> Option<PathBuf> {
        let name = format!("{}-{path}", load.name).replace([' ', '/'], "-");
        self.captures.as_ref().map(|folder| folder.join(name))
    }

    /// Replaces the model of the simulated servers, which decides how they write.
    pub fn with_server_model(mut self, model: ServerModel) -> Self {
        for load in &mut self.loads {
            load.loader.server = model;
        }
        self
    }

    /// Returns the loads and their repeats. Loads that take one of several courses in simulation
    /// are repeated more often (`courses`).
    ///
    /// # Errors
    /// If the machine gives no threads.
    pub fn plan(&self) -> io::Result<AgreementPlan<'_>> {
        let mut races = self.races();
        courses::load_more_often(&mut races, self.jobs)?;
        Ok(AgreementPlan { grid: self, races })
    }

    /// Returns one race for each path, load and scheme.
    fn races(&self) -> Vec<CellRace> {
        let mut races = Vec::new();
        for path in &self.paths {
            for load in &self.loads {
                let of = |scheme| CellRace {
                    load: load.name.clone(),
                    captures: self.folder_of(load, *path),
                    race: self.race(load, *path, scheme),
                };
                races.extend(self.schemes.iter().map(of));
            }
        }
        races
    }

    fn race(&self, load: &AgreementLoad, path: PathSpec, scheme: &Scheme) -> Race {
        Race {
            page: Arc::clone(&load.page),
            path,
            loader: load.loader.clone(),
            schemes: vec![scheme.clone()],
            client: Some(ClientTcp::default().model()),
            hosts: Hosts::Together,
            processing: WAKING_PROCESSING,
            visits: load.visits,
            background: 0,
            repeats: self.repeats,
            seed: 1,
        }
    }
}

/// Race that one cell runs in each world.
#[derive(Clone, Debug)]
struct CellRace {
    /// The load's name.
    load: String,
    /// A folder for captures.
    captures: Option<PathBuf>,
    race: Race,
}

impl CellRace {
    /// Returns the cell with `repeats` further repeats, which draw other random numbers and leave
    /// no captures.
    fn with_repeats(&self, repeats: u32) -> Self {
        let seed = self.race.seed.wrapping_add(u64::from(self.race.repeats));
        let race = Race { seed, repeats, ..self.race.clone() };
        Self { load: self.load.clone(), captures: None, race }
    }
}

fn contenders(race: &Race) -> Vec<Contender> {
    race.schemes.iter().cloned().map(Contender::new).collect()
}

/// Path from megabits per second both ways, a round trip in milliseconds, and a queue in
/// thousandths of their product.
fn path(mbps: u64, millis: u64, queue: u64) -> PathSpec {
    let (rate, rtt) = (Rate::from_mbps(mbps), Duration::from_millis(millis));
    PathSpec::new(rate, rtt, QueueSize::MilliBdp(queue)).expect("paths of the grid exist")
}

/// All cells, and whether they agree.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// By world: cells, those inside, those outside.
    pub worlds: Vec<AgreementCount>,
    /// Counts by scheme, in their order; worlds without cells of a scheme are left out.
    pub schemes: Vec<SchemeCount>,
    /// Every cell.
    pub cells: Vec<AgreementCell>,
}

/// Cells of a world.
#[derive(Clone, Debug, Serialize)]
pub struct AgreementCount {
    /// Name of the world.
    pub world: &'static str,
    /// All of them.
    pub cells: usize,
    /// Cells inside the first bound.
    pub inside: usize,
    /// Cells outside the second bound.
    pub outside: usize,
    /// Cells among the latter in which some load of each world took equally long
    /// ([`AgreementCell::have_met`]).
    pub met: usize,
    /// Nine of ten are inside, none outside.
    pub agrees: bool,
}

/// Cells of a scheme.
#[derive(Clone, Debug, Serialize)]
pub struct SchemeCount {
    /// Name of the scheme.
    pub scheme: String,
    /// Counts of its cells.
    #[serde(flatten)]
    pub count: AgreementCount,
    /// The difference that is furthest from zero; `None` if a cell has none.
    pub worst: Option<f64>,
}

impl AgreementCount {
    /// Counts the cells of a world; `None` if it has none.
    fn of<'a>(world: World, cells: impl Iterator<Item = &'a AgreementCell>) -> Option<Self> {
        let of_world: Vec<&AgreementCell> =
            cells.filter(|cell| cell.world == world.name()).collect();
        let are = |verdict| of_world.iter().filter(|cell| cell.verdict == verdict).count();
        let (cells, inside, outside) =
            (of_world.len(), are(AgreementVerdict::Inside), are(AgreementVerdict::Outside));
        let met = of_world.iter().filter(|cell| cell.verdict == AgreementVerdict::Outside);
        let met = met.filter(|cell| cell.have_met()).count();
        let agrees = outside == 0 && inside as f64 >= MIN_AGREEING_SHARE * cells as f64;
        (cells > 0).then_some(Self { world: world.name(), cells, inside, outside, met, agrees })
    }
}

impl SchemeCount {
    fn of(scheme: &str, world: World, cells: &[AgreementCell]) -> Option<Self> {
        let own = || cells.iter().filter(|cell| cell.scheme == scheme);
        let count = AgreementCount::of(world, own())?;
        let differences = own().filter(|cell| cell.world == world.name()).map(|c| c.difference);
        let differences = differences.collect::<Option<Vec<f64>>>().unwrap_or_default();
        let worst = differences.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        Some(Self { scheme: scheme.to_owned(), count, worst })
    }
}

impl Agreement {
    fn new(cells: Vec<AgreementCell>) -> Self {
        let worlds = BOUNDS.map(|bounds| bounds.world);
        let mut names: Vec<&str> = Vec::new();
        for cell in &cells {
            if !names.contains(&cell.scheme.as_str()) {
                names.push(&cell.scheme);
            }
        }
        let of_scheme = |name: &&str| worlds.map(|world| SchemeCount::of(name, world, &cells));
        let schemes = names.iter().flat_map(of_scheme).flatten().collect();
        let worlds =
            worlds.iter().filter_map(|world| AgreementCount::of(*world, cells.iter())).collect();
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
    fn a_part_of_a_grid_is_named_as_in_its_table() {
        let grid = || Grid::full(vec![Scheme::parse("linux").unwrap()]);
        let path: PathSpec = "20mbit,80ms,1bdp".parse().unwrap();
        let part = grid().only(&["30 KB".to_owned()], &[path]).unwrap();
        assert_eq!(part.races().len(), 1);
        assert_eq!(grid().only(&[], &[]).unwrap().races().len(), grid().races().len());
        let why = grid().only(&["30 kB".to_owned()], &[]).unwrap_err();
        assert_eq!(why, "no load \"30 kB\" among: 30 KB; 200 KB; 2000 KB; news");
        let other: PathSpec = "7mbit,80ms,1bdp".parse().unwrap();
        let why = grid().only(&[], &[other]).unwrap_err();
        assert!(why.starts_with("no path 7mbit,80ms,1bdp among: 5mbit,20ms"), "{why}");
    }

    /// The kernel runs hs-cubic by an agent, and there is none.
    #[test]
    fn a_scheme_that_was_left_out_is_an_error_with_its_reason() {
        if !test_support::has(&test_support::EMULATION) {
            return;
        }
        let cell = Grid::quick(vec![Scheme::parse("hs-cubic").unwrap()]).races().swap_remove(0);
        let server = &ServerProgram::Builtin;
        match plan::loaded(&cell, &[World::Kernel], server, None, &|| ()) {
            Err(error) => assert!(error.to_string().starts_with("hs-cubic on kernel: "), "{error}"),
            Ok(outcome) => panic!("{outcome:?}"),
        }
    }

    /// There is one client, and six more with other random numbers: seven turns of seven repeats,
    /// whose numbers continue.
    #[test]
    fn what_is_measured_again_goes_on_where_it_was() {
        let cell = Grid { repeats: 1, ..Grid::quick(vec![Scheme::parse("linux").unwrap()]) };
        let cell = cell.races().swap_remove(0);
        let run = |cell: &CellRace| {
            plan::loaded(cell, &[World::Sim], &ServerProgram::Builtin, None, &|| ()).unwrap()
        };
        let mut outcome = run(&cell);
        outcome.add(run(&cell.with_repeats(6)), 1);
        let repeats: Vec<u32> = outcome.contestants[0].turns.iter().map(|t| t.repeat).collect();
        assert_eq!(repeats, [0, 1, 2, 3, 4, 5, 6]);
        let times = |outcome: &race::RaceOutcome| {
            outcome.contestants[0].loads().map(|load| load.page).collect::<Vec<_>>()
        };
        assert_ne!(times(&outcome)[0], times(&outcome)[1], "another seed wakes otherwise");
    }
}
