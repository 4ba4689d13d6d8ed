//! What a stock connection would send at once by now: after a warm start only what exceeds that is paced. Spaced, short answers of
//! several connections would come side by side and all end last (`pace_beyond_stock` of the agent's `cubic.h`).

use super::pacing::SocketPacing;
use crate::startup::attended::Situation;

/// What any connection may begin with, segments (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// The window that a stock connection would have, of a warm one that only the start-up paces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BesideStock {
    /// Segments; 0: nothing is compared.
    window: u64,
}

impl BesideStock {
    /// It begins a first flight (`is_warm`); a stock connection would have `stock` segments here.
    pub(super) const fn begin(&mut self, is_warm: bool, stock: u64) {
        self.window = if is_warm { stock } else { 0 };
    }

    /// Once more: what it has had so far was warm, too, and after idle the kernel leaves a part of that.
    pub(super) fn begin_again(&mut self, is_warm: bool, cold: u64) {
        self.begin(is_warm, cold.min(self.window.max(INITIAL_WINDOW)));
    }

    pub(super) const fn leave(&mut self) {
        self.window = 0;
    }

    pub(super) const fn is_compared(&self) -> bool {
        self.window > 0
    }

    /// Slow start as the kernel has it (`tcp_is_cwnd_limited`): until all of the window is twice what was used.
    pub(super) const fn grow(&mut self, max_outstanding: u64, acked: u64) {
        if self.window > 0 && self.window < 2 * max_outstanding {
            self.window += acked;
        }
    }

    /// Asked before each sending; as soon as more is to leave than a stock connection would send at once, what has not left is
    /// paced, until all has arrived. `unacked`: bytes written and not acknowledged.
    pub(super) fn pace(
        &self,
        pacing: &mut SocketPacing,
        at: &Situation<'_>,
        unacked: u64,
        mss: u64,
    ) {
        if self.window == 0 {
            return;
        }
        let outstanding = at.outstanding().div_ceil(mss);
        if unacked > self.window * mss || outstanding >= self.window {
            pacing.keep_paced();
        } else if outstanding == 0 {
            pacing.burst();
        }
    }
}
