//! What leaves: new data and retransmissions, booked as the core books them.

use super::RebuiltSender;
use policy::recovery::SentInfo;
use policy::startup::PendingData;
use segment::Segment;
use units::Instant;

impl RebuiltSender {
    /// New sequence space `[nxt, nxt + len)` leaves, `payload` bytes of it data.
    pub(super) fn book_new(&mut self, now: Instant, len: u64, payload: u64) {
        self.path.set_now(now);
        if payload > 0 {
            self.resume(now, payload);
        }
        let start = self.nxt;
        let order = self.path.next_order();
        self.mark_sent(now);
        self.board.push(start, len as u32, (now, order));
        self.nxt = start + len;
        if payload > 0 && len < self.terms.mss {
            self.small_until = self.nxt;
        }
        if self.timed.is_none() {
            self.timed = Some((self.nxt, now));
        }
        self.tell_sent(now, (len, self.nxt), payload, false);
    }

    /// Data is about to leave, `payload` bytes at least; where nothing is under way, after idling.
    pub(super) fn resume(&mut self, now: Instant, payload: u64) {
        if self.board.is_empty() && self.path.bytes_in_flight() == 0 {
            let rto = self.path.rtt.rto(self.backoff);
            let bytes = self.written.saturating_sub(self.nxt).max(payload);
            let admitted = self.window_edge().saturating_sub(self.nxt);
            self.path.on_sending_resumed(now, rto, PendingData { bytes, admitted, announced: 0 });
        }
    }

    /// The segment at `index` leaves again, with this timestamp.
    pub(super) fn book_again(&mut self, now: Instant, index: usize, stamp: Option<u32>) {
        let Some(segment) = self.board.segment(index).copied() else { return };
        self.path.set_now(now);
        let order = self.path.next_order();
        self.mark_sent(now);
        self.board.retransmit(index, (now, order));
        if self.timed.is_some_and(|(timed, _)| timed == segment.end()) {
            self.timed = None;
        }
        let len = u64::from(segment.len);
        self.tell_sent(now, (len, segment.end()), len, true);
        if self.retransmit_stamp.is_none() && self.recovery.has_sent_again() {
            self.retransmit_stamp = stamp;
        }
    }

    #[inline]
    pub(super) fn mark_sent(&mut self, now: Instant) {
        if self.path.is_metered() {
            let marks = self.marks.get_or_insert_default();
            self.path.mark_sent(now, self.board.is_empty(), marks);
        }
    }

    /// Tells the path of a segment with so many bytes of payload, of which some are new.
    #[inline(always)]
    pub(super) fn tell_path(&mut self, now: Instant, bytes: u32, fresh: u64) {
        let wire_bytes = || Segment { len: bytes, ..Segment::default() }.wire_bytes();
        self.path.on_payload_sent(now, bytes, fresh, wire_bytes);
    }

    /// Tells path and recovery of a segment of `len` that ends at `end`.
    #[inline(always)]
    fn tell_sent(&mut self, now: Instant, (len, end): (u64, u64), payload: u64, again: bool) {
        let fresh = if again { 0 } else { payload };
        self.tell_path(now, payload as u32, fresh);
        let (srtt, rto) = (self.path.rtt.srtt(), self.path.rtt.rto(self.backoff));
        let info = SentInfo { now, len, end, retransmission: again, srtt, rto };
        if again {
            self.recovery.on_sent(&info);
            self.note_recovery();
        } else {
            self.recovery_due = self.recovery.on_new_data(&info);
        }
        if self.rto_at == Instant::FAR_FUTURE {
            self.restart_timer(now);
        }
        self.settle_in_flight();
    }
}
