//! Recovery hears of a burst of new data once, or not at all.
//!
//! A recovery that is at rest only sets its timer anew for each segment that leaves, and sets it
//! anew again for the next plain ACK. So where the driver need not know at once when that timer
//! runs out, segments are counted, and recovery hears of them together before anything else than
//! such an ACK happens.

use crate::Sender;
use path::Path;
use policy::recovery::{AtRest, SentInfo};
use units::Instant;

/// New data that recovery has not been told of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    /// The timer of recovery does not run out before then, whatever leaves until then.
    until: Instant,
    /// Segments that have left.
    segments: usize,
    /// When the last of them did.
    last: Instant,
}

impl Burst {
    /// The one that follows a plain ACK: what left before does not matter to recovery.
    pub(crate) fn after(rest: &AtRest) -> Self {
        Self { until: rest.until, ..Self::default() }
    }

    /// Recovery has been told of everything.
    pub(crate) const fn is_told(&self) -> bool {
        self.segments == 0
    }

    /// Counts a segment that leaves at `now`; false if recovery has to be told at once.
    #[inline]
    pub(crate) fn counts(&mut self, now: Instant) -> bool {
        let counts = now < self.until;
        if counts {
            self.segments += 1;
            self.last = now;
        }
        counts
    }
}

impl Sender {
    /// When the timer of recovery runs out, so far as that matters at `now`.
    #[inline]
    pub fn recovery_deadline_by(&mut self, now: Instant, path: &Path) -> Option<Instant> {
        if now < self.recovery.burst.until { None } else { self.recovery_deadline(path) }
    }

    /// Tells recovery of what it has not been told of.
    #[inline]
    pub(crate) fn tell_burst(&mut self, path: &Path) {
        if !self.recovery.burst.is_told() {
            self.tell_segments(path);
        }
    }

    #[cold]
    fn tell_segments(&mut self, path: &Path) {
        let Burst { segments, last, .. } = std::mem::take(&mut self.recovery.burst);
        let (srtt, rto) = (path.rtt.srtt(), path.rto(self.timer.backoff));
        let (len, end) = (self.terms.mss, self.nxt);
        let now = last;
        let info = SentInfo { now, segments, len, end, retransmission: false, srtt, rto };
        self.recovery.on_sent(&info);
    }
}
