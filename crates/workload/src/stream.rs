//! The meaning of a connection's bytes, beside the bytes.
//!
//! Only byte counts cross a simulated network. So the writer also describes its bytes by a
//! [`Span`], and the driver gives that to the other end *when it is written*. The other end uses it
//! only as the bytes are received, in order. Under HTTP/3 each stream has an order of its own. On a
//! real wire no span is passed: a parser of the received bytes announces the same spans, each when
//! its header is readable.

use crate::page::ObjectId;
use std::collections::VecDeque;
use std::ops::Range;

/// Meaning of a stretch of a connection's bytes.
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
    /// Bytes that either side sends before its first request or response: the client's TLS
    /// Finished, the settings of HTTP/2.
    Opening,
    /// A request for an object.
    Request(ObjectId),
    /// A part of an object's response: all of it, or one frame or record.
    Response(ObjectId),
}

impl SpanContent {
    /// Whether the span is part of no request or response, and bytes after it need it. They are
    /// encrypted by keys of TLS, and a server takes no request before the client's Finished (RFC
    /// 9001 §5.7).
    const fn is_handshake(self) -> bool {
        !matches!(self, Self::Request(_) | Self::Response(_))
    }
}

/// A stretch of consecutive bytes written to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Meaning of the bytes.
    pub content: SpanContent,
    /// Number of bytes. 0 only for a request that costs no trip.
    pub bytes: u64,
    /// Number of its first bytes that are framing and not header or body of HTTP. TLS puts part of
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

/// Delivery of a span, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanArrival {
    pub(crate) content: SpanContent,
    /// Payload that is new with this arrival.
    pub(crate) payload: u64,
    /// True if this was the last of the span.
    pub(crate) complete: bool,
}

/// A span that was announced and not received whole.
#[derive(Clone, Copy, Debug)]
struct Announced {
    span: Span,
    /// Stream offset of its first byte.
    start: u64,
    /// Stream offset up to which arrivals were reported.
    reported: u64,
}

impl Announced {
    const fn end(&self) -> u64 {
        self.start + self.span.bytes
    }

    const fn payload_at(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.start + self.span.overhead)
    }
}

/// The receiving end of one direction: matches delivered bytes with their meaning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    /// Each request and response is a stream, which waits for its own bytes only.
    has_streams: bool,
    announced: VecDeque<Announced>,
    /// Stream offset behind the last announced span.
    end: u64,
    /// Bytes delivered in order.
    total: u64,
    /// Ranges received behind the first gap, ascending.
    beyond: Vec<Range<u64>>,
}

impl Inbox {
    /// The inbox of a connection on which each request and response is a stream of its own, or all
    /// are one.
    pub(crate) fn new(has_streams: bool) -> Self {
        Self { has_streams, ..Self::default() }
    }

    pub(crate) fn announce(&mut self, span: Span) {
        self.announced.push_back(Announced { span, start: self.end, reported: self.end });
        self.end += span.bytes;
    }

    /// Records `total` bytes delivered in order since the connection began; a smaller total than
    /// before changes nothing.
    pub(crate) fn on_total(&mut self, total: u64) {
        self.total = self.total.max(total);
    }

    /// Sets the ranges that were received after the first gap.
    pub(crate) fn set_beyond(&mut self, beyond: Vec<Range<u64>>) {
        self.beyond = beyond;
    }

    pub(crate) fn poll(&mut self) -> Option<SpanArrival> {
        let mut held: Vec<SpanContent> = Vec::new();
        for index in 0..self.announced.len() {
            let content = self.announced[index].span.content;
            // Order remains within a stream.
            if !held.contains(&content) {
                if let Some(arrival) = self.arrival_of(index) {
                    return Some(arrival);
                }
                if !self.has_streams || content.is_handshake() {
                    return None;
                }
                held.push(content);
            }
        }
        None
    }

    /// Returns the new bytes of a span.
    fn arrival_of(&mut self, index: usize) -> Option<SpanArrival> {
        let announced = self.announced[index];
        let reached = self.arrived_until(announced.reported).min(announced.end());
        let complete = reached == announced.end();
        if reached <= announced.reported && !complete {
            return None;
        }
        let payload = announced.payload_at(reached) - announced.payload_at(announced.reported);
        if complete {
            self.announced.remove(index);
        } else {
            self.announced[index].reported = reached;
        }
        Some(SpanArrival { content: announced.span.content, payload, complete })
    }

    /// End of the bytes received without a gap from `offset` on; `offset` itself if there are none.
    fn arrived_until(&self, offset: u64) -> u64 {
        if offset < self.total || !self.has_streams {
            return self.total;
        }
        let covers = |range: &&Range<u64>| range.contains(&offset);
        self.beyond.iter().find(covers).map_or(offset, |range| range.end)
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

    /// Receives bytes behind a gap, and returns the arrivals that are polled then.
    fn behind_a_gap(has_streams: bool, first: SpanContent) -> Vec<SpanArrival> {
        let mut inbox = Inbox::new(has_streams);
        for span in [
            Span::new(first, 100, 0),
            Span::new(B, 50, 9),
            Span::new(first, 10, 0),
            Span::new(B, 20, 9),
        ] {
            inbox.announce(span);
        }
        inbox.on_total(60);
        inbox.set_beyond(vec![100..140, 145..180]);
        std::iter::from_fn(|| inbox.poll()).collect()
    }

    #[test]
    fn streams_wait_for_their_own_bytes_only_and_keep_their_order() {
        let first = SpanArrival { content: A, payload: 60, complete: false };
        // B's first 40 bytes, 9 of framing. Its last 20 wait for 5 bytes of its own, A's last 10
        // for A.
        let second = SpanArrival { content: B, payload: 31, complete: false };
        assert_eq!(behind_a_gap(true, A), [first, second]);
        assert_eq!(behind_a_gap(false, A), [first]);
    }

    #[test]
    fn nothing_passes_a_handshake() {
        for content in [SpanContent::ClientHello, SpanContent::ServerFlight, SpanContent::Opening] {
            let first = SpanArrival { content, payload: 60, complete: false };
            assert_eq!(behind_a_gap(true, content), [first]);
        }
    }

    #[test]
    fn what_came_behind_a_gap_is_reported_once() {
        let mut inbox = Inbox::new(true);
        inbox.announce(Span::new(A, 100, 0));
        inbox.announce(Span::new(B, 50, 0));
        inbox.set_beyond(vec![100..150; 1]);
        assert_eq!(inbox.poll(), arrived(B, 50, true));
        assert_eq!(inbox.poll(), None);
        inbox.on_total(150);
        assert_eq!(inbox.poll(), arrived(A, 100, true));
        assert_eq!(inbox.poll(), None);
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
