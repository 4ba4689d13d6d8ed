//! Careful Resume (RFC 9959). Once the initial window has shown that the path is the remembered
//! one, the window jumps to half of the remembered value. Data above the initial window then has to
//! be validated.
//!
//! The phases of §3: *Reconnaissance* is a normal start with the initial window. In the
//! *Unvalidated* phase the window stays at the jump and sending is paced over a round trip, until
//! an ACK for unvalidated data is received. *Validating* lasts until all of it is acknowledged;
//! `Safe Retreat` answers any congestion before that. *Normal* is the other start-up, which also
//! grows the window in Reconnaissance and while validating.

use super::{
    LossEvent, Overlay, OverlayTurn, Phase, Remembered, SeedTerms, Start, StartUpDescriptor,
    StartupReason, Suspended, Wrapping,
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
        let options = CarefulResumeOptions { scale: setup.get(&SCALE), beta: setup.get(&BETA) };
        Box::new(Wrapping::new(CarefulResume::new(options), inner))
    }),
)
.with(&[&SCALE, &BETA])
.implying(Implied { memory: MemoryKind::Temporal, ..Implied::NOTHING })
.explained(&super::pages::CAREFUL_RESUME);

static SCALE: Parameter<u32> = Parameter::text(
    "resume_scale",
    ("fraction up to 0.5", |text| {
        per_mille(text, 1)
            .ok()
            .filter(|n| *n <= MAX_JUMP_THOUSANDTHS)
            .ok_or_else(|| "must lie above 0 and up to 0.5, with at most three decimals".to_owned())
    }),
    "0.5",
    "careful-resume: part of the remembered window that is jumped to, at most half",
);
static BETA: Parameter<u32> = Parameter::text(
    "resume_beta",
    ("fraction, like 0.5", |text| per_mille(text, 1)),
    "0.5",
    "careful-resume: threshold after a fall-back, as a part of what the path held",
);

/// Largest part of the remembered window that is jumped to, thousandths: half (§4.3).
const MAX_JUMP_THOUSANDTHS: u32 = 500;
/// Smallest threshold, segments (RFC 5681 §3.1).
const LEAST: u64 = 2;
/// A round trip shorter than a part of the remembered one, or longer than a multiple, is another
/// path's (§4.2).
const SHORTER: u64 = 2;
/// See [`SHORTER`].
const LONGER: u64 = 10;

/// Options of [`CarefulResume`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarefulResumeOptions {
    /// Part of the remembered window that is jumped to, thousandths, at most 500.
    pub scale: u32,
    /// Part of `PipeSize` that becomes the threshold after `Safe Retreat`, thousandths (`Beta` of
    /// §3.5).
    pub beta: u32,
}

/// Jumps to the remembered window, carefully.
pub struct CarefulResume {
    options: CarefulResumeOptions,
    stage: Stage,
    /// Conditions on the remembered values, until the jump.
    terms: Option<SeedTerms>,
    /// Bytes of the path shown to hold (`PipeSize`).
    pipe: u64,
    initial_window: u64,
    /// `Safe Retreat` has ended with the last ACK. Recovery, which may end with the same ACK, makes
    /// the window the threshold, so the threshold is set with the next ACK.
    owes_threshold: bool,
}

/// Offsets count what the path sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Reconnaissance {
        seed: Remembered,
    },
    Unvalidated(Jump),
    Validating {
        until: u64,
    },
    /// `until` is known with the next ACK.
    SafeRetreat {
        until: Option<u64>,
    },
    Normal,
}

/// A jump of which nothing is acknowledged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Jump {
    /// All since this offset is unvalidated.
    from: u64,
    since: Instant,
}

impl CarefulResume {
    /// Creates a start-up that has not started.
    pub const fn new(options: CarefulResumeOptions) -> Self {
        let (pipe, initial_window, owes_threshold) = (0, 0, false);
        Self { options, stage: Stage::Normal, terms: None, pipe, initial_window, owes_threshold }
    }

