//! NewReno (RFC 6582): a partial ACK during fast recovery means the next hole, one per round trip.

use super::dupacks::LIMITED_TRANSMIT;
use super::dupacks::{DUP_THRESH, DupAcks, LimitedTransmit};
use super::reno::{ENTERED, FastRecovery};
use super::{
    LossRecovery, RecoveryContext, RecoveryDescriptor, RecoveryEvent, RecoveryState, Report,
    SentInfo, TimerAction,
};
use crate::ack::AckInfo;
use crate::registry::values::some_segments;
use crate::registry::{Make, Parameter, PolicySetup, by_default};

/// Fast recovery that repairs one loss per round trip.
pub static NEWRENO: RecoveryDescriptor = RecoveryDescriptor::new(
    "newreno",
    "fast recovery that repairs one loss per round trip",
    "RFC 6582",
    Make::Alone(&|setup| Box::new(NewReno::new(NewRenoOptions::of(setup)))),
)
.with(&[&LIMITED_TRANSMIT, &PARTIAL, &DEFLATE, &EXIT, &BURST, &DUP_SEND]);

/// The partial ACKs that restart the retransmission timer (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialTimer {
    /// Only the first: "Impatient", many losses end in a timeout.
    First,
    /// Every one: "Slow-but-Steady".
    Every,
}

/// Reduction by a partial ACK of the segments that duplicate ACKs released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deflation {
    /// The bytes that it acknowledges, less one segment (RFC 6582 §3.2 step 3).
    Partial,
    /// All of them; the window itself stays. ns-2 before 2003 and, by option, since.
    Whole,
}

/// Segments sent by duplicate ACKs during fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// The room in the window, with the segments that duplicates show to have left the network.
    Window,
    /// Every second one a new segment, whatever the window (Hoe 1996 §3; ns-2's
    /// `newreno_changes_`).
    EverySecond,
}

/// The window when recovery ends (RFC 6582 §3.2 step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullAckWindow {
    /// `min(ssthresh, max(FlightSize, mss) + mss)`.
    FlightSize,
    /// `ssthresh`.
    Ssthresh,
    /// The window to which partial ACKs deflated it, which the ACK that ends recovery grows.
    Deflated,
}

/// Options of [`NewReno`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRenoOptions {
    /// RFC 3042.
    pub limited_transmit: LimitedTransmit,
    /// Timer on partial ACKs.
    pub timer: PartialTimer,
    /// Reduction by partial ACKs.
    pub deflation: Deflation,
    /// Segments sent by duplicate ACKs.
    pub duplicates: Duplicates,
    /// Window at the end.
    pub full_ack: FullAckWindow,
    /// Most segments sent in answer to one ACK during recovery.
    pub max_burst: Option<u32>,
}

impl Default for NewRenoOptions {
    fn default() -> Self {
        by_default(Self::of)
    }
}

impl NewRenoOptions {
    fn of(setup: &PolicySetup<'_>) -> Self {
        Self {
            limited_transmit: setup.get(&LIMITED_TRANSMIT),
            timer: setup.get(&PARTIAL),
            deflation: setup.get(&DEFLATE),
            duplicates: setup.get(&DUP_SEND),
            full_ack: setup.get(&EXIT),
            max_burst: setup.get(&BURST),
        }
    }
}

/// Timer on partial ACKs.
pub static PARTIAL: Parameter<PartialTimer> = Parameter::choice(
    "partial",
    &[("first", PartialTimer::First), ("every", PartialTimer::Every)],
    "first",
    "newreno: partial ACKs that restart the timer",
);
/// Reduction by partial ACKs.
pub static DEFLATE: Parameter<Deflation> = Parameter::choice(
    "deflate",
    &[("partial", Deflation::Partial), ("whole", Deflation::Whole)],
    "partial",
    "newreno: a partial ACK takes what it acknowledges from what duplicates added, or all",
);
/// Window at the end.
pub static EXIT: Parameter<FullAckWindow> = Parameter::choice(
    "exit",
    &[
        ("flight", FullAckWindow::FlightSize),
        ("ssthresh", FullAckWindow::Ssthresh),
        ("deflated", FullAckWindow::Deflated),
    ],
    "flight",
    "newreno: the window after recovery",
);
/// Most segments sent in answer to one ACK.
pub static BURST: Parameter<Option<u32>> = Parameter::or(
    "burst",
    ("segments", some_segments),
    None,
    "newreno: most segments per ACK in recovery",
);
/// Segments sent by duplicate ACKs.
pub static DUP_SEND: Parameter<Duplicates> = Parameter::choice(
    "dup_send",
    &[("window", Duplicates::Window), ("second", Duplicates::EverySecond)],
    "window",
    "newreno: in recovery duplicate ACKs send what the window allows, or every second one a segment",
);

