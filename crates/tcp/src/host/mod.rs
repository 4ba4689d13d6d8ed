//! A host: connections and paths, and the four verbs that drive them.
//!
//! `poll_transmit`, `handle_segment`, `poll_timeout`, `handle_timeout`, and `poll_event` for the
//! application. The host alone sees connections and paths both, and only sequences them: it
//! decides nothing about TCP.

mod admission;
mod event;
mod input;
mod isn;
mod later_acks;
mod memories;
mod output;
mod ready;
mod sharing;
mod slab;
mod told;
mod wakeups;

use crate::config::MemoryKind;
use crate::connection::{Connection, Stats};
use crate::ensemble::{Directory, Ensemble, PathId};
use crate::path::{Path, Reporting};
use crate::scheme::Scheme;
use crate::tuple::{FourTuple, TupleInUse};
pub use event::{Event, EventKind};
use memories::Memories;
use memory::{ReuseGate, Shared};
pub use output::Transmit;
use ready::{Ready, Sender};
use rustc_hash::FxHashMap;
use slab::Slab;
use std::collections::VecDeque;
use told::{Entry, Standing, tell};
use units::{Instant, SeqNum};
use wakeups::Wakeups;

/// A connection's number within its host. Numbers of closed connections are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// Set-up of a host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostConfig {
    /// Initial sequence numbers derive from this and the four-tuple (RFC 6528).
    pub seed: u64,
}

/// Connections that may be half open at a time, over all listening ports.
const MAX_HALF_OPEN: usize = 4096;

/// One host's TCP.
pub struct Host {
    config: HostConfig,
    connections: Slab<Entry>,
    paths: Slab<Path>,
    /// Those of paths that are shared.
    ensembles: FxHashMap<PathId, Ensemble>,
    directory: Directory,
    memories: Memories,
    by_tuple: FxHashMap<FourTuple, ConnId>,
    listeners: Vec<(u16, Scheme)>,
    ready: Ready,
    wakeups: Wakeups,
    events: VecDeque<Event>,
    /// Counters of connections whose end is among `events`, in that order.
    final_stats: VecDeque<Stats>,
    /// The connection whose end was told last.
    ended: Option<(ConnId, Stats)>,
    /// Resets for segments of no connection.
    strays: VecDeque<Transmit>,
    auto_read: bool,
    /// Passive connections that are not open yet.
    half_open: usize,
    fixed_sequence: Option<SeqNum>,
}

impl Host {
    /// A host without connections. The application is taken to read whatever arrives in order at
    /// once; see [`Host::set_auto_read`].
    pub fn new(config: HostConfig) -> Self {
        Self {
            config,
            connections: Slab::default(),
            paths: Slab::default(),
            ensembles: FxHashMap::default(),
            directory: Directory::default(),
            memories: Memories::default(),
            by_tuple: FxHashMap::default(),
            listeners: Vec::new(),
            ready: Ready::default(),
            wakeups: Wakeups::default(),
            events: VecDeque::new(),
            final_stats: VecDeque::new(),
            ended: None,
            strays: VecDeque::new(),
            auto_read: true,
            half_open: 0,
            fixed_sequence: None,
        }
    }

    /// Whether data is consumed as it arrives; otherwise the application calls [`Host::read`].
    pub fn set_auto_read(&mut self, on: bool) {
        self.auto_read = on;
    }

    /// Every connection from now on starts at this sequence number, so that a test can put the
    /// wrap where it wants it.
    pub fn set_initial_sequence(&mut self, isn: SeqNum) {
        self.fixed_sequence = Some(isn);
    }

    /// Paths of schemes with this kind of memory ask and tell `memory` from now on, which several
    /// hosts may share. Without one a host makes its own when it needs it.
    pub fn set_memory(&mut self, kind: MemoryKind, memory: Shared) {
        self.memories.set(kind, memory);
    }

    /// What a memory has to pass before a path of this host believes it.
    pub fn set_reuse_gate(&mut self, gate: ReuseGate) {
        self.memories.gate = gate;
    }

    /// How reports of this host's paths reach the gateway.
    pub fn set_reporting(&mut self, reporting: Reporting) {
        self.memories.reporting = reporting;
    }

    /// Accepts connections to `port` under `scheme`; replaces an earlier listener.
    pub fn listen(&mut self, port: u16, scheme: Scheme) {
        self.listeners.retain(|(p, _)| *p != port);
        self.listeners.push((port, scheme));
    }