    /// §4.2: jumps if the initial window is acknowledged, the round trip does not show another
    /// path, and more data waits than the window admits.
    fn jump_if_confirmed(&mut self, window: &mut Window, sample: &AckSample, seed: &Remembered) {
        let jump = seed.cwnd / 1000 * u64::from(self.options.scale);
        let jump = jump / window.mss() * window.mss();
        let (rtt, saved) = (sample.min_rtt, seed.min_rtt.unwrap_or(seed.srtt));
        let other_path = rtt.saturating_mul(SHORTER) < saved || rtt > saved.saturating_mul(LONGER);
        if other_path || jump <= window.cwnd() || !window.below_ssthresh() {
            self.stage = Stage::Normal;
        } else if sample.acked_total >= self.initial_window && sample.cwnd_limited {
            // §3.2: the set may have expired since the connection began, or be another one's.
            if self.terms.take().is_some_and(|terms| !terms.grant(sample.now)) {
                self.stage = Stage::Normal;
                return;
            }
            self.pipe = sample.in_flight;
            window.set_cwnd(jump, Cause::Seed);
            window.follow_plan(SendPlan::spaced(1, rtt / (jump / window.mss())));
            let jump = Jump { from: sample.sent_total, since: sample.now };
            self.stage = Stage::Unvalidated(jump);
        }
    }

    /// §4.3: ends the phase with the first unvalidated byte acknowledged, after a round trip, or
    /// when the jump is used up.
    fn on_ack_unvalidated(&mut self, window: &mut Window, sample: &AckSample, jump: Jump) {
        self.pipe += sample.delivered;
        let acknowledged = sample.acked_total > jump.from;
        let round_trip = sample.now.saturating_since(jump.since) > sample.srtt;
        let used_up = sample.prior_in_flight + window.mss() > window.cwnd();
        if !(acknowledged || round_trip || used_up) {
            return;
        }
        window.end_plan();
        if sample.in_flight <= self.pipe || sample.in_flight < self.initial_window {
            // Little was sent: the window becomes the proven capacity. Without a loss, it is not
            // below the initial one (§3.3).
            let held = self.pipe.min(window.cwnd()).max(self.initial_window);
            window.set_cwnd(held, Cause::Seed);
            self.stage = Stage::Normal;
        } else {
            window.set_cwnd(sample.in_flight, Cause::Seed);
            self.stage = Stage::Validating { until: sample.sent_total };
        }
    }

    /// §3.5, §4.5: the window does not grow until all unvalidated data is acknowledged. The
    /// threshold then becomes a part of the capacity that the path has shown.
    fn on_ack_in_retreat(&mut self, sample: &AckSample, until: Option<u64>) {
        self.pipe += sample.delivered;
        let until = until.unwrap_or(sample.sent_total);
        self.owes_threshold = sample.acked_total >= until;
        self.stage = match self.owes_threshold {
            true => Stage::Normal,
            false => Stage::SafeRetreat { until: Some(until) },
        };
    }

    fn set_owed_threshold(&mut self, window: &mut Window) {
        if std::mem::take(&mut self.owes_threshold) {
            let held = self.pipe / 1000 * u64::from(self.options.beta);
            window.set_ssthresh(held.max(LEAST * window.mss()), Cause::FallBack);
        }
    }
}

impl Overlay for CarefulResume {
    fn begin(&mut self, _: &mut Window, start: &Start<'_>) -> OverlayTurn {
        if start.reason == StartupReason::NewPath {
            self.initial_window = start.initial_window;
            self.terms = start.terms.cloned();
            self.stage = start.seed.map_or(Stage::Normal, |seed| Stage::Reconnaissance { seed });
        }
        OverlayTurn::Left
    }

    fn suspended_duties(&self) -> Suspended {
        let acts = !matches!(self.stage, Stage::Reconnaissance { .. } | Stage::Normal);
        Suspended { observing: acts, ruling: acts }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.set_owed_threshold(window);
        match self.stage {
            Stage::Reconnaissance { seed } => self.jump_if_confirmed(window, sample, &seed),
            Stage::Unvalidated(jump) => self.on_ack_unvalidated(window, sample, jump),
            Stage::Validating { until } => {
                self.pipe += sample.delivered;
                if sample.acked_total >= until {
                    self.stage = Stage::Normal;
                }
            }
            Stage::SafeRetreat { until } => self.on_ack_in_retreat(sample, until),
            Stage::Normal => {}
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        matches!(self.stage, Stage::Unvalidated { .. }).then_some(Phase::Continue)
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event != LossEvent::Reduced {
            return None;
        }
        self.owes_threshold = false;
        match self.stage {
            Stage::Unvalidated { .. } | Stage::Validating { .. } => {
                window.end_plan();
                let half = (self.pipe / 2).max(LEAST * window.mss());
                window.set_ssthresh(half.min(window.ssthresh()), Cause::FallBack);
                self.stage = Stage::SafeRetreat { until: None };
            }
            Stage::Reconnaissance { .. } | Stage::SafeRetreat { .. } | Stage::Normal => {
                self.stage = Stage::Normal;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
