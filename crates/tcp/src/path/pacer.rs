//! When the next segment may leave.

use units::{Duration, Instant, Rate};

/// Spreads segments out at a rate: after each one, the next waits for the time it takes at that
/// rate. Time not used is not saved up, so an idle pacer sends one segment, not a burst.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    next: Instant,
}

impl Pacer {
    /// True if a segment may leave now.
    pub fn may_send(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// When the next segment may leave.
    pub const fn next_release(&self) -> Instant {
        self.next
    }

    /// Books `bytes` leaving now at `rate`.
    pub fn on_sent(&mut self, now: Instant, bytes: u64, rate: Rate) {
        let gap = rate.transmit_time(bytes);
        // A rate of zero never stops a path for good: the timer would have nothing to wait for.
        let gap = if gap == Duration::MAX { Duration::ZERO } else { gap };
        self.next = self.next.max(now) + gap;
    }
}
