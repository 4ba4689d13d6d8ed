//! The processing of plain ACKs, which advance while nothing is repaired.

use super::super::{AtRest, PlainAck};
use super::{HeldRetransmissions, RackTlp, State};
use units::Instant;

impl RackTlp {
    /// Nothing is repaired, and no probe is out.
    #[inline]
    pub(super) fn is_at_rest(&self) -> bool {
        self.state == State::Open && self.highest_sacked == 0 && self.probe.is_idle()
    }

    /// Resets the counts of losses.
    #[inline]
    pub(super) fn begin_anew(&mut self) {
        self.hold = HeldRetransmissions::None;
        self.timeouts = 0;
        (self.duplicates.count, self.overtaken) = (0, 0);
        self.prr = None;
    }

    /// Returns the result of [`RackTlp::go_on`].
    #[inline]
    pub(super) fn rest_on(&mut self, ack: &PlainAck) -> AtRest {
        self.begin_anew();
        let PlainAck { now, newest: (sent_at, end), head_sent_at, segments_out, srtt, rto } = *ack;
        self.detector.on_original(sent_at, end, now);
        self.reordering.adapt(sent_at, now);
        self.timer = None;
        self.segments_out = segments_out;
        self.head_sent_at = head_sent_at.unwrap_or(now);
        let Some(head) = head_sent_at else {
            return AtRest { timeout: None, until: Instant::ZERO };
        };
        self.arm_probe(now, srtt, rto);
        let timeout = self.timeout();
        // For later segments: a probe waits as long as one for several segments, but not after the
        // head's timeout.
        let later = self.earliest_probe(now, srtt).min(head + rto);
        AtRest { timeout, until: timeout.map_or(Instant::ZERO, |first| first.min(later)) }
    }
}
