//! The received ranges of the sequence space, and their order for SACK blocks (RFC 2018 §4, RFC
//! 2883).

use std::collections::VecDeque;

/// Out-of-order ranges above `rcv_nxt`, remembering which changed last.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// Disjoint, not touching, ascending.
    ranges: VecDeque<(u64, u64)>,
    /// The ranges that changed last, latest first; older ones are forgotten.
    latest: Vec<(u64, u64)>,
    /// Bytes in all ranges.
    waiting: u64,
    /// Most ranges of `latest` that outlast a change.
    most_reported: usize,
}

/// Number of ranges whose order of change is remembered. An ACK has room for four; ranges that
/// merge or are filled make room for earlier ones.
const MAX_REPORTED: usize = 16;
/// Linux keeps no more than an ACK has room for (`TCP_NUM_SACKS`): a range that others have pushed
/// out is not reported again unless it changes.
pub const MAX_REPORTED_BY_LINUX: usize = 4;

/// Number of ranges kept: a peer that sends every other byte could make millions in a window. Data
/// of one more range is dropped, as if it had been lost.
const MAX_RANGES: usize = 1 << 15;

/// Effect of a piece of sequence space that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It continued the data in order, and nothing waits behind it.
    InOrder,
    /// It continued the data in order and filled all or part of a gap.
    FilledGap,
    /// It left a gap.
    OutOfOrder,
    /// All of it had been received before.
    Duplicate,
}

impl Default for Reassembly {
    fn default() -> Self {
        Self::with_reports(MAX_REPORTED)
    }
}

impl Reassembly {
    /// Nothing waits; `most_reported` ranges are remembered for SACK blocks.
    pub const fn with_reports(most_reported: usize) -> Self {
        Self { ranges: VecDeque::new(), latest: Vec::new(), waiting: 0, most_reported }
    }

    /// Takes `[left, right)`, not empty, and moves `rcv_nxt` over all data that is now continuous.
    /// The second value is a duplicate part, if some of it had been received before.
    #[inline]
    pub fn arrive(
        &mut self,
        rcv_nxt: &mut u64,
        left: u64,
        right: u64,
    ) -> (Arrival, Option<(u64, u64)>) {
        if right <= *rcv_nxt {
            return (Arrival::Duplicate, Some((left, right)));
        }
        if left <= *rcv_nxt && self.ranges.is_empty() {
            let duplicate = (left < *rcv_nxt).then_some((left, *rcv_nxt));
            *rcv_nxt = right;
            return (Arrival::InOrder, duplicate);
        }
        let duplicate = self.duplicate_part(*rcv_nxt, left, right);
        if duplicate == Some((left, right)) {
            self.mark_most_recent(left);
            return (Arrival::Duplicate, duplicate);
        }
        if left > *rcv_nxt {
            self.insert(left, right);
            return (Arrival::OutOfOrder, duplicate);
        }
        *rcv_nxt = self.take_contiguous(right);
        (Arrival::FilledGap, duplicate)
    }

    /// Everything up to `right` was received: returns the end of the data that is continuous now.
    fn take_contiguous(&mut self, mut right: u64) -> u64 {
        while let Some(first) = self.ranges.front().filter(|r| r.0 <= right) {
            right = right.max(first.1);
            self.waiting -= first.1 - first.0;
            self.ranges.pop_front();
        }
        self.latest.truncate(self.most_reported);
        // Data in order needs no entry: however many gaps are filled, ranges that wait stay known.
        self.latest.retain(|range| range.0 > right);
        right
    }

    /// Index of the first range that ends after `offset`.
    fn first_range_after(&self, offset: u64) -> usize {
        if self.ranges.back().is_none_or(|last| last.1 <= offset) {
            return self.ranges.len();
        }
        self.ranges.partition_point(|r| r.1 <= offset)
    }

    /// The part of `[left, right)` that was there before: below `rcv_nxt`, or in the first range
    /// that it meets.
    fn duplicate_part(&self, rcv_nxt: u64, left: u64, right: u64) -> Option<(u64, u64)> {
        if left < rcv_nxt {
            return Some((left, rcv_nxt));
        }
        let met = self.ranges.get(self.first_range_after(left)).filter(|r| r.0 < right)?;
        Some((left.max(met.0), right.min(met.1)))
    }

