//! The amount that a stock connection would send at once by now: after a warm start only the excess
//! over that is paced. If short answers were spaced, those of several connections would be
//! interleaved and all end last (`pace_beyond_stock` of the agent's `cubic.h`).

use super::pacing::SocketPacing;
use crate::startup::hooked::Situation;

/// Initial window of any connection, segments (RFC 6928).
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

    /// Begins again. The window so far was warm, too, and after idle the kernel keeps a part of it.
    pub(super) fn begin_again(&mut self, is_warm: bool, cold: u64) {
        self.begin(is_warm, cold.min(self.window.max(INITIAL_WINDOW)));
    }

    pub(super) const fn leave(&mut self) {
        self.window = 0;
    }

    pub(super) const fn is_compared(&self) -> bool {
        self.window > 0
    }

    /// Grows as in the kernel's slow start (`tcp_is_cwnd_limited`): until the whole window is twice
    /// the part that was used.
    pub(super) const fn grow(&mut self, max_outstanding: u64, acked: u64) {
        if self.window > 0 && self.window < 2 * max_outstanding {
            self.window += acked;
        }
    }

    /// Decides on pacing before each sending. As soon as more is to leave than a stock connection
    /// would send at once, the rest is paced, until all is delivered. `unacked`: bytes written and
    /// not acknowledged.
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
