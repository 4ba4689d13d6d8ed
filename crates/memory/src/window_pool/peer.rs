//! The other end of a connection, and which memory answers for it.

use crate::Scope;
use std::net::IpAddr;

/// A peer as a connection's last start found it (`path` of the agent's `struct connection`). If
/// siblings teach its line after that, the connection's window is still the network's, and so is
/// its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredPeer {
    /// Its address.
    pub address: IpAddr,
    /// The entry that answers, its line's or its network's; `None`: its line's if there is one.
    pub by: Option<Scope>,
}

impl From<IpAddr> for AnsweredPeer {
    fn from(address: IpAddr) -> Self {
        Self { address, by: None }
    }
}
