//! Gains of a page from changes other than of TCP: a faster link, a shorter round trip, no loss,
//! faster servers, a faster browser.
//!
//! Each change is made alone, and the load by `linux` is simulated with the seeds of the race. So
//! its gain is paired by repeat, as the gain of a scheme is. A page waits for several things at
//! once, so the gains of two changes do not add up.

use super::contestant::MeasuredLoad;
use super::{
    Contestant, CriticalPath, CriticalWait, Race, RunOptions, Spread, Visits, World, in_threads,
};
use link::path::PathSpec;
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;
use std::sync::Arc;
use units::Duration;
use workload::{ObjectId, Page, PageHost, PageMilestone};

/// Objects of a critical path without which a page is loaded, at most.
const MAX_REMOVED: usize = 24;

/// A change of path, servers or browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Twice the rate in both directions.
    TwiceTheRate,
    /// Half the round trip.
    HalfTheRoundTrip,
    /// No random loss. A queue that overflows still drops packets.
    NoLoss,
    /// Servers that answer at once.
    InstantServers,
    /// A browser that asks for each object as soon as it knows it.
    InstantBrowser,
}

/// The load by `linux` under a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeResult {
    /// The change.
    pub change: Change,
    /// Seconds until the end of the load; `None` if a load did not end.
    pub page_s: Option<Spread>,
    /// 1 − the time over that without the change.
    pub gain: Option<Spread>,
}

impl Change {
    const ALL: [Self; 5] = [
        Self::TwiceTheRate,
        Self::HalfTheRoundTrip,
        Self::NoLoss,
        Self::InstantServers,
        Self::InstantBrowser,
    ];

    /// The change in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwiceTheRate => "twice the rate",
            Self::HalfTheRoundTrip => "half the round trip",
            Self::NoLoss => "no random loss",
            Self::InstantServers => "servers that answer at once",
            Self::InstantBrowser => "a browser that works in no time",
        }
    }

    /// The race after the change; `None` if that changes nothing, or is not possible.
    fn of(self, race: &Race) -> Option<Race> {
        let on_path = |path: PathSpec| Race { path, ..race.clone() };
        let on_page = |page: Page| Race { page: Arc::new(page), ..race.clone() };
        let changed = match self {
            Self::TwiceTheRate => on_path(race.path.with_rates_times(2)?),
            Self::HalfTheRoundTrip => {
                let halve = |_, host: &mut PageHost| host.rtt = host.rtt.map(|rtt| rtt / 2);
                let page = Arc::new(Page::clone(&race.page).with_hosts(halve));
                Race { page, ..on_path(race.path.with_half_the_rtt().ok()?) }
            }
            Self::NoLoss => on_path(race.path.with_loss(0.0).ok()?),
            Self::InstantServers => on_page(race.page.without_server_waits()),
            Self::InstantBrowser => on_page(race.page.without_browser_work()),
        };
        (changed.path != race.path || changed.page != race.page).then_some(changed)
    }
}

impl Race {
    /// Number of times that [`RunOptions::on_run`] is called by [`Race::what_if`].
    pub fn what_if_count(&self) -> u64 {
        let changes = Change::ALL.into_iter().filter(|change| change.of(self).is_some()).count();
        changes as u64 * u64::from(self.repeats)
    }

    /// The first visits by `linux` under each change that this path and page can have. They are
    /// compared with `linux`, the simulated contestant of this race without a change.
    ///
    /// # Panics
    /// If the operating system gives no threads.
    pub fn what_if(&self, linux: &Contestant, options: RunOptions<'_>) -> Vec<ChangeResult> {
        let result = |change: Change| {
            let changed = change.of(self)?.first_visits_by_linux(options);
            Some(ChangeResult::of(change, &changed, linux))
        };
        in_threads(options.threads, || Change::ALL.into_iter().filter_map(result).collect())
    }

    /// Fills in the time that the load would save without each object of its critical path, for the
    /// objects that it waits for longest. A load of another world is left unchanged.
    ///
    /// # Panics
    /// If the operating system gives no threads.
    pub fn save_without(&self, path: &mut CriticalPath, options: RunOptions<'_>) {
        if path.on != World::Sim {
            return;
        }
        let whole = path.total();
        let mut longest: Vec<&mut CriticalWait> = path.objects.iter_mut().collect();
        longest.sort_by_key(|object| Reverse(object.wait.phases.total()));
        longest.truncate(MAX_REMOVED);
        let quiet = RunOptions { on_run: &|| (), ..options };
        in_threads(options.threads, || {
            longest.into_par_iter().for_each(|object| {
                let time = self.time_without(object.wait.object, quiet);
                object.saved_without = time.map(|time| whole.saturating_sub(time));
            });
        });
    }

    /// The time of the first load by `linux` without an object; `None` if it does not end. Without
    /// its document there is no page.
    fn time_without(&self, id: ObjectId, options: RunOptions<'_>) -> Option<Duration> {
        if self.page.awaits(PageMilestone::Document, id) {
            return None;
        }
        let page = Arc::new(self.page.without(id)?);
        let race = Self { page, repeats: 1, ..self.clone() };
        race.first_visits_by_linux(options).first()?.visits.first()?.page
    }

    fn first_visits_by_linux(&self, options: RunOptions<'_>) -> Contestant {
        let visits = Visits { count: 1, ..self.visits };
        let race = Self { schemes: vec![self.baseline()], visits, ..self.clone() };
        let options = RunOptions { record: false, capture: false, ..options };
        race.load_all(options).pop().expect("a scheme has a contestant")
    }
}

impl ChangeResult {
    /// Compares the loads with a change to those of the same repeats without it.
    fn of(change: Change, with: &Contestant, without: &Contestant) -> Self {
        let times = first_visits(with);
        let gain = |(with, without): (&Option<f64>, Option<f64>)| Some(1.0 - (*with)? / without?);
        let gains = times.iter().zip(first_visits(without)).map(gain);
        Self { change, page_s: Spread::of(times.iter().copied()), gain: Spread::of(gains) }
    }

    /// The same change in several runs of a page: medians over the runs' medians.
    pub(super) fn over_runs(all: &[Self]) -> Self {
        let over = |of: fn(&Self) -> Option<Spread>| Spread::of_medians(all.iter().map(of));
        Self { page_s: over(|one| one.page_s), gain: over(|one| one.gain), ..all[0] }
    }
}

/// Seconds of the first visit of each repeat; `None` of a load that did not end.
fn first_visits(contestant: &Contestant) -> Vec<Option<f64>> {
    let seconds = |load: &MeasuredLoad| load.page.map(Duration::as_secs_f64);
    let turns = contestant.counted();
    turns.map(|turn| turn.visits.first().and_then(seconds)).collect()
}
