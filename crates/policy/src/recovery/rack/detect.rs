//! RACK's rule: a segment is lost if one sent later was delivered and it is overdue by the
//! reordering window (RFC 8985 §6.2 steps 2 and 5).
//!
//! The rule needs segments in the order they were sent. First transmissions are in that order on
//! the scoreboard already; a frontier remembers below which all of them are decided. Later
//! transmissions wait in a queue of their own. So an ACK touches only what it may decide.

use crate::ack::{Newest, Scoreboard, SentSegment};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// The newest delivery, and the segments that wait to be compared with it.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    newest: Option<(Instant, u64)>,
    /// Round trip of the delivery seen last.
    rtt: Duration,
    /// A delivery was reported since the last judgement.
    advanced: bool,
    /// Every first transmission below this offset is decided.
    frontier: u64,
    /// Send times of retransmissions, and the offset one past their end; ascending in time.
    again: VecDeque<(Instant, u64)>,
}

/// Result of a judgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Bytes newly presumed lost.
    pub(super) lost: u64,
    /// A retransmission was among them.
    pub(super) retransmission: bool,
    /// Longest wait until the segments that are not yet overdue will be.
    pub(super) wait: Option<Duration>,
}

/// The rule for overdue segments: sent before the `newest` delivered one, by send time and end, and
/// longer ago than `window` allows at `now`.
struct Judgement {
    newest: (Instant, u64),
    now: Instant,
    window: Duration,
}

