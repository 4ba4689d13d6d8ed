//! Loading a page: the browser and its servers of crate `workload` on hosts of the simulation.
//!
//! One application is both ends. The loader orders what to open, ask for and close; each connection
//! has a server session that orders what to write ([`PageTransfer`]). Only byte counts cross the
//! network. The meaning of the bytes is passed to the other end when they are written, and it uses
//! it as they arrive.
//!
//! [`PageLoad::one_way`] loads as the papers' simulations do, whose agents only send. The server
//! opens each connection itself, at the instant of the request, and neither end closes it.

mod browsing;
mod transfer;

pub use browsing::{Browsing, BrowsingSpec, Visit};
pub use transfer::PageTransfer;

use crate::application::{AppContext, Application};
use crate::{FlowRecord, HostId};
use std::collections::BTreeMap;
use std::sync::Arc;
use tcp::{Connection, Event, EventKind, Scheme};
use transfer::{Alarm, ClientArrival};
use units::Instant;
use workload::{
    Http, LoadConnId, LoaderAction, LoaderConfig, Page, PageLoader, Protocol, ServerModel,
    ServerSession, Tls,
};

/// The page to load, with hosts, loader settings and schemes.
#[derive(Clone, Debug)]
pub struct PageSpec {
    /// The page.
    pub page: Arc<Page>,
    /// Rules by which requests share connections.
    pub config: LoaderConfig,
    /// Host of the browser.
    pub client: HostId,
    /// Host of each of the page's hosts, in their order.
    pub servers: Vec<HostId>,
    /// The browser's TCP.
    pub client_scheme: Scheme,
    /// The servers' TCP.
    pub server_scheme: Scheme,
}

/// One load of one page. It finishes when all objects that [`Page::until`] waits for are complete,
/// and once more when every object is complete or has failed
/// ([`Simulation::wait_for`](crate::Simulation::wait_for)).
pub struct PageLoad {
    spec: PageSpec,
    loader: PageLoader,
    /// Transfers by the loader's [`LoadConnId`].
    transfers: Vec<PageTransfer>,
    /// Ports of the servers, by the page's hosts.
    ports: Vec<u16>,
    /// Transfers by connection at the client.
    at_client: BTreeMap<tcp::ConnId, usize>,
    /// Transfers by connection at a server.
    at_server: BTreeMap<(HostId, tcp::ConnId), usize>,
    /// The last transfer opened from each port of the host that opened it.
    callers: BTreeMap<(HostId, u16), usize>,
    /// Servers open connections, requests take no trip, nothing is closed.
    one_way: bool,
    alarm: Alarm,
    /// Token of the loader's timer; those of transfers follow.
    first_token: u32,
    /// True if its end is not the end of the application.
    is_visit: bool,
    /// True if all objects that the end of the load waits for are complete, or some have failed.
    is_loaded: bool,
    finished: bool,
}

impl PageLoad {
    /// Creates a load that has not started.
    ///
    /// # Panics
    /// If there are fewer servers than the page has hosts.
    pub fn new(spec: PageSpec) -> Self {
        assert!(
            spec.servers.len() >= spec.page.hosts().len(),
            "a server for each of the page's hosts"
        );
        Self {
            loader: PageLoader::new(&spec.page, &spec.config),
            spec,
            transfers: Vec::new(),
            ports: Vec::new(),
            at_client: BTreeMap::new(),
            at_server: BTreeMap::new(),
            callers: BTreeMap::new(),
            one_way: false,
            alarm: Alarm::default(),
            first_token: 0,
            is_visit: false,
            is_loaded: false,
            finished: false,
        }
    }

    /// Creates a load by agents that only send, as in the papers' simulations.
    ///
    /// A request takes no trip, and the server connects to the client as soon as there is one.
    /// Connections stay open (until the next visit starts, if it is one). The servers' scheme
    /// should open `one-way`. TLS, which needs a dialogue, is left out.
    ///
    /// # Panics
    /// If there are fewer servers than the page has hosts.
    pub fn one_way(mut spec: PageSpec) -> Self {
        spec.config.tls = Some(Tls::None);
        Self { one_way: true, ..Self::new(spec) }
    }

    /// The timer that repeats a finished load, by [`PageLoader::start_again`]: see
    /// [`Simulation::wake`](crate::Simulation::wake).
    pub const RESTART_TOKEN: u32 = u32::MAX;

    /// Returns the browser's record: deliveries and failures with their times.
    pub const fn loader(&self) -> &PageLoader {
        &self.loader
    }

    /// Returns the result of each connection, in the order in which they were opened.
    pub fn transfers(&self) -> &[PageTransfer] {
        &self.transfers
    }

