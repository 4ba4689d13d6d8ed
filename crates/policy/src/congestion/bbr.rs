//! BBR once the path is full (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.3 to §4.3.5). It
//! drains the queue of the start-up, then cruises at the bandwidth. It probes for more bandwidth
//! one round trip in eight, and every 10 s for the lowest round trip.
//!
//! The model ([`crate::bbr`]) comes from BBR's start-up. After another start-up it begins with the
//! controller's first ACK, and assumes that the path is full.

use super::{
    CongestionControl, CongestionEvent, ControllerCapabilities, ControllerDescriptor,
    LoweredWindow, ModellingControl,
};
use crate::ack::{AckSample, micros};
use crate::bbr::{Gains, MeteredAck, Model, ModelledPath, Probing};
use crate::registry::{Implied, Make};
use crate::window::Window;
use arith::bbr::{CWND_GAIN, CYCLE, DRAIN_GAIN, HIGH_GAIN, UNIT};
use units::{Duration, Instant};

/// BBR.
pub static BBR: ControllerDescriptor = ControllerDescriptor::new(
    "bbr",
    "by the start-up's model of bandwidth and round trip",
    "draft-cardwell-iccrg-bbr-congestion-control-00",
    Make::Alone(&|_| Box::<Bbr>::default()),
)
.implying(Implied::PACING);

/// The controller's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Slower than the bandwidth, until no more is in flight than fills the path.
    Drain,
    /// Cruising, through the phases of a cycle.
    ProbeBw(Phase),
}

/// A phase of the cycle of gains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Phase {
    index: usize,
    since: Instant,
}

impl Phase {
    fn gain(self) -> u64 {
        CYCLE[self.index]
    }

    fn next(self, now: Instant) -> Self {
        Self { index: (self.index + 1) % CYCLE.len(), since: now }
    }
}

/// BBR's DRAIN, PROBE_BW and PROBE_RTT.
#[derive(Clone, Debug)]
pub struct Bbr {
    /// There once it owns the window.
    model: Option<Box<Model>>,
    /// The model was just handed over, with this ACK in it.
    fresh: bool,
    state: State,
    /// Random state for the first phase of a cycle.
    random: u64,
}

impl Default for Bbr {
    fn default() -> Self {
        Self { model: None, fresh: false, state: State::Drain, random: 0 }
    }
}

impl CongestionControl for Bbr {
    fn capabilities(&self) -> ControllerCapabilities {
        ControllerCapabilities { rules_recovery: true, ..Default::default() }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        let Some(delivery) = &sample.delivery else { return };
        let ack = MeteredAck { sample, delivery };
        let mut model = self.model.take().unwrap_or_else(|| Box::new(Model::take_over_at(sample)));
        let cruising = matches!(self.state, State::ProbeBw(_));
        if !std::mem::take(&mut self.fresh) && model.on_ack(window, delivery, cruising) {
            self.start_probe_cycle(&mut model, delivery.at);
        }
        if !model.is_probing_rtt() {
            self.advance(&mut model, window, ack);
        }
        if model.on_round_trip(window, sample, delivery) == Probing::Over {
            self.start_probe_cycle(&mut model, delivery.at);
        }
        let gains = self.gains(&model);
        model.set_rate_and_window(window, ack, gains);
        self.model = Some(model);
    }

    /// Keeps the model's threshold, which this controller does not use. While another start-up owns
    /// the window, the threshold is half of the data outstanding, as in RFC 5681 §3.1.
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> LoweredWindow {
        LoweredWindow::to(match &mut self.model {
            Some(model) => {
                model.on_congestion(window);
                window.ssthresh()
            }
            None => event.flight_size / 2,
        })
    }

    fn on_undo(&mut self, _: &Window) {
        if let Some(model) = &mut self.model {
            model.on_undo();
        }
    }

