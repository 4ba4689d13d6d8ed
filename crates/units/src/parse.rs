//! Reading quantities as people write them: `20mbit`, `20 Mbps`, `80 ms`, `64kB`.
//!
//! Spaces before the unit do not count, nor does the case of a prefix or of `bit`. A single letter
//! has a case: `b` is a bit in rates, `B` a byte. So `20Mbps` is megabits and `20MB/s` megabytes. A
//! size takes `KB` and `kB` as 1000 bytes, `KiB` as 1024. Ambiguous quantities are refused, and the
//! error names the ways out: a size in `kb`, a rate in `M`, a number without a unit
//! ([`parse_byte_count`] alone takes one).
//!
//! The number is read as a decimal fraction, scaled in integers, and rounded down to whole units.
//! So `1.5mbit` is 1,500,000 bit/s on every machine.

use crate::{Duration, Rate};
use std::fmt;
use std::str::FromStr;

/// Reason why a quantity could not be read; names the expected form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseUnitError {
    what: &'static str,
    input: String,
    why: String,
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {:?} as a {}: {}", self.input, self.what, self.why)
    }
}

impl std::error::Error for ParseUnitError {}

/// A kind of quantity: its name, its units in lower case with their values, and the forms for
/// errors.
struct Kind {
    what: &'static str,
    units: &'static [(&'static str, u64)],
    expected: &'static str,
}

/// Rates in bit/s. Rates count thousands, as links and `tc` do.
const RATE: Kind = Kind {
    what: "rate",
    units: &[
        ("bit", 1),
        ("bits", 1),
        ("kbit", 1_000),
        ("kbits", 1_000),
        ("mbit", 1_000_000),
        ("mbits", 1_000_000),
        ("gbit", 1_000_000_000),
        ("gbits", 1_000_000_000),
    ],
    expected: "expected a number and one of bit, kbit, mbit, gbit, like 20mbit",
};

/// Times in nanoseconds.
const TIME: Kind = Kind {
    what: "duration",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ms", 1_000_000),
        ("msec", 1_000_000),
        ("s", 1_000_000_000),
        ("sec", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    expected: "expected a number and one of ns, us, ms, s, min, h, like 80ms",
};

/// Sizes in bytes.
const SIZE: Kind = Kind {
    what: "size",
    units: &[
        ("b", 1),
        ("byte", 1),
        ("bytes", 1),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
    ],
    expected: "expected a number and one of B, kB, KiB, MB, MiB, GB, GiB, like 64kB",
};

impl FromStr for Rate {
    type Err = ParseUnitError;

    /// Reads `20mbit`, `20Mbit/s`, `20 Mbps` (bits) and `2.5 MB/s`, `2.5MBps` (bytes).
    fn from_str(s: &str) -> Result<Self, ParseUnitError> {
        let (number, unit) = split(s);
        let per_second = per_second(&unit);
        let bits = match per_second.unwrap_or(&unit) {
            // `B` is a byte: only with a time, because `20MB` alone is a size.
            short @ ("B" | "kB" | "KB" | "MB" | "GB") if per_second.is_some() => {
                SIZE.unit_value(short).map(|bytes| bytes * 8)
            }
            short @ ("b" | "kb" | "Kb" | "mb" | "Mb" | "gb" | "Gb") if per_second.is_some() => {
                RATE.unit_value(&format!("{short}it"))
            }
            long => RATE.unit_value(long),
        };
        match bits.and_then(|bits| decimal(number, bits)) {
            Some(bits) => Ok(Self::from_bps(bits)),
            None => Err(RATE.unit_error(s, rate_meant(number, &unit))),
        }
    }
}

/// `Mbit/s` and `Mbps` without the part that says "per second"; `None` if they do not say it.
fn per_second(unit: &str) -> Option<&str> {
    ["/s", "/S", "/sec", "ps"].iter().find_map(|end| unit.strip_suffix(end))
}

/// The ways to write the possible meanings of a rate in this unit.
fn rate_meant(number: &str, unit: &str) -> Option<String> {
    let scale = scale_of(unit)?;
    let bits = || format!("{number}{scale}bit");
    let bytes = || format!("{number}{}B/s", scale.to_uppercase());
    match per_second(unit).unwrap_or(unit).to_ascii_lowercase().as_str() {
        "" => Some(format!("add the unit, like {number}mbit or {number}kbit")),
        "k" | "m" | "g" | "kb" | "mb" | "gb" | "b" | "kbps" | "mbps" | "gbps" => {
            Some(format!("write {} for bits per second, or {} for bytes", bits(), bytes()))
        }
        _ => None,
    }
}

impl FromStr for Duration {
    type Err = ParseUnitError;

    /// Reads `80ms`, `80 ms`, `0.5s`, `20us`, `20 µs`.
    fn from_str(s: &str) -> Result<Self, ParseUnitError> {
        let (number, unit) = split(s);
        match TIME.unit_value(&unit).and_then(|nanos| decimal(number, nanos)) {
            Some(nanos) => Ok(Self::from_nanos(nanos)),
            None => Err(TIME.unit_error(s, without_unit(number, &unit, ["ms", "s"]))),
        }
    }
}

/// Reads a size in bytes: `1500B`, `64kB` and `64 KB` (1000), `64KiB` (1024), `1MB`, `1 GB`.
///
/// # Errors
/// If the text is not a number followed by one of these units. `b` is refused: it may mean bits.
pub fn parse_bytes(s: &str) -> Result<u64, ParseUnitError> {
    let (number, unit) = split(s);
    // Units that end in a small `b` are bits to some and bytes to others; so is a bare `k`.
    let is_doubtful =
        unit.ends_with('b') || matches!(unit.as_str(), "k" | "K" | "m" | "M" | "g" | "G");
    let worth = SIZE.unit_value(&unit).filter(|_| !is_doubtful);
    worth.and_then(|bytes| decimal(number, bytes)).ok_or_else(|| {
        let scale = scale_of(&unit).filter(|_| is_doubtful);
        let bytes = scale.map(|s| format!("write {number}{}B if you mean bytes", upper(s)));
        SIZE.unit_error(s, bytes.or_else(|| without_unit(number, &unit, ["kB", "MB"])))
    })
}

/// Bytes: a number alone, or one with a unit as in `200kB`.
///
/// # Errors
/// If it is neither.
pub fn parse_byte_count(text: &str) -> Result<u64, ParseUnitError> {
    text.trim().parse().or_else(|_| parse_bytes(text))
}

/// The prefix of a size as it is usually written: `k` is small, `M` and `G` are not.
fn upper(scale: &str) -> &str {
    match scale {
        "m" => "M",
        "g" => "G",
        other => other,
    }
}

/// `k`, `m`, `g` or nothing, in which a unit counts.
fn scale_of(unit: &str) -> Option<&'static str> {
    match unit.chars().next().map(|c| c.to_ascii_lowercase()) {
        Some('k') => Some("k"),
        Some('m') => Some("m"),
        Some('g') => Some("g"),
        Some('b') | None => Some(""),
        Some(_) => None,
    }
}

