//! The report of an open transfer, as far as it is known.

use super::link_rate::RateEvidence;
use super::shares::TimeShares;
use super::{TransferEnd, TransferReport};
use units::{Duration, Instant, Rate};

/// The fields of a [`TransferReport`] that are known before the end.
///
/// The order matters for speed. Fields that most packets write are at the end, beside other fields
/// of a transfer that they write. Each further cache line that a packet touches may be a miss.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Draft {
    pub(super) began: Instant,
    pub(super) asked: Option<Instant>,
    pub(super) asked_whole: Option<Instant>,
    pub(super) answered: Option<Instant>,
    pub(super) request_bytes: u64,
    pub(super) retransmissions: u32,
    pub(super) timeouts: u32,
    pub(super) shares: TimeShares,
    pub(super) first_window: u64,
    pub(super) srtt: Duration,
    pub(super) mss: u64,
    pub(super) bytes: u64,
    pub(super) sent: Instant,
}

impl Draft {
    /// Returns the report so far, without the fields that only the end of the transfer determines.
    pub(super) fn report(&self) -> TransferReport {
        TransferReport {
            began: self.began,
            asked: self.asked,
            asked_whole: self.asked_whole,
            answered: self.answered,
            sent: self.sent,
            request_bytes: self.request_bytes,
            bytes: self.bytes,
            retransmissions: self.retransmissions,
            timeouts: self.timeouts,
            mss: self.mss,
            first_window: self.first_window,
            last_window: 0,
            srtt: self.srtt,
            min_rtt: Duration::ZERO,
            shares: self.shares,
            index: 0,
            ended: Instant::ZERO,
            outcome: TransferEnd::Unfinished,
            tls: None,
            upload: None,
            has_acks: true,
            delivery_rate: Rate::default(),
            rate_evidence: RateEvidence::None,
            link_full: Duration::ZERO,
        }
    }
}
