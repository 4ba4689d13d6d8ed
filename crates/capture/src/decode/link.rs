//! Link layers: Ethernet with VLAN tags, Linux cooked captures, BSD loopback, raw IP; and those
//! that are rare.

mod host;
mod wireless;

use super::PacketRest;
use super::label::{self, Carrier};
use super::protocol::NetworkProtocol;
use crate::counters::NotASegment;
use crate::link_type::LinkType;
use crate::observed::{Observed, PacketDirection};

/// Skips the link layer, and notes its information in `slot`.
#[inline]
pub(super) fn skip_link_header(
    link: LinkType,
    rest: &mut PacketRest<'_>,
    slot: &mut Observed,
) -> Result<NetworkProtocol, NotASegment> {
    match link {
        LinkType::Ethernet => ethernet(rest),
        LinkType::Raw => Ok(NetworkProtocol::Ip),
        LinkType::Loopback => loopback(rest),
        LinkType::LinuxSll => sll(rest, slot),
        LinkType::LinuxSll2 => sll2(rest, slot),
        _ => {
            // A copy is passed on, so that the original can stay in registers.
            let mut behind = *rest;
            let protocol = rare_link(link, &mut behind);
            *rest = behind;
            protocol
        }
    }
}

#[cold]
fn rare_link(link: LinkType, rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    match link {
        LinkType::Ppp => label::in_ppp(rest)?.ok_or(NotASegment::NotIp),
        LinkType::Pppoe => label::in_pppoe(rest),
        LinkType::Wireless => wireless::read_bare_frame(rest),
        LinkType::Radiotap => wireless::radiotap(rest),
        LinkType::Nflog => host::nflog(rest),
        LinkType::Pktap => match host::pktap(rest)? {
            LinkType::Ethernet => ethernet(rest),
            LinkType::Raw => Ok(NetworkProtocol::Ip),
            LinkType::Loopback => loopback(rest),
            LinkType::Pktap => Err(NotASegment::UnknownLink),
            inner => rare_link(inner, rest),
        },
        _ => Err(NotASegment::UnknownLink),
    }
}

/// Skips Ethernet, IEEE 802.3 §3.1.1: two addresses of six bytes each, and the EtherType.
#[inline]
pub(super) fn ethernet(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    let head: &[u8; 14] = rest.take()?;
    ethertype(u16::from_be_bytes([head[12], head[13]]), rest)
}

const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;
const IPV6: u16 = 0x86dd;
/// EtherTypes of IEEE 802.1Q and 802.1ad, and those in use before the latter.
const VLAN: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// MPLS (RFC 3032 §5), unicast and multicast.
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Sessions of PPPoE (RFC 2516 §4).
const PPPOE: u16 = 0x8864;
/// Maximum number of tags on a frame; more than a provider's and a customer's are rare.
const MAX_TAGS: usize = 4;

/// Returns the protocol that an EtherType announces, after VLAN tags.
#[inline]
pub(super) fn ethertype(
    ethertype: u16,
    rest: &mut PacketRest<'_>,
) -> Result<NetworkProtocol, NotASegment> {
    match ethertype {
        IPV4 => Ok(NetworkProtocol::V4),
        IPV6 => Ok(NetworkProtocol::V6),
        _ => {
            // A copy is passed on, so that the original can stay in registers.
            let mut behind = *rest;
            let protocol = rare_ethertype(ethertype, &mut behind);
            *rest = behind;
            protocol
        }
    }
}

#[cold]
fn rare_ethertype(
    mut ethertype: u16,
    rest: &mut PacketRest<'_>,
) -> Result<NetworkProtocol, NotASegment> {
    for _ in 0..=MAX_TAGS {
        match ethertype {
            IPV4 => return Ok(NetworkProtocol::V4),
            IPV6 => return Ok(NetworkProtocol::V6),
            ARP => return Err(NotASegment::Arp),
            tag if VLAN.contains(&tag) => {
                let head: &[u8; 4] = rest.head()?;
                ethertype = u16::from_be_bytes([head[2], head[3]]);
                rest.set_carrier(Carrier::Vlan(u16::from_be_bytes([head[0], head[1]]) & 0x0fff));
                rest.skip(4)?;
            }
            PPPOE => return label::in_pppoe(rest),
            labelled if MPLS.contains(&labelled) => return label::in_mpls(rest),
            _ => return Err(NotASegment::NotIp),
        }
    }
    Err(NotASegment::Malformed)
}

/// Reads an address family of four bytes, in either order: all families are small numbers.
fn loopback(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    let head = *rest.take::<4>()?;
    match u32::from_be_bytes(head).min(u32::from_le_bytes(head)) {
        2 => Ok(NetworkProtocol::V4),
        // Linux and Windows; NetBSD, OpenBSD and BSD/OS; FreeBSD; macOS.
        10 | 23 | 24 | 28 | 30 => Ok(NetworkProtocol::V6),
        _ => Err(NotASegment::NotIp),
    }
}

/// Skips LINKTYPE_LINUX_SLL: packet type, ARP hardware type, length and bytes of the sender's
/// address, and the protocol in the last two of 16 bytes.
fn sll(rest: &mut PacketRest<'_>, slot: &mut Observed) -> Result<NetworkProtocol, NotASegment> {
    let head: &[u8; 16] = rest.take()?;
    slot.direction = direction(u16::from_be_bytes([head[0], head[1]]));
    ethertype(u16::from_be_bytes([head[14], head[15]]), rest)
}

/// Skips LINKTYPE_LINUX_SLL2: protocol, 2 bytes reserved, interface index, ARP hardware type,
/// packet type of one byte, length and bytes of the address; 20 bytes.
fn sll2(rest: &mut PacketRest<'_>, slot: &mut Observed) -> Result<NetworkProtocol, NotASegment> {
    let head: &[u8; 20] = rest.take()?;
    slot.direction = direction(u16::from(head[10]));
    slot.interface = u16::from_be_bytes([head[6], head[7]]);
    ethertype(u16::from_be_bytes([head[0], head[1]]), rest)
}

/// Converts packet types of Linux (`PACKET_HOST` and so on in `if_packet.h`).
const fn direction(packet_type: u16) -> PacketDirection {
    match packet_type {
        0..=2 => PacketDirection::In,
        4 => PacketDirection::Out,
        // The packet is for another host: it was seen on the way.
        _ => PacketDirection::Unknown,
    }
}
