//! Headers of tunnels between one IP header and the next: GRE with ERSPAN, and over UDP VXLAN,
//! Geneve, GTP-U and GRE.

use super::PacketRest;
use super::label::Carrier;
use super::link::{ethernet, ethertype};
use super::protocol::NetworkProtocol;
use crate::counters::{NotASegment, UdpDatagram, UdpUse};

/// The EtherType of a whole frame.
const ETHERNET: u16 = 0x6558;
/// ERSPAN (draft-foschiano-erspan §4): types I and II, and type III.
const ERSPAN: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;
/// UDP ports of tunnels: VXLAN (RFC 7348 §5, and Linux before that), Geneve (RFC 8926 §3.3), GTP-U
/// (3GPP TS 29.281 §4.4.2) and GRE (RFC 8086 §8.1).
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
const GRE: u16 = 4754;

/// Skips GRE (RFC 2784 §2, RFC 2890 §2): four bytes, then checksum, key and number, four bytes each
/// if their flags are set. Source routes and version 1 (PPTP) are not decoded.
pub(super) fn in_gre(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const CHECKSUM: u16 = 0x8000;
    const KEY: u16 = 0x2000;
    const NUMBER: u16 = 0x1000;
    let head: &[u8; 4] = rest.take()?;
    let flags = u16::from_be_bytes([head[0], head[1]]);
    let carried = u16::from_be_bytes([head[2], head[3]]);
    if flags & !(CHECKSUM | KEY | NUMBER) != 0 {
        return Err(NotASegment::Tunnelled);
    }
    if flags & CHECKSUM != 0 {
        rest.skip(4)?;
    }
    if flags & KEY != 0 {
        let key = u32::from_be_bytes(*rest.take()?);
        rest.set_carrier(Carrier::GreKey(key));
    }
    if flags & NUMBER != 0 {
        rest.skip(4)?;
    }
    match carried {
        ERSPAN if flags & NUMBER == 0 => ethernet(rest),
        ERSPAN => erspan_2(rest),
        ERSPAN_3 => erspan_3(rest),
        _ => inner_protocol(carried, rest),
    }
}

/// Skips ERSPAN type II: eight bytes, with the VLAN in the lower 12 bits of the first two, and the
/// session in the lower ten of the next.
fn erspan_2(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const VERSION: u8 = 1;
    let head: &[u8; 8] = rest.take()?;
    enter_session(VERSION, [head[0], head[1], head[2], head[3]], rest)?;
    ethernet(rest)
}

/// Skips ERSPAN type III: twelve bytes, and eight more if the last bit is set. The contents are an
/// Ethernet frame, or an IP packet.
fn erspan_3(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const VERSION: u8 = 2;
    const HAS_MORE: u8 = 1;
    let head: &[u8; 12] = rest.take()?;
    enter_session(VERSION, [head[0], head[1], head[2], head[3]], rest)?;
    if head[11] & HAS_MORE != 0 {
        rest.skip(8)?;
    }
    match head[10] >> 2 & 0x1f {
        0 => ethernet(rest),
        2 => Ok(NetworkProtocol::Ip),
        _ => Err(NotASegment::Tunnelled),
    }
}

/// Notes VLAN and session of a header of this version of ERSPAN.
fn enter_session(version: u8, head: [u8; 4], rest: &mut PacketRest<'_>) -> Result<(), NotASegment> {
    if head[0] >> 4 != version {
        return Err(NotASegment::Tunnelled);
    }
    rest.set_carrier(Carrier::ErspanSession(u16::from_be_bytes([head[2], head[3]]) & 0x03ff));
    rest.set_carrier(Carrier::Vlan(u16::from_be_bytes([head[0], head[1]]) & 0x0fff));
    Ok(())
}

/// Skips UDP (RFC 768): eight bytes; its port determines which tunnel may follow. A datagram of no
/// tunnel counts as UDP, with the use that its bytes show.
pub(super) fn in_udp(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    let head: &[u8; 8] = rest.take().map_err(|_| NotASegment::Udp)?;
    let [from, to, length] =
        [[head[0], head[1]], [head[2], head[3]], [head[4], head[5]]].map(u16::from_be_bytes);
    match to {
        GENEVE => geneve(rest),
        GTP_U => gtp(rest),
        GRE => {
            rest.udp = UdpUse::GreOverUdp;
            in_gre(rest)
        }
        port if VXLAN.contains(&port) => vxlan(rest),
        _ => {
            let length = length.saturating_sub(head.len() as u16);
            rest.udp = UdpUse::of(&UdpDatagram { ports: [from, to], length, bytes: rest.bytes });
            Err(NotASegment::Udp)
        }
    }
}

