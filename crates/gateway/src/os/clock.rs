//! What time it is: nanoseconds since 1970 when the gateway started, from then on by the monotonic clock, so that a wall clock
//! that is set moves no age while the gateway runs.

use std::time;
pub use support::clock::system_time;
use support::clock::wall;
use units::{Duration, Instant};

/// Clocks of gateways may differ by so much, in steps of 2^30 ns: what seems to be of a later time is of none.
pub(crate) const CLOCKS_DIFFER: u32 = 60;

/// The gateway's clock.
#[derive(Clone, Copy, Debug)]
pub struct SiteClock {
    wall: Instant,
    begun: time::Instant,
}

impl SiteClock {
    /// A clock that starts at what the machine takes for the time.
    pub fn start() -> Self {
        Self { wall: wall(), begun: monotonic() }
    }

    /// Now.
    pub fn now(&self) -> Instant {
        let passed = u64::try_from(monotonic().duration_since(self.begun).as_nanos());
        self.wall + Duration::from_nanos(passed.unwrap_or(u64::MAX))
    }

    /// Seconds since 1970, by the wall clock as it is set now: certificates end by it.
    pub fn wall_seconds() -> i64 {
        i64::try_from(wall().as_nanos() / 1_000_000_000).unwrap_or(i64::MAX)
    }

    /// How long it has run.
    pub fn uptime(&self) -> time::Duration {
        monotonic().duration_since(self.begun)
    }
}

/// As records have the time: steps of 2^30 ns.
pub(crate) fn ticks(now: Instant) -> u32 {
    u32::try_from(now.as_nanos() >> 30).unwrap_or(u32::MAX)
}

#[expect(clippy::disallowed_methods, reason = "a service lives in real time")]
fn monotonic() -> time::Instant {
    time::Instant::now()
}
