//! Rates that change, read from a trace or made of steps; after its end a trace begins again.
//!
//! Either the trace has packet-delivery opportunities, in mahimahi's format, or rates that each
//! hold for a while (`steps`). In mahimahi's format a line is one opportunity: a whole number of
//! milliseconds since the beginning at which the link may move [`OPPORTUNITY_BYTES`]. Lines with
//! the same number are several opportunities at once. The last number is the length of the trace.
//! (mahimahi, mm-link(1); Winstein et al., NSDI 2013 §4.1.)

mod steps;

pub use steps::TraceStep;

use std::fmt;
use steps::RateSteps;
use units::{Duration, Instant, Rate};

/// Bytes that one opportunity moves: an Ethernet frame's 1500 bytes and the 4 of mahimahi's TUN
/// header.
pub const OPPORTUNITY_BYTES: u32 = 1504;

/// Numbers above this are refused: 49 days of trace.
const LATEST_MS: u64 = u32::MAX as u64;
const NANOS_PER_MS: u64 = 1_000_000;

/// A trace that moves something and has a length above zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace(Shape);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Opportunities(Opportunities),
    Steps(RateSteps),
}

/// At least one opportunity, and a length above zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opportunities {
    /// Milliseconds, never falling; the last is the length of the trace.
    times: Vec<u32>,
}

/// A refused trace: its line, the reason and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    name: String,
    line: usize,
    why: String,
}

impl TraceError {
    pub(crate) fn new(name: &str, line: usize, why: impl fmt::Display) -> Self {
        Self { name: name.to_owned(), line, why: why.to_string() }
    }

    /// The line that is wrong, from 1.
    pub const fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.line, self.why)
    }
}

impl std::error::Error for TraceError {}

impl RateTrace {
    /// Reads the text of the trace file `name`, in mahimahi's format.
    ///
    /// # Errors
    /// If a line is not a whole number, or a number is below the one before it or above 49 days.
    /// An empty trace, and one that is all at time zero, is refused, too.
    pub fn parse(name: &str, text: &str) -> Result<Self, TraceError> {
        let mut times = Vec::new();
        let mut last = 0;
        for (n, line) in text.lines().enumerate() {
            let at = milliseconds(line, last).map_err(|why| TraceError::new(name, n + 1, why))?;
            times.push(at);
            last = at;
        }
        if last == 0 {
            let why = match times.is_empty() {
                true => "the trace is empty: write one time in milliseconds per line",
                false => "the trace has no length: its last time has to be above 0",
            };
            return Err(TraceError::new(name, times.len().max(1), why));
        }
        Ok(Self(Shape::Opportunities(Opportunities { times })))
    }

    /// Rates one after the other; `None` if they last for no time or move nothing.
    pub fn of_steps(steps: &[TraceStep]) -> Option<Self> {
        RateSteps::new(steps).map(|steps| Self(Shape::Steps(steps)))
    }

    /// Time until it begins again.
    pub fn length(&self) -> Duration {
        match &self.0 {
            Shape::Opportunities(all) => Duration::from_millis(u64::from(all.last())),
            Shape::Steps(steps) => Duration::from_nanos(steps.cycle_length()),
        }
    }

    /// Mean rate if every opportunity is used; never zero.
    pub fn mean_rate(&self) -> Rate {
        let mean = match &self.0 {
            Shape::Opportunities(all) => {
                let bytes = u64::from(OPPORTUNITY_BYTES) * all.count();
                Rate::from_bytes_over(bytes, self.length())
            }
            Shape::Steps(steps) => steps.mean(),
        };
        Rate::from_bps(mean.as_bps().max(1))
    }

    /// The highest rate of a step; `None` for opportunities, whose rate depends on how long one
    /// looks.
    pub fn peak_rate(&self) -> Option<Rate> {
        match &self.0 {
            Shape::Opportunities(_) => None,
            Shape::Steps(steps) => Some(steps.peak()),
        }
    }

    /// The time of steps at rate zero; `None` for opportunities, between which there is always
    /// time.
    pub fn outage(&self) -> Option<Duration> {
        match &self.0 {
            Shape::Opportunities(_) => None,
            Shape::Steps(steps) => Some(steps.outage()),
        }
    }

    /// The earliest instant at which `bytes` can have passed that are ready from `start` on, on the
    /// trace's clock. No packets that carry these bytes pass sooner.
    pub fn passed(&self, start: Instant, bytes: u64) -> Instant {
        match &self.0 {
            Shape::Opportunities(_) if bytes == 0 => start,
            Shape::Opportunities(all) => {
                let last = bytes.div_ceil(u64::from(OPPORTUNITY_BYTES)) - 1;
                all.at(all.first_from(start).saturating_add(last))
            }
            Shape::Steps(steps) => steps.time_to_pass(start, bytes),
        }
    }

    /// The first instant at `ready` or later at which a packet's service can begin.
    pub(crate) fn moving_from(&self, ready: Instant) -> Instant {
        match &self.0 {
            Shape::Opportunities(all) => all.at(all.first_from(ready)),
            Shape::Steps(steps) => steps.moving_from(ready),
        }
    }

