//! One rule for every number shown.
//!
//! - Times: below 1 ms in whole microseconds, below 100 ms with one decimal of a millisecond. Then
//!   below 1 s in whole milliseconds, below 100 s in seconds with three decimals (milliseconds
//!   again), above with one.
//! - Ratios: two decimals. Shares and gains: per cent with one decimal, gains always signed.
//! - Rates: below 1 Mbit/s in kbit/s with one decimal, above in Mbit/s or Gbit/s with three.
//! - Counts: whole numbers without decimals, means with one decimal.
//! - A standard error follows "±" in the unit and with the decimals of its mean.
//! - The interval of a median follows in brackets: "812 ms (798 to 840)". A gain whose interval
//!   holds zero is no gain: "no difference (−0.8 to +0.4 %)".
//! - An undefined or not finite value is "–".

use crate::quantity::{Estimate, Median, Quantity};

/// The dash that stands for "undefined".
pub(crate) const UNDEFINED: &str = "–";

/// A number by the rule of tables: like `812 ± 14 ms`.
pub fn estimate(value: Estimate, quantity: Quantity) -> String {
    if !value.mean.is_finite() {
        return UNDEFINED.to_owned();
    }
    let style = Style::of(value, quantity);
    let mut out = style.format_number(value.mean, quantity == Quantity::Gain);
    if let Some(error) = value.standard_error.filter(|e| e.is_finite()) {
        out.push_str(" ± ");
        out.push_str(&style.format_number(error, false));
    }
    out.push_str(style.suffix);
    out
}

/// Words for a gain that chance alone may explain.
pub(crate) const NO_DIFFERENCE: &str = "no difference";

impl Median {
    /// Least and greatest of the interval as they are shown, without their unit. `None` if there is
    /// no interval or both are shown alike: then the repeats do not differ, as far as is shown.
    fn shown_interval(self, quantity: Quantity) -> Option<[String; 2]> {
        let (least, most) = self.interval?;
        let style = Style::of(self.value.into(), quantity);
        let shown = [least, most].map(|end| style.format_number(end, quantity == Quantity::Gain));
        (shown[0] != shown[1]).then_some(shown)
    }

    /// True for a gain that chance alone may explain: its interval holds zero, and its ends differ
    /// as they are shown.
    pub(crate) fn is_no_difference(self) -> bool {
        let holds_zero = self.interval.is_some_and(|(least, most)| least <= 0.0 && most >= 0.0);
        holds_zero && self.shown_interval(Quantity::Gain).is_some()
    }

    /// A gain in a few words: like `12.1 % less`, `no difference`, or `the same` if it is shown as
    /// zero.
    pub fn gain_in_words(self) -> String {
        let share = |share: f64| estimate(share.into(), Quantity::Share);
        let size = share(self.value.abs());
        match self.value {
            _ if self.is_no_difference() => NO_DIFFERENCE.to_owned(),
            _ if size == share(0.0) => "the same".to_owned(),
            gain if gain < 0.0 => format!("{size} more"),
            _ => format!("{size} less"),
        }
    }
}

/// A median and its interval by the same rule.
pub(crate) fn median(median: Median, quantity: Quantity) -> String {
    let value = estimate(median.value.into(), quantity);
    let Some([least, most]) = median.shown_interval(quantity) else { return value };
    let suffix = Style::of(median.value.into(), quantity).suffix;
    match quantity == Quantity::Gain && median.is_no_difference() {
        true => format!("{NO_DIFFERENCE} ({least} to {most}{suffix})"),
        false => format!("{value} ({least} to {most})"),
    }
}

/// The least and the greatest of repeats, in the unit of the latter: like `798 – 840 ms`; once if
/// they are shown alike.
pub(crate) fn extremes(least: f64, most: f64, quantity: Quantity) -> String {
    let style = Style::of(most.into(), quantity);
    let (least, most) = (style.format_number(least, false), style.format_number(most, false));
    match least == most {
        true => format!("{most}{}", style.suffix),
        false => format!("{least} – {most}{}", style.suffix),
    }
}

/// A time in seconds by the same rule: like `812 ms`, or `84 µs`.
pub fn seconds(seconds: f64) -> String {
    estimate(Estimate { mean: seconds, standard_error: None }, Quantity::Time)
}

