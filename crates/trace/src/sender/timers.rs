//! What runs out: the retransmission timer (RFC 6298 §5.4–5.7) and the timer of recovery.

use super::RebuiltSender;
use policy::recovery::{Reduction, TimerAction};
use units::Instant;

/// Doublings after which the RTT estimate is distrusted, as in the core.
const DISTRUST_AFTER: u32 = 4;

impl RebuiltSender {
    /// When the timer of recovery runs out, if it runs.
    #[inline]
    pub(super) fn recovery_timeout(&self) -> Option<Instant> {
        debug_assert!(self.burst.is_told());
        debug_assert_eq!(self.recovery_due, self.recovery.timeout());
        if self.board.is_empty() { None } else { self.recovery_due }
    }

    /// Runs the timer of recovery: reordering or tail-loss probe.
    pub(super) fn run_recovery_timer(&mut self, now: Instant) {
        self.path.set_now(now);
        self.outstanding_before_ack = self.board.outstanding();
        let phase = self.phase();
        let (recovery, mut cx) = self.recovery_parts();
        let report = recovery.on_timeout(&mut cx, now);
        self.note_recovery();
        self.apply_report(now, &report, phase, false);
        self.probe_pending = report.probe;
        if report.probe || report.timer == TimerAction::Restart {
            self.restart_timer(now);
        }
        self.settle_in_flight();
    }

    /// The retransmission timer has run out.
    pub(super) fn time_out(&mut self, now: Instant) {
        self.path.set_now(now);
        let phase = self.phase();
        let waited = self.waited_for_probe(now);
        self.evidence.note_spared(self.una, waited);
        self.rto_at = Instant::FAR_FUTURE;
        if self.board.is_empty() {
            return;
        }
        if self.una == 0 {
            self.board.mark_all_lost();
            self.syn_losses += 1;
            if self.syn_losses > self.syn_losses_tolerated {
                self.path.on_handshake_loss(self.lost_initial_window);
            }
        } else {
            self.outstanding_before_ack = self.board.outstanding();
            let (recovery, mut cx) = self.recovery_parts();
            let mut report = recovery.on_rto(&mut cx, now);
            self.note_recovery();
            let again = self.timed_out_at == Some(self.una);
            if again && !self.halve_again && report.congestion.is_some() {
                report.congestion = Some(Reduction::Again);
            }
            self.timed_out_at = Some(self.una);
            self.apply_report(now, &report, phase, true);
        }
        self.evidence.begin_timeout(now, self.nxt, phase);
        self.probe_pending = false;
        self.back_off();
        self.timed = None;
        self.restart_timer(now);
        self.settle_in_flight();
    }

    /// RFC 6298 §5.5, §5.7.
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
        if self.backoff == DISTRUST_AFTER && self.path.rtt.has_sample() {
            self.path.rtt.distrust();
        }
    }
}
