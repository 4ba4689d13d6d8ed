//! Order of the runs: repeats outermost, then contenders, then worlds, so that disturbances of the
//! machine affect all worlds alike. Visits whose packets were delivered too late are repeated.

use crate::captures::Folder;
use crate::client::{Browser, ClientTcp};
use crate::contender::Contender;
use crate::kernel::{Agent, ServerProgram, Service};
use crate::punctual::TOO_LATE;
use crate::real::{Real, runs_in};
use crate::visit_bed::{self, BedEnds};
use race::{ClientTurn, Contestant, Race, RaceOutcome, RunOptions, Setting, World};
use std::io::{self, ErrorKind};
use std::path::Path;
use units::Instant;

/// Largest number of repeats of a late visit; the last one counts even if it was late.
const PATIENCE: u32 = 5;

/// Options of a contest.
#[derive(Clone, Copy)]
pub struct ContestOptions<'a> {
    /// The worlds; one named twice is run once.
    pub worlds: &'a [World],
    /// The contenders: the race's schemes, and among them those that only the kernel has.
    pub contenders: &'a [Contender],
    /// The browser's TCP in real worlds; [`Race::client`] has to be its model.
    pub client: ClientTcp,
    /// The client; [`Browser::refusal`] gives the limits of curl.
    pub browser: &'a Browser,
    /// Server program in the kernel's world.
    pub server: &'a ServerProgram,
    /// The agent of those that have one.
    pub agent: Option<&'a Agent>,
    /// A folder for captures of the first repeats of real worlds, made if it is not there. Captures
    /// of simulations are part of their loads.
    pub captures: Option<&'a Path>,
    /// Record the loads of the first repeat for figures.
    pub record: bool,
    /// Threads to spread simulations over; 0: as many as there are cores.
    pub threads: usize,
    /// Called after each of [`load_count`] repeats, from any thread.
    pub on_run: &'a (dyn Fn() + Sync),
}

impl<'a> ContestOptions<'a> {
    /// The options of its simulations.
    pub const fn of_simulations(&self) -> RunOptions<'a> {
        let Self { threads, record, on_run, .. } = *self;
        RunOptions { threads, record, capture: self.captures.is_some(), on_run }
    }

    /// Programs and settings of its real worlds.
    pub fn setting(&self) -> Setting {
        let is_real = self.worlds.iter().any(|world| world.is_real());
        let has_kernel = self.worlds.contains(&World::Kernel);
        Setting {
            kernel_server: has_kernel.then(|| self.server.name().to_owned()),
            sim_server: None,
            client_model: None,
            client: is_real.then(|| self.browser.name().to_owned()),
            client_window_bytes: self.client.window,
            lateness_limit_s: is_real.then(|| TOO_LATE.as_secs_f64()),
        }
    }
}

/// Number of calls of [`ContestOptions::on_run`]: one for every repeat in real time, and one for
/// every simulated run.
pub fn load_count(race: &Race, contenders: &[Contender], worlds: &[World]) -> u64 {
    let real = |one| worlds.iter().filter(|world| Real::of(one, **world).is_some()).count() as u64;
    let simulated = if worlds.contains(&World::Sim) { race.run_count() } else { 0 };
    contenders.iter().map(real).sum::<u64>() * u64::from(race.repeats) + simulated
}

/// Runs the race in all worlds; answers by contender in their order, then by world as asked for.
/// Real worlds leave out the parts of a race that they lack ([`Race::background`]; `wire` has no
/// sites of several servers). A contender whose agent fails when others have been measured is left
/// out from there on ([`Contestant::left_out`]).
///
/// # Errors
/// If the machine does not let it: see [`cannot_be_had`].
pub fn run(race: &Race, how: ContestOptions<'_>) -> io::Result<RaceOutcome> {
    let mut entries = entries(how);
    let mut turns = RealTurns { race, folder: Folder::new(how.captures)?, order: 0 };
    simulate(race, how, &mut entries);
    let service = Service { server: how.server, agent: how.agent };
    for repeat in 0..race.repeats {
        for Entry { contender, contestant } in &mut entries {
            let Some(place) = Real::of(contender, contestant.world) else { continue };
            if contestant.left_out.is_none() {
                let loader = &contender.loader(race);
                let (client, browser, record) = (how.client, how.browser, how.record);
                let who = BedEnds { place, service, loader, client, browser, record };
                let took = turns.take(contestant, who, repeat);
                contestant.left_out = reason_to_go_on_without(contender, took)?;
            }
            (how.on_run)();
        }
    }
    Ok(RaceOutcome::new(race, entries.into_iter().map(|entry| entry.contestant).collect()))
}

