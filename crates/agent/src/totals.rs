//! How connections went, summed up: those that began with a remembered window, those held out that would have, and
//! all others; the first two also by size, as they are compared ([`crate::compare`]).

use crate::contract::Summary;
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
    pub retreats: u64,
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
}

/// Both groups of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Begun with a remembered window.
    pub warm: Group,
    /// Held out, with such a window proposed.
    pub holdout: Group,
}

/// Sums of all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Connections that began with a remembered window.
    pub warm: Sum,
    /// Connections that would have, but were held out for comparison.
    pub holdout: Sum,
    /// All others that were attended to.
    pub cold: Sum,
    /// By size: [`SIZES`], and what is larger.
    pub classes: [Class; SIZES.len() + 1],
}

/// Bytes acknowledged of connections of one class, at most; powers of 4 from what ten segments carry.
pub const SIZES: [u64; 4] = [16_384, 65_536, 262_144, 1_048_576];

impl Totals {
    /// Takes one more connection into account.
    pub fn add(&mut self, summary: &Summary) {
        let would_be_warm = summary.is_held_out && summary.would > 0;
        let class = &mut self.classes[class_of(summary.bytes_acked)];
        let sum = match (summary.is_warm, would_be_warm) {
            (true, _) => {
                class.warm.add(summary);
                &mut self.warm
            }
            (false, true) => {
                class.holdout.add(summary);
                &mut self.holdout
            }
            (false, false) => &mut self.cold,
        };
        sum.add(summary);
    }

    /// Connections that have closed.
    pub const fn closed(&self) -> u64 {
        self.warm.closed + self.holdout.closed + self.cold.closed
    }
}

pub(crate) fn class_of(bytes: u64) -> usize {
    SIZES.partition_point(|most| *most < bytes)
}

impl Sum {
    fn add(&mut self, summary: &Summary) {
        self.closed += 1;
        self.bytes_acked += summary.bytes_acked;
        self.segments_sent += u64::from(summary.sent);
        self.segments_retransmitted += u64::from(summary.retransmitted);
        self.first_windows += u64::from(summary.first_window);
        self.proposed += u64::from(summary.would > 0);
        self.proposed_windows += u64::from(summary.would);
        self.retreats += u64::from(summary.has_retreated);
        self.restarts += u64::from(summary.restarts);
    }
}

impl Group {
    fn add(&mut self, summary: &Summary) {
        self.closed += 1;
        self.retransmitting += u64::from(summary.retransmitted > 0);
        self.lost_first += u64::from(summary.has_lost_first);
        if summary.lasted_ns > 0 {
            let log_time = (summary.lasted_ns as f64 / 1e9).ln();
            self.timed += 1;
            self.log_times += log_time;
            self.log_times_squared += log_time * log_time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_ends_with_its_own_size() {
        assert_eq!(class_of(0), 0);
        assert_eq!(class_of(16_384), 0);
        assert_eq!(class_of(16_385), 1);
        assert_eq!(class_of(1_048_576), 3);
        assert_eq!(class_of(1_048_577), 4);
    }

    #[test]
    fn held_out_without_a_memory_is_merely_cold() {
        let bytes = [0; Summary::SIZE];
        let cold = Summary::from_bytes(&bytes).unwrap();
        let mut totals = Totals::default();
        totals.add(&Summary { is_held_out: true, ..cold });
        totals.add(&Summary { is_held_out: true, would: 20, ..cold });
        totals.add(&Summary { would: 30, ..cold });
        totals.add(&Summary { is_warm: true, would: 40, ..cold });
        let closed = [totals.cold.closed, totals.holdout.closed, totals.warm.closed];
        assert_eq!(closed, [2, 1, 1]);
        // Windows were left alone: a dry run.
        assert_eq!((totals.cold.proposed, totals.cold.proposed_windows), (1, 30));
        assert_eq!(totals.classes[0].holdout.closed, 1);
    }
}
