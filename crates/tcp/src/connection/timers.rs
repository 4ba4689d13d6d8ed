//! Retransmission, persist and TIME-WAIT timers (RFC 6298, RFC 9293 §3.8.6.1, §3.6.1).

use super::{BareProbe, Connection, State};
use crate::config::Opening;
use crate::guard::Guard;
use crate::path::Path;
use crate::recovery::{Reduction, TimerAction};
use crate::startup::Setback;
use units::{Duration, Instant};

/// How long TIME-WAIT lasts: Linux's 60 s, which stands for two segment lifetimes.
const TIME_WAIT: Duration = Duration::from_secs(60);
/// Doublings after which the RTT estimate is distrusted.
const DISTRUST_AFTER: u32 = 4;

/// When a timer fires; one that is not running never does, so the earliest of several is the
/// smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deadline(Instant);

impl Deadline {
    pub(super) const NEVER: Self = Self(Instant::FAR_FUTURE);

    pub(super) const fn at(at: Instant) -> Self {
        Self(at)
    }

    pub(super) fn is_running(self) -> bool {
        self != Self::NEVER
    }

    fn is_due(self, now: Instant) -> bool {
        self.0 <= now && self.is_running()
    }

    fn instant(self) -> Option<Instant> {
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

/// Deadlines of one connection; the delayed ACK's is the receiver's, recovery has its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    pub(super) retransmit: Deadline,
    /// It runs for the start-up, in the place of the retransmission timer.
    pub(super) reset: bool,
    pub(super) persist: Deadline,
    pub(super) pacing: Deadline,
    /// For TIME-WAIT, or else what `watch` waits for.
    pub(super) watch: Deadline,
    /// Doublings of the retransmission timeout.
    pub(super) backoff: u32,
    persist_backoff: u32,
    /// Timeouts since the peer last acknowledged anything new, or said that it has no room.
    pub(super) retries: u32,
    /// When something invalid was last answered.
    pub(super) answered_invalid: Option<Instant>,
    /// A segment being timed, by its end and send time (RFC 6298 with one sample per round trip).
    pub(super) timed: Option<(u64, Instant)>,
}

impl Timers {
    pub(super) fn cancel_all(&mut self) {
        *self = Self::default();
    }

    pub(super) fn start_time_wait(&mut self, now: Instant) {
        self.watch = Deadline::at(now + TIME_WAIT);
    }
}

impl Connection {
    /// Earliest deadline of this connection.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let t = &self.timers;
        let receiver = Deadline::from(self.receiver.ack_timer().deadline());
        let mut next = t.retransmit.min(t.pacing).min(t.persist).min(t.watch).min(receiver);
        debug_assert!(self.recovery.has_timer || self.recovery.timeout().is_none());
        if self.recovery.has_timer && !self.board.is_empty() {
            next = next.min(self.recovery.timeout().into());
        }
        next.instant()
    }

    /// Runs whatever is due.
    pub(crate) fn handle_timeout(&mut self, now: Instant, path: &mut Path, guard: &mut Guard) {
        self.allow_burst();
        if self.timers.watch.is_due(now) {
            if self.state == State::TimeWait {
                return self.forget();
            }
            self.on_watch(now, guard);
        }
        if self.timers.pacing.is_due(now) {
            self.timers.pacing = Deadline::NEVER;
        }
        self.receiver.handle_timeout(now, path.rto(self.timers.backoff));
        if !self.board.is_empty() && Deadline::from(self.recovery.timeout()).is_due(now) {
            self.on_recovery_timeout(now, path);
        }
        if self.timers.retransmit.is_due(now) {
            self.on_retransmission_timeout(now, path, guard);
        }
        if self.timers.persist.is_due(now) {
            self.on_persist_timeout(now, path, guard);
        }
    }

