//! F-RTO (RFC 5682 §3.1, with SACK): finds out if the timeout was spurious. After the timeout only
//! the first segment is retransmitted; the next ACKs, provoked by new data, decide.

use super::super::RecoveryContext;
use crate::ack::AckInfo;

/// The detection after one timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct FRto {
    active: bool,
}

/// Meaning of an ACK after the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A segment that was never retransmitted was delivered: the timeout was spurious.
    Spurious,
    /// Not decided: send new data, no retransmission.
    SendNewData,
    /// Repair as usual.
    Conventional,
}

impl FRto {
    pub(super) const fn new() -> Self {
        Self { active: false }
    }

    /// A timeout. Detection is on unless the timeout ended a fast recovery.
    pub(super) fn begin(&mut self, active: bool) {
        self.active = active;
    }

    /// Judges an ACK. `high` is one past what had been sent at the timeout.
    pub(super) fn on_ack(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo, high: u64) -> Verdict {
        if !self.active {
            return Verdict::Conventional;
        }
        // Step 3.b, also for the first ACK, because SACK identifies the delivered segment.
        if ack.progress.lowest_original.is_some_and(|start| start < high) {
            return Verdict::Spurious;
        }
        if cx.snd_nxt > high {
            // Step 3.a: the new data was delivered, the data below it was not.
            if ack.progress.sacked > 0 || ack.duplicate {
                self.active = false;
            }
        } else if ack.advanced() && ack.una < high {
            // Step 2.b.
            if cx.new_data {
                return Verdict::SendNewData;
            }
            self.active = false;
        }
        Verdict::Conventional
    }
}
