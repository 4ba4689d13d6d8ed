//! What a memory answers.

use units::{Duration, Rate};

/// What is remembered of the way to a destination, aged already.
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
    /// How long ago the newest of it was learnt.
    pub age: Duration,
    /// A connection's share of the path (`Wc`), bytes, where a gateway knows it.
    pub share: Option<u64>,
    /// Payload of a full segment, bytes, where it is known.
    pub mss: Option<u64>,
    /// How fast data arrived, where a start-up measured it. It does not age.
    pub rate: Option<Rate>,
    /// Data may go in the SYN: the peer takes it.
    pub early_data: bool,
}
