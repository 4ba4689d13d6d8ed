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

/// What a server does about Fast Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpen {
    /// Key of the cookies given out. Whoever knows it can make the server answer to any address; it
    /// should change every few hours (RFC 7413 §4.1.2).
    pub key: [u8; 16],
    /// The key before, whose cookies are still taken, and replaced.
    pub previous_key: Option<[u8; 16]>,
    /// Connections accepted by a cookie whose handshake has not ended; beyond, SYNs open in three
    /// ways and their data is not taken (RFC 7413 §5.1).
    pub pending: usize,
}

impl FastOpen {
    /// With `key`, no other, and 256 pending connections.
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key, previous_key: None, pending: 256 }
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
    /// The SYN was lost, or so it seemed.
    pub(crate) syn_lost: bool,
}
