//! One slow timer for peers that have disappeared or accept data too slowly ([`crate::Lifetimes`]):
//! FIN-WAIT-2 that does not end, the user timeout, keepalive.
//!
//! It compares the state when it expires, and segments do not touch it, so it costs nothing per
//! segment.

use super::{BareProbe, Connection, PendingReset, ResetCause, State};
use crate::guard::{Guard, KeepAlive};
use crate::segment::Segment;
use units::{Duration, Instant};

/// The event for which the timer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchedEvent {
    /// The peer's FIN, after the application has closed.
    Fin,
    /// That data is acknowledged.
    Progress,
    /// Any sign of life.
    Life,
}

/// The application's settings, and the state when the timer was set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    purpose: Option<WatchedEvent>,
    user_timeout: Option<Duration>,
    keepalive: Option<KeepAlive>,
    /// `snd_una` must reach this when the timer expires; otherwise the peer accepted too little.
    goal: u64,
    /// Segments received until the timer was set.
    seen: u64,
    /// Keepalive probes without an answer.
    unanswered: u32,
    /// The time that the peer's FIN may take, if the application has closed.
    orphan: Option<Duration>,
}

impl Connection {
    /// The application closes the connection.
    pub(crate) fn close(&mut self, now: Instant, guard: &mut Guard) {
        if self.receiver.unread() > 0 && self.state.is_synchronized() {
            guard.counters.aborted_on_data += 1;
            return self.abort();
        }
        self.shutdown();
        self.watch.orphan = Some(guard.limits.lifetimes.fin_wait);
        self.set_watch_timer(now, guard);
    }

    /// Refuses data for an application that has closed (RFC 9293 §3.10.7.4, "if the application has
    /// closed"). True if it did.
    pub(super) fn refuses_data(&mut self, left: u64, segment: &Segment, guard: &mut Guard) -> bool {
        let fresh = left + u64::from(segment.len) > self.receiver.rcv_nxt();
        if self.watch.orphan.is_none() || segment.len == 0 || !fresh {
            return false;
        }
        guard.counters.aborted_on_data += 1;
        self.ending.set_pending_reset(PendingReset::Refuse(segment.ack));
        self.end(ResetCause::Local);
        true
    }

    pub(crate) fn set_user_timeout(
        &mut self,
        now: Instant,
        timeout: Option<Duration>,
        guard: &Guard,
    ) {
        self.watch.user_timeout = timeout;
        self.watch_anew(now, guard);
    }

    pub(crate) fn set_keepalive(
        &mut self,
        now: Instant,
        keepalive: Option<KeepAlive>,
        guard: &Guard,
    ) {
        self.watch.keepalive = keepalive;
        self.watch_anew(now, guard);
    }

    /// All was acknowledged: new data has all the time again.
    pub(super) fn watch_no_more(&mut self) {
        if self.watch.purpose == Some(WatchedEvent::Progress) {
            self.watch.purpose = None;
        }
    }

    fn watch_anew(&mut self, now: Instant, guard: &Guard) {
        self.watch.purpose = None;
        self.timers.watch_until(None);
        self.set_watch_timer(now, guard);
    }

    /// Sets the timer if there is something that it should wait for and does not yet.
    pub(crate) fn set_watch_timer(&mut self, now: Instant, guard: &Guard) {
        let wanted = self.to_watch(guard);
        let purpose = wanted.map(|(purpose, _)| purpose);
        if self.state == State::Closed || self.state == State::TimeWait {
            return;
        }
        if purpose != self.watch.purpose {
            self.watch.purpose = purpose;
            (self.watch.goal, self.watch.unanswered) = (self.offset_to_ack(wanted, guard), 0);
            self.watch.seen = self.counts.segments_received;
            self.timers.watch_until(wanted.map(|(_, delay)| now + delay));
        }
    }

    /// Returns the offset that must be acknowledged when the timer expires: a full segment and the
    /// bytes that [`crate::Lifetimes::min_rate`] demands. It is no more than waits now, because
    /// data written later may be acknowledged later.
    fn offset_to_ack(&self, wanted: Option<(WatchedEvent, Duration)>, guard: &Guard) -> u64 {
        let time = wanted.map_or(Duration::ZERO, |(_, delay)| delay);
        let asked = guard.limits.lifetimes.min_rate.bytes_in(time).max(self.sender.mss());
        self.sender.una().saturating_add(asked).min(self.sender.end())
    }

    /// All our data is acknowledged: from now on only the peer's FIN is missing.
    pub(super) fn await_fin(&mut self, now: Instant) {
        if let Some(limit) = self.watch.orphan {
            self.watch.purpose = Some(WatchedEvent::Fin);
            self.timers.watch_until(Some(now + limit));
        }
    }

    /// Returns the event to wait for, and the time to wait.
    fn to_watch(&self, guard: &Guard) -> Option<(WatchedEvent, Duration)> {
        if let Some(limit) = self.watch.orphan.filter(|_| self.state == State::FinWait2) {
            return Some((WatchedEvent::Fin, limit));
        }
        let lifetimes = &guard.limits.lifetimes;
        let waiting = self.state.is_synchronized() && self.sender.una() < self.sender.end();
        if let Some(limit) = self.watch.user_timeout.or(lifetimes.user_timeout).filter(|_| waiting)
        {
            return Some((WatchedEvent::Progress, limit));
        }
        let keepalive = self.keepalive(guard).filter(|_| self.state.is_synchronized())?;
        Some((WatchedEvent::Life, keepalive.idle))
    }

    fn keepalive(&self, guard: &Guard) -> Option<KeepAlive> {
        self.watch.keepalive.or(guard.limits.lifetimes.keepalive)
    }

    /// Processes the expiry of the timer.
    pub(super) fn on_watch(&mut self, now: Instant, guard: &mut Guard) {
        self.timers.watch_until(None);
        let was = self.watch.purpose.take();
        let now_wanted = self.to_watch(guard).map(|(purpose, _)| purpose);
        match was.filter(|purpose| Some(*purpose) == now_wanted) {
            Some(WatchedEvent::Fin) => {
                guard.counters.fin_wait_expired += 1;
                return self.forget();
            }
            Some(WatchedEvent::Progress) if self.sender.una() < self.watch.goal => {
                guard.counters.stalled += 1;
                return self.give_up_on_peer();
            }
            Some(WatchedEvent::Life) => return self.ask_for_life(now, guard),
            _ => {}
        }
        self.set_watch_timer(now, guard);
    }

    /// Probes whether the peer of an idle connection is alive (RFC 9293 §3.8.4).
    fn ask_for_life(&mut self, now: Instant, guard: &mut Guard) {
        let Some(keepalive) = self.keepalive(guard) else { return };
        // While something is outstanding, retransmissions show whether the peer lives (Linux
        // `tcp_keepalive_timer`).
        if self.counts.segments_received != self.watch.seen || self.sender.una() < self.sender.end()
        {
            return self.set_watch_timer(now, guard);
        }
        if self.watch.unanswered >= keepalive.probes {
            guard.counters.timed_out += 1;
            return self.give_up_on_peer();
        }
        guard.counters.keepalives += 1;
        self.watch.unanswered += 1;
        self.watch.purpose = Some(WatchedEvent::Life);
        self.peer_window.request_probe(BareProbe::Alive);
        self.timers.watch_until(Some(now + keepalive.interval));
    }

    /// Gives up, with a reset in case the peer is alive.
    pub(super) fn give_up_on_peer(&mut self) {
        self.ending.set_pending_reset(PendingReset::Abort);
        self.give_up();
    }
}