/// Skips VXLAN (RFC 7348 §5): eight bytes, with a flag for the network's number in the first, and a
/// frame. Reserved bytes of zero distinguish it from other uses of its ports. They may hold a
/// group's number (draft-smith-vxlan-group-policy §2).
fn vxlan(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const HAS_NUMBER: u8 = 0x08;
    const HAS_GROUP: u8 = 0x80;
    let head: &[u8; 8] = rest.take().map_err(|_| NotASegment::Udp)?;
    let has = |flag: u8| head[0] & flag != 0;
    let is_clear = head[1..4] == [0; 3] || has(HAS_GROUP);
    if !has(HAS_NUMBER) || !is_clear || head[7] != 0 {
        return Err(NotASegment::Udp);
    }
    rest.udp = UdpUse::Vxlan;
    rest.set_carrier(Carrier::VirtualNetwork(u32::from_be_bytes([0, head[4], head[5], head[6]])));
    ethernet(rest)
}

/// Skips Geneve (RFC 8926 §3.4): eight bytes, and options, whose number of words is in the first
/// byte. Its version, and reserved bits of zero, distinguish it from other uses of its port.
fn geneve(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const WORDS: u8 = 0x3f;
    const RESERVED: u8 = 0x3f;
    let head: &[u8; 8] = rest.take().map_err(|_| NotASegment::Udp)?;
    if head[0] & !WORDS != 0 || head[1] & RESERVED != 0 || head[7] != 0 {
        return Err(NotASegment::Udp);
    }
    rest.udp = UdpUse::Geneve;
    rest.set_carrier(Carrier::VirtualNetwork(u32::from_be_bytes([0, head[4], head[5], head[6]])));
    rest.skip(4 * usize::from(head[0] & WORDS))?;
    inner_protocol(u16::from_be_bytes([head[2], head[3]]), rest)
}

/// Skips GTP-U (3GPP TS 29.281 §5.1): eight bytes, and four more if any of three flags is set. The
/// last of the four names an extension header, as does the last byte of each extension header
/// (§5.2.1). In a message that carries a packet, IP follows at once.
fn gtp(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const VERSION_AND_TYPE: u8 = 0xf0;
    const VERSION_1: u8 = 0x30;
    const HAS_EXTENSION: u8 = 4;
    const HAS_MORE: u8 = 7;
    const PACKET: u8 = 255;
    const MAX_EXTENSIONS: usize = 8;
    let head: &[u8; 8] = rest.take().map_err(|_| NotASegment::Udp)?;
    if head[0] & VERSION_AND_TYPE != VERSION_1 {
        return Err(NotASegment::Udp);
    }
    rest.udp = UdpUse::GtpU;
    if head[1] != PACKET {
        return Err(NotASegment::Udp);
    }
    rest.set_carrier(Carrier::Gtp(u32::from_be_bytes([head[4], head[5], head[6], head[7]])));
    if head[0] & HAS_MORE == 0 {
        return Ok(NetworkProtocol::Ip);
    }
    let &[_, _, _, mut next] = rest.take()?;
    for _ in 0..MAX_EXTENSIONS {
        if next == 0 || head[0] & HAS_EXTENSION == 0 {
            return Ok(NetworkProtocol::Ip);
        }
        let length = 4 * usize::from(rest.head::<1>()?[0]);
        let last = length.checked_sub(1).ok_or(NotASegment::Malformed)?;
        next = *rest.bytes.get(last).ok_or(NotASegment::Cut)?;
        rest.skip(length)?;
    }
    Err(NotASegment::Tunnelled)
}

/// Returns the protocol that an EtherType within a tunnel announces.
fn inner_protocol(carried: u16, rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    if carried == ETHERNET {
        return ethernet(rest);
    }
    ethertype(carried, rest).map_err(|why| match why {
        NotASegment::NotIp => NotASegment::Tunnelled,
        _ => why,
    })
}
