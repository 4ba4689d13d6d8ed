//! Jump Start (Liu, Allman, Jin & Wang 2007): no start-up at all. Waiting data, as far as the
//! peer's window admits it, is spread over the first round trip, which the handshake measured;
//! congestion avoidance follows.
//!
//! Another start-up acts where no round trip was measured (data in the first segment), for data
//! that fits into the initial window, and after idling and loss. A TLS handshake, which fits, is
//! not the transfer: the jump waits for the data after it.

use super::{
    LossEvent, Overlay, OverlayTurn, Phase, Start, StartUpDescriptor, StartupReason, Suspended,
    Wrapping,
};
use crate::ack::AckSample;
use crate::registry::Make;
use crate::send_plan::SendPlan;
use crate::window::{Cause, Window};
use units::Duration;

/// Jump Start.
pub static JUMP_START: StartUpDescriptor = StartUpDescriptor::new(
    "jump-start",
    "paces all there is to send over the first round trip",
    "Liu, Allman, Jin & Wang 2007",
    Make::Around(|_, inner| Box::new(Wrapping::new(JumpStart::new(), inner))),
)
.explained(&super::pages::JUMP_START);

/// Sends all there is within a round trip.
pub struct JumpStart {
    stage: Stage,
    /// Bytes that the path had sent when the last ACK came.
    sent: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Left to the other start-up.
    Inner,
    /// Paced, until this offset of all bytes sent on the path.
    Jump { until: u64 },
    /// All that was to be paced has left.
    Done,
}

impl JumpStart {
    /// Creates a start-up that has not started.
    pub const fn new() -> Self {
        Self { stage: Stage::Inner, sent: 0 }
    }

    fn send_jump(&mut self, window: &mut Window, bytes: u64, round_trip: Duration) {
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

impl Default for JumpStart {
    fn default() -> Self {
        Self::new()
    }
}

impl Overlay for JumpStart {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        self.end(window, Stage::Inner);
        let transfer = start.transfer.filter(|_| start.reason == StartupReason::NewPath);
        let bytes = transfer.map_or(0, |t| t.bytes.min(t.admitted));
        let may_jump = bytes > start.initial_window && start.lost_window.is_none();
        match start.rtt.measured().filter(|_| may_jump) {
            Some(round_trip) => {
                self.send_jump(window, bytes, round_trip);
                OverlayTurn::Taken
            }
            // Nothing yet was more than an initial window.
            None if transfer.is_some_and(|t| t.bytes <= start.initial_window) => {
                OverlayTurn::AwaitsTransfer
            }
            None => OverlayTurn::Left,
        }
    }

    fn suspended_duties(&self) -> Suspended {
        Suspended { observing: self.stage != Stage::Inner, ..Default::default() }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.sent = sample.sent_total;
        if let Stage::Jump { until } = self.stage {
            let all_in = sample.acked > 0 && sample.acked_total >= sample.sent_total;
            if all_in || sample.sent_total >= until {
                self.end(window, Stage::Done);
            }
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        match self.stage {
            Stage::Inner => None,
            Stage::Jump { .. } => Some(Phase::Continue),
            Stage::Done => Some(Phase::Done),
        }
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event == LossEvent::Reduced {
            self.end(window, Stage::Inner);
        }
        None
    }
}
