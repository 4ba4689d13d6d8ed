//! The wall clock, by which captures have their times.

use std::time::SystemTime;
use units::Instant;

/// Nanoseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a service lives in real time")]
pub(crate) fn wall() -> Instant {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
