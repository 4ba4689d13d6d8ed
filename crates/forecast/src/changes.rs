//! A link with the changing rate of the capture: opportunities to send a packet.

use crate::captured::RateStep;
use link::RateTrace;
use netsim::derive_seed;
use std::fmt::Write;
use std::sync::Arc;
use units::{Duration, Instant, Rate};

/// A full packet: the data of an opportunity.
const PACKET_BITS: u64 = 1_500 * 8;
/// Maximum number of opportunities of a trace, four bytes each. A path with more has its usual
/// rate.
const MAX_OPPORTUNITIES: u64 = 1 << 20;
const MS: u64 = 1_000_000;

/// Time around a captured window in which the rate is about the same.
const LASTS: Duration = Duration::from_millis(200);
/// Duration of a drawn rate.
const DRAWN_FOR: Duration = Duration::from_millis(400);
/// Rates by time, of which there is at least one.
#[derive(Clone, Debug)]
pub(crate) struct ChangingRate {
    /// Steps in the order of time.
    pub(crate) steps: Vec<RateStep>,
    /// Delay from the link to the captured ACKs of its packets.
    pub(crate) later: Duration,
}

/// The rate drawn for a span of time.
struct Drawn {
    block: u64,
    rate: Rate,
}

impl ChangingRate {
    /// Returns the trace of a clock that begins at `first`, up to `last`; then it begins again.
    /// Where nothing was seen, the rate is that of a step close by, or of one that the `seed`
    /// draws. `None` if it would be too long.
    pub(crate) fn trace(&self, first: Instant, last: Instant, seed: u64) -> Option<Arc<RateTrace>> {
        let span = last.saturating_since(first) + self.later;
        let span_ms = span.as_nanos().div_ceil(MS).max(1);
        let mut text = String::new();
        let (mut credit, mut count) = (0, 0_u64);
        let mut drawn = Drawn { block: 0, rate: self.draw_rate(seed, 0)? };
        for ms in 1..=span_ms {
            let at = first + self.later + Duration::from_millis(ms);
            let block = at.as_nanos() / DRAWN_FOR.as_nanos();
            if drawn.block != block {
                drawn = Drawn { block, rate: self.draw_rate(seed, block)? };
            }
            credit += self.close_to(at).unwrap_or(drawn.rate).as_bps() / 1_000;
            let packets = credit / PACKET_BITS;
            credit %= PACKET_BITS;
            count += packets;
            if count >= MAX_OPPORTUNITIES {
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

    /// Returns one of the captured rates; `None` if there is none.
    fn draw_rate(&self, seed: u64, block: u64) -> Option<Rate> {
        let number = derive_seed(seed, &format!("rate/{block}")) % self.steps.len().max(1) as u64;
        self.steps.get(number as usize).map(|step| step.rate)
    }

    /// Returns the rate of the step nearest in time, if one is close.
    fn close_to(&self, at: Instant) -> Option<Rate> {
        let behind = self.steps.partition_point(|step| step.from <= at);
        let before = behind.checked_sub(1).and_then(|place| self.steps.get(place));
        let apart =
            |step: &RateStep| step.from.saturating_since(at).max(at.saturating_since(step.to));
        let close = before.into_iter().chain(self.steps.get(behind));
        let nearest = close.min_by_key(|step| apart(step)).filter(|step| apart(step) <= LASTS);
        nearest.map(|step| step.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    fn changing() -> ChangingRate {
        let step = |from, mbps| RateStep {
            from: at(from),
            to: at(from + 100),
            rate: Rate::from_mbps(mbps),
        };
        let steps = vec![step(1_100, 12), step(1_200, 24)];
        ChangingRate { steps, later: Duration::from_millis(100) }
    }

    /// Within 200 ms of the steps the rate is theirs. Farther away it is one of the two, for 400
    /// ms.
    #[test]
    fn a_rate_is_that_of_a_step_close_by() {
        let of = changing();
        let rates = [899, 901, 1_199, 1_201, 1_499, 1_501].map(|ms| of.close_to(at(ms)));
        let mbps = [None, Some(12), Some(12), Some(24), Some(24), None];
        assert_eq!(rates, mbps.map(|mbps| mbps.map(Rate::from_mbps)));
        let drawn: Vec<Rate> = (0..100).filter_map(|block| of.draw_rate(1, block)).collect();
        let slow = drawn.iter().filter(|rate| **rate == Rate::from_mbps(12)).count();
        assert!(drawn.len() == 100 && (30..=70).contains(&slow), "{slow}");
    }

    /// ACKs come 100 ms later, so before 1,100 ms the link has 12 Mbit/s, a packet of 1,500 bytes a
    /// millisecond, and from then on twice as much. In the milliseconds from 1,001 to 1,200, and in
    /// 100 more for the last ACKs, that is 99 packets and 201 times two. With the last line of the
    /// trace they are 502.
    #[test]
    fn a_link_follows_the_steps() {
        let trace = changing().trace(at(1_000), at(1_200), 1).expect("it is short");
        assert_eq!(trace.length(), Duration::from_millis(300));
        let moved = trace.mean_rate().as_bps() * 3 / 10 / 8;
        assert!(moved.abs_diff(502 * u64::from(link::OPPORTUNITY_BYTES)) < 10, "{moved}");
    }

    /// Ten seconds after the steps the rate is drawn from both of them.
    #[test]
    fn rates_are_drawn_where_none_was_seen() {
        let mean = |seed| changing().trace(at(11_000), at(31_000), seed).map(|of| of.mean_rate());
        let between = Rate::from_mbps(14)..Rate::from_mbps(22);
        for seed in 1..4 {
            assert!(between.contains(&mean(seed).expect("it is short")));
        }
        assert_ne!(mean(1), mean(2));
    }

    /// 2 hours at 12 Mbit/s or more are 7 million packets.
    #[test]
    fn a_long_trace_is_none() {
        assert!(changing().trace(at(0), at(7_200_000), 1).is_none());
    }
}
