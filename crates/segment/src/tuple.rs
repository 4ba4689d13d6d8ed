//! Identification of a host's connections.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

/// A connection's number within its host. Numbers of closed connections are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// Local port and remote address of a connection, as its host sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FourTuple {
    /// Our port.
    pub local_port: u16,
    /// The peer's address.
    pub remote: IpAddr,
    /// The peer's port.
    pub remote_port: u16,
}

impl Hash for FourTuple {
    /// Hashes an IPv4 tuple as one word, because every segment is looked up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ports = u64::from(self.local_port) << 16 | u64::from(self.remote_port);
        match self.remote {
            IpAddr::V4(address) => state.write_u64(u64::from(u32::from(address)) << 32 | ports),
            IpAddr::V6(address) => {
                state.write_u128(address.into());
                state.write_u64(ports);
            }
        }
    }
}

/// A connection with this four-tuple exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TupleInUse(pub FourTuple);

impl fmt::Display for TupleInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FourTuple { local_port, remote, remote_port } = self.0;
        write!(f, "port {local_port} is connected to {remote} port {remote_port} already")
    }
}

impl std::error::Error for TupleInUse {}
