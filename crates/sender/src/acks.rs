//! The ACK pipeline: scoreboard, round trip, loss recovery, window growth, timer; one step a
//! function, in the order of RFC 6675 §5.

use crate::Sender;
use crate::acknowledgement::{AckOutcome, Acknowledgement, RecoveryOutcome};
use crate::judgement::{AckReading, AckVerdict};
use path::Path;
use policy::ack::{AckInfo, AckProgress, AckSample, RepeatedSegments};
use policy::recovery::{RecoveryEvent, TimerAction};
use policy::startup::LossSignal;
use units::Instant;

/// Bytes of payload that an ACK delivered.
#[derive(Clone, Copy, Debug)]
struct Delivered {
    /// Bytes acknowledged cumulatively.
    acked: u64,
    /// Delivered for the first time as far as is known, acknowledged or selectively.
    all: u64,
}

impl Sender {
    /// Whether nothing is outstanding that `ack` could concern, as at a receiver. A SACK block
    /// could still be a D-SACK for earlier data, and a repetition ends a probe.
    #[inline]
    pub fn is_unconcerned(&self, ack: &Acknowledgement<'_>) -> bool {
        ack.una == self.una && self.board.is_empty() && ack.sack.is_empty() && !self.is_probing()
    }

    /// A tail-loss probe is out.
    #[inline]
    fn is_probing(&self) -> bool {
        self.recovery.state().is_probing
    }

    /// Processes an acceptable acknowledgement that may concern outstanding data.
    pub fn on_ack(&mut self, path: &mut Path, ack: &Acknowledgement<'_>) -> AckOutcome {
        let (now, una_before) = (ack.now, self.una);
        let losses = self.board.losses();
        let prior_in_flight = path.bytes_in_flight();
        self.outstanding_before_ack = self.board.outstanding();
        let mut info = self.ack_info(now);
        info.dsack = self.dsack_of(ack);
        if let Some((left, right)) = info.dsack {
            info.repeated = self.board.repeated(left, right);
        }
        let lowest = if path.is_shared() { self.board.segment(0).map(|s| s.order) } else { None };
        let is_once = ack.una > una_before && self.advance(ack.una, path, &mut info);
        // Nearly all ACKs only advance, with nothing retransmitted. They repeat nothing and echo
        // nothing old.
        let only_advances =
            ack.una > una_before && ack.sack.is_empty() && self.retransmit_stamp.is_none();
        if !only_advances {
            self.read_claims(ack, una_before, &mut info);
        }
        if una_before == 0 && ack.una > 0 {
            let (recovery, mut cx) = self.recovery_parts(path, ack.may_send);
            recovery.on_event(&mut cx, RecoveryEvent::Opened);
        }
        let acked = acked_payload(una_before, ack.una, self.written);
        path.on_acked(acked);
        self.sample_rtt(path, ack, &info);
        let delivered = self.delivered(path, &info, acked);
        let mut sample = self.ack_sample(path, &info, delivered, prior_in_flight);
        path.observe(&mut sample);
        let found = RecoveryOutcome::default();
        let mut outcome = AckOutcome {
            acked,
            delivered: delivered.all,
            rtt: sample.rtt,
            has_dsack: info.dsack.is_some(),
            found,
        };
        if self.is_partial_ack(&info) && path.on_loss_signal(LossSignal::PartialAck) {
            self.fall_back(now, path, ack.may_send);
            return AckOutcome { acked: 0, ..outcome };
        }
        let is_marked = self.reports_marks(ack, &info);
        let is_plain = only_advances && self.board.is_clean() && !path.is_shared();
        let verdict = if is_plain && self.rests_on(path, &info, is_once, ack.may_send) {
            self.settle_in_flight(path);
            if is_marked {
                self.on_marks(now, path, None, &mut outcome);
            }
            AckVerdict {
                grow: !is_marked,
                old: false,
                duplicate_bytes: 0,
                timer: TimerAction::OnProgress,
            }
        } else {
            let reading = AckReading { info: &info, sample: &sample, is_marked, lowest };
            self.process_losses(path, ack, reading, &mut outcome)
        };
        let grow = verdict.grow && delivered.acked.max(delivered.all) > 0;
        sample.delivered += verdict.duplicate_bytes;
        // A spurious retransmission is delivered (`tcp_dsack_seen`).
        self.counts.delivered_segments += verdict.duplicate_bytes / self.terms.mss.max(1);
        if !is_plain {
            // Recovery may have set or restored the window (`tcp_fastretrans_alert` comes first).
            sample.cwnd_limited = path.is_cwnd_limited();
        }
        if path.is_metered() {
            self.meter(path, &mut sample, &info, losses, verdict.old);
        }
        if (grow || path.is_ruled()) && path.on_ack(&sample) {
            self.fall_back(now, path, ack.may_send);
            return AckOutcome { acked: 0, ..outcome };
        }
        path.update_pacing_rate();
        path.on_ack_digested(&sample, grow);
        self.update_timer(now, path, &info, verdict.timer);
        outcome
    }

