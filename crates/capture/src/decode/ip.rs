//! IPv4 and IPv6 with their extension headers, and what IP carries in tunnels.

use super::Rest;
use super::link::{NetworkProtocol, ethernet, ethertype};
use crate::tally::NotASegment;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an IP header says of the segment that it carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct IpPacket<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) ttl: u8,
    pub(super) traffic_class: u8,
    /// Identification, or flow label.
    pub(super) id: u32,
    /// The first of several fragments.
    pub(super) is_fragment: bool,
    pub(super) protocol: u8,
    pub(super) rest: Rest<'a>,
}

/// Protocol numbers (IANA).
const IPV6_HOP_BY_HOP: u8 = 0;
const ICMP: u8 = 1;
const IPV4: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const IPV6_ROUTING: u8 = 43;
const IPV6_FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const ESP: u8 = 50;
const AUTHENTICATION: u8 = 51;
const ICMPV6: u8 = 58;
const IPV6_DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HIP: u8 = 139;
const SHIM6: u8 = 140;

/// Tunnels within tunnels; more are taken to be an attack on readers of captures.
const MOST_TUNNELS: usize = 4;
/// Extension headers of a packet (RFC 8200 §4.1 lists seven).
const MOST_EXTENSIONS: usize = 12;

/// Reads IP headers down to TCP.
#[inline]
pub(super) fn read(
    mut protocol: NetworkProtocol,
    mut rest: Rest<'_>,
) -> Result<IpPacket<'_>, NotASegment> {
    for _ in 0..=MOST_TUNNELS {
        let packet = header(protocol, rest)?;
        if packet.protocol == TCP {
            return Ok(packet);
        }
        (protocol, rest) = tunnelled(&packet)?;
    }
    Err(NotASegment::Tunnelled)
}

/// What a tunnel carries.
#[cold]
fn tunnelled<'a>(packet: &IpPacket<'a>) -> Result<(NetworkProtocol, Rest<'a>), NotASegment> {
    match packet.protocol {
        UDP => Err(NotASegment::Udp),
        ICMP | ICMPV6 => Err(NotASegment::Icmp),
        ESP => Err(NotASegment::Encrypted),
        IPV4 => Ok((NetworkProtocol::V4, packet.rest)),
        IPV6 => Ok((NetworkProtocol::V6, packet.rest)),
        GRE => gre(packet.rest),
        _ => Err(NotASegment::OtherTransport),
    }
}

/// GRE (RFC 2784 §2, RFC 2890 §2): four bytes, then checksum, key and number, four bytes each where flags
/// say so. Source routes and version 1 (PPTP) are not looked into.
fn gre(rest: Rest<'_>) -> Result<(NetworkProtocol, Rest<'_>), NotASegment> {
    const CHECKSUM: u16 = 0x8000;
    const KEY: u16 = 0x2000;
    const NUMBER: u16 = 0x1000;
    const ETHERNET: u16 = 0x6558;
    let head: &[u8; 4] = rest.head()?;
    let flags = u16::from_be_bytes([head[0], head[1]]);
    let carried = u16::from_be_bytes([head[2], head[3]]);
    if flags & !(CHECKSUM | KEY | NUMBER) != 0 {
        return Err(NotASegment::Tunnelled);
    }
    let words = 1 + (flags & (CHECKSUM | KEY | NUMBER)).count_ones() as usize;
    let rest = rest.behind(4 * words)?;
    match carried {
        ETHERNET => ethernet(rest),
        _ => ethertype(carried, rest).map_err(|why| match why {
            NotASegment::NotIp => NotASegment::Tunnelled,
            _ => why,
        }),
    }
}

