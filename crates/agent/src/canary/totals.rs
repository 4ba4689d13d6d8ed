//! Sums of closed connections: those that started with a remembered window, those of the control
//! group that would have, and all others. The first two are also kept by size, as they are compared
//! ([`crate::canary::comparison`]).

use crate::contract::ConnectionSummary;
use crate::contract::StartReason;
use ::canary::log_times::LogTimes;
use ::canary::part::{SIZES, size_class};
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
    /// Retransmitted segments, SYNs included.
    pub segments_retransmitted: u64,
    /// First windows added up, segments.
    pub first_windows: u64,
    /// Connections for which the memory proposed a first window, taken or not.
    pub proposed: u64,
    /// Sum of the proposed windows, segments.
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
    /// Number of connections that retransmitted.
    pub retransmitting: u64,
    /// Number of connections that lost a segment of their very first flight.
    pub lost_first: u64,
    /// Logarithms of the known completion times.
    pub log_times: LogTimes,
    /// Sum of the known times, seconds.
    pub time_sum_s: f64,
    /// Connections by time: a time counts for the first of [`TIMES`] that it does not exceed; the
    /// last element has longer ones.
    pub times: [u64; TIMES.len() + 1],
}

/// Both groups of one size, as they are compared: by the random choice, and not by what the
/// connection could do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Chosen to start with a remembered window.
    pub warm: Group,
    /// Connections of the control group that had a remembered window.
    pub control_group: Group,
}

/// Sums of all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectionTotals {
    /// Connections that began with a remembered window.
    pub warm: Sum,
    /// Connections of the control group that would have.
    pub control_group: Sum,
    /// All other hooked connections.
    pub cold: Sum,
    /// Classes by size: [`SIZES`], and a last one for larger sizes.
    pub classes: [Class; SIZES.len() + 1],
    /// Connections by how they started, in the order of [`StartReason::ALL`].
    pub starts: [u64; StartReason::ALL.len()],
    /// First windows, by [`WINDOW_BOUNDS`] and larger.
    pub windows: [u64; WINDOW_BOUNDS.len() + 1],
}

/// Bounds of the classes of first windows, segments.
pub const WINDOW_BOUNDS: [u32; 8] = [10, 16, 32, 64, 128, 256, 512, 1024];

/// Bounds of the classes of completion times, seconds. Most web transfers take one to some tens of
/// round trips.
pub const TIMES: [f64; 12] = [0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6];

impl ConnectionTotals {
    /// Takes one more connection into account.
    pub fn add(&mut self, summary: &ConnectionSummary) {
        let class = &mut self.classes[usize::from(size_class(summary.bytes_acked))];
        match (summary.is_compared, summary.in_control_group) {
            (true, true) => class.control_group.add(summary),
            (true, false) => class.warm.add(summary),
            (false, _) => {}
        }
        let would_be_warm = summary.in_control_group && summary.would > 0;
        let sum = match (summary.is_warm, would_be_warm) {
            (true, _) => &mut self.warm,
            (false, true) => &mut self.control_group,
            (false, false) => &mut self.cold,
        };
        sum.add(summary);
        self.starts[summary.start as usize] += 1;
        self.windows[WINDOW_BOUNDS.partition_point(|most| *most < summary.first_window)] += 1;
    }

    /// Returns the number of connections that have closed.
    pub const fn closed(&self) -> u64 {
        self.warm.closed + self.control_group.closed + self.cold.closed
    }
}

impl Sum {
    /// Adds a closed connection to the sums.
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
    /// Adds a closed connection to the group. Its time counts if it is known.
    fn add(&mut self, summary: &ConnectionSummary) {
        self.closed += 1;
        self.retransmitting += u64::from(summary.retransmitted > 0);
        self.lost_first += u64::from(summary.has_lost_first);
        if summary.lasted_ns > 0 {
            let time = summary.lasted_ns as f64 / 1e9;
            self.log_times.add(time);
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
            is_compared: true,
            ..ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).unwrap()
        };
        let mut totals = ConnectionTotals::default();
        for lasted_ns in [10_000_000, 10_000_001, 26_000_000_000, 0] {
            totals.add(&ConnectionSummary { lasted_ns, ..one });
        }
        let group = totals.classes[0].control_group;
        // The connection without a known time is in no class.
        assert_eq!((group.closed, group.log_times.count), (4, 3));
        assert_eq!(group.times, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn the_control_group_without_a_memory_is_merely_cold() {
        let bytes = [0; ConnectionSummary::SIZE];
        let cold = ConnectionSummary::from_bytes(&bytes).unwrap();
        let mut totals = ConnectionTotals::default();
        totals.add(&ConnectionSummary { in_control_group: true, ..cold });
        let control = ConnectionSummary { in_control_group: true, would: 20, ..cold };
        let start = StartReason::ControlGroup;
        totals.add(&ConnectionSummary { is_compared: true, start, ..control });
        totals.add(&ConnectionSummary { would: 30, ..cold });
        totals.add(&ConnectionSummary { is_warm: true, would: 40, ..cold });
        let closed = [totals.cold.closed, totals.control_group.closed, totals.warm.closed];
        assert_eq!(closed, [2, 1, 1]);
        // Windows were left alone: a dry run.
        assert_eq!((totals.cold.proposed, totals.cold.proposed_windows), (1, 30));
        assert_eq!(totals.classes[0].control_group.closed, 1);
        assert_eq!(totals.starts[StartReason::ControlGroup as usize], 1);
        assert_eq!(totals.windows, [4, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
