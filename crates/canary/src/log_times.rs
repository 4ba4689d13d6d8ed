//! Completion times as they are compared: by their logarithms. The ratio of geometric means is the
//! factor by which a typical connection is faster, and a connection that lasts for hours decides
//! nothing.

use crate::sequence::LogRatio;

use serde::{Deserialize, Serialize};

/// Sums over connections whose time is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogTimes {
    /// Connections.
    pub count: u64,
    /// Natural logarithms of their times in seconds, added up.
    pub sum: f64,
    /// Sum of their squares.
    pub squares: f64,
    /// Lowest of these logarithms; versions before kept none.
    #[serde(default)]
    pub lowest: f64,
    /// Highest of them.
    #[serde(default)]
    pub highest: f64,
}

impl LogTimes {
    /// Adds a connection. Ignores it if its time is not above 0.
    pub fn add(&mut self, seconds: f64) {
        if seconds > 0.0 {
            let log = seconds.ln();
            let is_first = self.count == 0;
            self.lowest = if is_first { log } else { self.lowest.min(log) };
            self.highest = if is_first { log } else { self.highest.max(log) };
            self.count += 1;
            self.sum += log;
            self.squares += log * log;
        }
    }

    /// Returns the geometric mean in seconds; `None` without connections.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.mean().exp())
    }

    /// Returns the geometric mean of these times, divided by that of `others`. Returns `None` if
    /// either group has fewer than `fewest` times (two at least), or if the times do not scatter.
    ///
    /// Its error is the larger one of two. *Pooled*, both groups have one variance, as they have if
    /// nothing differs: a small group that lacks the rare connections of the large one is not known
    /// better for that. *Welch's* has a variance for each group, and is larger if the small group
    /// scatters more.
    pub fn ratio_to(&self, others: &Self, fewest: u64) -> Option<LogRatio> {
        if self.count.min(others.count) < fewest.max(2) {
            return None;
        }
        let (n, m) = (self.count as f64, others.count as f64);
        let (own, other) = (self.squared_deviations(), others.squared_deviations());
        let pooled = (own + other) / (n + m - 2.0) * (1.0 / n + 1.0 / m);
        let welch = own / (n - 1.0) / n + other / (m - 1.0) / m;
        let error_squared = pooled.max(welch);
        let below = self.spread_below_mean().max(others.spread_below_mean());
        let above = self.spread_above_mean().max(others.spread_above_mean());
        // If all times are alike to the last bit, the error of 0 is not credible.
        (error_squared > f64::EPSILON).then(|| LogRatio {
            log: self.mean() - others.mean(),
            error_squared,
            step_up: (above / n).max(below / m),
            step_down: (below / n).max(above / m),
        })
    }

    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Returns the sum of the squared deviations from the mean. Rounding may make a sum of floats a
    /// little lower than its true value.
    fn squared_deviations(&self) -> f64 {
        (self.squares - self.sum * self.mean()).max(0.0)
    }

    /// Returns the distance of the lowest logarithm below the mean.
    fn spread_below_mean(&self) -> f64 {
        self.mean() - self.lowest
    }

    /// Returns the distance of the highest logarithm above the mean.
    fn spread_above_mean(&self) -> f64 {
        self.highest - self.mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of `count` connections, half of them `apart` above the mean in logarithms, half below.
    fn sums(count: u64, mean: f64, apart: f64) -> LogTimes {
        let mut sums = LogTimes::default();
        for n in 0..count {
            sums.add((mean + if n % 2 == 0 { apart } else { -apart }).exp());
        }
        sums
    }

    #[test]
    fn half_the_time_is_a_ratio_of_a_half() {
        // Squared deviations of 0.01 · 100 of each, by 198 and 50: 0.02/99. Welch's is the same:
        // 0.01/99 of each mean.
        let ratio = sums(100, 0.5_f64.ln(), 0.1).ratio_to(&sums(100, 0.0, 0.1), 100).unwrap();
        assert!((ratio.log - 0.5_f64.ln()).abs() < 1e-9);
        assert!((ratio.error_squared - 0.02 / 99.0).abs() < 1e-9, "{ratio:?}");
        // Each lies 0.1 from its group's mean, and is a hundredth of its group.
        assert!((ratio.step_up - 0.001).abs() < 1e-9 && (ratio.step_down - 0.001).abs() < 1e-9);
    }

    #[test]
    fn a_small_group_without_the_rare_ones_is_not_known_better() {
        // In one group, 19 of 1900 connections take e times as long, and the others 1; in the
        // other, all 100 take 1 but for rounding.
        let (mut large, control) = (LogTimes::default(), sums(100, 0.0, 1e-4));
        (0..1900).for_each(|n| large.add(if n % 100 == 0 { 1.0_f64.exp() } else { 1.0 }));
        let ratio = large.ratio_to(&control, 100).unwrap();
        // Squared deviations 19 · (1 - 0.01) = 18.81, by 1998 and by 1/1900 + 1/100: 9.910e-5, and
        // not 18.81/1899/1900 = 5.2e-6.
        assert!((ratio.error_squared - 18.81 / 1998.0 * (0.01 + 1.0 / 1900.0)).abs() < 1e-8);
        // A rare one in the control group would lower the ratio by 0.99/100. A connection of the
        // other group has raised it by 0.99/1900, and one of the control group that is 0.01 lower
        // than the mean by 0.01/100.
        assert!((ratio.step_down - 0.0099).abs() < 1e-9, "{ratio:?}");
        assert!((ratio.step_up - 0.99 / 1900.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn a_small_group_that_scatters_more_is_known_less() {
        // 0.01 · 1900 and 1 · 100 of squared deviations: Welch's error is 0.01/1899 + 1/99, the
        // pooled one 119/1998/95.
        let ratio = sums(1900, 0.0, 0.1).ratio_to(&sums(100, 0.0, 1.0), 100).unwrap();
        assert!((ratio.error_squared - (0.01 / 1899.0 + 1.0 / 99.0)).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn few_say_nothing_and_no_time_is_no_connection() {
        assert_eq!(sums(99, 0.0, 0.1).ratio_to(&sums(100, 0.0, 0.1), 100), None);
        assert_eq!(sums(100, 0.0, 0.1).ratio_to(&sums(99, 0.0, 0.1), 100), None);
        assert_eq!(sums(100, 0.0, 0.0).ratio_to(&sums(100, 0.0, 0.0), 100), None);
        let mut none = LogTimes::default();
        none.add(0.0);
        assert_eq!((none.count, none.mean_s()), (0, None));
        none.add(2.0);
        none.add(8.0);
        // √(2 · 8) = 4.
        assert!((none.mean_s().unwrap() - 4.0).abs() < 1e-12);
    }
}