/// A rate in bit/s that was measured roughly, to two digits: like `410 kbit/s`, or `9.8 Mbit/s`.
pub fn rounded_rate(bps: f64) -> String {
    let digit = 10_f64.powf(bps.abs().max(1.0).log10().floor() - 1.0);
    let rounded = (bps / digit).round() * digit;
    let Style { factor, suffix, .. } = Style::of_rate(rounded);
    let shown = rounded * factor;
    let decimals = usize::from(shown < 9.95);
    format!("{shown:.decimals$}{suffix}")
}

/// Bytes by the same rule: like `2.4 MB`.
pub fn bytes(bytes: u64) -> String {
    estimate(Estimate { mean: bytes as f64, standard_error: None }, Quantity::Bytes)
}

/// A whole number with thin groups of three digits, for sizes in captions.
pub(crate) fn group_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

struct Style {
    factor: f64,
    decimals: usize,
    suffix: &'static str,
}

impl Style {
    fn of(value: Estimate, quantity: Quantity) -> Self {
        let style = |factor, decimals, suffix| Self { factor, decimals, suffix };
        match quantity {
            Quantity::Time => Self::of_time(value.mean),
            Quantity::Rate => Self::of_rate(value.mean),
            Quantity::Bytes => Self::of_bytes(value.mean),
            Quantity::Gain | Quantity::Share => style(100.0, 1, " %"),
            Quantity::Count if is_whole(value) => style(1.0, 0, ""),
            Quantity::Count => style(1.0, 1, ""),
            Quantity::Ratio | Quantity::Text => style(1.0, 2, ""),
        }
    }

    /// The bounds lie where rounding would carry: 999.5 µs is "1.0 ms", 99.95 ms is "100 ms", 999.5
    /// ms is "1.000 s". No time at all has no small unit.
    fn of_time(seconds: f64) -> Self {
        let (factor, decimals, suffix) = match seconds.abs() {
            s if s > 0.0 && s < 0.000_999_5 => (1e6, 0, " µs"),
            s if s < 0.099_95 => (1e3, 1, " ms"),
            s if s < 0.999_5 => (1e3, 0, " ms"),
            s if s < 99.999_5 => (1.0, 3, " s"),
            _ => (1.0, 1, " s"),
        };
        Self { factor, decimals, suffix }
    }

    /// The bounds lie where rounding to three decimals would carry.
    fn of_rate(bps: f64) -> Self {
        let (factor, decimals, suffix) = match bps.abs() {
            r if r < 999_950.0 => (1e-3, 1, " kbit/s"),
            r if r < 999_999_500.0 => (1e-6, 3, " Mbit/s"),
            _ => (1e-9, 3, " Gbit/s"),
        };
        Self { factor, decimals, suffix }
    }

    /// The bounds lie where rounding to one decimal would carry.
    fn of_bytes(bytes: f64) -> Self {
        let (factor, decimals, suffix) = match bytes.abs() {
            b if b < 999.5 => (1.0, 0, " B"),
            b if b < 999_950.0 => (1e-3, 1, " kB"),
            b if b < 999_950_000.0 => (1e-6, 1, " MB"),
            _ => (1e-9, 1, " GB"),
        };
        Self { factor, decimals, suffix }
    }

    fn format_number(&self, value: f64, signed: bool) -> String {
        let digits = format!("{:.*}", self.decimals, (value * self.factor).abs());
        let is_zero = digits.bytes().all(|b| b == b'0' || b == b'.');
        let sign = match value {
            _ if is_zero => "",
            v if v < 0.0 => "−",
            _ if signed => "+",
            _ => "",
        };
        format!("{sign}{digits}")
    }
}

