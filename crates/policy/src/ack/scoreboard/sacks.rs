//! What SACK blocks tell: the ranges that have arrived beyond a hole, and the segments within them (RFC 6675 §4).

use super::segment::SACKED;
use super::{AckProgress, Scoreboard};

/// So many ranges are looked through faster than searched.
const FEW: usize = 8;

/// Ranges that there may be beside one a segment: a receiver may have got segments in other pieces than are outstanding now.
const SPARE_RANGES: usize = 256;

impl Scoreboard {
    /// Marks `[left, right)` as delivered selectively. Only whole segments count (RFC 6675 §4
    /// `Update`); what lies outside of the outstanding range is ignored.
    #[inline]
    pub fn sack(&mut self, left: u64, right: u64, progress: &mut AckProgress) {
        let Some((low, high)) = self.bounds() else {
            return;
        };
        let (left, right) = (left.max(low), right.min(high));
        if left < right {
            self.sack_within(left, right, progress);
        }
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

    fn bounds(&self) -> Option<(u64, u64)> {
        Some((self.segments.front()?.start, self.segments.back()?.end()))
    }

    /// As [`Scoreboard::sack`], within the outstanding range.
    fn sack_within(&mut self, left: u64, right: u64, progress: &mut AckProgress) {
        let highest = self.sacked_ranges.last().copied().unwrap_or((0, 0));
        if left >= highest.0 {
            return self.sack_highest(highest, (left, right), progress);
        }
        let first = self.first_range_reaching(left);
        let touched = self.sacked_ranges[first..].iter().take_while(|r| r.0 <= right);
        let (last, merged) = touched
            .fold((first, (left, right)), |(n, all), r| (n + 1, (all.0.min(r.0), all.1.max(r.1))));
        if last == first && self.has_too_many_ranges() {
            return;
        }
        if last == first + 1 && self.sacked_ranges[first] == merged {
            // A block is repeated in several ACKs: most bring nothing new.
            return;
        }
        let mut from = left;
        for n in first..last {
            let known = self.sacked_ranges[n];
            if from < known.0 {
                self.sack_fresh((from, known.0), merged, progress);
            }
            from = known.1;
        }
        if from < right {
            self.sack_fresh((from, right), merged, progress);
        }
        self.merge_ranges(first, last, merged);
    }

    /// As [`Scoreboard::sack_within`], of a block that does not begin below the highest range.
    fn sack_highest(&mut self, highest: (u64, u64), block: (u64, u64), progress: &mut AckProgress) {
        let (left, right) = block;
        if left > highest.1 || self.sacked_ranges.is_empty() {
            if self.has_too_many_ranges() {
                return;
            }
            self.sack_fresh(block, block, progress);
            self.sacked_ranges.push(block);
        } else if right > highest.1 {
            let merged = (highest.0, right);
            self.sack_fresh((highest.1, right), merged, progress);
            if let Some(last) = self.sacked_ranges.last_mut() {
                *last = merged;
            }
        }
    }

    /// Far more ranges than segments: what a receiver has got it has got in segments, so only one that lies comes so far, with
    /// blocks of a byte each. They would cost memory and time without end.
    fn has_too_many_ranges(&self) -> bool {
        self.sacked_ranges.len() >= self.segments.len() + SPARE_RANGES
    }

    /// Index of the first SACKed range that touches `offset` or lies beyond.
    fn first_range_reaching(&self, offset: u64) -> usize {
        let ranges = &self.sacked_ranges;
        if ranges.len() <= FEW {
            return ranges.iter().take_while(|r| r.1 < offset).count();
        }
        ranges.partition_point(|r| r.1 < offset)
    }

    /// Puts `merged` in the place of the ranges `first..last`.
    fn merge_ranges(&mut self, first: usize, last: usize, merged: (u64, u64)) {
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
    fn sack_fresh(&mut self, fresh: (u64, u64), merged: (u64, u64), progress: &mut AckProgress) {
        let from = self.index_reaching(fresh.0);
        for s in self.segments.range_mut(from..) {
            if s.start >= fresh.1 {
                break;
            }
            if s.is_sacked() || s.start < merged.0 || s.end() > merged.1 {
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
            // Linux reads SACK blocks before the cumulative acknowledgement, and by ascending number whatever their order on the
            // wire (`tcp_sacktag_write_queue`).
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
