//! ACKs, digested in the order of the core's ack pipeline (RFC 6675 §5): window, scoreboard, round trip,
//! recovery, growth, timer.

use super::{RebuiltSender, without_sack};
use crate::kinds::SenderPhase;
use path::MemberDelivery;
use policy::ack::{AckInfo, AckProgress, AckSample};
use policy::config::RttSampling;
use policy::congestion::CongestionEvent;
use policy::recovery::{Reduction, Report, TimerAction};
use policy::window::Cause;
use segment::SackBlocks;
use units::{Duration, Instant, SeqNum};

/// SACK blocks of one segment as offsets `[left, right)`, in the order of the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SackOffsets {
    blocks: [(u64, u64); SackBlocks::MAX],
    count: u8,
}

impl SackOffsets {
    /// Those of `blocks`, of which there are few enough for a segment.
    #[inline]
    pub(crate) fn of(blocks: &[(SeqNum, SeqNum)], offset: impl Fn(SeqNum) -> u64) -> Self {
        let mut offsets = Self::default();
        for (slot, &(left, right)) in offsets.blocks.iter_mut().zip(blocks) {
            *slot = (offset(left), offset(right));
            offsets.count += 1;
        }
        offsets
    }

    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// What an ACK says to a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderAck {
    /// When it reaches the sender.
    pub(crate) at: Instant,
    /// All below is acknowledged.
    pub(crate) una: u64,
    /// The window offered, scaled, if the segment is not too old to say.
    pub(crate) window: Option<u64>,
    /// It takes no sequence space: it may be a duplicate (RFC 5681 §2).
    pub(crate) bare: bool,
    /// Its SACK blocks.
    pub(crate) sack: SackOffsets,
    /// The echoed timestamp.
    pub(crate) echo: Option<u32>,
    /// The sender's clock of timestamps, if it is known.
    pub(crate) clock: Option<StampClock>,
    /// It echoes a mark of congestion (RFC 3168 §6.1).
    pub(crate) marked: bool,
}

/// How a sender's clock of timestamps is read: it showed a value at an instant, and counts milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StampClock {
    pub(crate) value: u32,
    pub(crate) at: Instant,
}

impl StampClock {
    /// What it shows.
    pub(crate) fn stamp(self, now: Instant) -> u32 {
        self.value.wrapping_add(now.saturating_since(self.at).as_millis() as u32)
    }

    /// How old an echo is.
    fn age(self, now: Instant, echo: u32) -> Option<Duration> {
        let age = self.stamp(now).wrapping_sub(echo) as i32;
        (age > 0 && echo != 0).then(|| Duration::from_millis(age as u64))
    }
}

impl SenderAck {
    /// The byte at `offset` has arrived.
    pub(crate) fn covers(&self, offset: u64) -> bool {
        let inside = |block: &(u64, u64)| (block.0..block.1).contains(&offset);
        self.una > offset || self.sack.as_slice().iter().any(inside)
    }

    /// One past the highest byte that has arrived.
    pub(crate) fn highest(&self) -> u64 {
        self.sack.as_slice().iter().fold(self.una, |highest, block| highest.max(block.1))
    }
}

/// What an ACK was found to be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckDigest {
    /// Bytes newly acknowledged.
    pub(crate) acked: u64,
    /// Bytes that have newly arrived: acknowledged, or selectively.
    pub(crate) delivered: u64,
    /// A round trip.
    pub(crate) rtt: Option<Duration>,
    /// The receiver got these bytes twice.
    pub(crate) dsack: Option<(u64, u64)>,
}

impl RebuiltSender {
    /// Digests an ACK of what was sent.
    pub(crate) fn on_ack(&mut self, ack: &SenderAck) -> AckDigest {
        self.path.set_now(ack.at);
        let window_changed = self.update_window(ack.window);
        let says_nothing = ack.una == self.una && self.board.is_empty() && ack.sack.count == 0;
        if says_nothing && !(self.has_probes && self.recovery.is_probing()) {
            return AckDigest::default();
        }
        self.digest(ack, window_changed)
    }

