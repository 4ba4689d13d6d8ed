//! The TCP header (RFC 9293 §3.1).

use super::Rest;
use crate::observed::Observed;
use crate::tally::NotASegment;
use segment::{Flags, TCP_HEADER};
use units::SeqNum;

/// Reads a segment into `slot`.
#[inline]
pub(super) fn read(rest: Rest<'_>, slot: &mut Observed) -> Result<(), NotASegment> {
    const SHORTEST: usize = TCP_HEADER as usize;
    let head: &[u8; SHORTEST] = rest.head()?;
    let half = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let word = |at| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let header = usize::from(head[12] >> 4) * 4;
    let payload = rest.length.checked_sub(header as u32);
    slot.payload = payload.filter(|_| header >= SHORTEST).ok_or(NotASegment::Malformed)?;
    slot.source.port = half(0);
    slot.destination.port = half(2);
    slot.seq = SeqNum(word(4));
    slot.ack = SeqNum(word(8));
    slot.window = half(14);
    slot.flags = Flags(head[13]);
    let captured = rest.bytes.len().min(header);
    slot.options.read(&rest.bytes[SHORTEST..captured], captured < header);
    Ok(())
}

/// Bytes of a header, as it says.
pub(super) fn header_len(bytes: &[u8]) -> Option<usize> {
    bytes.get(12).map(|field| usize::from(field >> 4) * 4)
}
