//! TCP Fast Open (RFC 7413): data in the SYN of a client that was there before.
//!
//! A server gives a cookie to a client that asks, a keyed hash of the client's address
//! (`server`); the client keeps it by destination (`client`) and shows it with its next SYN, and
//! the data beside it is taken before the handshake ends. The connection itself only carries what
//! the host decides.

mod client;
mod server;

pub(crate) use client::{Cookies, Offer};
pub use segment::FastOpenCookie;
pub(crate) use server::{Doorman, SynVerdict};
use std::net::IpAddr;
use units::Duration;

/// What a server does about Fast Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpen {
    /// Key of the cookies given out. Whoever knows it can make the server answer to any address; it
    /// should change every few hours (RFC 7413 §4.1.2).
    pub key: [u8; 16],
    /// The key before, whose cookies are still taken, and replaced.
    pub previous_key: Option<[u8; 16]>,
    /// The host's own address, which cookies depend on as those of Linux do; `None`: on the client's alone.
    pub local: Option<IpAddr>,
    /// Data in a SYN is taken from those alone who show a cookie (RFC 7413 §4.2.2); otherwise from anybody, as from
    /// networks that are closed.
    pub demands_cookie: bool,
    /// Connections accepted by a cookie whose handshake has not ended; beyond, SYNs open in three
    /// ways and their data is not taken (RFC 7413 §5.1).
    pub pending: usize,
}

impl FastOpen {
    /// With `key`, no other, and 256 pending connections.
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key, previous_key: None, local: None, demands_cookie: true, pending: 256 }
    }
}

/// What a client does about Fast Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenClient {
    /// Data goes into SYNs to those alone who gave a cookie.
    pub demands_cookie: bool,
    /// How long no data goes into SYNs to where they were lost, the first time; twice as long each further time (Linux
    /// `tcp_fastopen_blackhole_timeout_sec`). Zero: losses change nothing.
    pub first_pause: Duration,
    /// Timeouts of one SYN that tell so; Linux waits for the third (`tcp_fastopen_active_detect_blackhole`).
    pub timeouts_tolerated: u32,
    /// A SYN leaves room for as many options as there can be, as Linux does, rather than for its own.
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

/// What a connection's SYNs carry and brought.
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
    /// How often the SYN was lost, or so it seemed.
    pub(crate) syn_losses: u32,
    /// Our SYN goes again without the option, other than for a timeout.
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
