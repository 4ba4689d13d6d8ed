//! The ack pipeline: window update, scoreboard, round trip, loss recovery, window growth, timer;
//! one step a function, in the order of RFC 6675 §5.
//!
//! Here is the pipeline itself. `claims` reads what the ACK says, `round_trips` times it, `verdict` asks recovery, and
//! `members` tells those who share the path.

mod claims;
mod members;
mod round_trips;
mod verdict;

use super::timers::Deadline;
use super::{Connection, State};
use crate::ack::{AckInfo, AckProgress, AckSample};
use crate::path::Path;
use crate::recovery::{Stance, TimerAction};
use crate::segment::Segment;
use crate::startup::Setback;
use units::Instant;
use verdict::AckVerdict;

impl Connection {
    /// Digests an acceptable acknowledgement: `left` and `una` are the offsets of the segment's
    /// sequence and acknowledgement numbers.
    #[inline(always)]
    pub(super) fn handle_ack(
        &mut self,
        now: Instant,
        path: &mut Path,
        (left, una): (u64, u64),
        segment: &Segment,
    ) {
        self.allow_burst();
        if self.wishes.is_some() {
            self.note_occasion();
        }
        let window_changed = self.update_send_window(segment, left, una);
        // With nothing outstanding, as at a receiver, only the window may have changed; a SACK block
        // could still be a D-SACK for what was sent before, and a repetition ends a probe.
        if una != self.snd_una
            || !self.board.is_empty()
            || !segment.options.sack.is_empty()
            || self.is_probing()
        {
            self.digest_ack(now, path, (una, window_changed), segment);
        }
        self.note_progress(now, path);
    }

    /// A tail-loss probe is out.
    #[inline]
    fn is_probing(&self) -> bool {
        self.stats.probes > 0 && self.recovery.is_probing()
    }

    /// The pipeline proper, for an ACK up to `una` that may concern what is outstanding.
    fn digest_ack(
        &mut self,
        now: Instant,
        path: &mut Path,
        (una, window_changed): (u64, bool),
        segment: &Segment,
    ) {
        let una_before = self.snd_una;
        let losses = self.board.losses();
        let prior_in_flight = path.bytes_in_flight();
        self.outstanding_before_ack = self.board.outstanding();
        let mut info = self.ack_info(now, una_before);
        let lowest = if path.is_shared() { self.board.segment(0).map(|s| s.order) } else { None };
        if una > una_before {
            self.timers.retries = 0;
            self.snd_una = una;
            info.una = una;
            self.board.acknowledge(una, &mut info.progress);
            if path.rtt.is_of_linux() {
                info.progress.forget_held();
            }
        }
        // Nearly all ACKs only advance, with nothing sent again: such a one repeats nothing and echoes nothing old.
        let only_advances =
            una > una_before && segment.options.sack.is_empty() && self.retransmit_stamp.is_none();
        if !only_advances {
            let repeats = una == una_before && !window_changed;
            self.read_claims(segment, (una, repeats), &mut info);
        }
        if una_before == 0 && una > 0 {
            self.recovery.on_opened();
        }
        let acked = acked_payload(una_before, una, self.written);
        path.on_acked(acked);
        self.sample_rtt(now, path, &info, segment);
        let progress = &info.progress;
        let whole = progress.delivered - progress.partial;
        self.stats.delivered_segments += progress.segments;
        let delivered = whole - u64::from(una_before == 0).min(whole);
        let delivered = match !self.agreed.sack && self.config.duplicates_deliver {
            true => self.less_duplicates(&info, delivered, path.is_shared()),
            false => delivered,
        };
        let mut sample = self.ack_sample(path, &info, (acked, delivered), prior_in_flight);
        path.observe(&mut sample);
        if self.is_partial_ack(&info) && path.on_setback(Setback::PartialAck) {
            return self.retreat(now, path);
        }
        let is_idle =
            only_advances && self.recovery.stance == Stance::Idle && self.board.is_clean();
        let verdict = if is_idle && !path.is_shared() {
            debug_assert!(self.is_idle_for(&info));
            debug_assert!(self.idle_promise_holds(path, &info));
            self.settle_in_flight(path);
            let echoed = self.on_ecn_echo(now, path, None, segment);
            AckVerdict { grow: !echoed, old: false, timer: TimerAction::OnProgress }
        } else {
            self.hear_recovery(path, &info, (&sample, lowest), segment)
        };
        let grow = verdict.grow && acked.max(delivered) > 0;
        if path.is_metered() {
            self.meter(path, &mut sample, &info, losses, verdict.old);
        }
        if (grow || path.is_ruled()) && path.on_ack(&sample) {
            return self.retreat(now, path);
        }
        path.update_pacing_rate();
        path.on_ack_digested(&sample, grow);
        self.update_timer(now, path, &info, verdict.timer);
        if acked > 0 && una >= self.written {
            path.on_transfer_acked();
            self.collect_report(path);
        }
    }

    /// An ACK of which nothing is known yet.
    #[inline]
    fn ack_info(&self, now: Instant, una: u64) -> AckInfo {
        AckInfo {
            now,
            una_before: una,
            una,
            snd_nxt: self.snd_nxt,
            duplicate: false,
            repeats: false,
            progress: AckProgress::default(),
            dsack: None,
            echoes_original: false,
        }
    }

    /// What start-up and congestion control are told; the path adds its totals.
    #[inline]
    fn ack_sample(
        &self,
        path: &Path,
        info: &AckInfo,
        (acked, delivered): (u64, u64),
        prior_in_flight: u64,
    ) -> AckSample {
        let now = info.now;
        AckSample {
            now,
            acked,
            delivered,
            rtt: info.progress.latest_sent.map(|sent| now.saturating_since(sent)),
            srtt: path.rtt.srtt(),
            min_rtt: path.rtt.min_rtt(),
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
            self.timers.retransmit = Deadline::NEVER;
            return;
        }
        let restart = match action {
            TimerAction::OnProgress => info.advanced(),
            TimerAction::Restart => true,
            TimerAction::BackOff => {
                self.back_off(path);
                true
            }
            TimerAction::Keep => false,
        };
        if restart {
            self.restart_retransmission_timer(now, path);
        }
    }

    /// State changes that acknowledged control segments bring.
    #[inline(always)]
    fn note_progress(&mut self, now: Instant, path: &mut Path) {
        if self.fin_requested && self.snd_una == self.send_end() {
            self.on_fin_acked(now);
            path.learn_of_end();
        }
        if self.state != State::Closed {
            self.update_persist_timer(now, path);
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
