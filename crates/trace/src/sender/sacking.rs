//! What most ACKs of a recovery are to a sender: they acknowledge nothing new, and their SACK blocks tell what has arrived.
//!
//! Here is what `observed` and `acks` do with those, and nothing else. Whatever may be something else is theirs.

use super::RebuiltSender;
use super::acks::{AckDigest, SackOffsets};
use super::ordinary::BareAck;
use policy::ack::{AckInfo, AckProgress};
use policy::config::RttSampling;

impl RebuiltSender {
    /// Digests an ACK with these blocks, without data and without the echo of a mark. `None`, and nothing has changed, if it may be
    /// something else.
    #[inline]
    pub(crate) fn on_sacking_ack(
        &mut self,
        ack: &BareAck,
        blocks: &SackOffsets,
    ) -> Option<AckDigest> {
        let is_told = self.terms.sack && !self.terms.sack_is_guess && !blocks.as_slice().is_empty();
        let samples_acks = self.sampling != RttSampling::OnePerRoundTrip;
        if !is_told
            || !samples_acks
            || ack.una != self.una
            || ack.una == 0
            || self.path.is_metered()
        {
            return None;
        }
        self.tell_burst();
        self.catch_up(ack.at, false);
        self.note_stop(false);
        self.path.set_now(ack.at);
        let repeats = !self.update_window(Some(ack.window));
        Some(self.digest_sacking(ack, blocks, repeats))
    }

    /// As [`RebuiltSender::digest_acknowledged`], of an ACK that acknowledges nothing. Who changes one has to change the other; a test
    /// compares both (`tests/trace/ordinary.rs`). It is bare and not marked, as its caller knows from the flags. Nothing is acknowledged in
    /// part, and something was before, as [`RebuiltSender::on_sacking_ack`] has seen.
    #[inline]
    fn digest_sacking(
        &mut self,
        &BareAck { at, una, .. }: &BareAck,
        blocks: &SackOffsets,
        repeats: bool,
    ) -> AckDigest {
        self.outstanding_before_ack = self.board.outstanding();
        let phase = self.phase_at(una);
        let prior_in_flight = self.path.bytes_in_flight();
        let mut info = AckInfo {
            now: at,
            una_before: una,
            una,
            snd_nxt: self.nxt,
            duplicate: false,
            repeats,
            progress: AckProgress::default(),
            dsack: None,
            echoes_original: false,
        };
        info.dsack = self.digest_sack(blocks, una, &mut info.progress);
        info.duplicate = info.progress.sacked > 0;
        let progress = &info.progress;
        self.evidence.on_ack(at, una, false);
        if let (RttSampling::EveryAck, Some(sent)) = (self.sampling, progress.earliest_sent) {
            self.path.on_rtt_sample(sent, at);
            self.backoff = 0;
        }
        let delivered = progress.delivered;
        let mut sample = self.sample((at, progress.latest_sent), (0, delivered), prior_in_flight);
        self.path.observe(&mut sample);
        let report = self.ask_recovery(&info);
        self.settle_in_flight();
        self.apply_report(at, &report, phase, false);
        if report.grow && delivered > 0 || self.path.is_ruled() {
            self.path.on_ack(&sample);
        }
        self.path.update_pacing_rate();
        self.update_timer(&info, report.timer);
        self.probe_pending = false;
        AckDigest { acked: 0, delivered, rtt: sample.rtt, dsack: info.dsack }
    }
}
