//! Retransmission, persist and TIME-WAIT timers (RFC 6298, RFC 9293 §3.8.6.1, §3.6.1).

use super::{BareProbe, Connection, State};
use crate::config::Opening;
use crate::guard::Guard;
use crate::path::Path;
use sender::{Deadline, TimerExpiry};
use units::{Duration, Instant};

/// Duration of TIME-WAIT: Linux's 60 s, in place of two segment lifetimes.
const TIME_WAIT: Duration = Duration::from_secs(60);
/// Deadlines of one connection; the delayed ACK's is the receiver's, recovery has its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    persist: Deadline,
    pacing: Deadline,
    /// For TIME-WAIT, or else what `watch` waits for.
    watch: Deadline,
    persist_backoff: u32,
    /// Time at which an invalid segment was last answered.
    answered_invalid: Option<Instant>,
}

impl Timers {
    pub(super) fn cancel_all(&mut self) {
        *self = Self::default();
    }

    pub(super) fn start_time_wait(&mut self, now: Instant) {
        self.watch_until(Some(now + TIME_WAIT));
    }

    /// Linux `tcp_oow_rate_limited`: not twice within [`crate::Limits::invalid_interval`].
    pub(super) fn may_answer_invalid(&mut self, now: Instant, guard: &Guard) -> bool {
        let interval = guard.limits.invalid_interval;
        let recently = self.answered_invalid.is_some_and(|at| now.saturating_since(at) < interval);
        if !recently {
            self.answered_invalid = Some(now);
        }
        !recently
    }

    /// Sets the timer of what `watch` waits for; `None`: for nothing.
    pub(super) fn watch_until(&mut self, at: Option<Instant>) {
        self.watch = at.into();
    }

    /// The pacer releases no segment before `at`.
    #[inline]
    pub(super) const fn pace_until(&mut self, at: Instant) {
        self.pacing = Deadline::at(at);
    }

    /// Returns true if the pacer keeps a segment back.
    pub(super) fn is_pacing(&self) -> bool {
        self.pacing.is_running()
    }
}

