//! One connection as the client sees it: opening, securing, requests.

use super::record::ConnectionRecord;
use crate::http::TLS12_CLIENT_KEYS;
use crate::page::{HostId, Object, ObjectId};
use crate::stream::{Inbox, Span, SpanContent};
use crate::{Protocol, Tls};
use units::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// TCP is connecting.
    Connecting,
    /// The ClientHello is out, the server's part of the handshake not in.
    Securing,
    /// Requests may be sent.
    Ready,
    /// Either side has closed.
    Closed,
}

#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) host: HostId,
    pub(super) stage: Stage,
    pub(super) inbox: Inbox,
    /// Objects requested and not delivered.
    pub(super) in_flight: Vec<ObjectId>,
    pub(super) record: ConnectionRecord,
    protocol: Protocol,
    asked: u32,
}

impl Connection {
    pub(super) fn new(
        now: Instant,
        host: HostId,
        protocol: Protocol,
        lookup: Option<Instant>,
    ) -> Self {
        let (opened, connected, ready, closed) = (now, None, None, None);
        let record = ConnectionRecord { host, lookup, opened, connected, ready, closed };
        Self {
            host,
            stage: Stage::Connecting,
            inbox: Inbox::new(protocol.has_streams()),
            in_flight: Vec::new(),
            record,
            protocol,
            asked: 0,
        }
    }

    /// The ClientHello to send, if there is TLS.
    pub(super) fn on_connected(&mut self, now: Instant) -> Option<Span> {
        if self.stage != Stage::Connecting {
            return None;
        }
        self.record.connected = Some(now);
        match self.protocol.tls {
            Tls::None | Tls::ZeroRtt => self.become_ready(now),
            Tls::Tls12 | Tls::Tls13 => self.stage = Stage::Securing,
        }
        let bytes = self.protocol.client_hello();
        let hello = Span::new(SpanContent::ClientHello, bytes, bytes);
        (self.protocol.tls != Tls::None).then_some(hello)
    }

    /// The server's TLS flight is in. Returns the client's part of the second round trip, if there
    /// is one.
    pub(super) fn on_flight(&mut self, now: Instant) -> Option<Span> {
        if self.protocol.tls == Tls::Tls12 && self.stage == Stage::Securing {
            return Some(Span::new(SpanContent::ClientKeys, TLS12_CLIENT_KEYS, TLS12_CLIENT_KEYS));
        }
        self.on_secured(now);
        None
    }

    /// The handshake of TLS is over.
    pub(super) fn on_secured(&mut self, now: Instant) {
        if self.stage == Stage::Securing {
            self.become_ready(now);
        }
    }

    /// Closes the connection, and returns the requested objects that will not be delivered.
    pub(super) fn on_closed(&mut self, now: Instant) -> Vec<ObjectId> {
        self.stage = Stage::Closed;
        self.record.closed = Some(now);
        std::mem::take(&mut self.in_flight)
    }

    pub(super) fn is_opening(&self) -> bool {
        matches!(self.stage, Stage::Connecting | Stage::Securing)
    }

    pub(super) fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    pub(super) fn can_ask(&self) -> bool {
        let has_room = (self.in_flight.len() as u64) < u64::from(self.protocol.requests_at_once());
        self.stage == Stage::Ready && has_room && (self.asked == 0 || self.protocol.keeps_alive())
    }

    /// Returns the spans that request an object; the first request carries the opening.
    pub(super) fn request(
        &mut self,
        id: ObjectId,
        object: &Object,
    ) -> impl Iterator<Item = Span> + use<> {
        let opening = if self.asked == 0 { self.protocol.client_opening() } else { 0 };
        self.asked += 1;
        self.in_flight.push(id);
        let bytes = self.protocol.request_bytes(object);
        let overhead = bytes - object.request_bytes;
        let opening = (opening > 0).then(|| Span::new(SpanContent::Opening, opening, opening));
        opening.into_iter().chain([Span::new(SpanContent::Request(id), bytes, overhead)])
    }

    fn become_ready(&mut self, now: Instant) {
        self.stage = Stage::Ready;
        self.record.ready = Some(now);
    }
}
