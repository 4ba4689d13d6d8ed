//! How well the rebuilt sender explains what is sent, and what is corrected where it does not.
//!
//! Two things are seen of the true window. Outside of recovery it was never less than what was outstanding.
//! When an ACK brings new data out, what was outstanding before was about all that it allowed.

use super::RebuiltSender;
use crate::kinds::SenderPhase;
use crate::misfit::Misfit;
use units::{Duration, Instant};

/// Charge of a retransmission that was not foreseen, in windows that were wrong.
const UNFORESEEN: u64 = 8;
/// A pacer's timer is that coarse.
const EARLY: Duration = Duration::from_millis(1);
/// So often in a row the window was larger than it can have been: then it is corrected.
const OFTEN: u8 = 3;

/// What is kept for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    pub(super) misfit: Misfit,
    /// What the window had left before the last ACK of new data, until data answers it, bytes.
    left: u64,
    /// What was outstanding then.
    outstanding: u64,
    /// Times in a row that data answered an ACK though enough was left.
    too_large: u8,
}

impl RebuiltSender {
    /// How badly it explains what was seen so far.
    pub(crate) const fn misfit(&self) -> &Misfit {
        &self.fit.misfit
    }

    /// An ACK comes, and the window had so much left before it.
    #[inline]
    pub(super) fn note_left(&mut self, allowance: u64, advances: bool) {
        let by_receiver = self.core.window_edge() < self.core.nxt() + self.core.mss();
        self.fit.left = 0;
        if advances && !by_receiver && !self.core.board().is_empty() && self.is_steady() {
            self.fit.left = allowance;
            self.fit.outstanding = self.core.board().outstanding();
        }
    }

    /// New data of `payload` bytes is about to be booked.
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
        self.fit.misfit.seen += 1;
        // The ACK had let nothing go, or other data has answered it.
        if left == 0 {
            self.fit.too_large = 0;
        } else {
            self.check_left(left);
        }
    }

    /// Data answers an ACK before which the window had so much left.
    #[inline(never)]
    fn check_left(&mut self, left: u64) {
        // Offload defers up to a third of the window.
        if left < (2 * self.core.mss()).max(self.cwnd() / 3) {
            self.fit.too_large = 0;
            return;
        }
        self.fit.misfit.charge += 1;
        self.fit.too_large += 1;
        if self.fit.too_large >= OFTEN {
            self.fit.too_large = 0;
            self.fit.misfit.corrections += 1;
            self.path.correct_window(self.fit.outstanding + self.core.mss());
        }
    }

    /// A paced sender sends no sooner than its pacer lets it. In recovery it may: what repairs is not charged for under other profiles
    /// either. A pacer that was wrong begins anew, or each later segment would be too early by as much.
    #[cold]
    fn check_pace(&mut self, at: Instant) {
        let steady = self.is_steady();
        self.fit.misfit.seen += u64::from(steady);
        let early = (self.srtt() / 16).max(EARLY).max(self.time_of_segment());
        if self.path.release(at).is_some_and(|release| release > at + early) {
            self.fit.misfit.charge += u64::from(steady);
            self.path.forgive_pacer(at);
        }
    }

    /// The time that a segment takes at the pacer's rate: Linux lets two leave at once.
    fn time_of_segment(&self) -> Duration {
        let rate = self.path.window().pacing_rate();
        rate.map_or(Duration::ZERO, |rate| rate.transmit_time(self.core.mss()))
    }

    fn is_steady(&self) -> bool {
        matches!(self.phase(), SenderPhase::SlowStart | SenderPhase::Avoidance)
    }

    /// A sender that is not paced sends when an ACK lets it, or its application.
    fn check_delay(&mut self, at: Instant) {
        let before = self.core.last_sent();
        if before.is_some_and(|before| at.saturating_since(before) <= EARLY) {
            // It goes on with what it has begun.
            return;
        }
        if self.allowance() >= 2 * self.core.mss() {
            self.fit.misfit.seen += 1;
            self.fit.misfit.charge += 1;
        }
    }

    /// New data was booked: the window cannot have been less than what is outstanding now.
    #[inline]
    pub(super) fn check_outstanding(&mut self) {
        // What is rare first.
        if self.core.board().outstanding() > self.cwnd() + 2 * self.core.mss() {
            self.check_steady_outstanding();
        }
    }

    #[cold]
    fn check_steady_outstanding(&mut self) {
        if self.evidence.duplicates == 0 && self.core.board().is_clean() && self.is_steady() {
            self.fit.misfit.charge += 1;
            self.fit.misfit.corrections += 1;
            self.path.correct_window(self.core.board().outstanding());
        }
    }

    /// A retransmission that was foreseen, or not.
    pub(super) fn count_foreseen(&mut self, foreseen: bool) {
        self.fit.misfit.seen += 1;
        self.fit.misfit.charge += if foreseen { 0 } else { UNFORESEEN };
    }
}
