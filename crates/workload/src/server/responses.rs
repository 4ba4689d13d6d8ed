//! The responses a connection owes, and whose frame is next.

use crate::page::{Object, ObjectId};
use crate::stream::{Span, SpanContent};
use crate::{Protocol, ServerModel};
use std::collections::VecDeque;
use units::Instant;

/// Next span to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextSpan {
    pub(super) span: Span,
    /// A response begins with it.
    pub(super) begins: bool,
    /// A response ends with it.
    pub(super) ends: bool,
}

#[derive(Clone, Debug)]
struct Response {
    object: ObjectId,
    urgency: u8,
    ready_at: Instant,
    ready: bool,
    header_left: u64,
    body_left: u64,
    has_started: bool,
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

    /// Processes a delivered request for `object`; the server starts to think.
    pub(super) fn begin(&mut self, now: Instant, id: ObjectId, object: &Object) {
        let (header_left, body_left) = self.protocol.header_and_body(object);
        self.owed.push_back(Response {
            object: id,
            urgency: object.kind.urgency(),
            ready_at: now + object.server_wait,
            ready: object.server_wait.is_zero(),
            header_left,
            body_left,
            has_started: false,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.owed.is_empty()
    }

    /// Whether a response could be written now.
    pub(super) fn has_ready(&self) -> bool {
        self.next_index().is_some()
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.owed.iter().filter(|r| !r.ready).map(|r| r.ready_at).min()
    }

    /// Marks responses as ready whose think time is over by `now`.
    pub(super) fn release(&mut self, now: Instant) {
        for response in &mut self.owed {
            response.ready |= response.ready_at <= now;
        }
    }

    /// The next frame.
    pub(super) fn next_span(&mut self) -> Option<NextSpan> {
        let index = self.next_index()?;
        let mut response = self.owed.remove(index)?;
        let payload = self.protocol.next_frame(response.header_left, response.body_left);
        let begins = !std::mem::replace(&mut response.has_started, true);
        response.take(payload);
        let ends = response.is_written();
        let content = SpanContent::Response(response.object);
        if !ends {
            self.put_back(index, response);
        }
        let overhead = self.protocol.framing();
        let span = Span::new(content, payload.saturating_add(overhead), overhead);
        Some(NextSpan { span, begins, ends })
    }

    /// HTTP/1.x owes the oldest response first, even if a later one is ready. HTTP/2 picks the most
    /// urgent of those ready, and among equals the one whose turn was longest ago. nginx has all of
    /// a response in its queue before the next one.
    fn next_index(&self) -> Option<usize> {
        if !self.protocol.interleaves() {
            return self.owed.front().filter(|r| r.ready).map(|_| 0);
        }
        let ready = self.owed.iter().enumerate().filter(|(_, r)| r.ready);
        if self.protocol.server == ServerModel::Nginx {
            return ready.min_by_key(|(_, r)| (!r.has_started, r.ready_at)).map(|(index, _)| index);
        }
        ready.min_by_key(|(_, r)| r.urgency).map(|(index, _)| index)
    }

    fn put_back(&mut self, index: usize, response: Response) {
        if self.protocol.interleaves() && self.protocol.server == ServerModel::Builtin {
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
