//! Plays operators over a month of looks: how often those without a gain are stopped or get a false
//! report, and how soon real gains and losses are reported. `make test-canary` runs it. The numbers
//! of operators and connections may be given as arguments.

#![allow(clippy::disallowed_methods, reason = "an example prints, and reads its arguments")]

#[path = "../tests/operators/mod.rs"]
mod operators;

use operators::fleet::{CONNECTIONS, Fleet, SERVERS};
use operators::mixed::{HarmFound, LOSSY_PATHS, MixedSite, ONE_NETWORK, SAME_PATHS};
use operators::shapes::SHAPES;
use operators::{Effect, Met, NOTHING, OFF_RATIO, month, until_found};
use rayon::prelude::*;

/// Connections in a month, least and most: from one in ten minutes to one in 26 seconds, evenly by
/// the logarithm.
const MIN_CONNECTIONS_A_MONTH: f64 = 4_320.0;
const MAX_CONNECTIONS_A_MONTH: f64 = 100_000.0;
/// Operators of each effect that is to be found.
const FINDERS: u64 = 100;
/// Connections after which they are not simulated any further.
const PATIENCE: f64 = 500_000.0;

type IsSo = fn(&Met) -> bool;

fn main() {
    let mut said = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let operators: f64 = said.next().unwrap_or(10_000.0);
    let most: f64 = said.next().unwrap_or(MAX_CONNECTIONS_A_MONTH);
    println!(
        "{operators:.0} operators who gain nothing, {MIN_CONNECTIONS_A_MONTH:.0} to {most:.0} connections in a month each,"
    );
    println!("a look after every connection, ramp of 1, 5, 25 and 95 %, control group of 5 %");
    let count = operators as u64;
    let met: Vec<_> = (0..count)
        .into_par_iter()
        .map(|seed| {
            let part = (seed as f64 + 0.5) / operators;
            month(
                seed,
                MIN_CONNECTIONS_A_MONTH * (most / MIN_CONNECTIONS_A_MONTH).powf(part),
                &NOTHING,
            )
        })
        .collect();
    let rows: [(&str, IsSo); 7] = [
        ("something stopped", |met| met.stopped.is_some()),
        ("all connections stopped", |met| met.stopped_all.is_some()),
        ("a gain claimed, of any part", |met| met.claimed.is_some()),
        ("a gain claimed, of all connections", |met| met.claimed_all.is_some()),
        ("said to be lossier, of any part", |met| met.told.is_some()),
        ("said to be lossier, of all connections", |met| met.told_all.is_some()),
        ("(intervals of one look miss)", |met| met.has_fixed_missed),
    ];
    for (what, is_so) in rows {
        let false_alarms = met.iter().filter(|met| is_so(met)).count() as f64;
        println!("  {what:<38} {:5.2} %   (bound 5 %)", false_alarms / operators * 100.0);
    }
    false_alarms_by_shape(count / 5);
    harm_on_mixed_sites();
    fleets(count / 5);
    println!(
        "\nconnections of the server until it is found, of {FINDERS} operators each (control group of 5 %):"
    );
    println!("  {:<50} {:>9} {:>9} {:>22}", "effect", "half", "95 %", "95 %, at 1 a second");
    for times in [1.5, 0.7, 0.9] {
        finds(&format!("take {times} times as long"), &Effect { times, ..NOTHING }, is_decided);
    }
    for losses in [1.5 * OFF_RATIO, 5.0, 20.0] {
        let what = format!("{losses} times as many connections lose: stopped");
        finds(&what, &Effect { losses, ..NOTHING }, is_decided);
    }
    for losses in [1.5, 2.0] {
        let what = format!("{losses} times as many connections lose: told");
        finds(&what, &Effect { losses, ..NOTHING }, |met| met.told_all);
    }
    for bursts in [1.5, 3.0] {
        let what = format!("as many lose {bursts} times as much: told");
        finds(&what, &Effect { bursts, ..NOTHING }, |met| met.told_all);
    }
}

