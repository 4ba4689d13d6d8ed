//! Parts of the connections that are compared by themselves.
//!
//! The remembered window, the network, the length of its prefix, and the rates and losses of its
//! earlier connections are known before chance decides. A comparison within one of these parts is
//! as good as one of all, and connections of the part can be stopped. The bytes of a connection are
//! known when it has closed. A faster start may deliver more before a user gives up, so a
//! comparison by bytes describes, and stops nothing.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Upper bounds of the classes of remembered windows, segments. Each is twice the one before; the
/// first is hardly more than a stock window.
pub const WINDOWS: [u32; 4] = [16, 32, 64, 128];
/// Upper bounds of the classes of acknowledged bytes: powers of 4 from the payload of ten segments.
pub const SIZES: [u64; 4] = [16_384, 65_536, 262_144, 1_048_576];

/// Upper bounds of the classes of losses: segments of a thousand that earlier connections of a path
/// retransmitted. Powers of 4.
pub const LOSSES: [u32; 3] = [1, 4, 16];

/// Length of a prefix that is remembered as one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PrefixLength {
    /// True for IPv4, false for IPv6.
    pub is_v4: bool,
    /// Length of the prefix, of 32 or 128 bits.
    pub bits: u8,
}

/// Part of the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryPart {
    /// All compared connections.
    All,
    /// Connections whose memory has a window of this class, [`WINDOWS`] and larger.
    Window(u8),
    /// Connections to prefixes of this length.
    Length(PrefixLength),
    /// Connections to paths whose earlier connections were acknowledged bytes of this class in the
    /// mean, [`SIZES`] and more.
    Carried(u8),
    /// Connections to paths whose earlier connections retransmitted segments of this class,
    /// [`LOSSES`] and more.
    Lost(u8),
    /// Connections to one network.
    Network(IpNet),
    /// Connections that delivered bytes of this class, [`SIZES`] and more.
    Bytes(u8),
}

/// Returns the parts that the servers of a site compare together: all connections, classes of paths
/// by the bytes carried before, and classes of connections by the bytes delivered. Networks and
/// windows of one host are not those of another.
pub fn fleet_parts() -> impl Iterator<Item = CanaryPart> {
    let classes = || 0..=SIZES.len() as u8;
    let parts = classes().map(CanaryPart::Carried).chain(classes().map(CanaryPart::Bytes));
    std::iter::once(CanaryPart::All).chain(parts)
}

/// Returns the class of a remembered window, segments. See [`WINDOWS`].
pub fn window_class(segments: u32) -> u8 {
    WINDOWS.partition_point(|most| *most < segments) as u8
}

/// Returns the class of a number of acknowledged bytes. See [`SIZES`].
pub fn size_class(bytes: u64) -> u8 {
    SIZES.partition_point(|most| *most < bytes) as u8
}

impl CanaryPart {
    /// Returns the network, if the part is one.
    pub const fn network(self) -> Option<IpNet> {
        match self {
            Self::Network(network) => Some(network),
            _ => None,
        }
    }
}

impl PrefixLength {
    /// Returns the length of a network's prefix.
    pub fn of(network: IpNet) -> Self {
        Self { is_v4: matches!(network, IpNet::V4(_)), bits: network.prefix_len() }
    }
}

impl CanaryPart {
    /// Returns true if it is known before a connection starts whether it is of the part.
    pub const fn can_be_stopped(self) -> bool {
        !matches!(self, Self::Bytes(_))
    }
}

impl Display for PrefixLength {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} /{}", if self.is_v4 { "IPv4" } else { "IPv6" }, self.bits)
    }
}

/// Writes the name of a class with its upper bound; `None` for the highest class.
fn class(f: &mut Formatter<'_>, what: &str, bound: Option<impl Display>) -> fmt::Result {
    match bound {
        Some(most) => write!(f, "{what} to {most}"),
        None => write!(f, "{what} beyond"),
    }
}

impl Display for CanaryPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Window(n) => class(f, "window", WINDOWS.get(usize::from(*n))),
            Self::Length(length) => length.fmt(f),
            Self::Carried(n) => class(f, "path carried", SIZES.get(usize::from(*n))),
            Self::Lost(n) => {
                let percent = LOSSES.get(usize::from(*n)).map(|most| f64::from(*most) / 10.0);
                class(f, "path lost", percent.map(|most| format!("{most} %")))
            }
            Self::Network(network) => write!(f, "network {network}"),
            Self::Bytes(n) => class(f, "bytes", SIZES.get(usize::from(*n))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_ends_with_its_own_bound() {
        assert_eq!([0, 16_384, 16_385, 1_048_576, 1_048_577].map(size_class), [0, 0, 1, 3, 4]);
        assert_eq!([11, 16, 17, 128, 129, 1024].map(window_class), [0, 0, 1, 3, 4, 4]);
    }

    #[test]
    fn parts_have_names() {
        let length = CanaryPart::Length(PrefixLength { is_v4: true, bits: 24 });
        let parts = [CanaryPart::All, CanaryPart::Window(1), CanaryPart::Bytes(4), length];
        let names = parts.map(|part| part.to_string());
        assert_eq!(names, ["all", "window to 32", "bytes beyond", "IPv4 /24"]);
        let network = CanaryPart::Network("192.0.2.0/24".parse().unwrap());
        let parts = [CanaryPart::Carried(1), CanaryPart::Lost(1), CanaryPart::Lost(3), network];
        let names = parts.map(|part| part.to_string());
        let expected = [
            "path carried to 65536",
            "path lost to 0.4 %",
            "path lost beyond",
            "network 192.0.2.0/24",
        ];
        assert_eq!(names, expected);
    }
}
