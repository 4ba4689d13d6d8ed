//! Reading quantities as people write them: `20mbit`, `80ms`, `64kB`.
//!
//! Parsing is exact: the number is read as a decimal fraction and scaled in integers, so `1.5mbit`
//! is 1,500,000 bit/s on every machine.

use crate::{Duration, Rate};
use std::fmt;
use std::str::FromStr;

/// Why a quantity could not be read; says what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseUnitError {
    what: &'static str,
    input: String,
    expected: &'static str,
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {:?} as a {}: expected {}", self.input, self.what, self.expected)
    }
}

impl std::error::Error for ParseUnitError {}

const RATE: (&str, &str) = ("rate", "a number and one of bit, kbit, mbit, gbit, like 20mbit");
const TIME: (&str, &str) = ("duration", "a number and one of ns, us, ms, s, like 80ms");
const SIZE: (&str, &str) = ("size", "a number and one of B, kB, KiB, MB, MiB, like 64kB");

impl FromStr for Rate {
    type Err = ParseUnitError;
    fn from_str(s: &str) -> Result<Self, ParseUnitError> {
        let units = [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];
        scaled(&s.to_ascii_lowercase(), &units).map(Rate::from_bps).ok_or_else(|| fail(RATE, s))
    }
}

impl FromStr for Duration {
    type Err = ParseUnitError;
    fn from_str(s: &str) -> Result<Self, ParseUnitError> {
        let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
        scaled(s, &units).map(Duration::from_nanos).ok_or_else(|| fail(TIME, s))
    }
}

/// Reads a size in bytes: `1500B`, `64kB` (1000), `64KiB` (1024), `1MB`, `1MiB`.
///
/// # Errors
/// If the text is not a number followed by one of these units.
pub fn parse_bytes(s: &str) -> Result<u64, ParseUnitError> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("kB", 1_000), ("MB", 1_000_000), ("B", 1)];
    scaled(s, &units).ok_or_else(|| fail(SIZE, s))
}

fn fail((what, expected): (&'static str, &'static str), input: &str) -> ParseUnitError {
    ParseUnitError { what, input: input.to_owned(), expected }
}

/// The number before the first matching suffix, times that suffix's factor.
fn scaled(s: &str, units: &[(&str, u64)]) -> Option<u64> {
    units.iter().find_map(|(suffix, factor)| decimal(s.strip_suffix(suffix)?, *factor))
}

/// `digits[.digits] * factor`, rounded down; `None` on anything else or on overflow.
fn decimal(s: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = s.split_once('.').unwrap_or((s, ""));
    let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 9 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    let scale = 10u128.pow(fraction.len() as u32);
    let part = fraction.parse::<u128>().unwrap_or(0) * u128::from(factor) / scale;
    whole.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!("1.5mbit".parse(), Ok(Rate::from_bps(1_500_000)));
        assert_eq!("20mbit".parse(), Ok(Rate::from_mbps(20)));
        assert_eq!("80ms".parse(), Ok(Duration::from_millis(80)));
        assert_eq!("0.5s".parse(), Ok(Duration::from_millis(500)));
        assert_eq!(parse_bytes("64kB"), Ok(64_000));
        assert_eq!(parse_bytes("64KiB"), Ok(65_536));
    }

    #[test]
    fn refuses_the_rest_and_says_what_it_wants() {
        for bad in ["", "mbit", "-1mbit", "20", "1e3mbit", "99999999999999999999gbit", "1..5mbit"] {
            let error = bad.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains("like 20mbit"), "{error}");
        }
        assert!("80".parse::<Duration>().is_err());
        assert!(parse_bytes("64k").is_err());
    }
}
