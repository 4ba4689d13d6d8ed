//! Frames of wireless networks (IEEE 802.11-2020 §9.2), as monitors capture them, with or without
//! radiotap.

use super::super::PacketRest;
use super::super::protocol::NetworkProtocol;
use super::ethertype;
use crate::counters::NotASegment;

/// Flags of a radiotap header, which describe the frame after it.
#[derive(Clone, Copy, Debug, Default)]
struct RadioFlags(u8);

impl RadioFlags {
    /// The frame's header is followed by padding up to four bytes.
    const PADDED: u8 = 0x20;
    /// The frame was received with errors.
    const DAMAGED: u8 = 0x40;

    const fn has_flag(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// Radiotap (<https://www.radiotap.org>): version 0, padding, length, and words that say which
/// fields are present, of which the first two are a time of eight bytes and flags.
pub(super) fn radiotap(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    let head: &[u8; 8] = rest.head()?;
    let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
    if head[0] != 0 || length < head.len() {
        return Err(NotASegment::Malformed);
    }
    let fields = rest.bytes.get(..length).ok_or(NotASegment::Cut)?;
    let flags = flags_of(fields).unwrap_or_default();
    rest.skip(length)?;
    if flags.has_flag(RadioFlags::DAMAGED) {
        return Err(NotASegment::Malformed);
    }
    frame(rest, flags)
}

/// Returns the flags of a radiotap header, if they are present.
fn flags_of(header: &[u8]) -> Option<RadioFlags> {
    const HAS_TIME: u32 = 1;
    const HAS_FLAGS: u32 = 2;
    const HAS_MORE: u32 = 1 << 31;
    let words = header.get(4..)?.as_chunks::<4>().0;
    let more = words.iter().take_while(|word| u32::from_le_bytes(**word) & HAS_MORE != 0).count();
    let present = u32::from_le_bytes(*words.first()?);
    // After the words, the offset of each field from the header's first byte is a multiple of its
    // size.
    let fields_at = 4 + 4 * (more + 1);
    let flags_at = match present & HAS_TIME {
        0 => fields_at,
        _ => fields_at.next_multiple_of(8) + 8,
    };
    (present & HAS_FLAGS != 0).then(|| header.get(flags_at).map(|&flags| RadioFlags(flags)))?
}

/// Reads a frame without radiotap.
pub(super) fn read_bare_frame(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    frame(rest, RadioFlags::default())
}

/// A frame of data: 24 bytes, a fourth address between access points, two bytes of quality of
/// service, and four more if one of the control bits says so. Then the header of IEEE 802.2.
fn frame(rest: &mut PacketRest<'_>, flags: RadioFlags) -> Result<NetworkProtocol, NotASegment> {
    const TYPE: u8 = 0x0f;
    const DATA: u8 = 0x08;
    const NO_DATA: u8 = 0x40;
    const HAS_QUALITY: u8 = 0x80;
    const BETWEEN_POINTS: u8 = 0x03;
    const MORE_FRAGMENTS: u8 = 0x04;
    const PROTECTED: u8 = 0x40;
    const HAS_CONTROL: u8 = 0x80;
    let head: &[u8; 24] = rest.head()?;
    let [kind, control] = [head[0], head[1]];
    if kind & TYPE != DATA || kind & NO_DATA != 0 {
        return Err(NotASegment::NotIp);
    }
    if control & PROTECTED != 0 {
        return Err(NotASegment::WirelessEncrypted);
    }
    // The lower four bits of the sequence control are the fragment's number.
    if head[22] & 0x0f != 0 {
        return Err(NotASegment::LaterFragment);
    }
    rest.is_fragment |= control & MORE_FRAGMENTS != 0;
    let addresses = if control & BETWEEN_POINTS == BETWEEN_POINTS { 30 } else { 24 };
    let has_quality = kind & HAS_QUALITY != 0;
    let length = match (has_quality, control & HAS_CONTROL != 0) {
        (false, _) => addresses,
        (true, false) => addresses + 2,
        (true, true) => addresses + 6,
    };
    let is_aggregate = has_quality && is_aggregate(rest.bytes.get(addresses));
    rest.skip(if flags.has_flag(RadioFlags::PADDED) {
        usize::next_multiple_of(length, 4)
    } else {
        length
    })?;
    if is_aggregate {
        // Several packets in a frame.
        return Err(NotASegment::Tunnelled);
    }
    logical_link(rest)
}

/// Returns true if the quality of service announces several packets in one frame (A-MSDU).
fn is_aggregate(quality: Option<&u8>) -> bool {
    quality.is_some_and(|quality| quality & 0x80 != 0)
}

/// IEEE 802.2 with SNAP (RFC 1042): three bytes, an organisation's code of zeros, or that of
/// bridges (IEEE 802.1H), and the EtherType.
fn logical_link(rest: &mut PacketRest<'_>) -> Result<NetworkProtocol, NotASegment> {
    let head: &[u8; 8] = rest.take()?;
    match head {
        [0xaa, 0xaa, 3, 0, 0, 0 | 0xf8, a, b] => ethertype(u16::from_be_bytes([*a, *b]), rest),
        _ => Err(NotASegment::NotIp),
    }
}
