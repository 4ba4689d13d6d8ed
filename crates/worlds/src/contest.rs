//! Who runs when: repeats outermost, then contenders, then worlds, so that whatever the machine goes
//! through meets all worlds alike; and again what was handed over too late.

use crate::bed::{self, Sample, Who};
use crate::captures::Folder;
use crate::client::{Browser, Client};
use crate::contender::Contender;
use crate::kernel::{Agent, Server, Service};
use crate::world::World;
use race::{Load, Race, RunOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use units::Duration;

/// A visit of whose packets more than one in a hundred was handed over later than this is repeated.
pub const TOO_LATE: Duration = Duration::from_millis(1);
/// How often it is repeated at most; the last one then counts, whatever it was.
const PATIENCE: u32 = 5;

/// One contender in one world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The contender's name.
    pub scheme: String,
    /// Where.
    pub world: World,
    /// Its turns, in their order: all of them, also those made again for lateness.
    pub turns: Vec<Turn>,
    /// Why it took no more turns than these, if it did not take all: its agent no longer worked.
    pub left_out: Option<String>,
}

/// One client's visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How many real turns of the race were before it; `None` if it is simulated.
    pub order: Option<u64>,
    /// Of which repeat, from 0.
    pub repeat: u32,
    /// It was made again, because packets were late: another one counts.
    pub is_redone: bool,
    /// The visits.
    pub visits: Vec<Sample>,
}

/// How to run it.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The worlds.
    pub worlds: &'a [World],
    /// Who races: the race's schemes, and among them those that only the kernel has.
    pub contenders: &'a [Contender],
    /// The browser's TCP in real worlds; [`Race::client`] has to be its model.
    pub client: Client,
    /// Who asks there; [`Browser::refusal`] says what curl cannot.
    pub browser: &'a Browser,
    /// What serves in the kernel's.
    pub server: &'a Server,
    /// The agent of those that have one.
    pub agent: Option<&'a Agent>,
    /// A folder for captures of the first repeats, made if it is not there.
    pub captures: Option<&'a Path>,
    /// Called after each of [`load_count`] repeats, from any thread.
    pub on_run: &'a (dyn Fn() + Sync),
}

/// How often [`Run::on_run`] is called: for every repeat in real time.
pub fn load_count(contenders: &[Contender], worlds: &[World], repeats: u32) -> u64 {
    let real = |one| worlds.iter().filter(|world| world.real(one).is_some()).count() as u64;
    contenders.iter().map(real).sum::<u64>() * u64::from(repeats)
}

/// Runs the race in all worlds; answers by contender in their order, then by world as asked for.
/// What real worlds have not ([`Race::background`], sites of several servers) they leave out. A contender whose agent
/// fails when others have been measured is left out from there on ([`Entry::left_out`]).
///
/// # Errors
/// If the machine does not let it: see [`cannot_be_had`].
pub fn run(race: &Race, how: Run<'_>) -> io::Result<Vec<Entry>> {
    let everywhere = how.contenders.iter().flat_map(|contender| {
        let worlds = how.worlds.iter().filter(|world| contender.runs_in(**world));
        worlds.map(move |world| (contender, Entry::new(contender, *world)))
    });
    let mut entries: Vec<(&Contender, Entry)> = everywhere.collect();
    let folder = Folder::new(how.captures)?;
    simulate(race, how.worlds, (&mut entries, folder))?;
    let service = Service { server: how.server, agent: how.agent };
    let mut order = 0;
    for repeat in 0..race.repeats {
        for (contender, entry) in &mut entries {
            let Some(place) = entry.world.real(contender) else { continue };
            if entry.left_out.is_none() {
                let loader = &contender.loader(race);
                let (client, browser) = (how.client, how.browser);
                let who = Who { place, service, loader, client, browser };
                let took = entry.take_turn(race, (who, folder), (repeat, &mut order));
                entry.left_out = reason_to_go_on_without(contender, took)?;
            }
            (how.on_run)();
        }
    }
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// Why the race goes on without a contender after this turn of its; `None` if it goes on with it. An agent may stop
/// working at any time, when somebody starts another; that is no reason to lose what was measured.
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

/// True if `error` says that this machine has no real worlds: a privilege, TUN devices or a congestion
/// control is missing. Anything else is a failure.
pub fn cannot_be_had(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound)
}

impl Entry {
    fn new(contender: &Contender, world: World) -> Self {
        Self { scheme: contender.name().to_owned(), world, turns: Vec::new(), left_out: None }
    }

    /// The turns that count: one of each repeat.
    pub fn counted(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter().filter(|turn| !turn.is_redone)
    }

    /// A repeat, as often as packets are late, but not for ever.
    fn take_turn(
        &mut self,
        race: &Race,
        (who, folder): (Who<'_>, Folder<'_>),
        (repeat, order): (u32, &mut u64),
    ) -> io::Result<()> {
        let seed = race.seed.wrapping_add(u64::from(repeat));
        for patience in (0..=PATIENCE).rev() {
            let captures = folder.of(&self.scheme, self.world, repeat);
            let visits = bed::visit(race, who, (seed, &captures))?;
            let is_late = visits.iter().any(|sample| sample.lateness > TOO_LATE);
            let is_redone = is_late && patience > 0;
            self.turns.push(Turn { order: Some(*order), repeat, is_redone, visits });
            *order += 1;
            if !is_redone {
                break;
            }
        }
        Ok(())
    }
}

/// The entries of the simulation, all at once: they take no real time.
fn simulate(
    race: &Race,
    worlds: &[World],
    (entries, folder): (&mut [(&Contender, Entry)], Folder<'_>),
) -> io::Result<()> {
    if !worlds.contains(&World::Sim) {
        return Ok(());
    }
    let capture = folder.is_wanted();
    let options = RunOptions { threads: 0, record: false, capture, on_run: &|| () };
    let outcome = race.run(options);
    for (_, entry) in entries.iter_mut().filter(|(_, entry)| entry.world == World::Sim) {
        let contestant = outcome.contestants.iter().find(|c| c.name == entry.scheme);
        let contestant = contestant.expect("every scheme of a race is in its outcome");
        let turn = |repeat: u32| {
            let index = repeat as usize;
            let again = contestant.again.iter().map(move |again| &again.loads[index]);
            let visits = [&contestant.loads[index]].into_iter().chain(again).map(sample).collect();
            Turn { order: None, repeat, is_redone: false, visits }
        };
        entry.turns = (0..race.repeats).map(turn).collect();
        folder.write_simulated(&entry.scheme, &contestant.loads[0])?;
    }
    Ok(())
}

fn sample(load: &Load) -> Sample {
    Sample {
        html: load.html,
        page: load.page,
        dropped: load.dropped,
        lateness: Duration::ZERO,
        failure: load.failure.clone(),
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
        // The machine is to blame, or the link: nobody can go on.
        assert_eq!(outcome("hs-cubic", ErrorKind::PermissionDenied), None);
        assert_eq!(outcome("linux", ErrorKind::Other), None);
        let contender = Contender::parse("hs-cubic").expect("a contender");
        assert_eq!(reason_to_go_on_without(&contender, Ok(())).expect("it went well"), None);
    }
}
