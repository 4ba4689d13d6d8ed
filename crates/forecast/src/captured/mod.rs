//! What a capture tells of a server's visitors, apart from how its TCP sends: connections, requests, answers, pauses,
//! and evidence of each client's path.

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
    /// Its connections with transfers, in the order in which they began.
    pub connections: Vec<CapturedConnection>,
    pub(crate) evidence: PathEvidence,
}

/// A connection with at least one transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedConnection {
    /// The server's address.
    pub server: IpAddr,
    /// Its first packet.
    pub began: Instant,
    /// The receive window that the client offered when the first answer began to arrive, bytes; zero if no ACK told.
    pub window: u64,
    /// Its transfers in their order.
    pub transfers: Vec<CapturedTransfer>,
    /// From the end of the last transfer to the last packet.
    pub rest: Duration,
}

impl CapturedConnection {
    /// Its last packet.
    pub(crate) fn last(&self) -> Instant {
        let ended = self.transfers.last().map_or(self.began, |last| last.ended.max(self.began));
        ended + self.rest
    }
}

/// A transfer, as far as it does not depend on the server's TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturedTransfer {
    /// From the end of the transfer before, or of the handshake, to the request; to the answer, if nothing was asked.
    pub gap: Duration,
    /// Payload of the request; zero if the server speaks first.
    pub request: u64,
    /// From the request's first byte at the server to its last one before the answer.
    pub upload: Duration,
    /// From the whole request to the beginning of the answer.
    pub think: Duration,
    /// Payload of the answer.
    pub bytes: u64,
    /// How long the server's application kept the rest of the answer back, while the window had room.
    pub pause: Duration,
    /// From the SYN, or the request, to the last byte acknowledged.
    pub took: Duration,
    /// When that was.
    pub ended: Instant,
    /// Segments of the answer that were sent again.
    pub again: u32,
    /// Of these, by timeouts.
    pub timeouts: u32,
}
