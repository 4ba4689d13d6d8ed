//! Who runs when: repeats outermost, then schemes, then worlds, so that whatever the machine goes
//! through meets all worlds alike; and again what was handed over too late.

use crate::bed::{self, Sample};
use crate::world::{Real, World};
use experiment::race::{Load, Race, RunOptions};
use std::io::{self, ErrorKind};
use tcp::Scheme;
use units::Duration;

/// A visit of whose packets more than one in a hundred was handed over later than this is repeated.
pub const TOO_LATE: Duration = Duration::from_millis(1);
/// How often it is repeated at most; the last one then counts, whatever it was.
const PATIENCE: u32 = 5;

/// One scheme in one world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The scheme's text.
    pub scheme: String,
    /// Where.
    pub world: World,
    /// Its visits, by repeat; all that were made but for those that were repeated.
    pub repeats: Vec<Vec<Sample>>,
    /// How many were repeated for lateness.
    pub redone: u32,
}

/// How to run it.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The worlds.
    pub worlds: &'a [World],
    /// Called after each of [`load_count`] repeats, from any thread.
    pub on_run: &'a (dyn Fn() + Sync),
}

/// How often [`Run::on_run`] is called: for every repeat in real time.
pub fn load_count(race: &Race, worlds: &[World]) -> u64 {
    let real = |scheme| worlds.iter().filter(|world| world.real(scheme).is_some()).count() as u64;
    race.schemes.iter().map(real).sum::<u64>() * u64::from(race.repeats)
}

/// Runs the race in all worlds; answers by scheme in the order of the race, then by world as asked for.
/// What real worlds have not ([`Race::background`], sites of several servers) they leave out.
///
/// # Errors
/// If the machine does not let it: see [`cannot_be_had`].
pub fn run(race: &Race, how: Run<'_>) -> io::Result<Vec<Entry>> {
    let everywhere = race.schemes.iter().flat_map(|scheme| {
        let worlds = how.worlds.iter().filter(|world| world.has(scheme));
        worlds.map(move |world| (scheme, Entry::new(scheme, *world)))
    });
    let mut entries: Vec<(&Scheme, Entry)> = everywhere.collect();
    simulate(race, how.worlds, &mut entries);
    for repeat in 0..race.repeats {
        let seed = race.seed.wrapping_add(u64::from(repeat));
        for (scheme, entry) in &mut entries {
            let Some(place) = entry.world.real(scheme) else { continue };
            entry.one_more(race, (scheme, place), seed)?;
            (how.on_run)();
        }
    }
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// True if `error` says that this machine has no real worlds: a privilege, TUN devices or a congestion
/// control is missing. Anything else is a failure.
pub fn cannot_be_had(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound)
}

impl Entry {
    fn new(scheme: &Scheme, world: World) -> Self {
        Self { scheme: scheme.name().to_owned(), world, repeats: Vec::new(), redone: 0 }
    }

    fn one_more(
        &mut self,
        race: &Race,
        (scheme, place): (&Scheme, Real),
        seed: u64,
    ) -> io::Result<()> {
        for patience in (0..=PATIENCE).rev() {
            let samples = bed::visit(race, (scheme, place), seed)?;
            let is_late = samples.iter().any(|sample| sample.lateness > TOO_LATE);
            if !is_late || patience == 0 {
                self.repeats.push(samples);
                break;
            }
            self.redone += 1;
        }
        Ok(())
    }
}

/// The entries of the simulation, all at once: they take no real time.
fn simulate(race: &Race, worlds: &[World], entries: &mut [(&Scheme, Entry)]) {
    if !worlds.contains(&World::Sim) {
        return;
    }
    let options = RunOptions { threads: 0, record: false, capture: false, on_run: &|| () };
    let outcome = race.run(options);
    for (_, entry) in entries.iter_mut().filter(|(_, entry)| entry.world == World::Sim) {
        let contestant = outcome.contestants.iter().find(|c| c.name == entry.scheme);
        let contestant = contestant.expect("every scheme of a race is in its outcome");
        let visits = |repeat: usize| {
            let again = contestant.again.iter().map(move |again| &again.loads[repeat]);
            [&contestant.loads[repeat]].into_iter().chain(again).map(sample).collect()
        };
        entry.repeats = (0..race.repeats as usize).map(visits).collect();
    }
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
