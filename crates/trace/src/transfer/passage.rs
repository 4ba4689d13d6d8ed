//! Packets and events of a capture that concern a transfer.

use crate::kinds::{Retransmission, RetransmissionKind};
use capture::TlsHead;
use units::{Duration, Instant};

/// A packet or event that passed, and ends a piece of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Payload of the request.
    Request(PassingData),
    /// An ACK.
    Acked(PassingAck),
    /// New payload of the response.
    Response(PassingData),
    /// A retransmission of data that was last sent at `last_sent`.
    Again { kind: RetransmissionKind, last_sent: Option<Instant> },
    /// A repetition of the request: the one before was lost.
    AskedAgain,
    /// The client's window, which was shut, has opened with nothing outstanding.
    WindowOpened,
    /// The server has probed whether the client's window is still shut: it has more to send (RFC
    /// 9293 §3.8.6.1).
    Probed,
    /// The client has closed its side.
    ClientClosed,
}

/// New payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PassingData {
    pub(crate) bytes: u64,
    /// The TLS record that it begins with, if it does.
    pub(crate) tls: TlsHead,
}

/// An ACK that the server's sender has digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassingAck {
    /// Bytes of payload that it newly acknowledges.
    pub(crate) acked: u64,
    /// Bytes that it reports as delivered.
    pub(crate) delivered: u64,
    /// The round trip that it measures.
    pub(crate) rtt: Option<Duration>,
}

impl Passage {
    pub(crate) const fn of_retransmission(retransmission: &Retransmission) -> Self {
        Self::Again { kind: retransmission.kind, last_sent: retransmission.last_sent }
    }
}
