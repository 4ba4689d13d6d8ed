//! The record of nearly all segments: classic pcap, Ethernet, IPv4 without options and not
//! fragmented, TCP with timestamps alone, whose payload does not begin with a TLS record.
//!
//! A single length check covers all that is read, and one test covers all possible faults. Any
//! other record is for the steps one by one ([`super::pcap`], [`crate::decode`]), which must read
//! this kind of record in the same way.

use super::LONGEST_PACKET;
use super::pcap::{Pcap, RECORD};
use crate::decode::{USUAL_HEADERS, USUAL_LOOK, UsualPacket};
use crate::link_type::LinkType;
use units::Instant;

/// Number of bytes of a record that are read. Without payload, the last two are of the next record.
const LOOKED_AT: usize = RECORD + USUAL_LOOK;
/// Fractions of a second that may be the version in the header of an appended file.
const VERSIONS: [u32; 2] = [0x0004_0002, 0x0400_0200];

/// The head of a usual record, and the headers of its packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualRecord<'a> {
    pub(crate) at: Instant,
    /// Number of captured bytes of the packet.
    pub(crate) captured: u32,
    /// Number of bytes on the wire.
    pub(crate) length: u32,
    pub(crate) packet: UsualPacket<'a>,
}

impl<'a> UsualRecord<'a> {
    /// Returns the size of the whole record, bytes.
    #[inline]
    pub(crate) const fn bytes(&self) -> usize {
        RECORD + self.captured as usize
    }

    /// Returns the record that `bytes` begin with; `None` if it may be of another kind, or is
    /// incomplete.
    #[inline]
    pub(crate) fn of(pcap: &Pcap, bytes: &'a [u8]) -> Option<Self> {
        let head: &[u8; LOOKED_AT] = bytes.first_chunk()?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let [seconds, fraction, captured, length] = [word(0), word(4), word(8), word(12)];
        let is_whole = USUAL_HEADERS as u32 <= captured
            && captured <= LONGEST_PACKET
            && RECORD + captured as usize <= bytes.len();
        let is_time = fraction < pcap.units && !VERSIONS.contains(&fraction);
        if !is_whole || !is_time {
            return None;
        }
        let (_, packet) = head.split_at(RECORD);
        let packet = UsualPacket::of(packet.first_chunk()?)?;
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction * pcap.unit);
        let at = Instant::from_nanos(nanos);
        Some(Self { at, captured, length: length.max(captured), packet })
    }

    /// Returns true if a file may have records of this kind.
    pub(crate) fn may_be_in(pcap: &Pcap) -> bool {
        !pcap.order.is_big && pcap.link == LinkType::Ethernet
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FrameHead, Step};
    use super::*;
    use crate::counters::CaptureCounters;
    use crate::decode::decode;
    use crate::observed::Observed;
    use proptest::prelude::*;

    /// Returns the header of a file: version 2.4, microseconds, Ethernet, in the byte order of x86.
    fn pcap() -> Pcap {
        let words: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 96, 1];
        let header: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Pcap::from_header(&header).expect("a header")
    }

    /// Returns a record of a segment with 100 bytes of payload, of which 10 are captured.
    fn record() -> Vec<u8> {
        let head: [u32; 4] = [1_700_000_000, 250_000, 76, 166];
        let mut record: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        record.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00]);
        record.extend([
            0x45, 0, 0, 152, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7,
        ]);
        record.extend([0, 80, 0x9c, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 0x80, 0x18, 1, 0xf5, 0, 0, 0, 0]);
        record.extend([1, 1, 8, 10, 0, 0, 1, 0, 0, 0, 2, 0]);
        record.extend([0; 10]);
        record
    }

    /// Reads the record by the steps one by one; `None` if it is no segment, or incomplete.
    fn step_by_step(bytes: &[u8]) -> Option<(usize, Observed, CaptureCounters)> {
        let (mut head, mut slot, mut counters) =
            (FrameHead::NONE, Observed::default(), CaptureCounters::default());
        let step = pcap().next_item(bytes, &mut head).ok()?;
        let (Step::Frame, record) = (step, head.record as usize) else { return None };
        decode(&head.frame(&bytes[..record]), &mut counters, &mut slot)
            .then_some((record, slot, counters))
    }

    fn at_once(bytes: &[u8]) -> Option<(usize, Observed, CaptureCounters)> {
        let record = UsualRecord::of(&pcap(), bytes)?;
        let (mut slot, mut counters) = (Observed::default(), CaptureCounters::default());
        record.packet.decode(record.at, record.captured, record.length, &mut counters, &mut slot);
        Some((record.bytes(), slot, counters))
    }

    /// 192.0.2.1:80 to 198.51.100.7:40000; 152 - 52 = 100 bytes of payload; 16 + 76 bytes of
    /// record.
    #[test]
    fn a_usual_record_is_read() {
        let (bytes, segment, counters) = at_once(&record()).expect("a usual one");
        assert_eq!(
            (bytes, counters.segments, counters.wire_bytes, counters.captured_bytes),
            (92, 1, 166, 76)
        );
        assert_eq!(segment.source.to_string(), "192.0.2.1:80");
        assert_eq!(segment.destination.to_string(), "198.51.100.7:40000");
        assert_eq!(
            (segment.payload, segment.seq.0, segment.ack.0),
            (100, 0x0102_0304, 0x0506_0708)
        );
        assert_eq!((segment.window, segment.ip_id, segment.ttl), (0x1f5, 0x1234, 64));
        let stamps = segment.options.timestamps().map(|stamps| (stamps.value, stamps.echo));
        assert_eq!(stamps, Some((256, 512)));
        assert_eq!(segment.at.as_nanos(), 1_700_000_000_250_000_000);
    }

    proptest! {
        /// For any changed bytes and any cut, a record that is read at once is the same when read
        /// step by step.
        #[test]
        fn what_is_read_at_once_is_read_step_by_step(
            edits in proptest::collection::vec((0_usize..92, any::<u8>()), 0..4),
            cut in 0_usize..8,
        ) {
            let mut bytes = record();
            for (at, byte) in edits {
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len() + 4 - cut);
            if let Some(read) = at_once(&bytes) {
                prop_assert_eq!(Some(read), step_by_step(&bytes));
            }
        }
    }
}
