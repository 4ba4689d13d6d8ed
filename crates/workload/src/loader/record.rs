//! Records of a load for tables and waterfalls.

use super::LoadConnId;
use crate::page::HostId;
use std::fmt;
use units::Instant;

/// Times of one object's milestones; `None` for those that have not occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Milestones {
    /// The browser knew that it needs the object.
    pub discovered: Option<Instant>,
    /// Time at which its request was written to a connection.
    pub requested: Option<Instant>,
    /// Time at which the first byte of its response was delivered.
    pub first_byte: Option<Instant>,
    /// Time at which its last byte was delivered.
    pub done: Option<Instant>,
    /// The connection that carried it.
    pub connection: Option<LoadConnId>,
    /// Header and body bytes delivered.
    pub received_bytes: u64,
}

/// Times of one connection's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionRecord {
    /// Host of the connection.
    pub host: HostId,
    /// The browser began to look up its host's name; `None` if the connection waited for no lookup.
    pub lookup: Option<Instant>,
    /// The loader wanted it, and knew its host's address.
    pub opened: Instant,
    /// TCP was established.
    pub connected: Option<Instant>,
    /// TLS was too, if there is any: requests could be sent.
    pub ready: Option<Instant>,
    /// Either side closed it.
    pub closed: Option<Instant>,
}

/// Reason why an object will never be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Its connection ended before its last byte, or could not be opened.
    ConnectionClosed,
    /// The object that reveals it failed.
    NeverDiscovered,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConnectionClosed => "its connection ended before its last byte",
            Self::NeverDiscovered => "the object that reveals it failed",
        })
    }
}
