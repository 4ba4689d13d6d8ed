//! IPv4 and IPv6 with their extension headers, and the contents of IP tunnels.

use super::label::Carrier;
use super::protocol::NetworkProtocol;
use super::{PacketRest, tunnel};
use crate::counters::NotASegment;
use crate::observed::Observed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Protocol numbers (IANA).
const IPV6_HOP_BY_HOP: u8 = 0;
const ICMP: u8 = 1;
const IPV4: u8 = 4;
pub(super) const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const IPV6_ROUTING: u8 = 43;
const IPV6_FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const ESP: u8 = 50;
const AUTHENTICATION: u8 = 51;
const ICMPV6: u8 = 58;
const IPV6_DESTINATION: u8 = 60;
const HIP: u8 = 139;
const SHIM6: u8 = 140;

/// Maximum number of nested tunnels; more count as an attack on readers of captures.
const MAX_TUNNELS: usize = 4;
/// Maximum number of extension headers of a packet (RFC 8200 §4.1 lists seven).
const MAX_EXTENSIONS: usize = 12;

/// Reads IP headers down to TCP, and notes the innermost in `slot`.
#[inline]
pub(super) fn read(
    protocol: NetworkProtocol,
    rest: &mut PacketRest<'_>,
    slot: &mut Observed,
) -> Result<(), NotASegment> {
    let carried = header(protocol, rest, slot)?;
    if carried == TCP {
        return Ok(());
    }
    // A copy is passed, so that the original can stay in registers.
    let mut inner = *rest;
    let read = through_tunnels(carried, &mut inner, slot);
    *rest = inner;
    read
}

/// Reads contents of IP other than TCP.
#[cold]
fn through_tunnels(
    mut carried: u8,
    rest: &mut PacketRest<'_>,
    slot: &mut Observed,
) -> Result<(), NotASegment> {
    for _ in 0..MAX_TUNNELS {
        rest.set_carrier(Carrier::Tunnel(ends_of(slot)));
        let protocol = match carried {
            UDP => tunnel::in_udp(rest)?,
            ICMP | ICMPV6 => return Err(NotASegment::Icmp),
            ESP => return Err(NotASegment::Encrypted),
            IPV4 => NetworkProtocol::V4,
            IPV6 => NetworkProtocol::V6,
            GRE => tunnel::in_gre(rest)?,
            _ => return Err(NotASegment::OtherTransport),
        };
        carried = header(protocol, rest, slot)?;
        if carried == TCP {
            return Ok(());
        }
    }
    Err(NotASegment::Tunnelled)
}

/// Returns a number of both addresses of a packet, the same in either direction.
fn ends_of(slot: &Observed) -> u32 {
    let number = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => u32::from(ip),
        IpAddr::V6(ip) => ip.segments().into_iter().fold(0, |number: u32, half| {
            number.rotate_left(5).wrapping_mul(31).wrapping_add(half.into())
        }),
    };
    number(slot.source.ip).wrapping_add(number(slot.destination.ip))
}

/// Reads an IP header with its extensions, and returns the protocol of the next header.
#[inline]
pub(super) fn header(
    protocol: NetworkProtocol,
    rest: &mut PacketRest<'_>,
    slot: &mut Observed,
) -> Result<u8, NotASegment> {
    let [first] = *rest.head()?;
    match first >> 4 {
        4 if protocol != NetworkProtocol::V6 => v4(rest, slot),
        6 if protocol != NetworkProtocol::V4 => v6(rest, slot),
        _ if protocol == NetworkProtocol::Ip => Err(NotASegment::NotIp),
        _ => Err(NotASegment::Malformed),
    }
}

