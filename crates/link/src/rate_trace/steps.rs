//! Rates by time: each holds for a while, and the last is followed by the first.

use units::{Duration, Instant, Rate};

/// Billionths of a bit in a bit. A rate in bit/s times nanoseconds is a whole number of them.
const BILLIONTHS: u128 = 1_000_000_000;

/// A rate and how long it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The rate; zero in an outage.
    pub rate: Rate,
    /// Time for which it holds.
    pub lasts: Duration,
}

/// Steps that last for more than no time and move more than nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RateSteps {
    steps: Vec<StepWithEnd>,
}

/// A step and its end in the cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StepWithEnd {
    bps: u64,
    /// Its end, nanoseconds from the beginning of the cycle.
    ends: u64,
    /// Sum that the cycle has moved by then, billionths of bits.
    moved: u128,
}

impl RateSteps {
    /// `None` if the steps last for no time, move nothing, or last for more than 584 years.
    pub(super) fn new(steps: &[TraceStep]) -> Option<Self> {
        let mut placed: Vec<StepWithEnd> = Vec::with_capacity(steps.len());
        let mut last = StepWithEnd::default();
        for step in steps.iter().filter(|step| !step.lasts.is_zero()) {
            let (bps, nanos) = (step.rate.as_bps(), step.lasts.as_nanos());
            let moved = last.moved + u128::from(bps) * u128::from(nanos);
            last = StepWithEnd { bps, ends: last.ends.checked_add(nanos)?, moved };
            placed.push(last);
        }
        (last.moved > 0).then_some(Self { steps: placed })
    }

    /// The length of a cycle, nanoseconds.
    pub(super) fn cycle_length(&self) -> u64 {
        self.last().ends
    }

    /// Sum that a cycle moves, billionths of bits.
    fn bits_per_cycle(&self) -> u128 {
        self.last().moved
    }

    fn last(&self) -> StepWithEnd {
        self.steps.last().copied().unwrap_or_default()
    }

    /// The mean rate, rounded down.
    pub(super) fn mean(&self) -> Rate {
        Rate::from_bps((self.bits_per_cycle() / u128::from(self.cycle_length().max(1))) as u64)
    }

    /// The highest rate.
    pub(super) fn peak(&self) -> Rate {
        Rate::from_bps(self.steps.iter().map(|step| step.bps).max().unwrap_or_default())
    }

    /// The time in a cycle at which nothing moves.
    pub(super) fn outage(&self) -> Duration {
        let begin = |n: usize| n.checked_sub(1).map_or(0, |before| self.steps[before].ends);
        let idle = self.steps.iter().enumerate().filter(|(_, step)| step.bps == 0);
        Duration::from_nanos(idle.map(|(n, step)| step.ends - begin(n)).sum())
    }

    /// The first instant at `ready` or later at which something moves.
    pub(super) fn moving_from(&self, ready: Instant) -> Instant {
        let (cycle, within) = self.cycle_position(ready);
        let first = self.steps.partition_point(|step| step.ends <= within);
        if self.steps.get(first).is_some_and(|step| step.bps > 0) {
            return ready;
        }
        let ahead = self.steps.iter().enumerate().skip(first).find(|(_, step)| step.bps > 0);
        let around = || self.steps.iter().enumerate().find(|(_, step)| step.bps > 0);
        let (cycle, at) = match ahead {
            Some((at, _)) => (cycle, at),
            None => (cycle + 1, around().map_or(0, |(at, _)| at)),
        };
        let begins = at.checked_sub(1).map_or(0, |before| self.steps[before].ends);
        Instant::from_nanos(cycle.saturating_mul(self.cycle_length()).saturating_add(begins))
    }

