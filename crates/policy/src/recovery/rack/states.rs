//! Begin, end and undo of fast recovery and of the state after a timeout: the state machine of
//! Linux `tcp_fastretrans_alert`.

use super::super::prr::Prr;
use super::super::{RecoveryContext, Reduction, Report};
use super::detect::Verdict;
use super::{HeldRetransmissions, RackTlp, State, frto};
use crate::ack::AckInfo;
use units::Instant;

impl RackTlp {
    /// The state machine (Linux `tcp_fastretrans_alert`).
    pub(super) fn run_state_machine(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        ack: &AckInfo,
        report: &mut Report,
    ) -> Verdict {
        match self.state {
            State::Open => self.undo.clear_retransmissions(),
            State::Recovery if ack.una >= self.high => self.finish(cx, ack, report),
            _ => {}
        }
        match self.state {
            State::Recovery => self.on_ack_in_recovery(cx, ack, report),
            State::Loss => self.on_ack_in_loss(cx, ack, report),
            State::Open | State::Disorder => {
                self.undo_by_dsack(cx, report);
                let verdict = self.detect_losses(cx, ack.now);
                self.recover_or_open(cx, report);
                verdict
            }
        }
    }

    fn on_ack_in_recovery(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        ack: &AckInfo,
        report: &mut Report,
    ) -> Verdict {
        if ack.advanced() && self.undo.is_proven_by_original(ack) {
            // It was overtaken by all that is SACKed (Linux `tcp_try_undo_partial`).
            let high = cx.board.highest_sacked().map_or(ack.una, |high| high.max(ack.una));
            self.reordering.on_late_delivery(ack.una_before, high, cx.mss);
            if cx.board.retransmissions_in_flight() > 0 {
                self.hold = HeldRetransmissions::Again;
                return Verdict::default();
            }
            self.undo_reduction(cx, report, true);
            self.open(cx);
        }
        if self.undo_by_dsack(cx, report) {
            self.open(cx);
        }
        let verdict = self.detect_losses(cx, ack.now);
        if self.state != State::Recovery && cx.board.lost() > 0 {
            self.enter_recovery(cx, report);
        }
        verdict
    }

    #[cold]
    fn on_ack_in_loss(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        ack: &AckInfo,
        report: &mut Report,
    ) -> Verdict {
        self.process_loss(cx, ack, report);
        let verdict = self.detect_losses(cx, ack.now);
        if self.state == State::Open || verdict.retransmission {
            self.recover_or_open(cx, report);
        }
        verdict
    }

    /// Leaves the state after a timeout if all is repaired or the timeout was spurious (Linux
    /// `tcp_process_loss`; F-RTO, RFC 5682 §3.1).
    fn process_loss(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo, report: &mut Report) {
        if ack.advanced() && self.undo.is_proven(ack) {
            return self.undo_timeout(cx, report);
        }
        match self.frto.on_ack(cx, ack, self.high) {
            frto::Verdict::Spurious => return self.undo_timeout(cx, report),
            frto::Verdict::SendNewData => {
                self.hold = HeldRetransmissions::ForNewData;
                return;
            }
            frto::Verdict::Conventional => {}
        }
        if ack.una >= self.high {
            self.finish(cx, ack, report);
        }
    }

    fn undo_timeout(&mut self, cx: &mut RecoveryContext<'_>, report: &mut Report) {
        self.undo_reduction(cx, report, true);
        self.timeouts = 0;
        self.state = State::Open;
    }

    /// All that was outstanding when the episode began is acknowledged. Fast recovery leaves the
    /// window at `ssthresh`.
    #[inline(never)]
    fn finish(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo, report: &mut Report) {
        let fast = self.state == State::Recovery;
        if self.undo.is_proven(ack) {
            self.undo_reduction(cx, report, false);
        } else {
            self.reordering.on_recovered();
            if fast && self.undo.is_reduced() {
                report.cwnd = Some(cx.ssthresh);
            }
        }
        self.state = State::Open;
    }

    fn undo_by_dsack(&mut self, cx: &mut RecoveryContext<'_>, report: &mut Report) -> bool {
        let proven = self.undo.is_proven_by_dsack();
        if proven {
            self.reordering.on_undone();
            self.undo_reduction(cx, report, false);
        }
        proven
    }

    /// Restores the window; with `forgive`, segments presumed lost count as under way again.
    #[cold]
    fn undo_reduction(&mut self, cx: &mut RecoveryContext<'_>, report: &mut Report, forgive: bool) {
        if forgive {
            cx.board.forgive_losses();
            self.detector.recheck_all(cx.board);
        } else {
            self.detector.force_detection();
        }
        if let Some(before) = self.undo.take() {
            // The window that the path restores; a recovery that begins on this very ACK starts
            // from it.
            cx.cwnd = cx.cwnd.max(before);
            report.undo = true;
        }
    }

    fn detect_losses(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Verdict {
        if !self.detector.is_due() {
            return Verdict::default();
        }
        let window = self.reordering.window(cx, self.is_recovering());
        self.detector.mark_overdue(cx.board, now, window)
    }

    #[inline(never)]
    fn recover_or_open(&mut self, cx: &mut RecoveryContext<'_>, report: &mut Report) {
        if cx.board.lost() > 0 {
            self.enter_recovery(cx, report);
        } else {
            self.open(cx);
        }
    }

    pub(super) fn enter_recovery(&mut self, cx: &RecoveryContext<'_>, report: &mut Report) {
        if !anything_sent_again(cx) {
            self.undo.clear_retransmissions();
        }
        // Where a recovery ends on this very ACK, its window is that of before.
        let cwnd = report.cwnd.unwrap_or(cx.cwnd);
        if !self.is_gradual {
            // The reduction of this recovery sets the window.
            report.cwnd = None;
        }
        self.begin_episode(cx, cwnd);
        self.prr = self.is_gradual.then(|| Prr::new(cwnd));
        self.state = State::Recovery;
        // Linux retransmits lost segments, whatever F-RTO waits for.
        self.hold = HeldRetransmissions::None;
        report.congestion =
            Some(if self.is_gradual { Reduction::Gradual } else { Reduction::ToSsthresh });
    }

    pub(super) fn begin_episode(&mut self, cx: &RecoveryContext<'_>, cwnd: u64) {
        let una = cx.board.segment(0).map_or(cx.snd_nxt, |head| head.start);
        let in_flight = cx.board.segments_again() + usize::from(self.probe.repeats());
        self.undo.begin(una, cwnd, u32::try_from(in_flight).unwrap_or(u32::MAX));
        self.high = cx.snd_nxt;
        self.probe.forget();
    }

    pub(super) fn open(&mut self, cx: &RecoveryContext<'_>) {
        let again = anything_sent_again(cx);
        if !again {
            self.undo.clear_retransmissions();
        }
        let dubious = again || cx.board.sacked() + cx.board.lost() > 0;
        let state = if dubious { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high = cx.snd_nxt;
        }
    }
}

/// True if a retransmission is under way, or is the head.
fn anything_sent_again(cx: &RecoveryContext<'_>) -> bool {
    let head = cx.board.segment(0);
    cx.board.retransmissions_in_flight() > 0 || head.is_some_and(|s| s.was_retransmitted())
}
