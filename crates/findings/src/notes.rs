//! What the part that follows connections by themselves tells of them to those who put hosts and networks together.

use crate::warm::LastSeen;
use std::net::IpAddr;
use trace::{Notes, SenderSnapshot, TransferReport};
use units::Instant;

/// Something that concerns more than its connection.
#[derive(Debug)]
pub enum FindingsNote {
    /// Its first packet.
    Begin(IpAddr, Instant),
    /// It is over, or told of no more.
    Over(Instant),
    /// Nothing more is told of it.
    End(Instant),
    /// Its client asks for the first time since the server has sent.
    Request(IpAddr, Instant),
    /// Its server has sent new data.
    Sent(SentTo),
    /// Its server has digested an ACK, and it is not over.
    Acked(Acked),
    /// Its server has sent this offset again, which was lost.
    Loss(IpAddr, Instant, u64),
    /// A transfer is over.
    Transfer(IpAddr, Box<TransferReport>),
}

/// How far a server has sent.
#[derive(Clone, Copy, Debug)]
pub struct SentTo {
    /// One past the last byte.
    pub(crate) end: u64,
    /// Payload of each of its segments, bytes.
    pub(crate) payload: u64,
}

/// What an ACK showed, as far as it matters to others.
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

/// Who takes notes.
pub trait TakesNotes {
    /// Takes one about a connection.
    fn take(&mut self, connection: u64, note: FindingsNote);

    /// [`FindingsNote::Sent`]: most packets have this or the next, so they have ways of their own.
    fn take_sent(&mut self, connection: u64, sent: SentTo);

    /// [`FindingsNote::Acked`].
    fn take_acked(&mut self, connection: u64, ack: Acked);
}

/// They are kept for another thread.
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
