//! Integrated loss recovery (Balakrishnan et al. 1998 §5.3; Padmanabhan & Katz 1998 §6.1). The path
//! finds lost segments by the ACKs of all its members; this recovery retransmits them.
//!
//! The path's send log decides when a member's lowest unacknowledged segment is lost. It is
//! retransmitted whatever the window is. Until it is acknowledged the member gets no other loss
//! (unless the scheme wants lost retransmissions too), so that its cumulative ACKs show one loss
//! per round trip. Duplicate ACKs count only as later ACKs. Losses that are not found so are left
//! to the timeout.

use super::reno::ENTERED;
use super::{
    LossRecovery, MemberEvidence, RecoveryContext, RecoveryDescriptor, RecoveryEvent,
    RecoveryState, Reduction, Report, SentInfo,
};
use crate::ack::AckInfo;
use crate::registry::{Implied, Make};

/// Recovery by what later ACKs on the path say.
pub static INTEGRATED: RecoveryDescriptor = RecoveryDescriptor::new(
    "integrated",
    "by later ACKs on the path, which all connections to a host hear",
    "Balakrishnan et al. 1998 §5.3",
    Make::Alone(&|setup| Box::new(Integrated::new(setup.judges_again))),
)
.implying(Implied { later_acks: true, ..Implied::SACK });

/// One member's part in integrated recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Integrated {
    /// A retransmission may be found lost too ([`Overtaken::Lost`](super::Overtaken)).
    again: bool,
    /// End of the segment that was lost, until it is acknowledged.
    repairing: Option<u64>,
    /// It waits to be retransmitted, whatever the window is.
    forced: bool,
    /// Without SACK: bytes that duplicates say have left the network.
    left_network: u64,
}

impl Integrated {
    /// `again`: a retransmission may be found lost as well.
    pub fn new(again: bool) -> Self {
        Self { again, ..Self::default() }
    }
}

impl Integrated {
    fn on_later_acks(&mut self, cx: &mut RecoveryContext<'_>, evidence: MemberEvidence) -> Report {
        if evidence != MemberEvidence::Lost || cx.board.mark_lost(0) == 0 {
            return Report::default();
        }
        self.repairing = cx.board.segment(0).map(|s| s.end());
        self.forced = true;
        ENTERED
    }

    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>) -> Report {
        *self = Self::new(self.again);
        if cx.board.segment(0).is_some_and(|head| head.is_sacked()) {
            // RFC 2018 §8: the receiver has reneged.
            cx.board.forget_sacks();
        }
        cx.board.mark_all_lost();
        Report { congestion: Some(Reduction::ToOneSegment), ..Report::default() }
    }
}

impl LossRecovery for Integrated {
    fn state(&self) -> RecoveryState {
        RecoveryState {
            is_busy: self.repairing.is_some() && !self.again,
            left_network: self.left_network,
            ..RecoveryState::until(self.repairing)
        }
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if ack.advanced() {
            let ended = self.repairing.is_some_and(|end| ack.una >= end);
            if ended {
                self.repairing = None;
                self.forced = false;
            }
            self.left_network = self.left_network.saturating_sub(ack.una - ack.una_before);
            return Report { ended, grow: true, ..Report::default() };
        }
        if ack.duplicate && ack.progress.sacked == 0 {
            self.left_network += cx.mss;
        }
        Report::default()
    }

    fn on_event(&mut self, cx: &mut RecoveryContext<'_>, event: RecoveryEvent) -> Report {
        match event {
            RecoveryEvent::RetransmissionTimeout { .. } => self.on_rto(cx),
            RecoveryEvent::LaterAcks(evidence) => self.on_later_acks(cx, evidence),
            _ => Report::default(),
        }
    }

    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        if self.forced && cx.board.waiting() > 0 {
            return cx.mss;
        }
        cx.cwnd.saturating_sub(cx.board.pipe().saturating_sub(self.left_network))
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        if sent.retransmission {
            self.forced = false;
        }
    }
}
