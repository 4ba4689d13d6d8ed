//! Recovery is notified of a burst of new data once, or not at all.
//!
//! A recovery that is at rest only restarts its timer for each segment that leaves, and once more
//! for the next plain ACK. A driver may not need to know at once when that timer runs out. Then the
//! sender only counts segments. It notifies recovery of all of them before the first event that is
//! no plain ACK.

use crate::Sender;
use path::Path;
use policy::recovery::{AtRest, SentInfo};
use units::Instant;

/// New data that recovery was not notified of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    /// The timer of recovery does not run out before then, whatever leaves until then.
    until: Instant,
    /// Segments that have left.
    segments: usize,
    /// Instant at which the last of them left.
    last: Instant,
}

impl Burst {
    /// Returns the burst that follows a plain ACK: earlier segments do not matter to recovery.
    pub(crate) fn after_plain_ack(rest: &AtRest) -> Self {
        Self { until: rest.until, ..Self::default() }
    }

    /// Recovery was notified of everything.
    pub(crate) const fn is_complete(&self) -> bool {
        self.segments == 0
    }

    /// Counts a segment that leaves at `now`; false if recovery has to be notified at once.
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

    /// Notifies recovery of the burst, if there is one.
    #[inline]
    pub(crate) fn end_burst(&mut self, path: &Path) {
        if !self.recovery.burst.is_complete() {
            self.notify_of_burst(path);
        }
    }

    #[cold]
    fn notify_of_burst(&mut self, path: &Path) {
        let Burst { segments, last, .. } = std::mem::take(&mut self.recovery.burst);
        let (srtt, rto) = (path.rtt().srtt(), path.rto(self.backoff()));
        let (len, end) = (self.terms.mss, self.nxt);
        let now = last;
        let info = SentInfo { now, segments, len, end, retransmission: false, srtt, rto };
        self.recovery.on_sent(&info);
    }
}
