//! Transfers: a request and its response, and where the time went.
//!
//! The time of a transfer is cut at every packet, and each piece is given to one cause as a whole
//! ([`meter`]). Afterwards what no sender could have spared is taken off the waiting ([`shares`]). So the
//! shares add up to the duration, to the nanosecond.

mod draft;
mod meter;
mod open;
#[cfg(test)]
mod plain;
mod shares;
mod trail;
mod train;
mod wait;
mod waits;

pub(crate) use meter::{Passage, TransferMeter};
pub use shares::{TimeShare, TimeShares};
pub(crate) use wait::{SenderState, SenderWait};

use units::{Duration, Instant, Rate};

/// One transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferReport {
    /// Number of the transfer within its connection, from 0.
    pub index: u32,
    /// When it began: with the SYN if it is the connection's first, else with the request's first byte; with
    /// the response's if nothing was asked.
    pub began: Instant,
    /// First byte of the request, if one was seen.
    pub asked: Option<Instant>,
    /// Last byte of the request before the response began.
    pub asked_whole: Option<Instant>,
    /// First byte of the response sent.
    pub answered: Instant,
    /// Last new byte of the response sent.
    pub sent: Instant,
    /// Last byte acknowledged: the end. Without an ACK the last packet.
    pub ended: Instant,
    /// All of it was acknowledged.
    pub complete: bool,
    /// Payload of the request.
    pub request_bytes: u64,
    /// Payload of the response, retransmissions apart.
    pub bytes: u64,
    /// Retransmissions of the response.
    pub retransmissions: u32,
    /// Of these, timeouts.
    pub timeouts: u32,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Congestion window that the response began with, bytes: what could be sent before its first ACK.
    pub first_window: u64,
    /// Congestion window at the end, bytes.
    pub last_window: u64,
    /// Smoothed round trip at the end; zero before the first sample.
    pub srtt: Duration,
    /// Lowest round trip of the connection so far; zero before the first sample.
    pub min_rtt: Duration,
    /// Rate of the fastest train of ACKs so far on the connection: of those of 32 segments, else of four; zero before one.
    pub delivery_rate: Rate,
    /// Where the time went.
    pub shares: TimeShares,
}

impl TransferReport {
    /// The first window had room for all of the response: no larger one could have made it faster.
    pub const fn fits_first_window(&self) -> bool {
        self.bytes <= self.first_window
    }

    /// From the beginning to the end.
    pub const fn duration(&self) -> Duration {
        self.ended.saturating_since(self.began)
    }
}
