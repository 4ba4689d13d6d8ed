//! The TCP header (RFC 9293 §3.1).

use super::PacketRest;
use crate::counters::NotASegment;
use crate::observed::Observed;
use crate::tls::TlsHead;
use segment::{Flags, TCP_HEADER};
use units::SeqNum;

const SHORTEST: usize = TCP_HEADER as usize;
/// The bits of all flags in the 16 bits that begin with the data offset.
const ALL_FLAGS: u16 = 0x1FF;

/// Reads a segment into `slot`.
#[inline]
pub(super) fn read(rest: PacketRest<'_>, slot: &mut Observed) -> Result<(), NotASegment> {
    let head: &[u8; SHORTEST] = rest.head()?;
    let header = header_bytes(head[12]);
    let payload = rest.length.checked_sub(header as u32);
    slot.payload = payload.filter(|_| header >= SHORTEST).ok_or(NotASegment::Malformed)?;
    read_fixed(head, slot);
    let captured = rest.bytes.len().min(header);
    slot.options.read(&rest.bytes[SHORTEST..captured], captured < header);
    slot.tls = TlsHead::of(&rest.bytes[captured..], slot.payload);
    Ok(())
}

/// Reads the fields that every header has.
#[inline]
pub(super) fn read_fixed(head: &[u8; SHORTEST], slot: &mut Observed) {
    let half = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let word = |at| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    slot.source.port = half(0);
    slot.destination.port = half(2);
    slot.seq = SeqNum(word(4));
    slot.ack = SeqNum(word(8));
    slot.window = half(14);
    // The lowest bit before the byte of the other flags is AE (RFC 9768 §3.1).
    slot.flags = Flags(half(12) & ALL_FLAGS);
}

/// Returns the bytes of a header, by its byte with the offset of the data.
#[inline]
pub(super) const fn header_bytes(offset: u8) -> usize {
    (offset >> 4) as usize * 4
}

/// Returns the length of a header, by its own field.
pub(super) fn header_len(bytes: &[u8]) -> Option<usize> {
    bytes.get(12).map(|&offset| header_bytes(offset))
}
