//! BBR's start-up (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2): pace at 2/ln 2 times the
//! bandwidth seen, which doubles every round trip, until it stops growing.
//!
//! It makes the model of the path ([`crate::bbr`]), answers losses itself as long as it owns the
//! window, and hands the model over when the path is full. To a controller that models nothing it
//! leaves the window and, as threshold, what fills the path; below that it is slow start then.

use super::{Occasion, Phase, SlowStart, Start, StartUp, StartUpDescriptor};
use crate::ack::AckSample;
use crate::bbr::{FullPipe, Gains, Model};
use crate::registry::{Implied, Make};
use crate::window::{Cause, Window};
use arith::bbr::{HIGH_GAIN, UNIT};

/// BBR's start-up. Its window holds far more than the path, so that it is for the pacer to keep queues short.
pub static BBR_START: StartUpDescriptor = StartUpDescriptor::new(
    "bbr",
    "doubles the rate every round trip until the bandwidth seen stops growing",
    "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2",
    Make::Alone(|_| Box::<BbrStart>::default()),
)
.implying(Implied::PACING);

/// What is sent and held in flight, in terms of what fills the path.
const GAINS: Gains = Gains { pacing: HIGH_GAIN, window: HIGH_GAIN };

/// BBR's STARTUP.
#[derive(Clone, Debug, Default)]
pub struct BbrStart {
    /// Until it is handed over.
    model: Option<Box<Model>>,
    full_pipe: FullPipe,
}

impl StartUp for BbrStart {
    /// Losses and idling begin nothing anew: they are the model's.
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) {
        if start.occasion == Occasion::NewPath {
            self.model = Some(Box::new(Model::new(window, start.rtt, start.now)));
            self.full_pipe = FullPipe::default();
        }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        let Some(model) = &mut self.model else {
            return SlowStart.on_ack(window, sample);
        };
        let Some(delivery) = &sample.delivery else { return Phase::Continue };
        model.on_ack(window, delivery, false);
        if self.full_pipe.is_reached(model, delivery) {
            model.fill();
            let full = model.inflight(window, UNIT) * window.mss();
            window.set_ssthresh(full, Cause::Model);
            return Phase::Done;
        }
        model.on_round_trip(window, sample, delivery);
        model.steer(window, sample, (delivery, GAINS));
        Phase::Continue
    }

    fn on_congestion(&mut self, window: &mut Window) {
        if window.last_cause() == Cause::Timeout {
            self.full_pipe.forget_level();
        }
        if let Some(model) = &mut self.model {
            model.on_congestion(window);
        }
    }

    fn on_undo(&mut self) {
        self.full_pipe.reset();
        if let Some(model) = &mut self.model {
            model.on_undo();
        }
    }

    fn rules_recovery(&self) -> bool {
        true
    }

    fn hand_over(&mut self) -> Option<Box<Model>> {
        self.model.take()
    }
}
