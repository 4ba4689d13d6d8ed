//! Units of a rate, in the name of a column or alone: `kbps`, `Mbit/s`, `bytes_per_second`.
//!
//! A small `b` is bits and a large one bytes. Where a name has no small letter (`MBPS`), neither is
//! known, and there is no unit.

use crate::config::MAX_RATE;
use std::fmt;
use units::Rate;

/// A unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Value of one unit.
    one: Rate,
}

/// Units by name: bit/s, and how they are shown.
const NAMES: [(u64, &str); 8] = [
    (1, "bit/s"),
    (1_000, "kbit/s"),
    (1_000_000, "Mbit/s"),
    (1_000_000_000, "Gbit/s"),
    (8, "byte/s"),
    (8_000, "kB/s"),
    (8_000_000, "MB/s"),
    (8_000_000_000, "GB/s"),
];

impl Unit {
    /// Kilobits per second.
    pub(super) const KBIT: Self = Self { one: Rate::from_bps(1_000) };

    /// The unit that a text is: `Mbit/s`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words = words_of_name(text);
        at_end(&words).filter(|(_, used)| *used == words.len()).map(|(unit, _)| unit)
    }

    /// The unit in the name of a column: `DL_bitrate_Mbps`, `throughput (kbit/s)`, `Mbps down`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let words = words_of_name(name);
        (1..=words.len()).rev().find_map(|end| at_end(&words[..end])).map(|(unit, _)| unit)
    }

    /// The rate of a number of it, to the nearest bit/s; `None` of a number that is no rate.
    pub(super) fn rate(self, number: f64) -> Option<Rate> {
        let bps = (number * self.one.as_bps() as f64).round();
        (bps >= 0.0 && bps <= MAX_RATE.as_bps() as f64).then(|| Rate::from_bps(bps as u64))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(bps, _)| *bps == self.one.as_bps()) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "{}", self.one),
        }
    }
}