    /// The cumulative acknowledgement moves to `una`. True if it acknowledges whole segments that
    /// were sent once and were never SACKed.
    #[inline]
    fn advance(&mut self, una: u64, path: &Path, info: &mut AckInfo) -> bool {
        self.forget_retries();
        self.una = una;
        info.una = una;
        let is_once = self.board.acknowledge(una, &mut info.progress);
        if path.rtt().is_of_linux() {
            info.progress.forget_held();
        }
        is_once
    }

    /// Returns an empty description of an ACK.
    #[inline]
    fn ack_info(&self, now: Instant) -> AckInfo {
        AckInfo {
            now,
            una_before: self.una,
            una: self.una,
            snd_nxt: self.nxt,
            duplicate: false,
            repeats: false,
            progress: AckProgress::default(),
            dsack: None,
            repeated: RepeatedSegments::default(),
            echoes_original: false,
        }
    }

    /// Returns the bytes that the ACK delivered; `acked` of them were acknowledged cumulatively.
    #[inline]
    fn delivered(&mut self, path: &Path, info: &AckInfo, acked: u64) -> Delivered {
        let progress = &info.progress;
        let whole = progress.delivered - progress.partial;
        self.counts.delivered_segments += progress.segments;
        let all = whole - u64::from(info.una_before == 0).min(whole);
        let all = match !self.terms.sack && self.config.duplicates_deliver {
            true => self.less_duplicates(info, all, path.is_shared()),
            false => all,
        };
        Delivered { acked, all }
    }

    /// Returns the sample for start-up and congestion control; the path adds its totals.
    #[inline]
    fn ack_sample(
        &self,
        path: &Path,
        info: &AckInfo,
        delivered: Delivered,
        prior_in_flight: u64,
    ) -> AckSample {
        let now = info.now;
        AckSample {
            now,
            acked: delivered.acked,
            delivered: delivered.all,
            rtt: info.progress.latest_sent.map(|sent| now.saturating_since(sent)),
            srtt: path.rtt().srtt(),
            min_rtt: path.rtt().min_rtt(),
            prior_in_flight,
            in_flight: path.bytes_in_flight() - self.last_in_flight + self.board.pipe(),
            cwnd_limited: true,
            sent_total: 0,
            acked_total: 0,
            round: None,
            delivery: None,
        }
    }

    /// RFC 6298 §5.2, §5.3, as recovery modifies it.
    #[inline]
    fn update_timer(&mut self, now: Instant, path: &mut Path, info: &AckInfo, action: TimerAction) {
        if self.board.is_empty() {
            self.pause_timer();
            return;
        }
        let restart = match action {
            TimerAction::OnProgress => info.advanced(),
            TimerAction::Restart => true,
            TimerAction::FromHead => return self.restart_timer_from_head(now, path),
            TimerAction::BackOff => {
                self.back_off(path);
                true
            }
            TimerAction::Keep => false,
        };
        if restart {
            self.restart_timer(now, path);
        }
    }
}

/// Payload bytes between two acknowledgements: SYN and FIN do not open the window.
#[inline]
fn acked_payload(before: u64, after: u64, written: u64) -> u64 {
    if before > 0 && before <= after && after <= written {
        return after - before;
    }
    let payload = |offset: u64| offset.clamp(1, written);
    payload(after).saturating_sub(payload(before))
}
