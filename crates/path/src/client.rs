//! The client of a connection, if several clients share the other host.

/// The client at the other host that uses a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProxyClient {
    /// A client with a number from the application.
    Named(u64),
    /// A client of its own: the connection's local and remote port.
    Own(u16, u16),
}
