//! Claims of an ACK: SACK blocks, that it is a duplicate, and which transmission it answers.
//!
//! Claims are read by the RFC that defines them, and by nothing that the sender believes already.

use crate::Sender;
use crate::acknowledgement::Acknowledgement;
use policy::ack::AckInfo;
use segment::SackBlocks;

impl Sender {
    /// Reads the claims of an ACK beside its cumulative acknowledgement. `una_before`: the
    /// cumulative acknowledgement before it.
    #[inline(never)]
    pub(crate) fn read_claims(
        &mut self,
        ack: &Acknowledgement<'_>,
        una_before: u64,
        info: &mut AckInfo,
    ) {
        if self.terms.sack && !ack.sack.is_empty() {
            self.digest_sack(ack, info);
        }
        info.repeats = ack.una == una_before && !ack.changes_window && ack.is_bare;
        info.duplicate = self.is_duplicate(info);
        // A SACK echoes the segment before the hole, whatever it answers (RFC 7323 §4.3). Linux's
        // RACK uses round trips alone there (`tcp_rack_advance`).
        info.echoes_original = info.advanced() && self.echoes_original(ack);
    }

    /// The D-SACK block of an ACK. Blocks of data that was never sent are none.
    pub(crate) fn dsack_of(&self, ack: &Acknowledgement<'_>) -> Option<(u64, u64)> {
        let [first, others @ ..] = ack.sack.as_slice() else { return None };
        let second = others.first().filter(|&&(left, right)| self.is_sound(left, right));
        let second = second.map(|&(left, right)| left..right);
        let repeats = SackBlocks::is_duplicate(&(first.0..first.1), second, ack.una);
        (self.terms.sack && repeats && self.is_sound(first.0, first.1)).then_some(*first)
    }

    const fn is_sound(&self, left: u64, right: u64) -> bool {
        left < right && right <= self.nxt
    }

    /// Books the SACK blocks but the D-SACK block.
    fn digest_sack(&mut self, ack: &Acknowledgement<'_>, info: &mut AckInfo) {
        for &(left, right) in &ack.sack.as_slice()[usize::from(info.dsack.is_some())..] {
            if !self.is_sound(left, right) {
                self.counts.sack_discarded += 1;
            } else if right > self.una {
                self.board.sack(left, right, &mut info.progress);
            }
        }
    }

    /// A duplicate ACK: with SACK one with new SACK information (RFC 6675 §2), else one that
    /// repeats the last in all respects while data is outstanding (RFC 5681 §2).
    fn is_duplicate(&self, info: &AckInfo) -> bool {
        if self.terms.sack {
            return info.progress.sacked > 0;
        }
        info.repeats && !self.board.is_empty()
    }

    /// Eifel (RFC 3522): the echoed timestamp is older than the first retransmission.
    fn echoes_original(&self, ack: &Acknowledgement<'_>) -> bool {
        let stamp = self.retransmit_stamp.filter(|_| self.terms.timestamps);
        let is_older =
            |stamp: u32| ack.echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0);
        stamp.is_some_and(is_older)
    }

    /// Without SACK, in fast recovery: new data is acknowledged, but not all that was outstanding
    /// when it began.
    #[inline]
    pub(crate) fn is_partial_ack(&self, info: &AckInfo) -> bool {
        info.advanced()
            && !self.terms.sack
            && self.recovery_point().is_some_and(|point| info.una < point)
    }

    /// Part of `delivered` bytes that duplicate ACKs have not reported already
    /// (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`).
    #[cold]
    pub(crate) fn less_duplicates(&mut self, info: &AckInfo, delivered: u64, shared: bool) -> u64 {
        if shared || self.recovering() {
            return delivered;
        }
        if !info.advanced() {
            let most = self.board.len().saturating_sub(1) as u32;
            self.duplicates = (self.duplicates + u32::from(info.duplicate)).min(most);
            return delivered;
        }
        let segments = info.progress.segments;
        let fresh = segments.saturating_sub(self.duplicates.into()).max(1);
        self.duplicates =
            u64::from(self.duplicates).saturating_sub(segments.saturating_sub(1)) as u32;
        delivered.min(fresh * self.terms.mss)
    }
}
