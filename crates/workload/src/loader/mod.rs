//! The browser's end of a page load: its connections and requests, as bytes arrive.
//!
//! Sans-IO: the driver owns connections and clock, reports events to the loader (`handle_*`) and
//! carries out its actions ([`PageLoader::poll_action`]). Objects are discovered as the bodies of
//! others arrive (`discovery`), wait per host for a connection (`pool`), and leave a [`Milestones`]
//! record for the waterfall.
//!
//! Under HTTP/1.0 and 1.1 an object takes the first connection that becomes free, not the one
//! that was opened because of it, as browsers do.

mod connection;
mod discovery;
mod lookups;
mod pool;
mod record;

pub use record::{ConnectionRecord, LoadError, Milestones};

use crate::page::{HostId, ObjectId, ObjectKind, Page};
use crate::stream::{Span, SpanArrival, SpanContent};
use crate::{ClientModel, LoaderConfig, Protocol};
use connection::{Connection, Stage};
use discovery::Discoveries;
use lookups::Lookups;
use pool::{Next, Pool};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use units::{Duration, Instant};

/// One connection of a page load, numbered from 0 in the order of opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoadConnId(pub u32);

impl LoadConnId {
    /// The index into [`PageLoader::connections`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Action that the loader requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoaderAction {
    /// Open connection `conn` to `host`; report with [`PageLoader::handle_connected`].
    Open {
        /// The new connection.
        conn: LoadConnId,
        /// Host to connect to.
        host: HostId,
    },
    /// Write `span.bytes` to the connection and announce them to its
    /// [`ServerSession`](crate::ServerSession) ([`expect`](crate::ServerSession::expect)).
    Send {
        /// Connection to write to.
        conn: LoadConnId,
        /// Bytes to write, and their meaning.
        span: Span,
    },
    /// Close the connection; nothing more is wanted of it.
    Close {
        /// Connection to close.
        conn: LoadConnId,
    },
}

/// One load of one page.
#[derive(Clone, Debug)]
pub struct PageLoader {
    page: Arc<Page>,
    pools: Vec<Pool>,
    connections: Vec<Connection>,
    discoveries: Discoveries,
    lookups: Lookups,
    milestones: Vec<Milestones>,
    failures: Vec<(ObjectId, LoadError)>,
    actions: VecDeque<LoaderAction>,
    unfinished: usize,
    /// The part of these objects that the end of the load waits for.
    awaited: usize,
    html_unfinished: usize,
    html_done_at: Option<Instant>,
    page_done_at: Option<Instant>,
    keep_open: bool,
    turnaround: Duration,
    client: ClientModel,
    /// Connections that have closed and still count as open: until when, in order of time.
    leaving: VecDeque<(Instant, LoadConnId)>,
}

impl PageLoader {
    /// A load of `page` that has not started.
    pub fn new(page: &Arc<Page>, config: &LoaderConfig) -> Self {
        let objects = page.objects();
        Self {
            page: Arc::clone(page),
            pools: page.hosts().iter().map(|h| Pool::new(config.protocol(h))).collect(),
            connections: Vec::new(),
            discoveries: Discoveries::new(page, config.client),
            lookups: Lookups::new(page, config.knows_hosts),
            milestones: vec![Milestones::default(); objects.len()],
            failures: Vec::new(),
            actions: VecDeque::new(),
            unfinished: objects.len(),
            awaited: awaited_objects(page),
            html_unfinished: objects.iter().filter(|o| o.kind == ObjectKind::Html).count(),
            html_done_at: None,
            page_done_at: None,
            keep_open: config.keep_open,
            turnaround: config.turnaround,
            client: config.client,
            leaving: VecDeque::new(),
        }
    }

    /// The user asks for the page.
    pub fn start(&mut self, now: Instant) {
        self.discoveries.on_start(now);
        self.ask_for_discovered(now);
        self.open_ahead(now);
    }

    /// Loads the page once more without any cache. All objects are requested and recorded again,
    /// over the connections that are still open and those that have to be opened.
    ///
    /// # Panics
    /// If the load before is not [done](Self::is_done).
    pub fn start_again(&mut self, now: Instant) {
        assert!(self.is_done(), "the load before is under way");
        let objects = self.page.objects();
        self.discoveries = Discoveries::new(&self.page, self.client);
        self.milestones = vec![Milestones::default(); objects.len()];
        self.failures.clear();
        for pool in &mut self.pools {
            pool.waiting.clear();
            pool.is_refused = false;
        }
        self.unfinished = objects.len();
        self.awaited = awaited_objects(&self.page);
        self.html_unfinished = objects.iter().filter(|o| o.kind == ObjectKind::Html).count();
        (self.html_done_at, self.page_done_at) = (None, None);
        self.start(now);
    }

    /// The connection is established and carries bytes both ways.
    ///
    /// # Panics
    /// If `conn` was never opened; so do the other calls that take one.
    pub fn handle_connected(&mut self, now: Instant, conn: LoadConnId) {
        if let Some(span) = self.connections[conn.index()].on_connected(now) {
            self.actions.push_back(LoaderAction::Send { conn, span });
        }
        self.ask_on(now, conn);
    }

