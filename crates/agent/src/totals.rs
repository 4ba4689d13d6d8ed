//! How connections went, summed up: those that began with a remembered window beside those that did not.

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
    /// Connections that lost something of a remembered first window.
    pub retreats: u64,
    /// Times that they began with a remembered window after idle.
    pub restarts: u64,
}

/// Sums of both kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Connections that began with a remembered window.
    pub warm: Sum,
    /// All others that were attended to.
    pub cold: Sum,
}

impl Totals {
    /// Takes one more connection into account.
    pub fn add(&mut self, summary: &Summary) {
        let sum = if summary.is_warm { &mut self.warm } else { &mut self.cold };
        sum.closed += 1;
        sum.bytes_acked += summary.bytes_acked;
        sum.segments_sent += u64::from(summary.sent);
        sum.segments_retransmitted += u64::from(summary.retransmitted);
        sum.first_windows += u64::from(summary.first_window);
        sum.retreats += u64::from(summary.has_retreated);
        sum.restarts += u64::from(summary.restarts);
    }
}
