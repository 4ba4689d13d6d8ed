//! What a connection is looked up by: its two ends, whichever of them has sent a segment.

use capture::{Observed, TcpEnd};
use std::net::{IpAddr, Ipv4Addr};

/// The two ends of a connection, the lower one first: two words for IPv4, since every segment is looked up.
pub(super) type EndsV4 = (u64, u64);
pub(super) type EndsV6 = (TcpEnd, TcpEnd);

/// What a segment is looked up by; `swapped`: its sender is the higher end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndsKey {
    V4 { ends: EndsV4, swapped: bool },
    V6 { ends: EndsV6, swapped: bool },
}

impl EndsKey {
    pub(super) fn between(source: &TcpEnd, destination: &TcpEnd) -> Self {
        if let (IpAddr::V4(from), IpAddr::V4(to)) = (source.ip, destination.ip) {
            let (from, to) = (word_of(from, source.port), word_of(to, destination.port));
            return Self::V4 { ends: (from.min(to), from.max(to)), swapped: from > to };
        }
        let swapped = source > destination;
        let ends = if swapped { (*destination, *source) } else { (*source, *destination) };
        Self::V6 { ends, swapped }
    }

    pub(super) fn of(segment: &Observed) -> Self {
        Self::between(&segment.source, &segment.destination)
    }

    pub(super) const fn is_swapped(&self) -> bool {
        match self {
            Self::V4 { swapped, .. } | Self::V6 { swapped, .. } => *swapped,
        }
    }
}

/// An end of IPv4.
#[inline]
pub(super) fn word_of(ip: Ipv4Addr, port: u16) -> u64 {
    u64::from(u32::from(ip)) << 16 | u64::from(port)
}
