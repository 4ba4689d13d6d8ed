//! Rate-based pacing after idle (Visweswaraiah & Heidemann 1997): the old window is used again, one
//! segment at a time, until an ACK comes that clocks the rest.
//!
//! The window is reduced a little and spread over a round trip. A new path to a remembered
//! destination begins alike. Others, and windows reduced by loss, are left to the start-up inside.
//! The idle rule must leave the window to the start-up ([`crate::config::IdleRestart::StartUp`]).

use super::{
    LossEvent, Overlay, OverlayTurn, Phase, Remembered, Start, StartUpCapabilities,
    StartUpDescriptor, StartupReason, VegasStart, Wrapping,
};
use crate::ack::AckSample;
use crate::congestion::VegasOptions;
use crate::registry::values::per_mille;
use crate::registry::{Implied, Make, Parameter, PolicySetup};
use crate::window::{Cause, Window};
use units::Duration;

/// Rate-based pacing after idle, else another start-up.
pub static RBP: StartUpDescriptor = StartUpDescriptor::new(
    "rbp",
    "after idle the old window, paced until ACKs clock; else another start-up",
    "Visweswaraiah & Heidemann 1997",
    Make::Around(|setup, inner| Box::new(Wrapping::new(Rbp::new(RbpOptions::of(setup)), inner))),
)
.with(&[&SCALE, &RATE, &ROUND_TRIP, &END])
.implying(Implied::IDLE)
.explained(&super::pages::RBP);

/// Rate-based pacing after idle, else Vegas's slow start.
pub static RBP_VEGAS: StartUpDescriptor = StartUpDescriptor::new(
    "rbp-vegas",
    "after idle the old window, paced until ACKs clock; else the slow start of vegas",
    "Visweswaraiah & Heidemann 1997",
    Make::Alone(&|setup| {
        let inner = Box::new(VegasStart::new(VegasOptions::of(setup)));
        Box::new(Wrapping::new(Rbp::new(RbpOptions::of(setup)), inner))
    }),
)
.with(&[&SCALE, &RATE, &ROUND_TRIP, &END])
.implying(Implied::IDLE)
.explained(&super::pages::RBP_VEGAS);

/// Part of the window that is paced.
pub static SCALE: Parameter<u32> = Parameter::text(
    "rbp_scale",
    ("fraction, like 0.75", |text| per_mille(text, 1)),
    "0.75",
    "rbp: part of the window that is paced",
);
/// Source of the window.
pub static RATE: Parameter<RbpRate> = Parameter::choice(
    "rbp_rate",
    &[("window", RbpRate::Window), ("measured", RbpRate::Measured)],
    "window",
    "rbp: the old window, or the rate of the last round trip",
);
/// Round trip over which the window is spread.
pub static ROUND_TRIP: Parameter<bool> = Parameter::choice(
    "rbp_rtt",
    &[("smoothed", true), ("latest", false)],
    "smoothed",
    "rbp: what the window is spread over; with latest a remembered window over the lowest that is remembered",
);
/// End of the pacing.
pub static END: Parameter<RbpEnd> = Parameter::choice(
    "rbp_end",
    &[("ack", RbpEnd::FirstAck), ("cut", RbpEnd::Cut), ("used-up", RbpEnd::UsedUp)],
    "cut",
    "rbp: paced until the first ACK; which takes the window to what was sent; until one finds the window used up",
);

/// At least this many segments are paced. Chosen, not measured.
const LEAST: u64 = 2;

/// Source of the window to be paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RbpRate {
    /// The old window.
    Window,
    /// The rate of the last whole round trip, times the latest round-trip time: Vegas's estimate.
    Measured,
}

/// Options of [`Rbp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RbpOptions {
    /// Part of the window that is used, thousandths.
    pub scale: u32,
    /// Source of the window.
    pub rate: RbpRate,
    /// The window is spread over the smoothed round trip; otherwise over the latest.
    pub smoothed: bool,
    /// End of the pacing.
    pub end: RbpEnd,
}

/// Event that ends the pacing of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RbpEnd {
    /// The first ACK.
    FirstAck,
    /// The first ACK, which takes the window to what had been sent until then, as in ns-2.
    Cut,
    /// An ACK that finds the window used up. Where an application had too little to send, the first
    /// one does not, and would let the rest of the window go at once.
    UsedUp,
}

