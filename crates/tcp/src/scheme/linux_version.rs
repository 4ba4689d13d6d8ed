//! Versions of Linux, and what differs between them in this model.
//!
//! The table is [`LinuxVersion::apply`]; nothing else asks for a version. Differences that the
//! model does not have, such as timer ticks, are in no version.

use super::Recipe;
use crate::receiver::SackHold;
use std::fmt;
use std::str::FromStr;

/// A version of Linux that sender and receiver follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinuxVersion {
    /// Linux 6.12, of November 2024.
    V6_12,
    /// Linux 6.18, of November 2025.
    #[default]
    V6_18,
    /// Linux 7.0, of April 2026.
    V7_0,
}

impl LinuxVersion {
    /// Every version with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("6.12", Self::V6_12), ("6.18", Self::V6_18), ("7.0", Self::V7_0)];

    /// Sets what the version decides. A receive window that a scheme's text gives stays if
    /// `window_is_given`.
    pub(super) fn apply(self, recipe: &mut Recipe, window_is_given: bool) {
        let receive = &mut recipe.config.receive;
        // Linux 6.19 has `tcp_comp_sack_rtt_percent`, and less slack.
        receive.sack_hold = match self {
            Self::V6_12 | Self::V6_18 => SackHold::LINUX_6_18,
            Self::V7_0 => SackHold::LINUX_6_19,
        };
        if receive.autotune && !window_is_given {
            // `tcp_rmem[2]` is 6 MiB until 6.15, and 32 MiB since.
            receive.max_window = match self {
                Self::V6_12 => 6 << 20,
                Self::V6_18 | Self::V7_0 => 32 << 20,
            };
        }
    }
}

impl FromStr for LinuxVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, version)| version).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            format!("{text:?} is no version of Linux that is modelled: use {names}")
        })
    }
}

impl fmt::Display for LinuxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.into_iter().find(|(_, version)| version == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;

    /// A scheme without a version has the settings of 6.18.
    #[test]
    fn the_default_is_6_18() {
        let (plain, named) = (scheme("linux"), scheme("linux+linux=6.18"));
        assert_eq!(plain.config().receive, named.config().receive);
    }

    fn scheme(text: &str) -> Scheme {
        Scheme::parse(text).unwrap()
    }

    /// `tcp_rmem[2]` grew from 6 MiB to 32 MiB in 6.16, and ACKs are held back longer since 6.19.
    #[test]
    fn versions_differ_in_the_largest_window_and_in_acks_behind_a_gap() {
        let of = |text: &str| {
            let receive = scheme(text).config().receive;
            (receive.max_window >> 20, receive.sack_hold == SackHold::LINUX_6_19)
        };
        assert_eq!(of("linux+linux=6.12"), (6, false));
        assert_eq!(of("linux+linux=7.0"), (32, true));
        // A given window stays, before the version and behind it.
        assert_eq!(of("linux+linux=6.12+rcvbuf_max=8MiB").0, 8);
        assert_eq!(of("linux+rcvbuf_max=8MiB+linux=6.12").0, 8);
        let versioned = |text: &str| scheme(text).with_linux(LinuxVersion::V6_12);
        assert_eq!(versioned("linux").config().receive.max_window, 6 << 20);
        assert_eq!(versioned("linux").name(), "linux");
        assert_eq!(versioned("linux+rcvbuf_max=8MiB").config().receive.max_window, 8 << 20);
        // The scheme's own version is the stronger one.
        let own = versioned("linux+linux=7.0").config().receive;
        assert_eq!(own, scheme("linux+linux=7.0").config().receive);
    }

    #[test]
    fn unknown_versions_are_refused_with_the_known_ones() {
        let error = "6.13".parse::<LinuxVersion>().unwrap_err();
        assert!(error.contains("6.12, 6.18, 7.0"), "{error}");
        let listed =
            crate::scheme::parameters().iter().find(|parameter| parameter.name == "linux").unwrap();
        assert_eq!(listed.values, LinuxVersion::ALL.map(|(name, _)| name).join("|"));
        for (name, version) in LinuxVersion::ALL {
            assert_eq!((name.parse(), version.to_string().as_str()), (Ok(version), name));
        }
    }
}
