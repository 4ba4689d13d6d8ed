//! State that both ends of a page load share: the loader and the servers' sessions of crate
//! `workload`, driven by the code that moves the bytes.
//!
//! It is the driver of `netsim` in real time: bytes cross the network without meaning. The meaning
//! of a span is handed over beside it when it is written. So a page is loaded in every world by the
//! same requests, the same discovery and the same sizes, TLS and HTTP/2 included. Client and
//! servers are tasks of one thread; this module never waits.

use crate::client_protocol::ClientProtocol;
use crate::site;
use crate::timer;
use emulator::Clock;
use race::{LoadRecording, MeasuredLoad, TransferRecord};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};
use units::{Duration, Instant};
use workload::{
    Announcements, HostId, LoadConnId, LoaderAction, LoaderConfig, Object, ObjectId, ObjectKind,
    Page, PageLoader, Protocol, ServerModel, ServerSession, Span, SpanContent,
};

/// Next action of the client's end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Write this span.
    Write(Span),
    /// Close; nothing more is wanted of it.
    Close,
}

impl Order {
    /// Bytes to write; `None` if the client writes no more.
    pub(crate) const fn bytes(&self) -> Option<u64> {
        match self {
            Self::Write(span) => Some(span.bytes),
            Self::Close => None,
        }
    }
}

/// A connection that the client is to open.
#[derive(Debug)]
pub(crate) struct NewConnection {
    pub(crate) conn: LoadConnId,
    pub(crate) host: HostId,
    pub(crate) orders: mpsc::UnboundedReceiver<Order>,
}

/// Next action of the server's end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Write this part.
    Write(Part),
    /// Nothing is to be written before this instant, or before the signal of [`Exchange::stirred`].
    Wait(Option<Instant>),
    /// Close the connection.
    Close,
}

/// Bytes that a server writes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) bytes: u64,
    /// The object's, if it is of a response.
    pub(crate) kind: Option<ObjectKind>,
    /// Bytes of the response that begins with the part, if no other interrupts it.
    pub(crate) begins: Option<u64>,
}

/// The server's end of a connection, and the way to the client's.
struct Call {
    host: HostId,
    session: ServerSession,
    orders: mpsc::UnboundedSender<Order>,
    stirred: Rc<Notify>,
    /// The client has closed.
    is_over: bool,
    /// Bytes delivered to the client by a server that knows nothing of meanings.
    reported: u64,
    /// Positions at which responses begin.
    announcements: Announcements,
}

impl Call {
    /// Part that the server writes for a span, with the response that begins there, if any.
    fn part(&mut self, span: Span, page: &Page, protocol: Protocol) -> Part {
        let kind = match span.content {
            SpanContent::Response(object) => Some(page.object(object).kind),
            _ => None,
        };
        let begins = self.announcements.of(&span, page, &protocol);
        Part { bytes: span.bytes, kind, begins }
    }
}

struct Inner {
    page: Arc<Page>,
    config: LoaderConfig,
    loader: PageLoader,
    /// Connections by the loader's [`LoadConnId`].
    calls: Vec<Call>,
    /// Connection of each of the client's ports.
    callers: BTreeMap<u16, LoadConnId>,
    /// Addresses of the page's hosts, for URLs.
    places: Vec<SocketAddr>,
}

/// One client's visits of a page.
#[derive(Clone)]
pub(crate) struct Exchange {
    inner: Rc<RefCell<Inner>>,
    openings: mpsc::UnboundedSender<NewConnection>,
    /// The loader has something new to wait for, or is done.
    moved: Rc<Notify>,
    client_protocol: ClientProtocol,
    clock: Clock,
}

