//! The reasons in ICMP messages for packets that were not delivered.

/// The reason that an ICMP message gives for a packet that was not delivered (RFC 1122 §4.2.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// No route to the network or host; a failed source route. A soft error: it may pass.
    Route,
    /// The hop limit was used up on the path. A soft error.
    TimeExceeded,
    /// The host does not speak TCP. A hard error.
    Protocol,
    /// The host says that the port is closed. A hard error.
    Port,
    /// A filter on the path forbids it. A hard error of an attempt to connect.
    Prohibited,
}

impl Unreachable {
    /// True if trying again is of no use (RFC 1122 §4.2.3.9).
    pub const fn is_hard(self) -> bool {
        matches!(self, Self::Protocol | Self::Port | Self::Prohibited)
    }
}
