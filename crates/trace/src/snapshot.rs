//! The state of a sender after an ACK: a point of a time-sequence plot.

use crate::kinds::SenderPhase;
use units::{Duration, Instant};

/// The window of a sender after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderSnapshot {
    /// Time at which the ACK got to the sender.
    pub at: Instant,
    /// Lowest unacknowledged offset; 0 is the SYN, 1 the first byte.
    pub una: u64,
    /// Next new offset.
    pub nxt: u64,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `u64::MAX` while unlimited.
    pub ssthresh: u64,
    /// Bytes presumed in the network.
    pub in_flight: u64,
    /// The window that the receiver offers, bytes; `None` if its scale is unknown because no SYN
    /// was captured.
    pub receive_window: Option<u64>,
    /// Smoothed round trip; zero before the first sample.
    pub srtt: Duration,
    /// Retransmission timeout in force.
    pub rto: Duration,
    /// The sender's phase.
    pub phase: SenderPhase,
}
