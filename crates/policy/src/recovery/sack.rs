//! SACK-based recovery of RFC 6675, in its words: `IsLost`, `SetPipe`, `NextSeg`, rescue.

use super::dupacks::LIMITED_TRANSMIT;
use super::dupacks::{DUP_THRESH, DupAcks, LimitedTransmit};
use super::reno::ENTERED;
use super::{
    LossRecovery, MemberEvidence, RecoveryCapabilities, RecoveryContext, RecoveryDescriptor,
    RecoveryEvent, RecoveryState, Reduction, Report, SentInfo,
};
use crate::ack::{AckInfo, Scoreboard};
use crate::registry::{Implied, Make};

/// Repair by selective acknowledgements.
pub static SACK: RecoveryDescriptor = RecoveryDescriptor::new(
    "sack",
    "repair by selective acknowledgements",
    "RFC 6675",
    Make::Alone(&|setup| Box::new(Sack::new(setup.get(&LIMITED_TRANSMIT)))),
)
.with(&[&LIMITED_TRANSMIT])
.implying(Implied::SACK);

/// Recovery by RFC 6675.
#[derive(Clone, Copy, Debug)]
pub struct Sack {
    dup: DupAcks,
    recovering: bool,
    /// The first retransmission goes whatever the pipe (§5 step 4.3).
    forced: bool,
    /// All that is not SACKed below this was marked lost.
    marked_to: u64,
    /// The rescue retransmission of this recovery was used (§4 rule 4).
    rescued: bool,
    /// End of the segment that the rescue would retransmit.
    rescue: Option<u64>,
}

impl Sack {
    /// `limited_transmit`: RFC 3042, with SACK (§5 step 3).
    pub const fn new(limited_transmit: LimitedTransmit) -> Self {
        let dup = DupAcks::new(limited_transmit);
        Self { dup, recovering: false, forced: false, marked_to: 0, rescued: false, rescue: None }
    }

    /// Marks every hole that `IsLost` (§4): more than `(DupThresh - 1) * mss` bytes, or
    /// `DupThresh` separate ranges, were SACKed above it. That is monotone, so one offset decides.
    fn mark_lost(&mut self, board: &mut Scoreboard, mss: u64) {
        let Some(limit) = lost_below(board.sacked_ranges(), mss) else {
            return;
        };
        if limit <= self.marked_to {
            return;
        }
        let mut i = board.index_from(self.marked_to);
        while let Some(s) = board.segment(i) {
            if s.end() > limit {
                break;
            }
            if !s.is_lost() {
                board.mark_lost(i);
            }
            i += 1;
        }
        self.marked_to = limit;
    }

    fn enter_recovery(&mut self, cx: &mut RecoveryContext<'_>) -> Report {
        self.dup.begin_episode(cx.snd_nxt);
        self.recovering = true;
        self.rescued = false;
        if cx.board.segment(0).is_some_and(|s| !s.is_lost()) {
            cx.board.mark_lost(0);
        }
        // Nothing may be waiting: the hole was retransmitted in the recovery before.
        self.forced = cx.board.waiting() > 0;
        ENTERED
    }

    fn on_duplicate(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        self.dup.on_duplicate(cx);
        let first_is_lost = cx.board.segment(0).is_some_and(|s| s.is_lost());
        let lost = self.dup.count >= DUP_THRESH || first_is_lost;
        // §5.1: a new recovery may begin once all up to the last RecoveryPoint is acknowledged.
        if lost && ack.una >= self.dup.recover {
            self.enter_recovery(cx)
        } else {
            Report::default()
        }
    }
}

/// The offset below which every hole is lost; `None` while too little is SACKed.
fn lost_below(ranges: &[(u64, u64)], mss: u64) -> Option<u64> {
    let mut bytes = 0;
    for (n, &(left, right)) in ranges.iter().rev().enumerate() {
        bytes += right - left;
        if n + 1 >= DUP_THRESH as usize || bytes > u64::from(DUP_THRESH - 1) * mss {
            return Some(left);
        }
    }
    None
}

impl Sack {
    /// Later ACKs of others replace `DupThresh` SACKed segments of its own: §5.1's condition holds
    /// for them, too.
    fn on_later_acks(&mut self, cx: &mut RecoveryContext<'_>, evidence: MemberEvidence) -> Report {
        let una = cx.board.segment(0).map_or(0, |head| head.start);
        let fresh = una >= self.dup.recover;
        if evidence == MemberEvidence::Lost && fresh {
            self.enter_recovery(cx)
        } else {
            Report::default()
        }
    }

    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>) -> Report {
        // §5.1: SACK information is kept, recovery ends, no new one before `recover`.
        self.dup.count = 0;
        self.recovering = false;
        self.forced = false;
        self.dup.begin_episode(cx.snd_nxt);
        if cx.board.segment(0).is_some_and(|head| head.is_sacked()) {
            // RFC 2018 §8: the receiver has reneged; the left edge is retransmitted in any case.
            cx.board.forget_sacks();
        }
        cx.board.mark_all_lost();
        self.marked_to = cx.snd_nxt;
        Report { congestion: Some(Reduction::ToOneSegment), ..Report::default() }
    }
}

impl LossRecovery for Sack {
    fn capabilities(&self) -> RecoveryCapabilities {
        RecoveryCapabilities {
            needs_sack: true,
            follows_new_data: false,
            ..RecoveryCapabilities::BY_DUPLICATES
        }
    }

    fn state(&self) -> RecoveryState {
        RecoveryState::until(self.recovering.then_some(self.dup.recover))
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if !cx.board.sacked_ranges().is_empty() {
            self.mark_lost(cx.board, cx.mss);
        }
        if self.recovering {
            let ended = ack.una >= self.dup.recover;
            self.recovering = !ended;
            if ended {
                self.dup.count = 0;
            }
            return Report { ended, ..Report::default() };
        }
        if ack.advanced() {
            self.dup.count = 0;
            return Report::PROGRESS;
        }
        if ack.duplicate { self.on_duplicate(cx, ack) } else { Report::default() }
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
        // SACKed bytes have left the pipe, so limited transmit is plain packet conservation.
        let room = cx.cwnd.saturating_sub(cx.board.pipe());
        if !matches!(self.dup.count, 1..DUP_THRESH) {
            return room;
        }
        match self.dup.limited_transmit {
            LimitedTransmit::Off => room.saturating_sub(cx.board.sacked()),
            _ => room.max(self.dup.beyond_right_edge(cx)),
        }
    }

    fn next_retransmission(&mut self, cx: &mut RecoveryContext<'_>) -> Option<usize> {
        if let Some(index) = cx.board.next_lost() {
            return Some(index);
        }
        if !self.recovering || cx.new_data {
            return None;
        }
        // NextSeg rule 3: a hole not yet lost, once. Rule 4: the last segment, once a recovery.
        let highest = cx.board.highest_sacked()?;
        let hole = cx.board.iter().position(|s| {
            !s.is_sacked() && !s.is_lost() && !s.was_retransmitted() && s.end() <= highest
        });
        if hole.is_some() || self.rescued {
            return hole;
        }
        let last = cx.board.len().checked_sub(1)?;
        let unsacked = cx
            .board
            .segment(last)
            .is_some_and(|s| !s.is_sacked() && !s.is_lost() && !s.was_retransmitted());
        self.rescue = cx.board.segment(last).filter(|_| unsacked).map(|s| s.end());
        unsacked.then_some(last)
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        if sent.retransmission {
            self.forced = false;
            self.rescued |= self.rescue == Some(sent.end);
        }
    }
}
