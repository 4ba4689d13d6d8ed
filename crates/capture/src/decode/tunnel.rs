//! Headers of tunnels between one IP header and the next: GRE, VXLAN, Geneve.

use super::Rest;
use super::link::{ethernet, ethertype};
use super::protocol::NetworkProtocol;
use crate::tally::NotASegment;

/// The EtherType of a whole frame.
const ETHERNET: u16 = 0x6558;
/// Ports of UDP to which tunnels go: VXLAN (RFC 7348 §5, and Linux before that), and Geneve (RFC 8926 §3.3).
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;

/// GRE (RFC 2784 §2, RFC 2890 §2): four bytes, then checksum, key and number, four bytes each where flags
/// say so. Source routes and version 1 (PPTP) are not looked into.
pub(super) fn in_gre(rest: &mut Rest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const CHECKSUM: u16 = 0x8000;
    const KEY: u16 = 0x2000;
    const NUMBER: u16 = 0x1000;
    let head: &[u8; 4] = rest.head()?;
    let flags = u16::from_be_bytes([head[0], head[1]]);
    let carried = u16::from_be_bytes([head[2], head[3]]);
    if flags & !(CHECKSUM | KEY | NUMBER) != 0 {
        return Err(NotASegment::Tunnelled);
    }
    rest.skip(4 + 4 * flags.count_ones() as usize)?;
    inside(carried, rest)
}

/// UDP (RFC 768): eight bytes; its port says which tunnel may follow. A datagram of no tunnel counts as UDP.
pub(super) fn in_udp(rest: &mut Rest<'_>) -> Result<NetworkProtocol, NotASegment> {
    let head: &[u8; 8] = rest.head().map_err(|_| NotASegment::Udp)?;
    let port = u16::from_be_bytes([head[2], head[3]]);
    let mut behind = *rest;
    behind.skip(head.len())?;
    let tunnel = match port {
        GENEVE => geneve(&behind),
        port if VXLAN.contains(&port) => vxlan(&behind),
        _ => None,
    };
    let (header, carried) = tunnel.ok_or(NotASegment::Udp)?;
    rest.skip(head.len() + header)?;
    inside(carried, rest)
}

/// VXLAN (RFC 7348 §5): eight bytes, of which the first says that there is a network's number. Answers their length, and
/// the EtherType of what follows. Bytes that have to be zero tell it from other uses of its ports, unless a group's number is in them
/// (draft-smith-vxlan-group-policy §2).
fn vxlan(rest: &Rest<'_>) -> Option<(usize, u16)> {
    const HAS_NUMBER: u8 = 0x08;
    const HAS_GROUP: u8 = 0x80;
    let head: &[u8; 8] = rest.head().ok()?;
    let has = |flag: u8| head[0] & flag != 0;
    let is_clear = head[1..4] == [0; 3] || has(HAS_GROUP);
    (has(HAS_NUMBER) && is_clear && head[7] == 0).then_some((8, ETHERNET))
}

/// Geneve (RFC 8926 §3.4): eight bytes, and options of as many words as the first byte says. Answers their length, and the
/// EtherType of what follows. Its version, and bits that have to be zero, tell it from other uses of its port.
fn geneve(rest: &Rest<'_>) -> Option<(usize, u16)> {
    const WORDS: u8 = 0x3f;
    const RESERVED: u8 = 0x3f;
    let head: &[u8; 8] = rest.head().ok()?;
    let is_geneve = head[0] & !WORDS == 0 && head[1] & RESERVED == 0 && head[7] == 0;
    let length = 8 + 4 * usize::from(head[0] & WORDS);
    is_geneve.then(|| (length, u16::from_be_bytes([head[2], head[3]])))
}

/// What an EtherType within a tunnel says that follows.
fn inside(carried: u16, rest: &mut Rest<'_>) -> Result<NetworkProtocol, NotASegment> {
    if carried == ETHERNET {
        return ethernet(rest);
    }
    ethertype(carried, rest).map_err(|why| match why {
        NotASegment::NotIp => NotASegment::Tunnelled,
        _ => why,
    })
}
