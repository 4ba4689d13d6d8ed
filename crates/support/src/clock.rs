//! The wall clock.

use std::time::SystemTime;
use units::Instant;

/// Reads the wall clock, for certificates and for what outlives a process.
#[expect(clippy::disallowed_methods, reason = "a service lives in real time")]
pub fn system_time() -> SystemTime {
    SystemTime::now()
}

/// Reads the wall clock as nanoseconds since 1970; 0 before that.
pub fn wall() -> Instant {
    let since = system_time().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
