//! The capabilities of a path's policies, asked once, when the path is created.

use policy::congestion::{CongestionControl, ControllerCapabilities};
use policy::startup::{StartUp, StartUpCapabilities};

/// The capabilities of both policies of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capabilities {
    /// Capabilities of the start-up; [`StartUpCapabilities::rules_recovery`]: true if it ever may.
    pub(super) startup: StartUpCapabilities,
    /// Capabilities of the congestion controller.
    pub(super) controller: ControllerCapabilities,
    /// True if each ACK is passed to the start-up, the meter of round trips, or the notes of
    /// flights.
    pub(super) shows_acks: bool,
}

impl Capabilities {
    pub(super) fn of(startup: &dyn StartUp, controller: &dyn CongestionControl) -> Self {
        let (startup, controller) = (startup.capabilities(), controller.capabilities());
        let mut all = Self { startup, controller, shows_acks: false };
        all.shows_acks = startup.observes || all.need_rounds();
        all
    }

    /// True if one of the policies judges round trips.
    pub(super) const fn need_rounds(&self) -> bool {
        self.startup.needs_rounds || self.controller.needs_rounds
    }

    /// True if one of the policies may answer losses itself, and models the path for that.
    pub(super) const fn may_rule_recovery(&self) -> bool {
        self.startup.rules_recovery || self.controller.rules_recovery
    }
}

#[cfg(test)]
mod tests;