impl Exchange {
    /// Creates an exchange without any request; returns the channel of connections to open.
    pub(crate) fn new(
        page: &Arc<Page>,
        config: &LoaderConfig,
        client_protocol: ClientProtocol,
        clock: Clock,
    ) -> (Self, mpsc::UnboundedReceiver<NewConnection>) {
        let (openings, to_open) = mpsc::unbounded_channel();
        let inner = Inner {
            page: Arc::clone(page),
            // The server in this world is a program and no model.
            config: LoaderConfig { server: ServerModel::Builtin, ..config.clone() },
            loader: PageLoader::new(page, config),
            calls: Vec::new(),
            callers: BTreeMap::new(),
            places: Vec::new(),
        };
        let inner = Rc::new(RefCell::new(inner));
        (Self { inner, openings, moved: Rc::default(), client_protocol, clock }, to_open)
    }

    /// Makes one visit by the loader; after `limit`, returns its partial result.
    pub(crate) async fn visit(&self, again: bool, limit: Duration) -> MeasuredLoad {
        let start = self.start(again);
        tokio::select! {
            visit = self.wait_until_loaded(start) => visit,
            () = timer::sleep_until(&self.clock, Some(start + limit)) => self.given_up(start, limit),
        }
    }

    /// The user asks for the page, the first time or once more.
    fn start(&self, again: bool) -> Instant {
        let now = self.clock.now();
        self.notify_loader(|loader, now| match again {
            false => loader.start(now),
            true => loader.start_again(now),
        });
        now
    }

    /// The client has a port for a connection that it is about to open.
    pub(crate) fn on_bound(&self, conn: LoadConnId, port: u16) {
        self.inner.borrow_mut().callers.insert(port, conn);
    }

    /// The connection that came from a port of the client.
    pub(crate) fn connection_of_port(&self, port: u16) -> Option<LoadConnId> {
        self.inner.borrow().callers.get(&port).copied()
    }

    /// The client's end is established.
    pub(crate) fn on_connected(&self, conn: LoadConnId) {
        self.notify_loader(|loader, now| loader.handle_connected(now, conn));
    }

    /// Reports `total` bytes as delivered to the client.
    pub(crate) fn on_received(&self, conn: LoadConnId, total: u64) {
        self.notify_loader(|loader, now| loader.handle_received(now, conn, total));
    }

    /// Reports `bytes` more as delivered to the client by a server that gets no spans; `content` is
    /// read from the server's answer.
    pub(crate) fn on_delivered(&self, conn: LoadConnId, content: SpanContent, bytes: u64) {
        let total = {
            let call = &mut self.inner.borrow_mut().calls[conn.index()];
            call.reported += bytes;
            call.reported
        };
        self.notify_loader(|loader, now| {
            loader.expect(conn, Span { content, bytes, overhead: 0 });
            loader.handle_received(now, conn, total);
        });
    }

    /// The server has closed, or the connection could not be opened.
    pub(crate) fn on_closed(&self, conn: LoadConnId) {
        self.notify_loader(|loader, now| loader.handle_closed(now, conn));
    }

    /// Reports `total` bytes as delivered to the server.
    pub(crate) fn on_request(&self, conn: LoadConnId, total: u64) {
        let now = self.clock.now();
        let call = &mut self.inner.borrow_mut().calls[conn.index()];
        call.session.handle_received(now, total);
        call.stirred.notify_one();
    }

    /// The client has closed its end.
    pub(crate) fn on_hung_up(&self, conn: LoadConnId) {
        let call = &mut self.inner.borrow_mut().calls[conn.index()];
        call.is_over = true;
        call.stirred.notify_one();
    }

    /// Signal to the server's end that [`Exchange::poll_write`] may have a new answer.
    pub(crate) fn write_signal(&self, conn: LoadConnId) -> Rc<Notify> {
        Rc::clone(&self.inner.borrow().calls[conn.index()].stirred)
    }

    /// Next action of the server's end, with `unsent` of its written bytes not yet sent.
    pub(crate) fn poll_write(&self, conn: LoadConnId, unsent: u64) -> Next {
        let now = self.clock.now();
        let Inner { page, loader, calls, .. } = &mut *self.inner.borrow_mut();
        let call = &mut calls[conn.index()];
        let protocol = loader.protocol(call.host);
        call.session.handle_timeout(now);
        if let Some(span) = call.session.poll_write(now, unsent) {
            loader.expect(conn, span);
            return Next::Write(call.part(span, page, protocol));
        }
        match call.session.wants_close() || call.is_over {
            true => Next::Close,
            false => Next::Wait(call.session.poll_timeout()),
        }
    }

