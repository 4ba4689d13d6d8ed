//! Spurious reductions (the response of RFC 3522 and RFC 3708, as Linux does it). The reduction was
//! spurious if every retransmission of the episode is reported as a duplicate (D-SACK, RFC 2883),
//! or if a timestamp proves that an original was delivered.

use crate::ack::AckInfo;

/// The last episode of loss, until its reduction is undone or another begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// Cumulative acknowledgement and window when the episode began.
    episode: Option<(u64, u64)>,
    /// Retransmissions not yet reported as duplicates; `None` before the first.
    unproven: Option<u32>,
    /// There was a retransmission in this episode.
    retransmitted: bool,
    /// Retransmissions and duplicates reported, over the connection's life: a peer that reports
    /// more duplicates than retransmissions is not believed.
    total: u64,
    duplicates: u64,
}

impl Undo {
    pub(super) const fn new() -> Self {
        Self { episode: None, unproven: None, retransmitted: false, total: 0, duplicates: 0 }
    }

    /// Starts an episode at cumulative acknowledgement `una` and window `cwnd` with `in_flight`
    /// retransmissions still under way.
    pub(super) fn begin(&mut self, una: u64, cwnd: u64, in_flight: u32) {
        self.episode = Some((una, cwnd));
        self.unproven = (in_flight > 0).then_some(in_flight);
    }

    /// Records a retransmission, to repair a loss or as a tail-loss probe.
    pub(super) fn on_retransmission(&mut self, probe: bool) {
        self.total += 1;
        if !probe {
            self.retransmitted = true;
            self.unproven = Some(self.unproven.map_or(1, |n| n.saturating_add(1)));
        }
    }

    /// Records that no retransmission is under way any more.
    pub(super) fn clear_retransmissions(&mut self) {
        self.retransmitted = false;
    }

    /// True if a retransmission, other than a probe, may be under way.
    pub(super) const fn has_sent_again(&self) -> bool {
        self.retransmitted
    }

    /// Processes the D-SACK of `ack`, if any, and returns the number of segments delivered twice; 0
    /// if it is not plausible.
    pub(super) fn on_dsack(&mut self, ack: &AckInfo, mss: u64) -> u32 {
        let Some((left, right)) = ack.dsack.filter(|d| d.0 < d.1) else {
            return 0;
        };
        let segments = u32::try_from((right - left).div_ceil(mss)).unwrap_or(u32::MAX);
        self.duplicates += u64::from(segments);
        if self.duplicates > self.total {
            return 0;
        }
        if right <= ack.una_before {
            self.on_needless_retransmission(right, segments);
        } else {
            self.on_needless_retransmission(ack.repeated.end, ack.repeated.count);
        }
        segments
    }

    /// Notes needless transmissions of a segment that ends at `end`, if it is of the episode.
    fn on_needless_retransmission(&mut self, end: u64, transmissions: u32) {
        if self.episode.is_some_and(|(una, _)| end > una) {
            self.unproven = self.unproven.map(|n| n.saturating_sub(transmissions));
        }
    }

    /// Every retransmission of the episode was a duplicate.
    pub(super) fn is_proven_by_dsack(&self) -> bool {
        self.episode.is_some() && self.unproven == Some(0)
    }

    /// True if an advancing acknowledgement was for an original: nothing had been retransmitted
    /// yet, or the echoed timestamp is older than the retransmission.
    pub(super) fn is_proven_by_original(&self, ack: &AckInfo) -> bool {
        self.episode.is_some() && (!self.retransmitted || ack.echoes_original)
    }

    /// Either proof.
    pub(super) fn is_proven(&self, ack: &AckInfo) -> bool {
        self.is_proven_by_dsack() || self.is_proven_by_original(ack)
    }

    /// An episode's reduction stands.
    pub(super) const fn is_reduced(&self) -> bool {
        self.episode.is_some()
    }

    /// Ends the episode and returns the window at its start.
    pub(super) fn take(&mut self) -> Option<u64> {
        self.episode.take().map(|(_, cwnd)| cwnd)
    }
}
