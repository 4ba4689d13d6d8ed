//! Times of rows: numbers of seconds, milliseconds, microseconds or nanoseconds, dates, and times
//! of day.

use jiff::civil::{Date, DateTime, Time};
use units::Duration;

/// The unit of numbers in a column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

/// Names of units: the displayed one first, and the one that [`Duration`] parses.
const UNITS: [(TimeUnit, &[&str]); 4] = [
    (TimeUnit::Seconds, &["s", "sec", "secs", "second", "seconds"]),
    (TimeUnit::Milliseconds, &["ms", "msec", "msecs", "millis", "millisecond", "milliseconds"]),
    (TimeUnit::Microseconds, &["us", "usec", "usecs", "micros", "microsecond", "microseconds"]),
    (TimeUnit::Nanoseconds, &["ns", "nsec", "nanos", "nanosecond", "nanoseconds"]),
];

/// Least numbers that are time since 1970, by unit. The least is 1973, and the unit below begins in
/// the year 5138, so ranges do not overlap.
const SINCE_1970: [(f64, TimeUnit); 4] = [
    (1e17, TimeUnit::Nanoseconds),
    (1e14, TimeUnit::Microseconds),
    (1e11, TimeUnit::Milliseconds),
    (1e8, TimeUnit::Seconds),
];

/// Rows of a recording are rarely farther apart, seconds.
const MAX_SECONDS: f64 = 10.0;
/// Rows of a recording are rarely nearer, milliseconds.
const MIN_MS: f64 = 100.0;

impl TimeUnit {
    /// The unit that a word is.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let found = UNITS.iter().find(|(_, names)| names.contains(&word.as_str()));
        found.map(|(unit, _)| *unit)
    }

    /// Its short name.
    pub(super) fn name(self) -> &'static str {
        UNITS.iter().find(|(unit, _)| *unit == self).map_or("s", |(_, names)| names[0])
    }

    /// A number of it; of a decimal fraction, nine digits count.
    pub(super) fn read(self, text: &str) -> Option<Duration> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_plain = fraction.bytes().all(|b| b.is_ascii_digit());
        let fraction = fraction.get(..9).unwrap_or(fraction);
        let exact = format!("{whole}.{fraction}{}", self.name()).parse().ok();
        exact.filter(|_| is_plain).or_else(|| {
            // Programs write small and large numbers as 1e-3.
            let number: f64 = text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
            let one: Duration = format!("1{}", self.name()).parse().ok()?;
            Some(Duration::from_nanos((number * one.as_nanos() as f64).round() as u64))
        })
    }

    /// The unit of these numbers, by their size and typical distance; `None` if they may be seconds
    /// as well as milliseconds.
    pub(super) fn of_numbers(numbers: &[f64]) -> Option<Self> {
        let first = *numbers.first()?;
        if let Some((_, unit)) = SINCE_1970.into_iter().find(|(least, _)| first >= *least) {
            return Some(unit);
        }
        let apart =
            numbers.windows(2).map(|pair| (pair[1] - pair[0]).abs()).filter(|apart| *apart > 0.0);
        let mut apart: Vec<f64> = apart.collect();
        apart.sort_by(f64::total_cmp);
        match apart.get(apart.len() / 2).copied() {
            // All times are one: no unit makes a length of that.
            None => Some(Self::Seconds),
            Some(typical) if typical <= MAX_SECONDS => Some(Self::Seconds),
            Some(typical) if typical >= MIN_MS => Some(Self::Milliseconds),
            Some(_) => None,
        }
    }
}

