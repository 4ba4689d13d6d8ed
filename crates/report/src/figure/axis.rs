//! Maps numbers to positions along an axis, and chooses the ticks beside them.

use super::{Axis, AxisUnit, Scale};

/// An axis with its range settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) scale: Scale,
    pub(crate) unit: AxisUnit,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// End of the part that is in sight at first, at most `high`.
    pub(crate) home: f64,
}

/// Room above the greatest value, as a factor.
const HEADROOM: f64 = 1.04;
/// A curve never leaves the canvas by more than this many times its length.
const MAX_OVERSHOOT: f64 = 4.0;

impl Span {
    /// The axis over its own range or else over `values`; never empty.
    pub(crate) fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let usable = |v: &f64| v.is_finite() && (axis.scale == Scale::Linear || *v > 0.0);
        let (low, high) = axis.range.unwrap_or_else(|| match axis.scale {
            Scale::Linear => linear_range(values.filter(usable)),
            Scale::Log => log_range(values.filter(usable)),
        });
        let (low, high) = if low < high { (low, high) } else { range_around(low, axis.scale) };
        Self { scale: axis.scale, unit: axis.unit, low, high, home: high }
    }

    /// The axis with only the part up to `home` in sight at first.
    pub(crate) fn with_home(self, home: f64) -> Self {
        Self { home: home.clamp(self.low, self.high), ..self }
    }

    /// The part that is in sight at first, as an axis.
    pub(crate) const fn at_first(&self) -> Self {
        Self { high: self.home, ..*self }
    }

    /// That part as a share of the axis.
    pub(crate) fn home_share(&self) -> f64 {
        self.fraction(self.home)
    }

    /// Position of `value`: 0 at the low end, 1 at the high end, clamped far outside.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        let part = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => libm::log(value / self.low) / libm::log(self.high / self.low),
        };
        if part.is_nan() { -MAX_OVERSHOOT } else { part.clamp(-MAX_OVERSHOOT, 1.0 + MAX_OVERSHOOT) }
    }

    /// About `target` round values within the range, with their labels.
    pub(crate) fn ticks(&self, target: usize) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => self.linear_ticks(target),
            Scale::Log => self.log_ticks(target),
        };
        values.into_iter().map(|(value, step)| (value, self.label(value, step))).collect()
    }

    fn linear_ticks(&self, target: usize) -> Vec<(f64, f64)> {
        let mut step = round_step((self.high - self.low) / target.max(1) as f64);
        if self.unit == AxisUnit::Count {
            step = step.max(1.0);
        }
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|i| (i as f64 * step, step)).collect()
    }

    fn log_ticks(&self, target: usize) -> Vec<(f64, f64)> {
        let first = libm::floor(libm::log10(self.low)) as i32;
        let last = libm::ceil(libm::log10(self.high)) as i32;
        let stride = ((last - first) as usize / target.max(1)).max(1);
        let factors: &[f64] = if last - first <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let decades = (first..=last).step_by(stride).map(power_of_ten);
        let values = decades.flat_map(|decade| factors.iter().map(move |f| f * decade));
        let (low, high) = (self.low * (1.0 - 1e-9), self.high * (1.0 + 1e-9));
        let ticks: Vec<_> = values.filter(|v| (low..=high).contains(v)).map(|v| (v, v)).collect();
        // Between two decades there may be no round value, or one, which shows no distance.
        if ticks.len() < 2 { self.linear_ticks(target) } else { ticks }
    }

    /// `value` in the prefix that suits the axis, with as many decimals as `step` needs.
    fn label(&self, value: f64, step: f64) -> String {
        let greatest = match self.scale {
            Scale::Linear => self.low.abs().max(self.high.abs()),
            Scale::Log => value,
        };
        let (divisor, suffix) = prefix(self.unit, greatest);
        let scaled_step = step / divisor;
        let decimals = (-libm::floor(libm::log10(scaled_step) + 1e-9)).clamp(0.0, 9.0) as usize;
        format!("{:.*}{suffix}", decimals, value / divisor)
    }
}

/// Divisor for numbers of magnitude `greatest`, and the unit behind them.
fn prefix(unit: AxisUnit, greatest: f64) -> (f64, &'static str) {
    match unit {
        AxisUnit::Number | AxisUnit::Count => (1.0, ""),
        AxisUnit::Share => (0.01, " %"),
        AxisUnit::Seconds if greatest >= 1.0 => (1.0, " s"),
        AxisUnit::Seconds if greatest >= 1e-3 => (1e-3, " ms"),
        AxisUnit::Seconds => (1e-6, " µs"),
        AxisUnit::Bytes if greatest >= 1e6 => (1e6, " MB"),
        AxisUnit::Bytes if greatest >= 1e3 => (1e3, " kB"),
        AxisUnit::Bytes => (1.0, " B"),
        AxisUnit::BitsPerSecond if greatest >= 1e9 => (1e9, " Gbit/s"),
        AxisUnit::BitsPerSecond if greatest >= 1e6 => (1e6, " Mbit/s"),
        AxisUnit::BitsPerSecond if greatest >= 1e3 => (1e3, " kbit/s"),
        AxisUnit::BitsPerSecond => (1.0, " bit/s"),
    }
}