/// Prints a row for each shape of completion times. The shape is the same in both groups, so all
/// alarms are false.
fn false_alarms_by_shape(runs: u64) {
    println!("\nfalse alarms by shape, of {runs} servers each (control group of 5 %, bound 5 %):");
    println!("  {:<50} {:>9} {:>9} {:>9}", "completion times", "stops", "gains", "lossier");
    for shape in SHAPES {
        let percent = |count: usize| count as f64 / runs as f64 * 100.0;
        let [stops, gains, lossier] = shape.count(runs, u32::MAX).map(percent);
        println!("  {:<50} {stops:>7.2} % {gains:>7.2} % {lossier:>7.2} %", shape.name);
    }
}

/// Prints how soon harm to a few connections is found where most gain.
fn harm_on_mixed_sites() {
    println!(
        "\nharm on mixed sites, connections of the server until it is found ({FINDERS} of each):"
    );
    println!("  {:<62} {:>9} {:>9}", "", "half", "95 %");
    for site in [&LOSSY_PATHS, &SAME_PATHS, &ONE_NETWORK] {
        let all: Vec<_> =
            (0..FINDERS).into_par_iter().map(|seed| site.play(seed, PATIENCE as u32)).collect();
        found(site, "stopped", all.iter().map(|met| met.stopped));
        found(site, "told by size", all.iter().map(|met| met.told));
        let wrong = all.iter().filter(|met: &&HarmFound| met.is_wrong).count();
        println!("  {wrong} stopped a part that gains");
    }
}

/// Prints what fleets find, and how often they do without any effect.
fn fleets(runs: u64) {
    println!("\n{runs} fleets of {SERVERS} servers with {CONNECTIONS} compared connections each:");
    for times in [1.5, 1.0] {
        let effect = Effect { times, ..NOTHING };
        let all: Vec<_> =
            (0..runs).into_par_iter().map(|seed| Fleet::play(seed, &effect)).collect();
        let percent = |count: usize, of: u64| count as f64 / of as f64 * 100.0;
        let share = |is_so: fn(&Fleet) -> bool| {
            percent(all.iter().filter(|fleet| is_so(fleet)).count(), runs)
        };
        let alone = percent(all.iter().map(|fleet| fleet.alone).sum(), runs * SERVERS);
        println!(
            "  take {times} times as long: {:.2} % find harm in all, {:.2} % in any part, {:.2} % a gain; {alone:.2} % of servers alone",
            share(|fleet| fleet.harm.is_some()),
            share(|fleet| fleet.has_alarmed),
            share(|fleet| fleet.has_claimed)
        );
        let mut after: Vec<_> = all.iter().map(|fleet| fleet.harm.unwrap_or(u64::MAX)).collect();
        after.sort_unstable();
        println!(
            "    half of the fleets after {} connections of each server",
            after[after.len() / 2]
        );
    }
}

fn found(site: &MixedSite, what: &str, after: impl Iterator<Item = Option<u32>>) {
    let mut after: Vec<_> = after.map(|n| n.map_or(f64::INFINITY, f64::from)).collect();
    after.sort_by(f64::total_cmp);
    let at = |part: f64| after[(part * (after.len() - 1) as f64) as usize];
    println!("  {:<62} {:>9.0} {:>9.0}", format!("{}: {what}", site.name), at(0.5), at(0.95));
}

/// Connections after which all were stopped, or their gain was claimed.
fn is_decided(met: &Met) -> Option<f64> {
    met.stopped_all.or(met.claimed_all)
}

fn finds(what: &str, effect: &Effect, after: impl Fn(&Met) -> Option<f64> + Sync + Send) {
    let mut found: Vec<f64> = (0..FINDERS)
        .into_par_iter()
        .map(|seed| {
            let met = until_found(seed, PATIENCE, effect, |met| after(met).is_some());
            after(&met).unwrap_or(f64::INFINITY)
        })
        .collect();
    found.sort_by(f64::total_cmp);
    let at = |part: f64| found[(part * (found.len() - 1) as f64) as usize];
    println!("  {what:<50} {:>9.0} {:>9.0} {:>20.1} h", at(0.5), at(0.95), at(0.95) / 3600.0);
}
