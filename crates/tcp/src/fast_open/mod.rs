//! TCP Fast Open (RFC 7413): data in the SYN of a client that has connected before.
//!
//! A server gives a cookie, a keyed hash of the client's address, to a client that asks (`server`).
//! The client keeps it by destination (`client`) and sends it with its next SYN; the data in that
//! SYN is accepted before the handshake ends. The connection itself only carries what the host
//! decides.

mod client;
mod server;

pub(crate) use client::{Cookies, Offer};
pub use segment::FastOpenCookie;
pub(crate) use server::{FastOpenServer, SynVerdict};
use std::net::IpAddr;
use units::Duration;

/// A server's configuration of Fast Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpen {
    /// Key of the cookies. An attacker who knows it can make the server answer to any address; it
    /// should change every few hours (RFC 7413 §4.1.2).
    pub key: [u8; 16],
    /// The previous key, whose cookies are still accepted, and replaced.
    pub previous_key: Option<[u8; 16]>,
    /// The host's own address, on which cookies depend as those of Linux do; `None`: they depend on
    /// the client's alone.
    pub local: Option<IpAddr>,
    /// If true, data in a SYN is accepted only with a cookie (RFC 7413 §4.2.2); otherwise from any
    /// client, which suits closed networks.
    pub demands_cookie: bool,
    /// Maximum number of connections accepted by a cookie whose handshake has not ended. With more,
    /// SYNs open by a full handshake and their data is dropped (RFC 7413 §5.1).
    pub pending: usize,
}

impl FastOpen {
    /// With `key`, no other, and 256 pending connections.
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key, previous_key: None, local: None, demands_cookie: true, pending: 256 }
    }
}

/// A client's configuration of Fast Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenClient {
    /// If true, SYNs carry data only to servers that gave a cookie.
    pub demands_cookie: bool,
    /// Time without data in SYNs to a destination where they were lost; it doubles with each
    /// further loss (Linux `tcp_fastopen_blackhole_timeout_sec`). Zero: losses change nothing.
    pub first_pause: Duration,
    /// Timeouts of one SYN that are tolerated; with one more, the SYN counts as lost because of its
    /// data. Linux counts the third (`tcp_fastopen_active_detect_blackhole`).
    pub timeouts_tolerated: u32,
    /// A SYN leaves room for the longest options, as Linux does, rather than for its own.
    pub reserves_options: bool,
}

impl Default for FastOpenClient {
    fn default() -> Self {
        Self {
            demands_cookie: true,
            first_pause: Duration::from_secs(3600),
            timeouts_tolerated: 0,
            reserves_options: false,
        }
    }
}

/// Fast Open options and data of a connection's SYNs, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SynExchange {
    /// The option of our SYN or SYN-ACK.
    pub(crate) ours: Option<FastOpenCookie>,
    /// The cookie that the peer's SYN-ACK gave.
    pub(crate) granted: Option<FastOpenCookie>,
    /// Our SYN took data along.
    pub(crate) data_sent: bool,
    /// The SYN-ACK acknowledged some of it.
    pub(crate) data_taken: bool,
    /// Number of timeouts of the SYN.
    pub(crate) syn_losses: u32,
    /// Our SYN is retransmitted without the option, not because of a timeout.
    pub(crate) withdrawn: bool,
    /// Segment size that the peer offered, bytes.
    pub(crate) peer_mss: Option<u32>,
    /// Bytes of data that the SYN has room for; zero: as many as its options leave.
    pub(crate) room: u32,
}

impl SynExchange {
    /// The peer has answered a SYN that asked for a cookie, and has given none.
    pub(crate) fn is_ignored_request(&self) -> bool {
        let asked = self.ours.is_some_and(|ours| ours.is_request());
        asked && self.granted.is_none() && self.syn_losses == 0
    }
}
