//! The policy's timer, for reordering or for a tail-loss probe, and the segments that a
//! retransmission timeout marks lost.

use super::super::{RecoveryContext, Report, TimerAction};
use super::tail_probe::TailProbe;
use super::{HeldRetransmissions, RackTlp, State, Timer};
use units::{Duration, Instant};

/// Time added to the reordering window, for the sender's own timers.
const TIMER_SLACK: Duration = Duration::from_millis(2);

impl RackTlp {
    /// Sets the policy's timer after an ACK: reordering if something waits to be overdue, else the
    /// probe's where the retransmission timer would be restarted.
    pub(super) fn set_timer(
        &mut self,
        cx: &RecoveryContext<'_>,
        now: Instant,
        wait: Option<Duration>,
        restart: bool,
    ) {
        let head = cx.board.segment(0).map(|head| head.sent_at);
        self.segments_out = cx.board.len();
        self.head_sent_at = head.unwrap_or(now);
        if head.is_none() {
            self.timer = None;
        } else if let Some(wait) = wait {
            self.timer = Some((now + (wait + TIMER_SLACK).min(cx.rto), Timer::Reordering));
        } else if restart {
            self.timer = None;
            self.arm_probe(now, cx.srtt, cx.rto);
        }
    }

    /// Arms the tail-loss probe in the state that allows it, once a round trip is known.
    pub(super) fn arm_probe(&mut self, now: Instant, srtt: Duration, bound: Duration) {
        if self.state == State::Open && !srtt.is_zero() && self.probes {
            let single = self.segments_out == 1;
            let wait = self.probe_wait.of(srtt);
            let timeout = TailProbe::timeout(wait, single, self.delayed_ack, bound);
            self.timer = Some((now + timeout, Timer::Probe));
        }
    }

    /// Returns the time at which a probe is due if several segments are out and the last left at
    /// `now`, without regard to the retransmission timeout.
    pub(super) fn earliest_probe(&self, now: Instant, srtt: Duration) -> Instant {
        let wait = self.probe_wait.of(srtt);
        now + TailProbe::timeout(wait, false, self.delayed_ack, Duration::MAX)
    }

    pub(super) fn on_reordering_timer(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        now: Instant,
    ) -> Report {
        let mut report = Report::default();
        let window = self.reordering.window(cx, self.is_recovering());
        let verdict = self.detector.mark_overdue(cx.board, now, window);
        if verdict.lost > 0 {
            report.timer = TimerAction::Restart;
            // Linux `tcp_rack_reo_timeout`: segments that it marks are retransmitted, even if the
            // last ACK held retransmissions back.
            self.hold = HeldRetransmissions::None;
            if self.state != State::Recovery {
                self.enter_recovery(cx, &mut report);
                // The window moves as after one delivered segment: the fast retransmit may leave.
                self.glide(cx, cx.mss, false, &mut report);
            }
        }
        self.set_timer(cx, now, verdict.wait, false);
        report
    }

    /// Marks all lost that was not sent within the last round trip; the head always (RFC 8985
    /// §6.3). A SACKed head means that the receiver reneged: nothing SACKed counts any more.
    pub(super) fn mark_lost_by_timeout(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) {
        let reneged = cx.board.segment(0).is_some_and(|head| head.is_sacked());
        if reneged {
            cx.board.forget_sacks();
            self.detector.recheck_all(cx.board);
        }
        for index in 0..cx.board.len() {
            let Some(s) = cx.board.segment(index) else {
                break;
            };
            let recent = self.detector.remaining(s.sent_at, now, Duration::ZERO).is_some();
            if index == 0 || reneged || !recent {
                cx.board.mark_lost(index);
            }
        }
    }
}
