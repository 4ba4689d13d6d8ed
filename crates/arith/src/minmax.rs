//! The largest value of a sliding window, kept in three samples (Kathleen Nichols' filter, Linux
//! `lib/minmax.c`).
//!
//! The best, the second and the third best sample are kept, each later than the one before. When
//! the best grows too old the second replaces it, so the filter need not store every value of the
//! window. In exchange the answer may be too small where values rise and drop within the window.

/// A value and when it was seen, on the caller's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TimedMax {
    at: u64,
    value: u64,
}

/// A windowed maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxFilter {
    best: [TimedMax; 3],
}

impl MaxFilter {
    /// Nothing seen yet: the maximum is 0.
    pub const fn new() -> Self {
        Self { best: [TimedMax { at: 0, value: 0 }; 3] }
    }

    /// The maximum.
    pub const fn max(&self) -> u64 {
        self.best[0].value
    }

    /// Takes a value seen at `at`, not earlier than any before, and answers the maximum over the
    /// last `window`.
    pub fn update(&mut self, window: u64, at: u64, value: u64) -> u64 {
        let seen = TimedMax { at, value };
        if value >= self.best[0].value || at.saturating_sub(self.best[2].at) > window {
            self.best = [seen; 3];
            return value;
        }
        if value >= self.best[1].value {
            self.best[1] = seen;
            self.best[2] = seen;
        } else if value >= self.best[2].value {
            self.best[2] = seen;
        }
        self.age(window, seen);
        self.max()
    }

    /// Moves up samples that are too old, and takes a second and a third choice from later parts of
    /// the window if all known ones are from its first ones.
    fn age(&mut self, window: u64, seen: TimedMax) {
        let elapsed = seen.at.saturating_sub(self.best[0].at);
        if elapsed > window {
            self.best = [self.best[1], self.best[2], seen];
            if seen.at.saturating_sub(self.best[0].at) > window {
                self.best = [self.best[1], self.best[2], seen];
            }
        } else if self.best[1].at == self.best[0].at && elapsed > window / 4 {
            self.best[1] = seen;
            self.best[2] = seen;
        } else if self.best[2].at == self.best[1].at && elapsed > window / 2 {
            self.best[2] = seen;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::MaxFilter;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_larger_value_replaces_everything() {
        let mut filter = MaxFilter::new();
        assert_eq!(filter.max(), 0);
        assert_eq!(filter.update(10, 1, 5), 5);
        assert_eq!(filter.update(10, 2, 4), 5);
        assert_eq!(filter.update(10, 3, 9), 9);
        assert_eq!(filter.update(10, 13, 1), 9, "ten later it still counts");
        assert_eq!(filter.update(10, 14, 1), 1, "then the later ones count");
    }

    #[test]
    fn the_second_choice_is_from_a_later_quarter() {
        let mut filter = MaxFilter::new();
        filter.update(10, 0, 9);
        // Within a quarter (2) only a better value is kept. The first after it, the 7, is the
        // second choice, and the first after half of the window, the 6, the third.
        filter.update(10, 2, 8);
        assert_eq!(filter.update(10, 3, 7), 9);
        assert_eq!(filter.update(10, 6, 6), 9);
        // The 9 of time 0 is too old at 11, the 7 of time 3 at 14.
        assert_eq!(filter.update(10, 11, 1), 7);
        assert_eq!(filter.update(10, 13, 1), 7);
        assert_eq!(filter.update(10, 14, 1), 6);
    }

    proptest! {
        /// The filter is never below the last value nor above the true maximum of the window.
        #[test]
        fn between_the_last_value_and_the_true_maximum(
            steps in prop::collection::vec((0_u64..4, 0_u64..100), 1..200),
        ) {
            let mut filter = MaxFilter::new();
            let (mut now, mut all) = (0, Vec::new());
            for (step, value) in steps {
                now += step;
                all.push((now, value));
                let max = filter.update(10, now, value);
                let truth = all.iter().filter(|(at, _)| at + 10 >= now).map(|v| v.1).max();
                prop_assert!(max >= value);
                prop_assert!(Some(max) <= truth);
            }
        }
    }
}
