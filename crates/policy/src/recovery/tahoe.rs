//! Tahoe (Jacobson 1988): the third duplicate ACK starts slow start from the first unacknowledged
//! segment; there is no fast recovery.

use super::dupacks::LIMITED_TRANSMIT;
use super::dupacks::{DUP_THRESH, DupAcks, LimitedTransmit};
use super::{
    IdleTimeout, LossRecovery, RecoveryContext, RecoveryDescriptor, Reduction, Report, TimerAction,
};
use crate::ack::AckInfo;
use crate::registry::Make;
use units::Instant;

/// Fast retransmit, then slow start from one segment.
pub static TAHOE: RecoveryDescriptor = RecoveryDescriptor::new(
    "tahoe",
    "fast retransmit, then slow start from one segment",
    "Jacobson 1988",
    Make::Alone(|setup| Box::new(Tahoe::new(setup.get(&LIMITED_TRANSMIT)))),
)
.with(&[&LIMITED_TRANSMIT]);

/// Fast retransmit without fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct Tahoe {
    dup: DupAcks,
}

impl Tahoe {
    /// `limited_transmit`: RFC 3042.
    pub const fn new(limited_transmit: LimitedTransmit) -> Self {
        Self { dup: DupAcks::new(limited_transmit) }
    }
}

impl LossRecovery for Tahoe {
    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if ack.advanced() {
            self.dup.count = 0;
            return Report { grow: true, ..Report::default() };
        }
        if !ack.duplicate {
            return Report::default();
        }
        self.dup.on_duplicate(cx.snd_nxt);
        if self.dup.count != DUP_THRESH || !self.dup.is_new_episode(ack) {
            return Report::default();
        }
        self.dup.begin_episode(cx.snd_nxt);
        cx.board.mark_all_lost();
        Report {
            congestion: Some(Reduction::ToOneSegment),
            timer: TimerAction::Restart,
            ..Report::default()
        }
    }

    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, _: Instant) -> Report {
        // The duplicate count stays: further duplicates of the old window mean nothing new.
        self.dup.on_rto(cx)
    }

    fn on_idle_timeout(&mut self, snd_nxt: u64) -> IdleTimeout {
        self.dup.on_idle_timeout(snd_nxt)
    }

    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        self.dup.open_allowance(cx)
    }

    fn left_network(&self, mss: u64) -> u64 {
        self.dup.left_network(mss)
    }

    fn recovery_point(&self) -> Option<u64> {
        None
    }
}
