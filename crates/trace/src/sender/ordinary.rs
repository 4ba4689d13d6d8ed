//! What most packets are to a sender: new data that follows what it sent before, and ACKs that advance while nothing is lost.
//!
//! Here is what `observed` and `acks` do with those, and nothing else. Whatever may be something else is theirs.

use super::RebuiltSender;
use super::acks::{AckDigest, SenderAck};
use super::observed::MOST_UNANSWERED;
use policy::ack::{AckInfo, AckProgress};
use policy::config::RttSampling;
use policy::recovery::{PlainAck, SentInfo};
use units::Instant;

/// An ACK without data and without SACK blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BareAck {
    /// When it reaches the sender.
    pub(crate) at: Instant,
    /// All below is acknowledged.
    pub(crate) una: u64,
    /// The window offered, scaled.
    pub(crate) window: u64,
}

impl RebuiltSender {
    /// `payload` bytes leave from `start` on, without a FIN. False, and nothing has changed, if they are not simply the next ones.
    #[inline]
    pub(crate) fn on_next_data(
        &mut self,
        at: Instant,
        (start, payload): (u64, u64),
        push: bool,
    ) -> bool {
        let mss = self.terms.mss;
        // One byte may be a probe. With nothing outstanding sending is resumed.
        let is_next = start == self.nxt && (2..=mss).contains(&payload) && self.una > 0;
        let is_usual = !self.board.is_empty() && self.board.len() + 1 < MOST_UNANSWERED;
        if !is_next || !is_usual || self.due_by(at).is_some_and(|due| due <= at) {
            return false;
        }
        self.check_answer(at, payload);
        let end = start + payload;
        self.written = self.written.max(end);
        self.ended = push && payload < mss;
        self.path.set_now(at);
        let order = self.path.next_order();
        self.mark_sent(at);
        self.board.push(start, payload as u32, (at, order));
        self.nxt = end;
        if payload < mss {
            self.small_until = end;
        }
        if self.timed.is_none() {
            self.timed = Some((end, at));
        }
        self.tell_path(at, payload as u32, payload);
        if !self.counts_in_burst(at) {
            let (srtt, rto) = (self.path.rtt.srtt(), self.path.rtt.rto(self.backoff));
            let info = SentInfo { now: at, len: payload, end, retransmission: false, srtt, rto };
            self.recovery_due = self.recovery.on_new_data(&info);
        }
        if self.rto_at == Instant::FAR_FUTURE {
            self.restart_timer(at);
        }
        self.settle_in_flight();
        self.check_outstanding();
        true
    }

    /// An ACK may be one that [`RebuiltSender::on_advancing_ack`] digests.
    #[inline]
    pub(crate) fn takes_bare_acks(&self) -> bool {
        self.takes_plain_acks
            && !self.path.is_metered()
            && !self.path.is_paced()
            && self.sampling != RttSampling::OnePerRoundTrip
    }

    /// Digests an ACK, where [`RebuiltSender::takes_bare_acks`] holds. `None`, and nothing has changed, if it does not simply advance
    /// while nothing is lost. `full`: the ACK with all that it says.
    #[inline]
    pub(crate) fn on_advancing_ack(
        &mut self,
        ack: &BareAck,
        full: impl FnOnce() -> SenderAck,
    ) -> Option<AckDigest> {
        let BareAck { at, una, window } = *ack;
        let advances = una > self.una && una <= self.nxt && self.una > 0;
        debug_assert!(self.takes_bare_acks());
        let is_quiet = self.board.is_clean()
            && self.board.sacked_ranges().is_empty()
            && self.retransmit_stamp.is_none();
        if !advances || !is_quiet || self.due_by(at).is_some_and(|due| due < at) {
            return None;
        }
        self.note_stop(true);
        self.is_answered = true;
        self.path.set_now(at);
        let window_changed = self.update_window(Some(window));
        let una_before = std::mem::replace(&mut self.una, una);
        self.outstanding_before_ack = self.board.outstanding();
        let mut progress = AckProgress::default();
        if self.board.acknowledge(una, &mut progress) {
            return Some(self.digest_plain(at, una_before, &progress));
        }
        // Something of it was sent again, or a segment is acknowledged in part.
        Some(self.digest_mixed(&full(), window_changed, una_before, progress))
    }

    #[cold]
    fn digest_mixed(
        &mut self,
        ack: &SenderAck,
        window_changed: bool,
        una_before: u64,
        progress: AckProgress,
    ) -> AckDigest {
        self.tell_burst();
        let mut info = AckInfo {
            now: ack.at,
            una_before,
            una: self.una,
            snd_nxt: self.nxt,
            duplicate: false,
            repeats: false,
            progress,
            dsack: None,
            echoes_original: false,
        };
        self.digest_acknowledged(ack, window_changed, &mut info)
    }

    /// As [`RebuiltSender::digest_acknowledged`], of segments sent once that an ACK acknowledges which says nothing else, while nothing
    /// outstanding is SACKed or lost, and recovery takes such ACKs.
    #[inline]
    fn digest_plain(&mut self, now: Instant, una_before: u64, progress: &AckProgress) -> AckDigest {
        let prior_in_flight = self.path.bytes_in_flight();
        self.evidence.on_ack(now, self.una, true);
        let (acked, delivered) = (self.acked_payload(una_before), progress.delivered);
        self.path.on_acked(acked);
        let newest = progress.newest.map_or((now, self.una), |newest| (newest.sent_at, newest.end));
        let sampled = match self.sampling {
            RttSampling::EveryAck => progress.earliest_sent.unwrap_or(newest.0),
            RttSampling::Echo | RttSampling::OnePerRoundTrip => newest.0,
        };
        self.path.on_rtt_sample(sampled, now);
        self.backoff = 0;
        let mut sample =
            self.sample((now, progress.latest_sent), (acked, delivered), prior_in_flight);
        self.path.observe(&mut sample);
        let (srtt, rto) = (self.path.rtt.srtt(), self.path.rtt.rto(0));
        let head_sent_at = self.board.segment(0).map(|head| head.sent_at);
        let segments_out = self.board.len();
        let told = PlainAck { now, newest, head_sent_at, segments_out, srtt, rto };
        let recovery = self.recovery.on_plain_ack(&told);
        self.begin_burst(&recovery);
        self.settle_in_flight();
        self.path.on_ack(&sample);
        self.path.update_pacing_rate();
        self.rto_at = if head_sent_at.is_some() { now + rto } else { Instant::FAR_FUTURE };
        self.probe_pending = false;
        AckDigest { acked, delivered, rtt: sample.rtt, dsack: None }
    }
}
