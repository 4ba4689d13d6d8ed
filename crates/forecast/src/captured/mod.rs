//! The visitors of a server in a capture, independent of its TCP: connections, requests, answers,
//! pauses, and evidence of each client's path.

mod evidence;
mod median;
mod recent;
mod spaced;
mod together;
mod visitors;
mod windows;

pub(crate) use evidence::PathEvidence;
pub use visitors::{CapturedVisitors, Visitors};
pub(crate) use windows::RateStep;

use std::net::IpAddr;
use units::{Duration, Instant};

/// A client host.
#[derive(Clone, Debug)]
pub struct CapturedClient {
    /// Its address.
    pub address: IpAddr,
    /// Its connections with transfers, in the order of their starts.
    pub connections: Vec<CapturedConnection>,
    pub(crate) evidence: PathEvidence,
}

/// A connection with at least one transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedConnection {
    /// The server's address.
    pub server: IpAddr,
    /// Time of its first packet.
    pub began: Instant,
    /// The receive window that the client offered when the first answer began to arrive, bytes;
    /// zero if no ACK showed it.
    pub window: u64,
    /// Its transfers in their order.
    pub transfers: Vec<CapturedTransfer>,
    /// Time from the end of the last transfer to the last packet.
    pub rest: Duration,
}

impl CapturedConnection {
    /// Returns the time of its last packet.
    pub(crate) fn last(&self) -> Instant {
        let ended = self.transfers.last().map_or(self.began, |last| last.ended.max(self.began));
        ended + self.rest
    }
}

/// The part of a transfer that does not depend on the server's TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturedTransfer {
    /// Time from the end of the transfer before, or of the handshake, to the request; to the
    /// answer, if there was no request.
    pub gap: Duration,
    /// Payload of the request, bytes; zero if the server speaks first.
    pub request: u64,
    /// Time from the request's first byte at the server to its last one before the answer.
    pub upload: Duration,
    /// Time from the whole request to the beginning of the answer.
    pub think: Duration,
    /// Payload of the answer, bytes.
    pub bytes: u64,
    /// Time for which the server's application withheld the rest of the answer, while the window
    /// had room.
    pub pause: Duration,
    /// Time from the SYN, or the request, to the last byte acknowledged.
    pub took: Duration,
    /// Time at which the last byte was acknowledged.
    pub ended: Instant,
    /// Number of retransmitted segments of the answer.
    pub retransmissions: u32,
    /// Number of these segments that timeouts retransmitted.
    pub timeouts: u32,
}