/// NewReno's fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    options: NewRenoOptions,
    dup: DupAcks,
    fast: Option<FastRecovery>,
    partial_seen: bool,
    burst_left: u64,
    /// This ACK is a second duplicate.
    second: bool,
}

impl NewReno {
    /// NewReno with the given options.
    pub const fn new(options: NewRenoOptions) -> Self {
        let dup = DupAcks::new(options.limited_transmit);
        Self { options, dup, fast: None, partial_seen: false, burst_left: u64::MAX, second: false }
    }

    fn on_progress(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        match self.fast {
            Some(fast) if ack.una < self.dup.recover => self.on_partial_ack(cx, ack, fast),
            Some(_) => self.on_full_ack(cx),
            None => {
                self.dup.count = 0;
                Report { grow: true, ..Report::default() }
            }
        }
    }

    /// Deflates by the acknowledged bytes, adds one segment back, and retransmits the next hole
    /// (RFC 6582 §3.2 step 3, "Partial acknowledgments"). Segments that duplicates had added are
    /// removed first, then the window itself is reduced.
    fn on_partial_ack(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        ack: &AckInfo,
        mut fast: FastRecovery,
    ) -> Report {
        let acked = ack.una - ack.una_before;
        let mut cwnd = None;
        if self.options.deflation == Deflation::Whole {
            fast.left_network = 0;
        } else if fast.left_network > acked {
            fast.left_network -= acked - cx.mss.min(acked);
        } else {
            cwnd = Some(cx.cwnd.saturating_sub(acked - fast.left_network).max(cx.mss));
            fast.left_network = cx.mss;
        }
        cx.board.mark_lost(0);
        fast.forced = true;
        self.fast = Some(fast);
        let first = !std::mem::replace(&mut self.partial_seen, true);
        let restart = first || self.options.timer == PartialTimer::Every;
        let timer = if restart { TimerAction::Restart } else { TimerAction::Keep };
        Report { cwnd, timer, ..Report::default() }
    }

    fn on_full_ack(&mut self, cx: &RecoveryContext<'_>) -> Report {
        self.fast = None;
        self.partial_seen = false;
        self.dup.count = 0;
        let flight = cx.board.outstanding().max(cx.mss) + cx.mss;
        let cwnd = match self.options.full_ack {
            FullAckWindow::FlightSize => Some(cx.ssthresh.min(flight)),
            FullAckWindow::Ssthresh => Some(cx.ssthresh),
            FullAckWindow::Deflated => None,
        };
        Report { ended: true, cwnd, grow: cwnd.is_none(), ..Report::default() }
    }

    fn on_duplicate(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        self.dup.on_duplicate(cx);
        if let Some(fast) = &mut self.fast {
            fast.left_network += cx.mss;
            self.second = self.dup.count % 2 == 1;
        } else if self.dup.count == DUP_THRESH && self.dup.is_new_episode(ack) {
            self.dup.begin_episode(cx.snd_nxt);
            self.partial_seen = false;
            self.fast = Some(FastRecovery::enter_fast_recovery(cx));
            return ENTERED;
        }
        Report::default()
    }
}

impl NewReno {
    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, is_fallback: bool) -> Report {
        self.dup.count = 0;
        self.fast = None;
        self.partial_seen = false;
        self.burst_left = u64::MAX;
        self.dup.on_rto(cx, is_fallback)
    }
}

impl LossRecovery for NewReno {
    fn state(&self) -> RecoveryState {
        let point = self.fast.as_ref().map(|_| self.dup.recover);
        let duplicates = self.dup.left_network();
        let left_network = self.fast.as_ref().map_or(duplicates, |fast| fast.left_network);
        RecoveryState { left_network, ..RecoveryState::until(point) }
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        self.second = false;
        let report = if ack.advanced() {
            self.on_progress(cx, ack)
        } else if ack.duplicate {
            self.on_duplicate(cx, ack)
        } else {
            return Report::default();
        };
        self.burst_left = match self.options.max_burst {
            Some(n) if self.dup.count >= DUP_THRESH => u64::from(n) * cx.mss,
            _ => u64::MAX,
        };
        report
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
        let allowance = match &self.fast {
            Some(fast) if fast.forced && cx.board.waiting() > 0 => return cx.mss,
            Some(_) if self.options.duplicates == Duplicates::EverySecond => {
                return u64::from(self.second) * cx.mss;
            }
            Some(fast) => fast.allowance(cx),
            None => self.dup.open_allowance(cx),
        };
        allowance.min(self.burst_left)
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        let Some(fast) = &mut self.fast else {
            self.burst_left = self.burst_left.saturating_sub(sent.len);
            return;
        };
        // The forced retransmission is not part of the burst.
        if fast.forced && sent.retransmission {
            fast.forced = false;
            return;
        }
        self.second = false;
        if self.burst_left != u64::MAX {
            self.burst_left = self.burst_left.saturating_sub(sent.len);
        }
    }
}
