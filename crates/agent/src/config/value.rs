//! Values of options with their bounds, read alike from the command line and from a file.

use super::overrides::{self, PrefixCap};
use crate::interface::metrics::MetricsAddress;
use gateway_client::ClientConfig;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::str::FromStr;

/// A whole number within bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within<const LEAST: u32, const MOST: u32>(u32);

/// A port number, not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortNumber(pub u16);

/// A part of a whole, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction(f64);

/// A part of a whole, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentage(f64);

/// A factor, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor(f64);

/// Settings of the trade-off between gain and care. An option of its own wins over the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Known paths alone start otherwise than stock: as --cold stock
    Careful,
    /// Unknown paths start wide, too: as --cold wide
    #[default]
    Balanced,
    /// Timers of losses are shorter, too: as --cold wide --handshake-timer known --rto-min 20
    Fast,
}

impl Profile {
    /// Returns the cold start of this profile.
    pub const fn cold(self) -> ColdStart {
        match self {
            Self::Careful => ColdStart::Stock,
            Self::Balanced | Self::Fast => ColdStart::Wide,
        }
    }

    /// Returns the timer of handshakes of this profile.
    pub const fn handshake_timer(self) -> HandshakeTimer {
        match self {
            Self::Careful | Self::Balanced => HandshakeTimer::Kernel,
            Self::Fast => HandshakeTimer::Known,
        }
    }

    /// Returns the least retransmission timeout, milliseconds; 0: the kernel's.
    pub const fn rto_min_ms(self) -> u32 {
        match self {
            Self::Careful | Self::Balanced => 0,
            Self::Fast => 20,
        }
    }
}

/// Cold start: the start of connections to unknown paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ColdStart {
    /// Stock slow start, until HyStart or a loss ends it
    Stock,
    /// Measures the path, and ends slow start by the result; under CUBIC alone
    Paced,
    /// The same, with a wide first window on an unknown path. Behind a TLS handshake it is up to 64
    /// segments, as fast as the ACKs have shown the path. Otherwise it is up to 32: ten at once,
    /// the others at 10 Mbit/s
    Wide,
}

/// Time that SYNs and SYN-ACKs wait before they are retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum HandshakeTimer {
    /// A second, as the kernel has it
    Kernel,
    /// Twice the round trip of their path where that is remembered, else three times that of its
    /// last handshake, 20 ms to a second
    Known,
}

/// First window of a transfer whose size the application sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum SizedStart {
    /// The whole transfer, up to the remembered window: the fewest round trips
    #[default]
    Whole,
    /// TCP/SPAND's window: the smallest one that needs no more round trips when it grows by one
    /// segment in each. Bursts are smaller. If the rate is low for the round trip, transfers end
    /// later
    Epoch,
}

/// Whether network namespaces have a memory each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Namespaces {
    /// Each has its own memory, since the same address may be another host elsewhere
    #[default]
    Apart,
    /// All share one memory, for containers that reach the network by the same way
    Share,
}

/// Address of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayAddress(pub String);

impl FromStr for GatewayAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ClientConfig::check_address(text).map(|()| Self(text.to_owned()))
    }
}

impl<const LEAST: u32, const MOST: u32> Within<LEAST, MOST> {
    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }

    fn new(number: i64) -> Result<Self, String> {
        let within = u32::try_from(number).ok().filter(|n| (LEAST..=MOST).contains(n));
        within.map(Self).ok_or_else(|| format!("{number} is not from {LEAST} to {MOST}"))
    }
}

impl PortNumber {
    fn new(number: i64) -> Result<Self, String> {
        let within = u16::try_from(number).ok().filter(|n| *n != 0);
        within.map(Self).ok_or_else(|| format!("{number} is not from 1 to {}", u16::MAX))
    }
}

impl Fraction {
    /// Returns the value in millionths.
    pub fn per_million(self) -> u32 {
        (self.0 * 1e6).round() as u32
    }

    fn new(number: f64) -> Result<Self, String> {
        let is_within = (0.0..=1.0).contains(&number);
        is_within.then_some(Self(number)).ok_or_else(|| format!("{number} is not from 0 to 1"))
    }
}

impl Percentage {
    /// Returns the value in millionths.
    pub fn per_million(self) -> u32 {
        (self.0 * 1e4).round() as u32
    }

    fn new(number: f64) -> Result<Self, String> {
        let is_within = (0.0..=100.0).contains(&number);
        is_within.then_some(Self(number)).ok_or_else(|| format!("{number} is not from 0 to 100"))
    }
}

impl Factor {
    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }

    fn new(number: f64) -> Result<Self, String> {
        let is_within = (1.0..=1e6).contains(&number);
        is_within
            .then_some(Self(number))
            .ok_or_else(|| format!("{number} is not from 1 to 1000000"))
    }
}

impl FromStr for PrefixCap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        overrides::parse(text)
    }
}

/// Implements reading from text and from a file's number, by `new`.
macro_rules! readable {
    ([$($generics:tt)*] $kind:ty, $number:ty, $what:literal) => {
        impl<$($generics)*> FromStr for $kind {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let number: $number =
                    text.parse().map_err(|_| format!(concat!("{:?} is no ", $what), text))?;
                Self::new(number)
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::new(<$number>::deserialize(from)?).map_err(de::Error::custom)
            }
        }
    };
}

readable!([const LEAST: u32, const MOST: u32] Within<LEAST, MOST>, i64, "whole number");
readable!([] PortNumber, i64, "port");
readable!([] Fraction, f64, "number");
readable!([] Percentage, f64, "number");
readable!([] Factor, f64, "number");

/// Parses a value of a file as a value of the command line.
macro_rules! readable_as_text {
    ($kind:ty) => {
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

readable_as_text!(GatewayAddress);
readable_as_text!(PrefixCap);
readable_as_text!(MetricsAddress);