    /// The server has written `span` on `conn`; its bytes arrive later.
    pub fn expect(&mut self, conn: LoadConnId, span: Span) {
        self.connections[conn.index()].inbox.announce(span);
    }

    /// Processes `total` bytes of `conn`, delivered in order since it was opened. Bytes on a closed
    /// connection are ignored.
    pub fn handle_received(&mut self, now: Instant, conn: LoadConnId, total: u64) {
        if self.connections[conn.index()].stage == Stage::Closed {
            return;
        }
        self.connections[conn.index()].inbox.on_total(total);
        while let Some(arrival) = self.connections[conn.index()].inbox.poll() {
            self.on_arrival(now, conn, arrival);
        }
        self.ask_for_discovered(now);
    }

    /// Ranges of `conn` received behind the first gap, as offsets, ascending. Streams that lack
    /// nothing before them make use of them at the next
    /// [`handle_received`](Self::handle_received).
    pub fn set_beyond(&mut self, conn: LoadConnId, beyond: Vec<Range<u64>>) {
        self.connections[conn.index()].inbox.set_beyond(beyond);
    }

    /// The other end has closed or reset the connection, or it could not be opened. Requests on it
    /// whose objects are not delivered fail.
    pub fn handle_closed(&mut self, now: Instant, conn: LoadConnId) {
        let connection = &mut self.connections[conn.index()];
        if connection.stage == Stage::Closed {
            return;
        }
        let was_opening = connection.stage != Stage::Ready;
        let mut lost = connection.on_closed(now);
        let host = connection.host;
        self.pools[host.index()].forget(conn);
        if was_opening {
            lost.extend(self.pools[host.index()].on_refused(&self.connections));
        }
        for object in lost {
            self.fail_object(object);
        }
        self.ask_at(now, host);
        self.close_if_done(now);
    }

    /// The next thing to do; ask until `None` after every other call.
    pub fn poll_action(&mut self) -> Option<LoaderAction> {
        self.actions.pop_front()
    }

