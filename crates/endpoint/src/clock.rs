//! Real time in the units of the core. The only place of this crate that reads a clock.

use std::time;
use units::{Duration, Instant};

/// Nanoseconds since the endpoint began.
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