    pub(crate) const fn opportunities(&self) -> Option<&Opportunities> {
        match &self.0 {
            Shape::Opportunities(all) => Some(all),
            Shape::Steps(_) => None,
        }
    }
}

impl Opportunities {
    fn last(&self) -> u32 {
        self.times.last().copied().unwrap_or(1)
    }

    fn count(&self) -> u64 {
        self.times.len() as u64
    }

    /// Time of the opportunity `number`, which starts at zero and continues through all
    /// repetitions.
    pub(crate) fn at(&self, number: u64) -> Instant {
        let within = self.times[(number % self.count()) as usize];
        let cycles = (number / self.count()).saturating_mul(u64::from(self.last()));
        let ms = cycles.saturating_add(u64::from(within));
        Instant::from_nanos(ms.saturating_mul(NANOS_PER_MS))
    }

    /// The first opportunity at `now` or later.
    pub(crate) fn first_from(&self, now: Instant) -> u64 {
        let length = u64::from(self.last());
        // Whole milliseconds, rounded up: one in the past is not at `now` or later.
        let ms = now.as_nanos().div_ceil(NANOS_PER_MS);
        // A time that is a multiple of the length is in the cycle that ends there.
        let cycle = ms.saturating_sub(1) / length;
        let within = ms - cycle * length;
        let skipped = self.times.partition_point(|at| u64::from(*at) < within);
        cycle.saturating_mul(self.count()).saturating_add(skipped as u64)
    }
}

/// Parses one line of a trace; `last` is the time on the line before.
fn milliseconds(line: &str, last: u32) -> Result<u32, String> {
    let text = line.trim();
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits {
        return Err(format!("{line:?} is not a whole number of milliseconds, like 17"));
    }
    let at = text.parse::<u64>().ok().filter(|at| *at <= LATEST_MS);
    let at = at.ok_or_else(|| format!("{text} ms is above the longest trace, {LATEST_MS} ms"))?;
    if at < u64::from(last) {
        return Err(format!("{at} ms comes after {last} ms: times must not go back"));
    }
    Ok(at as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * NANOS_PER_MS)
    }

    #[test]
    fn opportunities_repeat_with_the_length_of_the_trace() {
        let trace = RateTrace::parse("t", "1\n1\n5\r\n10\n").unwrap();
        let all = trace.opportunities().unwrap();
        let times: Vec<_> = (0..9).map(|n| all.at(n)).collect();
        assert_eq!(times, [1, 1, 5, 10, 11, 11, 15, 20, 21].map(ms));
        assert_eq!(trace.length(), Duration::from_millis(10));
        // 4 * 1504 * 8 bits in 10 ms.
        assert_eq!(trace.mean_rate(), Rate::from_bps(4_812_800));
    }

    /// Two opportunities of 1,504 bytes at 1 ms, one at 5 and one at 10.
    #[test]
    fn bytes_pass_at_opportunities() {
        let trace = RateTrace::parse("t", "1\n1\n5\n10\n").unwrap();
        for (start, bytes, passed) in [
            (0, 0, 0),
            (0, 3_008, 1),
            (0, 3_009, 5),
            (1, 1, 1),
            (2, 1_504, 5),
            (2, 1_505, 10),
            (10, 1_505, 11),
        ] {
            assert_eq!(trace.passed(ms(start), bytes), ms(passed), "{bytes} bytes at {start} ms");
        }
        assert_eq!(trace.moving_from(ms(2)), ms(5));
    }

    #[test]
    fn errors_name_the_file_the_line_and_the_way_out() {
        for (text, line, hint) in [
            ("", 1, "one time in milliseconds per line"),
            ("0\n0\n", 2, "above 0"),
            ("1\n\n2\n", 2, "like 17"),
            ("1\n2.5\n", 2, "like 17"),
            ("-1\n", 1, "like 17"),
            ("5\n7\n6\n", 3, "must not go back"),
            ("4294967296\n", 1, "4294967295 ms"),
            ("99999999999999999999999\n", 1, "longest trace"),
        ] {
            let error = RateTrace::parse("up.trace", text).unwrap_err();
            let shown = error.to_string();
            assert_eq!(error.line(), line, "{text:?}: {shown}");
            assert!(shown.starts_with(&format!("up.trace:{line}: ")), "{shown}");
            assert!(shown.contains(hint), "{shown}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9\\n .-]{0,60}") {
            let _ = RateTrace::parse("t", &text);
        }

        /// Against counting on from the beginning.
        #[test]
        fn the_first_from_now_is_found(
            mut times in prop::collection::vec(0u32..20, 1..8), now in 0u64..100_000_000,
        ) {
            times.sort_unstable();
            times.push(20);
            let text: String = times.iter().map(|at| format!("{at}\n")).collect();
            let trace = RateTrace::parse("t", &text).unwrap();
            let (all, now) = (trace.opportunities().unwrap(), Instant::from_nanos(now));
            let first = (0..).find(|n| all.at(*n) >= now);
            prop_assert_eq!(first, Some(all.first_from(now)));
        }
    }
}
