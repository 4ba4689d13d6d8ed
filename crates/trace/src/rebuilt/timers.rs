//! Expiry of timers: the retransmission timer (RFC 6298 §5.4–5.7) and the timer of recovery.

use super::RebuiltSender;
use crate::kinds::SenderPhase;
use sender::RecoveryOutcome;
use units::Instant;

impl RebuiltSender {
    /// Returns when the timer of recovery runs out, if it runs.
    #[inline]
    pub(super) fn recovery_timeout(&mut self) -> Option<Instant> {
        self.core.recovery_deadline(&self.path)
    }

    /// Returns when the retransmission timer runs out; far away while it does not run.
    pub(super) fn retransmission_due(&self) -> Instant {
        self.core.retransmission_deadline().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Runs the timer of recovery: reordering or tail-loss probe.
    pub(super) fn run_recovery_timer(&mut self, now: Instant) {
        self.path.set_now(now);
        let (phase, may_send) = (self.phase(), self.may_send());
        let found = self.core.fire_recovery_timer(now, &mut self.path, may_send);
        self.note_outcome(now, found, phase);
    }

    /// Notes a finding of recovery; `phase`: before that.
    #[inline(never)]
    pub(super) fn note_outcome(
        &mut self,
        now: Instant,
        found: RecoveryOutcome,
        phase: SenderPhase,
    ) {
        if found.undo {
            self.evidence.undo();
        }
        if found.congestion {
            self.evidence.begin_fast(now, self.core.una(), phase);
        }
    }

    /// Handles the expiry of the retransmission timer.
    pub(super) fn time_out(&mut self, now: Instant) {
        self.path.set_now(now);
        let (phase, may_send) = (self.phase(), self.may_send());
        let waited = self.waited_for_probe(now);
        self.evidence.note_spared(self.core.una(), waited);
        if self.core.board().is_empty() {
            return self.core.pause_timer();
        }
        if may_send {
            self.core.time_out(now, &mut self.path, may_send);
        } else {
            self.core.count_retry();
            self.core.time_out_opening(&mut self.path);
        }
        self.evidence.begin_timeout(now, self.core.nxt(), phase);
        self.core.take_probe();
        self.core.end_timeout(now, &mut self.path);
    }
}