/// Reads a date with a time of day, or a time of day, as the time since an origin that all rows
/// share. Any of `-./:_T` and spaces may stand between the numbers, like `2026.01.01_12.00.03` or
/// `2026-01-01T12:00:03.25Z`; years come first.
pub(super) fn read_date(text: &str) -> Option<Duration> {
    let text = without_zone(text.trim());
    let is_between = |c: char| "-./:_T ".contains(c);
    let mut groups: Vec<&str> = text.split(is_between).filter(|group| !group.is_empty()).collect();
    // A fraction of a second follows a point or a comma.
    let fraction = match groups.last().and_then(|last| last.split_once(',')) {
        Some((seconds, fraction)) => {
            *groups.last_mut()? = seconds;
            Some(fraction)
        }
        None if groups.len() == 7 || groups.len() == 4 => groups.pop(),
        None => None,
    };
    if groups.iter().chain(&fraction).any(|group| !group.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let clock = |groups: &[&str]| {
        let [hour, minute, second] = groups else { return None };
        let second = second.parse().ok()?;
        // A leap second is the second before it again.
        let second = if second == 60 { 59 } else { second };
        Time::new(hour.parse().ok()?, minute.parse().ok()?, second, 0).ok()
    };
    let at = match groups.as_slice() {
        [year, month, day, time @ ..] if year.len() == 4 => {
            let date =
                Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?;
            date.to_datetime(clock(time)?)
        }
        // Without colons this may be a day.
        time if text.contains(':') => Date::constant(2000, 1, 1).to_datetime(clock(time)?),
        _ => return None,
    };
    let origin = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let whole = u64::try_from(at.duration_since(origin).as_secs()).ok()?;
    let fraction =
        fraction.map_or(Some(Duration::ZERO), |digits| format!("0.{digits}s").parse().ok());
    Some(Duration::from_secs(whole) + fraction?)
}

/// The text without `Z` or `+01:00` at its end: a recording keeps its zone.
fn without_zone(text: &str) -> &str {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let zone = |sign: usize| text[sign + 1..].bytes().all(|b| b.is_ascii_digit() || b == b':');
    match text.rfind(['+', '-']) {
        // The hyphens of a date are ahead of its time of day.
        Some(sign) if sign > 10 && zone(sign) => text[..sign].trim_end(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Option<u64> {
        let origin = read_date("2026-01-01 12:00:00").expect("a date");
        read_date(text).map(|at| at.saturating_sub(origin).as_nanos())
    }

    #[test]
    fn dates_are_read_as_recordings_write_them() {
        for (text, ms) in [
            ("2026.01.01_12.00.03", 3_000),
            ("2026-01-01 12:00:03", 3_000),
            ("2026/01/01 12:00:03", 3_000),
            ("2026-01-01T12:00:03.25Z", 3_250),
            ("2026-01-01 12:00:03,25", 3_250),
            ("2026-01-01T12:00:03+01:00", 3_000),
            ("2026-01-01T12:00:03.5-0100", 3_500),
            ("2026.01.01_12.00.03.250", 3_250),
            ("2026-01-02 00:00:00", 12 * 3_600_000),
            ("2026-03-01 12:00:00", 59 * 86_400_000),
        ] {
            assert_eq!(nanos(text), Some(ms * 1_000_000), "{text}");
        }
        let since = |text: &str| read_date(text).expect("a time of day").as_nanos();
        assert_eq!(since("12:00:01.5") - since("11:59:59"), 2_500_000_000);
        for text in
            ["", "12", "2026-13-01 12:00:00", "01/02/2026 12:00:00", "1.1.26", "12:00 PM", "x:y:z"]
        {
            assert_eq!(read_date(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_have_a_unit_by_their_size_or_distance() {
        for (numbers, unit) in [
            (&[0.0, 0.5, 1.0][..], Some(TimeUnit::Seconds)),
            (&[0.0, 10.0, 20.0], Some(TimeUnit::Seconds)),
            (&[0.0, 20.0, 40.0], None),
            (&[0.0, 100.0, 200.0], Some(TimeUnit::Milliseconds)),
            (&[0.0, 1000.0, 2000.0, 2010.0], Some(TimeUnit::Milliseconds)),
            (&[1_767_268_800.0], Some(TimeUnit::Seconds)),
            (&[1_767_268_800_123.0], Some(TimeUnit::Milliseconds)),
            (&[1_767_268_800_123_456.0], Some(TimeUnit::Microseconds)),
            (&[1_767_268_800_123_456_789.0], Some(TimeUnit::Nanoseconds)),
            (&[5.0], Some(TimeUnit::Seconds)),
        ] {
            assert_eq!(TimeUnit::of_numbers(numbers), unit, "{numbers:?}");
        }
    }

    #[test]
    fn numbers_are_read_exactly() {
        assert_eq!(
            TimeUnit::Seconds.read("1767268800.25"),
            Some(Duration::from_millis(1_767_268_800_250))
        );
        assert_eq!(TimeUnit::Milliseconds.read("0.5"), Some(Duration::from_micros(500)));
        assert_eq!(TimeUnit::Seconds.read("0.10000000000000001"), Some(Duration::from_millis(100)));
        assert_eq!(TimeUnit::Seconds.read("1e-3"), Some(Duration::from_millis(1)));
        for wrong in ["-1", "", "x", "1.x", "nan"] {
            assert_eq!(TimeUnit::Seconds.read(wrong), None, "{wrong:?}");
        }
        for (unit, names) in UNITS {
            assert!(names.iter().all(|name| TimeUnit::of_word(name) == Some(unit)));
            assert_eq!(unit.read("1"), format!("1{}", unit.name()).parse().ok());
        }
    }
}
