//! The description of a policy for a reader who is about to run it: `headstart schemes NAME` prints
//! it.
//!
//! The text is beside the policies ([`crate::startup`] has `pages`), and a [`super::Descriptor`]
//! points to it.

/// The steps of a policy, by its source, and its differences from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyPage {
    /// Description, in one to three sentences.
    pub summary: &'static str,
    /// Steps of its start, in the order of time.
    pub steps: &'static [PageStep],
    /// Differences from its source, and the reasons, a sentence or two each; empty: none known.
    pub deviations: &'static [&'static str],
}

/// One flight or phase of a start. `{iw}` in a text stands for the initial window in segments, and
/// the name of one of the policy's parameters in brackets of that kind for its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStep {
    /// The flight or phase.
    pub phase: &'static str,
    /// Data that is sent in it.
    pub sent: &'static str,
    /// Pace of sending; empty: as the scheme's parameter `pacing` says.
    pub pace: &'static str,
    /// End of the flight or phase.
    pub until: &'static str,
}

impl PageStep {
    /// A step whose sending follows the ACK clock, or the parameter `pacing`.
    pub const fn clocked(phase: &'static str, sent: &'static str, until: &'static str) -> Self {
        Self { phase, sent, pace: "", until }
    }
}
