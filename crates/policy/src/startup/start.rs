//! What a start-up is told when it begins.

use crate::ack::RttEstimator;
pub use memory::{Remembered, SoleUse};
use units::{Duration, Instant};

/// Why a start-up begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The path's first data, or what follows it for a policy that
    /// [awaits](super::Beginning::AwaitsTransfer) more. A policy is fresh at first: it need not forget
    /// anything.
    NewPath,
    /// Data after an idle time longer than the retransmission timeout.
    Idle,
    /// The window fell below `ssthresh`: after a timeout or a deep reduction.
    Loss,
}

/// The situation in which a start-up begins.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Why.
    pub occasion: Occasion,
    /// When.
    pub now: Instant,
    /// Round trips of the path so far. On a new path [`RttEstimator::measured`] is the handshake's, where data was not sent before;
    /// the smoothed one may have begun with what is remembered.
    pub rtt: &'a RttEstimator,
    /// What is remembered of the destination, on a new path only.
    pub seed: Option<Remembered>,
    /// Under which terms; `None`: under none, as where nothing is remembered.
    pub terms: Option<&'a SeedTerms>,
    /// What waits to be sent, where data starts the occasion.
    pub transfer: Option<PendingData>,
    /// Initial and restart window, bytes.
    pub initial_window: u64,
    /// Bytes that the first data may be, because SYNs were lost (RFC 5681 §3.1); `None`: none were. The path sees to that it is no
    /// more; this is for a policy that would send more at once.
    pub lost_window: Option<u64>,
    /// How long nothing was sent; zero unless the occasion is [`Occasion::Idle`].
    pub idle: Duration,
}

/// What bounds the use of a [`Start::seed`] by a policy that does not use it at once.
#[derive(Clone, Debug)]
pub struct SeedTerms {
    /// From then on it is too old.
    pub until: Instant,
    /// One connection alone may use it, where the memory tells connections apart.
    pub sole_use: Option<SoleUse>,
}

impl SeedTerms {
    /// The seed may be used at `now`, which no other connection may do then.
    pub fn grant(&self, now: Instant) -> bool {
        now <= self.until && self.sole_use.as_ref().is_none_or(SoleUse::take)
    }
}

/// Data that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingData {
    /// Bytes.
    pub bytes: u64,
    /// Bytes that the peer's window admits, whether or not so many wait.
    pub admitted: u64,
    /// Bytes that the application has said it writes, as far as they are not sent; 0: it has said nothing.
    pub announced: u64,
}

#[cfg(test)]
impl<'a> Start<'a> {
    /// A start of which nothing is known but the occasion and the round trips.
    pub(crate) const fn of(occasion: Occasion, rtt: &'a RttEstimator) -> Self {
        Self {
            occasion,
            now: Instant::ZERO,
            rtt,
            seed: None,
            terms: None,
            transfer: None,
            initial_window: 0,
            lost_window: None,
            idle: Duration::ZERO,
        }
    }
}
