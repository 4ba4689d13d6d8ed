//! The driver of senders whose data the capture shows: packets decide, the rebuilt sender explains.
//!
//! The retransmission timer does not act on its own here: a timeout happens when its packet is
//! seen. The timer of recovery does act, because its loss marks show in the window.

use super::RebuiltSender;
use super::acks::AckDigest;
use super::evidence::Episode;
use crate::kinds::{Retransmission, RetransmissionKind};
use path::SendLimit;
use sender::Acknowledgement;
use units::{Duration, Instant};

/// A segment with data or FIN, as the capture shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenData {
    pub(crate) at: Instant,
    /// Offset of its first byte.
    pub(crate) start: u64,
    /// Its first sequence number.
    pub(crate) seq: u32,
    /// Payload bytes.
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    pub(crate) push: bool,
    /// Its timestamp.
    pub(crate) stamp: Option<u32>,
}

/// The classification of a segment with data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataDigest {
    /// New payload, bytes.
    pub(crate) fresh: u64,
    /// Payload before it that the capture has not shown, bytes.
    pub(crate) unseen: u64,
    /// The retransmission, if the data was sent before.
    pub(crate) retransmission: Option<Retransmission>,
    /// True for a keep-alive, and for a probe of a shut window.
    pub(crate) probe: bool,
    /// True if other segments of the same sender had overtaken it before the capture.
    pub(crate) overtaken: bool,
}

/// Maximum number of segments that are booked without being seen: no window has more.
const MAX_UNSEEN: u64 = 4096;
/// Maximum number of outstanding segments: 180 MB of full ones.
const MAX_OUTSTANDING: usize = 1 << 17;
/// Maximum number of outstanding segments while no ACK of the sender's data has been seen.
pub(super) const MAX_UNANSWERED: usize = 1 << 9;
/// Longest time within which packets overtake each other, if no round trip is known.
const OVERTAKEN_WITHIN: Duration = Duration::from_millis(3);
/// Maximum number of runs of the recovery's timer before one event. Each waits for a part of the
/// round trip, so no real sender has more.
const MAX_TIMERS: u32 = 16;

impl RebuiltSender {
    /// Books a segment that was sent.
    pub(crate) fn on_data(&mut self, seen: &SeenData) -> DataDigest {
        self.catch_up(seen.at, true);
        let mut digest = DataDigest::default();
        let len = u64::from(seen.payload) + u64::from(seen.fin);
        let end = seen.start + len;
        if self.is_probe(seen, end) {
            digest.probe = true;
            return digest;
        }
        if seen.start < self.core.nxt() && self.is_overtaken(seen, end) {
            digest.overtaken = true;
            digest.fresh = seen.payload.into();
            return digest;
        }
        if seen.start < self.core.nxt() {
            digest.retransmission = Some(self.on_retransmission(seen, end.min(self.core.nxt())));
        }
        if end > self.core.nxt() {
            self.check_answer(seen.at, u64::from(seen.payload));
            if seen.start > self.core.nxt().max(1) {
                self.evidence.note_hole(seen.at, self.core.nxt().max(1), seen.start);
            }
            digest.unseen = self.book_unseen(seen.at, seen.start);
            digest.fresh = self.book_fresh(seen, end);
            self.forget_unanswered();
            self.check_outstanding();
        }
        digest
    }

    /// Books an ACK that gets to the sender. Also returns the number of acknowledged bytes that the
    /// capture has not shown.
    #[inline]
    pub(crate) fn on_seen_ack(
        &mut self,
        ack: Acknowledgement<'_>,
        window: Option<u64>,
    ) -> (AckDigest, u64) {
        self.catch_up(ack.now, false);
        let advances = ack.una > self.core.una();
        self.note_stop(advances);
        self.is_answered |= advances;
        let unseen = self.book_unseen(ack.now, ack.una);
        (self.on_ack(ack, window), unseen)
    }

    /// Books all data up to `end`, sent at `at`, before the sender was rebuilt.
    pub(crate) fn book_before(&mut self, at: Instant, end: u64) {
        self.core.write_up_to(self.core.written().max(end));
        self.book_or_jump(at, end);
    }