/// The words of a name: letters and digits between anything else, and between small and large
/// letters (`downloadMbps`). `/` is a word of its own.
pub(super) fn words_of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut before) = (String::new(), ' ');
    for letter in name.chars() {
        let is_part = letter.is_alphanumeric();
        // `kB` and `MB` are one word each: only after two small letters does a large one begin
        // another.
        let begins = letter.is_uppercase()
            && before.is_lowercase()
            && word.chars().filter(|c| c.is_lowercase()).count() > 1;
        if (!is_part || begins) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match letter {
            '/' => words.push("/".to_owned()),
            _ if is_part => word.push(letter),
            _ => {}
        }
        before = letter;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The unit that the last of these words are, and how many of them.
fn at_end(words: &[String]) -> Option<(Unit, usize)> {
    let word = |back: usize| words.len().checked_sub(back).map(|at| words[at].as_str());
    let last = word(1)?;
    let is_second = ["s", "sec", "second"].contains(&last.to_lowercase().as_str());
    let (amount, used) = match (is_second, word(2)) {
        (true, Some(per)) if per == "/" || per.eq_ignore_ascii_case("per") => (word(3)?, 3),
        (true, Some(amount)) if is_bits(amount) => (amount, 2),
        (true, _) => return None,
        // As in 20mbit, a number of bits alone is a rate; one of bytes is an amount.
        (false, _) if is_bits(last) => (last, 1),
        (false, _) => return Some((read(last).or_else(|| read(unit_suffix(last)?))?, 1)),
    };
    Some((read(&format!("{}/s", short_unit(amount)))?, used))
}

/// A unit as rates have it: `Mbps`, `kbit/s`, `B/s`. Their reader knows bits from bytes.
fn read(unit: &str) -> Option<Unit> {
    let has_time = unit.ends_with("ps") || unit.ends_with("/s");
    let one = format!("1{unit}").parse().ok().filter(|_| has_time)?;
    Some(Unit { one })
}

/// `kbps` behind another word, as in `throughputkbps`. A prefix has to be there, since words end
/// in `bps` and `bs`.
fn unit_suffix(word: &str) -> Option<&str> {
    let end = word.get(word.len().checked_sub(4)?..)?;
    ["kbps", "mbps", "gbps", "Kbps", "Mbps", "Gbps"].contains(&end).then_some(end)
}

/// `kbit`, `megabits`.
fn is_bits(word: &str) -> bool {
    short_unit(word).strip_suffix("bit").is_some_and(|prefix| !prefix.is_empty())
}

/// Converts an amount to the notation of rates: `mbit` for `Megabits`, `kB` for `kilobytes`, `B`
/// for `bytes`; other words stay unchanged.
fn short_unit(word: &str) -> String {
    let small = word.to_lowercase();
    let ends = [("bits", "bit"), ("bit", "bit"), ("bytes", "B"), ("byte", "B")];
    let prefixes = ["", "k", "m", "g", "kilo", "mega", "giga"];
    let found = ends.iter().find_map(|(end, unit)| Some((small.strip_suffix(end)?, unit)));
    match found.filter(|(prefix, _)| prefixes.contains(prefix)) {
        Some((prefix, unit)) => {
            let prefix = prefix.get(..1).unwrap_or_default();
            let prefix = match (prefix, *unit) {
                ("m" | "g", "B") => prefix.to_uppercase(),
                _ => prefix.to_owned(),
            };
            format!("{prefix}{unit}")
        }
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_people_write_them() {
        for (text, bps) in [
            ("bps", 1),
            ("bit/s", 1),
            ("bits per second", 1),
            ("kbps", 1_000),
            ("Kbps", 1_000),
            ("kbit/s", 1_000),
            ("kb/s", 1_000),
            ("Mbps", 1_000_000),
            ("mbps", 1_000_000),
            ("Mbit/s", 1_000_000),
            ("mbit", 1_000_000),
            ("Megabits/sec", 1_000_000),
            ("Gbps", 1_000_000_000),
            ("Bps", 8),
            ("B/s", 8),
            ("bytes_per_second", 8),
            ("bytes/s", 8),
            ("kB/s", 8_000),
            ("KBps", 8_000),
            ("MB/s", 8_000_000),
        ] {
            assert_eq!(Unit::parse(text).map(|unit| unit.one.as_bps()), Some(bps), "{text}");
        }
        for text in ["", "BPS", "KBPS", "MBPS", "bytes", "bit", "B", "s", "/s", "furlong/s", "jobs"]
        {
            assert_eq!(Unit::parse(text), None, "{text}");
        }
    }

    #[test]
    fn names_of_columns_have_units() {
        for (name, shown) in [
            ("DL_bitrate_Mbps", "Mbit/s"),
            ("throughput_kbps", "kbit/s"),
            ("throughputKbps", "kbit/s"),
            ("throughputkbps", "kbit/s"),
            ("DLMbps", "Mbit/s"),
            ("kbits_per_second", "kbit/s"),
            ("rate (bits/sec)", "bit/s"),
            ("kByte/s", "kB/s"),
            ("downloadMbps", "Mbit/s"),
            ("Throughput (kbit/s)", "kbit/s"),
            ("Mbps", "Mbit/s"),
            ("Mbps down", "Mbit/s"),
            ("rate_mbit_s", "Mbit/s"),
            ("rx_bytes_per_second", "byte/s"),
            ("downlink [MB/s]", "MB/s"),
        ] {
            let unit = Unit::of_name(name).map(|unit| unit.to_string());
            assert_eq!(unit.as_deref(), Some(shown), "{name}");
        }
        assert_eq!(Unit::KBIT.rate(12.3456), Some(Rate::from_bps(12_346)));
        for number in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Unit::KBIT.rate(number), None, "{number}");
        }
        for name in
            ["DL_bitrate", "throughput", "RSRP", "Speed (m/s)", "bytes", "time_s", "jobs", "steps"]
        {
            assert_eq!(Unit::of_name(name), None, "{name}");
        }
    }
}