impl Detector {
    pub(super) const fn new() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            advanced: false,
            frontier: 0,
            again: VecDeque::new(),
        }
    }

    /// Records a segment that an ACK delivered, unless it may be the original, because its
    /// retransmission could not be answered so soon. The round trip is that of the segment recorded
    /// last.
    pub(super) fn on_delivered(&mut self, delivery: Newest, now: Instant, spurious: bool) {
        if delivery.retransmitted && spurious {
            return;
        }
        self.on_original(delivery.sent_at, delivery.end, now);
    }

    /// Records the delivery of a segment that was sent at `sent_at` and ends at `end`, and is not
    /// in doubt.
    #[inline]
    pub(super) fn on_original(&mut self, sent_at: Instant, end: u64, now: Instant) {
        self.advanced = true;
        self.rtt = now.saturating_since(sent_at);
        let this = (sent_at, end);
        if self.newest.is_none_or(|newest| newest < this) {
            self.newest = Some(this);
        }
    }

    /// Records a retransmission of the segment that ends at `end`.
    pub(super) fn on_retransmitted(&mut self, now: Instant, end: u64) {
        self.again.push_back((now, end));
    }

    /// Asks for a judgement though nothing was delivered: a reduction was undone.
    pub(super) fn force_detection(&mut self) {
        self.advanced = true;
    }

    /// True if something was delivered since the last judgement.
    pub(super) const fn is_due(&self) -> bool {
        self.advanced
    }

    /// Time until the segment last sent at `sent_at` is overdue; `None` if it is.
    pub(super) fn remaining(
        &self,
        sent_at: Instant,
        now: Instant,
        window: Duration,
    ) -> Option<Duration> {
        let left = (self.rtt + window).saturating_sub(now.saturating_since(sent_at));
        (!left.is_zero()).then_some(left)
    }

    /// Marks every overdue segment lost.
    pub(super) fn mark_overdue(
        &mut self,
        board: &mut Scoreboard,
        now: Instant,
        w: Duration,
    ) -> Verdict {
        self.advanced = false;
        let mut verdict = Verdict::default();
        if let Some(newest) = self.newest {
            let by = Judgement { newest, now, window: w };
            self.judge_originals(board, &by, &mut verdict);
            self.judge_retransmissions(board, &by, &mut verdict);
        }
        verdict
    }

    /// Makes everything outstanding be judged again: losses were forgiven or SACKs forgotten. A
    /// segment that was found overdue once is not found so again before it is retransmitted: a
    /// timeout repairs it (Linux removes it from `tsorted_sent_queue`).
    pub(super) fn recheck_all(&mut self, board: &Scoreboard) {
        self.advanced = true;
        self.frontier = 0;
        let waits = |s: &&SentSegment| s.was_retransmitted() && !s.is_sacked() && !s.was_overdue();
        let sent_again = board.iter().filter(waits);
        let mut again: Vec<_> = sent_again.map(|s| (s.sent_at, s.end())).collect();
        again.sort_unstable();
        self.again = again.into();
    }

    /// Takes deliveries of segments that were sent once, from `start` to the end of the `last`. If
    /// they follow all decided segments, and none delivered is newer, this records and judges them:
    /// later segments were sent later, and none is overdue. Otherwise it returns false, and nothing
    /// has changed.
    #[inline]
    pub(super) fn take_next_in_order(
        &mut self,
        board: &Scoreboard,
        start: u64,
        last: Newest,
        now: Instant,
    ) -> bool {
        let this = (last.sent_at, last.end);
        let is_next = start == self.frontier && board.highest_sacked() == Some(last.end);
        let is_newest = self.newest.is_none_or(|newest| newest < this);
        let is_first = self.again.front().is_none_or(|again| again.0 > last.sent_at);
        if !is_next || !is_newest || !is_first {
            return false;
        }
        self.newest = Some(this);
        self.rtt = now.saturating_since(last.sent_at);
        self.advanced = false;
        self.frontier = last.end;
        true
    }

    fn judge_originals(&mut self, board: &mut Scoreboard, by: &Judgement, verdict: &mut Verdict) {
        let mut index = board.index_from(self.frontier);
        let mut decided = true;
        while let Some(s) = board.segment(index) {
            let (mut next, mut end) = (index + 1, s.end());
            if s.is_sacked() {
                (next, end) = after_sacked(board, index, s);
            } else if !s.was_retransmitted() && !s.is_lost() && !s.was_overdue() {
                // Later segments were sent even later.
                if (s.sent_at, end) >= by.newest {
                    break;
                }
                match self.remaining(s.sent_at, by.now, by.window) {
                    Some(left) => {
                        verdict.wait = verdict.wait.max(Some(left));
                        decided = false;
                    }
                    None => verdict.lost += board.mark_overdue(index),
                }
            }
            index = next;
            if decided {
                self.frontier = end;
            }
        }
    }

    /// Removes the retransmission at a position of the queue, which is decided. Mostly it is the
    /// first.
    fn forget_again(&mut self, position: usize) {
        if position == 0 {
            self.again.pop_front();
        } else {
            self.forget_later(position);
        }
    }

    #[cold]
    fn forget_later(&mut self, position: usize) {
        self.again.remove(position);
    }

    fn judge_retransmissions(
        &mut self,
        board: &mut Scoreboard,
        by: &Judgement,
        verdict: &mut Verdict,
    ) {
        let mut position = 0;
        while let Some(&(sent_at, end)) = self.again.get(position) {
            if sent_at > by.newest.0 {
                // Later retransmissions are not overdue either. A later call removes those that are
                // decided.
                break;
            }
            let Some(index) = find_undecided(board, sent_at, end) else {
                self.forget_again(position);
                continue;
            };
            if (sent_at, end) >= by.newest {
                break;
            }
            if let Some(left) = self.remaining(sent_at, by.now, by.window) {
                verdict.wait = verdict.wait.max(Some(left));
                position += 1;
            } else {
                let in_flight = board.retransmissions_in_flight();
                verdict.lost += board.mark_overdue(index);
                verdict.retransmission |= board.retransmissions_in_flight() < in_flight;
                self.forget_again(position);
            }
        }
    }
}

/// Returns the index of the first segment after the SACKed segment `s` at `index` that its range
/// does not cover wholly, and the end of the segment before that one.
fn after_sacked(board: &Scoreboard, index: usize, s: &SentSegment) -> (usize, u64) {
    let end = end_of_range(board.sacked_ranges(), s);
    // Mostly the segment delivered last was the last of its range.
    if board.segment(index + 1).is_none_or(|next| next.end() > end) {
        return (index + 1, s.end());
    }
    let before = |next: usize| board.segment(next - 1).map_or(s.end(), SentSegment::end);
    let next = board.index_from(end).max(index + 1);
    // The range may end inside a segment: that one is not SACKed.
    let next = if before(next) > end { (next - 1).max(index + 1) } else { next };
    (next, before(next))
}

/// Returns the end of a segment's SACKed range. Mostly it is the highest range.
fn end_of_range(ranges: &[(u64, u64)], s: &SentSegment) -> u64 {
    if let Some(highest) = ranges.last().filter(|highest| highest.0 <= s.start) {
        return if highest.1 > s.start { highest.1 } else { s.end() };
    }
    let at = ranges.partition_point(|r| r.1 <= s.start);
    ranges.get(at).map_or(s.end(), |r| r.1)
}