    /// No SYN has told whether the receiver has SACK: blocks do, and so does a duplicate without any.
    fn learn_sack(&mut self, has_blocks: bool, duplicate: bool) {
        if has_blocks {
            self.terms.sack = true;
            self.terms.sack_is_guess = false;
        } else if duplicate && self.terms.sack {
            self.terms.sack = false;
            if self.recovery.needs_sack() {
                self.recovery = without_sack();
                self.lacks_sack = true;
            }
        }
    }

    fn digest(&mut self, ack: &SenderAck, window_changed: bool) -> AckDigest {
        let una_before = self.una;
        self.outstanding_before_ack = self.board.outstanding();
        let mut info = AckInfo {
            now: ack.at,
            una_before,
            una: una_before,
            snd_nxt: self.nxt,
            duplicate: false,
            repeats: false,
            progress: AckProgress::default(),
            dsack: None,
            echoes_original: false,
        };
        if ack.una > una_before {
            self.una = ack.una;
            info.una = ack.una;
            self.board.acknowledge(ack.una, &mut info.progress);
        }
        self.digest_acknowledged(ack, window_changed, &mut info)
    }

    /// Digests an ACK whose cumulative acknowledgement is booked, and of which `info` says no more than that yet.
    #[inline(always)]
    pub(super) fn digest_acknowledged(
        &mut self,
        ack: &SenderAck,
        window_changed: bool,
        info: &mut AckInfo,
    ) -> AckDigest {
        let (now, una_before) = (ack.at, info.una_before);
        let phase = self.phase_at(una_before);
        let losses = self.board.losses();
        let prior_in_flight = self.path.bytes_in_flight();
        if info.advanced() && self.path.rtt.is_of_linux() {
            info.progress.forget_held();
        }
        info.repeats = ack.una == una_before && !window_changed && ack.bare;
        let plain = !info.advanced() && !window_changed && ack.bare && !self.board.is_empty();
        if self.terms.sack_is_guess {
            self.learn_sack(ack.sack.count > 0, plain && ack.una == una_before);
        }
        if self.terms.sack && ack.sack.count > 0 {
            info.dsack = self.digest_sack(&ack.sack, ack.una, &mut info.progress);
        }
        info.duplicate = if self.terms.sack { info.progress.sacked > 0 } else { plain };
        self.evidence.on_ack(now, self.una, info.advanced());
        let acked = if info.advanced() { self.note_advance(ack, info) } else { 0 };
        self.sample_rtt(info, ack);
        let whole = info.progress.delivered - info.progress.partial;
        let delivered = whole - u64::from(una_before == 0).min(whole);
        let mut sample =
            self.sample((now, info.progress.latest_sent), (acked, delivered), prior_in_flight);
        self.path.observe(&mut sample);
        let report = self.ask_recovery(info);
        self.settle_in_flight();
        self.apply_report(now, &report, phase, false);
        if self.path.is_metered() {
            self.meter(&mut sample, info, losses);
        }
        let marked = ack.marked && self.terms.ecn;
        if marked {
            self.on_mark(now);
        }
        if report.grow && !marked && acked.max(delivered) > 0 || self.path.is_ruled() {
            self.path.on_ack(&sample);
        }
        self.path.update_pacing_rate();
        self.update_timer(info, report.timer);
        self.probe_pending = false;
        AckDigest { acked, delivered, rtt: sample.rtt, dsack: info.dsack }
    }

    /// Tells recovery of an ACK.
    #[inline(always)]
    pub(super) fn ask_recovery(&mut self, info: &AckInfo) -> Report {
        let (recovery, mut cx) = self.recovery_parts();
        let report = recovery.on_ack(&mut cx, info);
        if self.retransmit_stamp.is_some() && !self.recovery.has_sent_again() {
            self.retransmit_stamp = None;
        }
        self.note_recovery();
        report
    }

