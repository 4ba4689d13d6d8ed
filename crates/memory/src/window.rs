//! A sliding window of samples and their average, in constant time a sample.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// The average of a window's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average {
    /// Mean, rounded down.
    pub mean: u64,
    /// Samples it is made of.
    pub count: usize,
    /// Time of the newest of them.
    pub newest: Instant,
}

/// The recent samples, up to a limit.
#[derive(Clone, Debug, Default)]
pub struct SlidingWindow {
    samples: VecDeque<(Instant, u64)>,
    sum: u128,
}

impl SlidingWindow {
    /// Takes a sample at `now`. The oldest samples above `limit` are dropped, and so are samples
    /// from the future.
    pub fn push(&mut self, now: Instant, value: u64, limit: usize) {
        // A clock that went back: what seems to lie ahead has no age.
        self.drop_back(|at| at > now);
        self.samples.push_back((now, value));
        self.sum += u128::from(value);
        while self.samples.len() > limit.max(1) {
            self.pop_front();
        }
    }

    /// Forgets samples older than `length` at `now`, and samples from the future.
    pub fn expire(&mut self, now: Instant, length: Duration) {
        self.drop_back(|at| at > now);
        while self.samples.front().is_some_and(|(at, _)| now - *at > length) {
            self.pop_front();
        }
    }

    /// Returns the average of the samples; `None` if there are none.
    pub fn average(&self) -> Option<Average> {
        let (newest, _) = *self.samples.back()?;
        let count = self.samples.len();
        // The mean of 64-bit values fits into 64 bits.
        Some(Average { mean: (self.sum / count as u128) as u64, count, newest })
    }

    /// Returns the number of held samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns true if no sample is held.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    fn pop_front(&mut self) {
        if let Some((_, value)) = self.samples.pop_front() {
            self.sum -= u128::from(value);
        }
    }

    /// Drops the newest samples as long as their times are `unwanted`.
    fn drop_back(&mut self, unwanted: impl Fn(Instant) -> bool) {
        while let Some((at, value)) = self.samples.back().copied()
            && unwanted(at)
        {
            self.samples.pop_back();
            self.sum -= u128::from(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(s: u64) -> Instant {
        Instant::from_nanos(s * 1_000_000_000)
    }

    #[test]
    fn the_average_is_of_the_last_five_minutes() {
        let mut window = SlidingWindow::default();
        for (s, value) in [(0, 10), (100, 20), (300, 33)] {
            window.push(at(s), value, 100);
        }
        let five_minutes = Duration::from_secs(300);
        window.expire(at(300), five_minutes);
        // (10 + 20 + 33) / 3 = 21: what is exactly five minutes old still counts.
        assert_eq!(window.average().unwrap(), Average { mean: 21, count: 3, newest: at(300) });
        window.expire(at(301), five_minutes);
        // (20 + 33) / 2 = 26.5.
        assert_eq!(window.average().unwrap().mean, 26);
        window.expire(at(601), five_minutes);
        assert_eq!(window.average(), None);
    }

    proptest! {
        /// The running sum is the sum, whatever the clock does, and the bounds hold.
        #[test]
        fn it_is_the_average_of_what_a_list_would_hold(
            steps in prop::collection::vec((0..2000_u64, any::<u64>(), any::<bool>()), 1..200),
            limit in 1..50_usize,
        ) {
            let (mut window, mut list) = (SlidingWindow::default(), Vec::new());
            let length = Duration::from_secs(300);
            for (s, value, take) in steps {
                list.retain(|(when, _): &(u64, u64)| *when <= s);
                if take {
                    window.push(at(s), value, limit);
                    list.push((s, value));
                    let surplus = list.len().saturating_sub(limit);
                    list.drain(..surplus);
                } else {
                    window.expire(at(s), length);
                    list.retain(|(when, _)| s - *when <= 300);
                }
                let sum: u128 = list.iter().map(|(_, v)| u128::from(*v)).sum();
                let mean = (!list.is_empty()).then(|| (sum / list.len().max(1) as u128) as u64);
                prop_assert_eq!(window.average().map(|a| a.mean), mean);
                prop_assert!(window.len() <= limit);
            }
        }
    }
}
