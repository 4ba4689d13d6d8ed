//! Notes of the part that follows connections alone, for the part that combines hosts and networks.

use crate::warm::LastSeen;
use std::net::IpAddr;
use trace::{Notes, SenderSnapshot, TransferReport};
use units::Instant;

/// A fact that concerns more than its connection.
#[derive(Debug)]
pub enum FindingsNote {
    /// The first packet of a connection.
    Begin(IpAddr, Instant),
    /// The connection is over, or has no more events.
    Over(Instant),
    /// The connection has no more events.
    End(Instant),
    /// The client asks for the first time since the server has sent.
    Request(IpAddr, Instant),
    /// The server has sent new data.
    Sent(SentTo),
    /// The server has received an ACK, and the connection is not over.
    Acked(Acked),
    /// The server has retransmitted this offset, which was lost.
    Loss(IpAddr, Instant, u64),
    /// A transfer is over.
    Transfer(IpAddr, Box<TransferReport>),
}

/// The progress of a server's data.
#[derive(Clone, Copy, Debug)]
pub struct SentTo {
    /// One past the last byte.
    pub(crate) end: u64,
    /// Payload of each of its segments, bytes.
    pub(crate) payload: u64,
}

/// The content of an ACK, as far as other connections need it.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) last: LastSeen,
}

impl Acked {
    pub(crate) const fn of(point: &SenderSnapshot) -> Self {
        Self { una: point.una, nxt: point.nxt, last: LastSeen::of(point) }
    }
}

/// Takes notes.
pub trait TakesNotes {
    /// Takes a note about a connection.
    fn take(&mut self, connection: u64, note: FindingsNote);

    /// Takes [`FindingsNote::Sent`]. Most packets cause this note or the next, so they have methods
    /// of their own.
    fn take_sent(&mut self, connection: u64, sent: SentTo);

    /// Takes [`FindingsNote::Acked`].
    fn take_acked(&mut self, connection: u64, ack: Acked);
}

/// Keeps notes for another thread.
impl TakesNotes for Notes<FindingsNote> {
    fn take(&mut self, connection: u64, note: FindingsNote) {
        self.push(connection, note);
    }

    #[inline]
    fn take_sent(&mut self, connection: u64, sent: SentTo) {
        self.push(connection, FindingsNote::Sent(sent));
    }

    #[inline]
    fn take_acked(&mut self, connection: u64, ack: Acked) {
        self.push(connection, FindingsNote::Acked(ack));
    }
}
