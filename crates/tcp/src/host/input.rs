//! Segments received by a host: for connections, for listening ports, and for neither.

use super::time_wait::TimeWaitVerdict;
use super::{ConnId, Host, Transmit};
use crate::segment::{Flags, Segment};
use crate::tuple::FourTuple;
use units::{Instant, SeqNum};

/// Maximum number of answers of no connection that wait to be sent; an engine that does not send
/// them gets no more.
const MAX_STATELESS_REPLIES: usize = 4096;

impl Host {
    /// Processes a segment received for `tuple`.
    pub fn handle_segment(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) {
        match self.by_tuple.find(tuple) {
            Some(id) if segment.has(Flags::SYN) && self.is_new_incarnation(id, segment) => {
                // RFC 9293 §3.6.1: a SYN above the old numbers ends TIME-WAIT and opens a new
                // connection.
                self.with(now, id, |conn, _| conn.leave_time_wait());
                self.free_if_done(now, id);
                self.handle_unknown(now, (tuple, segment), None);
            }
            Some(id) => self.handle_known(now, id, segment),
            None => self.handle_late(now, tuple, segment),
        }
    }

    #[cold]
    fn is_new_incarnation(&self, id: ConnId, segment: &Segment) -> bool {
        self.connection(id).is_some_and(|conn| conn.gives_way_to(segment))
    }

    /// A segment of a live connection.
    #[inline]
    fn handle_known(&mut self, now: Instant, id: ConnId, segment: &Segment) {
        if self.buffers.are_limited() && segment.len > 0 {
            return self.handle_within_room(now, id, segment);
        }
        self.with(now, id, |conn, context| conn.handle_segment(now, context, segment));
    }

    /// [`Host::handle_known`] for rare callers: the frequent one has its own copy.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_seldom(&mut self, now: Instant, id: ConnId, segment: &Segment) {
        self.with(now, id, |conn, context| conn.handle_segment(now, context, segment));
    }

    /// No connection has this tuple; perhaps one had.
    fn handle_late(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) {
        match self.time_wait.handle(now, (tuple, segment), &mut self.guard) {
            TimeWaitVerdict::Unknown => self.handle_unknown(now, (tuple, segment), None),
            TimeWaitVerdict::Reopens(least) => {
                self.handle_unknown(now, (tuple, segment), Some(least))
            }
            TimeWaitVerdict::Done(answer) => self
                .stateless_replies
                .extend(answer.filter(|_| self.stateless_replies.len() < MAX_STATELESS_REPLIES)),
        }
    }

    /// Processes a segment in LISTEN and CLOSED (RFC 9293 §3.10.7.1, §3.10.7.2). The numbers of a
    /// new incarnation begin at `least` at the lowest.
    fn handle_unknown(
        &mut self,
        now: Instant,
        (tuple, segment): (&FourTuple, &Segment),
        least: Option<SeqNum>,
    ) {
        if segment.has(Flags::RST) {
            return;
        }
        if self.is_martian(tuple.remote) {
            self.guard.counters.martians += 1;
            return;
        }
        let listener = self.listeners.iter().find(|(port, _)| *port == tuple.local_port);
        let scheme = listener.map(|(_, scheme)| scheme.clone());
        match scheme {
            Some(scheme) if segment.has(Flags::ACK) => {
                if !self.take_cookie(now, (tuple, segment), &scheme) {
                    self.send_reset(now, tuple, segment);
                }
            }
            Some(scheme) if segment.has(Flags::SYN) => {
                self.handle_syn(now, (tuple, segment), (&scheme, least));
            }
            // Accelerated opening: data that overtook its SYN. It will come again.
            Some(_) => {}
            None => self.send_reset(now, tuple, segment),
        }
    }

    fn send_reset(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) {
        if !self.has_max_replies() && self.guard.may_reset(now) {
            self.stateless_replies.push_back(reset_for(tuple, segment));
        }
    }

    /// There are too many unsent answers: no more segments are answered.
    pub(super) fn has_max_replies(&self) -> bool {
        self.stateless_replies.len() >= MAX_STATELESS_REPLIES
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
