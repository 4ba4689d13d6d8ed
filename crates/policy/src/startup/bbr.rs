//! BBR's start-up (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2): pace at 2/ln 2 times the
//! bandwidth seen, which doubles every round trip, until it stops growing.
//!
//! It makes the model of the path ([`crate::bbr`]), answers losses itself as long as it owns the
//! window, and hands the model over when the path is full. To a controller that models nothing it
//! leaves the window and, as threshold, what fills the path; below that it is slow start then.

use super::{
    Beginning, LossEvent, Phase, SlowStart, Start, StartUp, StartUpCapabilities, StartUpDescriptor,
    StartupReason,
};
use crate::ack::{AckSample, Delivery, Episode};
use crate::bbr::{FullPipe, Gains, MeteredAck, Model};
use crate::registry::{Implied, Make};
use crate::window::{Cause, Window};
use arith::bbr::{HIGH_GAIN, UNIT};

/// BBR's start-up. Its window is far larger than the path's capacity, so that the pacer must keep
/// queues short.
pub static BBR_START: StartUpDescriptor = StartUpDescriptor::new(
    "bbr",
    "doubles the rate every round trip until the bandwidth seen stops growing",
    "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2",
    Make::Alone(&|_| Box::<BbrStart>::default()),
)
.implying(Implied::PACING)
.explained(&super::pages::BBR);

/// BBRv3's start-up, for any controller; BBR of the first version goes on with its model.
pub static BBR3_START: StartUpDescriptor = StartUpDescriptor::new(
    "bbr3",
    "bbr with the gains of BBRv3, which a lossy round trip ends, too",
    "draft-ietf-ccwg-bbr §5.3.1",
    Make::Alone(&|_| Box::new(BbrStart::third_version())),
)
.implying(Implied::PACING)
.explained(&super::pages::BBR3);

/// Rate and bytes in flight, as multiples of those that fill the path.
const GAINS: Gains = Gains { pacing: HIGH_GAIN, window: HIGH_GAIN };
/// Gains of BBRv3: 4 ln 2 and 2 (`BBRStartupPacingGain`, `BBRStartupCwndGain`).
const GAINS_3: Gains = Gains { pacing: UNIT * 2773 / 1000 + 1, window: 2 * UNIT };

/// BBR's STARTUP.
#[derive(Clone, Debug)]
pub struct BbrStart {
    gains: Gains,
    /// Losses that end it, in addition to a plateau, if any do.
    losses: Option<LossyRound>,
    /// The model, until it is handed over.
    model: Option<Box<Model>>,
    full_pipe: FullPipe,
}

/// A round trip in fast recovery that loses much (BBRv3, `BBRCheckStartupHighLoss`).
#[derive(Clone, Copy, Debug, Default)]
struct LossyRound {
    /// Segments lost, segments delivered, and the number of ACKs that reported a loss.
    lost: u64,
    delivered: u64,
    tellings: u32,
    /// The whole round was one of fast recovery.
    recovering: bool,
}

impl LossyRound {
    /// Losses of more than 2 % (`BBRLossThresh`) in at least six ranges (`BBRStartupFullLossCnt`).
    /// The number of ranges is that of ACKs that report a loss, so a few may count as one.
    const LOST_PERCENT: u64 = 2;
    /// Number of ranges with losses (`BBRStartupFullLossCnt`).
    const RANGES: u32 = 6;

    /// Takes an ACK; true if a round ends with it that lost too much.
    fn is_over(&mut self, delivery: &Delivery, round_started: bool) -> bool {
        let recovering = delivery.episode == Episode::FastRecovery;
        let much = self.lost * 100 > (self.delivered + self.lost) * Self::LOST_PERCENT;
        let over = round_started && self.recovering && much && self.tellings >= Self::RANGES;
        if round_started {
            *self = Self { recovering, ..Self::default() };
        }
        self.recovering &= recovering;
        self.lost += delivery.lost;
        self.delivered += delivery.fresh;
        self.tellings += u32::from(delivery.lost > 0);
        over
    }
}

impl Default for BbrStart {
    fn default() -> Self {
        Self { gains: GAINS, losses: None, model: None, full_pipe: FullPipe::default() }
    }
}

impl BbrStart {
    /// Creates the start-up of BBRv3.
    pub fn third_version() -> Self {
        Self { gains: GAINS_3, losses: Some(LossyRound::default()), ..Self::default() }
    }
}

impl StartUp for BbrStart {
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities { observes: false, rules_recovery: true, ..Default::default() }
    }

    /// Losses and idling start nothing again: the model processes them.
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        if start.reason == StartupReason::NewPath {
            self.model = Some(Box::new(Model::new(window, start.rtt, start.now)));
            self.full_pipe = FullPipe::default();
        }
        Beginning::Whole
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        let Some(model) = &mut self.model else {
            return SlowStart.on_ack(window, sample);
        };
        let Some(delivery) = &sample.delivery else { return Phase::Continue };
        model.on_ack(window, delivery, false);
        let lossy = |losses: &mut LossyRound| losses.is_over(delivery, model.has_round_started());
        let lossy = self.losses.as_mut().is_some_and(lossy);
        if self.full_pipe.is_reached(model, delivery) || lossy {
            model.on_full_path();
            let full = model.inflight(window, UNIT) * window.mss();
            window.set_ssthresh(full, Cause::Model);
            return Phase::Done;
        }
        model.on_round_trip(window, sample, delivery);
        model.set_rate_and_window(window, MeteredAck { sample, delivery }, self.gains);
        Phase::Continue
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        match event {
            LossEvent::LossSignal(_) => {}
            LossEvent::Reduced => {
                if window.last_cause() == Cause::Timeout {
                    self.full_pipe.forget_level();
                }
                if let Some(model) = &mut self.model {
                    model.on_congestion(window);
                }
            }
            LossEvent::Undone => {
                self.full_pipe.reset();
                if let Some(model) = &mut self.model {
                    model.on_undo();
                }
            }
        }
        Phase::Continue
    }

    fn hand_over(&mut self) -> Option<Box<Model>> {
        self.model.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::DeliveryMeter;

    /// Plays a whole round of fast recovery with ACKs of ten segments each, `tellings` of which
    /// report one loss. Returns true if the ACK that begins the next round finds that too much was
    /// lost.
    fn ends(acks: u64, tellings: u64, episode: Episode) -> bool {
        let mut losses = LossyRound::default();
        let ack = |lost| Delivery { lost, episode, ..DeliveryMeter::default().delivery(10, None) };
        // The round begins in the episode.
        losses.is_over(&ack(0), true);
        for n in 1..acks {
            assert!(!losses.is_over(&ack(u64::from(n <= tellings)), false));
        }
        losses.is_over(&ack(0), true)
    }

    #[test]
    fn a_round_of_recovery_that_loses_more_than_two_percent_in_six_ranges_is_the_last() {
        // 29 ACKs of 10, 6 lost: 6 / 296 = 2.03 %. 30 of 10: 6 / 306 = 1.96 %.
        assert!(ends(29, 6, Episode::FastRecovery));
        assert!(!ends(30, 6, Episode::FastRecovery));
        // Five ranges are too few, whatever they are of; outside fast recovery losses do not count.
        assert!(!ends(10, 5, Episode::FastRecovery));
        assert!(!ends(29, 6, Episode::None));
    }
}
