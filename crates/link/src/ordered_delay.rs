//! Delays that vary while packets stay in order, like those of a radio link that repeats frames.

use rand_core::Rng;
use rand_pcg::Pcg32;
use units::{Duration, Instant};

/// Draws the delays of one link.
#[derive(Clone, Debug)]
pub(crate) struct OrderedDelay {
    up_to: Duration,
    stream: Pcg32,
    /// Latest arrival so far.
    last: Instant,
}

impl OrderedDelay {
    pub(crate) const fn new(up_to: Duration, stream: Pcg32) -> Self {
        Self { up_to, stream, last: Instant::ZERO }
    }

    /// Arrival of the next packet, which would arrive at `soonest` without the variation: up to
    /// the largest delay later, but not before the packet in front.
    pub(crate) fn arrival_time(&mut self, soonest: Instant) -> Instant {
        self.last = self.last.max(soonest + draw_delay(&mut self.stream, self.up_to));
        self.last
    }
}

/// A time drawn evenly from zero to `up_to`, both included, in whole nanoseconds.
pub(crate) fn draw_delay(stream: &mut Pcg32, up_to: Duration) -> Duration {
    let span = u128::from(up_to.as_nanos()) + 1;
    let nanos = (u128::from(stream.next_u64()) * span) >> 64;
    Duration::from_nanos(nanos as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn arrivals(gap: u64) -> Vec<u64> {
        let mut delay = OrderedDelay::new(Duration::from_millis(10), Pcg32::new(5, 1));
        let soonest = (0..10_000).map(|n| Instant::from_nanos(n * gap));
        soonest.map(|at| delay.arrival_time(at).as_nanos()).collect()
    }

    /// Packets further apart than the largest delay are delayed by 5 ms on average. The standard
    /// deviation of a mean of 10,000 even draws is 10 ms / sqrt(12) / 100 = 29 us.
    #[test]
    fn packets_far_apart_are_delayed_evenly() {
        let late = arrivals(20 * MS).into_iter().enumerate();
        let late: Vec<u64> = late.map(|(n, at)| at - n as u64 * 20 * MS).collect();
        assert!(late.iter().all(|late| *late <= 10 * MS));
        let mean = late.iter().sum::<u64>() / 10_000;
        assert!((4_880_000..=5_120_000).contains(&mean), "{mean}");
    }

    /// Packets 0.1 ms apart would overtake each other, and so arrive together instead.
    #[test]
    fn no_packet_overtakes_another() {
        let arrivals = arrivals(MS / 10);
        assert!(arrivals.is_sorted());
        let together = arrivals.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(together > 5_000, "{together}");
    }
}
