//! The clients that may see the status page.

use std::net::IpAddr;

/// Clients that may read the status page, which shows connections of all clients. To others it does
/// not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusAccess {
    /// No client.
    Nobody,
    /// Clients at these addresses.
    Only(Vec<IpAddr>),
    /// Every client.
    Everybody,
}

impl StatusAccess {
    pub(crate) fn allows(&self, client: IpAddr) -> bool {
        match self {
            Self::Nobody => false,
            Self::Only(addresses) => addresses.contains(&client),
            Self::Everybody => true,
        }
    }
}
