//! Vegas's retransmission (Brakmo & Peterson 1995 §3.2): a fine clock on every segment.
//!
//! At a duplicate ACK the sender checks how long ago the missing segment was sent. If that exceeds
//! a fine-grained timeout, it is retransmitted without waiting for the third duplicate. The first
//! two ACKs after a retransmission check again, for the next segment. The window is reduced only
//! for a segment sent after the last reduction. The rest is as in [`super::reno`].

use super::dupacks::LIMITED_TRANSMIT;
use super::dupacks::{DUP_THRESH, DupAcks, LimitedTransmit};
use super::{
    LossRecovery, RecoveryCapabilities, RecoveryContext, RecoveryDescriptor, RecoveryEvent,
    RecoveryState, Reduction, Report, SentInfo, TimerAction,
};
use crate::ack::{AckInfo, SentSegment};
use crate::registry::{Make, Parameter, PolicySetup};
use arith::rtt::Estimator;
use units::{Duration, Instant};

/// Retransmits by a fine clock.
pub static VEGAS: RecoveryDescriptor = RecoveryDescriptor::new(
    "vegas",
    "retransmits by a fine clock",
    "Brakmo & Peterson 1995 §3.1",
    Make::Alone(&|setup| {
        Box::new(VegasRecovery::new(setup.get(&LIMITED_TRANSMIT), VegasRecoveryOptions::of(setup)))
    }),
)
.with(&[&LIMITED_TRANSMIT, &INFLATION, &BACK_OFF, &IDLE_TIMEOUT]);

/// Window after a timeout, segments.
const AFTER_TIMEOUT: u64 = 2;
/// ACKs after a retransmission that look at the next segment.
const LOOKS: u8 = 2;

/// Differences of ns-2's Vegas from the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VegasRecoveryOptions {
    /// The bytes that duplicate ACKs added to the window stay if recovery ends with the third.
    pub keep_inflation: bool,
    /// Retransmitting on duplicate ACKs doubles the retransmission timeout.
    pub back_off: bool,
    /// A timer that runs out while nothing is outstanding is a timeout like any other.
    pub idle_is_timeout: bool,
}

impl VegasRecoveryOptions {
    fn of(setup: &PolicySetup<'_>) -> Self {
        Self {
            keep_inflation: setup.get(&INFLATION),
            back_off: setup.get(&BACK_OFF),
            idle_is_timeout: setup.get(&IDLE_TIMEOUT),
        }
    }
}

/// Use of the bytes that duplicate ACKs added to the window.
pub static INFLATION: Parameter<bool> = Parameter::choice(
    "inflation",
    &[("drop", false), ("keep", true)],
    "drop",
    "vegas: what three duplicate ACKs added to the window, after recovery",
);
/// Whether duplicate ACKs double the timeout.
pub static BACK_OFF: Parameter<bool> = Parameter::switch(
    "dup_backoff",
    "off",
    "vegas: retransmitting on duplicate ACKs doubles the retransmission timeout",
);
/// Cost of a timer that expires while nothing is outstanding.
pub static IDLE_TIMEOUT: Parameter<bool> = Parameter::switch(
    "idle_timeout",
    "off",
    "vegas with idle=ns2-ssr: the timer that runs on costs what a timeout does",
);

/// Vegas's recovery.
#[derive(Clone, Copy, Debug)]
pub struct VegasRecovery {
    options: VegasRecoveryOptions,
    dup: DupAcks,
    clock: FineTimeout,
    /// Bytes above the window released by duplicate ACKs; `None` outside of recovery.
    inflation: Option<u64>,
    /// The retransmission that may go whatever the window says is still to be sent.
    forced: bool,
    /// ACKs that are still to look at the next segment.
    looks: u8,
    /// The last reduction was by a timeout.
    timed_out: bool,
    reduced_at: Option<Instant>,
}

/// Timeout by the fine clock, nanoseconds: `srtt + 2 * rttvar`, and a sixteenth on top. The first
/// round trip seeds the variance with a quarter of itself.
#[derive(Clone, Copy, Debug, Default)]
struct FineTimeout {
    estimator: Estimator,
    timeout: u64,
}

impl FineTimeout {
    fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos();
        if self.estimator.srtt8() == 0 {
            self.estimator = Estimator::seeded(rtt, rtt / 4);
        }
        self.estimator.on_sample(rtt);
        let timeout = (self.estimator.srtt8() / 4 + self.estimator.rttvar4()) / 2;
        self.timeout = timeout + timeout / 16;
    }

    /// Raises the timeout at a retransmission: by an eighth the first time, later to twice its
    /// value.
    fn on_retransmission(&mut self, first: bool) {
        let more = if first { self.timeout / 8 } else { self.timeout };
        self.timeout = self.timeout.saturating_add(more);
    }

    fn has_expired(&self, now: Instant, segment: &SentSegment) -> bool {
        self.timeout > 0 && now.saturating_since(segment.sent_at).as_nanos() >= self.timeout
    }
}

