//! Effects of SACK blocks: the ranges received above a hole, and the segments within them (RFC 6675
//! §4).

use super::segment::SACKED;
use super::{AckProgress, Newest, RepeatedSegments, Scoreboard, SentSegment};

/// Number of ranges up to which a linear search is faster than a binary one.
const LINEAR_SEARCH_RANGES: usize = 8;

/// Number of ranges allowed in addition to one per segment: a receiver may have received segments
/// in other pieces than are outstanding now.
const SPARE_RANGES: usize = 256;

/// Bytes from `left` up to, not including, `right`.
#[derive(Clone, Copy, Debug)]
struct ByteRange {
    left: u64,
    right: u64,
}

impl ByteRange {
    const fn of(left: u64, right: u64) -> Self {
        Self { left, right }
    }

    const fn contains(self, segment: &SentSegment) -> bool {
        segment.start >= self.left && segment.end() <= self.right
    }
}

impl Scoreboard {
    /// Marks `[left, right)` as delivered selectively. Only whole segments count (RFC 6675 §4
    /// `Update`); bytes outside of the outstanding range are ignored.
    #[inline]
    pub fn sack(&mut self, left: u64, right: u64, progress: &mut AckProgress) {
        if self.has_block(left, right) {
            // A block is repeated in several ACKs: most have nothing new.
            return;
        }
        let Some((low, high)) = self.bounds() else {
            return;
        };
        let (left, right) = (left.max(low), right.min(high));
        if left < right {
            self.sack_within(left, right, progress);
        }
    }

    /// Counts retransmitted segments within `[left, right)`. In a row of SACKed segments all count
    /// if one does, since Linux merges their buffers (`tcp_shifted_skb`).
    #[cold]
    pub fn repeated(&self, left: u64, right: u64) -> RepeatedSegments {
        let within = |left, right| {
            let from = self.segments.range(self.index_from(left)..);
            from.take_while(move |s| s.end() <= right)
        };
        let row = self.sacked_ranges.iter().find(|row| row.0 <= left && right <= row.1);
        if let Some(row) = row
            && within(row.0, row.1).any(SentSegment::was_retransmitted)
        {
            let count = within(left, right).count() as u32;
            return RepeatedSegments { count, late: Some(left), end: right };
        }
        let again = within(left, right).filter(|s| s.was_retransmitted());
        again.fold(RepeatedSegments::default(), |known, s| RepeatedSegments {
            count: known.count + 1,
            end: s.end(),
            ..known
        })
    }

    /// True if at least `count` segments are SACKed, however short.
    pub fn has_sacked(&self, count: u64) -> bool {
        let inside = self.sacked_ranges.iter().flat_map(|&(left, right)| {
            let from = self.index_reaching(left);
            self.segments.range(from..).take_while(move |s| s.start < right)
        });
        let mut left = count;
        left == 0
            || inside.filter(|s| s.is_sacked()).any(|_| {
                left -= 1;
                left == 0
            })
    }

    /// True if all of `[left, right)` is SACKed.
    #[inline]
    fn has_block(&self, left: u64, right: u64) -> bool {
        let Some(highest) = self.sacked_ranges.last() else { return false };
        if left >= highest.0 {
            return right <= highest.1;
        }
        let range = self.sacked_ranges.get(self.first_range_reaching(left));
        range.is_some_and(|range| range.0 <= left && right <= range.1)
    }

    fn bounds(&self) -> Option<(u64, u64)> {
        Some((self.segments.front()?.start, self.segments.back()?.end()))
    }

