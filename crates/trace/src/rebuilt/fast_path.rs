//! The fast path for most packets of a sender: new data that follows the data before. It does the
//! same as `observed`, which handles all other packets.

use super::RebuiltSender;
use super::observed::MAX_UNANSWERED;
use sender::LeavingSegment;
use units::Instant;

impl RebuiltSender {
    /// Books `payload` bytes sent from `start` on, without a FIN. Returns false, with nothing
    /// changed, if they are not simply the next ones.
    #[inline]
    pub(crate) fn on_next_data(
        &mut self,
        at: Instant,
        start: u64,
        payload: u64,
        push: bool,
    ) -> bool {
        let mss = self.core.mss();
        // One byte may be a probe. With nothing outstanding, sending resumes.
        let is_next = start == self.core.nxt() && (2..=mss).contains(&payload) && self.may_send();
        let len = self.core.board().len();
        let is_usual = len > 0 && len + 1 < MAX_UNANSWERED;
        if !is_next || !is_usual {
            return false;
        }
        if self.core.recovery_deadline_by(at, &self.path).is_some_and(|due| due <= at) {
            return false;
        }
        self.check_answer(at, payload);
        let end = start + payload;
        self.core.write_up_to(self.core.written().max(end));
        self.set_ended(push && payload < mss && end < self.core.window_edge());
        self.path.set_now(at);
        let leaving = LeavingSegment { now: at, start, len: payload, index: None };
        self.core.book(&mut self.path, &leaving);
        if payload < mss {
            self.note_small(end);
        }
        self.notify_path(at, payload as u32, payload);
        self.core.note_left_lazily(&mut self.path, &leaving);
        self.check_outstanding();
        true
    }
}
