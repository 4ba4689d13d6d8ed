//! Transfers: a request and its response, and the use of their time.
//!
//! The time of a transfer is cut at every packet, and each piece is given to one cause as a whole
//! ([`meter`]). Afterwards the time that no sender could have avoided is subtracted from the
//! waiting ([`shares`]). So the shares add up to the duration, to the nanosecond.

mod draft;
mod ending;
mod link_rate;
mod meter;
mod open;
mod passage;
mod pause;
#[cfg(test)]
mod plain;
mod plateau;
mod shares;
mod tls;
mod trail;
mod wait;
mod waits;

pub(crate) use ending::ConnectionEnd;
pub use link_rate::RateEvidence;
pub(crate) use meter::TransferMeter;
pub(crate) use passage::{Passage, PassingAck, PassingData};
pub use shares::{TimeShare, TimeShares};
pub use tls::TlsReport;
pub(crate) use wait::{Flight, SenderState, SenderWait};

use units::{Duration, Instant, Rate};

/// The outcome of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransferEnd {
    /// All of it was acknowledged, as far as the capture shows.
    Complete,
    /// No answer was sent while the client waited.
    Unanswered,
    /// The client reset the connection within it.
    CutByClient,
    /// The server reset the connection within it.
    CutByServer,
    /// The capture, or what it shows of the connection, ended before.
    #[default]
    Unfinished,
}

impl TransferEnd {
    /// Returns true if a reset of the connection cut it off.
    pub const fn is_cut_off(self) -> bool {
        matches!(self, Self::CutByClient | Self::CutByServer)
    }

    /// A short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Unanswered => "unanswered",
            Self::CutByClient => "cut-by-client",
            Self::CutByServer => "cut-by-server",
            Self::Unfinished => "unfinished",
        }
    }
}

/// One transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferReport {
    /// Number of the transfer within its connection, from 0.
    pub index: u32,
    /// Its start: the SYN if it is the connection's first, else the request's first byte, or the
    /// response's if there was no request.
    pub began: Instant,
    /// First byte of the request, if one was captured.
    pub asked: Option<Instant>,
    /// Last byte of the request before the response began.
    pub asked_whole: Option<Instant>,
    /// First byte of the response sent; `None` if there was none, or if none got to a client that
    /// still waited.
    pub answered: Option<Instant>,
    /// Last new byte of the response sent.
    pub sent: Instant,
    /// Last byte acknowledged: the end. It is the last packet if there is no ACK.
    pub ended: Instant,
    /// Its outcome.
    pub outcome: TransferEnd,
    /// The use of the request's time, if it was large: the shares of [`TimeShare::Request`].
    pub upload: Option<TimeShares>,
    /// True if the client's ACKs were captured. Without them only its sizes, and times up to its
    /// first byte, are known.
    pub has_acks: bool,
    /// The TLS handshake before it.
    pub tls: Option<TlsReport>,
    /// Payload of the request.
    pub request_bytes: u64,
    /// Payload of the response, without retransmissions.
    pub bytes: u64,
    /// Retransmissions of the response.
    pub retransmissions: u32,
    /// Timeouts among these retransmissions.
    pub timeouts: u32,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Congestion window at the start of the response, bytes: the amount that could be sent before
    /// its first ACK.
    pub first_window: u64,
    /// Congestion window at the end, bytes.
    pub last_window: u64,
    /// Smoothed round trip at the end; zero before the first sample.
    pub srtt: Duration,
    /// Lowest round trip of the connection so far; zero before the first sample.
    pub min_rtt: Duration,
    /// Rate of the slowest link, of payload, so far on the connection; zero while unknown. It is
    /// the rate of deliveries while a queue stood, else of the fastest train of ACKs of 32
    /// segments, else of four.
    pub delivery_rate: Rate,
    /// Evidence of that rate.
    pub rate_evidence: RateEvidence,
    /// Time in which the link was full: a queue stood, and it delivered without a break.
    pub link_full: Duration,
    /// Its time by cause.
    pub shares: TimeShares,
}

impl TransferReport {
    /// Returns true if the first window had room for all of the response: no larger one could have
    /// made it faster.
    pub const fn fits_first_window(&self) -> bool {
        self.bytes <= self.first_window
    }

    /// Returns true if all of it was acknowledged.
    pub fn is_complete(&self) -> bool {
        self.outcome == TransferEnd::Complete
    }

    /// Returns the time from the beginning to the end.
    pub const fn duration(&self) -> Duration {
        self.ended.saturating_since(self.began)
    }
}
