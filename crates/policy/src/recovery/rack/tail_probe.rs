//! Tail loss probe (RFC 8985 §7). If no ACK comes for two round trips, one segment is sent to
//! provoke one, so that RACK repairs a lost tail before the timeout.

use super::super::{Reduction, SentInfo};
use crate::ack::AckInfo;
use units::Duration;

/// Added to the probe's timeout for the sender's own timers.
const SLACK: Duration = Duration::from_millis(2);

/// Time without an ACK before a probe is sent, without allowances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeWait {
    /// RFC 8985 §7.2.
    TwoRoundTrips,
    /// Half a round trip less: what Google's QUIC waits for its first probe.
    OneAndHalf,
}

impl ProbeWait {
    /// Returns the wait on a path of this smoothed round trip.
    pub(super) fn of(self, srtt: Duration) -> Duration {
        match self {
            Self::TwoRoundTrips => srtt * 2,
            Self::OneAndHalf => srtt + srtt / 2,
        }
    }
}

/// The probe of the current flight, if one is out.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailProbe {
    /// Asked for, not yet sent: `snd_nxt` then.
    requested: Option<u64>,
    /// `snd_nxt` after it was sent, and whether it repeats a segment.
    out: Option<(u64, bool)>,
}

impl TailProbe {
    pub(super) const fn new() -> Self {
        Self { requested: None, out: None }
    }

    /// Returns `PTO` of RFC 8985 §7.2: the round trips to wait for, and the longest delay of an ACK
    /// if a single segment is out. It is at most the retransmission timeout `bound`.
    pub(super) fn timeout(
        wait: Duration,
        single: bool,
        delayed_ack: Duration,
        bound: Duration,
    ) -> Duration {
        let allowance = if single { delayed_ack } else { SLACK };
        (wait + allowance).min(bound)
    }

    /// Asks for a probe unless one is out.
    pub(super) fn request(&mut self, snd_nxt: u64) -> bool {
        self.requested = self.out.is_none().then_some(snd_nxt);
        self.requested.is_some()
    }

    /// Records a segment that is sent. True if it is the probe.
    pub(super) fn on_sent(&mut self, sent: &SentInfo) -> bool {
        let Some(snd_nxt) = self.requested.take() else {
            return false;
        };
        let high = if sent.retransmission { snd_nxt } else { sent.end };
        self.out = Some((high, sent.retransmission));
        true
    }

    /// True if no probe is requested, and none is out.
    pub(super) const fn is_idle(&self) -> bool {
        self.requested.is_none() && self.out.is_none()
    }

    /// A segment is out twice because of the probe.
    pub(super) const fn repeats(&self) -> bool {
        matches!(self.out, Some((_, true)))
    }

    /// True if `ack` reports the probe itself as a duplicate.
    pub(super) fn is_reported_by(&self, ack: &AckInfo, mss: u64) -> bool {
        let short = |&(left, right): &(u64, u64)| left < right && right - left <= mss;
        let high = self.out.map(|(high, _)| high);
        ack.dsack.filter(short).is_some_and(|(_, right)| Some(right) == high)
    }

    /// Ends the probe with the ACK that decides its result (RFC 8985 §7.4.2). A probe that
    /// retransmitted a segment and was followed by a later ACK, without sign of a duplicate,
    /// repaired a loss: the window must be reduced.
    pub(super) fn on_ack(&mut self, ack: &AckInfo, mss: u64) -> Option<Reduction> {
        self.requested = None;
        let (high, repeated) = self.out?;
        if ack.una < high {
            return None;
        }
        let duplicate = ack.repeats && ack.progress.sacked == 0;
        if !repeated || self.is_reported_by(ack, mss) || duplicate {
            self.out = None;
        } else if ack.una > high {
            self.out = None;
            return Some(Reduction::ToSsthresh);
        }
        None
    }

    /// Loss recovery begins; the probe's fate no longer matters.
    pub(super) fn forget(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip of 100 ms: the wait is two of them or one and a half, and 2 ms. 20 ms are added
    /// for the ACK of a single segment. The wait is at most the retransmission timeout.
    #[test]
    fn a_probe_waits_for_round_trips_and_an_allowance() {
        let ms = Duration::from_millis;
        let timeout = |wait: ProbeWait, single, bound| {
            TailProbe::timeout(wait.of(ms(100)), single, ms(20), bound)
        };
        assert_eq!(timeout(ProbeWait::TwoRoundTrips, false, ms(300)), ms(202));
        assert_eq!(timeout(ProbeWait::OneAndHalf, false, ms(300)), ms(152));
        assert_eq!(timeout(ProbeWait::OneAndHalf, true, ms(300)), ms(170));
        assert_eq!(timeout(ProbeWait::OneAndHalf, false, ms(120)), ms(120));
    }
}
