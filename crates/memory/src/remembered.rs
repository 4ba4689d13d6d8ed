//! The answer of a memory.

use units::{Duration, Rate};

/// Memory of the path to a destination, aged already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `None`: unlimited, or not known.
    pub ssthresh: Option<u64>,
    /// Smoothed round trip.
    pub srtt: Duration,
    /// Its mean deviation.
    pub rttvar: Duration,
    /// Lowest round trip, where it is known.
    pub min_rtt: Option<Duration>,
    /// Age of its newest sample.
    pub age: Duration,
    /// A connection's share of the path (`Wc`), bytes, where a gateway knows it.
    pub share: Option<u64>,
    /// Payload of a full segment, bytes, where it is known.
    pub mss: Option<u64>,
    /// Delivery rate, if a start-up measured it. It does not age.
    pub rate: Option<Rate>,
    /// Data may go in the SYN: the peer takes it.
    pub early_data: bool,
}
