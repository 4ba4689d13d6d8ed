//! ICMP messages that the peer is unreachable. They end an attempt to connect, never a connection
//! (RFC 1122 §4.2.3.9, RFC 5461, RFC 5927 §6).

use super::{Connection, ResetCause, State};
use crate::guard::Guard;
use crate::segment::Unreachable;
use units::SeqNum;

impl Connection {
    /// A SYN was answered, and the answer is not acknowledged.
    pub(super) const fn is_half_open(&self) -> bool {
        matches!(self.state, State::SynReceived) && self.sender.una() == 0
    }

    /// Processes a message that quotes sequence number `seq`.
    ///
    /// Once SYNs are exchanged every error is a soft one: the connection lives until its timers end
    /// it (RFC 5461 §3.1). Before, a hard error ends the attempt. A soft one ends it if it comes
    /// again after a retransmission (RFC 5461 §4.1), so that the next address can be tried.
    pub(crate) fn on_unreachable(&mut self, guard: &mut Guard, seq: SeqNum, kind: Unreachable) {
        if self.quoted_offset(seq).is_none() {
            guard.counters.icmp_out_of_window += 1;
            return;
        }
        if self.is_half_open() && matches!(kind, Unreachable::Route | Unreachable::TimeExceeded) {
            // As in Linux, a SYN that cannot be answered is forgotten (`tcp_req_err`).
            guard.counters.hard_errors += 1;
            return self.end(ResetCause::Unreachable(kind));
        }
        let attempt = self.state == State::SynSent;
        let persists = self.ending.last_error().is_some() && self.sender.retries() > 0;
        if attempt && (kind.is_hard() || persists) {
            guard.counters.hard_errors += 1;
            return self.end(ResetCause::Unreachable(kind));
        }
        guard.counters.soft_errors += 1;
        self.ending.note_error(kind);
    }
}
