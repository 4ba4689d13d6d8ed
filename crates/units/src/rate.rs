//! Link and pacing rates.

use crate::Duration;
use std::fmt;

/// Bits per second. Zero is representable; callers that divide by a rate refuse it earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

const NANOS: u128 = 1_000_000_000;

impl Rate {
    /// `n` bits per second.
    pub const fn from_bps(n: u64) -> Self {
        Self(n)
    }

    /// `n` megabits (10^6 bits) per second.
    pub const fn from_mbps(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// The rate that moves `bytes` in `time`; zero if `time` is zero.
    pub fn from_bytes_over(bytes: u64, time: Duration) -> Self {
        if time.is_zero() {
            return Self(0);
        }
        let bps = u128::from(bytes) * 8 * NANOS / u128::from(time.as_nanos());
        Self(u64::try_from(bps).unwrap_or(u64::MAX))
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Time to put `bytes` on a link of this rate, rounded to the nearest nanosecond once and no
    /// fraction carried. [`Duration::MAX`] at rate zero.
    pub fn transmit_time(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let bit_nanos = u128::from(bytes) * 8 * NANOS;
        let rate = u128::from(self.0);
        let nanos = (bit_nanos + rate / 2) / rate;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Whole bytes that pass in `time`, rounded down.
    pub fn bytes_in(self, time: Duration) -> u64 {
        let bytes = u128::from(self.0) * u128::from(time.as_nanos()) / (8 * NANOS);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Rate {
    /// The shortest exact form among `gbit`, `mbit`, `kbit`, `bit`, which parses to the same rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0bit"),
            n if n % 1_000_000_000 == 0 => write!(f, "{}gbit", n / 1_000_000_000),
            n if n % 1_000_000 == 0 => write!(f, "{}mbit", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, "{}kbit", n / 1_000),
            n => write!(f, "{n}bit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_times_of_the_reference_link() {
        let t1 = Rate::from_bps(1_500_000);
        // 1040 * 8 / 1.5e6 = 5.546666... ms, to the nearest nanosecond.
        assert_eq!(t1.transmit_time(1040), Duration::from_nanos(5_546_667));
        // 40 * 8 / 1.5e6 = 213.333... us.
        assert_eq!(t1.transmit_time(40), Duration::from_nanos(213_333));
    }

    #[test]
    fn rate_zero_never_finishes() {
        assert_eq!(Rate::from_bps(0).transmit_time(1), Duration::MAX);
    }
}
