//! What this connection has outstanding, in order: sent, selectively acknowledged, lost, sent
//! again.
//!
//! Offsets are 64-bit positions in the send sequence space (0 is the SYN), so nothing here wraps.
//! Four running sums answer how much is in flight (`pipe` of RFC 6675 §3) without a walk; a list of
//! merged SACK ranges makes a repeated SACK block cost nothing.

mod segment;

pub use segment::SentSegment;

use fold::{Foldable, Folding};
use segment::{IN_FLIGHT_AGAIN, LOST, LOW_PRIORITY, SACKED};
use std::collections::VecDeque;
use units::Instant;

/// So many ranges are looked through faster than searched.
const FEW: usize = 8;

/// The segment whose delivery was learnt last and that was sent last (RFC 8985 §6.2 step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// When it was (last) sent.
    pub sent_at: Instant,
    /// Offset one past its end.
    pub end: u64,
    /// It had been sent more than once.
    pub retransmitted: bool,
    /// Its place among all that was sent on the path, when it was (last) sent.
    pub order: u64,
}

/// What one ACK changed on the board.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckProgress {
    /// Bytes newly acknowledged cumulatively.
    pub acked: u64,
    /// Bytes newly delivered: cumulative ones not known from SACK before, plus newly SACKed ones.
    pub delivered: u64,
    /// Of these, bytes of a segment whose rest is still outstanding. Who counts segments counts it when
    /// it is whole, so that many ACKs of a little each gain nothing (Savage et al. 1999 §2.1).
    pub partial: u64,
    /// Bytes newly SACKed.
    pub sacked: u64,
    /// Whole segments newly delivered.
    pub segments: u64,
    /// Send time of the earliest segment newly delivered that was sent only once: the RTT sample
    /// of RFC 6298 by Karn's rule; it includes the receiver's delay of the ACK.
    pub earliest_sent: Option<Instant>,
    /// Send time of the latest one: the round trip without the receiver's delay.
    pub latest_sent: Option<Instant>,
    /// Newest delivery, for RACK.
    pub newest: Option<Newest>,
    /// The delivery that Linux looks at last, where the ACK has several: the highest one acknowledged
    /// cumulatively, or else the last one SACKed (`tcp_rack_advance`).
    pub last: Option<Newest>,
    /// Lowest offset newly delivered of a segment never sent again (reordering, F-RTO).
    pub lowest_original: Option<u64>,
}

/// Outstanding segments in sequence order with their fates.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<SentSegment>,
    sacked_ranges: Vec<(u64, u64)>,
    outstanding: u64,
    sacked: u64,
    lost: u64,
    again: u64,
    /// What of the SACKed bytes was lost, less what of that was sent again, before they were
    /// SACKed.
    lost_beneath_sacks: u64,
    /// No segment before this offset is lost and waiting to be sent again.
    lost_hint: u64,
    losses: u64,
}

impl Foldable for Scoreboard {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let Self {
            segments,
            sacked_ranges,
            outstanding,
            sacked,
            lost,
            again,
            lost_beneath_sacks,
            lost_hint,
            losses,
        } = self;
        let mut count = segments.len();
        folding.each(&mut count);
        segments.resize(count, SentSegment::default());
        let mut before = SentSegment::default();
        for segment in segments {
            segment.fold_behind(&before, folding);
            before = *segment;
        }
        folding.each(sacked_ranges).each(outstanding).each(sacked).each(lost).each(again);
        folding.each(lost_beneath_sacks).each(lost_hint).each(losses);
    }
}

