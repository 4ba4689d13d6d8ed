//! How long things take, and waiting for them.

use std::thread;
use std::time::{Duration, Instant};

/// A machine that tests is busy, or emulated (`any_kernel`): nothing is given up on earlier.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The fastest of some visits: what a busy machine adds is not what is tested.
pub(crate) fn fastest(times: impl Iterator<Item = Duration>) -> Duration {
    times.min().unwrap()
}

/// The middle one, the upper of two.
pub(crate) fn median<T: Ord>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<_> = values.collect();
    values.sort();
    values.swap_remove(values.len() / 2)
}

/// How long a job takes, and what it gives.
#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
pub(crate) fn timed<T>(job: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = job();
    (start.elapsed(), done)
}

/// Waits for something that has to come.
#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