    /// Marks a block as [`Scoreboard::sack`] does, within the outstanding range.
    fn sack_within(&mut self, left: u64, right: u64, progress: &mut AckProgress) {
        let highest = self.sacked_ranges.last().copied().unwrap_or((0, 0));
        if left >= highest.0 {
            let highest = ByteRange::of(highest.0, highest.1);
            return self.sack_highest(highest, ByteRange::of(left, right), progress);
        }
        let first = self.first_range_reaching(left);
        let touched = self.sacked_ranges[first..].iter().take_while(|r| r.0 <= right);
        let (last, merged) = touched
            .fold((first, (left, right)), |(n, all), r| (n + 1, (all.0.min(r.0), all.1.max(r.1))));
        if last == first && self.has_too_many_ranges() {
            return;
        }
        let merged = ByteRange::of(merged.0, merged.1);
        let mut from = left;
        for n in first..last {
            let known = self.sacked_ranges[n];
            if from < known.0 {
                self.sack_fresh(ByteRange::of(from, known.0), merged, progress);
            }
            from = known.1;
        }
        if from < right {
            self.sack_fresh(ByteRange::of(from, right), merged, progress);
        }
        self.merge_ranges(first, last, merged);
    }

    /// Marks a block that does not begin below the highest range.
    fn sack_highest(&mut self, highest: ByteRange, block: ByteRange, progress: &mut AckProgress) {
        let ByteRange { left, right } = block;
        if left > highest.right || self.sacked_ranges.is_empty() {
            if self.has_too_many_ranges() {
                return;
            }
            self.sack_fresh(block, block, progress);
            self.sacked_ranges.push((left, right));
        } else if right > highest.right {
            let merged = ByteRange::of(highest.left, right);
            self.sack_fresh(ByteRange::of(highest.right, right), merged, progress);
            if let Some(last) = self.sacked_ranges.last_mut() {
                *last = (merged.left, merged.right);
            }
        }
    }

    /// True if there are far more ranges than segments. An honest receiver has received whole
    /// segments, so only one that lies reaches this, with blocks of a byte each. These would cost
    /// unlimited memory and time.
    fn has_too_many_ranges(&self) -> bool {
        self.sacked_ranges.len() >= self.segments.len() + SPARE_RANGES
    }

    /// Index of the first SACKed range that touches `offset` or lies above.
    fn first_range_reaching(&self, offset: u64) -> usize {
        let ranges = &self.sacked_ranges;
        if ranges.len() <= LINEAR_SEARCH_RANGES {
            return ranges.iter().take_while(|r| r.1 < offset).count();
        }
        ranges.partition_point(|r| r.1 < offset)
    }

    /// Replaces the ranges `first..last` by `merged`.
    fn merge_ranges(&mut self, first: usize, last: usize, merged: ByteRange) {
        let merged = (merged.left, merged.right);
        if first == last {
            self.sacked_ranges.insert(first, merged);
            return;
        }
        self.sacked_ranges[first] = merged;
        if last > first + 1 {
            self.sacked_ranges.drain(first + 1..last);
        }
    }

    /// Marks the segments that touch `fresh` and lie wholly inside `merged`.
    fn sack_fresh(&mut self, fresh: ByteRange, merged: ByteRange, progress: &mut AckProgress) {
        let mut at = self.index_reaching(fresh.left);
        if progress.newest.is_none() {
            at = self.sack_plain(at, fresh.right, merged, progress);
        }
        if self.segments.get(at).is_some_and(|s| s.start < fresh.right) {
            self.sack_rest(at, fresh.right, merged, progress);
        }
    }

