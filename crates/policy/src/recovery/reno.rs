//! Fast retransmit and fast recovery of RFC 5681 §3.2 ("Reno").
//!
//! Each duplicate ACK means that a segment has left the network; where the RFC inflates `cwnd` for
//! it, this policy lets as much more be in flight. The first ACK of new data ends recovery, so a
//! second loss in the window usually costs a timeout.

use super::dupacks::LIMITED_TRANSMIT;
use super::dupacks::{DUP_THRESH, DupAcks, LimitedTransmit};
use super::{
    LossRecovery, MemberEvidence, RecoveryContext, RecoveryDescriptor, RecoveryEvent,
    RecoveryState, Reduction, Report, SentInfo, SkippableCalls, TimerAction,
};
use crate::ack::AckInfo;
use crate::registry::{Make, Parameter};

/// Fast recovery until the first new ACK.
pub static RENO: RecoveryDescriptor = RecoveryDescriptor::new(
    "reno",
    "fast recovery until the first new ACK",
    "RFC 5681 §3.2",
    Make::Alone(&|setup| {
        let recovery = RenoRecovery::new(setup.get(&LIMITED_TRANSMIT));
        Box::new(RenoRecovery { once: setup.get(&RECOVER), ..recovery })
    }),
)
.with(&[&LIMITED_TRANSMIT, &RECOVER]);

/// Whether what a window has lost beside its first loss waits for a timeout.
pub static RECOVER: Parameter<bool> = Parameter::choice(
    "recover",
    &[("on", true), ("off", false)],
    "on",
    "reno: one fast retransmit for what was outstanding at a loss (recover of RFC 6582), or one for every three duplicate ACKs (RFC 2001)",
);

/// Reno's fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct RenoRecovery {
    dup: DupAcks,
    /// Number of the duplicates that were ACKs of other members.
    overtaken: u32,
    fast: Option<FastRecovery>,
    /// `snd_nxt` at the last timeout.
    timed_out: u64,
    /// One episode for all that was outstanding.
    once: bool,
}

/// State of fast recovery without SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastRecovery {
    /// Bytes that duplicate ACKs say have left the network.
    pub(super) left_network: u64,
    /// The retransmission that may go whatever the window says is still to be sent.
    pub(super) forced: bool,
}

impl FastRecovery {
    /// Enters on the third duplicate: three segments have left, and the first one is retransmitted.
    pub(super) fn enter_fast_recovery(cx: &mut RecoveryContext<'_>) -> Self {
        Self::enter_after(cx, DUP_THRESH)
    }

    /// Enters after this number of duplicates.
    fn enter_after(cx: &mut RecoveryContext<'_>, duplicates: u32) -> Self {
        cx.board.mark_lost(0);
        Self { left_network: u64::from(duplicates) * cx.mss, forced: true }
    }

    /// `cwnd` plus what has left the network, less what was sent and not acknowledged.
    pub(super) fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        if self.forced && cx.board.waiting() > 0 {
            return cx.mss;
        }
        (cx.cwnd + self.left_network).saturating_sub(cx.board.pipe_ignoring_sacks())
    }

    pub(super) fn on_sent(&mut self, sent: &SentInfo) {
        if sent.retransmission {
            self.forced = false;
        }
    }
}

/// The report of every entry into fast recovery.
pub(super) const ENTERED: Report = Report {
    congestion: Some(Reduction::ToSsthresh),
    repeated: false,
    undo: false,
    ended: false,
    cwnd: None,
    grow: false,
    duplicate_bytes: 0,
    timer: TimerAction::Restart,
    probe: false,
    skippable_calls: SkippableCalls::Ask,
};

impl RenoRecovery {
    /// `limited_transmit`: RFC 3042.
    pub const fn new(limited_transmit: LimitedTransmit) -> Self {
        let dup = DupAcks::new(limited_transmit);
        Self { dup, overtaken: 0, fast: None, timed_out: 0, once: true }
    }

    fn on_duplicate(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        self.dup.on_duplicate(cx);
        if let Some(fast) = &mut self.fast {
            fast.left_network += cx.mss;
        } else if self.dup.count == DUP_THRESH && self.may_enter(cx, ack.una) {
            return self.enter_fast_recovery(cx);
        }
        Report::default()
    }

    /// False for a second loss of the same window, which must not reduce the window again (RFC 6582
    /// §3.2 `recover`). A shared path prevents that itself, so there a loss is repaired as in RFC
    /// 5681, and only duplicates of segments that a timeout repeated are ignored. RFC 2001 has no
    /// `recover`: any three duplicates enter.
    const fn may_enter(&self, cx: &RecoveryContext<'_>, una: u64) -> bool {
        !self.once || una > if cx.shared { self.timed_out } else { self.dup.recover }
    }

    /// Enters fast recovery. Segments overtaken by others' ACKs count, but those ACKs were not for
    /// bytes of this member.
    fn enter_fast_recovery(&mut self, cx: &mut RecoveryContext<'_>) -> Report {
        self.dup.begin_episode(cx.snd_nxt);
        let own = self.dup.count - self.overtaken;
        self.fast = Some(FastRecovery::enter_after(cx, own));
        ENTERED
    }

    fn forget_duplicates(&mut self) {
        self.dup.count = 0;
        self.overtaken = 0;
    }
}

impl RenoRecovery {
    fn on_later_acks(&mut self, cx: &mut RecoveryContext<'_>, evidence: MemberEvidence) -> Report {
        let MemberEvidence::Overtaken(segments) = evidence else { return Report::default() };
        if self.is_busy() {
            return Report::default();
        }
        self.dup.count += segments;
        self.overtaken += segments;
        let una = cx.board.segment(0).map_or(0, |s| s.start);
        if self.is_busy() && self.may_enter(cx, una) {
            self.enter_fast_recovery(cx)
        } else {
            Report::default()
        }
    }

    fn is_busy(&self) -> bool {
        self.dup.count >= DUP_THRESH
    }

    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, is_fallback: bool) -> Report {
        self.forget_duplicates();
        self.fast = None;
        self.timed_out = cx.snd_nxt;
        self.dup.on_rto(cx, is_fallback)
    }

    fn left_network(&self) -> u64 {
        // Segments overtaken by those of others may not have left.
        let own = self.dup.left_network_but(self.overtaken);
        self.fast.as_ref().map_or(own, |fast| fast.left_network)
    }
}

impl LossRecovery for RenoRecovery {
    fn state(&self) -> RecoveryState {
        let point = self.fast.as_ref().map(|_| self.dup.recover);
        let (is_busy, left_network) = (self.is_busy(), self.left_network());
        RecoveryState { is_busy, left_network, ..RecoveryState::until(point) }
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if ack.advanced() {
            self.forget_duplicates();
            let ended = self.fast.take().is_some();
            return Report { ended, grow: true, ..Report::default() };
        }
        if ack.duplicate { self.on_duplicate(cx, ack) } else { Report::default() }
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
            RecoveryEvent::LaterAcks(evidence) => self.on_later_acks(cx, evidence),
            _ => Report::default(),
        }
    }

    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        match &self.fast {
            Some(fast) => fast.allowance(cx),
            None => self.dup.open_allowance(cx),
        }
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        if let Some(fast) = &mut self.fast {
            fast.on_sent(sent);
        }
    }
}
