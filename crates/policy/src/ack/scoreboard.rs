//! A connection's outstanding segments, in order, with their state: sent, selectively acknowledged,
//! lost, retransmitted.
//!
//! Offsets are 64-bit positions in the send sequence space (0 is the SYN), so nothing here wraps.
//! Four running sums give the bytes in flight (`pipe` of RFC 6675 §3) without a walk. A list of
//! merged SACK ranges makes a repeated SACK block cost nothing.

mod progress;
mod sacks;
mod segment;

pub use progress::{AckProgress, Newest, RepeatedSegments};
pub use segment::SentSegment;

use segment::{IN_FLIGHT_AGAIN, LOST, LOW_PRIORITY, OVERDUE, SACKED};
use std::collections::VecDeque;
use units::Instant;

/// Outstanding segments in sequence order with their fates.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<SentSegment>,
    sacked_ranges: Vec<(u64, u64)>,
    outstanding: u64,
    sacked: u64,
    lost: u64,
    again: u64,
    /// Bytes of the SACKed ones that were lost, less those that were retransmitted, before they
    /// were SACKed.
    lost_beneath_sacks: u64,
    /// No segment before this offset is lost and waits to be retransmitted.
    lost_hint: u64,
    losses: u64,
}

impl Scoreboard {
    /// Creates an empty scoreboard with room for `segments` segments before it allocates memory.
    pub fn with_room(segments: usize) -> Self {
        Self { segments: VecDeque::with_capacity(segments), ..Self::default() }
    }

