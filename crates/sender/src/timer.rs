//! The retransmission timer (RFC 6298), and the effect of a timeout on outstanding data.

use crate::{RecoveryOutcome, Sender};
use path::{Path, PathReset};
use policy::recovery::{RecoveryEvent, Reduction, TimerAction};
use policy::startup::LossSignal;
use units::{Duration, Instant};

/// Doublings after which the RTT estimate is distrusted.
const DISTRUST_AFTER: u32 = 4;

/// The instant at which a timer fires. A timer that does not run never fires, so the earliest of
/// several is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// The deadline of a timer that does not run.
    pub const NEVER: Self = Self(Instant::FAR_FUTURE);

    /// The deadline of a timer that fires at an instant.
    pub const fn at(at: Instant) -> Self {
        Self(at)
    }

    /// The timer runs.
    pub fn is_running(self) -> bool {
        self != Self::NEVER
    }

    /// The timer runs, and has run out by `now`.
    pub fn is_due(self, now: Instant) -> bool {
        self.0 <= now && self.is_running()
    }

    /// Returns when it fires, if it runs.
    pub fn instant(self) -> Option<Instant> {
        self.is_running().then_some(self.0)
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self::NEVER
    }
}

impl From<Option<Instant>> for Deadline {
    fn from(at: Option<Instant>) -> Self {
        at.map_or(Self::NEVER, Self)
    }
}

/// The retransmission timer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RetransmissionTimer {
    at: Deadline,
    /// It is the reset timer of a fast start, in place of the RTO (Padmanabhan & Katz 1998
    /// §3.4.4).
    is_reset_timer: bool,
    /// Doublings of the timeout.
    backoff: u32,
    /// Timeouts since the peer last acknowledged anything new, or reported that it has no room.
    retries: u32,
    /// A segment being timed, by its end and send time (RFC 6298 with one sample per round trip).
    timed: Option<(u64, Instant)>,
}

impl RetransmissionTimer {
    /// Returns the doublings of the timeout.
    #[inline(always)]
    pub(crate) const fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Returns true if it runs.
    #[inline(always)]
    pub(crate) fn is_running(&self) -> bool {
        self.at.is_running()
    }

    /// Times the segment that ends at offset `end` and leaves at `now`, if none is being timed.
    #[inline]
    pub(crate) const fn time_segment(&mut self, end: u64, now: Instant) {
        if self.timed.is_none() {
            self.timed = Some((end, now));
        }
    }

    /// Returns when the timed segment was sent, if offset `una` acknowledges it; then none is
    /// timed.
    pub(crate) fn take_timed(&mut self, una: u64) -> Option<Instant> {
        self.timed.take_if(|(end, _)| una >= *end).map(|(_, sent)| sent)
    }

    /// No segment is timed any more.
    pub(crate) const fn stop_timing(&mut self) {
        self.timed = None;
    }

    /// The segment that ends at offset `end` is timed no more.
    pub(crate) fn stop_timing_of(&mut self, end: u64) {
        self.timed.take_if(|(timed, _)| *timed == end);
    }
}

/// Result of the expiry of a retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerExpiry {
    /// No timeout follows: nothing is outstanding, ACKs of other members postponed the timer, the
    /// start-up of its timer has ended, or the start-up fell back.
    Handled,
    /// A timeout. The connection gives up, or its driver calls [`Sender::count_timeout`],
    /// [`Sender::count_retry`], [`Sender::time_out`] or [`Sender::time_out_opening`], and
    /// [`Sender::end_timeout`].
    Timeout,
}

impl Sender {
    /// When the retransmission timer, or that of recovery, runs out.
    #[inline]
    pub fn deadline(&self) -> Deadline {
        debug_assert!(
            self.recovery.burst.is_complete(),
            "call recovery_deadline() first: a burst is still open"
        );
        if self.board.is_empty() {
            return self.timer.at;
        }
        self.timer.at.min(self.recovery.state().timeout.into())
    }

    /// The retransmission timer is due.
    pub fn is_timer_due(&self, now: Instant) -> bool {
        self.timer.at.is_due(now)
    }

    /// Returns when the retransmission timer, or a start-up's instead of it, runs out, if it runs.
    #[inline]
    pub fn retransmission_deadline(&self) -> Option<Instant> {
        self.timer.at.instant()
    }

    /// The timer runs out at `due`, if that is sooner.
    pub fn hasten_timer(&mut self, due: Instant) {
        self.timer.at = self.timer.at.min(Deadline::at(due));
    }

    /// The timer runs out at `due`.
    pub const fn set_timer(&mut self, due: Instant) {
        self.timer.at = Deadline::at(due);
    }

    /// The timer does not run until something leaves.
    pub const fn pause_timer(&mut self) {
        self.timer.at = Deadline::NEVER;
    }

    /// The timer runs for the start-up, instead of the retransmission timer.
    pub const fn has_startup_timer(&self) -> bool {
        self.timer.is_reset_timer
    }

