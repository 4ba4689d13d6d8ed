//! ACKs: the evidence of packets alone is kept, and the core's sender digests them.

use super::RebuiltSender;
use sender::{Acknowledgement, SackOffsets, SenderTerms, StampClock};
use units::{Instant, SeqNum};

/// The outcome of an ACK at the core's sender.
pub(crate) use sender::AckOutcome as AckDigest;

/// Returns the offsets of `blocks`, of which there are few enough for a segment.
#[inline]
pub(crate) fn sack_offsets(
    blocks: &[(SeqNum, SeqNum)],
    offset: impl Fn(SeqNum) -> u64,
) -> SackOffsets {
    let mut offsets = SackOffsets::NONE;
    for &(left, right) in blocks {
        offsets.push(offset(left), offset(right));
    }
    offsets
}

/// An ACK that waits for its sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderAck {
    /// Time at which the sender receives it.
    pub(crate) at: Instant,
    /// Lowest unacknowledged offset.
    pub(crate) una: u64,
    /// The window offered, scaled; `None` if the segment is too old to show it.
    pub(crate) window: Option<u64>,
    /// True if it takes no sequence space: it may be a duplicate (RFC 5681 §2).
    pub(crate) bare: bool,
    /// Its SACK blocks.
    pub(crate) sack: SackOffsets,
    /// The echoed timestamp.
    pub(crate) echo: Option<u32>,
    /// The sender's clock of timestamps, if it is known.
    pub(crate) clock: Option<StampClock>,
    /// Its ACE field, which has the echo of classic ECN as its lowest bit; `None` in a handshake.
    pub(crate) ace: Option<u8>,
}

impl SenderAck {
    /// Returns the ACK as the core's sender reads it.
    pub(crate) const fn read(&self) -> Acknowledgement<'_> {
        Acknowledgement {
            now: self.at,
            una: self.una,
            changes_window: false,
            is_bare: self.bare,
            sack: &self.sack,
            echo: self.echo,
            clock: self.clock,
            ace: self.ace,
            feedback: None,
            may_send: self.una > 0,
        }
    }

    /// Returns true if the byte at `offset` is delivered.
    pub(crate) fn is_delivered(&self, offset: u64) -> bool {
        let inside = |block: &(u64, u64)| (block.0..block.1).contains(&offset);
        self.una > offset || self.sack.as_slice().iter().any(inside)
    }

    /// Returns one past the highest byte that is delivered.
    pub(crate) fn highest(&self) -> u64 {
        self.sack.as_slice().iter().fold(self.una, |highest, block| highest.max(block.1))
    }
}

impl RebuiltSender {
    /// Digests an ACK. It offers `window`, if the segment is not too old to show it.
    #[inline(always)]
    pub(crate) fn on_ack(
        &mut self,
        mut ack: Acknowledgement<'_>,
        window: Option<u64>,
    ) -> AckDigest {
        self.path.set_now(ack.now);
        ack.changes_window = window.is_some_and(|window| self.core.update_window(window));
        ack.may_send |= self.may_send();
        if self.core.is_unconcerned(&ack) {
            return AckDigest::default();
        }
        if self.sack_is_guess {
            self.learn_sack(&ack);
        }
        if let Some(ace @ 4..) = ack.ace
            && self.ecn_is_guess
        {
            // Only Accurate ECN sets AE.
            self.core.join_accurate_ecn(ace);
            self.ecn_is_guess = false;
        }
        let (before, phase) = (self.core.una(), self.phase());
        let una = before.max(ack.una);
        self.evidence.on_ack(ack.now, una, una > before);
        let digest = self.core.on_ack(&mut self.path, &ack);
        self.core.take_probe();
        if digest.found.any {
            self.note_outcome(ack.now, digest.found, phase);
        }
        digest
    }

    /// Learns whether the receiver has SACK, if no SYN has shown it: blocks show it, and so does a
    /// duplicate without any.
    #[cold]
    fn learn_sack(&mut self, ack: &Acknowledgement<'_>) {
        let terms = *self.core.terms();
        let repeats = ack.una == self.core.una() && !ack.changes_window && ack.is_bare;
        if !ack.sack.is_empty() {
            self.core.agree(SenderTerms { sack: true, ..terms });
            self.sack_is_guess = false;
        } else if repeats && terms.sack && !self.core.board().is_empty() {
            self.core.agree(SenderTerms { sack: false, ..terms });
        }
    }

    /// Notes that the receiver offers another window, and acknowledges nothing.
    pub(crate) fn set_window(&mut self, window: u64) {
        self.core.update_window(window);
    }
}
