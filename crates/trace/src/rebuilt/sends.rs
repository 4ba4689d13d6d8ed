//! Sent segments: new data and retransmissions, booked as the core books them.

use super::RebuiltSender;
use policy::startup::PendingData;
use segment::Segment;
use sender::{LeavingSegment, StampClock};
use units::Instant;

impl RebuiltSender {
    /// Books new sequence space `[nxt, nxt + len)` with `payload` bytes of data.
    pub(super) fn book_new(&mut self, now: Instant, len: u64, payload: u64) {
        self.path.set_now(now);
        if payload > 0 {
            self.resume(now, payload);
        }
        let leaving = LeavingSegment { now, start: self.core.nxt(), len, index: None };
        self.core.book(&mut self.path, &leaving);
        if payload > 0 && len < self.core.mss() {
            self.note_small(self.core.nxt());
        }
        self.notify_path(now, payload as u32, payload);
        self.core.note_left(&mut self.path, &leaving, None);
    }

    /// Notes a sent segment that is not full, and ends at `end`. One that fills the receiver's
    /// window is small for that reason.
    pub(super) fn note_small(&mut self, end: u64) {
        if end < self.core.window_edge() {
            self.core.note_small(end);
        }
    }

    /// Prepares to send data, `payload` bytes at least; if nothing is in flight, after an idle
    /// time.
    pub(super) fn resume(&mut self, now: Instant, payload: u64) {
        if self.core.board().is_empty() && self.path.bytes_in_flight() == 0 {
            let rto = self.rto();
            let bytes = self.core.written().saturating_sub(self.core.nxt()).max(payload);
            let admitted = self.core.window_edge().saturating_sub(self.core.nxt());
            self.path.on_sending_resumed(now, rto, PendingData { bytes, admitted, announced: 0 });
        }
    }

    /// Books a retransmission of the segment at `index`, with this timestamp.
    pub(super) fn book_retransmission(&mut self, now: Instant, index: usize, stamp: Option<u32>) {
        let Some(segment) = self.core.board().segment(index).copied() else { return };
        self.path.set_now(now);
        let (start, len) = (segment.start, u64::from(segment.len));
        let leaving = LeavingSegment { now, start, len, index: Some(index) };
        self.core.book(&mut self.path, &leaving);
        self.notify_path(now, segment.len, 0);
        let clock = stamp.map(|value| StampClock { value, at: now });
        self.core.note_left(&mut self.path, &leaving, clock);
    }

    /// Notifies the path of a segment with `bytes` of payload, `fresh` of them new.
    #[inline(always)]
    pub(super) fn notify_path(&mut self, now: Instant, bytes: u32, fresh: u64) {
        let wire_bytes = || Segment { len: bytes, ..Segment::default() }.wire_bytes();
        self.path.on_payload_sent(now, bytes, fresh, wire_bytes);
    }
}
