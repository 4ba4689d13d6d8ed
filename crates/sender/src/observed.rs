//! A sender that is observed from outside: packets show its actions, even if its policies would
//! have acted otherwise.

use crate::Sender;
use path::Path;
use policy::ack::{AckProgress, Scoreboard};
use units::Instant;

impl Sender {
    /// Begins in the middle of a stream: all data below `offset` is acknowledged.
    pub const fn begin_at(&mut self, offset: u64) {
        self.una = offset;
        self.nxt = offset;
        self.written = offset;
    }

    /// Continues at `offset`, as if all data before were acknowledged: more is missing than any
    /// window holds.
    pub fn jump_to(&mut self, path: &mut Path, offset: u64) {
        self.board = Scoreboard::default();
        self.set_mss(self.terms.mss);
        // They are of discarded segments, and count their losses.
        self.marks = None;
        self.una = offset;
        self.nxt = offset;
        self.pause_timer();
        self.settle_in_flight(path);
    }

    /// Forgets the first `segments` that are outstanding: they were acknowledged unseen.
    pub fn forget_first(&mut self, path: &mut Path, segments: usize) {
        let Some(start) = self.board.segment(segments).map(|segment| segment.start) else {
            return;
        };
        self.una = start;
        self.board.acknowledge(start, &mut AckProgress::default());
        self.settle_in_flight(path);
    }

    /// Cuts outstanding segments so that one begins at `start` and one ends at `end`. Returns the
    /// index of the first on the scoreboard.
    pub fn cut_out(&mut self, start: u64, end: u64) -> usize {
        let index = self.board.index_from(start);
        let segment = self.board.segment(index);
        if segment.is_some_and(|segment| segment.start == start && segment.end() == end) {
            // In most cases a retransmission covers the same segment as before.
            return index;
        }
        self.board.split_at(start);
        self.board.split_at(end);
        self.board.index_from(start)
    }

    /// The segment at `index` on the scoreboard is lost, as its retransmission shows.
    pub fn mark_lost(&mut self, index: usize) {
        self.board.mark_lost(index);
    }

    /// Recovery, which may mark losses only when it is asked, would retransmit the segment at
    /// `index` now.
    pub fn would_repair(&mut self, path: &Path, index: usize, may_send: bool) -> bool {
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        recovery.state().recovery_point.is_some()
            && recovery.next_retransmission(&mut cx) == Some(index)
    }

    /// Returns when the last outstanding segment left.
    pub fn last_sent(&self) -> Option<Instant> {
        self.board.iter().next_back().map(|segment| segment.sent_at)
    }
}
