//! Histogram of packets' scheduling delays.

use hdrhistogram::Histogram;
use units::Duration;

/// A minute: longer delays enter the histogram as this.
const LONGEST: u64 = 60_000_000_000;

/// Times by which packets were delivered later than due, to three digits.
#[derive(Clone, Debug)]
pub struct SchedulingDelays(Histogram<u64>);

impl Default for SchedulingDelays {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds that a histogram can have"))
    }
}

impl SchedulingDelays {
    pub(crate) fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.as_nanos());
    }

    /// Number of packets.
    pub fn packets(&self) -> u64 {
        self.0.len()
    }

    /// The scheduling delay that a share of `quantile`, of `0..=1`, does not exceed; zero if there
    /// was no packet.
    pub fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    /// The median.
    pub fn p50(&self) -> Duration {
        self.quantile(0.5)
    }

    /// The delay that one packet in a hundred exceeds.
    pub fn p99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// The worst.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }

    /// Adds the packets of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all have the same bounds");
    }
}
