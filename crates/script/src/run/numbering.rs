//! The script's numbers and the host's.
//!
//! The host draws its initial sequence number and its clock of timestamps; the script has its
//! own. The first SYN and the first timestamp that the host sends tell the difference between the
//! two. The peer is the script, so its numbers need no translation.

use std::collections::BTreeMap;
use tcp::{Flags, SackBlocks, Segment, Timestamps};
use units::SeqNum;

/// What is to be added to a number of the script to get the host's, modulo 2^32.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    sequence: Option<u32>,
    timestamps: Option<u32>,
    /// Host's values of timestamps that the script has named.
    named_timestamps: BTreeMap<u32, u32>,
}

impl Numbering {
    /// Learns from a segment that the host sent where the script expected `expected`.
    pub(super) fn learn(&mut self, expected: &Segment, sent: &Segment) {
        if self.sequence.is_none() && sent.has(Flags::SYN) {
            self.sequence = Some(sent.seq.0.wrapping_sub(expected.seq.0));
        }
        let values = (expected.options.timestamps, sent.options.timestamps);
        if let (Some(expected), Some(sent)) = values {
            self.timestamps.get_or_insert(sent.value.wrapping_sub(expected.value));
            self.named_timestamps.insert(expected.value, sent.value);
        }
    }

    /// A segment of the script's peer as the host must see it.
    pub(super) fn to_host(&self, segment: &Segment) -> Segment {
        let mut out = *segment;
        let offset = self.sequence.unwrap_or(0);
        if segment.has(Flags::ACK) {
            out.ack = segment.ack + offset;
        }
        out.options.sack = moved(&segment.options.sack, offset);
        out.options.timestamps =
            segment.options.timestamps.map(|ts| Timestamps { echo: self.echo(ts.echo), ..ts });
        out
    }

    /// A segment of the host as the script sees it.
    pub(super) fn to_script(&self, segment: &Segment) -> Segment {
        let mut out = *segment;
        out.seq = segment.seq + self.sequence.unwrap_or(0).wrapping_neg();
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

fn moved(blocks: &SackBlocks, offset: u32) -> SackBlocks {
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
        numbering.learn(&expected, &syn);
        // The host's 2^32 - 1 is the script's 0, so its 4 is the script's 5.
        syn.seq = SeqNum(4);
        assert_eq!(numbering.to_script(&syn).seq, SeqNum(5));
        let ack = Segment { flags: Flags::ACK, ack: SeqNum(5), ..Segment::default() };
        assert_eq!(numbering.to_host(&ack).ack, SeqNum(4));
    }

    #[test]
    fn echoes_are_those_values_that_the_script_named() {
        let with = |value, echo| {
            let mut segment = Segment::default();
            segment.options.timestamps = Some(Timestamps { value, echo });
            segment
        };
        let mut numbering = Numbering::default();
        numbering.learn(&with(100, 0), &with(7_100, 0));
        // The script need not count ticks as the host does: its 101 was the host's 7150.
        numbering.learn(&with(101, 0), &with(7_150, 0));
        let echo = |n| numbering.to_host(&with(1, n)).options.timestamps.map(|ts| ts.echo);
        assert_eq!(echo(101), Some(7_150));
        assert_eq!(echo(103), Some(7_103));
        assert_eq!(echo(0), Some(0));
    }
}
