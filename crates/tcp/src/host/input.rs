//! What arrives at a host: segments of connections, of listening ports, and of nothing.

use super::{ConnId, Host, MAX_HALF_OPEN, Transmit};
use crate::connection::Connection;
use crate::segment::{Flags, Segment};
use crate::tuple::FourTuple;
use units::Instant;

impl Host {
    /// Digests a segment that arrived for `tuple`.
    pub fn handle_segment(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) {
        match self.by_tuple.get(tuple) {
            Some(&id) if self.is_new_incarnation(id, segment) => {
                // RFC 9293 §3.6.1: a SYN beyond the old numbers ends TIME-WAIT and opens anew.
                self.with(now, id, |conn, _| conn.leave_time_wait());
                self.reap(id);
                self.handle_unknown(now, tuple, segment);
            }
            Some(&id) => self.with(now, id, |conn, path| conn.handle_segment(now, path, segment)),
            None => self.handle_unknown(now, tuple, segment),
        }
    }

    #[inline]
    fn is_new_incarnation(&self, id: ConnId, segment: &Segment) -> bool {
        self.connection(id).is_some_and(|conn| conn.gives_way_to(segment))
    }

    /// LISTEN and CLOSED (RFC 9293 §3.10.7.1, §3.10.7.2).
    fn handle_unknown(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) {
        if segment.has(Flags::RST) {
            return;
        }
        let listener = self.listeners.iter().find(|(port, _)| *port == tuple.local_port);
        let Some((_, scheme)) = listener.filter(|_| !segment.has(Flags::ACK)) else {
            self.strays.push_back(reset_for(tuple, segment));
            return;
        };
        if !segment.has(Flags::SYN) {
            // Accelerated opening: data that overtook its SYN. It will come again.
            return;
        }
        if self.half_open >= MAX_HALF_OPEN {
            // As any listener whose backlog is full: the SYN will come again.
            return;
        }
        self.half_open += 1;
        let scheme = scheme.clone();
        let isn = self.initial_sequence(now, tuple);
        let conn = Connection::passive(*tuple, scheme.shared_config(), scheme.recovery(), isn);
        let id = self.admit(now, conn, (&scheme, true));
        self.with(now, id, |conn, path| conn.on_peer_syn(now, path, segment));
    }
}

/// The reset that answers a segment of no connection (RFC 9293 §3.5.2, group 1).
fn reset_for(tuple: &FourTuple, segment: &Segment) -> Transmit {
    let answer = if segment.has(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        let ack = segment.seq + segment.sequence_len();
        Segment { ack, flags: Flags::RST.with(Flags::ACK), ..Segment::default() }
    };
    Transmit {
        conn: None,
        tuple: *tuple,
        segment: answer,
        payload_offset: 0,
        retransmission: false,
    }
}
