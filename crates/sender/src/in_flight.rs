//! A sender's data in flight, and the part of it that its path and its recovery policy share.

use crate::Sender;
use crate::repairs::Repairs;
use path::Path;
use policy::recovery::RecoveryContext;

/// Timeouts in a row after which a member of a shared path counts as silent.
const SILENT_AFTER: u32 = 2;

impl Sender {
    /// Data that other members of the path have in flight, bytes.
    #[inline(always)]
    pub fn others_in_flight(&self, path: &Path) -> u64 {
        path.bytes_in_flight() - self.last_in_flight
    }

    /// The window as a recovery policy sees it: the data in flight of other members of the path is
    /// subtracted, and SYN and FIN take none.
    #[inline(always)]
    pub(crate) fn window_for_recovery(&self, path: &Path) -> u64 {
        path.usable_cwnd().saturating_sub(self.others_in_flight(path)) + self.control_outstanding()
    }

    /// Returns the recovery policy and its context, to notify or to ask it. The kept
    /// `SkippableCalls` is void then.
    #[inline(always)]
    pub(crate) fn recovery_parts<'a>(
        &'a mut self,
        path: &Path,
        may_send: bool,
    ) -> (&'a mut Repairs, RecoveryContext<'a>) {
        self.end_burst(path);
        self.recovery.void_skippable_calls();
        let new_data = may_send && self.has_admitted_data();
        let context = RecoveryContext {
            cwnd: self.window_for_recovery(path),
            ssthresh: path.window().ssthresh(),
            mss: self.terms.mss,
            srtt: path.rtt().srtt(),
            min_rtt: path.rtt().min_rtt(),
            rto: path.rto(self.timer.backoff()),
            snd_nxt: self.nxt,
            new_data,
            shared: path.has_several_users() || path.is_ruled(),
            board: &mut self.board,
        };
        (&mut self.recovery, context)
    }

    /// SYN and FIN outstanding: they take sequence space but no window.
    pub(crate) fn control_outstanding(&self) -> u64 {
        u64::from(self.una == 0 && self.nxt > 0) + u64::from(self.nxt > self.written)
    }

    /// Updates the path's count of this sender's data in flight.
    #[inline(always)]
    pub fn settle_in_flight(&mut self, path: &mut Path) {
        let pipe = self.board.pipe();
        let share = if path.is_shared() { self.share_in_flight(pipe) } else { pipe };
        path.move_in_flight(self.last_in_flight, share);
        self.last_in_flight = share;
        path.note_segments_out(self.board.len() as u64);
    }

    /// Part of the `pipe` bytes in flight by the scoreboard that takes room in the window of a
    /// shared path.
    #[cold]
    fn share_in_flight(&self, pipe: u64) -> u64 {
        if self.retries() >= SILENT_AFTER {
            // The peer does not answer. Occasional retransmissions are not to keep other members
            // from sending.
            return 0;
        }
        let pipe = pipe.saturating_sub(self.control_outstanding());
        if self.terms.sack {
            return pipe;
        }
        // Duplicates report original transmissions that are not taken for lost.
        let original = pipe.saturating_sub(self.board.retransmissions_in_flight());
        pipe - self.recovery.state().left_network.min(original)
    }

    /// The connection is over: nothing is outstanding any more.
    pub fn release(&mut self, path: &mut Path) {
        path.move_in_flight(self.last_in_flight, 0);
        self.last_in_flight = 0;
    }
}
