//! Aggregation: packets leave the queue one by one and cross the wire in bursts.

use units::{Duration, Instant};

/// A gate behind the queue that opens for an instant, again and again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    interval: Duration,
}

impl Gate {
    /// A gate that opens at every multiple of `interval` since the origin of time.
    pub(crate) const fn opening_every(interval: Duration) -> Self {
        Self { interval }
    }

    /// The first opening at `departs` or later.
    pub(crate) fn opens(&self, departs: Instant) -> Instant {
        let interval = self.interval.as_nanos();
        Instant::from_nanos(departs.as_nanos().div_ceil(interval).saturating_mul(interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_wait_for_the_next_opening() {
        let gate = Gate::opening_every(Duration::from_millis(5));
        let opens = |micros: u64| gate.opens(Instant::from_nanos(micros * 1000)).as_nanos() / 1000;
        assert_eq!([0, 1, 4_999, 5_000, 5_001].map(opens), [0, 5_000, 5_000, 5_000, 10_000]);
    }

    proptest! {
        /// No packet waits for longer than an interval, and the order stays.
        #[test]
        fn bursts_keep_the_order_and_come_within_an_interval(
            interval in 1u64..1 << 40, (first, later) in (0u64..1 << 60, 0u64..1 << 60),
        ) {
            let gate = Gate::opening_every(Duration::from_nanos(interval));
            let opens = |at| gate.opens(Instant::from_nanos(at)).as_nanos();
            let waits = opens(first) - first;
            prop_assert!(waits < interval && opens(first) % interval == 0);
            prop_assert!(opens(first) <= opens(first + later));
        }
    }
}