/// RFC 791 §3.1.
#[inline]
fn v4(rest: &mut PacketRest<'_>, slot: &mut Observed) -> Result<u8, NotASegment> {
    const MORE_FRAGMENTS: u16 = 0x2000;
    const OFFSET: u16 = 0x1fff;
    let head: &[u8; 20] = rest.head()?;
    let header = usize::from(head[0] & 15) * 4;
    let total = u32::from(u16::from_be_bytes([head[2], head[3]]));
    // A super-segment of more than 64 KiB does not fit the field.
    if total != 0 {
        rest.length = total;
    }
    if header < head.len() {
        return Err(NotASegment::Malformed);
    }
    let fragment = u16::from_be_bytes([head[6], head[7]]);
    if fragment & OFFSET != 0 {
        return Err(NotASegment::LaterFragment);
    }
    rest.is_fragment |= fragment & MORE_FRAGMENTS != 0;
    slot.source.ip = IpAddr::V4(Ipv4Addr::new(head[12], head[13], head[14], head[15]));
    slot.destination.ip = IpAddr::V4(Ipv4Addr::new(head[16], head[17], head[18], head[19]));
    slot.ttl = head[8];
    slot.traffic_class = head[1];
    slot.ip_id = u32::from(u16::from_be_bytes([head[4], head[5]]));
    rest.skip(header)?;
    if head[9] == AUTHENTICATION { extensions(head[9], rest, false) } else { Ok(head[9]) }
}

/// RFC 8200 §3.
#[inline]
fn v6(rest: &mut PacketRest<'_>, slot: &mut Observed) -> Result<u8, NotASegment> {
    let head: &[u8; 40] = rest.head()?;
    let [a, b, c, d] = [head[0], head[1], head[2], head[3]].map(u32::from);
    let payload = u32::from(u16::from_be_bytes([head[4], head[5]]));
    // A jumbo payload (RFC 2675), or a super-segment, does not fit the field.
    if payload != 0 {
        rest.length = 40 + payload;
    }
    let (addresses, _) = head[8..].as_chunks::<16>();
    slot.source.ip = IpAddr::V6(Ipv6Addr::from(addresses[0]));
    slot.destination.ip = IpAddr::V6(Ipv6Addr::from(addresses[1]));
    slot.ttl = head[7];
    slot.traffic_class = (a << 4 | b >> 4) as u8;
    slot.ip_id = (b & 15) << 16 | c << 8 | d;
    rest.skip(40)?;
    if head[6] == TCP { Ok(TCP) } else { extensions(head[6], rest, true) }
}

/// Skips extension headers of IPv6 (RFC 8200 §4), and authentication (RFC 4302 §2) also of IPv4.
#[inline]
fn extensions(protocol: u8, rest: &mut PacketRest<'_>, is_v6: bool) -> Result<u8, NotASegment> {
    // A copy is returned, so that the original can stay in registers.
    let mut behind = *rest;
    let carried = skip_extensions(protocol, &mut behind, is_v6);
    *rest = behind;
    carried
}

#[cold]
fn skip_extensions(
    mut protocol: u8,
    rest: &mut PacketRest<'_>,
    is_v6: bool,
) -> Result<u8, NotASegment> {
    for _ in 0..=MAX_EXTENSIONS {
        let header = match protocol {
            AUTHENTICATION => {
                let [_, words] = rest.head::<2>()?;
                (usize::from(*words) + 2) * 4
            }
            IPV6_FRAGMENT if is_v6 => {
                note_fragment(rest)?;
                8
            }
            IPV6_HOP_BY_HOP | IPV6_ROUTING | IPV6_DESTINATION | HIP | SHIM6 if is_v6 => {
                let [_, units] = rest.head::<2>()?;
                (usize::from(*units) + 1) * 8
            }
            _ => return Ok(protocol),
        };
        [protocol] = *rest.head()?;
        rest.skip(header)?;
    }
    Err(NotASegment::Malformed)
}

/// RFC 8200 §4.5: the offset in the upper 13 bits of bytes 2 and 3, whether more follow in the
/// lowest.
fn note_fragment(rest: &mut PacketRest<'_>) -> Result<(), NotASegment> {
    let head: &[u8; 8] = rest.head()?;
    let field = u16::from_be_bytes([head[2], head[3]]);
    if field >> 3 != 0 {
        return Err(NotASegment::LaterFragment);
    }
    rest.is_fragment |= field & 1 != 0;
    Ok(())
}
