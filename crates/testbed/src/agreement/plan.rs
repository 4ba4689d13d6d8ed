//! Plan of the loads: cells are measured in several threads, and the worlds of a cell are
//! interleaved.

use super::{Agreement, AgreementCell, AgreementVerdict, CellRace, Grid, contenders};
use crate::captures;
use crate::client::{Browser, ClientTcp};
use crate::contest::{self, ContestOptions};
use crate::kernel::{Agent, ServerProgram};
use race::World;
use race::{RaceOutcome, RaceResult};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::sync::Mutex;

/// The loads of a [`Grid`].
#[derive(Debug)]
pub struct AgreementPlan<'a> {
    pub(super) grid: &'a Grid,
    /// Races of all worlds' cells, one for each.
    pub(super) races: Vec<CellRace>,
}

impl AgreementPlan<'_> {
    /// Loads in real time, all in all.
    pub fn load_count(&self) -> u64 {
        let worlds = self.worlds();
        let of =
            |cell: &CellRace| contest::load_count(&cell.race, &contenders(&cell.race), &worlds);
        self.races.iter().map(of).sum()
    }

    /// Simulation, and the worlds that are compared with it.
    fn worlds(&self) -> Vec<World> {
        [World::Sim].into_iter().chain(self.grid.worlds.iter().copied()).collect()
    }

    /// Measures every cell; `on_run` is called after each load, from any thread.
    ///
    /// # Errors
    /// If the machine does not let it.
    pub fn run(&self, on_run: &(dyn Fn() + Sync)) -> io::Result<Agreement> {
        let worlds = self.worlds();
        let measure = |cell: &CellRace| {
            let grid = self.grid;
            let (server, agent) = (&grid.server, grid.agent.as_ref());
            let cells_of = |outcome: &RaceOutcome| {
                AgreementCell::of(&cell.load, &RaceResult::new(&cell.race, outcome))
            };
            let mut outcome = loaded(cell, &worlds, server, agent, on_run)?;
            let mut cells = cells_of(&outcome);
            let is_inside = |cell: &AgreementCell| cell.verdict == AgreementVerdict::Inside;
            if grid.more > 0 && !cells.iter().all(is_inside) {
                let again = cell.with_repeats(grid.more);
                let more = loaded(&again, &worlds, server, agent, &|| ())?;
                outcome.add(more, cell.race.repeats);
                cells = cells_of(&outcome);
            }
            Ok(cells)
        };
        let order = longest_first(&self.races);
        let cells = of_each(&self.races, order, self.grid.jobs, &measure)?;
        Ok(Agreement::new(cells.into_iter().flatten().collect()))
    }
}

/// A race in these worlds, `server` serving in the kernel's.
///
/// # Errors
/// If the machine does not let it, or a contestant was left out: a cell without times says nothing
/// of agreement.
pub(super) fn loaded(
    CellRace { captures: folder, race, .. }: &CellRace,
    worlds: &[World],
    server: &ServerProgram,
    agent: Option<&Agent>,
    on_run: &(dyn Fn() + Sync),
) -> io::Result<RaceOutcome> {
    let how = ContestOptions {
        worlds,
        contenders: &contenders(race),
        client: ClientTcp::default(),
        browser: &Browser::Loader,
        server,
        agent,
        captures: folder.as_deref(),
        record: false,
        threads: 0,
        on_run,
    };
    let outcome = contest::run(race, how)?;
    for contestant in &outcome.contestants {
        if let Some(why) = &contestant.left_out {
            let (name, world) = (&contestant.name, contestant.world);
            return Err(io::Error::other(format!("{name} on {world}: {why}")));
        }
    }
    if let Some(folder) = folder {
        for (name, bytes) in captures::of_simulations(&outcome, true) {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(outcome)
}

/// Results of `answer` for each race, in the order of the races, computed in `order` by `jobs`
/// threads.
pub(super) fn of_each<T: Send>(
    races: &[CellRace],
    order: VecDeque<usize>,
    jobs: usize,
    answer: &(dyn Fn(&CellRace) -> io::Result<T> + Sync),
) -> io::Result<Vec<T>> {
    let todo = Mutex::new(order);
    let next = || todo.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop_front();
    let worker = || {
        let mut done = Vec::new();
        while let Some(index) = next() {
            done.push((index, answer(&races[index])?));
        }
        io::Result::Ok(done)
    };
    let done = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, io::Result<Vec<_>>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect::<io::Result<Vec<_>>>()
    })?;
    let mut done: Vec<(usize, T)> = done.into_iter().flatten().collect();
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, rows)| rows).collect())
}

/// Their indices, the longest first: a thread that is left with a long one at the end keeps all
/// others waiting.
pub(super) fn longest_first(races: &[CellRace]) -> VecDeque<usize> {
    let time = |CellRace { race, .. }: &CellRace| {
        race.path.down().transmit_time(race.page.response_bytes())
    };
    let mut order: Vec<usize> = (0..races.len()).collect();
    order.sort_by_key(|index| Reverse(time(&races[*index])));
    order.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::Scheme;
    use units::Rate;

    #[test]
    fn who_measures_begins_with_what_takes_the_link_longest() {
        let schemes = ["linux", "reno"].map(|name| Scheme::parse(name).unwrap()).to_vec();
        let races = Grid::full(schemes).races();
        // 18 paths, four loads, two schemes.
        assert_eq!(races.len(), 18 * 4 * 2);
        let order = longest_first(&races);
        let at = |place: usize| &races[order[place]].race;
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