    /// Bytes unsent below which a server has the next part of a response, if that matters.
    pub(crate) fn low_water(&self, host: HostId) -> Option<u64> {
        low_water(self.protocol(host))
    }

    /// The protocol spoken with a host.
    pub(crate) fn protocol(&self, host: HostId) -> Protocol {
        self.inner.borrow().loader.protocol(host)
    }

    /// An object of the page.
    pub(crate) fn object(&self, id: ObjectId) -> Object {
        self.inner.borrow().page.object(id).clone()
    }

    /// Waits until the visit that began at `start` has ended.
    async fn wait_until_loaded(&self, start: Instant) -> MeasuredLoad {
        loop {
            let until = {
                let inner = self.inner.borrow();
                if inner.loader.is_done() {
                    return self.load(&inner, start);
                }
                inner.loader.poll_timeout()
            };
            tokio::select! {
                () = self.moved.notified() => {}
                () = timer::sleep_until(&self.clock, until) => {
                    self.notify_loader(|loader, now| loader.handle_timeout(now));
                }
            }
        }
    }

    /// Partial result of the visit that began at `start` and exceeded `limit`.
    fn given_up(&self, start: Instant, limit: Duration) -> MeasuredLoad {
        let sofar = self.load(&self.inner.borrow(), start);
        let failure = sofar.page.is_none().then(|| format!("not over after {limit}"));
        MeasuredLoad { failure, ..sofar }
    }

    /// The load that began at `start`, as far as it has come.
    fn load(&self, inner: &Inner, start: Instant) -> MeasuredLoad {
        let loader = &inner.loader;
        let since = |at: Option<Instant>| at.map(|at| at.saturating_since(start));
        let name = |(id, why): &(_, workload::LoadError)| {
            format!("{:?}: {why}", loader.page().object(*id).label)
        };
        let objects = loader.milestones().iter().map(|m| since(m.done)).collect();
        let load = MeasuredLoad::of_objects(loader.page(), objects);
        MeasuredLoad {
            began: Some(start),
            failure: loader.failures().first().map(name).filter(|_| load.page.is_none()),
            recording: Some(recording(inner, start, self.client_protocol)),
            ..load
        }
    }

    /// Documents name the page's hosts by these addresses.
    pub(crate) fn set_server_addresses(&self, servers: &[SocketAddr]) {
        self.inner.borrow_mut().places = servers.to_vec();
    }

    /// URL of an object of the page for a browser.
    pub(crate) fn address(&self, id: ObjectId) -> String {
        let inner = self.inner.borrow();
        let host = inner.places.get(inner.page.object(id).host.index());
        let host = host.map_or_else(String::new, |place| format!("http://{place}"));
        format!("{host}{}", site::path(id))
    }

    /// Bytes of an object's body, as servers that speak HTTP have it.
    pub(crate) fn body_bytes(&self, object: &Object) -> u64 {
        site::body_bytes(self.protocol(object.host), object)
    }

    /// The page that is loaded.
    pub(crate) fn page(&self) -> Arc<Page> {
        Arc::clone(&self.inner.borrow().page)
    }

    /// The object at a path of servers that speak HTTP.
    pub(crate) fn object_at(&self, path: &str) -> Option<Object> {
        site::object_at(&self.inner.borrow().page, path).cloned()
    }

    /// The protocol that both ends speak.
    pub(crate) const fn client_protocol(&self) -> ClientProtocol {
        self.client_protocol
    }

    /// The clock of all this.
    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Calls the loader and carries out its actions.
    fn notify_loader(&self, what: impl FnOnce(&mut PageLoader, Instant)) {
        let now = self.clock.now();
        let mut inner = self.inner.borrow_mut();
        what(&mut inner.loader, now);
        while let Some(action) = inner.loader.poll_action() {
            self.act(&mut inner, action, now);
        }
        self.moved.notify_one();
    }

