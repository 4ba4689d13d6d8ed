//! Segments that leave are booked on the scoreboard, with recovery, and by the timer.

use crate::{Sender, StampClock};
use path::Path;
use policy::recovery::{SentInfo, SkippableCalls};
use units::Instant;

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub struct LeavingSegment {
    /// Instant at which it leaves.
    pub now: Instant,
    /// Its first offset.
    pub start: u64,
    /// The offsets that it takes, SYN and FIN included.
    pub len: u64,
    /// Its index on the scoreboard if it was sent before.
    pub index: Option<usize>,
}

impl LeavingSegment {
    const fn end(&self) -> u64 {
        self.start + self.len
    }
}

impl Sender {
    /// Puts a segment on the scoreboard.
    #[inline(always)]
    pub fn book(&mut self, path: &mut Path, leaving: &LeavingSegment) {
        let order = path.next_order();
        if path.is_metered() {
            let marks = self.marks.get_or_insert_default();
            path.mark_sent(leaving.now, self.board.is_empty(), marks);
        }
        match leaving.index {
            Some(index) => self.book_again(index, leaving.now, order),
            None => {
                self.board.push(leaving.start, leaving.len as u32, leaving.now, order);
                self.nxt = leaving.end();
                self.timer.time_segment(leaving.end(), leaving.now);
            }
        }
        self.counts.data_segments_sent += 1;
    }

    fn book_again(&mut self, index: usize, now: Instant, order: u64) {
        self.board.retransmit(index, now, order);
        self.counts.retransmitted_segments += 1;
        // A timed segment that is retransmitted can no longer be timed (Karn).
        let end = self.board.segment(index).map_or(0, |s| s.end());
        self.timer.stop_timing_of(end);
    }

    /// The segment just booked has low priority.
    #[cold]
    pub fn note_low_priority(&mut self) {
        self.board.note_low_priority();
    }

    /// The segment just booked has left: recovery is notified, and the timer runs. `clock`: of the
    /// timestamps that it carries, if it has any.
    #[inline(always)]
    pub fn note_left(
        &mut self,
        path: &mut Path,
        leaving: &LeavingSegment,
        clock: Option<StampClock>,
    ) {
        let is_again = leaving.index.is_some();
        if is_again {
            self.end_burst(path);
            self.recovery.void_skippable_calls();
        }
        if is_again || self.recovery.capabilities().follows_new_data {
            self.recovery.on_sent(&SentInfo {
                now: leaving.now,
                segments: 1,
                len: leaving.len,
                end: leaving.end(),
                retransmission: is_again,
                srtt: path.rtt().srtt(),
                rto: path.rto(self.backoff()),
            });
        }
        if is_again && self.retransmit_stamp.is_none() && self.recovery.state().may_be_needless {
            self.retransmit_stamp = clock.map(|clock| clock.stamp(leaving.now));
        }
        self.end_leaving(path, leaving);
    }

    /// As [`Sender::note_left`], of new data, for a driver that runs timers only when packets show
    /// that they have run out: recovery may be notified of it later, together with others.
    #[inline(always)]
    pub fn note_left_lazily(&mut self, path: &mut Path, leaving: &LeavingSegment) {
        debug_assert!(leaving.index.is_none());
        if self.recovery.burst.counts(leaving.now) {
            return self.end_leaving(path, leaving);
        }
        self.note_left(path, leaving, None);
    }

    #[inline(always)]
    fn end_leaving(&mut self, path: &mut Path, leaving: &LeavingSegment) {
        if self.is_timer_stopped() {
            self.restart_timer(leaving.now, path);
        }
        self.settle_in_flight(path);
    }

    /// The timer does not run.
    pub fn is_timer_stopped(&self) -> bool {
        !self.timer.is_running()
    }

    /// Returns the bytes that the window leaves, where that is all that new data has to ask:
    /// recovery is at [`SkippableCalls::Open`], and no loss waits for its retransmission.
    #[inline(always)]
    pub fn open_allowance(&self, path: &Path) -> Option<u64> {
        let is_open = self.recovery.skippable_calls() >= SkippableCalls::Open
            && !self.board.is_empty()
            && self.board.waiting() == 0
            && !self.probe_pending;
        if !is_open {
            return None;
        }
        let in_flight = self.others_in_flight(path) + self.board.pipe();
        Some(path.usable_cwnd().saturating_sub(in_flight))
    }

    /// A segment that timed out waits for its retransmission.
    pub const fn has_pending_repair(&self) -> bool {
        self.repair_pending
    }

    /// The segment that timed out is retransmitted.
    pub const fn end_pending_repair(&mut self) {
        self.repair_pending = false;
    }
}
