//! All senders of a page, its browser and its path together.

use super::replies::BrowserWork;
use crate::bound::{Bound, BoundFrom, BoundShares};
use crate::record::Stretch;
use units::Instant;

/// Change of the causes that bound the page.
#[derive(Clone, Copy, Debug)]
struct PartyChange {
    at: Instant,
    /// Bound whose number of waiting parties changes by `by`, +1 or −1; for the path, the number of
    /// reasons why it is busy.
    bound: Bound,
    by: i64,
}

/// The parties that wait for each bound, from the first change on.
pub(super) struct WaitingParties {
    /// Changes in the order of time.
    changes: Vec<PartyChange>,
}

impl WaitingParties {
    /// The link is `busy`, the browser has work of its own, and senders wait for `alone` while the
    /// link is idle.
    pub(super) fn new(busy: &[Stretch], browser: &BrowserWork, alone: &[Vec<BoundFrom>]) -> Self {
        let mut changes = Vec::new();
        let mut stretch = |bound, from, to| {
            changes.push(PartyChange { at: from, bound, by: 1 });
            changes.push(PartyChange { at: to, bound, by: -1 });
        };
        busy.iter().for_each(|busy| stretch(Bound::Path, busy.from, busy.to));
        for (bound, stretches) in
            [(Bound::Client, &browser.requests), (Bound::Dns, &browser.lookups)]
        {
            stretches.iter().for_each(|work| stretch(bound, work.from, work.to));
        }
        for timeline in alone {
            changes.extend(steps(timeline));
        }
        changes.sort_by_key(|change| change.at);
        Self { changes }
    }

    /// Returns the shares of the bounds in the time from `start` to `end`.
    pub(super) fn bound_shares(&self, start: Instant, end: Instant) -> Option<BoundShares> {
        let mut waiting = [0_i64; Bound::ALL.len()];
        let mut nanos = [0.0; Bound::ALL.len()];
        let mut now = start;
        for change in &self.changes {
            let at = change.at.clamp(start, end);
            divide(at.saturating_since(now).as_nanos() as f64, &waiting, &mut nanos);
            now = at;
            waiting[change.bound as usize] += change.by;
        }
        divide(end.saturating_since(now).as_nanos() as f64, &waiting, &mut nanos);
        BoundShares::of(nanos)
    }
}

/// Assigns a moment to the path if it is busy, else to the waiting parties in equal parts, else to
/// rounds.
fn divide(moment: f64, waiting: &[i64; Bound::ALL.len()], nanos: &mut [f64; Bound::ALL.len()]) {
    let parties = |bound: Bound| match bound {
        Bound::Path | Bound::Rounds => 0,
        // However many requests it works out, or names it looks up, it is one.
        Bound::Client | Bound::Dns => waiting[bound as usize].min(1),
        _ => waiting[bound as usize],
    };
    let all: i64 = Bound::ALL.into_iter().map(parties).sum();
    match all {
        _ if waiting[Bound::Path as usize] > 0 => nanos[Bound::Path as usize] += moment,
        0 => nanos[Bound::Rounds as usize] += moment,
        _ => {
            for bound in Bound::ALL {
                nanos[bound as usize] += moment * parties(bound) as f64 / all as f64;
            }
        }
    }
}

/// A sender's changes: it leaves the one party and joins another.
fn steps(timeline: &[BoundFrom]) -> Vec<PartyChange> {
    let mut changes = Vec::new();
    let mut last = None;
    for BoundFrom { at, bound } in timeline.iter().copied() {
        changes.extend(last.map(|bound| PartyChange { at, bound, by: -1 }));
        changes.extend(bound.map(|bound| PartyChange { at, bound, by: 1 }));
        last = bound;
    }
    changes
}

/// A sender's timeline with the path before all else, while something is wanted of it.
pub(super) fn on_path(timeline: &[BoundFrom], busy: &[Stretch]) -> Vec<BoundFrom> {
    let edges = busy.iter().flat_map(|busy| [busy.from, busy.to]);
    let mut instants: Vec<Instant> = timeline.iter().map(|from| from.at).chain(edges).collect();
    instants.sort_unstable();
    instants.dedup();
    let mut shown: Vec<BoundFrom> = Vec::new();
    for at in instants {
        let bound = waited_for(timeline, at);
        let bound = bound.map(|bound| if is_busy(busy, at) { Bound::Path } else { bound });
        if shown.last().and_then(|last| last.bound) != bound {
            shown.push(BoundFrom { at, bound });
        }
    }
    shown
}

fn waited_for(timeline: &[BoundFrom], at: Instant) -> Option<Bound> {
    let index = timeline.partition_point(|from| from.at <= at).checked_sub(1)?;
    timeline[index].bound
}

fn is_busy(busy: &[Stretch], at: Instant) -> bool {
    let index = busy.partition_point(|stretch| stretch.from <= at);
    index > 0 && at < busy[index - 1].to
}
