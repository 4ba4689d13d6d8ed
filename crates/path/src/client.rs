//! For whom a connection is there, where several clients stand behind the other host.

/// For whom of those behind the other host a connection is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProxyClient {
    /// For one that the application has given a number.
    Named(u64),
    /// For one of its own: the connection's local and remote port.
    Own(u16, u16),
}