    /// Next time at which the browser has worked out a request or looked up a name, or may replace
    /// a connection by another; call [`handle_timeout`](Self::handle_timeout) then.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let leaving = self.leaving.front().filter(|_| !self.is_done()).map(|(until, _)| *until);
        let found = self.lookups.poll_timeout();
        self.discoveries.poll_timeout().into_iter().chain(leaving).chain(found).min()
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.leave(now);
        for host in self.lookups.finish(now) {
            self.ask_at(now, host);
            if host == self.page.object(ObjectId::ROOT).host {
                self.open_ahead(now);
            }
        }
        self.ask_for_discovered(now);
    }

    /// Whether every object was delivered or failed.
    pub const fn is_done(&self) -> bool {
        self.unfinished == 0
    }

    /// True when all objects that the end of the load waits for are complete ([`Page::until`]).
    pub const fn has_loaded(&self) -> bool {
        self.awaited == 0
    }

    /// Time at which the last of the page's HTML (root and frames) was delivered whole.
    pub const fn html_done_at(&self) -> Option<Instant> {
        self.html_done_at
    }

    /// Time at which the last object was delivered whole; never if one failed.
    pub const fn page_done_at(&self) -> Option<Instant> {
        self.page_done_at
    }

    /// Model of the client that loads the page.
    pub const fn client(&self) -> ClientModel {
        self.client
    }

    /// The page being loaded.
    pub fn page(&self) -> &Arc<Page> {
        &self.page
    }

    /// The protocol with a host.
    ///
    /// # Panics
    /// If `host` is of another page.
    pub fn protocol(&self, host: HostId) -> Protocol {
        self.pools[host.index()].protocol
    }

    /// Times of each object's milestones, by [`ObjectId`].
    pub fn milestones(&self) -> &[Milestones] {
        &self.milestones
    }

    /// Times of each connection's events, by [`LoadConnId`].
    pub fn connections(&self) -> impl ExactSizeIterator<Item = ConnectionRecord> + '_ {
        self.connections.iter().map(|c| c.record)
    }

    /// Objects that will never arrive, and why, in the order in which that became certain.
    pub fn failures(&self) -> &[(ObjectId, LoadError)] {
        &self.failures
    }

    fn on_arrival(&mut self, now: Instant, conn: LoadConnId, arrival: SpanArrival) {
        match arrival.content {
            SpanContent::ServerFlight if arrival.complete => {
                if let Some(span) = self.connections[conn.index()].on_flight(now) {
                    self.actions.push_back(LoaderAction::Send { conn, span });
                }
                self.ask_on(now, conn);
            }
            SpanContent::ServerFinished if arrival.complete => {
                self.connections[conn.index()].on_secured(now);
                self.ask_on(now, conn);
            }
            SpanContent::Response(object) => self.on_response(now, conn, object, arrival.payload),
            _ => {}
        }
    }

    fn on_response(&mut self, now: Instant, conn: LoadConnId, id: ObjectId, payload: u64) {
        let milestones = &mut self.milestones[id.index()];
        if payload == 0 || milestones.done.is_some() {
            return;
        }
        milestones.first_byte.get_or_insert(now);
        milestones.received_bytes += payload;
        let received = milestones.received_bytes;
        self.discoveries.on_bytes(now, id, received);
        if received >= self.page.object(id).response_bytes() {
            self.on_object_done(now, conn, id);
        }
    }

    fn on_object_done(&mut self, now: Instant, conn: LoadConnId, id: ObjectId) {
        self.milestones[id.index()].done = Some(now);
        self.unfinished -= 1;
        self.awaited -= usize::from(self.page.awaits(self.page.until(), id));
        if self.page.object(id).kind == ObjectKind::Html {
            self.html_unfinished -= 1;
            self.html_done_at = (self.html_unfinished == 0).then_some(now);
        }
        let connection = &mut self.connections[conn.index()];
        connection.in_flight.retain(|o| *o != id);
        if !self.pools[connection.host.index()].protocol.keeps_alive() {
            self.close(now, conn);
        }
        self.ask_on(now, conn);
        if self.is_done() && self.failures.is_empty() {
            self.page_done_at = Some(now);
        }
        self.close_if_done(now);
    }

    fn ask_for_discovered(&mut self, now: Instant) {
        while let Some(id) = self.discoveries.poll_due(now) {
            self.milestones[id.index()].discovered = Some(now);
            let host = self.page.object(id).host;
            self.pools[host.index()].waiting.push_back(id);
            self.ask_at(now, host);
        }
    }

    fn ask_on(&mut self, now: Instant, conn: LoadConnId) {
        self.ask_at(now, self.connections[conn.index()].host);
    }

    /// Sends the possible requests to `host` now and opens connections for the rest.
    fn ask_at(&mut self, now: Instant, host: HostId) {
        loop {
            match self.pools[host.index()].poll(&self.connections) {
                Next::Ask(object, conn) => self.send_request(now, object, conn),
                Next::Open if self.lookups.resolve(now, &self.page, host) => self.open(now, host),
                Next::Open | Next::Nothing => return,
            }
        }
    }

    /// Opens the connections that a browser opens to the page's first host before it knows of any
    /// object.
    fn open_ahead(&mut self, now: Instant) {
        let host = self.page.object(ObjectId::ROOT).host;
        let protocol = self.protocol(host);
        let ahead = self.client.first_connections(protocol.http);
        let most = ahead.min(protocol.connections as usize);
        if most == 0 || !self.lookups.resolve(now, &self.page, host) {
            return;
        }
        for _ in self.pools[host.index()].open.len()..most {
            self.open(now, host);
        }
    }

    fn open(&mut self, now: Instant, host: HostId) {
        let conn = LoadConnId(self.connections.len() as u32);
        let pool = &mut self.pools[host.index()];
        let lookup = self.lookups.awaited_lookup(now, host);
        self.connections.push(Connection::new(now, host, pool.protocol, lookup));
        pool.open.push(conn);
        self.actions.push_back(LoaderAction::Open { conn, host });
    }

    fn send_request(&mut self, now: Instant, object: ObjectId, conn: LoadConnId) {
        let milestones = &mut self.milestones[object.index()];
        milestones.requested = Some(now);
        milestones.connection = Some(conn);
        let page = Arc::clone(&self.page);
        for span in self.connections[conn.index()].request(object, page.object(object)) {
            self.actions.push_back(LoaderAction::Send { conn, span });
        }
    }

    fn close(&mut self, now: Instant, conn: LoadConnId) {
        let connection = &mut self.connections[conn.index()];
        if connection.stage != Stage::Closed {
            connection.on_closed(now);
            self.leaving.push_back((now + self.turnaround, conn));
            self.actions.push_back(LoaderAction::Close { conn });
            self.leave(now);
        }
    }

    /// Frees the slots of connections whose turnaround is over.
    fn leave(&mut self, now: Instant) {
        while let Some((_, conn)) = self.leaving.pop_front_if(|(until, _)| *until <= now) {
            let host = self.connections[conn.index()].host;
            self.pools[host.index()].forget(conn);
            self.ask_at(now, host);
        }
    }

    fn close_if_done(&mut self, now: Instant) {
        if self.keep_open || !self.is_done() {
            return;
        }
        for conn in 0..self.connections.len() as u32 {
            self.close(now, LoadConnId(conn));
        }
    }

    /// `id` will not arrive, and so will nothing that only the rest of its body would reveal.
    fn fail_object(&mut self, id: ObjectId) {
        self.failures.push((id, LoadError::ConnectionClosed));
        let hidden = self.discoveries.abandon_object(id);
        self.unfinished -= 1 + hidden.len();
        self.failures.extend(hidden.into_iter().map(|o| (o, LoadError::NeverDiscovered)));
    }
}

/// Objects that the end of the load waits for.
fn awaited_objects(page: &Page) -> usize {
    page.ids().filter(|id| page.awaits(page.until(), *id)).count()
}

#[cfg(test)]
mod tests;