    /// Doublings of the retransmission timeout in force.
    #[inline]
    pub const fn backoff(&self) -> u32 {
        self.timer.backoff
    }

    /// Resets the backoff to no doublings.
    pub const fn forget_backoff(&mut self) {
        self.timer.backoff = 0;
    }

    /// Timeouts since the peer last acknowledged anything new, or reported that it has no room.
    pub const fn retries(&self) -> u32 {
        self.timer.retries
    }

    /// Resets the retries: the peer has answered.
    pub const fn forget_retries(&mut self) {
        self.timer.retries = 0;
    }

    /// Counts a retry.
    pub const fn count_retry(&mut self) {
        self.timer.retries += 1;
    }

    /// Restarts the retransmission timer (RFC 6298 §5.1, §5.3).
    #[inline]
    pub fn restart_timer(&mut self, now: Instant, path: &Path) {
        debug_assert!(path.has_reset_timer() || self.reset_timeout(path).is_none());
        // `has_reset_timer` is inlined and cheap; `reset_timeout` is cold.
        let own = if path.has_reset_timer() { self.reset_timeout(path) } else { None };
        self.timer.is_reset_timer = own.is_some();
        let timeout = own.unwrap_or_else(|| path.rto(self.timer.backoff));
        self.timer.at = Deadline::at(now + timeout);
    }

    /// Restarts the timer as if it had been restarted when the head was last sent.
    pub(crate) fn restart_timer_from_head(&mut self, now: Instant, path: &Path) {
        let sent_at = self.board.segment(0).map_or(now, |head| head.sent_at);
        self.restart_timer(sent_at, path);
        if let Some(due) = self.timer.at.instant() {
            self.timer.at = Deadline::at(due.max(now));
        }
    }

    /// Returns the timeout that the start-up has instead of the retransmission timeout.
    #[cold]
    fn reset_timeout(&self, path: &Path) -> Option<Duration> {
        let marked = self.board.segment(0).is_some_and(|head| head.is_low_priority());
        path.reset_timeout(marked)
    }

    /// Doubles the timeout (RFC 6298 §5.5). After four doublings it discards the RTT estimate,
    /// which is likely bogus then (the end of RFC 6298 §5).
    pub(crate) fn back_off(&mut self, path: &mut Path) {
        self.timer.backoff += 1;
        // ACKs of other members keep the RTT estimate valid.
        let lone = !path.has_several_users();
        if self.timer.backoff == DISTRUST_AFTER && lone && path.rtt().has_sample() {
            path.distrust_rtt();
        }
    }

    /// Returns when the timer of recovery runs out, if it runs while something is outstanding.
    /// Notifies recovery of an open burst first.
    #[inline]
    pub fn recovery_deadline(&mut self, path: &Path) -> Option<Instant> {
        if self.board.is_empty() {
            return None;
        }
        self.end_burst(path);
        self.recovery.state().timeout
    }

    /// Runs the timer of recovery if it is due. Returns its outcome.
    pub fn run_recovery_timer(
        &mut self,
        now: Instant,
        path: &mut Path,
        may_send: bool,
    ) -> RecoveryOutcome {
        match self.recovery_deadline(path) {
            Some(due) if due <= now => self.fire_recovery_timer(now, path, may_send),
            _ => RecoveryOutcome::default(),
        }
    }

    /// Runs the timer of recovery now, due or not. Returns its outcome.
    pub fn fire_recovery_timer(
        &mut self,
        now: Instant,
        path: &mut Path,
        may_send: bool,
    ) -> RecoveryOutcome {
        self.outstanding_before_ack = self.board.outstanding();
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        let report = recovery.on_event(&mut cx, RecoveryEvent::Timeout { now });
        self.apply_report(now, path, &report, may_send);
        self.probe_pending = report.probe;
        match report.timer {
            TimerAction::Restart => self.restart_timer(now, path),
            TimerAction::FromHead => self.restart_timer_from_head(now, path),
            _ if report.probe => self.restart_timer(now, path),
            _ => {}
        }
        self.settle_in_flight(path);
        RecoveryOutcome::of(&report)
    }

    /// Handles the expiry of the retransmission timer; the result says whether a timeout follows.
    pub fn on_timer_expired(
        &mut self,
        now: Instant,
        path: &mut Path,
        may_send: bool,
    ) -> TimerExpiry {
        self.timer.at = Deadline::NEVER;
        let Some(head) = self.board.segment(0) else { return TimerExpiry::Handled };
        if let Some(at) = path.put_off_timeout(now, head, self.timer.backoff) {
            self.timer.at = Deadline::at(at);
            return TimerExpiry::Handled;
        }
        let marked = head.is_low_priority();
        if self.timer.is_reset_timer && path.reset_timeout(marked).is_none() {
            // The start-up, whose timer it was, has ended on the ACK of another member.
            self.restart_timer(now, path);
            return TimerExpiry::Handled;
        }
        if path.on_loss_signal(LossSignal::Timeout { marked }) {
            self.fall_back(now, path, may_send);
            return TimerExpiry::Handled;
        }
        TimerExpiry::Timeout
    }
}

