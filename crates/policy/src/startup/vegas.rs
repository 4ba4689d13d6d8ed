//! Vegas's slow start (Brakmo & Peterson 1995 §3.4): the window doubles every other round trip.
//!
//! In between it stays, so that the expected and the actual rate can be compared. Once more than
//! `gamma` segments are queued, slow start ends and the window is reduced by an eighth.

use super::{LossEvent, Phase, StartUp, StartUpCapabilities, StartUpDescriptor};
use crate::ack::{AckSample, RoundTrip};
use crate::congestion::vegas::{
    GAMMA, QUEUED, SECOND, VegasOptions, keeps_up, lower_window, threshold,
};
use crate::registry::Make;
use crate::window::{Cause, Window};

/// Vegas's slow start.
pub static VEGAS_START: StartUpDescriptor = StartUpDescriptor::new(
    "vegas",
    "doubles the window every other round trip until more than gamma segments are queued",
    "Brakmo & Peterson 1995 §3.4",
    Make::Alone(&|setup| Box::new(VegasStart::new(VegasOptions::of(setup)))),
)
.with(&[&GAMMA, &QUEUED, &SECOND])
.explained(&super::pages::VEGAS);

/// Slow start that watches for a queue.
#[derive(Clone, Copy, Debug)]
pub struct VegasStart {
    options: VegasOptions,
    /// The next round is one of growth.
    next_grows: bool,
    growing: bool,
}

impl VegasStart {
    /// Slow start with `gamma` of `options`.
    pub const fn new(options: VegasOptions) -> Self {
        Self { options, next_grows: false, growing: false }
    }

    /// A round has ended: the next one grows, or watches.
    fn on_round_end(&mut self, window: &mut Window, round: &RoundTrip) {
        let mss = window.mss();
        self.growing = self.next_grows;
        self.next_grows = !self.next_grows;
        let queued = self.options.queued(round, mss);
        if self.growing && queued > threshold(self.options.gamma, mss) {
            self.growing = false;
            window.set_ssthresh(0, Cause::Delay);
            lower_window(window, window.cwnd() - window.cwnd() / 8);
        }
    }

    fn begin_late(&self, window: &mut Window, sample: &AckSample) {
        let before = sample.acked_total - sample.acked;
        if let Some(segments) = self.options.second_window
            && before > 0
            && before <= window.mss()
        {
            window.set_cwnd(u64::from(segments) * window.mss(), Cause::Initial);
        }
    }
}

impl StartUp for VegasStart {
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities { observes: false, needs_rounds: true, ..Default::default() }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        self.begin_late(window, sample);
        if let Some(round) = sample.round.as_ref().filter(|_| window.below_ssthresh()) {
            self.on_round_end(window, round);
        }
        if self.growing && window.below_ssthresh() && keeps_up(window, sample) {
            window.grow(window.mss(), Cause::SlowStart);
        }
        if window.below_ssthresh() { Phase::Continue } else { Phase::Done }
    }

    fn on_loss(&mut self, _: &mut Window, event: LossEvent) -> Phase {
        self.growing &= event != LossEvent::Reduced;
        Phase::Continue
    }
}
