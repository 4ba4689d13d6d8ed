//! How a host tells its connections apart.

use std::net::IpAddr;

/// Local port and remote address of a connection, as its host sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FourTuple {
    /// Our port.
    pub local_port: u16,
    /// The peer's address.
    pub remote: IpAddr,
    /// The peer's port.
    pub remote_port: u16,
}
