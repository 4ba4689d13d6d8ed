//! Queries for engines that keep the stream's bytes outside the core: the bytes of a segment that
//! are new. None changes state; stream offsets count payload bytes from the stream's first.

use super::{Connection, State};
use crate::segment::{Flags, Segment};
use std::ops::Range;

impl Connection {
    /// Returns the stream offset of the first payload byte of `segment`; `None` if the segment
    /// begins before the SYN. The offset is −1 if the byte has the sequence number of the peer's
    /// SYN: the segment is acceptable (RFC 9293 §3.10.7.4), and the stream begins with its second
    /// byte.
    pub fn payload_offset(&self, segment: &Segment) -> Option<i64> {
        let first = segment.seq + u32::from(segment.has(Flags::SYN));
        // The peer's SYN has offset 0 in its sequence space.
        Some(self.receiver.offset_of(first)? as i64 - 1)
    }

    /// Appends to `gaps` the parts of the payload of `segment` that have not been received,
    /// ascending, as stream offsets `[left, right)`.
    pub fn gaps(&self, segment: &Segment, gaps: &mut Vec<(u64, u64)>) {
        if self.state == State::SynSent {
            // The SYN in the segment defines the start of the stream.
            if segment.has(Flags::SYN) && segment.len > 0 {
                gaps.push((0, segment.len.into()));
            }
            return;
        }
        let Some(offset) = self.payload_offset(segment) else { return };
        // Bytes below the stream do not count.
        let (mut left, right) = (offset.max(0) as u64, (offset + i64::from(segment.len)) as u64);
        while left < right {
            let arrived = self.arrived_until(left);
            if arrived > left {
                left = arrived;
                continue;
            }
            let end =
                self.receiver.next_arrived(left + 1).map_or(right, |next| right.min(next - 1));
            gaps.push((left, end));
            left = end;
        }
    }

    /// Bytes behind the first gap that the application may use; 0 under a scheme whose application
    /// takes all in order.
    #[inline]
    pub(crate) fn usable_beyond(&self) -> u64 {
        self.receiver.usable_beyond()
    }

    /// Ranges received behind the first gap, ascending, as stream offsets.
    pub fn beyond(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.receiver.beyond().map(|(left, right)| left - 1..right - 1)
    }

    /// Returns the end of the data received without a gap from stream offset `from`; `from` itself
    /// if that byte is missing.
    pub fn arrived_until(&self, from: u64) -> u64 {
        self.receiver.arrived_until(from + 1) - 1
    }
}