/// The way out for a bare number.
fn without_unit(number: &str, unit: &str, likely: [&str; 2]) -> Option<String> {
    let is_bare = unit.is_empty() && !number.is_empty();
    is_bare.then(|| format!("add the unit, like {number}{} or {number}{}", likely[0], likely[1]))
}

impl Kind {
    /// Value of one `unit`, whatever its case.
    fn unit_value(&self, unit: &str) -> Option<u64> {
        let unit = unit.to_lowercase();
        self.units.iter().find(|(name, _)| *name == unit).map(|(_, worth)| *worth)
    }

    fn unit_error(&self, input: &str, meant: Option<String>) -> ParseUnitError {
        let why = match meant {
            Some(meant) => format!("{}; {meant}", self.expected),
            None => self.expected.to_owned(),
        };
        ParseUnitError { what: self.what, input: input.to_owned(), why }
    }
}

/// The number and the unit, without spaces.
fn split(s: &str) -> (&str, String) {
    let s = s.trim();
    let end = s.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(s.len());
    let (number, unit) = s.split_at(end);
    (number, unit.split_whitespace().collect())
}

/// `digits[.[digits]] * factor`, with at most nine decimals, rounded down; `None` on anything else
/// or on overflow.
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
    fn bytes_need_no_unit() {
        assert_eq!((parse_byte_count("3000"), parse_byte_count("3kB")), (Ok(3000), Ok(3000)));
        assert!(
            parse_byte_count("3k").is_err()
                && parse_byte_count("-1").is_err()
                && parse_byte_count("").is_err()
        );
    }

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
    fn case_and_spaces_are_free() {
        for text in [
            "20mbit",
            "20Mbit",
            "20Mbps",
            "20mbps",
            "20 Mbit/s",
            "20mbit/s",
            "20 MBit / s",
            "20 Mb/s",
            " 20 mbit ",
        ] {
            assert_eq!(text.parse(), Ok(Rate::from_mbps(20)), "{text}");
        }
        // 2.5 million bytes are 20 million bits.
        for text in ["2.5MB/s", "2.5 MBps", "2500kB/s", "2500 KB/s"] {
            assert_eq!(text.parse(), Ok(Rate::from_mbps(20)), "{text}");
        }
        for text in ["80ms", "80 ms", "80MS", "80 msec", "0.08 s", "80000\u{b5}s"] {
            assert_eq!(text.parse(), Ok(Duration::from_millis(80)), "{text}");
        }
        for text in ["30kB", "30KB", "30 kB", "30000 bytes", "30000B"] {
            assert_eq!(parse_bytes(text), Ok(30_000), "{text}");
        }
        assert_eq!(parse_bytes("100 GB"), Ok(100_000_000_000));
        assert_eq!(parse_bytes("1GiB"), Ok(1 << 30));
    }

    #[test]
    fn what_may_mean_two_things_is_refused_with_both() {
        let rate = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert!(rate("20MB").ends_with("write 20mbit for bits per second, or 20MB/s for bytes"));
        assert!(rate("20M").contains("20mbit"), "{}", rate("20M"));
        assert!(rate("20").contains("like 20mbit or 20kbit"), "{}", rate("20"));
        let size = |text: &str| parse_bytes(text).unwrap_err().to_string();
        assert!(size("30kb").ends_with("write 30kB if you mean bytes"), "{}", size("30kb"));
        assert!(size("30K").ends_with("write 30kB if you mean bytes"), "{}", size("30K"));
        assert!(size("30").contains("like 30kB or 30MB"), "{}", size("30"));
        let time = "80".parse::<Duration>().unwrap_err().to_string();
        assert!(time.contains("like 80ms or 80s"), "{time}");
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