    /// Having been idle, there is no need to be faster than the path.
    fn on_restart(&mut self, window: &mut Window, now: Instant, _: Duration) {
        let Some(mut model) = self.model.take() else { return };
        match model.on_restart(window, now) {
            Probing::Over => self.start_probe_cycle(&mut model, now),
            Probing::No if self.state != State::Drain => model.set_rate(window, UNIT),
            Probing::No | Probing::Yes => {}
        }
        self.model = Some(model);
    }

    fn set_seed(&mut self, seed: u64) {
        self.random = seed;
    }

    fn modelling(&mut self) -> Option<&mut dyn ModellingControl> {
        Some(self)
    }
}

impl ModellingControl for Bbr {
    fn take_over(&mut self, model: Box<Model>) {
        self.model = Some(model);
        self.fresh = true;
        self.state = State::Drain;
    }

    fn modelled(&self) -> Option<ModelledPath> {
        let model = self.model.as_deref()?;
        let min_rtt_us = model.min_rtt_us()?;
        Some(ModelledPath { bandwidth: model.max_bandwidth(), min_rtt_us })
    }
}

impl Bbr {
    /// Goes on to the next phase, or from draining to cruising, if it is time.
    fn advance(&mut self, model: &mut Model, window: &Window, ack: MeteredAck<'_>) {
        let MeteredAck { sample, delivery } = ack;
        match self.state {
            State::ProbeBw(phase) => {
                if is_over(phase, model, window, ack) {
                    self.enter_phase(model, phase.next(delivery.at));
                }
            }
            State::Drain => {
                let in_flight = sample.in_flight.div_ceil(window.mss());
                let left = model.in_network(window, ack, in_flight, false);
                if left <= model.inflight(window, UNIT) {
                    self.start_probe_cycle(model, delivery.at);
                }
            }
        }
    }

    /// Begins a cycle, in any phase but the one that drains: flows that share a path probe at
    /// different times (§4.3.4.3).
    fn start_probe_cycle(&mut self, model: &mut Model, now: Instant) {
        let last = Phase { index: CYCLE.len() - 1 - self.random_below(7), since: now };
        self.enter_phase(model, last.next(now));
    }

    fn enter_phase(&mut self, model: &mut Model, phase: Phase) {
        self.state = State::ProbeBw(phase);
        model.set_probing_up(phase.index == 0);
    }

    fn gains(&self, model: &Model) -> Gains {
        match self.state {
            State::Drain => Gains { pacing: DRAIN_GAIN, window: HIGH_GAIN },
            State::ProbeBw(_) if model.is_policed() => Gains { pacing: UNIT, window: CWND_GAIN },
            State::ProbeBw(phase) => Gains { pacing: phase.gain(), window: CWND_GAIN },
        }
    }

    /// Fewer than `n`, by a generator that is seeded (Steele, Lea & Flood 2014).
    fn random_below(&mut self, n: u64) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.random;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((x ^ (x >> 31)) % n).unwrap_or(0)
    }
}

/// True if the phase has lasted a round trip and has met its goal. A phase that probes has raised
/// the segments in flight, or lost some trying; one that drains ends as soon as it has drained
/// (§4.3.4.2, `BBRIsNextCyclePhase`).
fn is_over(phase: Phase, model: &Model, window: &Window, ack: MeteredAck<'_>) -> bool {
    let MeteredAck { sample, delivery } = ack;
    let lasted = model.min_rtt_us().is_none_or(|us| micros(phase.since, delivery.at) > us);
    let gain = if model.is_policed() { UNIT } else { phase.gain() };
    if gain == UNIT {
        return lasted;
    }
    let before = sample.prior_in_flight.div_ceil(window.mss());
    let in_flight = model.in_network(window, ack, before, gain > UNIT);
    if gain > UNIT {
        lasted && (delivery.lost > 0 || in_flight >= model.inflight(window, gain))
    } else {
        lasted || in_flight <= model.inflight(window, UNIT)
    }
}