    fn mark_most_recent(&mut self, offset: u64) {
        if let Some(&(left, right)) = self.ranges.get(self.first_range_after(offset)) {
            self.note_change(left, right);
        }
    }

    /// Moves a range that changed to the front; those that it absorbed are removed.
    fn note_change(&mut self, left: u64, right: u64) {
        // One more than are kept stays until the next change: an ACK that was held back does not
        // report this one, and still reports that.
        self.latest.truncate(self.most_reported);
        self.latest.retain(|r| r.0 < left || r.0 >= right);
        self.latest.insert(0, (left, right));
    }

    fn insert(&mut self, left: u64, right: u64) {
        let full = self.ranges.len() >= MAX_RANGES;
        match self.ranges.back_mut() {
            Some(last) if left < last.0 => {}
            Some(last) if left <= last.1 => {
                self.waiting += right.saturating_sub(last.1);
                last.1 = last.1.max(right);
                let (left, right) = *last;
                return self.note_growth(left, right);
            }
            _ if full => return,
            _ => {
                self.waiting += right - left;
                self.ranges.push_back((left, right));
                return self.note_change(left, right);
            }
        }
        let first = self.ranges.partition_point(|r| r.1 < left);
        let last = self.ranges.partition_point(|r| r.0 <= right);
        if first == last {
            if full {
                return;
            }
            self.waiting += right - left;
            self.ranges.insert(first, (left, right));
            return self.note_change(left, right);
        }
        let (left, right) = (left.min(self.ranges[first].0), right.max(self.ranges[last - 1].1));
        let met: u64 = self.ranges.range(first..last).map(|r| r.1 - r.0).sum();
        self.waiting += right - left - met;
        self.ranges[first] = (left, right);
        if first + 1 < last {
            self.ranges.drain(first + 1..last);
            self.note_change(left, right);
        } else {
            self.note_growth(left, right);
        }
    }

    /// Records a range that grew without absorbing another: mostly the one that changed last.
    fn note_growth(&mut self, left: u64, right: u64) {
        match self.latest.first_mut() {
            Some(latest) if latest.0 == left => latest.1 = right,
            _ => self.note_change(left, right),
        }
    }

    /// The waiting range that `offset` lies in, or else the first above it.
    pub fn covering_or_after(&self, offset: u64) -> Option<(u64, u64)> {
        self.ranges.get(self.first_range_after(offset)).copied()
    }

    /// The waiting range that `offset` lies in.
    pub fn covering(&self, offset: u64) -> Option<(u64, u64)> {
        self.covering_or_after(offset).filter(|range| range.0 <= offset)
    }

    /// Bytes that wait for a gap to be filled.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// True if nothing waits for a gap to be filled.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// One past the last byte that waits; 0 if none does.
    pub fn end(&self) -> u64 {
        self.ranges.back().map_or(0, |r| r.1)
    }

    /// The ranges that wait, ascending.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// Number of ranges that wait.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the index in [`Self::recent`] of the range that `[left, right)` overlaps or touches;
    /// `None` if it would be a new range.
    pub fn place(&self, left: u64, right: u64) -> Option<usize> {
        self.latest.iter().position(|range| range.0 <= right && left <= range.1)
    }

    /// The waiting ranges that changed last, latest first.
    pub fn recent(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.latest.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2018 §4: an ACK has as many blocks as fit, of the ranges reported last. Gaps filled
    /// below do not change them.
    #[test]
    fn filling_gaps_below_does_not_push_out_what_waits() {
        let (mut queue, mut rcv_nxt) = (Reassembly::default(), 0);
        // Receives every second of 100 pieces of ten bytes; then the others from the front, up to
        // the last four.
        for piece in (1..100).step_by(2) {
            queue.arrive(&mut rcv_nxt, piece * 10, piece * 10 + 10);
        }
        for piece in (0..92).step_by(2) {
            queue.arrive(&mut rcv_nxt, piece * 10, piece * 10 + 10);
        }
        assert_eq!(rcv_nxt, 920);
        let blocks: Vec<_> = queue.recent().collect();
        assert_eq!(blocks, [(990, 1000), (970, 980), (950, 960), (930, 940)]);
    }
}