/// The least of 1, 2, 5 times a power of ten that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let decade = power_of_ten(libm::floor(libm::log10(rough)) as i32);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * decade >= rough * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * decade
}

fn power_of_ten(exponent: i32) -> f64 {
    libm::pow(10.0, f64::from(exponent))
}

fn linear_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((0.0, 0.0), |(l, h): (f64, f64), v| (l.min(v), h.max(v)));
    (low * HEADROOM, high * HEADROOM)
}

fn log_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), v| (l.min(v), h.max(v)));
    if high > 0.0 { (low / 1.25, high * 1.25) } else { (1.0, 10.0) }
}

/// A range around a single value.
fn range_around(value: f64, scale: Scale) -> (f64, f64) {
    match scale {
        Scale::Log if value > 0.0 => (value / 2.0, value * 2.0),
        Scale::Log => (1.0, 10.0),
        Scale::Linear if value.is_finite() => (value, value + value.abs().max(1.0)),
        Scale::Linear => (0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(unit: AxisUnit, scale: Scale, range: (f64, f64)) -> Vec<String> {
        let axis = Axis { unit, scale, range: Some(range), ..Axis::default() };
        Span::of(&axis, std::iter::empty()).ticks(5).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_and_carry_their_unit() {
        // 0.9 / 5 = 0.18, rounded up to 0.2.
        let time = labels(AxisUnit::Seconds, Scale::Linear, (0.0, 0.9));
        assert_eq!(time, ["0 ms", "200 ms", "400 ms", "600 ms", "800 ms"]);
        let long = labels(AxisUnit::Seconds, Scale::Linear, (0.0, 2.4));
        assert_eq!(long, ["0.0 s", "0.5 s", "1.0 s", "1.5 s", "2.0 s"]);
        let bytes = labels(AxisUnit::Bytes, Scale::Linear, (0.0, 64_000.0));
        assert_eq!(bytes, ["0 kB", "20 kB", "40 kB", "60 kB"]);
        let rates = labels(AxisUnit::BitsPerSecond, Scale::Linear, (0.0, 2e6));
        assert_eq!(rates, ["0.0 Mbit/s", "0.5 Mbit/s", "1.0 Mbit/s", "1.5 Mbit/s", "2.0 Mbit/s"]);
        assert_eq!(labels(AxisUnit::Count, Scale::Linear, (0.0, 2.0)), ["0", "1", "2"]);
        assert_eq!(labels(AxisUnit::Share, Scale::Linear, (0.0, 1.0)).last().unwrap(), "100 %");
    }

    #[test]
    fn a_logarithmic_axis_ticks_by_decades() {
        assert_eq!(
            labels(AxisUnit::Number, Scale::Log, (1.0, 1e4)),
            ["1", "10", "100", "1000", "10000"]
        );
        assert_eq!(labels(AxisUnit::Number, Scale::Log, (1.0, 10.0)), ["1", "2", "5", "10"]);
        assert_eq!(labels(AxisUnit::Seconds, Scale::Log, (0.01, 1.0))[0], "10 ms");
    }

    #[test]
    fn places_on_a_logarithmic_axis_follow_ratios() {
        let axis = Axis { scale: Scale::Log, range: Some((1.0, 100.0)), ..Axis::default() };
        let span = Span::of(&axis, std::iter::empty());
        assert!((span.fraction(10.0) - 0.5).abs() < 1e-12);
        assert_eq!(span.fraction(0.0), -MAX_OVERSHOOT);
        assert_eq!(span.fraction(f64::NAN), -MAX_OVERSHOOT);
    }

    #[test]
    fn no_input_makes_an_empty_range() {
        for scale in [Scale::Linear, Scale::Log] {
            for value in [0.0, -5.0, 7.0, f64::NAN, f64::INFINITY] {
                let axis = Axis { scale, ..Axis::default() };
                let span = Span::of(&axis, [value].into_iter());
                assert!(span.low < span.high, "{scale:?} {value}: {span:?}");
                assert!((2..20).contains(&span.ticks(5).len()), "{scale:?} {value}: {span:?}");
            }
        }
    }

    /// 2.6 to 3.8 has neither 1, 2 nor 5: steps are of 1.2 / 5 = 0.24, rounded up to 0.5. 600 to
    /// 1500 ms has 1 s alone.
    #[test]
    fn a_narrow_logarithmic_axis_has_ticks() {
        assert_eq!(labels(AxisUnit::Number, Scale::Log, (2.6, 3.8)), ["3.0", "3.5"]);
        assert_eq!(
            labels(AxisUnit::Seconds, Scale::Log, (0.6, 1.5)),
            ["600 ms", "800 ms", "1.0 s", "1.2 s", "1.4 s"]
        );
        for low in (0..200).map(|n| 1.07_f64.powi(n)) {
            let axis = Axis { scale: Scale::Log, range: Some((low, 1.3 * low)), ..Axis::default() };
            let ticks = Span::of(&axis, std::iter::empty()).ticks(5);
            assert!((2..20).contains(&ticks.len()), "{low}: {ticks:?}");
        }
    }
}
