//! How connections went, summed up: those that began with a remembered window, those of the control group that would have, and
//! all others; the first two also by size, as they are compared ([`crate::compare`]).

use crate::contract::ConnectionSummary;
use serde::{Deserialize, Serialize};

/// Sums over connections that have closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    /// Connections.
    pub closed: u64,
    /// Bytes that peers acknowledged.
    pub bytes_acked: u64,
    /// Segments with data, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent again, SYNs included.
    pub segments_retransmitted: u64,
    /// First windows added up, segments.
    pub first_windows: u64,
    /// Connections for which the memory proposed a first window, taken or not.
    pub proposed: u64,
    /// These windows added up, segments.
    pub proposed_windows: u64,
    /// Connections that lost something of a remembered first window.
    pub fallbacks: u64,
    /// Times that they began with a remembered window after idle.
    pub restarts: u64,
}

/// Connections of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Connections.
    pub closed: u64,
    /// Of these, such that sent something again.
    pub retransmitting: u64,
    /// Of these, such that lost something of their very first flight.
    pub lost_first: u64,
    /// Of these, such that lasted for a time that is known.
    pub timed: u64,
    /// Natural logarithms of these times in seconds, added up.
    pub log_times: f64,
    /// The same of their squares.
    pub log_times_squared: f64,
    /// These times added up, seconds.
    pub time_sum_s: f64,
    /// Connections by time: up to each of [`TIMES`] and beyond the one before, and at the end longer ones.
    pub times: [u64; TIMES.len() + 1],
}

/// Both groups of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Begun with a remembered window.
    pub warm: Group,
    /// Of the control group, with such a window proposed.
    pub control_group: Group,
}

/// Sums of all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectionTotals {
    /// Connections that began with a remembered window.
    pub warm: Sum,
    /// Connections of the control group that would have.
    pub control_group: Sum,
    /// All others that were attended to.
    pub cold: Sum,
    /// By size: [`SIZES`], and what is larger.
    pub classes: [Class; SIZES.len() + 1],
}

/// Bytes acknowledged of connections of one class, at most; powers of 4 from what ten segments carry.
pub const SIZES: [u64; 4] = [16_384, 65_536, 262_144, 1_048_576];

/// Completion times that are told apart, seconds: most web transfers take one to some tens of round trips.
pub const TIMES: [f64; 12] = [0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6];

impl ConnectionTotals {
    /// Takes one more connection into account.
    pub fn add(&mut self, summary: &ConnectionSummary) {
        let would_be_warm = summary.in_control_group && summary.would > 0;
        let class = &mut self.classes[class_of(summary.bytes_acked)];
        let sum = match (summary.is_warm, would_be_warm) {
            (true, _) => {
                class.warm.add(summary);
                &mut self.warm
            }
            (false, true) => {
                class.control_group.add(summary);
                &mut self.control_group
            }
            (false, false) => &mut self.cold,
        };
        sum.add(summary);
    }

    /// Connections that have closed.
    pub const fn closed(&self) -> u64 {
        self.warm.closed + self.control_group.closed + self.cold.closed
    }
}

pub(crate) fn class_of(bytes: u64) -> usize {
    SIZES.partition_point(|most| *most < bytes)
}

impl Sum {
    fn add(&mut self, summary: &ConnectionSummary) {
        self.closed += 1;
        self.bytes_acked += summary.bytes_acked;
        self.segments_sent += u64::from(summary.sent);
        self.segments_retransmitted += u64::from(summary.retransmitted);
        self.first_windows += u64::from(summary.first_window);
        self.proposed += u64::from(summary.would > 0);
        self.proposed_windows += u64::from(summary.would);
        self.fallbacks += u64::from(summary.has_fallen_back);
        self.restarts += u64::from(summary.restarts);
    }
}

impl Group {
    fn add(&mut self, summary: &ConnectionSummary) {
        self.closed += 1;
        self.retransmitting += u64::from(summary.retransmitted > 0);
        self.lost_first += u64::from(summary.has_lost_first);
        if summary.lasted_ns > 0 {
            let time = summary.lasted_ns as f64 / 1e9;
            let log_time = time.ln();
            self.timed += 1;
            self.log_times += log_time;
            self.log_times_squared += log_time * log_time;
            self.time_sum_s += time;
            self.times[TIMES.partition_point(|most| *most < time)] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_of_times_ends_with_its_own() {
        let one = ConnectionSummary {
            in_control_group: true,
            would: 20,
            ..ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).unwrap()
        };
        let mut totals = ConnectionTotals::default();
        for lasted_ns in [10_000_000, 10_000_001, 26_000_000_000, 0] {
            totals.add(&ConnectionSummary { lasted_ns, ..one });
        }
        let group = totals.classes[0].control_group;
        // The one of which no time is known is in none.
        assert_eq!((group.closed, group.timed), (4, 3));
        assert_eq!(group.times, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_class_ends_with_its_own_size() {
        assert_eq!(class_of(0), 0);
        assert_eq!(class_of(16_384), 0);
        assert_eq!(class_of(16_385), 1);
        assert_eq!(class_of(1_048_576), 3);
        assert_eq!(class_of(1_048_577), 4);
    }

    #[test]
    fn the_control_group_without_a_memory_is_merely_cold() {
        let bytes = [0; ConnectionSummary::SIZE];
        let cold = ConnectionSummary::from_bytes(&bytes).unwrap();
        let mut totals = ConnectionTotals::default();
        totals.add(&ConnectionSummary { in_control_group: true, ..cold });
        totals.add(&ConnectionSummary { in_control_group: true, would: 20, ..cold });
        totals.add(&ConnectionSummary { would: 30, ..cold });
        totals.add(&ConnectionSummary { is_warm: true, would: 40, ..cold });
        let closed = [totals.cold.closed, totals.control_group.closed, totals.warm.closed];
        assert_eq!(closed, [2, 1, 1]);
        // Windows were left alone: a dry run.
        assert_eq!((totals.cold.proposed, totals.cold.proposed_windows), (1, 30));
        assert_eq!(totals.classes[0].control_group.closed, 1);
    }
}