impl VegasRecovery {
    /// `limited_transmit`: RFC 3042.
    pub fn new(limited_transmit: LimitedTransmit, options: VegasRecoveryOptions) -> Self {
        Self {
            options,
            dup: DupAcks::new(limited_transmit),
            clock: FineTimeout::default(),
            inflation: None,
            forced: false,
            looks: 0,
            timed_out: false,
            reduced_at: None,
        }
    }

    fn has_expired(&self, cx: &RecoveryContext<'_>, now: Instant) -> bool {
        cx.board.segment(0).is_some_and(|head| self.clock.has_expired(now, head))
    }

    fn on_progress(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        let inflation = self.inflation.take();
        let kept = inflation.filter(|&extra| {
            extra > 0 && self.options.keep_inflation && self.dup.count <= DUP_THRESH
        });
        self.dup.count = 0;
        self.forced = false;
        if let Some(sent) = ack.progress.latest_sent {
            self.clock.on_sample(ack.now.saturating_since(sent));
        }
        self.look_again(cx, ack.now);
        let cwnd = kept.map(|extra| cx.cwnd + extra);
        Report { ended: inflation.is_some(), cwnd, grow: true, ..Report::default() }
    }

    /// The segment that is next may be missing as well; the window has paid for it.
    fn look_again(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) {
        if self.looks == 0 {
            return;
        }
        self.looks -= 1;
        if self.has_expired(cx, now) {
            self.dup.count = DUP_THRESH;
            cx.board.mark_lost(0);
            self.forced = true;
        } else {
            self.looks = 0;
        }
    }

    fn on_duplicate(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        self.dup.on_duplicate(cx);
        let expired = self.has_expired(cx, ack.now);
        if expired || self.dup.count == DUP_THRESH {
            let same_episode = self.timed_out && !self.dup.is_new_episode(ack);
            return if same_episode { Report::default() } else { self.retransmit(cx, ack.now) };
        }
        if self.dup.count > DUP_THRESH {
            *self.inflation.get_or_insert(0) += cx.mss;
        }
        Report::default()
    }

    fn retransmit(&mut self, cx: &mut RecoveryContext<'_>, now: Instant) -> Report {
        let Some(head) = cx.board.segment(0).copied() else { return Report::default() };
        let first = !head.was_retransmitted();
        self.timed_out = false;
        self.dup.begin_episode(cx.snd_nxt);
        self.looks = LOOKS;
        self.clock.on_retransmission(first);
        let reduce = self.reduced_at.is_none_or(|at| at < head.sent_at);
        if reduce {
            self.reduced_at = Some(now);
            self.inflation = Some(u64::from(self.dup.count) * cx.mss);
        } else {
            self.inflation.get_or_insert(0);
        }
        if first {
            self.dup.count = DUP_THRESH;
        }
        cx.board.mark_lost(0);
        self.forced = true;
        Report {
            congestion: reduce.then_some(Reduction::ToSsthresh),
            repeated: !first,
            timer: if self.options.back_off { TimerAction::BackOff } else { TimerAction::Restart },
            ..Report::default()
        }
    }
}

impl VegasRecovery {
    fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, now: Instant, is_fallback: bool) -> Report {
        self.dup.count = 0;
        self.inflation = None;
        self.forced = false;
        self.timed_out = true;
        self.reduced_at = Some(now);
        Report { cwnd: Some(AFTER_TIMEOUT * cx.mss), ..self.dup.on_rto(cx, is_fallback) }
    }
}

impl LossRecovery for VegasRecovery {
    fn capabilities(&self) -> RecoveryCapabilities {
        RecoveryCapabilities {
            counts_idle_timeouts: self.options.idle_is_timeout,
            ..RecoveryCapabilities::BY_DUPLICATES
        }
    }

    fn state(&self) -> RecoveryState {
        let point = self.inflation.map(|_| self.dup.recover);
        let left_network = self.inflation.unwrap_or_else(|| self.dup.left_network());
        RecoveryState { left_network, ..RecoveryState::until(point) }
    }

    fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        if ack.advanced() {
            return self.on_progress(cx, ack);
        }
        if ack.duplicate { self.on_duplicate(cx, ack) } else { Report::default() }
    }

    fn on_event(&mut self, cx: &mut RecoveryContext<'_>, event: RecoveryEvent) -> Report {
        match event {
            RecoveryEvent::RetransmissionTimeout { now, is_fallback } => {
                self.on_rto(cx, now, is_fallback)
            }
            _ => Report::default(),
        }
    }

    fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        if self.forced && cx.board.waiting() > 0 {
            return cx.mss;
        }
        match self.inflation {
            Some(extra) => (cx.cwnd + extra).saturating_sub(cx.board.pipe_ignoring_sacks()),
            None => self.dup.open_allowance(cx),
        }
    }

    fn on_sent(&mut self, sent: &SentInfo) {
        if sent.retransmission {
            self.forced = false;
        }
    }
}
