//! Measurements that others published, and known effects of paths.

use crate::race::{json, number_of};
use std::path::Path;
use testbed::published::MEASUREMENTS;

/// The measurements that are simulated in less than a second; `headstart lab check published` has
/// all of them.
const QUICK: [&str; 7] = [
    "satellite",
    "block",
    "repeated-megabyte",
    "after-idle",
    "warm-connection",
    "imports",
    "certificates",
];

#[test]
fn published_measurements_are_within_ten_per_cent() {
    let headstart = Path::new(env!("CARGO_BIN_EXE_headstart"));
    for row in MEASUREMENTS.iter().filter(|row| QUICK.contains(&row.name)) {
        for figure in row.figures {
            let ours = figure.measure(headstart).expect("a figure");
            assert!(figure.holds(ours), "{}: {ours}, {:?}", row.name, figure.published);
        }
    }
}

/// Delays that vary in order end HyStart too early (Peters et al. 2021: half the throughput over a
/// satellite). Slow start without HyStart does not look at delays.
#[test]
fn jitter_ends_hystart_too_early() {
    let race = |path: &str| {
        let schemes = "linux+startup=slowstart-linux";
        json(&["race", "10MB", "--json", "--path", path, "--schemes", schemes, "--repeat", "3"])
    };
    let ratio = |path: &str| {
        let race = race(path);
        let time = |scheme| number_of(&race, scheme, "page_s");
        time("linux") / time("linux+startup=slowstart-linux")
    };
    assert_eq!(ratio("20mbit,600ms,1bdp"), 1.0);
    let ratio = ratio("20mbit,600ms,1bdp,ordered-jitter=80ms");
    assert!((1.5..=2.5).contains(&ratio), "{ratio}");
}