fn is_whole(value: Estimate) -> bool {
    value.mean.fract() == 0.0 && value.standard_error.is_none_or(|e| e == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(mean: f64, error: Option<f64>, quantity: Quantity) -> String {
        estimate(Estimate { mean, standard_error: error }, quantity)
    }

    #[test]
    fn bytes_change_unit_where_rounding_carries() {
        let bytes = |n| shown(n, None, Quantity::Bytes);
        assert_eq!((bytes(0.0), bytes(999.0)), ("0 B".to_owned(), "999 B".to_owned()));
        assert_eq!((bytes(1000.0), bytes(999_949.0)), ("1.0 kB".to_owned(), "999.9 kB".to_owned()));
        assert_eq!((bytes(999_951.0), bytes(2.5e9)), ("1.0 MB".to_owned(), "2.5 GB".to_owned()));
    }

    #[test]
    fn times_change_unit_where_rounding_carries() {
        let cases = [
            (0.0, "0.0 ms"),
            (0.000_041_6, "42 µs"),
            (0.000_999_4, "999 µs"),
            (0.000_999_6, "1.0 ms"),
            (0.0842, "84.2 ms"),
            (0.099_949, "99.9 ms"),
            (0.099_951, "100 ms"),
            (0.9994, "999 ms"),
            (0.9996, "1.000 s"),
            (12.3456, "12.346 s"),
            (123.456, "123.5 s"),
            (f64::NAN, "–"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(shown(seconds, None, Quantity::Time), expected);
        }
    }

    #[test]
    fn rough_rates_have_two_digits() {
        let cases = [
            (412_345.0, "410 kbit/s"),
            (999_999.0, "1.0 Mbit/s"),
            (9_949_000.0, "9.9 Mbit/s"),
            (9_951_000.0, "10 Mbit/s"),
            (123_000_000.0, "120 Mbit/s"),
            (2.5e9, "2.5 Gbit/s"),
        ];
        for (bps, expected) in cases {
            assert_eq!(rounded_rate(bps), expected);
        }
    }

    #[test]
    fn rates_change_unit_where_rounding_carries() {
        let rate = |bps| shown(bps, None, Quantity::Rate);
        assert_eq!(rate(12_345.0), "12.3 kbit/s");
        assert_eq!(rate(999_949.0), "999.9 kbit/s");
        assert_eq!(rate(999_951.0), "1.000 Mbit/s");
        assert_eq!(rate(1.5e9), "1.500 Gbit/s");
    }

    #[test]
    fn errors_share_unit_and_decimals_with_their_mean() {
        assert_eq!(shown(0.812, Some(0.0141), Quantity::Time), "812 ± 14 ms");
        assert_eq!(shown(1.5, Some(0.0141), Quantity::Time), "1.500 ± 0.014 s");
        assert_eq!(shown(0.123, Some(0.02), Quantity::Gain), "+12.3 ± 2.0 %");
        assert_eq!(shown(7.0, Some(0.0), Quantity::Count), "7 ± 0");
        assert_eq!(shown(7.0, Some(0.25), Quantity::Count), "7.0 ± 0.2");
    }

    #[test]
    fn signs_are_shown_for_gains_and_never_for_zero() {
        assert_eq!(shown(-0.05, None, Quantity::Gain), "−5.0 %");
        assert_eq!(shown(-0.0001, None, Quantity::Gain), "0.0 %");
        assert_eq!(shown(0.021, None, Quantity::Share), "2.1 %");
        assert_eq!(shown(1.8449, None, Quantity::Ratio), "1.84");
    }

    #[test]
    fn medians_come_with_their_intervals_and_zero_is_no_difference() {
        let shown = |value, interval, quantity| median(Median { value, interval }, quantity);
        let gain = |value, interval| shown(value, Some(interval), Quantity::Gain);
        assert_eq!(gain(-0.052, (-0.061, -0.044)), "−5.2 % (−6.1 to −4.4)");
        assert_eq!(gain(0.002, (-0.008, 0.0041)), "no difference (−0.8 to +0.4 %)");
        // linux against itself, and what never differs from it.
        assert_eq!(gain(0.0, (0.0, 0.0)), "0.0 %");
        assert_eq!(gain(0.297, (0.2968, 0.2971)), "+29.7 %");
        assert_eq!(extremes(0.626, 0.6261, Quantity::Time), "626 ms");
        assert_eq!(shown(0.812, Some((0.798, 0.84)), Quantity::Time), "812 ms (798 to 840)");
        assert_eq!(shown(0.812, None, Quantity::Time), "812 ms");
        assert_eq!(extremes(0.798, 1.24, Quantity::Time), "0.798 – 1.240 s");
    }

    #[test]
    fn gains_in_words_say_no_difference_by_the_rule_of_tables() {
        let words = |value, interval| Median { value, interval }.gain_in_words();
        assert_eq!(words(0.121, Some((0.12, 0.122))), "12.1 % less");
        assert_eq!(words(-0.05, None), "5.0 % more");
        assert_eq!(words(0.002, Some((-0.008, 0.0041))), "no difference");
        // An end of the interval at zero holds zero.
        assert_eq!(words(0.002, Some((0.0, 0.0041))), "no difference");
        // As they are shown, none differs from zero.
        assert_eq!(words(0.0, Some((0.0, 0.0))), "the same");
        assert_eq!(words(-0.0001, Some((-0.0002, 0.0001))), "the same");
        assert_eq!(words(0.0004, None), "the same");
    }

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!(group_digits(999), "999");
        assert_eq!(group_digits(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
