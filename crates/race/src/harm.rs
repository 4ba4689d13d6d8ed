//! Harm to the background: its loss to a load, compared with the same interval of `linux`'s run.
//!
//! A load takes from `s` to `s + t`. The background's bytes delivered in that interval are compared
//! with those delivered from `z` to `z + t` of the `linux` run of the same repeat. `z` is the
//! beginning of `linux`'s load, and harm = 1 − the former / the latter. For a first visit, `z = s`.
//! Intervals of equal length, since a load that is merely over sooner leaves its background less
//! time.

use super::run::{self, SimulationParts, Stage};
use super::{Contestant, Race, RunOptions};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tcp::Scheme;
use units::{Duration, Instant};

/// Bytes delivered to the background, by visit and time since its beginning.
type Curve = BTreeMap<(usize, Duration), u64>;

/// Fills in the harm of every load that ended.
pub(super) fn fill_in_harm(race: &Race, contestants: &mut [Contestant], options: RunOptions<'_>) {
    let wanted: Vec<_> = (0..race.repeats).map(|r| (r, durations(contestants, r))).collect();
    let curves: Vec<Curve> = wanted
        .into_par_iter()
        .map(|(repeat, durations)| {
            let curve = baseline_curve(race, repeat, options, &durations);
            (options.on_run)();
            curve
        })
        .collect();
    for contestant in contestants {
        for (turn, curve) in contestant.turns.iter_mut().zip(&curves) {
            for (visit, load) in turn.visits.iter_mut().enumerate() {
                let baseline = load.page.and_then(|after| curve.get(&(visit, after)).copied());
                let lost = |b: u64| 1.0 - load.background_bytes as f64 / b as f64;
                load.harm = baseline.filter(|b| *b > 0).map(lost);
            }
        }
    }
}

/// Durations of the contestants' visits, by visit.
fn durations(contestants: &[Contestant], repeat: u32) -> Vec<(usize, Duration)> {
    let turns = contestants.iter().filter_map(|c| c.turns.get(repeat as usize));
    let ended = turns.flat_map(|turn| turn.visits.iter().enumerate());
    ended.filter_map(|(visit, load)| Some((visit, load.page?))).collect()
}

/// Bytes delivered to the background so long after the start of `linux`'s visits.
fn baseline_curve(
    race: &Race,
    repeat: u32,
    options: RunOptions<'_>,
    wanted: &[(usize, Duration)],
) -> Curve {
    let linux = race.baseline();
    let mut stage = Stage::new(&SimulationParts::new(race, &linux), repeat);
    let starts = visit_starts(race, &linux, stage.start, repeat, options);
    for (n, start) in starts.iter().enumerate().skip(1) {
        stage.begin_visit(race, n as u32, *start);
    }
    let ends = wanted.iter().filter_map(|(n, after)| Some(*starts.get(*n)? + *after));
    let mut instants: Vec<Instant> = ends.chain(starts.iter().copied()).collect();
    instants.sort_unstable();
    let mut bytes_at = BTreeMap::new();
    for at in instants {
        // Every host of the topology has a route, the only thing that can be missing.
        let _ = stage.simulation.run_until(at);
        bytes_at.insert(at, stage.background_bytes());
    }
    let since = |(n, after): &(usize, Duration)| {
        let start = *starts.get(*n)?;
        Some(((*n, *after), bytes_at[&(start + *after)] - bytes_at[&start]))
    };
    wanted.iter().filter_map(since).collect()
}

/// Starts of `linux`'s visits of a repeat: without running them, only the first is known.
fn visit_starts(
    race: &Race,
    linux: &Scheme,
    first: Instant,
    repeat: u32,
    options: RunOptions<'_>,
) -> Vec<Instant> {
    if race.visits.count <= 1 {
        return vec![first];
    }
    let plain = RunOptions { record: false, capture: false, ..options };
    let loads = run::run(&SimulationParts::new(race, linux), repeat, plain);
    loads.iter().filter_map(|load| load.began).collect()
}
