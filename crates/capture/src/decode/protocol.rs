//! The protocol of a network layer.

/// The protocol that follows a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkProtocol {
    /// IPv4 or IPv6, by its first bits.
    Ip,
    V4,
    V6,
}
