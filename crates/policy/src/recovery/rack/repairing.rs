//! The fast path for ACKs, during a repair, that SACK the next segments after all delivered ones:
//! most of a recovery. No segment becomes overdue by them, so that only the window moves towards
//! the threshold.

use super::super::{RecoveryContext, Report, TimerAction};
use super::digest::delivers_after_head;
use super::{HeldRetransmissions, RackTlp};
use crate::ack::{AckInfo, Newest};

impl RackTlp {
    /// Processes the ACK on the fast path, in fast recovery. `None`, with no change, if it may be
    /// another kind of ACK.
    #[inline]
    pub(super) fn go_on_repairing(
        &mut self,
        cx: &RecoveryContext<'_>,
        ack: &AckInfo,
    ) -> Option<Report> {
        let (start, newest) = (ack.progress.lowest_original?, ack.progress.newest?);
        let is_within = ack.una < self.high && ack.dsack.is_none();
        let may_end = self.undo.is_proven_by_dsack() || !self.probe.is_idle();
        let is_row = !ack.advanced() && start + ack.progress.delivered == newest.end;
        if !is_within || may_end || start < self.highest_sacked || !is_row {
            return None;
        }
        if ack.progress.in_row != ack.progress.delivered
            || !self.detector.take_next_in_order(cx.board, start, newest, ack.now)
        {
            return None;
        }
        Some(self.glide_on(cx, ack, newest))
    }

    /// Returns the result of [`RackTlp::digest`] for these ACKs.
    #[inline]
    fn glide_on(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo, newest: Newest) -> Report {
        self.hold = HeldRetransmissions::None;
        self.highest_sacked = newest.end;
        if ack.duplicate {
            self.duplicates.on_duplicate(cx);
        }
        self.reordering.adapt(newest.sent_at, ack.now);
        let mut report = Report::default();
        self.glide(cx, ack.progress.segments * cx.mss, false, &mut report);
        let restart = delivers_after_head(cx, ack);
        self.set_timer(cx, ack.now, None, restart);
        if restart {
            report.timer = TimerAction::Restart;
        }
        report
    }
}

#[cfg(test)]
mod tests;