/// Index of the segment that ends at `end`, if its transmission at `sent_at` is its last one and
/// neither delivered nor presumed lost.
fn find_undecided(board: &Scoreboard, sent_at: Instant, end: u64) -> Option<usize> {
    let index = board.index_from(end).checked_sub(1)?;
    let s = board.segment(index)?;
    let waiting = s.is_lost() && !s.is_retransmission_in_flight();
    let same = s.end() == end && s.sent_at == sent_at;
    (same && !s.is_sacked() && !waiting).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::AckProgress;

    const MSS: u64 = 1000;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// `n` segments sent 1 ms apart from 1 ms on.
    fn board(n: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for k in 0..n {
            board.push(k * MSS, MSS as u32, at(k + 1), k);
        }
        board
    }

    /// SACKs segments `[from, to)` and passes them to the detector at `now`.
    fn sack(d: &mut Detector, board: &mut Scoreboard, (from, to): (u64, u64), now: Instant) {
        let mut progress = AckProgress::default();
        board.sack(from * MSS, to * MSS, &mut progress);
        d.on_delivered(progress.newest.expect("delivery"), now, false);
    }

    fn lost(board: &Scoreboard) -> Vec<u64> {
        board.iter().filter(|s| s.is_lost()).map(|s| s.start / MSS).collect()
    }

    #[test]
    fn with_no_window_all_sent_before_the_newest_delivery_is_lost() {
        let (mut d, mut board) = (Detector::new(), board(10));
        sack(&mut d, &mut board, (3, 4), at(104));
        sack(&mut d, &mut board, (5, 6), at(106));
        let verdict = d.mark_overdue(&mut board, at(106), Duration::ZERO);
        assert_eq!(verdict, Verdict { lost: 4 * MSS, ..Verdict::default() });
        assert_eq!(lost(&board), [0, 1, 2, 4]);
        // Nothing is marked twice, and the frontier is at the newest delivery.
        assert_eq!(d.mark_overdue(&mut board, at(106), Duration::ZERO), Verdict::default());
        assert_eq!(d.frontier, 6 * MSS);
    }

    #[test]
    fn a_window_is_waited_from_when_the_segment_was_due() {
        let (mut d, mut board) = (Detector::new(), board(10));
        // Round trip 100 ms, window 20 ms: segment 0, sent at 1 ms, is overdue at 121 ms,
        // segment 1 a millisecond later.
        sack(&mut d, &mut board, (2, 3), at(103));
        let verdict = d.mark_overdue(&mut board, at(103), ms(20));
        assert_eq!(verdict, Verdict { wait: Some(ms(19)), ..Verdict::default() });
        let verdict = d.mark_overdue(&mut board, at(121), ms(20));
        assert_eq!(verdict, Verdict { lost: MSS, wait: Some(ms(1)), ..Verdict::default() });
        assert_eq!(lost(&board), [0]);
    }

    #[test]
    fn a_delivered_retransmission_judges_the_tail_and_older_retransmissions() {
        let (mut d, mut board) = (Detector::new(), board(6));
        sack(&mut d, &mut board, (2, 4), at(104));
        d.mark_overdue(&mut board, at(104), Duration::ZERO);
        assert_eq!(lost(&board), [0, 1]);
        for index in [0, 1] {
            let now = at(104 + index as u64);
            board.retransmit(index, now, 0);
            d.on_retransmitted(now, board.segment(index).unwrap().end());
        }
        // The second retransmission arrives, the first and the original tail (4, 5) do not.
        sack(&mut d, &mut board, (1, 2), at(205));
        let verdict = d.mark_overdue(&mut board, at(205), Duration::ZERO);
        assert_eq!(verdict, Verdict { lost: 3 * MSS, retransmission: true, wait: None });
        assert_eq!(lost(&board), [0, 4, 5]);
        assert_eq!(board.waiting(), 3 * MSS);
    }

    #[test]
    fn the_round_trip_is_that_of_the_highest_cumulative_delivery() {
        let (mut d, mut board) = (Detector::new(), board(6));
        board.retransmit(0, at(104), 6);
        // Segments 0, retransmitted at 104 ms, and 1, sent at 2 ms, are acknowledged; segment 4 is
        // SACKed.
        let mut progress = AckProgress::default();
        board.acknowledge(2 * MSS, &mut progress);
        board.sack(4 * MSS, 5 * MSS, &mut progress);
        for delivery in progress.newest.into_iter().chain(progress.last) {
            d.on_delivered(delivery, at(205), false);
        }
        assert_eq!(d.newest, Some((at(104), MSS)));
        // 205 - 2 ms. Segment 2, sent at 3 ms, is due 1 ms later.
        assert_eq!(d.remaining(at(3), at(205), Duration::ZERO), Some(ms(1)));
    }

    #[test]
    fn the_round_trip_is_that_of_the_highest_sack_whatever_the_order_of_blocks() {
        let (mut d, mut board) = (Detector::new(), board(6));
        // Segment n is sent at 1 + n ms. One ACK SACKs segment 4, sent at 5 ms, in its first block,
        // and segment 2, sent at 3 ms, in its second.
        let mut progress = AckProgress::default();
        board.sack(4 * MSS, 5 * MSS, &mut progress);
        board.sack(2 * MSS, 3 * MSS, &mut progress);
        for delivery in progress.newest.into_iter().chain(progress.last) {
            d.on_delivered(delivery, at(105), false);
        }
        // The round trip is 105 - 5 ms. Segment 3, sent at 4 ms, was due 1 ms ago; with 105 - 3 ms
        // it would be due in 1 ms.
        assert_eq!(d.mark_overdue(&mut board, at(105), Duration::ZERO).lost, 3 * MSS);
        assert_eq!(lost(&board), [0, 1, 3]);
    }

    #[test]
    fn an_ambiguous_delivery_judges_nothing() {
        let (mut d, mut board) = (Detector::new(), board(3));
        let newest = Newest { sent_at: at(50), end: 3 * MSS, retransmitted: true, order: 2 };
        d.on_delivered(newest, at(52), true);
        assert!(!d.is_due());
        assert_eq!(d.mark_overdue(&mut board, at(52), Duration::ZERO), Verdict::default());
    }

    #[test]
    fn a_segment_sacked_in_part_is_judged() {
        let (mut d, mut board) = (Detector::new(), board(6));
        let mut progress = AckProgress::default();
        board.sack(0, 2500, &mut progress);
        board.sack(4000, 6000, &mut progress);
        d.on_delivered(progress.newest.unwrap(), at(106), false);
        d.mark_overdue(&mut board, at(106), Duration::ZERO);
        assert_eq!(lost(&board), [2, 3]);
    }

    /// Linux `tcp_rack_detect_loss` removes marked segments from the list that it searches, and
    /// only a retransmission adds them again.
    #[test]
    fn forgiven_losses_that_were_overdue_are_not_judged_again() {
        let (mut d, mut board) = (Detector::new(), board(4));
        sack(&mut d, &mut board, (3, 4), at(104));
        d.mark_overdue(&mut board, at(104), Duration::ZERO);
        assert_eq!(lost(&board), [0, 1, 2]);
        board.retransmit(1, at(104), 4);
        d.on_retransmitted(at(104), 2 * MSS);
        board.forgive_losses();
        d.recheck_all(&board);
        assert_eq!(d.mark_overdue(&mut board, at(105), Duration::ZERO).lost, 0);
        // Segment 1 was retransmitted, so it is judged: it is overdue once a later segment is
        // delivered.
        board.push(4 * MSS, MSS as u32, at(110), 5);
        sack(&mut d, &mut board, (4, 5), at(210));
        assert_eq!(d.mark_overdue(&mut board, at(210), Duration::ZERO).lost, MSS);
        assert_eq!(lost(&board), [1]);
    }

    /// Segments that a timeout has marked lost stay on Linux's list. Once forgiven, they are judged
    /// as if never marked.
    #[test]
    fn forgiven_losses_of_a_timeout_are_judged() {
        let (mut d, mut board) = (Detector::new(), board(4));
        board.mark_lost(0);
        board.mark_lost(1);
        sack(&mut d, &mut board, (3, 4), at(104));
        // Segment 2 is overdue; the others were lost already.
        assert_eq!(d.mark_overdue(&mut board, at(104), Duration::ZERO).lost, MSS);
        board.forgive_losses();
        d.recheck_all(&board);
        assert_eq!(d.mark_overdue(&mut board, at(105), Duration::ZERO).lost, 2 * MSS);
        assert_eq!(lost(&board), [0, 1]);
    }
}
