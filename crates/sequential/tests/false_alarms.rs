//! Looking all the time raises no false alarm; real effects are found. Small: `examples/operators.rs` is the whole.

mod operators;

use operators::{Effect, Met, NOTHING, month, until_found};
use rayon::prelude::*;

fn all(count: u64, of: impl Fn(u64) -> Met + Sync + Send) -> Vec<Met> {
    (0..count).into_par_iter().map(of).collect()
}

/// Each bound is 5 %. If the probability were that, more than 40 of 500 would be met once in 500 times (binomial: mean 25,
/// standard deviation 4.9; 40.5 lies 3.2 of those above). Intervals of a single look at 95 % miss in more than
/// a quarter of the months.
#[test]
fn operators_who_gain_nothing_are_told_so() {
    let met = all(500, |seed| month(seed, 20_000.0, &NOTHING));
    let stopped = met.iter().filter(|met| met.stopped.is_some()).count();
    let claimed = met.iter().filter(|met| met.claimed.is_some()).count();
    assert!(stopped <= 40 && claimed <= 40, "{stopped} stopped, {claimed} claimed");
    let fixed = met.iter().filter(|met| met.has_fixed_missed).count();
    // Otherwise the looks would be none to speak of, and the test could not fail.
    assert!(fixed > 125, "{fixed}");
}

/// Nobody whose times grow by a half goes on for 50,000 connections, and nobody who gains three tenths waits for longer. Nineteen
/// of twenty know within half of that (`examples/operators.rs`).
#[test]
fn what_is_there_is_found() {
    for (times, is_harm) in [(1.5, true), (0.7, false)] {
        let met = all(100, |seed| until_found(seed, 50_000.0, &Effect { times, losses: 1.0 }));
        for met in met {
            let found = if is_harm { met.stopped_all } else { met.claimed_all };
            assert!(found.is_some(), "{times}: {met:?}");
        }
    }
}