#[inline]
fn header(protocol: NetworkProtocol, rest: Rest<'_>) -> Result<IpPacket<'_>, NotASegment> {
    let [first] = *rest.head()?;
    match (first >> 4, protocol) {
        (4, NetworkProtocol::Ip | NetworkProtocol::V4) => v4(rest),
        (6, NetworkProtocol::Ip | NetworkProtocol::V6) => v6(rest),
        (_, NetworkProtocol::Ip) => Err(NotASegment::NotIp),
        _ => Err(NotASegment::Malformed),
    }
}

/// RFC 791 §3.1.
#[inline]
fn v4(rest: Rest<'_>) -> Result<IpPacket<'_>, NotASegment> {
    const MORE_FRAGMENTS: u16 = 0x2000;
    const OFFSET: u16 = 0x1fff;
    let head: &[u8; 20] = rest.head()?;
    let header = usize::from(head[0] & 15) * 4;
    let total = u32::from(u16::from_be_bytes([head[2], head[3]]));
    // A super-segment of more than 64 KiB does not fit the field.
    let length = if total == 0 { rest.length } else { total };
    if header < head.len() || (length as usize) < header {
        return Err(NotASegment::Malformed);
    }
    let fragment = u16::from_be_bytes([head[6], head[7]]);
    if fragment & OFFSET != 0 {
        return Err(NotASegment::LaterFragment);
    }
    let packet = IpPacket {
        source: IpAddr::V4(Ipv4Addr::new(head[12], head[13], head[14], head[15])),
        destination: IpAddr::V4(Ipv4Addr::new(head[16], head[17], head[18], head[19])),
        ttl: head[8],
        traffic_class: head[1],
        id: u32::from(u16::from_be_bytes([head[4], head[5]])),
        is_fragment: fragment & MORE_FRAGMENTS != 0,
        protocol: head[9],
        rest: Rest { length, ..rest }.behind(header)?,
    };
    if packet.protocol == AUTHENTICATION { extensions(packet) } else { Ok(packet) }
}

/// RFC 8200 §3.
#[inline]
fn v6(rest: Rest<'_>) -> Result<IpPacket<'_>, NotASegment> {
    let head: &[u8; 40] = rest.head()?;
    let [a, b, c, d] = [head[0], head[1], head[2], head[3]].map(u32::from);
    let payload = u32::from(u16::from_be_bytes([head[4], head[5]]));
    // A jumbo payload (RFC 2675), or a super-segment, does not fit the field.
    let length = if payload == 0 { rest.length } else { 40 + payload };
    let [source, destination] =
        [*head[8..].first_chunk().unwrap(), *head[24..].first_chunk().unwrap()]
            .map(|bytes: [u8; 16]| IpAddr::V6(Ipv6Addr::from(bytes)));
    let packet = IpPacket {
        source,
        destination,
        ttl: head[7],
        traffic_class: (a << 4 | b >> 4) as u8,
        id: (b & 15) << 16 | c << 8 | d,
        is_fragment: false,
        protocol: head[6],
        rest: Rest { length, ..rest }.behind(40)?,
    };
    if packet.protocol == TCP { Ok(packet) } else { extensions(packet) }
}

/// Skips extension headers of IPv6 (RFC 8200 §4), and authentication (RFC 4302 §2) also of IPv4.
#[cold]
fn extensions(mut packet: IpPacket<'_>) -> Result<IpPacket<'_>, NotASegment> {
    let is_v6 = packet.source.is_ipv6();
    for _ in 0..=MOST_EXTENSIONS {
        let header = match packet.protocol {
            AUTHENTICATION => {
                let [_, words] = packet.rest.head::<2>()?;
                (usize::from(*words) + 2) * 4
            }
            IPV6_FRAGMENT if is_v6 => {
                note_fragment(&mut packet)?;
                8
            }
            IPV6_HOP_BY_HOP | IPV6_ROUTING | IPV6_DESTINATION | MOBILITY | HIP | SHIM6 if is_v6 => {
                let [_, units] = packet.rest.head::<2>()?;
                (usize::from(*units) + 1) * 8
            }
            _ => return Ok(packet),
        };
        let [next] = *packet.rest.head()?;
        packet.rest = packet.rest.behind(header)?;
        packet.protocol = next;
    }
    Err(NotASegment::Malformed)
}

/// RFC 8200 §4.5: the offset in the upper 13 bits of bytes 2 and 3, whether more follow in the lowest.
fn note_fragment(packet: &mut IpPacket<'_>) -> Result<(), NotASegment> {
    let head: &[u8; 8] = packet.rest.head()?;
    let field = u16::from_be_bytes([head[2], head[3]]);
    if field >> 3 != 0 {
        return Err(NotASegment::LaterFragment);
    }
    packet.is_fragment |= field & 1 != 0;
    Ok(())
}
