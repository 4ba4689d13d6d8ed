//! The script's numbers and the host's.
//!
//! The host draws its initial sequence number and its clock of timestamps; the script has its own.
//! SYNs have the numbers that the script calls them. All other segments count from the SYNs: 0 is
//! the SYN, 1 the first byte, on both sides, as in packetdrill. Timestamps are relative to the
//! first one that the host sends.

use std::collections::BTreeMap;
use tcp::{Flags, SackBlocks, Segment, Timestamps};
use units::SeqNum;

/// Offsets that turn a number of the script into the host's, modulo 2^32.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    /// The host's initial sequence number, and what the script calls it.
    local: Option<(u32, u32)>,
    /// The peer's.
    remote: Option<u32>,
    timestamps: Option<u32>,
    /// Host's values of timestamps that the script has named.
    named_timestamps: BTreeMap<u32, u32>,
}

impl Numbering {
    /// Learns from a segment that the host sent where the script expected `expected`.
    pub(super) fn learn_offset(&mut self, expected: &Segment, sent: &Segment) {
        if sent.has(Flags::SYN) {
            // A retransmitted SYN keeps its number.
            self.local.get_or_insert((sent.seq.0, expected.seq.0));
            if sent.has(Flags::ACK) {
                self.remote.get_or_insert(sent.ack.0.wrapping_sub(1));
            }
        }
        let values = (expected.options.timestamps, sent.options.timestamps);
        if let (Some(expected), Some(sent)) = values {
            self.timestamps.get_or_insert(sent.value.wrapping_sub(expected.value));
            self.named_timestamps.insert(expected.value, sent.value);
        }
    }

    /// The host's number for a `relative` one of the script, which counts from its SYN.
    pub(super) fn of_host(&self, relative: u32) -> SeqNum {
        SeqNum(self.local.map_or(0, |(host, _)| host)) + relative
    }

    fn local_offset(&self, syn: bool) -> u32 {
        let (host, script) = self.local.unwrap_or_default();
        if syn { host.wrapping_sub(script) } else { host }
    }

    fn remote_offset(&self, syn: bool) -> u32 {
        if syn { 0 } else { self.remote.unwrap_or(0) }
    }

    /// A segment of the script's peer as the host must see it; of a first SYN the number is learnt.
    pub(super) fn translate_inbound(&mut self, segment: &Segment) -> Segment {
        let mut out = *segment;
        let syn = segment.has(Flags::SYN);
        if syn && self.remote.is_none() {
            self.remote = Some(segment.seq.0);
        }
        out.seq = segment.seq + self.remote_offset(syn);
        if segment.has(Flags::ACK) {
            out.ack = segment.ack + self.local_offset(syn);
        }
        out.options.sack = shift_blocks(&segment.options.sack, self.local_offset(false));
        out.options.timestamps =
            segment.options.timestamps.map(|ts| Timestamps { echo: self.echo(ts.echo), ..ts });
        out
    }

    /// A segment of the host as the script sees it.
    pub(super) fn to_script(&self, segment: &Segment) -> Segment {
        let mut out = *segment;
        let syn = segment.has(Flags::SYN);
        out.seq = segment.seq + self.local_offset(syn).wrapping_neg();
        if segment.has(Flags::ACK) {
            out.ack = segment.ack + self.remote_offset(syn).wrapping_neg();
        }
        out.options.sack =
            shift_blocks(&segment.options.sack, self.remote_offset(false).wrapping_neg());
        out.options.timestamps = segment.options.timestamps.map(|ts| Timestamps {
            value: ts.value.wrapping_sub(self.timestamps.unwrap_or(0)),
            ..ts
        });
        out
    }

    /// The host's value of what the script echoes; zero stands for none (RFC 7323 §3.2).
    fn echo(&self, script: u32) -> u32 {
        match (self.named_timestamps.get(&script), self.timestamps) {
            (Some(value), _) => *value,
            (None, Some(offset)) if script != 0 => script.wrapping_add(offset),
            _ => script,
        }
    }
}

fn shift_blocks(blocks: &SackBlocks, offset: u32) -> SackBlocks {
    let mut out = SackBlocks::default();
    for (left, right) in blocks.as_slice() {
        out.push(SeqNum(left.0) + offset, SeqNum(right.0) + offset);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_near_the_wrap_is_numbered_from_the_script_s_zero() {
        let mut numbering = Numbering::default();
        let mut syn = Segment { flags: Flags::SYN, ..Segment::default() };
        let expected = syn;
        syn.seq = SeqNum(u32::MAX);
        numbering.learn_offset(&expected, &syn);
        // The host's 2^32 - 1 is the script's 0, so its 4 is the script's 5.
        let data = Segment { seq: SeqNum(4), ..Segment::default() };
        assert_eq!(numbering.to_script(&data).seq, SeqNum(5));
        let ack = Segment { flags: Flags::ACK, ack: SeqNum(5), ..Segment::default() };
        assert_eq!(numbering.translate_inbound(&ack).ack, SeqNum(4));
    }

    #[test]
    fn syns_have_their_numbers_and_all_else_counts_from_them() {
        let mut numbering = Numbering::default();
        let syn = Segment { seq: SeqNum(999_000), flags: Flags::SYN, ..Segment::default() };
        assert_eq!(numbering.translate_inbound(&syn).seq, SeqNum(999_000));
        let both = Flags::SYN.with(Flags::ACK);
        let answer = |seq| Segment { seq: SeqNum(seq), ack: SeqNum(999_001), flags: both, ..syn };
        numbering.learn_offset(&answer(1234), &answer(70_000));
        assert_eq!(numbering.to_script(&answer(70_000)), answer(1234));
        // The first byte is 1 on either side.
        let data = Segment { seq: SeqNum(1), ack: SeqNum(1), flags: Flags::ACK, ..syn };
        let sent = numbering.translate_inbound(&data);
        assert_eq!((sent.seq, sent.ack), (SeqNum(999_001), SeqNum(70_001)));
        let ack = Segment { seq: SeqNum(70_001), ack: SeqNum(999_001), flags: Flags::ACK, ..syn };
        let seen = numbering.to_script(&ack);
        assert_eq!((seen.seq, seen.ack), (SeqNum(1), SeqNum(1)));
    }

    #[test]
    fn echoes_are_those_values_that_the_script_named() {
        let with = |value, echo| {
            let mut segment = Segment::default();
            segment.options.timestamps = Some(Timestamps { value, echo });
            segment
        };
        let mut numbering = Numbering::default();
        numbering.learn_offset(&with(100, 0), &with(7_100, 0));
        // The script need not count ticks as the host does: its 101 was the host's 7150.
        numbering.learn_offset(&with(101, 0), &with(7_150, 0));
        let mut echo =
            |n| numbering.translate_inbound(&with(1, n)).options.timestamps.map(|ts| ts.echo);
        assert_eq!(echo(101), Some(7_150));
        assert_eq!(echo(103), Some(7_103));
        assert_eq!(echo(0), Some(0));
    }
}
