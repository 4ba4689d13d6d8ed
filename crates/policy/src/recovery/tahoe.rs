//! Tahoe (Jacobson 1988): the third duplicate ACK starts slow start from the first unacknowledged
//! segment; there is no fast recovery.

use super::dupacks::LIMITED_TRANSMIT;
use super::dupacks::{DUP_THRESH, DupAcks, LimitedTransmit};
use super::{
    LossRecovery, RecoveryContext, RecoveryDescriptor, RecoveryEvent, RecoveryState, Reduction,
    Report, TimerAction,
};
use crate::ack::AckInfo;
use crate::registry::Make;

/// Fast retransmit, then slow start from one segment.
pub static TAHOE: RecoveryDescriptor = RecoveryDescriptor::new(
    "tahoe",
    "fast retransmit, then slow start from one segment",
    "Jacobson 1988",
    Make::Alone(&|setup| Box::new(Tahoe::new(setup.get(&LIMITED_TRANSMIT)))),
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
    fn state(&self) -> RecoveryState {
        let left_network = self.dup.left_network();
        RecoveryState { left_network, ..RecoveryState::until(None) }
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if ack.advanced() {
            self.dup.count = 0;
            return Report { grow: true, ..Report::default() };
        }
        if !ack.duplicate {
            return Report::default();
        }
        self.dup.on_duplicate(cx);
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

    fn on_event(&mut self, cx: &mut RecoveryContext<'_>, event: RecoveryEvent) -> Report {
        match event {
            RecoveryEvent::RetransmissionTimeout { is_fallback, .. } => {
                // The duplicate count stays: further duplicates of the old window mean nothing new.
                self.dup.on_rto(cx, is_fallback)
            }
            RecoveryEvent::IdleTimeout => {
                self.dup.begin_episode(cx.snd_nxt);
                Report::default()
            }
            _ => Report::default(),
        }
    }

    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        self.dup.open_allowance(cx)
    }
}
