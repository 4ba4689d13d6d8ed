//! The driver of senders whose data the capture shows: packets decide, the rebuilt sender explains.
//!
//! The retransmission timer never acts by itself here: a timeout happens when the packet that it sends is
//! seen. The timer of recovery acts, because what it marks lost shows in the window.

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

/// What a segment with data was found to be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataDigest {
    /// New payload.
    pub(crate) fresh: u64,
    /// Payload before it that the capture has not shown.
    pub(crate) unseen: u64,
    /// It was sent before.
    pub(crate) again: Option<Retransmission>,
    /// A keep-alive or a probe of a shut window.
    pub(crate) probe: bool,
    /// Others of the same sender had overtaken it before the capture.
    pub(crate) overtaken: bool,
}

/// Segments that are booked without being seen: more than that is no window.
const MOST_UNSEEN: u64 = 4096;
/// Segments that are outstanding at most: 180 MB of full ones.
const MOST_OUTSTANDING: usize = 1 << 17;
/// The same while no ACK of its data has been seen.
pub(super) const MOST_UNANSWERED: usize = 1 << 9;
/// Packets overtake each other within so much, where no round trip is known.
const OVERTAKEN_WITHIN: Duration = Duration::from_millis(3);
/// Runs of the recovery's timer before one event; each waits a round trip's part, so more are no sender's.
const MOST_TIMERS: u32 = 16;

impl RebuiltSender {
    /// A segment leaves.
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
            digest.again = Some(self.on_again(seen, end.min(self.core.nxt())));
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

    /// An ACK reaches the sender. Answers, too, how much it acknowledges that the capture has not
    /// shown.
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

    /// All up to `end` was sent at `at`, before the sender was rebuilt.
    pub(crate) fn book_before(&mut self, at: Instant, end: u64) {
        self.core.write_up_to(self.core.written().max(end));
        self.book_or_jump(at, end);
    }

