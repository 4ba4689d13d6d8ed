//! The SACK option of the next ACK: duplicates, and the ranges behind gaps.

use super::reassembly::Reassembly;
use crate::segment::SackBlocks;
use units::SeqNum;

/// Contents of the next SACK option beside the ranges that wait behind gaps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackReport {
    /// Offsets of duplicate data (RFC 2883).
    duplicate: Option<(u64, u64)>,
    /// Blocks of the ranges that waited before a FIN closed the last gap. Linux sends its ACK
    /// before it clears them (`tcp_fin`).
    before_fin: Option<SackBlocks>,
    /// The next report omits the range that changed last: a held ACK, sent first, precedes it.
    leaves_last_out: bool,
}

impl SackReport {
    /// Reports that `[left, right)` was received twice.
    pub(super) const fn note_duplicate(&mut self, left: u64, right: u64) {
        self.duplicate = Some((left, right));
    }

    /// Leaves the range that changed last out of the next report, or not.
    pub(super) const fn leave_last_out(&mut self, leaves: bool) {
        self.leaves_last_out = leaves;
    }

    /// A FIN closed the last gap: reports these blocks once more. `forgets` drops the duplicate.
    pub(super) fn on_fin(&mut self, blocks: Option<SackBlocks>, forgets: bool) {
        self.before_fin = blocks.filter(|blocks| !blocks.is_empty());
        self.duplicate = self.duplicate.filter(|_| !forgets);
    }

    /// True if there is anything to report.
    #[inline]
    pub(super) fn is_due(&self, waiting: &Reassembly) -> bool {
        self.duplicate.is_some() || !waiting.is_empty() || self.before_fin.is_some()
    }

    /// Returns the largest number of blocks of the next report, if all have room. A range that is
    /// left out counts.
    pub(super) fn len(&self, waiting: &Reassembly) -> usize {
        match &self.before_fin {
            Some(blocks) => blocks.as_slice().len(),
            None => usize::from(self.duplicate.is_some()) + waiting.len(),
        }
    }

    /// Appends the report, `max` blocks at most (1 or more): the duplicate first, then the ranges
    /// that changed last (RFC 2018 §4, RFC 2883 §4). `irs` is the sequence number of offset 0.
    pub(super) fn append_blocks(
        &mut self,
        irs: SeqNum,
        waiting: &Reassembly,
        max: usize,
        blocks: &mut SackBlocks,
    ) {
        if let Some(before_fin) = self.before_fin.take() {
            before_fin
                .as_slice()
                .iter()
                .take(max)
                .for_each(|(left, right)| blocks.push(*left, *right));
            return;
        }
        if let Some((left, right)) = self.duplicate.take() {
            blocks.push(irs + left as u32, irs + right as u32);
        }
        if !waiting.is_empty() {
            let room = max.saturating_sub(blocks.as_slice().len());
            let left_out = usize::from(std::mem::take(&mut self.leaves_last_out));
            push(irs, waiting.recent().skip(left_out).take(room), blocks);
        }
    }
}

/// Returns blocks of the ranges that changed last, at most [`SackBlocks::MAX`], the latest first.
#[cold]
pub(super) fn blocks_of(irs: SeqNum, waiting: &Reassembly) -> SackBlocks {
    let mut blocks = SackBlocks::NONE;
    push(irs, waiting.recent().take(SackBlocks::MAX), &mut blocks);
    blocks
}

fn push(irs: SeqNum, ranges: impl Iterator<Item = (u64, u64)>, blocks: &mut SackBlocks) {
    ranges.for_each(|(left, right)| blocks.push(irs + left as u32, irs + right as u32));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four ranges of ten bytes each, at 10, 30, 50 and 70.
    fn four_ranges() -> Reassembly {
        let (mut waiting, mut rcv_nxt) = (Reassembly::with_reports(4), 0);
        for left in [10, 30, 50, 70] {
            waiting.arrive(&mut rcv_nxt, left, left + 10);
        }
        waiting
    }

    fn written(report: &mut SackReport, waiting: &Reassembly, max: usize) -> Vec<u32> {
        let mut blocks = SackBlocks::NONE;
        report.append_blocks(SeqNum(100), waiting, max, &mut blocks);
        blocks.as_slice().iter().map(|(left, _)| left.0).collect()
    }

    /// RFC 2883 §4: the duplicate is the first block. It is reported once.
    #[test]
    fn a_repetition_is_reported_once_and_first() {
        let (mut report, waiting) = (SackReport::default(), four_ranges());
        report.note_duplicate(2, 5);
        assert_eq!(report.len(&waiting), 5);
        assert_eq!(written(&mut report, &waiting, 3), [102, 170, 150]);
        assert_eq!(written(&mut report, &waiting, 3), [170, 150, 130]);
    }

    /// A FIN fills the gap in front of four ranges. Beside timestamps three blocks have room.
    #[test]
    fn the_blocks_of_a_fin_are_as_many_as_have_room() {
        let (mut report, nothing) = (SackReport::default(), Reassembly::default());
        report.on_fin(Some(blocks_of(SeqNum(100), &four_ranges())), true);
        assert!(report.is_due(&nothing) && report.len(&nothing) == 4);
        assert_eq!(written(&mut report, &nothing, 3), [170, 150, 130]);
        assert!(!report.is_due(&nothing));
    }

    #[test]
    fn a_fin_without_a_gap_has_nothing_to_report() {
        let (mut report, nothing) = (SackReport::default(), Reassembly::default());
        report.note_duplicate(2, 5);
        report.on_fin(Some(SackBlocks::NONE), true);
        assert!(!report.is_due(&nothing));
    }
}
