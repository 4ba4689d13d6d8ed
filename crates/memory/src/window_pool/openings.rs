//! Times at which connections to a network last began to open: a cold start asks whether it opens
//! alone.

use units::Instant;

/// The last two handshakes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Openings {
    /// Times at which the last two handshakes began, the earlier one first.
    began: [Option<Instant>; 2],
}

impl Openings {
    /// Notes that a handshake begins.
    pub(super) const fn begin(&mut self, now: Instant) {
        self.began = [self.began[1], Some(now)];
    }

    /// Returns true if at most one handshake began at or after `then`.
    pub(super) fn is_one_alone_since(&self, then: Instant) -> bool {
        self.began[0].is_none_or(|at| at < then)
    }
}
