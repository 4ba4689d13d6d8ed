//! Periods in which a host has a constant number of open connections, and its throughput in them
//! (§3.2.1).

use super::line::LineSums;
use crate::distribution::{CumulativeDistribution, CumulativeStep};
use serde::{Deserialize, Serialize};
use units::Instant;

/// Minimum acknowledged payload of a period that counts (§3.2.1: 5 KB).
const MIN_BYTES: u64 = 5_000;
/// Minimum number of periods of a host that counts (§3.2.1).
const MIN_PERIODS: u64 = 10;
/// Number of steps of correlation on either side of zero.
const STEPS: usize = 100;

/// The correlation of a host's throughput with the number of its connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThroughputFindings {
    /// Number of hosts with at least ten periods of 5 kB or more, and different numbers of
    /// connections.
    pub hosts: u64,
    /// Number of these hosts with a positive correlation (the paper's: 90 %).
    pub positive: u64,
    /// Number of these hosts with a correlation above 0.5 (the paper's: 45 %).
    pub above_half: u64,
    /// Coefficients of correlation of hosts (Figure 6), rounded to the next hundredth above.
    pub correlation: CumulativeDistribution,
}

/// The current period of a host.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Period {
    bytes: u64,
    since: Instant,
    sums: LineSums,
}

impl Default for Period {
    fn default() -> Self {
        Self { since: Instant::ZERO, bytes: 0, sums: LineSums::default() }
    }
}

impl Period {
    /// Adds acknowledged payload.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Ends the period: from `now` on the host has another number of connections; until now it had
    /// `open`.
    pub(crate) fn end(&mut self, now: Instant, open: usize) {
        let took = now.saturating_since(self.since).as_secs_f64();
        if open > 0 && self.bytes >= MIN_BYTES && took > 0.0 {
            self.sums.add(open as f64, self.bytes as f64 / took);
        }
        self.since = now;
        self.bytes = 0;
    }
}

/// Adds up hosts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ThroughputCounters {
    hosts: u64,
    positive: u64,
    above_half: u64,
    /// Hosts by their correlation, from -1 to 1.
    steps: Vec<u64>,
}

impl Default for ThroughputCounters {
    fn default() -> Self {
        Self { hosts: 0, positive: 0, above_half: 0, steps: vec![0; 2 * STEPS + 1] }
    }
}

impl ThroughputCounters {
    /// Adds a host whose last period is over.
    pub(crate) fn add(&mut self, host: &Period) {
        let Some(line) = host.sums.fit_line().filter(|_| host.sums.point_count() >= MIN_PERIODS)
        else {
            return;
        };
        let correlation = line.correlation.clamp(-1.0, 1.0);
        self.hosts += 1;
        self.positive += u64::from(correlation > 0.0);
        self.above_half += u64::from(correlation > 0.5);
        let step = ((correlation + 1.0) * STEPS as f64).ceil() as usize;
        self.steps[step.min(2 * STEPS)] += 1;
    }

    /// Adds other hosts.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.hosts += other.hosts;
        self.positive += other.positive;
        self.above_half += other.above_half;
        self.steps.iter_mut().zip(&other.steps).for_each(|(sum, more)| *sum += more);
    }

    /// Returns the findings of the hosts so far, with the distribution of their correlations.
    pub(crate) fn findings(&self) -> ThroughputFindings {
        let mut below = 0;
        let mut steps = Vec::new();
        for (step, hosts) in self.steps.iter().enumerate().filter(|(_, hosts)| **hosts > 0) {
            below += hosts;
            let value = step as f64 / STEPS as f64 - 1.0;
            steps.push(CumulativeStep { value, share: below as f64 / self.hosts as f64 });
        }
        ThroughputFindings {
            hosts: self.hosts,
            positive: self.positive,
            above_half: self.above_half,
            correlation: CumulativeDistribution { count: self.hosts, steps },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    /// Twelve periods of a second with 10 kB for each connection, one or two of them in turn:
    /// throughput is proportional to their number.
    #[test]
    fn what_each_connection_gets_in_full_correlates_by_one() {
        let (mut host, mut counters) = (Period::default(), ThroughputCounters::default());
        for n in 1..=12 {
            let open = 1 + n as usize % 2;
            host.add(10_000 * open as u64);
            host.end(at(n), open);
        }
        counters.add(&host);
        let found = counters.findings();
        assert_eq!((found.hosts, found.positive, found.above_half), (1, 1, 1));
        assert_eq!(found.correlation.quantile(0.5), Some(1.0));
    }

    /// A link that is always full shows no correlation. Nine periods are too few, and small ones do
    /// not count.
    #[test]
    fn hosts_that_say_nothing_are_left_out() {
        let mut counters = ThroughputCounters::default();
        let (mut few, mut small) = (Period::default(), Period::default());
        for n in 1..=20 {
            if n <= 9 {
                few.add(10_000 * n);
                few.end(at(n), n as usize);
            }
            small.add(4_999);
            small.end(at(n), n as usize);
        }
        counters.add(&few);
        counters.add(&small);
        assert_eq!(counters.findings(), ThroughputFindings::default());
    }
}