    /// Starts the retransmission timer anew (RFC 6298 §5.1, §5.3).
    #[inline]
    pub(super) fn restart_retransmission_timer(&mut self, now: Instant, path: &Path) {
        debug_assert!(path.has_reset_timer() || self.reset_timeout(path).is_none());
        debug_assert!(self.snd_una == 0 || self.opening_timeout(path).is_none());
        self.timers.reset = false;
        let special = path.has_reset_timer() || self.snd_una == 0;
        let own = if special { self.special_timeout(path) } else { None };
        let timeout = own.unwrap_or_else(|| path.rto(self.timers.backoff));
        self.timers.retransmit = Deadline::at(now + timeout);
    }

    /// What stands in the place of the retransmission timeout, for a start-up or while the connection opens.
    #[cold]
    fn special_timeout(&mut self, path: &Path) -> Option<Duration> {
        let reset = self.reset_timeout(path);
        self.timers.reset = reset.is_some();
        reset.or_else(|| self.opening_timeout(path))
    }

    /// What the start-up puts in the place of the retransmission timeout now, if anything.
    #[cold]
    fn reset_timeout(&self, path: &Path) -> Option<Duration> {
        let marked = self.board.segment(0).is_some_and(|head| head.is_low_priority());
        path.reset_timeout(marked)
    }

    fn on_recovery_timeout(&mut self, now: Instant, path: &mut Path) {
        self.outstanding_before_ack = self.board.outstanding();
        let (recovery, mut cx) = self.recovery_parts(path);
        let report = recovery.on_timeout(&mut cx, now);
        self.apply_report(now, path, &report, false);
        self.probe_pending = report.probe;
        if report.probe || report.timer == TimerAction::Restart {
            self.restart_retransmission_timer(now, path);
        }
        self.settle_in_flight(path);
    }

    /// RFC 6298 §5.4–5.7.
    fn on_retransmission_timeout(&mut self, now: Instant, path: &mut Path, guard: &mut Guard) {
        self.timers.retransmit = Deadline::NEVER;
        if self.is_one_way_answer() {
            return;
        }
        let Some(head) = self.board.segment(0) else { return };
        if let Some(at) = path.put_off_timeout(now, head, self.timers.backoff) {
            self.timers.retransmit = Deadline::at(at);
            return;
        }
        let sent_at = head.sent_at;
        let marked = head.is_low_priority();
        if self.timers.reset && path.reset_timeout(marked).is_none() {
            // The start-up, whose timer it was, has ended on the ACK of another member.
            return self.restart_retransmission_timer(now, path);
        }
        if path.on_setback(Setback::Timeout { marked }) {
            return self.retreat(now, path);
        }
        let opening = self.snd_una == 0 && self.config.opening != Opening::OneWay;
        self.stats.timeouts += 1;
        self.stats.opening_timeouts += u64::from(opening);
        self.stats.timeout_wait += now.saturating_since(sent_at);
        if self.timers.retries >= self.patience(opening, guard) {
            guard.counters.timed_out += 1;
            self.give_up();
            return;
        }
        self.timers.retries += 1;
        if opening {
            // A lost SYN says nothing of the window that data would have met. It goes again without
            // data, which a box on the way may not have liked (RFC 7413 §4.2.1).
            self.board.split_at(1);
            self.board.mark_all_lost();
            if self.timers.retries > self.config.syn_losses_tolerated {
                path.on_handshake_loss(self.config.lost_initial_window);
            }
        } else {
            self.outstanding_before_ack = self.board.outstanding();
            let (recovery, mut cx) = self.recovery_parts(path);
            let mut report = recovery.on_rto(&mut cx, now);
            let again = self.timed_out_at == Some(self.snd_una);
            if again && path.has_news_since(sent_at) {
                // Its peer is silent, the path is not: no sign of congestion.
                report.congestion = None;
            }
            if again && !self.config.halve_again && report.congestion.is_some() {
                report.congestion = Some(Reduction::Again);
            }
            self.timed_out_at = Some(self.snd_una);
            self.apply_report(now, path, &report, true);
            self.repair_pending = path.is_shared();
        }
        if !opening {
            self.suspect_path_mtu(now, path, guard);
        }
        self.back_off(path);
        path.on_member_timeout(now, self.timers.backoff);
        self.timers.timed = None;
        self.restart_retransmission_timer(now, path);
        self.settle_in_flight(path);
    }