impl RbpOptions {
    fn of(setup: &PolicySetup<'_>) -> Self {
        Self {
            scale: setup.get(&SCALE),
            rate: setup.get(&RATE),
            smoothed: setup.get(&ROUND_TRIP),
            end: setup.get(&END),
        }
    }
}

/// Paces after idle, else does as another start-up.
pub struct Rbp {
    options: RbpOptions,
    srtt: Duration,
    latest: Duration,
    /// Bytes sent in the last whole round trip, and how long that took.
    rate: Option<(u64, Duration)>,
    pacing: bool,
}

impl Rbp {
    /// Creates a start-up that has not started.
    pub const fn new(options: RbpOptions) -> Self {
        let (srtt, latest) = (Duration::ZERO, Duration::ZERO);
        Self { options, srtt, latest, rate: None, pacing: false }
    }

    /// The window to pace, whole segments, rounded to the nearest.
    fn segments(&self, window: &Window) -> u64 {
        let per_mille = u128::from(self.options.scale);
        let unit = 1000 * u128::from(window.mss());
        let measured = self.rate.filter(|_| self.options.rate == RbpRate::Measured);
        let (bytes, per) = match measured {
            Some((sent, rtt)) => {
                (u128::from(sent) * u128::from(self.latest.as_nanos()), rtt.as_nanos())
            }
            None => (u128::from(window.cwnd()), 1),
        };
        let unit = unit * u128::from(per.max(1));
        let segments = (bytes * per_mille + unit / 2) / unit;
        u64::try_from(segments).unwrap_or(u64::MAX).max(LEAST)
    }

    /// Returns the round trip over which the window is spread.
    const fn round_trip(&self) -> Duration {
        if self.options.smoothed { self.srtt } else { self.latest }
    }

    fn start(&mut self, window: &mut Window) {
        let rtt = self.round_trip();
        if rtt.is_zero() {
            return;
        }
        let paced = self.segments(window).saturating_mul(window.mss());
        window.set_cwnd(paced.min(window.cwnd()), Cause::Seed);
        window.spread_over(rtt);
        self.pacing = true;
    }

    /// A new path begins as the remembered one was (Eggert, Heidemann & Touch 2000 §3.1).
    fn reuse(&mut self, window: &mut Window, seed: &Remembered) {
        if let Some(ssthresh) = seed.ssthresh {
            window.set_ssthresh(ssthresh, Cause::Seed);
        }
        window.set_cwnd(seed.cwnd, Cause::Seed);
        (self.srtt, self.latest) = (seed.srtt, seed.min_rtt.unwrap_or(seed.srtt));
        self.start(window);
    }

    fn on_paced_ack(&mut self, window: &mut Window, sample: &AckSample) {
        if self.options.end == RbpEnd::UsedUp && !window.is_used_up(sample.prior_in_flight) {
            return window.spread_over(self.round_trip());
        }
        self.stop(window);
        if self.options.end == RbpEnd::Cut && sample.acked > 0 {
            window.set_cwnd(sample.prior_in_flight, Cause::Seed);
        }
    }

    fn stop(&mut self, window: &mut Window) {
        self.pacing = false;
        window.end_plan();
    }
}

impl Overlay for Rbp {
    fn capabilities(&self) -> StartUpCapabilities {
        let needs_rounds = self.options.rate == RbpRate::Measured;
        StartUpCapabilities { needs_rounds, ..Default::default() }
    }

    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        match (start.reason, &start.seed) {
            (StartupReason::Idle, _) => self.start(window),
            (StartupReason::NewPath, Some(seed)) => self.reuse(window, seed),
            (StartupReason::NewPath, None) | (StartupReason::Loss, _) => return OverlayTurn::Left,
        }
        OverlayTurn::Taken
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.srtt = sample.srtt;
        self.latest = sample.rtt.unwrap_or(self.latest);
        if let Some(round) = sample.round {
            self.rate = Some((round.sent, round.rtt));
        }
        if self.pacing {
            self.on_paced_ack(window, sample);
        }
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if self.pacing && event == LossEvent::Reduced {
            self.stop(window);
        }
        None
    }
}
