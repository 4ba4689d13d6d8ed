//! The responses a connection owes, and whose frame is next.

use crate::Protocol;
use crate::page::{Object, ObjectId};
use crate::stream::{Span, SpanContent};
use std::collections::VecDeque;
use units::Instant;

#[derive(Clone, Debug)]
struct Response {
    object: ObjectId,
    urgency: u8,
    ready_at: Instant,
    ready: bool,
    header_left: u64,
    body_left: u64,
}

/// Responses in order of request; under HTTP/2 the order of turns.
#[derive(Clone, Debug)]
pub(super) struct Responses {
    protocol: Protocol,
    owed: VecDeque<Response>,
}

impl Responses {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self { protocol, owed: VecDeque::new() }
    }

    /// A request for `object` has arrived; the server starts to think.
    pub(super) fn begin(&mut self, now: Instant, id: ObjectId, object: &Object) {
        self.owed.push_back(Response {
            object: id,
            urgency: object.kind.urgency(),
            ready_at: now + object.server_wait,
            ready: object.server_wait.is_zero(),
            header_left: object.response_header_bytes,
            body_left: object.body_bytes,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.owed.is_empty()
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.owed.iter().filter(|r| !r.ready).map(|r| r.ready_at).min()
    }

    /// The server has done thinking about what is due by `now`.
    pub(super) fn release(&mut self, now: Instant) {
        for response in &mut self.owed {
            response.ready |= response.ready_at <= now;
        }
    }

    /// The next frame, and whether it ends its response.
    pub(super) fn next_span(&mut self) -> Option<(Span, bool)> {
        let index = self.next_index()?;
        let mut response = self.owed.remove(index)?;
        let payload = self.protocol.next_frame(response.header_left, response.body_left);
        response.take(payload);
        let last = response.is_written();
        let content = SpanContent::Response(response.object);
        if !last {
            self.put_back(index, response);
        }
        let overhead = self.protocol.framing();
        Some((Span::new(content, payload.saturating_add(overhead), overhead), last))
    }

    /// HTTP/1.x owes the oldest response first, even if a later one is ready. HTTP/2 picks the
    /// most urgent of those ready, and among equals the one whose turn was longest ago.
    fn next_index(&self) -> Option<usize> {
        if !self.protocol.interleaves() {
            return self.owed.front().filter(|r| r.ready).map(|_| 0);
        }
        let ready = self.owed.iter().enumerate().filter(|(_, r)| r.ready);
        ready.min_by_key(|(_, r)| r.urgency).map(|(index, _)| index)
    }

    fn put_back(&mut self, index: usize, response: Response) {
        if self.protocol.interleaves() {
            self.owed.push_back(response);
        } else {
            self.owed.insert(index, response);
        }
    }
}

impl Response {
    fn take(&mut self, payload: u64) {
        let header = payload.min(self.header_left);
        self.header_left -= header;
        self.body_left -= payload - header;
    }

    const fn is_written(&self) -> bool {
        self.header_left == 0 && self.body_left == 0
    }
}