    /// When `bytes` have passed that begin at `start`, rounded up to a nanosecond.
    pub(super) fn time_to_pass(&self, start: Instant, bytes: u64) -> Instant {
        if bytes == 0 {
            return start;
        }
        let (cycle, within) = self.cycle_position(start);
        let at = self.steps.partition_point(|step| step.ends <= within);
        let started = at.checked_sub(1).map(|before| self.steps[before]).unwrap_or_default();
        let since = u128::from(within - started.ends);
        let before = started.moved + u128::from(self.steps[at].bps) * since;
        let goal = before + u128::from(bytes) * 8 * BILLIONTHS;
        // A goal at the very end of a cycle is met in that cycle.
        let cycles = (goal - 1) / self.bits_per_cycle();
        let rest = goal - cycles * self.bits_per_cycle();
        let at = self.steps.partition_point(|step| step.moved < rest);
        let started = at.checked_sub(1).map(|before| self.steps[before]).unwrap_or_default();
        let took = (rest - started.moved).div_ceil(u128::from(self.steps[at].bps));
        let nanos = (u128::from(cycle) + cycles) * u128::from(self.cycle_length());
        let nanos = nanos + u128::from(started.ends) + took;
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The number of a cycle, and the nanoseconds in it.
    fn cycle_position(&self, at: Instant) -> (u64, u64) {
        let length = self.cycle_length().max(1);
        (at.as_nanos() / length, at.as_nanos() % length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    fn steps(of: &[(u64, u64)]) -> RateSteps {
        let step = |&(bps, ms): &(u64, u64)| TraceStep {
            rate: Rate::from_bps(bps),
            lasts: Duration::from_millis(ms),
        };
        RateSteps::new(&of.iter().map(step).collect::<Vec<_>>()).expect("it moves something")
    }

    /// 8 Mbit/s are a byte each microsecond: 10 ms of that, 5 ms of nothing, 10 ms at half.
    fn with_outage() -> RateSteps {
        steps(&[(8_000_000, 10), (0, 5), (4_000_000, 10)])
    }

    #[test]
    fn bytes_pass_at_the_rates_of_their_times() {
        let link = with_outage();
        assert_eq!(link.time_to_pass(at(0), 1_000), at(1));
        // The first 10 ms move 10,000 bytes. One more waits for the outage and takes 2 us.
        assert_eq!(link.time_to_pass(at(0), 10_000), at(10));
        assert_eq!(link.time_to_pass(at(0), 10_001), Instant::from_nanos(15 * MS + 2_000));
        // 2,000 bytes at the full rate, the outage, 2,000 at half.
        assert_eq!(link.time_to_pass(at(8), 4_000), at(19));
        // A cycle moves 15,000 bytes in 25 ms; 1,000 more are those of the next cycle's first ms.
        assert_eq!(link.time_to_pass(at(0), 15_000), at(25));
        assert_eq!(link.time_to_pass(at(0), 16_000), at(26));
        assert_eq!(link.time_to_pass(at(1), 15_000 * 1_000_000), at(25_000_001));
    }

    /// A load that ends with a cycle does not wait for the outages around that end.
    #[test]
    fn the_last_bytes_of_a_cycle_pass_in_it() {
        let link = steps(&[(0, 5), (8_000_000, 10), (0, 5)]);
        assert_eq!(link.time_to_pass(at(0), 10_000), at(15));
        assert_eq!(link.time_to_pass(at(0), 20_000), at(35));
        assert_eq!(link.time_to_pass(at(16), 1), Instant::from_nanos(25 * MS + 1_000));
    }

    #[test]
    fn service_begins_when_something_moves() {
        let link = with_outage();
        for (ready, begins) in [(0, 0), (9, 9), (10, 15), (14, 15), (15, 15), (25, 25), (35, 40)] {
            assert_eq!(link.moving_from(at(ready)), at(begins), "{ready} ms");
        }
        // The outage is the end of the cycle: the next one begins.
        let link = steps(&[(0, 3), (8_000, 3), (0, 3)]);
        assert_eq!(link.moving_from(at(7)), at(12));
    }

    #[test]
    fn sums_are_of_the_whole_cycle() {
        let link = with_outage();
        // 80,000 + 40,000 bits in 25 ms.
        assert_eq!(link.mean(), Rate::from_bps(4_800_000));
        assert_eq!(link.peak(), Rate::from_mbps(8));
        assert_eq!(link.outage(), Duration::from_millis(5));
        assert_eq!(link.cycle_length(), 25 * MS);
    }

    #[test]
    fn steps_that_move_nothing_are_none() {
        let none = |rate, ms| {
            let lasts = Duration::from_millis(ms);
            RateSteps::new(&[TraceStep { rate: Rate::from_bps(rate), lasts }]).is_none()
        };
        assert!(none(0, 5) && none(5, 0) && !none(5, 5));
        assert!(RateSteps::new(&[]).is_none());
    }

    proptest! {
        /// A byte is slower or as slow if it begins later, and two loads one after the other take
        /// as long as both together, but for one rounding.
        #[test]
        fn bytes_keep_their_order(
            rates in prop::collection::vec((0u64..2_000_000, 1u64..50), 1..6),
            begin in 0u64..300_000_000, first in 1u64..20_000, second in 1u64..20_000,
        ) {
            let mut rates = rates;
            rates.push((1_000_000, 7));
            let link = steps(&rates);
            let start = Instant::from_nanos(begin);
            let apart = link.time_to_pass(link.time_to_pass(start, first), second);
            let together = link.time_to_pass(start, first + second);
            prop_assert!(apart >= together);
            prop_assert!(link.time_to_pass(Instant::from_nanos(begin + 1), first) >= link.time_to_pass(start, first));
            prop_assert!(link.moving_from(start) >= start);
            let started = link.time_to_pass(link.moving_from(start), first);
            prop_assert_eq!(started, link.time_to_pass(start, first));
        }
    }
}