    /// Returns the load, started at `started_at`, as one transfer from the first server to the
    /// browser.
    pub fn flow(&self, started_at: Instant) -> FlowRecord {
        let bytes = self.loader.page().response_bytes();
        let (from, to) = (self.spec.servers[0], self.spec.client);
        let mut flow = FlowRecord::new(from, to, started_at, bytes);
        flow.html_at = self.loader.html_done_at();
        flow.received_at = self.loader.page_done_at();
        for transfer in &self.transfers {
            let stats = transfer.stats();
            flow.segments_sent += stats.data_segments_sent;
            flow.segments_retransmitted += stats.retransmitted_segments;
            flow.timeouts += stats.timeouts;
            flow.losses += transfer.losses();
        }
        flow
    }

    fn listen(&mut self, context: &mut AppContext<'_>) {
        if self.one_way {
            let port = context.unused_port(self.spec.client, 80);
            context.listen(self.spec.client, port, self.spec.client_scheme.clone());
            self.ports = vec![port; self.spec.servers.len()];
            return;
        }
        for (host, server) in self.spec.page.hosts().iter().zip(&self.spec.servers) {
            let protocol = self.spec.config.protocol(host);
            let usual = match protocol.tls {
                Tls::None => 80,
                Tls::Tls12 | Tls::Tls13 | Tls::ZeroRtt => 443,
            };
            let port = context.unused_port(*server, usual);
            context.listen(*server, port, with_transport_of(&protocol, &self.spec.server_scheme));
            self.ports.push(port);
        }
    }

    /// Carries out the loader's orders, then handles its timer and the end.
    fn act(&mut self, context: &mut AppContext<'_>) {
        while let Some(action) = self.loader.poll_action() {
            match action {
                LoaderAction::Open { conn, host } => self.open(context, conn, host),
                LoaderAction::Send { conn, span } => {
                    let transfer = &mut self.transfers[conn.index()];
                    match self.one_way {
                        true => transfer.request_at_once(context.now(), span),
                        false => transfer.request(context, self.spec.client, span),
                    }
                    transfer.write_response(context, &mut self.loader, conn);
                }
                LoaderAction::Close { conn } => {
                    let transfer = &mut self.transfers[conn.index()];
                    transfer.record_client(context, self.spec.client);
                    if let Some(id) = transfer.client_conn().filter(|_| !self.one_way) {
                        context.shutdown(self.spec.client, id);
                    }
                }
            }
        }
        self.alarm.set(context, self.loader.poll_timeout(), self.first_token);
        let is_done = self.loader.is_done();
        if (is_done || self.loader.has_loaded()) && !std::mem::replace(&mut self.is_loaded, true) {
            self.end(context);
        }
        if is_done && !std::mem::replace(&mut self.finished, true) {
            for transfer in &mut self.transfers {
                transfer.record_server(context);
                transfer.record_client(context, self.spec.client);
            }
            self.end(context);
        }
    }

    /// Ends the application, so that runs no longer wait for it.
    fn end(&self, context: &mut AppContext<'_>) {
        if !self.is_visit {
            context.finish();
        }
    }

    /// Returns both ends of every connection of agents that only send: they stay open until a
    /// caller removes them.
    fn open_ends(&self) -> Vec<(HostId, tcp::ConnId)> {
        let ends = |transfer: &PageTransfer| {
            let client = transfer.client_conn().map(|conn| (self.spec.client, conn));
            [transfer.server_conn().map(|conn| (transfer.server(), conn)), client]
        };
        let transfers = self.transfers.iter().filter(|_| self.one_way);
        transfers.flat_map(ends).flatten().collect()
    }

    /// Loads the page once more, over the open connections.
    fn start_again(&mut self, context: &mut AppContext<'_>) {
        let connections = self.loader.connections().zip(&mut self.transfers);
        connections.filter(|(record, _)| record.closed.is_none()).for_each(|(_, t)| t.reopen());
        (self.is_loaded, self.finished) = (false, false);
        self.loader.start_again(context.now());
        self.act(context);
    }

    fn open(&mut self, context: &mut AppContext<'_>, conn: LoadConnId, host: workload::HostId) {
        let PageSpec { page, config, client, servers, client_scheme, server_scheme } = &self.spec;
        let server = servers[host.index()];
        let (from, to, scheme) = match self.one_way {
            true => (server, *client, server_scheme),
            false => (*client, server, client_scheme),
        };
        let protocol = self.loader.protocol(host);
        let port = self.ports[host.index()];
        let id = context.connect(from, to, port, &with_transport_of(&protocol, scheme));
        let session = ServerSession::new(page, config, host);
        let index = self.transfers.len();
        let token = self.first_token + 1 + index as u32;
        let mut transfer = PageTransfer::new(server, session, token);
        if protocol.has_streams() {
            transfer.use_streams();
        }
        if server_scheme.uses_sizes() && protocol.server == ServerModel::Builtin {
            transfer.announce_sizes(protocol);
        }
        if let Some(peer) = context.peer(from, id) {
            transfer.on_port(peer.local_port);
            self.callers.insert((from, peer.local_port), index);
        }
        if self.one_way {
            self.at_server.insert((server, id), index);
            transfer.on_server_conn(id);
            transfer.stay_open();
        } else {
            self.at_client.insert(id, index);
            transfer.on_client_conn(id);
        }
        self.transfers.push(transfer);
        let early = |connection: &Connection| connection.is_early_data_allowed();
        if self.one_way || context.host(from).connection(id).is_some_and(early) {
            self.loader.handle_connected(context.now(), conn);
        }
    }

