//! Headers that operating systems put before packets: NFLOG of Linux, PKTAP of macOS.

use super::super::PacketRest;
use super::super::protocol::NetworkProtocol;
use crate::counters::NotASegment;
use crate::link_type::LinkType;

/// NFLOG (`nfnetlink_log.h`): the address family, a version, a group; then attributes of length,
/// type and value, each padded to four bytes. The numbers have the byte order of the host, which
/// the types show: they are small, and none is 0.
pub(super) fn nflog(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    const PAYLOAD: u16 = 9;
    /// All bits except those for nested values and for their byte order.
    const TYPE: u16 = 0x3fff;
    const SMALL: u8 = 0x3f;
    const MAX_ATTRIBUTES: usize = 64;
    let &[family, ..] = rest.take::<4>()?;
    let protocol = match family {
        2 => NetworkProtocol::V4,
        10 => NetworkProtocol::V6,
        // Bridges log packets of any protocol.
        _ => NetworkProtocol::Ip,
    };
    for _ in 0..MAX_ATTRIBUTES {
        let &[a, b, c, d] = rest.take()?;
        let is_big = c & SMALL == 0;
        let half =
            |bytes| if is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
        let (length, kind) = (half([a, b]), half([c, d]));
        if kind & TYPE == PAYLOAD {
            return Ok(protocol);
        }
        let value = length.checked_sub(4).ok_or(NotASegment::Malformed)?;
        rest.skip(usize::from(value).next_multiple_of(4))?;
    }
    Err(NotASegment::Malformed)
}

/// PKTAP (`pktap.h` of macOS): the length of the header, the type of what follows, and the link
/// type of its frame, in the byte order of the host.
pub(super) fn pktap(rest: &mut PacketRest<'_>) -> Result<LinkType, NotASegment> {
    const PACKET: u32 = 1;
    /// The header has grown with versions of macOS, to 156 bytes.
    const LONGEST: u32 = 1 << 12;
    let head: &[u8; 12] = rest.head()?;
    let word = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
    let is_little = u32::from_le_bytes(word(0)) <= LONGEST;
    let number =
        |at| if is_little { u32::from_le_bytes(word(at)) } else { u32::from_be_bytes(word(at)) };
    let [length, kind, link] = [number(0), number(4), number(8)];
    if length > LONGEST || (length as usize) < head.len() {
        return Err(NotASegment::Malformed);
    }
    if kind != PACKET {
        return Err(NotASegment::NotIp);
    }
    rest.skip(length as usize)?;
    u16::try_from(link).map(LinkType::of).map_err(|_| NotASegment::UnknownLink)
}
