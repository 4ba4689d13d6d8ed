//! The headers of nearly all segments: IPv4 without options and not fragmented, and a TCP header.
//!
//! A single length check for both headers halves the time of a packet. All other packets, and
//! damaged ones, are for the layers one by one (`ip`, `tcp`), which must read these headers in the
//! same way.

use super::PacketRest;
use super::ip::TCP;
use super::protocol::NetworkProtocol;
use super::tcp;
use crate::observed::Observed;
use crate::tls::TlsHead;
use std::net::{IpAddr, Ipv4Addr};

/// Size of an IPv4 header without options, bytes.
const IP: usize = 20;
/// Size of both headers without options, bytes.
const BOTH: usize = 40;
/// Version 4, and five words of header (RFC 791 §3.1).
const VERSION_AND_WORDS: u8 = 0x45;
/// Mask of the flag for more fragments, and of the offset.
const FRAGMENT: u16 = 0x3fff;

/// Reads a segment with these headers into `slot`. Returns `false`, with the slot unchanged, if it
/// has others.
#[inline]
pub(super) fn read(protocol: NetworkProtocol, rest: &PacketRest<'_>, slot: &mut Observed) -> bool {
    let Some((head, behind)) = rest.bytes.split_first_chunk::<BOTH>() else { return false };
    let half = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let total = usize::from(half(2));
    let header = tcp::header_bytes(head[IP + 12]);
    let is_plain = head[0] == VERSION_AND_WORDS && head[9] == TCP && half(6) & FRAGMENT == 0;
    let is_whole = header >= BOTH - IP && total >= IP + header && rest.length as usize >= BOTH;
    if protocol == NetworkProtocol::V6 || !is_plain || !is_whole {
        return false;
    }
    slot.source.ip = IpAddr::V4(Ipv4Addr::from_octets([head[12], head[13], head[14], head[15]]));
    slot.destination.ip =
        IpAddr::V4(Ipv4Addr::from_octets([head[16], head[17], head[18], head[19]]));
    slot.ttl = head[8];
    slot.traffic_class = head[1];
    slot.ip_id = u32::from(half(4));
    slot.payload = (total - IP - header) as u32;
    let (_, tcp) = head.split_at(IP);
    if let Some(tcp) = tcp.first_chunk() {
        tcp::read_fixed(tcp, slot);
    }
    let options = header - (BOTH - IP);
    let captured = behind.len().min(options);
    slot.options.read(&behind[..captured], captured < options);
    slot.tls = TlsHead::of(&behind[captured..], slot.payload);
    slot.label = rest.label;
    true
}
