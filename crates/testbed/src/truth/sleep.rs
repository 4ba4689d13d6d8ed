//! Sleeping on the threads of a row's ends.

use std::thread;
use units::Duration;

/// Sleeps for at least so long.
pub(super) fn sleep(time: Duration) {
    thread::sleep(std::time::Duration::from_nanos(time.as_nanos()));
}
