//! What a reader has to know of a policy before running it: `headstart schemes NAME` prints it.
//!
//! The text lies beside the policies ([`crate::startup`] has `pages`), and a [`super::Descriptor`] points to it.

/// How a policy works, by its source, and where it differs from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyPage {
    /// What it is, in one to three sentences.
    pub summary: &'static str,
    /// How it starts, in the order of time.
    pub steps: &'static [PageStep],
    /// Where it differs from its source, and why, a sentence or two each; empty: nowhere that is known.
    pub deviations: &'static [&'static str],
}

/// One flight or phase of a start. `{iw}` in a text stands for the initial window in segments, and the
/// name of one of the policy's parameters in such brackets for its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStep {
    /// The flight or phase.
    pub phase: &'static str,
    /// What is sent in it.
    pub sent: &'static str,
    /// At which pace; empty: as the scheme's parameter `pacing` says.
    pub pace: &'static str,
    /// What ends it.
    pub until: &'static str,
}

impl PageStep {
    /// A step whose sending follows the ACK clock, or the parameter `pacing`.
    pub const fn clocked(phase: &'static str, sent: &'static str, until: &'static str) -> Self {
        Self { phase, sent, pace: "", until }
    }
}