    /// The cumulative acknowledgement has moved. Answers how much payload it has newly acknowledged.
    #[inline]
    fn note_advance(&mut self, ack: &SenderAck, info: &mut AckInfo) -> u64 {
        // A SACK echoes what came before the hole, whatever it answers; Linux's RACK goes by round trips alone there
        // (`tcp_rack_advance`).
        info.echoes_original = self.echoes_original(ack);
        if info.una_before == 0 {
            self.recovery.on_opened();
        }
        let acked = self.acked_payload(info.una_before);
        self.path.on_acked(acked);
        acked
    }

    /// A router has marked a packet of the window: as a loss of it, once a window (RFC 3168 §6.1.2).
    #[cold]
    fn on_mark(&mut self, now: Instant) {
        if self.is_recovering() || self.una <= self.marks_answered {
            return;
        }
        self.marks_answered = self.nxt;
        let event = self.congestion_event(now, &Report::default(), false);
        self.path.reduce(Reduction::ToSsthresh, &event, Cause::Ecn);
    }

    /// The receiver offers another window, and acknowledges nothing.
    pub(crate) fn set_window(&mut self, window: u64) {
        self.update_window(Some(window));
    }

    #[inline]
    pub(super) fn update_window(&mut self, window: Option<u64>) -> bool {
        match window {
            Some(window) if window != self.snd_wnd => {
                self.snd_wnd = window;
                self.max_snd_wnd = self.max_snd_wnd.max(window);
                true
            }
            _ => false,
        }
    }

    /// Books SACK blocks of an ACK up to `una`; answers a D-SACK block (RFC 2883 §4: the first, below the cumulative
    /// acknowledgement or inside the second).
    pub(super) fn digest_sack(
        &mut self,
        blocks: &SackOffsets,
        una: u64,
        progress: &mut AckProgress,
    ) -> Option<(u64, u64)> {
        let nxt = self.nxt;
        let sound = |block: (u64, u64)| block.0 < block.1 && block.1 <= nxt;
        let inside = |a: (u64, u64), b: (u64, u64)| a.0 >= b.0 && a.1 <= b.1;
        let (&first, rest) = blocks.as_slice().split_first()?;
        let repeats = |&second: &(u64, u64)| inside(first, second) && sound(second);
        let is_dsack = sound(first) && (first.0 < una || rest.first().is_some_and(repeats));
        let fresh = if is_dsack { rest } else { blocks.as_slice() };
        for &(left, right) in fresh {
            if right > self.una && sound((left, right)) {
                self.board.sack(left, right, progress);
            }
        }
        is_dsack.then_some(first)
    }