    /// Marks the segments from index `at` up to `end` that lie inside `merged`, as long as they are
    /// plain: mostly all of a block. They are the first deliveries of the ACK, and their changes
    /// are recorded once for all of them. Returns the index after them.
    #[inline]
    fn sack_plain(
        &mut self,
        at: usize,
        end: u64,
        merged: ByteRange,
        progress: &mut AckProgress,
    ) -> usize {
        let inside = |s: &SentSegment| merged.contains(s) && s.start < end;
        let plain = |s: &&mut SentSegment| s.is_plain() && inside(s);
        let Some(first) = self.segments.get_mut(at).filter(plain) else { return at };
        first.marks |= SACKED;
        let first = *first;
        let (mut newest, mut last, mut next) = (first, first, at + 1);
        let (mut earliest, mut latest) = (first.sent_at, first.sent_at);
        while last.end() < end
            && let Some(segment) = self.segments.get_mut(next).filter(plain)
        {
            segment.marks |= SACKED;
            last = *segment;
            earliest = earliest.min(last.sent_at);
            latest = latest.max(last.sent_at);
            newest = if last.sent_at >= newest.sent_at { last } else { newest };
            next += 1;
        }
        let bytes = last.end() - first.start;
        self.sacked += bytes;
        progress.sacked += bytes;
        progress.delivered += bytes;
        progress.in_row = bytes;
        progress.segments += (next - at) as u64;
        progress.newest = Some(Newest::of(&newest));
        progress.last = (next > at + 1).then(|| Newest::of(&last));
        progress.earliest_sent = Some(earliest);
        progress.latest_sent = Some(latest);
        progress.lowest_original = Some(first.start);
        next
    }

    /// Marks segments as [`Scoreboard::sack_fresh`] does, from index `at` on up to `end`, in any
    /// state.
    fn sack_rest(&mut self, at: usize, end: u64, merged: ByteRange, progress: &mut AckProgress) {
        for s in self.segments.range_mut(at..) {
            if s.start >= end {
                break;
            }
            if s.is_sacked() || !merged.contains(s) {
                continue;
            }
            let before = *s;
            let len = u64::from(s.len);
            s.marks |= SACKED;
            self.sacked += len;
            self.lost_beneath_sacks += s.waiting_beneath_sack(len);
            if before.is_lost() {
                self.lost -= len;
            }
            if before.is_retransmission_in_flight() {
                self.again -= len;
            }
            // Linux reads SACK blocks before the cumulative acknowledgement, and by ascending
            // number whatever their order on the wire (`tcp_sacktag_write_queue`).
            let cumulative = progress.delivered > progress.sacked;
            let last = progress.last.or(progress.newest);
            let stays = last.is_some_and(|last| cumulative || last.end > before.end());
            progress.sacked += len;
            progress.segments += 1;
            progress.delivered += len;
            progress.note_delivery(&before);
            if stays {
                progress.last = last;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Instant;

    /// Returns a scoreboard with segments of these lengths, some of them retransmitted, and some
    /// presumed lost.
    fn board(segments: &[(u32, u8)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        let mut start = 1;
        for (n, &(len, _)) in segments.iter().enumerate() {
            // Two leave at once.
            board.push(start, len, Instant::from_nanos(n as u64 / 2), n as u64);
            start += u64::from(len);
        }
        for (index, &(_, fate)) in segments.iter().enumerate() {
            if fate < 2 {
                board.mark_lost(index);
            }
            if fate == 1 || fate == 2 {
                board.retransmit(index, Instant::from_nanos(100 + index as u64), 100);
            }
        }
        board
    }

    proptest! {
        /// Segments that are recorded together have the same effects as one by one.
        #[test]
        fn a_row_of_plain_segments_tells_the_same(
            segments in proptest::collection::vec((1_u32..20, 0_u8..20), 1..20),
            blocks in proptest::collection::vec((1_u64..200, 1_u64..100), 1..6),
        ) {
            let (mut together, mut apart) = (board(&segments), board(&segments));
            let mut progress = [AckProgress::default(), AckProgress::default()];
            for (left, len) in blocks {
                let block = ByteRange::of(left, left + len);
                together.sack_fresh(block, block, &mut progress[0]);
                let at = apart.index_reaching(block.left);
                apart.sack_rest(at, block.right, block, &mut progress[1]);
                prop_assert!(progress[0].in_row <= progress[0].sacked);
                let rows = AckProgress { in_row: 0, ..progress[0] };
                prop_assert_eq!(format!("{rows:?}"), format!("{:?}", progress[1]));
                prop_assert_eq!(format!("{together:?}"), format!("{apart:?}"));
            }
        }
    }
}
