//! Measures times, and waits for events.

use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for an event, since the machine may be busy. An emulated machine
/// (`tools/kernels/init`) sets it in seconds by `HEADSTART_PATIENCE`.
pub(crate) static PATIENCE: LazyLock<Duration> =
    LazyLock::new(|| {
        let variable = std::env::var("HEADSTART_PATIENCE").ok();
        Duration::from_secs(variable.map_or(60, |seconds| {
            seconds.parse().expect("HEADSTART_PATIENCE is a number of seconds")
        }))
    });

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

/// Runs a job and returns its time and its result.
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
        assert!(start.elapsed() < *PATIENCE, "not within {:?}: {what}", *PATIENCE);
        thread::sleep(Duration::from_millis(20));
    }
}
