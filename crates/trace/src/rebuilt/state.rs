//! The event that a sender waits for.

use super::RebuiltSender;
use crate::kinds::SenderPhase;
use crate::transfer::{Flight, SenderState, SenderWait};
use units::Instant;

impl RebuiltSender {
    /// Returns what the sender waits for from `now` on, and its clock.
    #[inline(never)]
    pub(crate) fn state(&mut self, now: Instant) -> SenderState {
        SenderState { paced_until: self.paced_until(now), ..self.unpaced_state() }
    }

    /// Returns true if its pacer may spread its segments over time.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.path.is_paced()
    }

    /// Returns the same as [`RebuiltSender::state`] for a sender without pacing, inlined at its hot
    /// caller.
    #[inline(always)]
    pub(crate) fn unpaced_state(&mut self) -> SenderState {
        SenderState {
            flight: self.flight(),
            srtt: self.srtt(),
            min_rtt: self.min_rtt(),
            mss: self.core.mss(),
            paced_until: None,
            slow_start: self.path.in_startup(),
        }
    }

    /// Returns the part of its state that each sent segment may change.
    #[inline(always)]
    pub(crate) fn flight(&mut self) -> Flight {
        let has_small = self.core.has_small_outstanding();
        let (wait, spare) = self.sender_wait(has_small);
        Flight {
            wait,
            has_ended: self.has_ended(),
            has_small,
            cwnd: self.cwnd(),
            spare,
            outstanding: self.core.board().outstanding(),
        }
    }

    /// Returns until when the pacer keeps data back, less an interval: real pacers send more at
    /// once.
    #[inline(always)]
    fn paced_until(&self, now: Instant) -> Option<Instant> {
        if self.path.is_paced() { self.release_by_pacer(now) } else { None }
    }

    #[cold]
    fn release_by_pacer(&self, now: Instant) -> Option<Instant> {
        let due = self.path.due(now)?;
        let sent = self.core.last_sent().unwrap_or(now);
        Some(due + due.saturating_since(sent))
    }

    /// Returns what the sender waits for, and how many bytes its window still allows. `has_small`:
    /// whether a segment below the MSS is outstanding.
    #[inline(always)]
    fn sender_wait(&mut self, has_small: bool) -> (SenderWait, u64) {
        if self.core.board().is_empty() {
            let wait = if self.is_shut_out() { SenderWait::Shut } else { SenderWait::Nothing };
            return (wait, self.cwnd());
        }
        match self.phase() {
            SenderPhase::Handshake => (SenderWait::Opening, 0),
            SenderPhase::Recovery | SenderPhase::Loss => (SenderWait::Repair, 0),
            phase => self.wait_for_room(phase == SenderPhase::SlowStart, has_small),
        }
    }

    /// Returns true if the peer's window has no room for a full segment and there may be more to
    /// send: the window is shut (RFC 9293 §3.8.6.2.1).
    #[inline]
    pub(crate) const fn is_shut_out(&self) -> bool {
        self.core.window() < self.core.mss() && !self.core.has_fin()
    }

    /// Returns the room of the window in bytes, where each outstanding segment counts as a full
    /// one.
    fn room_for_segments(&self) -> u64 {
        let segments = self.core.board().len() as u64;
        self.path.usable_cwnd().saturating_sub(segments * self.core.mss())
    }

    /// Returns what the sender waits for while no loss is repaired, and how many bytes its window
    /// still allows. `has_small`: as for [`Self::sender_wait`].
    #[inline(always)]
    fn wait_for_room(&mut self, slow_start: bool, has_small: bool) -> (SenderWait, u64) {
        let mss = self.core.mss();
        let mut spare = self.allowance();
        if has_small && self.counts_segments {
            spare = spare.min(self.room_for_segments());
        }
        let wait = if self.has_ended() && self.core.nxt() >= self.core.end() {
            SenderWait::Application
        } else if self.core.window_edge() < self.core.nxt() + mss {
            // If both windows are full, the receiver's counts, as in the account of a race.
            let has_shrunk = self.core.window() + mss <= self.core.largest_window();
            if has_shrunk { SenderWait::SlowReader } else { SenderWait::Receiver }
        } else if spare < mss {
            if slow_start { SenderWait::SlowStart } else { SenderWait::Avoidance }
        } else {
            SenderWait::Application
        };
        (wait, spare)
    }
}