    /// Returns the transfer that a connection accepted at `host` is the other end of.
    fn transfer_of_accepted(
        &self,
        context: &AppContext<'_>,
        host: HostId,
        event: &Event,
    ) -> Option<usize> {
        let peer = context.peer(host, event.conn).filter(|_| event.kind == EventKind::Accepted)?;
        self.callers.get(&(peer.host, peer.port)).copied()
    }

    fn on_client(&mut self, context: &mut AppContext<'_>, event: &Event) {
        if let Some(index) = self.transfer_of_accepted(context, self.spec.client, event) {
            self.at_client.insert(event.conn, index);
            self.transfers[index].on_client_conn(event.conn);
        }
        let Some(&index) = self.at_client.get(&event.conn) else {
            return;
        };
        let (now, conn) = (context.now(), LoadConnId(index as u32));
        match event.kind {
            EventKind::Connected => self.loader.handle_connected(now, conn),
            EventKind::Received { total } => {
                let arrival = ClientArrival { conn, total };
                let transfer = &self.transfers[index];
                transfer.deliver(context, self.spec.client, &mut self.loader, arrival);
            }
            EventKind::PeerClosed => {
                self.transfers[index].record_client(context, self.spec.client);
                context.shutdown(self.spec.client, event.conn);
                self.loader.handle_closed(now, conn);
            }
            EventKind::Closed | EventKind::Reset => self.loader.handle_closed(now, conn),
            EventKind::Accepted | EventKind::Acked { .. } => return,
        }
        self.act(context);
    }

    fn on_server(&mut self, context: &mut AppContext<'_>, server: HostId, event: &Event) {
        if let Some(index) = self.transfer_of_accepted(context, server, event) {
            self.at_server.insert((server, event.conn), index);
            self.transfers[index].on_server_conn(event.conn);
        }
        let Some(&index) = self.at_server.get(&(server, event.conn)) else {
            return;
        };
        let transfer = &mut self.transfers[index];
        match event.kind {
            EventKind::Received { total } => transfer.on_arrival(context, total),
            EventKind::PeerClosed => {
                transfer.record_server(context);
                context.shutdown(server, event.conn);
            }
            _ => {}
        }
        transfer.write_response(context, &mut self.loader, LoadConnId(index as u32));
        self.act(context);
    }
}

/// Returns a scheme with the transport for a protocol: TCP, or one like QUIC.
fn with_transport_of(protocol: &Protocol, scheme: &Scheme) -> Scheme {
    match protocol.http {
        Http::Http3 => scheme.over_quic(protocol.tls == Tls::ZeroRtt),
        _ => scheme.clone(),
    }
}

impl Application for PageLoad {
    fn start(&mut self, context: &mut AppContext<'_>) {
        if self.ports.is_empty() {
            self.listen(context);
        }
        self.loader.start(context.now());
        self.act(context);
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        if host == self.spec.client {
            self.on_client(context, event);
        } else {
            self.on_server(context, host, event);
        }
    }

    fn on_unsent_low(&mut self, context: &mut AppContext<'_>, host: HostId, conn: tcp::ConnId) {
        let Some(&index) = self.at_server.get(&(host, conn)) else {
            return;
        };
        self.transfers[index].write_response(context, &mut self.loader, LoadConnId(index as u32));
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        let now = context.now();
        if token == Self::RESTART_TOKEN {
            return self.start_again(context);
        }
        let Some(token) = token.checked_sub(self.first_token) else {
            return; // from an earlier visit
        };
        match token.checked_sub(1) {
            None => {
                self.alarm.on_timer();
                self.loader.handle_timeout(now);
            }
            Some(index) => {
                let transfer = &mut self.transfers[index as usize];
                transfer.on_alarm(context);
                transfer.write_response(context, &mut self.loader, LoadConnId(index));
            }
        }
        self.act(context);
    }

    fn describe(&self) -> String {
        let objects = self.spec.page.objects().len();
        let done = self.loader.milestones().iter().filter(|object| object.done.is_some()).count();
        format!("load of {:?}: {done} of {objects} objects are complete", self.spec.page.name())
    }
}
