//! Segments that a host sends: resets of no connection first, then the connections that may have
//! something to send, in the order in which they were touched.

use super::ready::Sender;
use super::reported::PollState;
use super::{ConnId, Host};
use crate::connection::State;
use crate::segment::Segment;
use crate::tuple::FourTuple;
use std::net::{IpAddr, Ipv4Addr};
use units::Instant;

/// A segment that leaves the host.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// The connection; `None` for a reset that answers a segment of no connection.
    pub conn: Option<ConnId>,
    /// The connection's address and ports.
    pub tuple: FourTuple,
    /// The segment.
    pub segment: Segment,
    /// Offset in the byte stream of its first payload byte.
    pub payload_offset: u64,
    /// True if it was sent before.
    pub retransmission: bool,
}

impl Default for Transmit {
    /// Room for [`Host::poll_transmit_into`] to write into.
    fn default() -> Self {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Self {
            conn: None,
            tuple: FourTuple { local_port: 0, remote: nowhere, remote_port: 0 },
            segment: Segment::default(),
            payload_offset: 0,
            retransmission: false,
        }
    }
}

/// Result of polling a connection for a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Polled {
    Nothing,
    /// No segment; the connection is over.
    Closed,
    /// A segment, and no more for now.
    Last,
    /// A segment; the connection is over.
    Farewell,
    /// A segment; there may be more.
    More,
}

impl Host {
    /// Returns the next segment to send now; call until `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let mut out = Transmit::default();
        self.poll_transmit_into(now, &mut out).then_some(out)
    }

    /// Writes the next segment over `out`, as [`Host::poll_transmit`] does, for engines that poll
    /// millions of times; false if there is none. `out` is undefined then.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Instant, out: &mut Transmit) -> bool {
        (self.ready.first_sender().is_some() || !self.stateless_replies.is_empty())
            && self.poll_ready(now, out)
    }

    fn poll_ready(&mut self, now: Instant, out: &mut Transmit) -> bool {
        if let Some(reply) = self.stateless_replies.pop_front() {
            *out = reply;
            return true;
        }
        while let Some(sender) = self.ready.first_sender() {
            let id = match sender {
                Sender::Connection(id) => id,
                Sender::Ensemble(path) if self.poll_ensemble(now, path, out) => return true,
                Sender::Ensemble(_) => {
                    self.ready.pop();
                    continue;
                }
            };
            match self.poll_connection(now, id, out) {
                Polled::More => return true,
                Polled::Last => {
                    self.ready.pop();
                    return true;
                }
                Polled::Farewell => {
                    self.ready.pop();
                    self.free_if_done(now, id);
                    return true;
                }
                Polled::Nothing => self.ready.pop(),
                Polled::Closed => {
                    self.ready.pop();
                    self.free_if_done(now, id);
                }
            }
        }
        false
    }

    /// Polls a connection for a segment. One that has no more for now waits for its timers.
    #[inline]
    fn poll_connection(&mut self, now: Instant, id: ConnId, out: &mut Transmit) -> Polled {
        let Some(entry) = self.connections.at_mut(id.0) else { return Polled::Nothing };
        let Some(path) = self.paths.at_mut(entry.path.0) else { return Polled::Nothing };
        if entry.standing == PollState::Member {
            return Polled::Nothing;
        }
        path.set_now(now);
        let departure = entry.conn.poll_transmit(now, path, &mut out.segment);
        if let Some(departure) = departure {
            if path.is_logged() {
                path.follow(id.0, entry.conn.front_segments());
            }
            out.conn = Some(id);
            out.tuple = *entry.conn.tuple();
            out.payload_offset = departure.payload_offset;
            out.retransmission = departure.retransmission;
            if !departure.last {
                return Polled::More;
            }
        }
        entry.standing = PollState::Idle;
        let over = match entry.conn.state() {
            State::TimeWait => self.guard.limits.retire_early,
            State::Closed => departure.is_none(),
            _ => false,
        };
        if over {
            return if departure.is_some() { Polled::Farewell } else { Polled::Closed };
        }
        if let Some(deadline) = entry.conn.next_timeout() {
            self.wakeups.schedule(id, deadline);
        }
        if departure.is_some() { Polled::Last } else { Polled::Nothing }
    }
}
