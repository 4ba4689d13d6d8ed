//! Closing: FIN both ways, half-close, abort (RFC 9293 §3.6).

use super::{Connection, PendingReset, ResetCause, State};
use crate::config::Opening;
use crate::segment::{Flags, Segment};
use units::Instant;

impl Connection {
    /// Nothing more will be written: FIN follows the last byte.
    pub(crate) fn shutdown(&mut self) {
        if self.sender.has_fin() || self.state == State::Closed {
            return;
        }
        if self.state == State::SynSent && self.sender.written() == 1 {
            // RFC 9293 §3.10.4: nothing was exchanged, nothing is owed.
            self.state = State::Closed;
            self.stop_timers();
            return;
        }
        self.sender.request_fin();
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    /// True if both sides have finished. The state alone does not show this: it changes when the
    /// application shuts down, as in Linux, and data may wait before our FIN.
    fn have_both_finished(&self) -> bool {
        match self.state {
            State::TimeWait => true,
            State::Closing | State::LastAck => self.sender.nxt() == self.sender.end(),
            _ => false,
        }
    }

    /// Ends at once: with RST, unless both sides have finished (RFC 9293 §3.10.5), or there was no
    /// handshake, whose agents go without a word.
    pub(crate) fn abort(&mut self) {
        match self.state {
            State::Closed => return,
            _ if self.have_both_finished() => return self.forget(),
            _ if self.config.opening == Opening::OneWay => return self.forget(),
            _ => {}
        }
        if self.sender.nxt() > 0 {
            self.ending.set_pending_reset(PendingReset::Abort);
        }
        self.end(ResetCause::Local);
    }

    /// The peer's RST, already found acceptable.
    pub(super) fn on_reset(&mut self) {
        // An orderly end (RFC 9293 §3.10.7.4), unless the peer lacks some of our data.
        let has_all = self.sender.una().max(1) >= self.sender.written();
        if self.have_both_finished() && has_all {
            self.forget();
        } else {
            self.end(ResetCause::Peer);
        }
    }

    /// Retransmitting has led to nothing.
    pub(super) fn give_up(&mut self) {
        self.end(ResetCause::TimedOut);
    }

    pub(super) fn end(&mut self, cause: ResetCause) {
        self.ending.note_end(cause);
        self.state = State::Closed;
        self.stop_timers();
    }

    fn stop_timers(&mut self) {
        self.timers.cancel_all();
        self.sender.stop_timer();
    }

    /// The handshake is complete.
    pub(super) fn on_established(&mut self, now: Instant) {
        self.state = if self.sender.has_fin() { State::FinWait1 } else { State::Established };
        self.receiver.on_established(now);
        // A FIN may have come with data before the handshake ended.
        if self.receiver.fin_arrived() {
            self.on_peer_fin(now);
        }
    }

    /// All of ours, FIN included, is acknowledged.
    pub(super) fn on_fin_acked(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                self.await_fin(now);
            }
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.forget(),
            _ => {}
        }
    }

    /// The peer's FIN was received in order. An end that has sent its FIN has no more data for the
    /// ACK to wait for, and acknowledges at once (Linux `tcp_fin`).
    pub(super) fn on_peer_fin(&mut self, now: Instant) {
        if matches!(self.state, State::FinWait1 | State::FinWait2 | State::TimeWait) {
            self.receiver.demand_ack();
        }
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 | State::TimeWait => self.enter_time_wait(now),
            _ => {}
        }
    }

    /// True if a SYN received in TIME-WAIT opens the next incarnation, because its number is above
    /// those of this one.
    pub(crate) fn gives_way_to(&self, segment: &Segment) -> bool {
        self.state == State::TimeWait
            && segment.has(Flags::SYN)
            && !segment.has(Flags::ACK)
            && self.receiver.offset_of(segment.seq).is_some_and(|o| o > self.receiver.rcv_nxt())
    }

    /// Ends TIME-WAIT early.
    pub(crate) fn leave_time_wait(&mut self) {
        self.forget();
    }

    /// Forgets a handshake that is not complete: its listener is gone. The peer's next segment
    /// meets no connection (Linux `tcp_v4_rcv`, `TCP_NEW_SYN_RECV`). A SYN with data is complete.
    pub(crate) fn on_listener_closed(&mut self) {
        if self.is_half_open() && !self.counts.data_in_syn {
            self.forget();
        }
    }

    /// Over, with nothing more to say.
    pub(super) fn forget(&mut self) {
        self.state = State::Closed;
        self.stop_timers();
    }

    fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.stop_timers();
        self.timers.start_time_wait(now);
    }
}
