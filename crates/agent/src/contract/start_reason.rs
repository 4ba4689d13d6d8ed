//! The kinds of starts, among them the reasons for cold ones: an operator without warm starts looks
//! here first.

use serde::{Deserialize, Serialize};

/// Kind of a start: the first reason that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartReason {
    /// Warm: it starts with a remembered window.
    Warm,
    /// Cold: its handshake lost something.
    Handshake,
    /// Cold: nothing is remembered of its path.
    Unknown,
    /// Cold: what is remembered is older than `--max-age`.
    Old,
    /// Cold: its round trip is below half or above ten times the remembered one.
    RoundTrip,
    /// Cold: no more than a stock window is remembered.
    Small,
    /// Cold: this kind of connection, or all, were turned off, or it is a dry run.
    Stopped,
    /// Cold: outside of the canary's share (`--percent`).
    Outside,
    /// Cold: of the control group (`--holdout`).
    ControlGroup,
    /// Cold: connections that opened at the same time had the window already.
    SharedState,
    /// Cold: it cannot be paced, or would be slower than a cold start.
    Pacing,
}

impl StartReason {
    /// All, in the order of the programs' numbers.
    pub const ALL: [Self; 11] = [
        Self::Warm,
        Self::Handshake,
        Self::Unknown,
        Self::Old,
        Self::RoundTrip,
        Self::Small,
        Self::Stopped,
        Self::Outside,
        Self::ControlGroup,
        Self::SharedState,
        Self::Pacing,
    ];

    /// Returns the reason with this number in the programs; `None` if there is no such number.
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the name in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Handshake => "handshake",
            Self::Unknown => "unknown",
            Self::Old => "old",
            Self::RoundTrip => "round-trip",
            Self::Small => "small",
            Self::Stopped => "stopped",
            Self::Outside => "outside",
            Self::ControlGroup => "control-group",
            Self::SharedState => "shared",
            Self::Pacing => "pacing",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::layout::CONSTANTS;

    /// The programs' names are these, in capitals: `START_ROUND_TRIP` is `round-trip`.
    #[test]
    fn numbers_mean_what_the_programs_mean() {
        let named = CONSTANTS.iter().filter_map(|(name, value)| {
            Some((name.strip_prefix("START_")?.to_lowercase().replace('_', "-"), *value))
        });
        let named: Vec<_> = named.collect();
        assert_eq!(named.len(), StartReason::ALL.len());
        for (name, number) in named {
            assert_eq!(StartReason::of(number).unwrap().name(), name);
        }
        assert_eq!(StartReason::of(11), None);
    }
}
