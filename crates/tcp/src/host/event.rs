//! Events of a host for the application.

use super::ConnId;

/// An event for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The connection.
    pub conn: ConnId,
    /// Kind of the event.
    pub kind: EventKind,
}

/// Kinds of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A peer's connection to a listening port is open, or, opened with data, has data.
    Accepted,
    /// Our connection is open.
    Connected,
    /// This many payload bytes were received in order so far. Under a scheme whose application
    /// takes ranges, it is repeated when bytes behind a gap are received
    /// ([`crate::Connection::beyond`]).
    Received {
        /// Bytes since the connection began.
        total: u64,
    },
    /// This many payload bytes are acknowledged so far.
    Acked {
        /// Bytes since the connection began.
        total: u64,
    },
    /// The peer will send no more.
    PeerClosed,
    /// Both sides are closed; the connection's number is free again.
    Closed,
    /// The connection was reset or gave up; its number is free again.
    Reset,
}
