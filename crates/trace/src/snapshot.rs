//! What a sender is after an ACK: a point of a time-sequence plot.

use crate::kinds::SenderPhase;
use units::{Duration, Instant};

/// The window of a sender after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderSnapshot {
    /// When the ACK reached it.
    pub at: Instant,
    /// All below is acknowledged; 0 is the SYN, 1 the first byte.
    pub una: u64,
    /// Next new offset.
    pub nxt: u64,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `u64::MAX` while unlimited.
    pub ssthresh: u64,
    /// Bytes presumed under way.
    pub in_flight: u64,
    /// The window that the receiver offers, bytes; `None` where no SYN told how it is scaled.
    pub receive_window: Option<u64>,
    /// Smoothed round trip; zero before the first sample.
    pub srtt: Duration,
    /// Retransmission timeout in force.
    pub rto: Duration,
    /// What the sender does.
    pub phase: SenderPhase,
}