    /// Runs the timer of recovery as often as it was due before `now`, or also at `now` if
    /// `inclusive`.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Instant, inclusive: bool) {
        if self.overdue_timer(now, inclusive).is_some() {
            self.run_recovery_timers(now, inclusive);
        }
    }

    /// Returns when the timer of recovery was due, if before `now`, or also at `now` if
    /// `inclusive`.
    #[inline]
    fn overdue_timer(&mut self, now: Instant, inclusive: bool) -> Option<Instant> {
        let due = self.core.recovery_deadline_by(now, &self.path);
        due.filter(|&at| at < now || inclusive && at == now)
    }

    #[cold]
    fn run_recovery_timers(&mut self, now: Instant, inclusive: bool) {
        for _ in 0..MAX_TIMERS {
            let Some(at) = self.overdue_timer(now, inclusive) else { return };
            self.run_recovery_timer(at);
        }
    }

    /// Returns true for a keep-alive, which repeats the last acknowledged byte or none, and for a
    /// probe of a shut window, which has one byte.
    fn is_probe(&self, seen: &SeenData, end: u64) -> bool {
        let small = seen.payload <= 1 && !seen.fin;
        let alive =
            end <= self.core.una() && seen.start + 1 >= self.core.una() && self.core.una() > 0;
        let shut = self.core.window() == 0 && seen.start >= self.core.una() && self.core.una() > 0;
        small && (alive || shut)
    }

    /// Returns true if the segment fills a hole too soon for a retransmission. A retransmission
    /// takes a round trip, which is much longer than the time between the hole and its filling.
    /// Hosts and switches do not keep packets back for long.
    fn is_overtaken(&self, seen: &SeenData, end: u64) -> bool {
        let rtt = self.min_rtt();
        let least = if rtt == Duration::MAX { OVERTAKEN_WITHIN } else { rtt * 3 / 4 };
        seen.start >= self.core.una() && self.evidence.is_overtaken(seen.at, seen.start, end, least)
    }

    /// Notes whether the last sending stopped because of the window, or for lack of data.
    #[inline(always)]
    pub(super) fn note_stop(&mut self, advances: bool) {
        let mss = self.core.mss();
        let waiting = self.core.board().waiting() > 0;
        let new_data = self.new_data_waits();
        let allowance = self.allowance();
        if !waiting {
            self.path.on_send_stopped(SendLimit::window_if(new_data && allowance < mss));
        }
        self.note_left(allowance, advances);
    }

    /// Books the data before `start`, which was sent without being seen.
    #[inline]
    pub(super) fn book_unseen(&mut self, at: Instant, start: u64) -> u64 {
        if start <= self.core.nxt() { 0 } else { self.book_gap(at, start) }
    }

    /// Books data up to `start` that the capture has not shown as sent. Returns the number of its
    /// bytes.
    #[cold]
    fn book_gap(&mut self, at: Instant, start: u64) -> u64 {
        let before = self.core.nxt();
        if before == 0 {
            self.book_new(at, 1, 0);
        }
        self.core.write_up_to(self.core.written().max(start));
        self.book_or_jump(at, start);
        self.core.nxt().saturating_sub(before.max(1))
    }

    /// Books the data before `end`, unless that is more than a window holds.
    fn book_or_jump(&mut self, at: Instant, end: u64) {
        if end.saturating_sub(self.core.nxt()) > MAX_UNSEEN * self.core.mss() {
            self.jump_to(end);
        } else {
            self.book_up_to(at, end, false);
        }
    }

    /// Forgets the older half of the outstanding data. More is outstanding than any window holds,
    /// so its ACKs are not captured.
    fn forget_unanswered(&mut self) {
        let most = if self.is_answered { MAX_OUTSTANDING } else { MAX_UNANSWERED };
        if self.core.board().len() < most {
            return;
        }
        self.core.forget_first(&mut self.path, most / 2);
    }

    /// Moves the sender to `offset`, as if everything before was acknowledged, because more is
    /// missing than any window holds.
    fn jump_to(&mut self, offset: u64) {
        self.core.jump_to(&mut self.path, offset);
    }

    /// Books data that is sent for the first time, up to `end`. Data with PSH that ends with a
    /// segment below the MSS is all that the application has written, unless the window ends there.
    /// Returns the number of new bytes.
    fn book_fresh(&mut self, seen: &SeenData, end: u64) -> u64 {
        let data_end = end - u64::from(seen.fin);
        self.core.write_up_to(self.core.written().max(data_end));
        let is_cut = seen.push && u64::from(seen.payload) % self.core.mss() != 0;
        self.set_ended(seen.fin || is_cut && data_end < self.core.window_edge());
        let fresh = data_end.saturating_sub(self.core.nxt());
        if seen.fin {
            self.core.request_fin();
        }
        self.book_up_to(seen.at, data_end, seen.fin);
        fresh
    }

    /// Books new data up to `end` in segments, as offload sends them; the last one may have the
    /// FIN.
    fn book_up_to(&mut self, at: Instant, end: u64, fin: bool) {
        loop {
            let left = end.saturating_sub(self.core.nxt());
            let payload = left.min(self.core.mss());
            let last = payload == left;
            let len = payload + u64::from(fin && last);
            if len > 0 {
                self.book_new(at, len, payload);
            }
            if last {
                return;
            }
        }
    }

    /// Books the retransmission of `[seen.start, end)`.
    fn on_retransmission(&mut self, seen: &SeenData, end: u64) -> Retransmission {
        let at = seen.at;
        let outstanding = self.core.board().outstanding();
        let phase = self.phase();
        let start = seen.start.max(self.core.una());
        let known = start < end && !self.core.board().is_empty();
        let (mut spared_by, mut last_sent) = (None, None);
        let (kind, expected) = if known {
            let mut index = self.core.cut_out(start, end);
            last_sent = self.core.board().segment(index).map(|segment| segment.sent_at);
            let (kind, expected) = self.classify_retransmission(at, index, end);
            self.count_foreseen(expected);
            spared_by = (kind == RetransmissionKind::Timeout).then_some(self.evidence.spared_now);
            while self.core.board().segment(index).is_some_and(|s| s.start < end) {
                self.book_retransmission(at, index, seen.stamp);
                index += 1;
            }
            self.evidence.on_retransmission(at, kind, self.core.nxt());
            (kind, expected)
        } else {
            // All of it was acknowledged: the ACK was still on its way to the sender.
            let kind = match self.is_answer(at) {
                true => RetransmissionKind::Recovery,
                false => RetransmissionKind::Timeout,
            };
            (kind, false)
        };
        let found_in = match kind {
            RetransmissionKind::TailProbe => phase,
            _ => self.evidence.found_in,
        };
        Retransmission {
            at,
            last_sent,
            start: seen.start,
            seq: seen.seq,
            len: seen.payload,
            kind,
            phase: found_in,
            spared_by,
            outstanding,
            expected,
            predicted: false,
        }
    }

    /// Returns the kind of a retransmission of the segment at `index`, and whether the sender was
    /// expected to send it.
    fn classify_retransmission(
        &mut self,
        at: Instant,
        index: usize,
        end: u64,
    ) -> (RetransmissionKind, bool) {
        use RetransmissionKind::{Fast, TailProbe, Timeout};
        let answer = self.is_answer(at);
        let overdue = !answer && self.is_overdue(at);
        if self.core.una() == 0 || overdue || !answer && self.is_timer_due(at) {
            self.time_out(at);
            return (Timeout, !overdue);
        }
        let last = end >= self.core.nxt();
        if last && self.is_probe_due(at) {
            return (TailProbe, true);
        }
        let segment = self.core.board().segment(index).copied();
        if segment.is_some_and(|s| s.is_lost() && !s.is_retransmission_in_flight()) {
            return (self.evidence.next_kind(), true);
        }
        if !answer && (!self.is_repairing() || self.is_silent(at)) {
            if last && self.looks_like_probe(at) {
                return (TailProbe, false);
            }
            self.time_out(at);
            return (Timeout, false);
        }
        if self.core.would_repair(&self.path, index, self.may_send()) {
            return (self.evidence.next_kind(), true);
        }
        self.core.mark_lost(index);
        if self.is_repairing() {
            return (self.evidence.next_kind(), false);
        }
        self.evidence.guess_fast(at, self.core.una(), self.phase());
        (Fast, false)
    }

    fn is_repairing(&self) -> bool {
        self.evidence.repairs_timeout(self.core.una())
            || self.evidence.is_fast(self.core.una())
            || self.core.recovering() && self.evidence.episode == Episode::Fast
    }

    /// Returns true if the rebuilt sender would have retransmitted long ago. Then the captured
    /// sender does not know of the loss, or repairs by its timer alone.
    fn is_overdue(&self, at: Instant) -> bool {
        self.core.board().waiting() > 0 && self.is_silent(at)
    }

    /// Returns true if for longer than a round trip there was neither an ACK nor a retransmission.
    fn is_silent(&self, at: Instant) -> bool {
        let last = self.evidence.last_act.max(self.evidence.last_ack);
        let since = last.map_or(Duration::ZERO, |last| at.saturating_since(last));
        since > self.srtt() + Duration::from_millis(4)
    }

    /// Returns true if an event at `at` answers the last ACK: it is sooner than another ACK would
    /// be.
    pub(super) fn is_answer(&self, at: Instant) -> bool {
        let window = (self.srtt() / 8).clamp(Duration::from_micros(300), Duration::from_millis(5));
        self.evidence.last_ack.is_some_and(|ack| at.saturating_since(ack) <= window)
    }

    /// Returns true if the retransmission timer has run out, or is about to: senders' clocks are
    /// coarse.
    fn is_timer_due(&self, at: Instant) -> bool {
        let slack = (self.rto() / 8).max(Duration::from_millis(2));
        self.core.retransmission_deadline().is_some_and(|due| at + slack >= due)
    }

    /// Returns true if the recovery asks for a tail-loss probe, or is about to.
    fn is_probe_due(&mut self, at: Instant) -> bool {
        if self.core.take_probe() {
            return true;
        }
        let slack = (self.srtt() / 4).max(Duration::from_millis(4));
        if self.core.board().waiting() == 0
            && let Some(due) = self.recovery_timeout()
            && at + slack >= due
        {
            self.run_recovery_timer(at);
        }
        self.core.take_probe()
    }

    /// Returns true if the time alone suggests a probe, for a sender whose recovery has none or
    /// forgot it.
    fn looks_like_probe(&self, at: Instant) -> bool {
        self.has_probes
            && self.core.terms().sack
            && self.core.board().sacked() == 0
            && self.waited_for_probe(at)
    }

    /// Returns true if no ACK was received for longer than a probe waits, two round trips.
    pub(super) fn waited_for_probe(&self, at: Instant) -> bool {
        let sent = self.core.last_sent();
        let last = sent.max(self.evidence.last_ack);
        let since = last.map_or(Duration::ZERO, |last| at.saturating_since(last));
        !self.srtt().is_zero() && since >= self.srtt() * 2
    }
}