    /// Runs the timer of recovery as often as it was due before `now`, or at `now` too.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Instant, inclusive: bool) {
        if self.overdue(now, inclusive).is_some() {
            self.run_recovery_timers(now, inclusive);
        }
    }

    /// When the timer of recovery was due before `now`, or is at `now` too.
    #[inline]
    fn overdue(&mut self, now: Instant, inclusive: bool) -> Option<Instant> {
        let due = self.core.recovery_deadline_by(now, &self.path);
        due.filter(|&at| at < now || inclusive && at == now)
    }

    #[cold]
    fn run_recovery_timers(&mut self, now: Instant, inclusive: bool) {
        for _ in 0..MOST_TIMERS {
            let Some(at) = self.overdue(now, inclusive) else { return };
            self.run_recovery_timer(at);
        }
    }

    /// Keep-alives repeat the last byte acknowledged or none; probes of a shut window bring one byte.
    fn is_probe(&self, seen: &SeenData, end: u64) -> bool {
        let small = seen.payload <= 1 && !seen.fin;
        let alive =
            end <= self.core.una() && seen.start + 1 >= self.core.una() && self.core.una() > 0;
        let shut = self.core.window() == 0 && seen.start >= self.core.una() && self.core.una() > 0;
        small && (alive || shut)
    }

    /// The segment fills a hole too soon for a retransmission: that takes a round trip, of which nothing lies
    /// between the hole and its filling next to the sender. Hosts and switches do not keep packets back for
    /// long.
    fn is_overtaken(&self, seen: &SeenData, end: u64) -> bool {
        let rtt = self.min_rtt();
        let least = if rtt == Duration::MAX { OVERTAKEN_WITHIN } else { rtt * 3 / 4 };
        seen.start >= self.core.una() && self.evidence.is_overtaken(seen.at, seen.start, end, least)
    }

    /// The last sending ended because of the window, or because there was no more.
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

    /// What lies before `start` was sent without being seen.
    #[inline]
    pub(super) fn book_unseen(&mut self, at: Instant, start: u64) -> u64 {
        if start <= self.core.nxt() { 0 } else { self.book_gap(at, start) }
    }

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

    /// Books what lies before `end`, unless that is more than a window holds.
    fn book_or_jump(&mut self, at: Instant, end: u64) {
        if end.saturating_sub(self.core.nxt()) > MOST_UNSEEN * self.core.mss() {
            self.jump_to(end);
        } else {
            self.book_up_to(at, end, false);
        }
    }

    /// More is outstanding than any window holds: its ACKs are not captured. The older half is forgotten.
    fn forget_unanswered(&mut self) {
        let most = if self.is_answered { MOST_OUTSTANDING } else { MOST_UNANSWERED };
        if self.core.board().len() < most {
            return;
        }
        self.core.forget_first(&mut self.path, most / 2);
    }

    /// More is missing than any window holds: the sender goes on behind it, as if all was acknowledged.
    fn jump_to(&mut self, offset: u64) {
        self.core.jump_to(&mut self.path, offset);
    }

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

    /// Books new data up to `end` in segments, as offload sends them; the last of them may have the FIN.
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

    /// `[seen.start, end)` was sent before.
    fn on_again(&mut self, seen: &SeenData, end: u64) -> Retransmission {
        let at = seen.at;
        let outstanding = self.core.board().outstanding();
        let phase = self.phase();
        let start = seen.start.max(self.core.una());
        let known = start < end && !self.core.board().is_empty();
        let (mut spared_by, mut last_sent) = (None, None);
        let (kind, expected) = if known {
            let mut index = self.core.cut_out(start, end);
            last_sent = self.core.board().segment(index).map(|segment| segment.sent_at);
            let (kind, expected) = self.judge(at, index, end);
            self.count_foreseen(expected);
            spared_by = (kind == RetransmissionKind::Timeout).then_some(self.evidence.spared_now);
            while self.core.board().segment(index).is_some_and(|s| s.start < end) {
                self.book_again(at, index, seen.stamp);
                index += 1;
            }
            self.evidence.on_retransmission(at, kind, self.core.nxt());
            (kind, expected)
        } else {
            // All of it was acknowledged: the ACK was under way.
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

    /// Why the segment at `index` leaves again, and whether the sender was expected to send it.
    fn judge(&mut self, at: Instant, index: usize, end: u64) -> (RetransmissionKind, bool) {
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

    /// The rebuilt sender would have sent something again long ago: this one does not know of the loss, or
    /// repairs by its timer alone.
    fn is_overdue(&self, at: Instant) -> bool {
        self.core.board().waiting() > 0 && self.is_silent(at)
    }

    /// For longer than a round trip neither an ACK came nor anything was sent again.
    fn is_silent(&self, at: Instant) -> bool {
        let last = self.evidence.last_act.max(self.evidence.last_ack);
        let since = last.map_or(Duration::ZERO, |last| at.saturating_since(last));
        since > self.srtt() + Duration::from_millis(4)
    }

    /// What happens at `at` answers the last ACK: sooner than another would come.
    pub(super) fn is_answer(&self, at: Instant) -> bool {
        let window = (self.srtt() / 8).clamp(Duration::from_micros(300), Duration::from_millis(5));
        self.evidence.last_ack.is_some_and(|ack| at.saturating_since(ack) <= window)
    }

    /// The retransmission timer has run out, or is about to: senders' clocks are coarse.
    fn is_timer_due(&self, at: Instant) -> bool {
        let slack = (self.rto() / 8).max(Duration::from_millis(2));
        self.core.retransmission_deadline().is_some_and(|due| at + slack >= due)
    }

    /// The recovery asks for a tail-loss probe, or is about to.
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

    /// A probe by its time alone, of a sender whose recovery has none or forgot it.
    fn looks_like_probe(&self, at: Instant) -> bool {
        self.has_probes
            && self.core.terms().sack
            && self.core.board().sacked() == 0
            && self.waited_for_probe(at)
    }

    /// Nothing was heard for longer than a probe waits, two round trips.
    pub(super) fn waited_for_probe(&self, at: Instant) -> bool {
        let sent = self.core.last_sent();
        let last = sent.max(self.evidence.last_ack);
        let since = last.map_or(Duration::ZERO, |last| at.saturating_since(last));
        !self.srtt().is_zero() && since >= self.srtt() * 2
    }
}
