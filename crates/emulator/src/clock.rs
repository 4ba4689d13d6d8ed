//! Real time, in the units of the links.

use std::time;
use units::{Duration, Instant};

/// Nanoseconds since it was started; never runs backwards.
#[derive(Clone, Copy, Debug)]
pub struct Clock(time::Instant);

impl Clock {
    /// A clock whose origin is now.
    #[expect(clippy::disallowed_methods, reason = "an emulation is driven by real time")]
    pub fn start() -> Self {
        Self(time::Instant::now())
    }

    /// Time since the origin.
    pub fn now(&self) -> Instant {
        Instant::ZERO + Duration::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}
