//! The server's end of one connection of a page load: thinks, then writes.
//!
//! Sans-IO like the [loader](crate::PageLoader): the driver reports the client's bytes
//! ([`expect`](ServerSession::expect)) and their delivery, and polls for the bytes to write and the
//! next timeout. HTTP/1.x answers in the order of the requests. HTTP/2 and HTTP/3 answer urgent
//! kinds first, taking turns frame by frame among equals. They write only while little is unsent,
//! so that an urgent response need not queue behind an earlier one. As nginx
//! ([`ServerModel::Nginx`]) it takes turns in another way, and sets options of the socket between
//! its writes ([`SocketCall`]).

mod calls;
mod responses;

pub use calls::SocketCall;

use crate::page::{HostId, ObjectId, Page};
use crate::stream::{Inbox, Span, SpanContent};
use crate::{Http, LoaderConfig, Protocol, ServerModel, TLS12_SERVER_FINISHED, Tls};
use calls::NginxCalls;
use responses::{NextSpan, Responses};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use units::Instant;

/// The server's end of one connection.
#[derive(Clone, Debug)]
pub struct ServerSession {
    page: Arc<Page>,
    protocol: Protocol,
    inbox: Inbox,
    /// TLS flight and settings: written before any response and whatever is unsent.
    opening: VecDeque<Span>,
    responses: Responses,
    /// Responses written in full.
    answered: u32,
    /// nginx's socket calls, if it writes as nginx does.
    nginx: Option<NginxCalls>,
}

impl ServerSession {
    /// The end of a connection just accepted by `host`. The configuration must be the loader's.
    ///
    /// # Panics
    /// If `host` is of another page.
    pub fn new(page: &Arc<Page>, config: &LoaderConfig, host: HostId) -> Self {
        let protocol = config.protocol(page.host(host));
        Self {
            page: Arc::clone(page),
            protocol,
            inbox: Inbox::new(protocol.has_streams()),
            opening: VecDeque::new(),
            responses: Responses::new(protocol),
            answered: 0,
            nginx: (protocol.server == ServerModel::Nginx).then(|| NginxCalls::new(protocol.http)),
        }
    }

    /// Announces that the client has written `span`. Its bytes are delivered later, but an empty
    /// span is complete at once.
    pub fn expect(&mut self, now: Instant, span: Span) {
        self.inbox.announce(span);
        self.take_arrivals(now);
    }

    /// Processes `total` bytes of the connection, delivered in order since it began.
    pub fn handle_received(&mut self, now: Instant, total: u64) {
        self.inbox.on_total(total);
        self.take_arrivals(now);
    }

    /// Ranges received behind the first gap, as offsets, ascending: see
    /// [`PageLoader::set_beyond`](crate::PageLoader::set_beyond).
    pub fn set_beyond(&mut self, beyond: Vec<Range<u64>>) {
        self.inbox.set_beyond(beyond);
    }

    /// When a response will be ready that is not yet; call
    /// [`handle_timeout`](Self::handle_timeout) then.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.responses.poll_timeout()
    }

    /// Time has passed: responses whose wait is over may be written.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.responses.release(now);
    }

    /// The next span to write, with `unsent` bytes of earlier spans not yet sent. Poll until
    /// `None`; then again after each call of another method, and whenever unsent bytes are sent.
    pub fn poll_write(&mut self, now: Instant, unsent: u64) -> Option<Span> {
        self.next(now, unsent).map(|next| next.span)
    }

    /// The next call of the socket, as its server makes them: see [`poll_write`](Self::poll_write).
    /// If [`calls_singly`](Self::calls_singly), TCP has sent all it may before the next.
    pub fn poll_call(&mut self, now: Instant, unsent: u64) -> Option<SocketCall> {
        if self.nginx.is_none() {
            return self.poll_write(now, unsent).map(SocketCall::Write);
        }
        if let Some(call) = self.nginx.as_mut().and_then(NginxCalls::poll) {
            return Some(call);
        }
        let next = self.next(now, unsent);
        let is_owed = self.responses.has_ready();
        let nginx = self.nginx.as_mut()?;
        match next {
            Some(next) => nginx.record_write(&next),
            None => nginx.record_pause(is_owed),
        }
        nginx.poll()
    }

    /// Each call is one of its own: TCP may send between two. Otherwise all that may be called at a
    /// moment is one.
    pub const fn calls_singly(&self) -> bool {
        self.nginx.is_some()
    }

    /// Bytes unsent below which there may be more to write; `None` if that does not matter.
    pub fn low_water(&self) -> Option<u64> {
        let low = self.protocol.interleaves().then_some(self.protocol.low_water)?;
        // Linux wakes a writer that found no room at half of `TCP_NOTSENT_LOWAT`; the built-in
        // server asks for twice as much.
        let is_woken = self.nginx.as_ref().is_some_and(NginxCalls::is_behind);
        Some(if is_woken { (low / 2).max(1) } else { low })
    }

    fn next(&mut self, now: Instant, unsent: u64) -> Option<NextSpan> {
        if let Some(span) = self.opening.pop_front() {
            return Some(NextSpan { span, begins: true, ends: true });
        }
        if self.low_water().is_some_and(|low| unsent >= low) {
            return None;
        }
        self.responses.release(now);
        let next = self.responses.next_span()?;
        self.answered += u32::from(next.ends);
        Some(next)
    }

    /// True once nothing more will be written: HTTP/1.0 closes after its response.
    pub fn wants_close(&self) -> bool {
        let answered_all = self.responses.is_empty() && self.opening.is_empty();
        !self.protocol.keeps_alive() && self.answered > 0 && answered_all
    }

    fn take_arrivals(&mut self, now: Instant) {
        while let Some(arrival) = self.inbox.poll() {
            if arrival.complete {
                self.on_complete(now, arrival.content);
            }
        }
    }

    fn on_complete(&mut self, now: Instant, content: SpanContent) {
        match content {
            SpanContent::ClientHello if self.protocol.tls != Tls::None => {
                let bytes = self.protocol.server_flight();
                self.opening.push_back(Span::new(SpanContent::ServerFlight, bytes, bytes));
            }
            SpanContent::ClientKeys => {
                let bytes = TLS12_SERVER_FINISHED;
                self.opening.push_back(Span::new(SpanContent::ServerFinished, bytes, bytes));
            }
            SpanContent::Opening if self.protocol.http == Http::Http2 => {
                let bytes = self.protocol.server_opening();
                self.opening.push_back(Span::new(SpanContent::Opening, bytes, bytes));
            }
            SpanContent::Request(id) => self.on_request(now, id),
            _ => {}
        }
    }

    fn on_request(&mut self, now: Instant, id: ObjectId) {
        if let Some(object) = self.page.objects().get(id.index()) {
            self.responses.begin(now, id, object);
        }
    }
}

#[cfg(test)]
mod tests;
