//! Values of an axis as numbers, where all of them are of one kind.

use report::{AxisUnit, Scale};
use units::{Duration, Rate, parse_bytes};

/// The numbers that the values of an axis stand for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Numbers {
    pub(super) unit: AxisUnit,
    /// Name of the things that the numbers count, where the unit does not give it: `packets`.
    pub(super) counted: &'static str,
    /// Labels and numbers, in the order of the plan.
    pub(super) values: Vec<(String, f64)>,
}

/// The axis is logarithmic where the ratio of the greatest value to the least exceeds this.
const LOG_FROM: f64 = 20.0;

impl Numbers {
    pub(super) fn of(&self, value: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == value).map(|(_, number)| *number)
    }

    /// Logarithmic where the values span more than a factor of 20, and none is zero or below.
    pub(super) fn scale(&self) -> Scale {
        let numbers = self.values.iter().map(|(_, number)| *number);
        let low = numbers.clone().fold(f64::INFINITY, f64::min);
        let high = numbers.fold(0.0, f64::max);
        if low > 0.0 && high / low >= LOG_FROM { Scale::Log } else { Scale::Linear }
    }
}

/// A way to read a value.
struct Kind {
    read: fn(&str) -> Option<f64>,
    unit: AxisUnit,
    counted: &'static str,
}

const KINDS: [Kind; 5] = [
    Kind { read: parse_plain_number, unit: AxisUnit::Number, counted: "" },
    Kind { read: rate, unit: AxisUnit::BitsPerSecond, counted: "" },
    Kind { read: seconds, unit: AxisUnit::Seconds, counted: "" },
    Kind { read: bytes, unit: AxisUnit::Bytes, counted: "" },
    Kind { read: packets, unit: AxisUnit::Count, counted: "packets" },
];

/// The values as numbers of one kind; `None` if one of them is no such number, as the name of a
/// queue.
pub(super) fn parse_numbers(values: &[String]) -> Option<Numbers> {
    KINDS.iter().find_map(|kind| {
        let read = values.iter().map(|value| Some((value.clone(), (kind.read)(value)?)));
        let values = read.collect::<Option<Vec<_>>>()?;
        Some(Numbers { unit: kind.unit, counted: kind.counted, values })
    })
}

fn parse_plain_number(text: &str) -> Option<f64> {
    let number: f64 = text.replace('_', "").parse().ok()?;
    number.is_finite().then_some(number)
}

fn rate(text: &str) -> Option<f64> {
    Some(text.parse::<Rate>().ok()?.as_bps() as f64)
}

fn seconds(text: &str) -> Option<f64> {
    Some(text.parse::<Duration>().ok()?.as_secs_f64())
}

fn bytes(text: &str) -> Option<f64> {
    Some(parse_bytes(text).ok()? as f64)
}

fn packets(text: &str) -> Option<f64> {
    Some(text.strip_suffix('p')?.parse::<u32>().ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Option<Numbers> {
        parse_numbers(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_of_one_kind_are_numbers() {
        let of = |values: &[&str]| {
            let read = read(values)?;
            Some((read.unit, read.values.iter().map(|(_, number)| *number).collect::<Vec<_>>()))
        };
        assert_eq!(of(&["1", "2.5", "1_000"]), Some((AxisUnit::Number, vec![1.0, 2.5, 1000.0])));
        assert_eq!(of(&["500kbit", "2mbit"]), Some((AxisUnit::BitsPerSecond, vec![5e5, 2e6])));
        assert_eq!(of(&["80ms", "1s"]), Some((AxisUnit::Seconds, vec![0.08, 1.0])));
        assert_eq!(of(&["30kB", "1MB"]), Some((AxisUnit::Bytes, vec![3e4, 1e6])));
        assert_eq!(of(&["10p", "100p"]), Some((AxisUnit::Count, vec![10.0, 100.0])));
        for names in [&["droptail", "red"][..], &["10p", "64kB"], &["10p", "inf"], &["inf"]] {
            assert_eq!(of(names), None, "{names:?}");
        }
    }

    #[test]
    fn wide_axes_are_logarithmic() {
        assert_eq!(read(&["1", "19"]).unwrap().scale(), Scale::Linear);
        assert_eq!(read(&["1", "20"]).unwrap().scale(), Scale::Log);
        assert_eq!(read(&["0", "20"]).unwrap().scale(), Scale::Linear);
    }
}