    /// Eifel (RFC 3522): the echoed timestamp is older than the first retransmission.
    fn echoes_original(&self, ack: &SenderAck) -> bool {
        let stamp = self.retransmit_stamp.filter(|_| self.terms.timestamps);
        let older = |stamp: u32| ack.echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0);
        stamp.is_some_and(older)
    }

    /// Payload bytes acknowledged since `before`: SYN and FIN do not open the window.
    #[inline]
    pub(super) fn acked_payload(&self, before: u64) -> u64 {
        let payload = |offset: u64| offset.clamp(1, self.written.max(1));
        payload(self.una).saturating_sub(payload(before))
    }

    fn sample_rtt(&mut self, info: &AckInfo, ack: &SenderAck) {
        let newest = info.progress.newest.filter(|n| info.advanced() && !n.retransmitted);
        let sent = match self.sampling {
            RttSampling::EveryAck => info.progress.earliest_sent,
            RttSampling::OnePerRoundTrip => self.take_timed(),
            RttSampling::Echo => newest.map(|newest| newest.sent_at),
        };
        if let Some(sent) = sent {
            self.path.on_rtt_sample(sent, info.now);
            self.backoff = 0;
        } else if self.sampling != RttSampling::OnePerRoundTrip && info.advanced() {
            // Only what was sent again was acknowledged; the echo still tells, coarsely (RFC 7323 §4.1).
            let clock = ack.clock.filter(|_| self.terms.timestamps);
            let age = clock.zip(ack.echo).and_then(|(clock, echo)| clock.age(ack.at, echo));
            if let Some(age) = age {
                self.path.on_coarse_rtt_sample(info.now - age, info.now);
                self.backoff = 0;
            }
        }
    }

    /// The timed segment, if it is now acknowledged. During fast recovery its sample is void.
    fn take_timed(&mut self) -> Option<Instant> {
        let (_, sent) = self.timed.filter(|&(end, _)| self.una >= end)?;
        self.timed = None;
        if self.recovery.recovery_point().is_some_and(|point| self.una < point) {
            self.backoff = 0;
            return None;
        }
        Some(sent)
    }

    /// What policies see of an ACK that came at `now`, and of whose segments the last left at `latest_sent`.
    #[inline]
    pub(super) fn sample(
        &self,
        (now, latest_sent): (Instant, Option<Instant>),
        (acked, delivered): (u64, u64),
        prior_in_flight: u64,
    ) -> AckSample {
        AckSample {
            now,
            acked,
            delivered,
            rtt: latest_sent.map(|sent| now.saturating_since(sent)),
            srtt: self.path.rtt.srtt(),
            min_rtt: self.path.rtt.min_rtt(),
            prior_in_flight,
            in_flight: self.board.pipe(),
            cwnd_limited: true,
            sent_total: 0,
            acked_total: 0,
            round: None,
            delivery: None,
        }
    }

    /// Carries a recovery report to the path; `phase`: before it.
    #[inline]
    pub(super) fn apply_report(
        &mut self,
        now: Instant,
        report: &Report,
        phase: SenderPhase,
        timeout: bool,
    ) {
        if let Some(cwnd) = report.imposes().filter(|_| !timeout) {
            self.path.impose(cwnd);
        } else if !report.is_quiet() {
            self.apply_news(now, report, phase, timeout);
        }
    }

    /// As [`RebuiltSender::apply_report`], of a report that has something for the path.
    #[inline(never)]
    fn apply_news(&mut self, now: Instant, report: &Report, phase: SenderPhase, timeout: bool) {
        if report.undo {
            self.evidence.undo();
        }
        if report.congestion.is_some() && !timeout {
            self.timed = None;
            self.marks_answered = self.nxt;
            self.evidence.begin_fast(now, self.una, phase);
        }
        let event = self.congestion_event(now, report, timeout);
        self.path.on_report(report, &event);
        if report.congestion == Some(Reduction::Gradual) {
            let (recovery, cx) = self.recovery_parts();
            if let Some(cwnd) = recovery.window_after_reduction(&cx) {
                self.path.on_report(&Report { cwnd: Some(cwnd), ..Report::default() }, &event);
            }
        }
    }

    fn congestion_event(&self, now: Instant, report: &Report, timeout: bool) -> CongestionEvent {
        let usable = self.path.usable_cwnd();
        CongestionEvent {
            now,
            flight_size: self.outstanding_before_ack.min(usable),
            usable_window: usable.min(self.max_snd_wnd.max(self.terms.mss)),
            timeout,
            repeated: report.repeated,
        }
    }

    /// Tells the path's meter what the ACK delivered.
    fn meter(&mut self, sample: &mut AckSample, info: &AckInfo, losses_before: u64) {
        let recovering = self.is_recovering();
        let marks = self.marks.get_or_insert_default();
        let losses = self.board.losses();
        self.path.meter(sample, info, MemberDelivery { marks, losses_before, losses, recovering });
        match self.board.segment(0) {
            None => marks.clear(),
            Some(head) if !head.was_retransmitted() => marks.forget_before(head.order),
            Some(_) => {}
        }
    }

    pub(super) fn update_timer(&mut self, info: &AckInfo, action: TimerAction) {
        if self.board.is_empty() {
            self.rto_at = Instant::FAR_FUTURE;
            return;
        }
        let restart = match action {
            TimerAction::OnProgress => info.advanced(),
            TimerAction::Restart => true,
            TimerAction::BackOff => {
                self.back_off();
                true
            }
            TimerAction::Keep => false,
        };
        if restart {
            self.restart_timer(info.now);
        }
    }
}
