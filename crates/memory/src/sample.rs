//! Samples that a path learns.

use crate::bound::ReportBound as Bound;
use units::{Duration, Rate};

/// Something learnt of the way to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// The share of one connection, while the path lives.
    Report(GatewayReport),
    /// Measurements of one transfer, and its bound.
    Transfer(TransferSample),
    /// State of the path at its end.
    Ended(PathState),
}

/// A sender's report to the performance gateway (Zhang, Qiu & Keshav 2000 §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayReport {
    /// `Wc`, bytes: `cwnd` less one segment when a loss was detected in congestion avoidance, or
    /// `cwnd` when a transfer ended that had met none.
    pub share: u64,
    /// The smoothed round trip then, if it was measured.
    pub rtt: Option<Duration>,
}

/// Measurements of a path by a transfer, or by a part of a long one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSample {
    /// Bytes: with [`Bound::Loss`] the flight when the loss happened, otherwise the largest
    /// delivered flight.
    pub window: u64,
    /// The highest rate at which data was delivered in a round trip, if it was measured.
    pub rate: Option<Rate>,
    /// The smoothed round trip, if it was measured.
    pub rtt: Option<Duration>,
    /// The lowest round trip, if it was measured.
    pub min_rtt: Option<Duration>,
    /// Segments in `window`.
    pub sent: u32,
    /// Segments that went again after the loss; a timeout makes them more than were lost.
    pub lost: u32,
    /// The bound that kept the window from being larger.
    pub bound: Bound,
}

/// A path's state when its last connection left (RFC 9040 §6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathState {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `None` while no congestion has set it.
    pub ssthresh: Option<u64>,
    /// Smoothed round trip; zero if none was measured.
    pub srtt: Duration,
    /// Its mean deviation.
    pub rttvar: Duration,
    /// Lowest round trip, where it is known.
    pub min_rtt: Option<Duration>,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Delivery rate, if a start-up measured it.
    pub rate: Option<Rate>,
    /// The peer has taken, or would take, data in a SYN.
    pub early_data: bool,
}
