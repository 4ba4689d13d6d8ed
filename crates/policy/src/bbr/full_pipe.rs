//! Detection of a full path: the bandwidth has not grown by a quarter for three rounds in a row
//! (draft §4.3.2.2, `BBRCheckFullPipe`).

use super::Model;
use crate::ack::Delivery;
use arith::bbr::UNIT;

/// Growth that says that there is more.
const GROWTH: u64 = UNIT * 5 / 4;
/// Rounds without it that say that there is not.
const ROUNDS: u32 = 3;

/// The search for the plateau.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    level: u64,
    rounds: u32,
}

impl FullPipe {
    /// Checks the model after an ACK; true if the path is full. Rounds in which there was too
    /// little to send do not count.
    pub(crate) fn is_reached(&mut self, model: &Model, delivery: &Delivery) -> bool {
        let limited = delivery.rate.is_none_or(|rate| rate.app_limited);
        if !model.has_round_started() || limited {
            return false;
        }
        let bw = model.max_bandwidth();
        if bw >= self.level.saturating_mul(GROWTH) / UNIT {
            self.level = bw;
            self.rounds = 0;
        } else {
            self.rounds += 1;
        }
        self.rounds >= ROUNDS
    }

    /// A timeout: whatever comes next is growth.
    pub(crate) fn forget_level(&mut self) {
        self.level = 0;
    }

    /// Restarts the search, because the repair was needless.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}
