//! The protocol of a network layer.

/// The protocol that follows a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkProtocol {
    /// IPv4 or IPv6, as its first bits say.
    Ip,
    V4,
    V6,
}