/// A contender in one world.
struct Entry<'a> {
    contender: &'a Contender,
    contestant: Contestant,
}

/// Entries by contender in their order, then by world as requested, each once.
fn entries(how: ContestOptions<'_>) -> Vec<Entry<'_>> {
    let mut worlds: Vec<World> = Vec::new();
    for world in how.worlds {
        if !worlds.contains(world) {
            worlds.push(*world);
        }
    }
    let mut entries = Vec::new();
    for contender in how.contenders {
        let own = worlds.iter().filter(|world| runs_in(contender, **world));
        entries.extend(own.map(|world| {
            let contestant = Contestant::new(contender.name(), *world);
            Entry { contender, contestant }
        }));
    }
    entries
}

/// Returns the reason why the race continues without a contender after its turn; `None` if the
/// contender stays. An agent may stop at any time, when another one is started; that is no reason
/// to lose the measurements.
fn reason_to_go_on_without(
    contender: &Contender,
    took: io::Result<()>,
) -> io::Result<Option<String>> {
    match took {
        Ok(()) => Ok(None),
        Err(error) if contender.agent().is_some() && !cannot_be_had(&error) => {
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// True if `error` says that this machine has no real worlds: a privilege, TUN devices or a
/// congestion control is missing. Anything else is a failure.
pub fn cannot_be_had(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound)
}

/// The turns of a race in real time.
struct RealTurns<'a> {
    race: &'a Race,
    folder: Folder<'a>,
    /// Turns so far, of all contestants.
    order: u64,
}

impl RealTurns<'_> {
    /// A repeat, as often as packets are late, but not for ever.
    fn take(
        &mut self,
        contestant: &mut Contestant,
        who: BedEnds<'_>,
        repeat: u32,
    ) -> io::Result<()> {
        let seed = self.race.seed.wrapping_add(u64::from(repeat));
        let who = BedEnds { record: who.record && repeat == 0, ..who };
        let race = Race { path: self.race.path_of(repeat, Instant::ZERO), ..self.race.clone() };
        for patience in (0..=PATIENCE).rev() {
            let captures = self.folder.of(&contestant.name, contestant.world, repeat);
            let visits = visit_bed::visit(&race, who, seed, &captures)?;
            let is_late = visits.iter().any(|load| load.scheduling_delay > TOO_LATE);
            let is_redone = is_late && patience > 0;
            let order = Some(self.order);
            contestant.turns.push(ClientTurn { order, repeat, is_redone, visits });
            self.order += 1;
            if !is_redone {
                break;
            }
        }
        Ok(())
    }
}

/// The turns of the simulation, all at once: they take no real time.
fn simulate(race: &Race, how: ContestOptions<'_>, entries: &mut [Entry<'_>]) {
    if !how.worlds.contains(&World::Sim) {
        return;
    }
    let outcome = race.run(how.of_simulations());
    for simulated in outcome.contestants {
        let is_it = |entry: &&mut Entry<'_>| {
            entry.contestant.world == World::Sim && entry.contestant.name == simulated.name
        };
        let entry = entries.iter_mut().find(is_it).expect("every scheme of a race is a contender");
        entry.contestant = simulated;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failing_agent_is_gone_on_without() {
        let outcome = |name: &str, kind: ErrorKind| {
            let contender = Contender::parse(name).expect("a contender");
            let error = io::Error::new(kind, "another agent runs");
            reason_to_go_on_without(&contender, Err(error)).ok().flatten()
        };
        let another = Some("another agent runs".to_owned());
        assert_eq!(outcome("hs-cubic", ErrorKind::Other), another);
        // The cause is the machine or the link, so no contender can go on.
        assert_eq!(outcome("hs-cubic", ErrorKind::PermissionDenied), None);
        assert_eq!(outcome("linux", ErrorKind::Other), None);
        let contender = Contender::parse("hs-cubic").expect("a contender");
        assert_eq!(reason_to_go_on_without(&contender, Ok(())).expect("it went well"), None);
    }
}
