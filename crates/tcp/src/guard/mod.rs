//! Protection of a host against hostile peers and dead ones: limits of their cost, and counters of
//! refused segments and connections.
//!
//! The host owns one `Guard` and passes it to a connection with everything that comes from outside.
//! Connections rarely use it; segments on the fast path do not.

mod counters;
mod lifetimes;
mod limits;
mod rate;

pub use counters::HostCounters;
pub use lifetimes::{KeepAlive, Lifetimes};
pub use limits::{Limits, MtuLimits};
pub(crate) use rate::RateLimit;
use units::Instant;

/// A host's limits and counters.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) limits: Limits,
    pub(crate) counters: HostCounters,
    challenges: RateLimit,
    resets: RateLimit,
}

impl Guard {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            limits: Limits::default(),
            counters: HostCounters::default(),
            challenges: RateLimit::new(seed),
            resets: RateLimit::new(!seed),
        }
    }

    /// Makes the random part of the rates unpredictable.
    pub(crate) fn reseed(&mut self, seed: u64) {
        (self.challenges, self.resets) = (RateLimit::new(seed), RateLimit::new(!seed));
    }

    /// The host may send one more challenge ACK.
    pub(crate) fn may_challenge(&mut self, now: Instant) -> bool {
        let allowed = self.challenges.take(now, self.limits.challenges_per_second);
        self.counters.challenge_acks += u64::from(allowed);
        self.counters.ack_skipped_challenge += u64::from(!allowed);
        allowed
    }

    /// The host may answer one more segment of no connection with a reset.
    pub(crate) fn may_reset(&mut self, now: Instant) -> bool {
        let allowed = self.resets.take(now, self.limits.resets_per_second);
        self.counters.resets_sent += u64::from(allowed);
        self.counters.resets_skipped += u64::from(!allowed);
        allowed
    }
}
