//! Measures how well the rebuilt sender explains the captured data, and corrects it if it does not.
//!
//! The capture shows two facts about the true window. Outside of recovery it was never less than
//! the outstanding data. If an ACK releases new data, the window before the ACK was about equal to
//! the outstanding data.

use super::RebuiltSender;
use crate::fit_error::FitError;
use crate::kinds::SenderPhase;
use units::{Duration, Instant};

/// Charge of a retransmission that was not foreseen, in units of wrong windows.
const UNFORESEEN: u64 = 8;
/// Granularity of a pacer's timer.
const EARLY: Duration = Duration::from_millis(1);
/// Number of times in a row that the window must be too large before it is corrected.
const FIT_ERRORS_IN_A_ROW: u8 = 3;

/// State of the fit check.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    pub(super) fit_error: FitError,
    /// Room that the window had before the last ACK of new data, until data answers that ACK,
    /// bytes.
    left: u64,
    /// Outstanding data at that time, bytes.
    outstanding: u64,
    /// Times in a row that data answered an ACK although the window had enough room.
    too_large: u8,
}

impl RebuiltSender {
    /// Returns the fit error so far.
    pub(crate) const fn fit_error(&self) -> &FitError {
        &self.fit.fit_error
    }

    /// Notes the room that the window had before an ACK, bytes.
    #[inline]
    pub(super) fn note_left(&mut self, allowance: u64, advances: bool) {
        let by_receiver = self.core.window_edge() < self.core.nxt() + self.core.mss();
        self.fit.left = 0;
        if advances && !by_receiver && !self.core.board().is_empty() && self.is_steady() {
            self.fit.left = allowance;
            self.fit.outstanding = self.core.board().outstanding();
        }
    }

    /// Checks new data of `payload` bytes before it is booked.
    #[inline(always)]
    pub(super) fn check_answer(&mut self, at: Instant, payload: u64) {
        let left = std::mem::take(&mut self.fit.left);
        if payload < self.core.mss() || self.core.board().is_empty() {
            return;
        }
        if self.path.is_paced() {
            return self.check_pace(at);
        }
        if !self.is_answer(at) {
            return self.check_delay(at);
        }
        if self.fit.outstanding == 0 {
            return;
        }
        self.fit.fit_error.seen += 1;
        // The ACK had released nothing, or other data has answered it.
        if left == 0 {
            self.fit.too_large = 0;
        } else {
            self.check_left(left);
        }
    }

    /// Checks data that answers an ACK; `left` is the room that the window had before the ACK,
    /// bytes.
    #[inline(never)]
    fn check_left(&mut self, left: u64) {
        // Segmentation offload defers up to a third of the window.
        if left < (2 * self.core.mss()).max(self.cwnd() / 3) {
            self.fit.too_large = 0;
            return;
        }
        self.fit.fit_error.charge += 1;
        self.fit.too_large += 1;
        if self.fit.too_large >= FIT_ERRORS_IN_A_ROW {
            self.fit.too_large = 0;
            self.fit.fit_error.corrections += 1;
            self.path.correct_window(self.fit.outstanding + self.core.mss());
        }
    }

    /// Charges a paced sender that sends sooner than its pacer permits. Recovery is exempt: other
    /// profiles are not charged for repairs either. A wrong pacer restarts, or each later segment
    /// would be too early by the same time.
    #[cold]
    fn check_pace(&mut self, at: Instant) {
        let steady = self.is_steady();
        self.fit.fit_error.seen += u64::from(steady);
        let early = (self.srtt() / 16).max(EARLY).max(self.time_of_segment());
        if self.path.release(at).is_some_and(|release| release > at + early) {
            self.fit.fit_error.charge += u64::from(steady);
            self.path.forgive_pacer(at);
        }
    }

    /// Returns the time that a segment takes at the pacer's rate: Linux sends two at once.
    fn time_of_segment(&self) -> Duration {
        let rate = self.path.window().pacing_rate();
        rate.map_or(Duration::ZERO, |rate| rate.transmit_time(self.core.mss()))
    }

    fn is_steady(&self) -> bool {
        matches!(self.phase(), SenderPhase::SlowStart | SenderPhase::Avoidance)
    }

    /// Checks the delay of a sender without pacing: it sends when an ACK permits it, or when its
    /// application writes.
    fn check_delay(&mut self, at: Instant) {
        let before = self.core.last_sent();
        if before.is_some_and(|before| at.saturating_since(before) <= EARLY) {
            // It continues a burst.
            return;
        }
        if self.allowance() >= 2 * self.core.mss() {
            self.fit.fit_error.seen += 1;
            self.fit.fit_error.charge += 1;
        }
    }

    /// Checks the window after new data was booked: it cannot have been less than the data
    /// outstanding now.
    #[inline]
    pub(super) fn check_outstanding(&mut self) {
        // The rare condition is first.
        if self.core.board().outstanding() > self.cwnd() + 2 * self.core.mss() {
            self.check_steady_outstanding();
        }
    }

    #[cold]
    fn check_steady_outstanding(&mut self) {
        if self.evidence.duplicates == 0 && self.core.board().is_clean() && self.is_steady() {
            self.fit.fit_error.charge += 1;
            self.fit.fit_error.corrections += 1;
            self.path.correct_window(self.core.board().outstanding());
        }
    }

    /// Counts a retransmission, foreseen or not.
    pub(super) fn count_foreseen(&mut self, foreseen: bool) {
        self.fit.fit_error.seen += 1;
        self.fit.fit_error.charge += if foreseen { 0 } else { UNFORESEEN };
    }
}