    /// Opens a connection; the SYN is there to poll.
    ///
    /// # Errors
    /// If a connection with this four-tuple exists (RFC 9293 §3.10.1).
    pub fn connect(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        scheme: &Scheme,
    ) -> Result<ConnId, TupleInUse> {
        if self.by_tuple.contains_key(&tuple) {
            return Err(TupleInUse(tuple));
        }
        let isn = self.initial_sequence(now, &tuple);
        let conn = Connection::active(tuple, scheme.shared_config(), scheme.recovery(), isn);
        let id = self.admit(now, conn, (scheme, false));
        self.settle(now, id);
        Ok(id)
    }

    /// Appends `bytes` to the stream.
    pub fn write(&mut self, now: Instant, id: ConnId, bytes: u64) {
        self.with(now, id, |conn, _| conn.write(bytes));
    }

    /// Sends FIN after what was written.
    pub fn shutdown(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.shutdown());
    }

    /// Ends the connection with RST.
    pub fn abort(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.abort());
    }

    /// The application has consumed `bytes` of what arrived.
    pub fn read(&mut self, now: Instant, id: ConnId, bytes: u64) {
        self.with(now, id, |conn, _| conn.read(now, bytes));
    }

    /// From now on [`EventKind::Received`] and [`EventKind::Acked`] are told of a connection only
    /// once their total reaches `total` (as `SO_RCVLOWAT` asks of `select`), or when it ends.
    pub fn set_low_water(&mut self, id: ConnId, total: u64) {
        if let Some(entry) = self.connections.at_mut(id.0) {
            entry.told.low_water = total;
            tell(&mut self.events, id, entry);
        }
    }

    /// A live connection.
    pub fn connection(&self, id: ConnId) -> Option<&Connection> {
        self.connections.at(id.0).map(|e| &e.conn)
    }

    /// Counters of a live connection, or of the one whose [`EventKind::Closed`] or
    /// [`EventKind::Reset`] was the last of these to be polled.
    pub fn stats(&self, id: ConnId) -> Option<&Stats> {
        let ended = || self.ended.as_ref().filter(|(ended, _)| *ended == id);
        let live = self.connection(id).map(Connection::stats);
        live.or_else(|| ended().map(|(_, stats)| stats))
    }

    /// The path of a live connection.
    pub fn path_of(&self, id: ConnId) -> Option<&Path> {
        self.connections.at(id.0).and_then(|e| self.paths.at(e.path.0))
    }

    /// Number of live connections.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Next thing to tell the application.
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if matches!(event.kind, EventKind::Closed | EventKind::Reset) {
            // Only now: nobody who still has this event before them can mistake a new connection
            // for the old one.
            self.connections.release(event.conn.0);
            self.ended = self.final_stats.pop_front().map(|stats| (event.conn, stats));
        }
        Some(event)
    }

    /// [`Host::handle_timeout`] has nothing to do before this; it may turn out to have nothing to
    /// do then, or later than [`Host::poll_timeout`] says. Costs nothing to ask.
    pub fn timeout_bound(&self) -> Option<Instant> {
        self.wakeups.bound()
    }

    /// Earliest time at which [`Host::handle_timeout`] has something to do.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        let connections = &self.connections;
        self.wakeups.next(|id| connections.at(id.0).and_then(|e| e.conn.next_timeout()))
    }

    /// Runs every timer that is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.poll_timeout().is_some_and(|at| at <= now) {
            let Some(id) = self.wakeups.pop() else { return };
            self.with(now, id, |conn, path| conn.handle_timeout(now, path));
        }
    }

    /// Runs `action` on a connection and its path, then sees to what may have come of it.
    #[inline]
    fn with(&mut self, now: Instant, id: ConnId, action: impl FnOnce(&mut Connection, &mut Path)) {
        let Some(entry) = self.connections.at_mut(id.0) else {
            return;
        };
        let Some(path) = self.paths.at_mut(entry.path.0) else {
            return;
        };
        path.set_now(now);
        action(&mut entry.conn, path);
        let logged = path.is_logged();
        self.settle(now, id);
        if logged {
            self.spread_news(now, id);
        }
    }

    /// Tells the application what changed, queues the connection for sending.
    #[inline(always)]
    fn settle(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else {
            return;
        };
        if self.auto_read {
            entry.conn.read_all(now);
        }
        let news = entry.has_news();
        match entry.standing {
            Standing::Queued => {}
            Standing::Idle => {
                entry.standing = Standing::Queued;
                self.ready.push(Sender::Connection(id));
            }
            Standing::Member => self.touch_member(now, id),
        }
        if news {
            self.tell_news(now, id);
        }
    }

    fn tell_news(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else {
            return;
        };
        let was_open = entry.told.open;
        tell(&mut self.events, id, entry);
        if entry.told.open && !was_open && entry.told.passive {
            self.half_open -= 1;
        }
        if entry.prospect.is_some() && entry.conn.state().is_synchronized() {
            self.join(now, id);
        }
    }
}
