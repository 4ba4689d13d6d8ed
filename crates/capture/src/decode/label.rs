//! Encapsulation between a frame and its IP header in provider networks: MPLS labels and PPPoE
//! sessions. Labels distinguish networks and tunnels, since two networks may have the same
//! addresses.

use super::PacketRest;
use super::protocol::NetworkProtocol;
use crate::counters::NotASegment;

/// Maximum number of labels on a packet; more than a few are rare.
const MAX_LABELS: usize = 8;

/// An encapsulation that distinguishes several networks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carrier {
    /// A VLAN; 0 is no VLAN, only a priority (IEEE 802.1Q).
    Vlan(u16),
    Mpls(u32),
    PppoeSession(u16),
    /// A network of VXLAN or Geneve.
    VirtualNetwork(u32),
    GreKey(u32),
    Gtp(u32),
    ErspanSession(u16),
    /// A tunnel between two addresses, whichever of them sends.
    Tunnel(u32),
}

impl Carrier {
    /// Returns the label of this carrier's contents; `outer` is the label of the carrier itself.
    pub(super) fn label_of_contents(self, outer: u16) -> u16 {
        /// Hashes have this bit. VLAN numbers are lower, which keeps a single VLAN apart from all
        /// hashes.
        const HASHED: u16 = 0x1000;
        let (kind, number) = match self {
            Self::Vlan(0) => return outer,
            Self::Vlan(number) if outer == 0 => return number,
            Self::Vlan(number) => (0, number.into()),
            Self::Mpls(number) => (1, number),
            Self::PppoeSession(number) => (2, number.into()),
            Self::VirtualNetwork(number) => (3, number),
            Self::GreKey(number) => (4, number),
            Self::Gtp(number) => (5, number),
            Self::ErspanSession(number) => (6, number.into()),
            Self::Tunnel(number) => (7, number),
        };
        let all = u64::from(outer) << 40 | kind << 32 | u64::from(number);
        // The golden ratio, an odd number without a pattern: the upper bits of the product depend
        // on all.
        (all.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as u16 | HASHED
    }
}

/// Skips MPLS labels (RFC 3032 §2.1): four bytes each, with a flag in the last one. They do not
/// name the next protocol. It is IP if its version and its length are those of IP (RFC 4928 §3);
/// otherwise it may be a frame, which is not decoded.
pub(super) fn in_mpls(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const LAST: u8 = 1;
    for _ in 0..MAX_LABELS {
        let label: &[u8; 4] = rest.take()?;
        rest.set_carrier(Carrier::Mpls(u32::from_be_bytes(*label) >> 12));
        if label[2] & LAST != 0 {
            return version_of(rest).ok_or(NotASegment::Tunnelled);
        }
    }
    Err(NotASegment::Tunnelled)
}

/// Returns the version of the IP header that a packet begins with, if it can be one.
fn version_of(rest: &PacketRest<'_>) -> Option<NetworkProtocol> {
    let head: &[u8; 6] = rest.head().ok()?;
    let half = |at: usize| u32::from(u16::from_be_bytes([head[at], head[at + 1]]));
    let fits = |length: u32| length <= rest.length;
    match head[0] {
        // The header has five words at least (RFC 791 §3.1).
        0x45..=0x4f => fits(half(2)).then_some(NetworkProtocol::V4),
        0x60..=0x6f => fits(40 + half(4)).then_some(NetworkProtocol::V6),
        _ => None,
    }
}

/// Skips the header of a PPPoE session (RFC 2516 §4): six bytes, and PPP.
pub(super) fn in_pppoe(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    /// Version 1, type 1, and code 0: data.
    const DATA: [u8; 2] = [0x11, 0];
    let head: &[u8; 6] = rest.take()?;
    rest.set_carrier(Carrier::PppoeSession(u16::from_be_bytes([head[2], head[3]])));
    let protocol = if head[..2] == DATA { in_ppp(rest)? } else { None };
    protocol.ok_or(NotASegment::Tunnelled)
}

/// Skips PPP (RFC 1661 §2): address and control of two bytes, which may be missing (§6.6), and the
/// protocol. A first byte of zero of the protocol may be missing (§6.5): only the last byte is odd.
/// Returns `None` if the protocol is not IP (RFC 1332 §4, RFC 5072 §2).
pub(super) fn in_ppp(rest: &mut PacketRest<'_>) -> Result<Option<NetworkProtocol>, NotASegment> {
    /// All stations, unnumbered information.
    const ADDRESS_AND_CONTROL: [u8; 2] = [0xff, 3];
    if rest.head()? == &ADDRESS_AND_CONTROL {
        rest.skip(ADDRESS_AND_CONTROL.len())?;
    }
    let &[first] = rest.take()?;
    let protocol = match first & 1 {
        1 => u16::from(first),
        _ => u16::from_be_bytes([first, rest.take::<1>()?[0]]),
    };
    Ok(match protocol {
        0x0021 => Some(NetworkProtocol::V4),
        0x0057 => Some(NetworkProtocol::V6),
        _ => None,
    })
}