    /// Bytes sent and not cumulatively acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }
    /// Bytes of the outstanding ones that are selectively acknowledged.
    pub fn sacked(&self) -> u64 {
        self.sacked
    }
    /// Bytes of the outstanding ones that are presumed lost.
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
    /// Segments retransmitted and presumed on their way.
    pub fn segments_again(&self) -> usize {
        match self.again {
            0 => 0,
            _ => self.segments.iter().filter(|s| s.is_retransmission_in_flight()).count(),
        }
    }
    /// Bytes presumed in the network: RFC 6675 §3 `pipe`.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.again
    }
    /// Returns the value of [`Scoreboard::pipe`] without any SACK.
    pub fn pipe_ignoring_sacks(&self) -> u64 {
        self.pipe() + self.sacked - self.lost_beneath_sacks
    }
    /// Lost bytes that wait to be retransmitted.
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
        match self.find_ending_after(offset) {
            Some((at, segment)) => at + usize::from(segment.start < offset),
            None => self.segments.partition_point(|s| s.start < offset),
        }
    }

    /// Index of the first segment that ends after `offset`.
    fn index_reaching(&self, offset: u64) -> usize {
        match self.find_ending_after(offset) {
            Some((at, _)) => at,
            None => self.segments.partition_point(|s| s.end() <= offset),
        }
    }

    /// Returns the first segment that ends after `offset`, with its index. If all segments have one
    /// size, as is usual, no search is needed. `None`: the caller must search.
    #[inline(always)]
    fn find_ending_after(&self, offset: u64) -> Option<(usize, &SentSegment)> {
        let first = self.segments.front()?;
        let Some(beyond) = offset.checked_sub(first.end()) else { return Some((0, first)) };
        let at = 1 + (beyond / u64::from(first.len)) as usize;
        let segment = self.segments.get(at)?;
        (segment.start <= offset && offset < segment.end()).then_some((at, segment))
    }

    /// Records a first transmission: its time, and its position in the path's order of sending.
    /// `start` continues where the last one ended.
    #[inline]
    pub fn push(&mut self, start: u64, len: u32, sent_at: Instant, order: u64) {
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

    /// Records that the segment at `index` is retransmitted: the time, and its new position.
    pub fn retransmit(&mut self, index: usize, now: Instant, order: u64) {
        let s = &mut self.segments[index];
        if s.is_lost() && !s.is_retransmission_in_flight() {
            s.marks |= IN_FLIGHT_AGAIN;
            self.again += u64::from(s.len);
        }
        s.marks &= !OVERDUE;
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

    /// Presumes a segment lost as [`Scoreboard::mark_lost`] does, because a later one was delivered
    /// (RFC 8985 §6.2).
    pub fn mark_overdue(&mut self, index: usize) -> u64 {
        let lost = self.mark_lost(index);
        if lost > 0 {
            self.segments[index].marks |= OVERDUE;
        }
        lost
    }

    /// Presumes all segments lost that are not SACKed (RFC 6298 §5.4 with go-back-N; RFC 8985
    /// §6.3).
    pub fn mark_all_lost(&mut self) -> u64 {
        (0..self.segments.len()).map(|i| self.mark_lost(i)).sum()
    }

    /// Forgets every loss: the timeout or fast retransmit was spurious. Retransmitted segments
    /// count once more as in flight.
    pub fn forgive_losses(&mut self) {
        for s in &mut self.segments {
            s.marks &= !(LOST | IN_FLIGHT_AGAIN);
        }
        self.lost_beneath_sacks = 0;
        self.lost = 0;
        self.again = 0;
    }

    /// Forgets every SACK: after a timeout the receiver may have reneged (RFC 2018 §8). Segments
    /// that were lost before they were SACKed are lost again.
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

    /// Returns the index of the lowest segment that is lost and was not retransmitted since.
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

    /// Removes all segments below `una`; a segment acknowledged in part keeps its rest. Returns
    /// true on the fast path. There these are whole segments that were sent once, without a SACK or
    /// loss, and the ACK had no delivery before them.
    #[inline(always)]
    pub fn acknowledge(&mut self, una: u64, progress: &mut AckProgress) -> bool {
        let is_first = progress.newest.is_none();
        let is_plain = is_first && self.acknowledge_plain(una, progress) == una;
        if !is_plain {
            self.acknowledge_rest(una, progress);
        }
        if !self.sacked_ranges.is_empty() {
            self.trim_ranges(una);
        }
        is_plain
    }

    /// Acknowledges segments that are not plain, or only in part.
    // Out of line: most ACKs end where a plain segment does, so that this has nothing to do.
    #[inline(never)]
    fn acknowledge_rest(&mut self, una: u64, progress: &mut AckProgress) {
        let mut again = self.acknowledge_sacked(una, progress);
        while let Some(segment) = self.segments.pop_front_if(|first| first.end() <= una) {
            progress.segments += 1;
            again |= segment.was_retransmitted();
            self.record_acked(&segment, u64::from(segment.len), progress);
            again |= self.acknowledge_sacked(una, progress);
        }
        if let Some(first) = self.segments.front_mut().filter(|first| first.start < una) {
            let segment = *first;
            let part = una - segment.start;
            first.start = una;
            first.len -= part as u32;
            again |= segment.was_retransmitted();
            self.record_acked(&segment, part, progress);
            progress.partial = if segment.is_sacked() { 0 } else { part };
        }
        progress.again |= again;
    }

    /// Removes the first segments below `una`, as long as they are SACKed, after a hole was filled.
    /// Their delivery was reported before. Returns true if one of them had been retransmitted.
    #[inline]
    fn acknowledge_sacked(&mut self, una: u64, progress: &mut AckProgress) -> bool {
        let sacked = |first: &mut SentSegment| first.end() <= una && first.is_sacked();
        let (mut bytes, mut waiting, mut again) = (0, 0, false);
        while let Some(segment) = self.segments.pop_front_if(sacked) {
            let len = u64::from(segment.len);
            bytes += len;
            waiting += segment.waiting_beneath_sack(len);
            again |= segment.was_retransmitted();
        }
        self.outstanding -= bytes;
        self.sacked -= bytes;
        self.lost_beneath_sacks -= waiting;
        progress.acked += bytes;
        again
    }

    /// Removes the first segments below `una`, as long as they are plain: nearly all. They are the
    /// first deliveries of the ACK, and their changes are recorded once for all of them. Returns
    /// the end of the last of them; zero if there is none.
    #[inline]
    fn acknowledge_plain(&mut self, una: u64, progress: &mut AckProgress) -> u64 {
        let plain = |first: &mut SentSegment| first.end() <= una && first.is_plain();
        let Some(first) = self.segments.pop_front_if(plain) else { return 0 };
        let (mut newest, mut earliest, mut latest) = (first, first.sent_at, first.sent_at);
        let (mut segments, mut bytes, mut reached) = (1, u64::from(first.len), first.end());
        // The end of the ACK is compared first: mostly it is here, and the next segment need not be
        // read.
        while reached < una
            && let Some(next) = self.segments.pop_front_if(plain)
        {
            segments += 1;
            reached = next.end();
            bytes += u64::from(next.len);
            earliest = earliest.min(next.sent_at);
            latest = latest.max(next.sent_at);
            // It ends after those before it.
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

    /// Records `part` bytes of a cumulatively acknowledged segment.
    #[inline]
    fn record_acked(&mut self, s: &SentSegment, part: u64, progress: &mut AckProgress) {
        self.outstanding -= part;
        progress.acked += part;
        if s.marks != 0 {
            self.settle_marked(s, part);
        }
        if !s.is_sacked() {
            progress.delivered += part;
            progress.note_delivery(s);
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
}
