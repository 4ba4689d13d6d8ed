//! Jump Start (Liu, Allman, Jin & Wang 2007): no start-up at all. What waits to be sent, as far as
//! the peer's window admits it, is spread over the first round trip, which the handshake measured;
//! congestion avoidance follows.
//!
//! Where no round trip was measured (data in the first segment) and for what fits into the initial
//! window, and after idling and loss, another start-up acts. A TLS handshake, which fits, is not what
//! the connection is for: the jump waits for what follows.

use super::{Occasion, Phase, Setback, Start, StartUp};
use crate::ack::{AckSample, RttEstimator};
use crate::send_plan::SendPlan;
use crate::window::{Cause, Window};
use units::Duration;

/// Sends all there is within a round trip.
pub struct JumpStart {
    inner: Box<dyn StartUp>,
    stage: Stage,
    /// Bytes that the path had sent when the last ACK came.
    sent: u64,
    /// Nothing yet was more than an initial window.
    awaits_transfer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Left to the other start-up.
    Inner,
    /// Paced, until this offset of what the path sends.
    Jump { until: u64 },
    /// All that was to be paced has left.
    Done,
}

impl JumpStart {
    /// Jumps, and does as `inner` where it does not.
    pub fn new(inner: Box<dyn StartUp>) -> Self {
        Self { inner, stage: Stage::Inner, sent: 0, awaits_transfer: false }
    }

    fn jump(&mut self, window: &mut Window, (bytes, round_trip): (u64, Duration)) {
        let segments = bytes.div_ceil(window.mss());
        let cwnd = segments.saturating_mul(window.mss());
        window.set_ssthresh(cwnd, Cause::Seed);
        window.set_cwnd(cwnd, Cause::Seed);
        window.follow_plan(SendPlan::spaced(1, round_trip / segments));
        self.stage = Stage::Jump { until: self.sent.saturating_add(bytes) };
    }

    fn end(&mut self, window: &mut Window, stage: Stage) {
        if matches!(self.stage, Stage::Jump { .. }) {
            window.end_plan();
        }
        self.stage = stage;
    }
}

impl StartUp for JumpStart {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) {
        self.end(window, Stage::Inner);
        let transfer = start.transfer.filter(|_| start.occasion == Occasion::NewPath);
        self.awaits_transfer = transfer.is_some_and(|t| t.bytes <= start.initial_window);
        let bytes = transfer.map_or(0, |t| t.bytes.min(t.admitted));
        if bytes > start.initial_window && start.rtt.has_sample() {
            self.jump(window, (bytes, start.rtt.srtt()));
        } else {
            self.inner.begin(window, start);
        }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.sent = sample.sent_total;
        match self.stage {
            Stage::Inner => self.inner.observe(window, sample),
            Stage::Jump { until } => {
                let all_in = sample.acked > 0 && sample.acked_total >= sample.sent_total;
                if all_in || sample.sent_total >= until {
                    self.end(window, Stage::Done);
                }
            }
            Stage::Done => {}
        }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        match self.stage {
            Stage::Inner => self.inner.on_ack(window, sample),
            Stage::Jump { .. } => Phase::Continue,
            Stage::Done => Phase::Done,
        }
    }

    fn on_congestion(&mut self, window: &mut Window) {
        self.end(window, Stage::Inner);
        self.inner.on_congestion(window);
    }

    fn on_setback(&mut self, window: &mut Window, setback: Setback) -> Phase {
        self.inner.on_setback(window, setback)
    }

    fn reset_timeout(&self, rtt: &RttEstimator, marked: bool) -> Option<Duration> {
        self.inner.reset_timeout(rtt, marked)
    }

    fn awaits_transfer(&self) -> bool {
        self.awaits_transfer
    }

    fn has_reset_timer(&self) -> bool {
        self.inner.has_reset_timer()
    }

    fn needs_rounds(&self) -> bool {
        self.inner.needs_rounds()
    }
}