impl Sender {
    /// Counts a timeout, of a segment that `opens` the connection or of data.
    pub fn count_timeout(&mut self, now: Instant, opens: bool) {
        let sent_at = self.board.segment(0).map_or(now, |head| head.sent_at);
        self.counts.timeouts += 1;
        self.counts.opening_timeouts += u64::from(opens);
        self.counts.timeout_wait += now.saturating_since(sent_at);
    }

    /// Marks the SYN lost, and retransmits it without data, which a middlebox may drop (RFC 7413
    /// §4.2.1). After more than `syn_losses_tolerated` losses the initial window becomes
    /// `lost_initial_window`.
    pub fn time_out_opening(&mut self, path: &mut Path) {
        self.lose_opening();
        if self.timer.retries > self.config.syn_losses_tolerated {
            path.on_handshake_loss(self.config.lost_initial_window);
        }
    }

    /// Data has timed out (RFC 6298 §5.4): recovery takes it for lost.
    pub fn time_out(&mut self, now: Instant, path: &mut Path, may_send: bool) {
        let sent_at = self.board.segment(0).map_or(now, |head| head.sent_at);
        self.outstanding_before_ack = self.board.outstanding();
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        let event = RecoveryEvent::RetransmissionTimeout { now, is_fallback: false };
        let mut report = recovery.on_event(&mut cx, event);
        let again = self.timed_out_at == Some(self.una);
        if again && path.has_news_since(sent_at) {
            // ACKs of other members show that the path works; only this peer is silent.
            report.congestion = None;
        }
        if again && !self.config.halve_again && report.congestion.is_some() {
            report.congestion = Some(Reduction::Again);
        }
        self.timed_out_at = Some(self.una);
        self.apply_timeout(now, path, &report, may_send);
        self.repair_pending = path.is_shared();
    }

    /// Restarts the timer after a timeout: the next one takes twice as long (RFC 6298 §5.5).
    pub fn end_timeout(&mut self, now: Instant, path: &mut Path) {
        self.back_off(path);
        self.end_timeout_without_backoff(now, path);
    }

    /// A timeout is dealt with: the next one takes as long (Linux `tcp_syn_linear_timeouts`).
    pub fn end_timeout_without_backoff(&mut self, now: Instant, path: &mut Path) {
        path.on_member_timeout(now, self.timer.backoff);
        self.timer.timed = None;
        self.restart_timer(now, path);
        self.settle_in_flight(path);
    }

    /// Makes the start-up fall back. All outstanding data is retransmitted unless SACK says
    /// otherwise; nothing else of a timeout happens (Padmanabhan & Katz 1998 §3.4.4).
    #[cold]
    pub(crate) fn fall_back(&mut self, now: Instant, path: &mut Path, may_send: bool) {
        self.counts.fallbacks += 1;
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        let event = RecoveryEvent::RetransmissionTimeout { now, is_fallback: true };
        recovery.on_event(&mut cx, event);
        path.fall_back();
        self.timer.timed = None;
        self.restart_timer(now, path);
        self.settle_in_flight(path);
    }

    /// Handles a timer that has expired since `first_expiry`, once or more, while nothing was
    /// outstanding. Each expiry has the cost of a timeout, and the timer runs on, as in ns-2.
    pub fn time_out_while_idle(
        &mut self,
        now: Instant,
        path: &mut Path,
        first_expiry: Instant,
        may_send: bool,
    ) {
        self.outstanding_before_ack = 0;
        let mut at = first_expiry;
        while at <= now {
            self.counts.timeouts += 1;
            let (recovery, mut cx) = self.recovery_parts(path, may_send);
            let event = RecoveryEvent::RetransmissionTimeout { now: at, is_fallback: false };
            let report = recovery.on_event(&mut cx, event);
            self.apply_timeout(at, path, &report, may_send);
            self.back_off(path);
            at += path.rto(self.timer.backoff);
        }
        self.timer.at = Deadline::at(at);
    }

    /// A timeout of another member of the path, or its fallback, concerns the segments of this
    /// one, too.
    pub fn on_path_reset(
        &mut self,
        now: Instant,
        path: &mut Path,
        path_reset: PathReset,
        may_send: bool,
    ) {
        if self.board.is_empty() || self.una == 0 {
            return;
        }
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        let is_fallback = path_reset == PathReset::FallBack;
        // The window has fallen already.
        recovery.on_event(&mut cx, RecoveryEvent::RetransmissionTimeout { now, is_fallback });
        if let PathReset::Timeout { backoff } = path_reset {
            self.timer.backoff = backoff;
        }
        self.timer.timed = None;
        self.restart_timer(now, path);
        self.settle_in_flight(path);
    }
}
