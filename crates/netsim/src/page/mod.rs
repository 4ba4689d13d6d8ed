//! Loading a page: the browser and its servers of crate `workload` on hosts of the simulation.
//!
//! One application is both ends. The loader says what to open, ask for and close; each connection
//! has a server session that says what to write ([`Transfer`]). Only byte counts cross the
//! network: what the bytes mean is handed to the other end when they are written, and it makes
//! use of it as they arrive.

mod transfer;

pub use transfer::Transfer;

use crate::HostId;
use crate::application::{Application, Context};
use std::collections::BTreeMap;
use std::sync::Arc;
use tcp::{Event, EventKind, Scheme};
use transfer::Alarm;
use workload::{Action, ConnId, LoaderConfig, Page, PageLoader, ServerSession, Tls};

/// What page to load, from where to where, with what.
#[derive(Clone, Debug)]
pub struct PageSpec {
    /// The page.
    pub page: Arc<Page>,
    /// How requests share connections.
    pub config: LoaderConfig,
    /// Where the browser is.
    pub client: HostId,
    /// Where each of the page's hosts is, in their order.
    pub servers: Vec<HostId>,
    /// The browser's TCP.
    pub client_scheme: Scheme,
    /// The servers' TCP.
    pub server_scheme: Scheme,
}

/// One load of one page; finished when every object has arrived or failed.
pub struct PageLoad {
    spec: PageSpec,
    loader: PageLoader,
    /// By the loader's [`ConnId`].
    transfers: Vec<Transfer>,
    /// Ports that the servers listen at, by the page's hosts.
    ports: Vec<u16>,
    /// Which transfer a connection at the client is.
    at_client: BTreeMap<tcp::ConnId, usize>,
    /// Which transfer a connection at a server is.
    at_server: BTreeMap<(HostId, tcp::ConnId), usize>,
    /// Which transfer was opened last from a port of the client.
    callers: BTreeMap<u16, usize>,
    alarm: Alarm,
    finished: bool,
}

/// The loader's timer; those of transfers follow.
const LOADER_TOKEN: u32 = 0;

impl PageLoad {
    /// A load that has not started.
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
            alarm: Alarm::default(),
            finished: false,
        }
    }

    /// The browser's record: when what arrived, what failed.
    pub const fn loader(&self) -> &PageLoader {
        &self.loader
    }

    /// What became of each connection, in the order in which they were opened.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    fn listen(&mut self, context: &mut Context<'_>) {
        for (host, server) in self.spec.page.hosts().iter().zip(&self.spec.servers) {
            let usual = match self.spec.config.protocol(host).tls {
                Tls::None => 80,
                Tls::Tls13 => 443,
            };
            let port = context.unused_port(*server, usual);
            context.listen(*server, port, self.spec.server_scheme.clone());
            self.ports.push(port);
        }
    }

    /// Carries out what the loader wants, then sees to its timer and the end.
    fn act(&mut self, context: &mut Context<'_>) {
        while let Some(action) = self.loader.poll_action() {
            match action {
                Action::Open { conn, host } => self.open(context, conn, host),
                Action::Send { conn, span } => {
                    let transfer = &mut self.transfers[conn.index()];
                    transfer.request(context, self.spec.client, span);
                    transfer.answer(context, &mut self.loader, conn);
                }
                Action::Close { conn } => {
                    let transfer = &mut self.transfers[conn.index()];
                    transfer.record_client(context, self.spec.client);
                    context.shutdown(self.spec.client, transfer.client_conn());
                }
            }
        }
        self.alarm.set(context, self.loader.poll_timeout(), LOADER_TOKEN);
        if self.loader.is_done() && !std::mem::replace(&mut self.finished, true) {
            for transfer in &mut self.transfers {
                transfer.record_server(context);
                transfer.record_client(context, self.spec.client);
            }
            context.finish();
        }
    }

    fn open(&mut self, context: &mut Context<'_>, conn: ConnId, host: workload::HostId) {
        let PageSpec { page, config, client, servers, client_scheme, .. } = &self.spec;
        let server = servers[host.index()];
        let id = context.connect(*client, server, self.ports[host.index()], client_scheme);
        let session = ServerSession::new(page, config, host);
        let index = self.transfers.len();
        let protocol = self.loader.protocol(host);
        self.transfers.push(Transfer::new((server, id), session, protocol, index as u32 + 1));
        self.at_client.insert(id, index);
        if let Some(peer) = context.peer(*client, id) {
            self.callers.insert(peer.local_port, index);
        }
        if client_scheme.config().opening.is_early() {
            self.loader.handle_connected(context.now(), conn);
        }
    }

    fn on_client(&mut self, context: &mut Context<'_>, event: &Event) {
        let Some(&index) = self.at_client.get(&event.conn) else {
            return;
        };
        let (now, conn) = (context.now(), ConnId(index as u32));
        match event.kind {
            EventKind::Connected => self.loader.handle_connected(now, conn),
            EventKind::Received { total } => self.loader.handle_received(now, conn, total),
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

    fn on_server(&mut self, context: &mut Context<'_>, server: HostId, event: &Event) {
        if event.kind == EventKind::Accepted
            && let Some(peer) = context.peer(server, event.conn)
            && let Some(&index) = self.callers.get(&peer.port)
        {
            self.at_server.insert((server, event.conn), index);
            self.transfers[index].on_accepted(event.conn);
        }
        let Some(&index) = self.at_server.get(&(server, event.conn)) else {
            return;
        };
        let transfer = &mut self.transfers[index];
        match event.kind {
            EventKind::Received { total } => transfer.on_received(context.now(), total),
            EventKind::PeerClosed => {
                transfer.record_server(context);
                context.shutdown(server, event.conn);
            }
            _ => {}
        }
        transfer.answer(context, &mut self.loader, ConnId(index as u32));
        self.act(context);
    }
}

impl Application for PageLoad {
    fn start(&mut self, context: &mut Context<'_>) {
        self.listen(context);
        self.loader.start(context.now());
        self.act(context);
    }

    fn on_event(&mut self, context: &mut Context<'_>, host: HostId, event: &Event) {
        if host == self.spec.client {
            self.on_client(context, event);
        } else {
            self.on_server(context, host, event);
        }
    }

    fn on_unsent_low(&mut self, context: &mut Context<'_>, host: HostId, conn: tcp::ConnId) {
        let Some(&index) = self.at_server.get(&(host, conn)) else {
            return;
        };
        self.transfers[index].answer(context, &mut self.loader, ConnId(index as u32));
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        let now = context.now();
        match token.checked_sub(1) {
            None => {
                self.alarm.rung();
                self.loader.handle_timeout(now);
            }
            Some(index) => {
                let transfer = &mut self.transfers[index as usize];
                transfer.on_alarm(now);
                transfer.answer(context, &mut self.loader, ConnId(index));
            }
        }
        self.act(context);
    }

    fn describe(&self) -> String {
        let objects = self.spec.page.objects().len();
        let done = self.loader.milestones().iter().filter(|object| object.done.is_some()).count();
        format!("load of {:?}: {done} of {objects} objects have arrived", self.spec.page.name())
    }
}
