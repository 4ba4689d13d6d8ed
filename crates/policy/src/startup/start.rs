//! Inputs of a start-up when it begins.

use crate::ack::RttEstimator;
pub use memory::{Remembered, SoleUse};
use units::{Duration, Instant};

/// The reason for which a start-up begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartupReason {
    /// The path's first data, or the data after it for a policy that
    /// [awaits](super::Beginning::AwaitsTransfer) more. A policy is new at first: it need not
    /// forget anything.
    NewPath,
    /// Data after an idle time longer than the retransmission timeout.
    Idle,
    /// The window fell below `ssthresh`: after a timeout or a deep reduction.
    Loss,
}

/// The situation in which a start-up begins.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The reason.
    pub reason: StartupReason,
    /// The time.
    pub now: Instant,
    /// Round trips of the path so far. On a new path [`RttEstimator::measured`] is the handshake's,
    /// unless data was sent before; the smoothed one may include a remembered value.
    pub rtt: &'a RttEstimator,
    /// Remembered values of the destination, on a new path only.
    pub seed: Option<Remembered>,
    /// Conditions on their use; `None`: no conditions, as where nothing is remembered.
    pub terms: Option<&'a SeedTerms>,
    /// Data that waits to be sent, if data causes the start.
    pub transfer: Option<PendingData>,
    /// Initial and restart window, bytes.
    pub initial_window: u64,
    /// Upper bound of the first data, bytes, because SYNs were lost (RFC 5681 §3.1); `None`: none
    /// were. The path applies it itself; this is for a policy that would send more at once.
    pub lost_window: Option<u64>,
    /// Time without sending; zero unless the reason is [`StartupReason::Idle`].
    pub idle: Duration,
}

/// Conditions on a [`Start::seed`] for a policy that does not use it at once.
#[derive(Clone, Debug)]
pub struct SeedTerms {
    /// Time after which it is too old.
    pub until: Instant,
    /// Only one connection may use it, if the memory distinguishes connections.
    pub sole_use: Option<SoleUse>,
}

impl SeedTerms {
    /// Returns true if the seed may be used at `now`, and reserves it: no other connection may use
    /// it then.
    pub fn grant(&self, now: Instant) -> bool {
        now <= self.until && self.sole_use.as_ref().is_none_or(SoleUse::take)
    }
}

/// Data that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingData {
    /// Bytes.
    pub bytes: u64,
    /// Bytes that the peer's window admits, even if fewer wait.
    pub admitted: u64,
    /// Bytes that the application has announced, as far as they are not sent; 0: none.
    pub announced: u64,
}

#[cfg(test)]
impl<'a> Start<'a> {
    /// Returns a start with only the reason and the round trips.
    pub(crate) const fn of(reason: StartupReason, rtt: &'a RttEstimator) -> Self {
        Self {
            reason,
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
