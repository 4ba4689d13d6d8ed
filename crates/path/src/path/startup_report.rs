//! The report of a path's first start-up, for comparisons of start-ups.

use super::usage::PathBytes;
use units::Instant;

/// The event that ended a start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartUpExit {
    /// The start-up itself: it found the rate or the window that it looked for, or was at
    /// `ssthresh`.
    Completed,
    /// A loss that duplicate ACKs, SACK or RACK reported.
    Loss,
    /// A retransmission timeout.
    Timeout,
    /// An ECN mark.
    Ecn,
    /// It fell back: it took back what it had sent.
    FallBack,
}

impl StartUpExit {
    /// Returns a short name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Ecn => "ecn",
            Self::FallBack => "fell-back",
        }
    }
}

/// The first start-up of a path, so far. It lasts from the first segment, a SYN included, until
/// congestion avoidance answers an ACK for the first time (Hu & Steenkiste 2003 §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartUpReport {
    /// Time at which it ended.
    pub ended_at: Option<Instant>,
    /// The event that ended it, known at once: recovery, and slow start after a timeout, are before
    /// `ended_at`.
    pub exit: Option<StartUpExit>,
    /// Number of segments sent in it, retransmissions included.
    pub segments: u64,
    /// Number of segments retransmitted before all that was sent in it was acknowledged.
    pub retransmitted: u64,
    /// Bytes sent in it, without retransmissions.
    pub sent: u64,
    /// Bytes acknowledged in it.
    pub acked: u64,
}

impl StartUpReport {
    /// Returns the end of the window that a start-up left when it found its own end: the bytes sent
    /// in it, and as many more as were outstanding then. It is an offset in the path's bytes;
    /// `None` before the end, or if a loss or mark ended it.
    pub fn window_end(&self) -> Option<u64> {
        let found = self.ended_at.is_some() && self.exit == Some(StartUpExit::Completed);
        found.then(|| self.sent + self.sent.saturating_sub(self.acked))
    }
}

/// Writes the report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartUpMeter {
    report: StartUpReport,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    UnderWay,
    /// The start-up is over; some of its data is not acknowledged.
    Draining,
    Closed,
}

impl StartUpMeter {
    pub(super) const fn report(&self) -> &StartUpReport {
        &self.report
    }

    /// Returns true if sent segments must be noted.
    #[inline]
    pub(super) fn watches_segments(&self) -> bool {
        self.stage != Stage::Closed
    }

    /// Notes a segment sent on a path of which `acked_total` bytes are acknowledged.
    #[cold]
    pub(super) fn on_sent(&mut self, retransmission: bool, acked_total: u64) {
        match self.stage {
            Stage::UnderWay => self.report.segments += 1,
            Stage::Draining if acked_total >= self.report.sent => self.stage = Stage::Closed,
            Stage::Draining | Stage::Closed => {}
        }
        if self.stage != Stage::Closed {
            self.report.retransmitted += u64::from(retransmission);
        }
    }

    /// Notes an event that may end the start-up; only the first counts.
    pub(super) fn on_exit(&mut self, exit: StartUpExit) {
        if self.stage == Stage::UnderWay {
            self.report.exit.get_or_insert(exit);
        }
    }

    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        self.stage == Stage::UnderWay
    }

    /// Notes that congestion avoidance answers an ACK.
    #[cold]
    pub(super) fn on_avoidance(&mut self, now: Instant, path: PathBytes) {
        self.report.ended_at = Some(now);
        self.report.exit.get_or_insert(StartUpExit::Completed);
        (self.report.sent, self.report.acked) = (path.sent, path.acked);
        self.stage = Stage::Draining;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_end_counts_and_losses_until_all_is_acknowledged() {
        let mut meter = StartUpMeter::default();
        let at = Instant::from_nanos(5);
        // Three segments are sent, one again after a loss; a later timeout did not end it.
        for retransmission in [false, false, false, true] {
            meter.on_sent(retransmission, 0);
        }
        meter.on_exit(StartUpExit::Loss);
        meter.on_exit(StartUpExit::Timeout);
        // 3000 bytes are sent, 2000 acknowledged when avoidance begins.
        meter.on_avoidance(at, PathBytes { sent: 3000, acked: 2000, in_flight: 1000 });
        meter.on_sent(true, 2000);
        // All of it is acknowledged, so this retransmission is of later data.
        meter.on_sent(true, 3000);
        let expected = StartUpReport {
            ended_at: Some(at),
            exit: Some(StartUpExit::Loss),
            segments: 4,
            retransmitted: 2,
            sent: 3000,
            acked: 2000,
        };
        assert_eq!(*meter.report(), expected);
        assert_eq!(meter.report().window_end(), None);
        assert!(!meter.watches_segments());
    }

    /// 3000 bytes sent and 1000 acknowledged are a window of 2000. The next window's worth is sent
    /// by 5000.
    #[test]
    fn the_window_that_it_leaves_is_what_was_outstanding_at_its_own_end() {
        let mut meter = StartUpMeter::default();
        assert_eq!(meter.report().window_end(), None);
        let path = PathBytes { sent: 3000, acked: 1000, in_flight: 2000 };
        meter.on_avoidance(Instant::from_nanos(5), path);
        assert_eq!(meter.report().window_end(), Some(5000));
    }
}
