//! Answers to segments that an attacker may have forged (RFC 5961), and to segments that are not
//! acceptable. An ACK gives the true peer our sequence numbers. The rate is limited so that two
//! hosts do not keep answering each other, and so that attackers cannot make us flood a third host.

use super::{Connection, State};
use crate::guard::Guard;
use crate::path::Path;
use crate::segment::{Flags, Segment};
use units::Instant;

/// The reason for which a segment's sequence number or timestamp is not acceptable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unacceptable {
    /// Outside the window.
    OutOfWindow,
    /// Its timestamp is from the past (RFC 7323 §5).
    Outdated,
}

impl Connection {
    /// Processes a reset or SYN in the window (RFC 9293 §3.10.7.4, second and fourth check).
    pub(super) fn handle_control(
        &mut self,
        now: Instant,
        guard: &mut Guard,
        left: u64,
        segment: &Segment,
    ) {
        let reset = segment.has(Flags::RST);
        // RFC 5961 §3: only the exact number resets; any other in the window is challenged, and so
        // is a SYN (§4).
        if reset && left == self.receiver.rcv_nxt() {
            if self.state == State::SynReceived {
                guard.counters.embryonic_resets += 1;
            } else {
                guard.counters.resets_received += 1;
            }
            return self.on_reset();
        }
        guard.counters.reset_challenges += u64::from(reset);
        guard.counters.syn_challenges += u64::from(!reset);
        if !reset {
            self.note_repeated_syn(segment);
        }
        self.challenge(now, guard);
    }

    /// A challenge ACK (RFC 5961 §3.2, §4.2, §5.2), not too often (§7).
    pub(super) fn challenge(&mut self, now: Instant, guard: &mut Guard) {
        if !self.timers.may_answer_invalid(now, guard) {
            guard.counters.ack_skipped_challenge += 1;
        } else if guard.may_challenge(now) {
            self.receiver.demand_ack();
        }
    }

    /// Answers an unacceptable segment other than a reset with an ACK (RFC 9293 §3.10.7.4, first
    /// check). A segment with data may be a retransmission after a lost ACK, so it is answered
    /// every time; because it is not itself an answer, this makes no loop.
    pub(super) fn on_unacceptable(
        &mut self,
        now: Instant,
        (path, guard): (&Path, &mut Guard),
        (left, why): (Option<u64>, Unacceptable),
        segment: &Segment,
    ) {
        match why {
            Unacceptable::Outdated => guard.counters.paws_rejected += 1,
            Unacceptable::OutOfWindow => guard.counters.out_of_window += 1,
        }
        if segment.has(Flags::SYN) {
            self.note_repeated_syn(segment);
            if self.state == State::SynReceived {
                return self.on_repeated_syn(now, guard);
            }
            guard.counters.syn_challenges += 1;
            return self.challenge(now, guard);
        }
        if self.state == State::TimeWait && segment.has(Flags::FIN) {
            // The peer did not receive our last ACK: the wait starts again.
            self.timers.start_time_wait(now);
        }
        // D-SACK reports the duplicate data to the peer. In TIME-WAIT Linux has no state for that
        // (`tcp_timewait_state_process`).
        if let Some(left) = left.filter(|_| segment.len > 0 && self.state != State::TimeWait) {
            self.receiver.on_duplicate(left, segment);
            self.note_repeated_data(segment);
        }
        if segment.sequence_len() > 0 || self.timers.may_answer_invalid(now, guard) {
            let backoff = self.sender.backoff();
            self.receiver.on_unacceptable(now, left, segment, || path.rtt().round_trip(backoff));
            return;
        }
        match (self.state, why) {
            (State::SynReceived, _) => guard.counters.ack_skipped_syn_recv += 1,
            (_, Unacceptable::Outdated) => guard.counters.ack_skipped_paws += 1,
            (_, Unacceptable::OutOfWindow) => guard.counters.ack_skipped_seq += 1,
        }
    }

    /// Retransmits our SYN-ACK, which the peer did not receive.
    fn on_repeated_syn(&mut self, now: Instant, guard: &mut Guard) {
        if self.timers.may_answer_invalid(now, guard) {
            self.sender.lose_all();
        } else {
            guard.counters.ack_skipped_syn_recv += 1;
        }
    }
}
