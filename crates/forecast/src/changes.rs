//! A rate that changes as the capture shows, as a link follows it: opportunities to send a packet.

use crate::captured::RateStep;
use link::RateTrace;
use std::fmt::Write;
use std::sync::Arc;
use units::{Duration, Instant, Rate};

/// A full packet: what an opportunity moves.
const PACKET_BITS: u64 = 1_500 * 8;
/// Opportunities of a trace, at most: four bytes each. A path with more has its usual rate.
const MOST_OPPORTUNITIES: u64 = 1 << 20;
const MS: u64 = 1_000_000;

/// The rate beside a window that was seen is much the same for so long.
const LASTS: Duration = Duration::from_millis(200);
/// Rates by time.
#[derive(Clone, Debug)]
pub(crate) struct ChangingRate {
    /// In the order of time.
    pub(crate) steps: Vec<RateStep>,
    /// ACKs of what left the link came back so much later.
    pub(crate) later: Duration,
    /// The rate while nothing was seen.
    pub(crate) usual: Rate,
}

impl ChangingRate {
    /// The trace of a clock that begins at `first`, up to `last`; then it begins again. Where nothing was seen, the rate is that of a step close by, or the usual one.
    /// `None` if it would be too long.
    pub(crate) fn trace(&self, first: Instant, last: Instant) -> Option<Arc<RateTrace>> {
        let span = last.saturating_since(first) + self.later;
        let span_ms = span.as_nanos().div_ceil(MS).max(1);
        let mut text = String::new();
        let (mut credit, mut count) = (0, 0_u64);
        for ms in 1..=span_ms {
            let at = first + self.later + Duration::from_millis(ms);
            credit += self.rate(at).as_bps() / 1_000;
            let packets = credit / PACKET_BITS;
            credit %= PACKET_BITS;
            count += packets;
            if count >= MOST_OPPORTUNITIES {
                return None;
            }
            for _ in 0..packets {
                let _ = writeln!(text, "{ms}"); // Writing to a string does not fail.
            }
        }
        // Its last line is its length.
        let _ = writeln!(text, "{span_ms}");
        RateTrace::parse("capture", &text).ok().map(Arc::new)
    }

    fn rate(&self, at: Instant) -> Rate {
        let behind = self.steps.partition_point(|step| step.from <= at);
        let before = behind.checked_sub(1).and_then(|place| self.steps.get(place));
        let apart =
            |step: &RateStep| step.from.saturating_since(at).max(at.saturating_since(step.to));
        let close = before.into_iter().chain(self.steps.get(behind));
        let nearest = close.min_by_key(|step| apart(step)).filter(|step| apart(step) <= LASTS);
        nearest.map_or(self.usual, |step| step.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    fn changing(usual: Rate) -> ChangingRate {
        let step =
            |from, to, mbps| RateStep { from: at(from), to: at(to), rate: Rate::from_mbps(mbps) };
        let steps = vec![step(1_100, 1_200, 12), step(1_200, 1_300, 24)];
        ChangingRate { steps, later: Duration::from_millis(100), usual }
    }

    /// ACKs come 100 ms later, so from 1,000 to 1,100 ms the link has 12 Mbit/s, a packet of 1,500 bytes a millisecond, and then twice as much.
    /// Within 200 ms of these steps the rate is theirs, and beyond 48 Mbit/s: 4 packets a millisecond. From 700 to 1,600 ms
    /// there are 100 · 4, 300 · 1, 300 · 2 and 200 · 4 of them, and the last line of the trace; behind it the time that ACKs take.
    #[test]
    fn a_link_follows_the_steps_and_has_its_usual_rate_elsewhere() {
        let of = changing(Rate::from_mbps(48));
        let rates = [799, 801, 1_099, 1_101, 1_399, 1_401].map(|ms| of.rate(at(ms + 100)));
        assert_eq!(rates, [48, 12, 12, 24, 24, 48].map(Rate::from_mbps));
        let trace = of.trace(at(700), at(1_600)).expect("it is short");
        assert_eq!(trace.length(), Duration::from_millis(1_000));
        let packets = trace.mean_rate().as_bps() / (1_504 * 8);
        assert!((2_490..=2_510).contains(&packets), "{packets}");
    }

    /// 2 hours at 24 Mbit/s are 14 million packets.
    #[test]
    fn a_long_trace_is_none() {
        let two_hours = at(7_200_000);
        assert!(changing(Rate::from_mbps(24)).trace(at(0), two_hours).is_none());
    }
}
