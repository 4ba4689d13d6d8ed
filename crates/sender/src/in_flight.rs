//! What a sender has in flight, and what it shares of that with its path and its recovery policy.

use crate::Sender;
use crate::repairs::Repairs;
use path::Path;
use policy::recovery::RecoveryContext;

/// Timeouts in a row after which a member of a shared path counts as silent.
const SILENT_AFTER: u32 = 2;

impl Sender {
    /// What other members of the path have in flight, bytes.
    #[inline(always)]
    pub fn others_in_flight(&self, path: &Path) -> u64 {
        path.bytes_in_flight() - self.last_in_flight
    }

    /// The window as a recovery policy sees it: what other members of the path have in flight is
    /// taken from it, and SYN and FIN take none.
    #[inline(always)]
    pub(crate) fn window_for_recovery(&self, path: &Path) -> u64 {
        path.usable_cwnd().saturating_sub(self.others_in_flight(path)) + self.control_outstanding()
    }

    /// Splits off what a recovery policy works on, to notify or to ask it. Its stance is void then.
    #[inline(always)]
    pub(crate) fn recovery_parts<'a>(
        &'a mut self,
        path: &Path,
        may_send: bool,
    ) -> (&'a mut Repairs, RecoveryContext<'a>) {
        self.end_burst(path);
        self.recovery.void_stance();
        let new_data = may_send && self.has_admitted_data();
        let context = RecoveryContext {
            cwnd: self.window_for_recovery(path),
            ssthresh: path.window().ssthresh(),
            mss: self.terms.mss,
            srtt: path.rtt.srtt(),
            min_rtt: path.rtt.min_rtt(),
            rto: path.rto(self.timer.backoff),
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

    /// Tells the path what this sender now has in flight.
    #[inline(always)]
    pub fn settle_in_flight(&mut self, path: &mut Path) {
        let pipe = self.board.pipe();
        let share = if path.is_shared() { self.share_in_flight(pipe) } else { pipe };
        path.move_in_flight(self.last_in_flight, share);
        self.last_in_flight = share;
    }

    /// What takes room in the window of a path that others share, of `pipe` that are in flight as
    /// far as the scoreboard tells.
    #[cold]
    fn share_in_flight(&self, pipe: u64) -> u64 {
        if self.timer.retries >= SILENT_AFTER {
            // Nobody answers. What it sends again now and then is not to keep others from sending.
            return 0;
        }
        let pipe = pipe.saturating_sub(self.control_outstanding());
        if self.terms.sack {
            return pipe;
        }
        // Duplicates tell of what was sent once and is not taken for lost.
        let original = pipe.saturating_sub(self.board.retransmissions_in_flight());
        pipe - self.recovery.state().left_network.min(original)
    }

    /// The connection is over: nothing is outstanding any more.
    pub fn release(&mut self, path: &mut Path) {
        path.move_in_flight(self.last_in_flight, 0);
        self.last_in_flight = 0;
    }
}