    fn act(&self, inner: &mut Inner, action: LoaderAction, now: Instant) {
        match action {
            LoaderAction::Open { conn, host } => {
                let session = ServerSession::new(&inner.page, &inner.config, host);
                let (sender, orders) = mpsc::unbounded_channel();
                let stirred = Rc::default();
                inner.calls.push(Call {
                    host,
                    session,
                    orders: sender,
                    stirred,
                    is_over: false,
                    reported: 0,
                    announcements: Announcements::default(),
                });
                // The receiver is gone only once the visits have been given up.
                let _ = self.openings.send(NewConnection { conn, host, orders });
            }
            LoaderAction::Send { conn, span } => {
                let call = &mut inner.calls[conn.index()];
                call.session.expect(now, span);
                call.stirred.notify_one();
                let _ = call.orders.send(Order::Write(span));
            }
            LoaderAction::Close { conn } => {
                let _ = inner.calls[conn.index()].orders.send(Order::Close);
            }
        }
    }
}

/// The loader's record of a load; the segments on the link are added when the link is taken down.
fn recording(inner: &Inner, start: Instant, client_protocol: ClientProtocol) -> LoadRecording {
    let mut ports = vec![0; inner.calls.len()];
    for (port, conn) in &inner.callers {
        ports[conn.index()] = *port;
    }
    let connections = inner.loader.connections().zip(ports);
    let transfers =
        connections.map(|(connection, port)| TransferRecord::unwatched(connection, port));
    LoadRecording {
        start,
        milestones: inner.loader.milestones().to_vec(),
        client: inner.loader.client(),
        transfers: transfers.collect(),
        busy: Vec::new(),
        servers_think: client_protocol == ClientProtocol::Counts,
        queues: Vec::new(),
    }
}

/// Bytes unsent below which a server that speaks this has the next part of a response, if that
/// matters.
pub(crate) fn low_water(protocol: Protocol) -> Option<u64> {
    protocol.interleaves().then_some(protocol.low_water)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;
    use workload::{Http, Tls};

    /// Parts that a server of one object of 30 kB writes, each with the size of the response that
    /// begins there.
    fn parts(http: Http, tls: Tls) -> Vec<(u64, Option<u64>)> {
        let page = Arc::new(Page::single(30_000));
        let config = LoaderConfig { http: Some(http), tls: Some(tls), ..LoaderConfig::default() };
        let session = ServerSession::new(&page, &config, HostId(0));
        let (orders, _) = mpsc::unbounded_channel();
        let mut call = Call {
            host: HostId(0),
            session,
            orders,
            stirred: Rc::default(),
            is_over: false,
            reported: 0,
            announcements: Announcements::default(),
        };
        let now = Instant::ZERO + Duration::from_millis(1);
        call.session.expect(
            now,
            Span { content: SpanContent::Request(ObjectId(0)), bytes: 100, overhead: 0 },
        );
        call.session.handle_received(now, 100);
        let protocol = config.protocol(page.host(HostId(0)));
        let spans = std::iter::from_fn(|| call.session.poll_write(now, 0)).collect::<Vec<_>>();
        let part = |span| call.part(span, &page, protocol);
        spans.into_iter().map(part).map(|part| (part.bytes, part.begins)).collect()
    }

    #[test]
    fn a_response_is_announced_once_and_whole() {
        // 200 bytes of header and the body.
        assert_eq!(parts(Http::Http11, Tls::None), [(30_200, Some(30_200))]);
        // Records of 16384 bytes at most, 22 bytes around each: 16384 and 13816.
        let sum = 30_200 + 2 * 22;
        assert_eq!(parts(Http::Http11, Tls::Tls13), [(16_406, Some(sum)), (13_838, None)]);
        // Another response may come between the frames of this one.
        assert!(parts(Http::Http2, Tls::None).iter().all(|(_, begins)| begins.is_none()));
    }
}