    /// Timeouts in a row before the connection fails.
    fn patience(&self, opening: bool, guard: &Guard) -> u32 {
        let lifetimes = &guard.limits.lifetimes;
        let own = self.wishes.as_deref().and_then(|wishes| wishes.syn_retries);
        match (opening, self.state) {
            (true, State::SynSent) if own.is_some() => own.unwrap_or_default(),
            (true, State::SynReceived) => lifetimes.syn_ack_retries + self.short_retries(),
            (true, _) => lifetimes.syn_retries + self.short_retries(),
            (false, _) => lifetimes.data_retries,
        }
    }

    /// The start-up takes back what it sent. All that is outstanding goes again unless SACK says
    /// otherwise; nothing else of a timeout happens (Padmanabhan & Katz 1998 §3.4.4).
    #[cold]
    pub(super) fn retreat(&mut self, now: Instant, path: &mut Path) {
        self.stats.retreats += 1;
        let (recovery, mut cx) = self.recovery_parts(path);
        cx.retreat = true;
        recovery.on_rto(&mut cx, now);
        path.retreat();
        self.timers.timed = None;
        self.restart_retransmission_timer(now, path);
        self.settle_in_flight(path);
    }

    /// The timer has run out since `at`, while nothing was outstanding, once or more, and each time
    /// cost what a timeout costs. It runs on.
    pub(super) fn time_out_while_idle(&mut self, now: Instant, path: &mut Path, mut at: Instant) {
        self.outstanding_before_ack = 0;
        while at <= now {
            self.stats.timeouts += 1;
            let (recovery, mut cx) = self.recovery_parts(path);
            let report = recovery.on_rto(&mut cx, at);
            self.apply_report(at, path, &report, true);
            self.back_off(path);
            at += path.rto(self.timers.backoff);
        }
        self.timers.retransmit = Deadline::at(at);
    }

    /// RFC 6298 §5.5, §5.7.
    pub(super) fn back_off(&mut self, path: &mut Path) {
        self.timers.backoff += 1;
        // Others whose ACKs come know the path better.
        let lone = !path.has_several_users();
        if self.timers.backoff == DISTRUST_AFTER && lone && path.rtt.has_sample() {
            path.rtt.distrust();
        }
    }

    /// The peer's window is shut, or too small to be worth a segment, and nothing is outstanding
    /// whose ACK could tell better: ask, or send all the same, after a while.
    #[inline(always)]
    pub(super) fn update_persist_timer(&mut self, now: Instant, path: &Path) {
        let waits = self.board.is_empty() && self.snd_nxt < self.send_end();
        if waits {
            self.update_persist_timer_of_waiting(now, path);
        } else {
            self.stop_persist_timer();
        }
    }

    const fn stop_persist_timer(&mut self) {
        self.timers.persist = Deadline::NEVER;
        self.timers.persist_backoff = 0;
    }

    /// As [`Connection::update_persist_timer`], of data that waits with nothing outstanding.
    #[inline(never)]
    fn update_persist_timer_of_waiting(&mut self, now: Instant, path: &Path) {
        if !self.is_shut() && !self.is_corked() {
            self.stop_persist_timer();
        } else if !self.timers.persist.is_running() {
            let delay = path.rto(self.timers.persist_backoff);
            self.timers.persist = Deadline::at(now + delay);
        }
    }

    /// The peer's window admits neither a full segment nor all there is.
    fn is_shut(&self) -> bool {
        self.state.is_synchronized()
            && self.window_edge() < self.send_end().min(self.snd_nxt + self.agreed.mss)
    }

    fn on_persist_timeout(&mut self, now: Instant, path: &Path, guard: &mut Guard) {
        self.timers.persist = Deadline::NEVER;
        if self.window_edge() > self.snd_nxt {
            self.window_override = true;
            return;
        }
        if self.timers.retries >= guard.limits.lifetimes.data_retries {
            guard.counters.timed_out += 1;
            return self.give_up();
        }
        // Until the answer.
        self.timers.retries += 1;
        self.probe_due = BareProbe::Window;
        self.timers.persist_backoff += 1;
        self.update_persist_timer(now, path);
    }
}