impl Scoreboard {
    /// Bytes sent and not cumulatively acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }
    /// Of these, bytes selectively acknowledged.
    pub fn sacked(&self) -> u64 {
        self.sacked
    }
    /// Of these, bytes presumed lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }
    /// Segments ever presumed lost; one lost twice counts twice, a loss forgiven still counts.
    pub const fn losses(&self) -> u64 {
        self.losses
    }
    /// Bytes retransmitted and presumed on their way.
    pub fn retransmissions_in_flight(&self) -> u64 {
        self.again
    }
    /// Bytes presumed in the network: RFC 6675 §3 `pipe`.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.again
    }
    /// As [`Scoreboard::pipe`] if no SACK had come.
    pub fn pipe_ignoring_sacks(&self) -> u64 {
        self.pipe() + self.sacked - self.lost_beneath_sacks
    }
    /// Lost bytes that wait to be sent again.
    pub fn waiting(&self) -> u64 {
        self.lost - self.again
    }
    /// Number of segments outstanding.
    pub fn len(&self) -> usize {
        self.segments.len()
    }
    /// True if nothing outstanding is SACKed or presumed lost.
    pub fn is_clean(&self) -> bool {
        self.sacked == 0 && self.lost == 0
    }
    /// True if everything sent is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
    /// The segments in sequence order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &SentSegment> {
        self.segments.iter()
    }
    /// The segment at `index`.
    pub fn segment(&self, index: usize) -> Option<&SentSegment> {
        self.segments.get(index)
    }
    /// Merged SACKed ranges above the cumulative acknowledgement, ascending.
    pub fn sacked_ranges(&self) -> &[(u64, u64)] {
        &self.sacked_ranges
    }
    /// One past the highest SACKed byte.
    pub fn highest_sacked(&self) -> Option<u64> {
        self.sacked_ranges.last().map(|r| r.1)
    }
    /// Index of the first segment that starts at or after `offset`.
    pub fn index_from(&self, offset: u64) -> usize {
        let at = self.index_reaching(offset);
        at + usize::from(self.segments.get(at).is_some_and(|s| s.start < offset))
    }

    /// Index of the first segment that ends after `offset`. Mostly all have one size, and then it
    /// is known without a search.
    fn index_reaching(&self, offset: u64) -> usize {
        let Some(first) = self.segments.front() else { return 0 };
        let guess = (offset.saturating_sub(first.start) / u64::from(first.len)) as usize;
        let hit = self.segments.get(guess).is_some_and(|s| s.start <= offset && offset < s.end());
        if hit { guess } else { self.segments.partition_point(|s| s.end() <= offset) }
    }

    /// Notes a first transmission: when, and its place among all that was sent on the path. `start`
    /// continues where the last one ended.
    #[inline]
    pub fn push(&mut self, start: u64, len: u32, (sent_at, order): (Instant, u64)) {
        debug_assert!(self.segments.back().is_none_or(|s| s.end() == start));
        let (marks, retransmissions) = (0, 0);
        self.segments.push_back(SentSegment { start, len, marks, retransmissions, sent_at, order });
        self.outstanding += u64::from(len);
    }

    /// The segment sent last left with low priority.
    pub fn note_low_priority(&mut self) {
        if let Some(last) = self.segments.back_mut() {
            last.marks |= LOW_PRIORITY;
        }
    }

    /// Cuts segments that are longer than `max`: the segment size has become smaller.
    pub fn split_longer_than(&mut self, max: u64) {
        let mut i = 0;
        while let Some(s) = self.segments.get(i) {
            if u64::from(s.len) > max {
                let at = s.start + max;
                self.split_at(at);
            }
            i += 1;
        }
    }

    /// Cuts the segment that reaches across `offset`; both parts keep its marks.
    pub fn split_at(&mut self, offset: u64) {
        let i = self.index_reaching(offset);
        let Some(s) = self.segments.get_mut(i).filter(|s| s.start < offset) else { return };
        let mut rest = *s;
        s.len = (offset - s.start) as u32;
        rest.start = offset;
        rest.len -= s.len;
        self.segments.insert(i + 1, rest);
    }

    /// Notes that the segment at `index` goes out again: when, and its new place.
    pub fn retransmit(&mut self, index: usize, (now, order): (Instant, u64)) {
        let s = &mut self.segments[index];
        if s.is_lost() && !s.is_retransmission_in_flight() {
            s.marks |= IN_FLIGHT_AGAIN;
            self.again += u64::from(s.len);
        }
        s.retransmissions = s.retransmissions.saturating_add(1);
        s.sent_at = now;
        s.order = order;
    }

    /// Presumes the segment at `index` lost, or its retransmission lost again.
    /// Returns the bytes newly presumed lost.
    pub fn mark_lost(&mut self, index: usize) -> u64 {
        let s = &mut self.segments[index];
        let len = u64::from(s.len);
        if s.is_sacked() || (s.is_lost() && !s.is_retransmission_in_flight()) {
            return 0;
        }
        self.losses += 1;
        self.lost_hint = self.lost_hint.min(s.start);
        if s.is_retransmission_in_flight() {
            s.marks &= !IN_FLIGHT_AGAIN;
            self.again -= len;
        } else {
            s.marks |= LOST;
            self.lost += len;
        }
        len
    }

    /// Presumes all that is not SACKed lost (RFC 6298 §5.4 with go-back-N; RFC 8985 §6.3).
    pub fn mark_all_lost(&mut self) -> u64 {
        (0..self.segments.len()).map(|i| self.mark_lost(i)).sum()
    }

    /// Forgets every loss: the timeout or fast retransmit was spurious. What was sent again
    /// counts once more as in flight.
    pub fn forgive_losses(&mut self) {
        for s in &mut self.segments {
            s.marks &= !(LOST | IN_FLIGHT_AGAIN);
        }
        self.lost_beneath_sacks = 0;
        self.lost = 0;
        self.again = 0;
    }

    /// Forgets every SACK: after a timeout the receiver may have reneged (RFC 2018 §8). What was
    /// lost before it was SACKed is lost again.
    pub fn forget_sacks(&mut self) {
        if self.sacked_ranges.is_empty() {
            return;
        }
        for s in self.segments.iter_mut().filter(|s| s.is_sacked()) {
            s.marks &= !SACKED;
            let len = u64::from(s.len);
            if s.is_lost() {
                self.lost += len;
                self.lost_hint = self.lost_hint.min(s.start);
            }
            if s.is_retransmission_in_flight() {
                self.again += len;
            }
        }
        self.sacked = 0;
        self.lost_beneath_sacks = 0;
        self.sacked_ranges.clear();
    }

    /// Index of the lowest segment that is lost and was not sent again since.
    pub fn next_lost(&mut self) -> Option<usize> {
        if self.waiting() == 0 {
            return None;
        }
        let from = self.index_from(self.lost_hint);
        let found = (from..self.segments.len()).find(|&i| {
            let s = &self.segments[i];
            s.is_lost() && !s.is_retransmission_in_flight()
        });
        self.lost_hint = found.map_or(u64::MAX, |i| self.segments[i].start);
        found
    }

    /// Takes off all that lies below `una`; a segment acknowledged in part keeps its rest.
    #[inline]
    pub fn acknowledge(&mut self, una: u64, progress: &mut AckProgress) {
        let is_first = progress.newest.is_none();
        if !is_first || self.acknowledge_plain(una, progress) != una {
            self.acknowledge_rest(una, progress);
        }
        if !self.sacked_ranges.is_empty() {
            self.trim_ranges(una);
        }
    }

    /// As [`Scoreboard::acknowledge`], of what is not plain, or acknowledged in part.
    // Out of line: most ACKs end where a plain segment does, so that nothing below them is left.
    #[inline(never)]
    fn acknowledge_rest(&mut self, una: u64, progress: &mut AckProgress) {
        while let Some(segment) = self.segments.pop_front_if(|first| first.end() <= una) {
            progress.segments += u64::from(!segment.is_sacked());
            self.settle(&segment, u64::from(segment.len), progress);
        }
        if let Some(first) = self.segments.front_mut().filter(|first| first.start < una) {
            let segment = *first;
            let part = una - segment.start;
            first.start = una;
            first.len -= part as u32;
            self.settle(&segment, part, progress);
            progress.partial = if segment.is_sacked() { 0 } else { part };
        }
    }

    /// The first segments below `una`, as long as they were sent once and nothing was heard of them: nearly all. They
    /// are the first that the ACK tells of, and what it changes is written once for all of them. Answers where the last
    /// of them ends; zero if there is none.
    #[inline]
    fn acknowledge_plain(&mut self, una: u64, progress: &mut AckProgress) -> u64 {
        let plain = |first: &mut SentSegment| first.end() <= una && first.is_plain();
        let Some(first) = self.segments.pop_front_if(plain) else { return 0 };
        let (mut newest, mut earliest, mut latest) = (first, first.sent_at, first.sent_at);
        let (mut segments, mut bytes, mut reached) = (1, u64::from(first.len), first.end());
        // Where the ACK ends is compared first: mostly it is here, and the next segment need not be looked at.
        while reached < una
            && let Some(next) = self.segments.pop_front_if(plain)
        {
            segments += 1;
            reached = next.end();
            bytes += u64::from(next.len);
            earliest = earliest.min(next.sent_at);
            latest = latest.max(next.sent_at);
            // It ends behind those before it.
            newest = if next.sent_at >= newest.sent_at { next } else { newest };
        }
        self.outstanding -= bytes;
        progress.segments += segments;
        progress.acked += bytes;
        progress.delivered += bytes;
        let (sent_at, order) = (newest.sent_at, newest.order);
        let retransmitted = false;
        progress.newest = Some(Newest { sent_at, end: newest.end(), retransmitted, order });
        progress.earliest_sent = Some(earliest);
        progress.latest_sent = Some(latest);
        progress.lowest_original = Some(first.start);
        reached
    }

    /// Books `part` bytes of a cumulatively acknowledged segment.
    #[inline]
    fn settle(&mut self, s: &SentSegment, part: u64, progress: &mut AckProgress) {
        self.outstanding -= part;
        progress.acked += part;
        if s.marks != 0 {
            self.settle_marked(s, part);
        }
        if !s.is_sacked() {
            progress.delivered += part;
            note_delivery(s, progress);
        }
    }

    fn settle_marked(&mut self, s: &SentSegment, part: u64) {
        if s.is_retransmission_in_flight() {
            self.again -= part;
        }
        if s.is_lost() {
            self.lost -= part;
        }
        if s.is_sacked() {
            self.sacked -= part;
            self.lost_beneath_sacks -= s.waiting_beneath_sack(part);
        }
    }

    fn trim_ranges(&mut self, una: u64) {
        let gone = self.sacked_ranges.partition_point(|r| r.1 <= una);
        self.sacked_ranges.drain(..gone);
        if let Some(first) = self.sacked_ranges.first_mut() {
            first.0 = first.0.max(una);
        }
    }

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
            // Linux reads SACK blocks before the cumulative acknowledgement.
            let cumulative = progress.delivered > progress.sacked;
            let last = progress.last.or(progress.newest);
            progress.sacked += len;
            progress.segments += 1;
            progress.delivered += len;
            note_delivery(&before, progress);
            if cumulative {
                progress.last = last;
            }
        }
    }
}

#[inline]
fn note_delivery(s: &SentSegment, progress: &mut AckProgress) {
    let retransmitted = s.was_retransmitted();
    let this = Newest { sent_at: s.sent_at, end: s.end(), retransmitted, order: s.order };
    if progress.newest.is_some() {
        return note_another_delivery(s, this, progress);
    }
    progress.newest = Some(this);
    if !retransmitted {
        progress.earliest_sent = Some(s.sent_at);
        progress.latest_sent = Some(s.sent_at);
        progress.lowest_original = Some(s.start);
    }
}

fn note_another_delivery(s: &SentSegment, this: Newest, progress: &mut AckProgress) {
    if !this.retransmitted {
        let earliest = progress.earliest_sent.map_or(s.sent_at, |t| t.min(s.sent_at));
        progress.earliest_sent = Some(earliest);
        progress.latest_sent = progress.latest_sent.max(Some(s.sent_at));
        let lowest = progress.lowest_original.map_or(s.start, |l| l.min(s.start));
        progress.lowest_original = Some(lowest);
    }
    progress.last = Some(this);
    let newer = |n: Newest| (this.sent_at, this.end) > (n.sent_at, n.end);
    if progress.newest.is_none_or(newer) {
        progress.newest = Some(this);
    }
}
