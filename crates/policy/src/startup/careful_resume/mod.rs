//! Careful Resume (RFC 9959): once the initial window has shown that the path is the one remembered,
//! the window jumps to half of what it was then; what is sent beyond that has to prove itself.
//!
//! The phases of §3: *Reconnaissance* is an ordinary start with the initial window. In the
//! *Unvalidated* phase the window stands at the jump and sending is paced over a round trip, until
//! an ACK for something unvalidated arrives; *Validating* lasts until all of it is acknowledged;
//! *Safe Retreat* answers any congestion before that. *Normal* is the other start-up, which also
//! grows the window in Reconnaissance and while validating.

use super::{
    Occasion, Overlay, OverlayTurn, Phase, Remembered, Start, StartUpDescriptor, Wrapping,
};
use crate::ack::AckSample;
use crate::config::MemoryKind;
use crate::registry::values::per_mille;
use crate::registry::{Implied, Make, Parameter};
use crate::send_plan::SendPlan;
use crate::window::{Cause, Window};
use units::Instant;

/// Careful Resume.
pub static CAREFUL_RESUME: StartUpDescriptor = StartUpDescriptor::new(
    "careful-resume",
    "jumps to half of a remembered window once the path has proved to be the same",
    "RFC 9959",
    Make::Around(|setup, inner| {
        let options = CarefulResumeOptions { scale: setup.get(&SCALE) };
        Box::new(Wrapping::new(CarefulResume::new(options), inner))
    }),
)
.with(&[&SCALE])
.implying(Implied { memory: MemoryKind::Temporal, ..Implied::NOTHING });

static SCALE: Parameter<u32> = Parameter::text(
    "resume_scale",
    ("fraction, like 0.5", |text| per_mille(text, 1)),
    "0.5",
    "careful-resume: part of the remembered window that is jumped to, at most half",
);

/// What of the remembered window is jumped to, thousandths: at most half (§4.3).
const MOST: u64 = 500;
/// A round trip shorter than a part of the remembered one, or longer than a multiple, is another
/// path's (§4.2).
const SHORTER: u64 = 2;
const LONGER: u64 = 10;

/// Options of [`CarefulResume`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarefulResumeOptions {
    /// What of the remembered window is jumped to, thousandths; no more than half is taken.
    pub scale: u32,
}

/// Jumps to what is remembered, carefully.
pub struct CarefulResume {
    options: CarefulResumeOptions,
    stage: Stage,
    /// Bytes of the path shown to hold (`PipeSize`).
    pipe: u64,
    initial_window: u64,
}

/// Offsets count what the path sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Reconnaissance {
        seed: Remembered,
    },
    Unvalidated {
        from: u64,
        since: Instant,
    },
    Validating {
        until: u64,
    },
    /// `until` is known with the next ACK.
    Retreat {
        until: Option<u64>,
    },
    Normal,
}

impl CarefulResume {
    /// A start-up that has not begun.
    pub const fn new(options: CarefulResumeOptions) -> Self {
        Self { options, stage: Stage::Normal, pipe: 0, initial_window: 0 }
    }

    /// §4.2: the initial window is acknowledged, by the same path as far as its round trip tells, and
    /// more waits than the window admits.
    fn reconnoitre(&mut self, window: &mut Window, sample: &AckSample, seed: &Remembered) {
        let jump = seed.cwnd / 1000 * u64::from(self.options.scale).min(MOST);
        let jump = jump / window.mss() * window.mss();
        let (rtt, saved) = (sample.min_rtt, seed.min_rtt.unwrap_or(seed.srtt));
        let other_path = rtt.saturating_mul(SHORTER) < saved || rtt > saved.saturating_mul(LONGER);
        if other_path || jump <= window.cwnd() || !window.below_ssthresh() {
            self.stage = Stage::Normal;
        } else if sample.acked_total >= self.initial_window && sample.cwnd_limited {
            self.pipe = sample.in_flight;
            window.set_cwnd(jump, Cause::Seed);
            window.follow_plan(SendPlan::spaced(1, rtt / (jump / window.mss())));
            self.stage = Stage::Unvalidated { from: sample.sent_total, since: sample.now };
        }
    }

    /// §4.3: ends with the first unvalidated byte acknowledged, after a round trip, or when the jump
    /// is used up.
    fn unvalidated(
        &mut self,
        window: &mut Window,
        sample: &AckSample,
        (from, since): (u64, Instant),
    ) {
        self.pipe += sample.delivered;
        let acknowledged = sample.acked_total > from;
        let round_trip = sample.now.saturating_since(since) > sample.srtt;
        let used_up = sample.prior_in_flight + window.mss() > window.cwnd();
        if !(acknowledged || round_trip || used_up) {
            return;
        }
        window.end_plan();
        if sample.in_flight <= self.pipe {
            // Little was sent: what is known to hold is what the window may be.
            window.set_cwnd(self.pipe.min(window.cwnd()), Cause::Seed);
            self.stage = Stage::Normal;
        } else {
            window.set_cwnd(sample.in_flight, Cause::Seed);
            self.stage = Stage::Validating { until: sample.sent_total };
        }
    }

    /// §4.5: the window does not grow until all that was unvalidated is acknowledged; what the path
    /// has then shown to hold is the threshold.
    fn retreat(&mut self, window: &mut Window, sample: &AckSample, until: Option<u64>) {
        self.pipe += sample.delivered;
        match until {
            None => self.stage = Stage::Retreat { until: Some(sample.sent_total) },
            Some(until) if sample.acked_total > until => {
                window.set_ssthresh(self.pipe, Cause::Retreat);
                self.stage = Stage::Normal;
            }
            Some(_) => {}
        }
    }
}

impl Overlay for CarefulResume {
    fn begin(&mut self, _: &mut Window, start: &Start<'_>) -> OverlayTurn {
        if start.occasion == Occasion::NewPath {
            self.initial_window = start.initial_window;
            self.stage = start.seed.map_or(Stage::Normal, |seed| Stage::Reconnaissance { seed });
        }
        OverlayTurn::Left
    }

    fn lets_observe(&self) -> bool {
        matches!(self.stage, Stage::Reconnaissance { .. } | Stage::Normal)
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        match self.stage {
            Stage::Reconnaissance { seed } => self.reconnoitre(window, sample, &seed),
            Stage::Unvalidated { from, since } => self.unvalidated(window, sample, (from, since)),
            Stage::Validating { until } => {
                self.pipe += sample.delivered;
                if sample.acked_total >= until {
                    self.stage = Stage::Normal;
                }
            }
            Stage::Retreat { until } => self.retreat(window, sample, until),
            Stage::Normal => {}
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        matches!(self.stage, Stage::Unvalidated { .. }).then_some(Phase::Continue)
    }

    fn on_congestion(&mut self, window: &mut Window) {
        match self.stage {
            Stage::Unvalidated { .. } | Stage::Validating { .. } => {
                window.end_plan();
                let half = (self.pipe / 2).max(self.initial_window);
                window.set_ssthresh(half.min(window.ssthresh()), Cause::Retreat);
                self.stage = Stage::Retreat { until: None };
            }
            Stage::Reconnaissance { .. } | Stage::Retreat { .. } | Stage::Normal => {
                self.stage = Stage::Normal;
            }
        }
    }

    fn suspends_rules(&self) -> bool {
        !self.lets_observe()
    }
}

#[cfg(test)]
mod tests;
