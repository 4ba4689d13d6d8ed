//! Recovery is told of a burst of new data once, or not at all.
//!
//! A recovery that is at rest only sets its timer anew for each segment that leaves, and sets it anew again for the next plain ACK. So
//! segments are counted, and told of together before anything else than such an ACK happens.

use super::RebuiltSender;
use policy::recovery::{AtRest, SentInfo};
use units::Instant;

/// New data that recovery has not been told of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// The timer of recovery does not run out before then, whatever leaves until then.
    until: Instant,
    /// Segments that have left.
    segments: usize,
    /// When the last of them did.
    last: Instant,
}

impl Burst {
    /// Recovery has been told of everything.
    pub(super) const fn is_told(&self) -> bool {
        self.segments == 0
    }
}

impl RebuiltSender {
    /// Recovery was told of a plain ACK: what left before does not matter to it.
    #[inline]
    pub(super) fn begin_burst(&mut self, recovery: &AtRest) {
        self.recovery_due = recovery.timeout;
        self.burst = Burst { until: recovery.until, ..Burst::default() };
    }

    /// Counts a segment that leaves at `now`; false if recovery has to be told at once.
    #[inline]
    pub(super) fn counts_in_burst(&mut self, now: Instant) -> bool {
        let counts = now < self.burst.until;
        if counts {
            self.burst.segments += 1;
            self.burst.last = now;
        }
        counts
    }

    /// When the timer of recovery runs out, so far as that matters at `now`.
    #[inline]
    pub(super) fn due_by(&mut self, now: Instant) -> Option<Instant> {
        if now < self.burst.until {
            return None;
        }
        self.tell_burst();
        self.recovery_due
    }

    /// Tells recovery of what it has not been told of.
    #[inline]
    pub(super) fn tell_burst(&mut self) {
        if self.burst.segments > 0 {
            self.tell_segments();
        }
    }

    #[cold]
    fn tell_segments(&mut self) {
        let Burst { segments, last, .. } = std::mem::take(&mut self.burst);
        let (srtt, rto) = (self.path.rtt.srtt(), self.path.rtt.rto(self.backoff));
        let (len, end) = (self.terms.mss, self.nxt);
        let info = SentInfo { now: last, len, end, retransmission: false, srtt, rto };
        self.recovery_due = self.recovery.on_more_data(segments, &info);
    }
}
