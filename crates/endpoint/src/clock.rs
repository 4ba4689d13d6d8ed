//! Real time in the units of the core. No other module of this crate reads a clock.

use std::time;
use units::{Duration, Instant};

/// A clock of the nanoseconds since the endpoint started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(time::Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "an endpoint lives in real time")]
    pub(crate) fn start() -> Self {
        Self(time::Instant::now())
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ZERO + Duration::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}