impl Connection {
    /// Earliest deadline of this connection; one that is over has none.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        let t = &self.timers;
        let receiver = Deadline::from(self.receiver.ack_timer().deadline());
        let sender = self.sender.deadline();
        sender.min(t.pacing).min(t.persist).min(t.watch).min(receiver).instant()
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
        self.receiver.handle_timeout(now, path.rto(self.sender.backoff()));
        if self.sender.run_recovery_timer(now, path, self.may_send_new()).any {
            self.collect_report(path);
        }
        if self.sender.is_timer_due(now) {
            self.on_retransmission_timeout(now, path, guard);
        }
        if self.timers.persist.is_due(now) {
            self.on_persist_timeout(now, path, guard);
        }
    }

    /// The timer of SYNs follows known round trips of the path, if there are any.
    pub(super) fn hold_opening_timer(&mut self, now: Instant, path: &Path) {
        if !self.sender.has_startup_timer()
            && let Some(timeout) = self.opening_timeout(path)
        {
            self.sender.set_timer(now + timeout);
        }
    }

    /// RFC 6298 §5.4–5.7.
    fn on_retransmission_timeout(&mut self, now: Instant, path: &mut Path, guard: &mut Guard) {
        let may_send = self.may_send_new();
        if self.is_one_way_answer() {
            return self.sender.pause_timer();
        }
        if self.sender.on_timer_expired(now, path, may_send) == TimerExpiry::Handled {
            return;
        }
        let opening = self.sender.una() == 0 && self.config.opening != Opening::OneWay;
        self.sender.count_timeout(now, opening);
        let is_linear = opening && self.has_linear_timeouts(path);
        if self.gives_up(opening, is_linear, guard) {
            guard.counters.timed_out += 1;
            self.give_up();
            return;
        }
        self.sender.count_retry();
        if opening {
            self.sender.time_out_opening(path);
        } else {
            self.sender.time_out(now, path, may_send);
            self.suspect_path_mtu(now, path, guard);
        }
        if is_linear && self.sender.retries() <= self.config.linear_syn_timeouts {
            self.sender.end_timeout_without_backoff(now, path);
        } else {
            self.sender.end_timeout(now, path);
        }
        self.hold_opening_timer(now, path);
        self.collect_report(path);
    }

    /// True if the first timeouts of our SYN are all as long. Timeouts by known round trips
    /// (`opening_timer`) are shorter, and double.
    fn has_linear_timeouts(&self, path: &Path) -> bool {
        self.config.linear_syn_timeouts > 0
            && self.state == State::SynSent
            && self.opening_timeout(path).is_none()
    }

    /// The connection fails after as many timeouts as its patience says. If the first timeouts of a
    /// SYN do not double, it fails at the first one after the time that doubling timeouts of this
    /// number would have taken (`tcp_write_timeout`, `retransmits_timed_out`).
    fn gives_up(&self, opening: bool, is_linear: bool, guard: &Guard) -> bool {
        /// Doublings of a second that are longer than any wait.
        const MAX_DOUBLINGS: u32 = 30;
        let (retries, patience) = (self.sender.retries(), self.max_timeouts(opening, guard));
        // With `opening_timer` a larger number allows for timeouts that were short.
        if !is_linear || self.asks_siblings() {
            return retries >= patience;
        }
        let timeouts = (2_u64 << patience.min(MAX_DOUBLINGS)) - 1;
        let longest = self.config.rto.initial.saturating_mul(timeouts);
        retries >= patience + self.config.linear_syn_timeouts
            || self.sender.counts().timeout_wait >= longest
    }

    /// Timeouts in a row before the connection fails.
    fn max_timeouts(&self, opening: bool, guard: &Guard) -> u32 {
        let lifetimes = &guard.limits.lifetimes;
        let own = self.own_syn_retries();
        match (opening, self.state) {
            (true, State::SynSent) if own.is_some() => own.unwrap_or_default(),
            (true, State::SynReceived) => lifetimes.syn_ack_retries + self.short_retries(),
            (true, _) => lifetimes.syn_retries + self.short_retries(),
            (false, _) => lifetimes.data_retries,
        }
    }

    /// Starts or stops the persist timer. It runs while the peer's window is closed, or too small
    /// to be worth a segment, and nothing is outstanding whose ACK could report a larger one. When
    /// it expires, a probe or a small segment is sent.
    #[inline(always)]
    pub(super) fn update_persist_timer(&mut self, now: Instant, path: &Path) {
        let waits = self.sender.board().is_empty() && self.sender.nxt() < self.sender.end();
        if waits {
            self.update_persist_timer_of_waiting(now, path);
        } else {
            self.stop_persist_timer();
        }
    }

    /// An ACK with nothing outstanding answers a probe, or is as good as an answer. The next probe
    /// is due a whole interval later (`tcp_ack_probe`).
    pub(super) fn restart_persist_timer(&mut self) {
        self.sender.forget_retries();
        self.timers.persist = Deadline::NEVER;
    }

    /// Doublings of the timeout, or of the interval of probes (`icsk_backoff`).
    pub fn backoff(&self) -> u32 {
        self.sender.backoff().max(self.timers.persist_backoff)
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
            && self.sender.window_edge()
                < self.sender.end().min(self.sender.nxt() + self.full_payload())
    }

    fn on_persist_timeout(&mut self, now: Instant, path: &Path, guard: &mut Guard) {
        self.timers.persist = Deadline::NEVER;
        if self.sender.window_edge() > self.sender.nxt() {
            self.peer_window.set_overridden(true);
            return;
        }
        if self.sender.retries() >= guard.limits.lifetimes.data_retries {
            guard.counters.timed_out += 1;
            return self.give_up();
        }
        // The backoff counts until the peer answers.
        self.sender.count_retry();
        self.peer_window.request_probe(BareProbe::Window);
        self.timers.persist_backoff += 1;
        self.update_persist_timer(now, path);
    }
}
