//! The gateway's clock: nanoseconds since 1970. It reads the wall clock at the start, and follows
//! the monotonic clock from then on. So a change of the wall clock moves no age while the gateway
//! runs.

use std::time;
pub use support::clock::system_time;
use support::clock::wall;
use units::{Duration, Instant};

/// Maximum difference between clocks of gateways, in steps of 2^30 ns. A record from farther in the
/// future is dropped.
pub(crate) const CLOCKS_DIFFER: u32 = 60;

/// The gateway's clock.
#[derive(Clone, Copy, Debug)]
pub struct SiteClock {
    wall: Instant,
    begun: time::Instant,
}

impl SiteClock {
    /// Starts a clock at the machine's current time.
    pub fn start() -> Self {
        Self { wall: wall(), begun: monotonic() }
    }

    /// Returns the current time.
    pub fn now(&self) -> Instant {
        let passed = u64::try_from(monotonic().duration_since(self.begun).as_nanos());
        self.wall + Duration::from_nanos(passed.unwrap_or(u64::MAX))
    }

    /// Returns the wall clock as it is set now, seconds since 1970: certificates end by it.
    pub fn wall_seconds() -> i64 {
        i64::try_from(wall().as_nanos() / 1_000_000_000).unwrap_or(i64::MAX)
    }

    /// Returns the time since the start.
    pub fn uptime(&self) -> time::Duration {
        monotonic().duration_since(self.begun)
    }
}

/// Returns the time as in records: steps of 2^30 ns.
pub(crate) fn ticks(now: Instant) -> u32 {
    u32::try_from(now.as_nanos() >> 30).unwrap_or(u32::MAX)
}

#[expect(clippy::disallowed_methods, reason = "a service lives in real time")]
fn monotonic() -> time::Instant {
    time::Instant::now()
}
