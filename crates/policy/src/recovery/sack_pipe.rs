//! SACK recovery as first published (Fall & Floyd 1996, "sack1"): a counter `pipe` instead of the
//! scoreboard's arithmetic.
//!
//! On entering recovery, `pipe` is the data outstanding less the three duplicates. Every ACK lowers
//! it by a segment, a partial ACK by two, and every segment sent raises it. Lost segments stay in
//! it until that many ACKs have come, so it is slower than RFC 6675 when many are lost. Each hole
//! is retransmitted once. After a timeout the scoreboard is cleared (RFC 2018 §8) and all is
//! retransmitted.

use super::dupacks::LIMITED_TRANSMIT;
use super::dupacks::{DUP_THRESH, DupAcks, LimitedTransmit};
use super::reno::ENTERED;
use super::{
    LossRecovery, RecoveryCapabilities, RecoveryContext, RecoveryDescriptor, RecoveryEvent,
    RecoveryState, Report, SentInfo, TimerAction,
};
use crate::ack::AckInfo;
use crate::registry::{Implied, Make};

/// Sack as it was first proposed, the pipe a counter.
pub static SACK_PIPE: RecoveryDescriptor = RecoveryDescriptor::new(
    "pipe",
    "sack as it was first proposed, the pipe a counter",
    "Fall & Floyd 1996",
    Make::Alone(&|setup| Box::new(SackPipe::new(setup.get(&LIMITED_TRANSMIT)))),
)
.with(&[&LIMITED_TRANSMIT])
.implying(Implied::SACK);

/// Recovery by a `pipe` counter.
#[derive(Clone, Copy, Debug)]
pub struct SackPipe {
    dup: DupAcks,
    fast: Option<Pipe>,
    /// After a timeout, until an ACK of new data.
    timed_out: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pipe {
    bytes: u64,
    forced: bool,
    /// Holes below this were retransmitted.
    next_hole: u64,
    mss: u64,
}

impl SackPipe {
    /// `limited_transmit`: RFC 3042.
    pub const fn new(limited_transmit: LimitedTransmit) -> Self {
        Self { dup: DupAcks::new(limited_transmit), fast: None, timed_out: false }
    }

    fn on_open_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if ack.advanced() {
            self.dup.count = 0;
            self.timed_out = false;
            cx.board.forget_sacks();
            return Report { grow: true, ..Report::default() };
        }
        if self.timed_out || !ack.duplicate {
            return Report::default();
        }
        self.dup.on_duplicate(cx);
        if self.dup.count != DUP_THRESH || !self.dup.is_new_episode(ack) {
            return Report::default();
        }
        self.dup.begin_episode(cx.snd_nxt);
        let left = u64::from(DUP_THRESH) * cx.mss;
        self.fast = Some(Pipe {
            bytes: cx.board.outstanding().saturating_sub(left),
            forced: true,
            next_hole: ack.una,
            mss: cx.mss,
        });
        ENTERED
    }

    fn on_recovery_ack(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        ack: &AckInfo,
        mut pipe: Pipe,
    ) -> Report {
        pipe.bytes = pipe.bytes.saturating_sub(cx.mss);
        self.fast = Some(pipe);
        if ack.una >= self.dup.recover {
            self.fast = None;
            self.dup.count = 0;
            cx.board.forget_sacks();
            cx.board.forgive_losses();
            return Report { ended: true, ..Report::default() };
        }
        if !ack.advanced() {
            return Report::default();
        }
        pipe.bytes = pipe.bytes.saturating_sub(cx.mss);
        self.fast = Some(pipe);
        Report { timer: TimerAction::Restart, ..Report::default() }
    }
}

impl SackPipe {
    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, is_fallback: bool) -> Report {
        self.dup.count = 0;
        self.fast = None;
        self.timed_out = true;
        self.dup.on_rto(cx, is_fallback)
    }
}

impl LossRecovery for SackPipe {
    fn capabilities(&self) -> RecoveryCapabilities {
        RecoveryCapabilities { needs_sack: true, ..RecoveryCapabilities::BY_DUPLICATES }
    }

    fn state(&self) -> RecoveryState {
        RecoveryState::until(self.fast.as_ref().map(|_| self.dup.recover))
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        match self.fast {
            Some(pipe) => self.on_recovery_ack(cx, ack, pipe),
            None => self.on_open_ack(cx, ack),
        }
    }

    fn on_event(&mut self, cx: &mut RecoveryContext<'_>, event: RecoveryEvent) -> Report {
        match event {
            RecoveryEvent::RetransmissionTimeout { is_fallback, .. } => {
                self.on_rto(cx, is_fallback)
            }
            RecoveryEvent::IdleTimeout => {
                self.dup.begin_episode(cx.snd_nxt);
                Report::default()
            }
            _ => Report::default(),
        }
    }

    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        match &self.fast {
            Some(pipe) if pipe.forced => cx.mss,
            Some(pipe) => cx.cwnd.saturating_sub(pipe.bytes),
            None => self.dup.open_allowance(cx),
        }
    }

    fn next_retransmission(&mut self, cx: &mut RecoveryContext<'_>) -> Option<usize> {
        let Some(pipe) = &mut self.fast else {
            return cx.board.next_lost();
        };
        let index = if pipe.forced {
            Some(0)
        } else {
            let highest = cx.board.highest_sacked()?;
            let from = cx.board.index_from(pipe.next_hole);
            (from..cx.board.len())
                .map_while(|i| cx.board.segment(i).map(|s| (i, *s)))
                .take_while(|(_, s)| s.end() <= highest)
                .find(|(_, s)| !s.is_sacked())
                .map(|(i, _)| i)
        }?;
        pipe.next_hole = cx.board.segment(index)?.start;
        cx.board.mark_lost(index);
        Some(index)
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        let Some(pipe) = &mut self.fast else { return };
        if sent.retransmission {
            pipe.next_hole = pipe.next_hole.max(sent.end);
        }
        if !std::mem::replace(&mut pipe.forced, false) {
            pipe.bytes += sent.len.min(pipe.mss);
        }
    }
}
