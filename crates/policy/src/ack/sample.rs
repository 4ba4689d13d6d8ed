//! The facts of one ACK for the policies, in plain structs.

use super::rate::Delivery;
use super::round_trip::RoundTrip;
use super::scoreboard::{AckProgress, RepeatedSegments};
use units::{Duration, Instant};

/// One ACK as loss recovery sees it, after the scoreboard was updated.
#[derive(Clone, Copy, Debug)]
pub struct AckInfo {
    /// Time at which the ACK was received.
    pub now: Instant,
    /// Cumulative acknowledgement before this ACK.
    pub una_before: u64,
    /// Cumulative acknowledgement now.
    pub una: u64,
    /// Next new byte to be sent.
    pub snd_nxt: u64,
    /// A duplicate ACK by RFC 5681 §2, or, with SACK, one that brings new SACK information
    /// (RFC 6675 §2).
    pub duplicate: bool,
    /// It repeats the ACK before it: same number, same window, no data (RFC 5681 §2, Linux without
    /// `FLAG_NOT_DUP`). It may have SACK information.
    pub repeats: bool,
    /// Changes on the scoreboard.
    pub progress: AckProgress,
    /// A D-SACK block `[left, right)` reported with this ACK (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// The segments of that block that were outstanding before this ACK.
    pub repeated: RepeatedSegments,
    /// The echoed timestamp proves that the original, not the retransmission, was acknowledged
    /// (Eifel, RFC 3522).
    pub echoes_original: bool,
}

impl AckInfo {
    /// True if the cumulative acknowledgement moved.
    pub const fn advanced(&self) -> bool {
        self.una > self.una_before
    }
}

/// One ACK as start-up and congestion control see it: totals of the path, whichever member
/// brought them.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Time at which the ACK was received.
    pub now: Instant,
    /// Bytes newly acknowledged cumulatively.
    pub acked: u64,
    /// Bytes newly delivered: newly acknowledged ones that no SACK had reported before, and newly
    /// SACKed ones.
    pub delivered: u64,
    /// Round trip measured on the latest segment newly delivered, if it was sent only once.
    pub rtt: Option<Duration>,
    /// Smoothed round trip time; zero before the first sample.
    pub srtt: Duration,
    /// Lowest round trip seen; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Bytes in flight before this ACK.
    pub prior_in_flight: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The window, not the application, limited what was sent in the last round trip.
    pub cwnd_limited: bool,
    /// Bytes ever sent for the first time on this path.
    pub sent_total: u64,
    /// Bytes ever acknowledged cumulatively on this path, this ACK included.
    pub acked_total: u64,
    /// The round trip that ended with this ACK, if a policy of the path asks for it.
    pub round: Option<RoundTrip>,
    /// Deliveries of this ACK, if a policy of the path models them.
    pub delivery: Option<Delivery>,
}

impl AckSample {
    /// Returns the sample of an ACK of `acked` bytes at `now`, which was not delayed and after
    /// which nothing is in flight.
    pub const fn of(now: Instant, acked: u64) -> Self {
        Self {
            now,
            acked,
            delivered: acked,
            rtt: None,
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            prior_in_flight: acked,
            in_flight: 0,
            cwnd_limited: true,
            sent_total: acked,
            acked_total: acked,
            round: None,
            delivery: None,
        }
    }
}
