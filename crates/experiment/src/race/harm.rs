//! Harm to the background: what it lost to a load, held against the same interval of `linux`'s.
//!
//! Of a load that took from `s` to `s + t`, the background's bytes delivered in that interval are
//! compared with those delivered in the very same interval, `s` to `s + t`, of the run of the same
//! repeat in which `linux` loads the page: harm = 1 − the former / the latter. Intervals of equal
//! length and place, since a load that is merely over sooner leaves its background less time.

use super::run::Stage;
use super::{BASELINE, Contestant, Race};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tcp::Scheme;
use units::Duration;

/// Fills in the harm of every load that ended.
pub(super) fn judge(race: &Race, contestants: &mut [Contestant], on_run: &(dyn Fn() + Sync)) {
    let durations = |repeat: u32| {
        let loads = contestants.iter().map(move |c| &c.loads[repeat as usize]);
        loads.filter_map(|load| load.page).collect::<Vec<_>>()
    };
    let wanted: Vec<(u32, Vec<Duration>)> = (0..race.repeats).map(|r| (r, durations(r))).collect();
    let curves: Vec<BTreeMap<Duration, u64>> = wanted
        .into_par_iter()
        .map(|(repeat, durations)| {
            let curve = baseline_curve(race, repeat, durations);
            on_run();
            curve
        })
        .collect();
    for contestant in contestants {
        let loads = contestant.loads.iter().zip(&curves);
        let harm = loads.map(|(load, curve)| {
            let baseline = *curve.get(&load.page?)?;
            (baseline > 0).then(|| 1.0 - load.background_bytes as f64 / baseline as f64)
        });
        contestant.harm = harm.collect();
    }
}

/// Bytes delivered to the background so long after the start of `linux`'s load.
fn baseline_curve(
    race: &Race,
    repeat: u32,
    mut durations: Vec<Duration>,
) -> BTreeMap<Duration, u64> {
    let linux = Scheme::parse(BASELINE).expect("the baseline is in the catalogue");
    let mut stage = Stage::new(race, &linux, repeat);
    let start = stage.start;
    let mut bytes_at = |at| {
        // Every host of the topology has a route, the only thing that can be missing.
        let _ = stage.simulation.run_until(at);
        stage.background_bytes()
    };
    let before = bytes_at(start);
    durations.sort_unstable();
    durations.into_iter().map(|after| (after, bytes_at(start + after) - before)).collect()
}
