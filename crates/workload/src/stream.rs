//! What the bytes of a connection mean, said beside the bytes.
//!
//! Only byte counts cross a simulated network, so whoever writes to a connection also says what
//! it wrote, as a [`Span`], and the driver hands that to the other end *when it is written*; the
//! other end makes use of it only as the bytes arrive, in order. Over a real wire nothing is
//! handed over: a parser of what has arrived announces the same spans, each as soon as its header
//! is readable.

use crate::page::ObjectId;
use std::collections::VecDeque;

/// What a stretch of a connection's bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanContent {
    /// The client's TLS ClientHello.
    ClientHello,
    /// The server's TLS flight, ServerHello to Finished; in TLS 1.2 to ServerHelloDone.
    ServerFlight,
    /// TLS 1.2: the client's answer to that flight, its key exchange to Finished.
    ClientKeys,
    /// TLS 1.2: the server's Finished.
    ServerFinished,
    /// What either side sends unasked before its first request or response: the client's TLS
    /// Finished, the settings of HTTP/2.
    Opening,
    /// A request for an object.
    Request(ObjectId),
    /// A part of an object's response: all of it, or one frame or record.
    Response(ObjectId),
}

/// A stretch of consecutive bytes written to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What they are.
    pub content: SpanContent,
    /// How many. 0 only for a request that costs no trip.
    pub bytes: u64,
    /// How many of them, the first, are framing and not header or body of HTTP. TLS puts part of
    /// its overhead last; here a frame is usable byte for byte, as with small records.
    pub overhead: u64,
}

impl Span {
    pub(crate) const fn new(content: SpanContent, bytes: u64, overhead: u64) -> Self {
        Self { content, bytes, overhead }
    }

    /// Bytes of HTTP in it.
    pub const fn payload(&self) -> u64 {
        self.bytes.saturating_sub(self.overhead)
    }
}

/// A span, or some of it, has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanArrival {
    pub(crate) content: SpanContent,
    /// Payload that is new with this arrival.
    pub(crate) payload: u64,
    /// True if this was the last of the span.
    pub(crate) complete: bool,
}

/// The receiving end of one direction: matches the bytes that have arrived with their meaning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    announced: VecDeque<Span>,
    /// Stream offset of the first announced span.
    start: u64,
    /// Stream offset up to which arrivals were reported.
    reported: u64,
    /// Bytes that have arrived in order.
    total: u64,
}

impl Inbox {
    pub(crate) fn announce(&mut self, span: Span) {
        self.announced.push_back(span);
    }

    /// `total` bytes have arrived in order since the connection began; a smaller total than
    /// before says nothing new.
    pub(crate) fn on_total(&mut self, total: u64) {
        self.total = self.total.max(total);
    }

    pub(crate) fn poll(&mut self) -> Option<SpanArrival> {
        let span = *self.announced.front()?;
        let end = self.start + span.bytes;
        let reached = self.total.min(end);
        let complete = reached == end;
        if reached <= self.reported && !complete {
            return None;
        }
        let payload_before = self.payload_at(self.reported, span);
        let payload = self.payload_at(reached, span) - payload_before;
        self.reported = reached;
        if complete {
            self.announced.pop_front();
            self.start = end;
        }
        Some(SpanArrival { content: span.content, payload, complete })
    }

    const fn payload_at(&self, offset: u64, span: Span) -> u64 {
        offset.saturating_sub(self.start + span.overhead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SpanContent = SpanContent::Response(ObjectId(1));
    const B: SpanContent = SpanContent::Response(ObjectId(2));

    fn arrived(content: SpanContent, payload: u64, complete: bool) -> Option<SpanArrival> {
        Some(SpanArrival { content, payload, complete })
    }

    #[test]
    fn overhead_is_taken_off_the_front_and_spans_follow_one_another() {
        let mut inbox = Inbox::default();
        inbox.announce(Span::new(A, 109, 9));
        inbox.announce(Span::new(B, 59, 9));
        inbox.on_total(5);
        // 5 of 9 framing bytes: progress, but no payload.
        assert_eq!(inbox.poll(), arrived(A, 0, false));
        assert_eq!(inbox.poll(), None);
        inbox.on_total(30);
        assert_eq!(inbox.poll(), arrived(A, 21, false));
        inbox.on_total(119);
        // 100 - 21 left of A; then 10 bytes of B, 9 of them framing.
        assert_eq!(inbox.poll(), arrived(A, 79, true));
        assert_eq!(inbox.poll(), arrived(B, 1, false));
        assert_eq!(inbox.poll(), None);
        inbox.on_total(168);
        assert_eq!(inbox.poll(), arrived(B, 49, true));
        assert_eq!(inbox.poll(), None);
    }

    #[test]
    fn bytes_that_come_before_their_meaning_wait_for_it() {
        let mut inbox = Inbox::default();
        inbox.on_total(100);
        assert_eq!(inbox.poll(), None);
        inbox.announce(Span::new(A, 60, 0));
        assert_eq!(inbox.poll(), arrived(A, 60, true));
    }

    #[test]
    fn a_span_of_no_bytes_arrives_behind_those_before_it() {
        let mut inbox = Inbox::default();
        inbox.announce(Span::new(A, 10, 0));
        inbox.announce(Span::new(B, 0, 0));
        assert_eq!(inbox.poll(), None);
        inbox.on_total(10);
        assert_eq!(inbox.poll(), arrived(A, 10, true));
        assert_eq!(inbox.poll(), arrived(B, 0, true));
    }

    #[test]
    fn a_total_that_falls_changes_nothing() {
        let mut inbox = Inbox::default();
        inbox.announce(Span::new(A, 10, 0));
        inbox.on_total(6);
        assert_eq!(inbox.poll(), arrived(A, 6, false));
        inbox.on_total(3);
        assert_eq!(inbox.poll(), None);
    }
}
