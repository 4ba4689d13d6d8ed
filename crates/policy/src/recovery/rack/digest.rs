//! The processing of an ACK: its deliveries, and the window and timer that follow.

use super::super::{RecoveryContext, Report, SkippableCalls, TimerAction};
use super::detect::Verdict;
use super::{HeldRetransmissions, RackTlp, State};
use crate::ack::{AckInfo, Newest};

impl RackTlp {
    /// Nothing is lost, SACKed or probed, and the ACK advances: most of them.
    #[inline]
    pub(super) fn is_undisturbed(&self, cx: &RecoveryContext<'_>, ack: &AckInfo) -> bool {
        self.is_at_rest()
            && ack.advanced()
            && !is_dubious(ack)
            && cx.board.is_clean()
            && cx.board.sacked_ranges().is_empty()
    }

    /// Reports what [`RackTlp::digest`] would report of an undisturbed ACK.
    #[inline]
    pub(super) fn go_on(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo) -> Report {
        self.begin_anew();
        if let Some(newest) = ack.progress.newest {
            self.note_delivery(cx, ack, newest);
            self.reordering.adapt(newest.sent_at, ack.now);
        }
        self.set_timer(cx, ack.now, None, true);
        Report { grow: true, skippable_calls: SkippableCalls::AtRest, ..Report::default() }
    }

    /// Notes a segment that the ACK delivered.
    #[inline]
    fn note_delivery(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo, delivery: Newest) {
        let rtt = ack.now.saturating_since(delivery.sent_at);
        let spurious = ack.echoes_original || rtt < cx.min_rtt;
        self.detector.on_delivered(delivery, ack.now, spurious);
    }

    /// Digests an ACK of any kind.
    #[inline]
    pub(super) fn digest(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        let mut report = Report::default();
        let was_recovering = self.is_recovering();
        let head_waited = head_waits(cx);
        self.hold = HeldRetransmissions::None;
        if ack.advanced() {
            self.timeouts = 0;
            self.duplicates.count = 0;
            self.overtaken = 0;
        } else if ack.duplicate {
            self.duplicates.on_duplicate(cx);
        }
        let twice = self.digest_deliveries(cx, ack);
        self.end_probe(cx, ack, &mut report);
        let verdict = if self.state != State::Open || is_dubious(ack) {
            self.run_state_machine(cx, ack, &mut report)
        } else {
            Verdict::default()
        };
        let delivered = ack.progress.delivered + twice;
        let whole = ack.progress.segments * cx.mss + twice;
        self.glide(cx, whole, ack.advanced() && verdict.lost == 0, &mut report);
        let restart = ack.advanced() || delivers_after_head(cx, ack);
        self.set_timer(cx, ack.now, verdict.wait, restart);
        if !ack.advanced() && restart || !head_waited && head_waits(cx) {
            report.timer = TimerAction::Restart;
        }
        let progress = ack.advanced() || self.reordering.is_strong() && delivered > twice;
        report.duplicate_bytes = twice;
        report.grow = progress && self.state != State::Recovery;
        report.ended = was_recovering && !self.is_recovering();
        report.skippable_calls = match self.state {
            State::Open if self.is_at_rest() => SkippableCalls::AtRest,
            State::Open => SkippableCalls::Open,
            _ => SkippableCalls::Ask,
        };
        report
    }

    /// Takes the deliveries of the ACK: reordering, the newest delivery, duplicates. Returns the
    /// bytes that were delivered twice.
    fn digest_deliveries(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo) -> u64 {
        let highest = cx.board.highest_sacked();
        // To the end of the highest SACKed segment (`tcp_check_sack_reordering`).
        let high = highest.unwrap_or(ack.una);
        let counts = self.state != State::Loss || self.undo.is_reduced();
        if let Some(low) = ack.progress.lowest_original
            && low < self.highest_sacked
            && counts
        {
            self.reordering.on_late_delivery(low, high, cx.mss);
        }
        self.highest_sacked = highest.unwrap_or(0);
        // The round trip is that of the last one, newest or not (`tcp_rack_advance`).
        if let Some(original) = ack.progress.newest_original {
            self.note_delivery(cx, ack, original);
        }
        if let Some(newest) = ack.progress.newest {
            self.note_delivery(cx, ack, newest);
        }
        if let Some(last) = ack.progress.last {
            self.note_delivery(cx, ack, last);
        }
        let twice = self.undo.on_dsack(ack, cx.mss);
        if let Some(late) = ack.repeated.late.filter(|_| twice > 0) {
            self.reordering.on_late_delivery(late, high, cx.mss);
        }
        if twice > 0 && !self.probe.is_reported_by(ack, cx.mss) {
            self.reordering.on_spurious_retransmission();
        }
        if let Some(newest) = ack.progress.newest {
            self.reordering.adapt(newest.sent_at, ack.now);
        }
        u64::from(twice) * cx.mss
    }

    /// Ends the tail-loss probe; a loss it repaired lowers the window (RFC 8985 §7.4.2).
    fn end_probe(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo, report: &mut Report) {
        if let Some(reduction) = self.probe.on_ack(ack, cx.mss) {
            report.congestion = Some(reduction);
            self.high = cx.snd_nxt;
            self.open(cx);
        }
    }

    /// Glides the window during fast recovery. `delivered` bytes, and those in flight, are whole
    /// segments: `tcp_cwnd_reduction` counts packets.
    pub(super) fn glide(
        &mut self,
        cx: &RecoveryContext<'_>,
        delivered: u64,
        clean: bool,
        report: &mut Report,
    ) {
        if self.state != State::Recovery {
            self.prr = None;
        } else if let Some(prr) = &mut self.prr {
            prr.on_delivered(delivered, whole_pipe(cx), clean);
            if report.congestion.is_none() {
                report.cwnd = Some(prr.window(cx.ssthresh, cx.mss));
            }
        }
    }
}

/// Bytes in flight in whole segments, as a kernel counts packets. A FIN behind a full segment takes
/// no packet of its own.
pub(super) fn whole_pipe(cx: &RecoveryContext<'_>) -> u64 {
    let last = cx.board.iter().next_back();
    let rides = last.is_some_and(|s| {
        let waits = s.is_lost() && !s.is_retransmission_in_flight();
        u64::from(s.len) > cx.mss && !s.is_sacked() && !waits
    });
    (cx.board.pipe() - u64::from(rides)).next_multiple_of(cx.mss)
}

/// An ACK that is more than plain progress.
fn is_dubious(ack: &AckInfo) -> bool {
    ack.progress.sacked > 0 || ack.dsack.is_some() || ack.duplicate
}

/// The head is lost and not retransmitted yet.
fn head_waits(cx: &RecoveryContext<'_>) -> bool {
    let head = cx.board.segment(0);
    head.is_some_and(|s| s.is_lost() && !s.is_retransmission_in_flight())
}

/// The ACK SACKs data that was sent before the head last was: the path is alive, yet the head is
/// due only a timeout after its own transmission.
pub(super) fn delivers_after_head(cx: &RecoveryContext<'_>, ack: &AckInfo) -> bool {
    let head = cx.board.segment(0).map(|head| head.sent_at);
    ack.progress.sacked > 0 && ack.progress.earliest_sent.is_some_and(|sent| Some(sent) < head)
}
