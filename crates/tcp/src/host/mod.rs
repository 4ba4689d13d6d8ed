//! A host: connections and paths, and the four functions that drive them.
//!
//! The functions are `poll_transmit`, `handle_segment`, `poll_timeout` and `handle_timeout`;
//! `poll_event` is for the application. The host alone sees both connections and paths, and only
//! sequences them: it decides nothing about TCP.

mod admission;
mod buffers;
mod cookies;
mod endings;
mod event;
mod fast_open;
mod icmp;
mod input;
mod later_acks;
mod listen;
mod lookup;
mod memories;
mod openings;
mod output;
mod ready;
mod reported;
mod rescheme;
mod secret;
mod sharing;
mod slab;
mod time_wait;
mod wakeups;

use crate::config::MemoryKind;
use crate::connection::{Connection, ResetCause, Stats};
use crate::ensemble::{Directory, Ensemble, PathId};
use crate::guard::{Guard, HostCounters, Limits};
use crate::path::{Path, Reporting};
use crate::scheme::Scheme;
use crate::tuple::{ConnId, FourTuple, TupleInUse};
use buffers::Buffers;
use cookies::SynCookies;
pub use event::{Event, EventKind};
use fast_open::FastOpenSide;
use lookup::Lookup;
use memories::Memories;
use memory::{DestinationTable, ReuseGate, ShareRule, Shared};
use openings::Openings;
pub use output::Transmit;
use ready::Ready;
use reported::{ConnectionEntry, PendingWork, report_changes};
pub use rescheme::SchemeIsFixed;
use rustc_hash::FxHashMap;
use secret::Secret;
use slab::Slab;
use std::collections::VecDeque;
use std::net::IpAddr;
use time_wait::TimeWait;
use units::{Instant, SeqNum};
use wakeups::Wakeups;

/// Set-up of a host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostConfig {
    /// Initial sequence numbers derive from this and the four-tuple (RFC 6528).
    pub seed: u64,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug)]
struct End {
    stats: Stats,
    cause: Option<ResetCause>,
}

/// One host's TCP.
pub struct Host {
    connections: Slab<ConnectionEntry>,
    paths: Slab<Path>,
    /// Ensembles, by the path that their members share.
    ensembles: FxHashMap<PathId, Ensemble>,
    directory: Directory,
    memories: Memories,
    openings: Openings,
    by_tuple: Lookup,
    listeners: Vec<(u16, Scheme)>,
    ready: Ready,
    wakeups: Wakeups,
    events: VecDeque<Event>,
    /// Ends of the connections whose end is among `events`, in that order.
    ends: VecDeque<End>,
    /// The connection whose end was reported last.
    ended: Option<(ConnId, End)>,
    /// Resets for segments of no connection.
    stateless_replies: VecDeque<Transmit>,
    auto_read: bool,
    /// Passive connections that are not open yet.
    half_open: usize,
    fixed_sequence: Option<SeqNum>,
    guard: Guard,
    secret: Secret,
    fast_open: FastOpenSide,
    syn_cookies: SynCookies,
    time_wait: TimeWait,
    buffers: Buffers,
    /// The host's own addresses.
    addresses: Vec<IpAddr>,
    /// Path MTUs reported by routers, and the time of each report.
    path_mtus: DestinationTable<(u32, Instant)>,
}

impl Host {
    /// Creates a host without connections. The application is assumed to read all data in order at
    /// once; see [`Host::set_auto_read`].
    pub fn new(config: HostConfig) -> Self {
        let secret = Secret::Seed(config.seed);
        Self {
            connections: Slab::default(),
            paths: Slab::default(),
            ensembles: FxHashMap::default(),
            directory: Directory::default(),
            memories: Memories::default(),
            openings: Openings::default(),
            by_tuple: Lookup::default(),
            listeners: Vec::new(),
            ready: Ready::default(),
            wakeups: Wakeups::default(),
            events: VecDeque::new(),
            ends: VecDeque::new(),
            ended: None,
            stateless_replies: VecDeque::new(),
            auto_read: true,
            half_open: 0,
            fixed_sequence: None,
            guard: Guard::new(config.seed),
            secret,
            fast_open: FastOpenSide::new(secret.key("fast open")),
            syn_cookies: SynCookies::default(),
            time_wait: TimeWait::default(),
            buffers: Buffers::default(),
            addresses: Vec::new(),
            path_mtus: DestinationTable::new(icmp::DESTINATIONS),
        }
    }

    /// Whether data is consumed as it arrives; otherwise the application calls [`Host::read`].
    pub fn set_auto_read(&mut self, on: bool) {
        self.auto_read = on;
    }

    /// Bounds what peers may cost this host, from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.guard.limits = limits;
        self.buffers.set_limit(limits.buffered);
    }

    /// The bounds in force.
    pub const fn limits(&self) -> &Limits {
        &self.guard.limits
    }

    /// Returns the counters of segments and connections refused, dropped or limited.
    pub const fn counters(&self) -> &HostCounters {
        &self.guard.counters
    }

    /// Every connection from now on starts at this sequence number, so that a test can put the
    /// wrap where it wants it.
    pub fn set_initial_sequence(&mut self, isn: SeqNum) {
        self.fixed_sequence = Some(isn);
    }

    /// Sets the memory that paths of schemes with this kind of memory query and update from now on;
    /// several hosts may share it. Without one a host makes its own when it needs it.
    pub fn set_memory(&mut self, kind: MemoryKind, memory: Shared) {
        self.memories.set(kind, memory);
    }

    /// Destinations that the memories of this host keep something of.
    pub fn remembered_destinations(&self) -> usize {
        self.memories.destination_count()
    }

    /// Sets the test that a memory must pass before a path of this host uses it.
    pub fn set_reuse_gate(&mut self, gate: ReuseGate) {
        self.memories.gate = gate;
    }

    /// Sets how reports of this host's paths are sent to the gateway.
    pub fn set_reporting(&mut self, reporting: Reporting) {
        self.memories.reporting = reporting;
    }

    /// Sets which share this host's paths report to a gateway, and when.
    pub fn set_share_rule(&mut self, rule: ShareRule) {
        self.memories.shares = rule;
    }

    /// Accepts connections to `port` under `scheme`; replaces an earlier listener.
    pub fn listen(&mut self, port: u16, scheme: Scheme) {
        self.listeners.retain(|(p, _)| *p != port);
        self.listeners.push((port, scheme));
    }

    /// Opens a connection; the SYN is ready to poll. Data written before it is polled is sent in
    /// the SYN where the scheme and, for Fast Open, a cookie allow it
    /// ([`Connection::is_early_data_allowed`]).
    ///
    /// # Errors
    /// If a connection with this four-tuple exists (RFC 9293 §3.10.1).
    pub fn connect(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        scheme: &Scheme,
    ) -> Result<ConnId, TupleInUse> {
        if self.by_tuple.find_connection(&tuple).is_some() {
            return Err(TupleInUse(tuple));
        }
        let reopened = self.time_wait.reopen(now, &tuple, &mut self.guard);
        let reopened = reopened.map_err(|()| TupleInUse(tuple))?;
        let mut isn = self.initial_sequence(now, &tuple);
        if let Some((least, _)) = reopened.filter(|(least, _)| isn.precedes(*least)) {
            isn = least;
        }
        let mut conn = Connection::active(tuple, scheme.shared_config(), scheme.recovery(), isn);
        if let Some((_, clock)) = reopened {
            conn.continue_clock(clock);
        }
        self.begin_with_path_mtu(now, &mut conn);
        self.offer_fast_open(now, &mut conn, scheme);
        let id = self.admit(now, conn, (scheme, false));
        self.queue_events(now, id);
        Ok(id)
    }

    /// Appends `bytes` to the stream.
    pub fn write(&mut self, now: Instant, id: ConnId, bytes: u64) {
        self.with(now, id, |conn, (path, guard)| {
            conn.forget_old_path_mtu(now, path);
            conn.append_data(path, bytes);
            conn.set_watch_timer(now, guard);
        });
    }

    /// Announces that the application is about to write `bytes`, for start-ups that adapt to the
    /// length of the transfer. Written data counts against it.
    pub fn announce(&mut self, now: Instant, id: ConnId, bytes: u64) {
        self.with(now, id, |conn, _| conn.announce(bytes));
    }

    /// Sends FIN after the written data.
    pub fn shutdown(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.shutdown());
    }

    /// Ends the connection with RST.
    pub fn abort(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.abort());
    }

    /// The application has consumed `bytes` of the received data.
    pub fn read(&mut self, now: Instant, id: ConnId, bytes: u64) {
        self.with(now, id, |conn, _| conn.read(now, bytes));
        self.update_held(id);
    }

    /// Makes [`EventKind::Received`] and [`EventKind::Acked`] of a connection wait until their
    /// total is `total` (as `SO_RCVLOWAT` for `select`), or until it ends.
    pub fn set_low_water(&mut self, id: ConnId, total: u64) {
        if let Some(entry) = self.connections.at_mut(id.0) {
            entry.reported.set_low_water(total);
            report_changes(&mut self.events, id, entry);
        }
    }

    /// Returns the connection that segments for `tuple` are for.
    pub fn find(&self, tuple: &FourTuple) -> Option<ConnId> {
        self.by_tuple.find_connection(tuple)
    }

    /// Returns a live connection.
    pub fn connection(&self, id: ConnId) -> Option<&Connection> {
        self.connections.at(id.0).map(|e| &e.conn)
    }

    /// Returns the counters of a live connection, or of the one whose [`EventKind::Closed`] or
    /// [`EventKind::Reset`] was polled last.
    pub fn stats(&self, id: ConnId) -> Option<Stats> {
        let ended = || self.ended.as_ref().filter(|(ended, _)| *ended == id);
        let live = self.connection(id).map(Connection::stats);
        live.or_else(|| ended().map(|(_, end)| end.stats))
    }

    /// Returns the reason for which the connection ended whose [`EventKind::Reset`] was the last
    /// end polled.
    pub fn reset_cause(&self, id: ConnId) -> Option<ResetCause> {
        self.ended.as_ref().filter(|(ended, _)| *ended == id).and_then(|(_, end)| end.cause)
    }

    /// Returns the path of a live connection.
    pub fn path_of(&self, id: ConnId) -> Option<&Path> {
        self.connections.at(id.0).and_then(|e| self.paths.at(e.path.0))
    }

    /// Number of live connections.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Number of connections in TIME-WAIT, beside those alive.
    pub fn time_wait_count(&self) -> usize {
        self.time_wait.len()
    }

    /// True if the tuple of an ended connection cannot be used again yet.
    pub fn is_in_time_wait(&self, now: Instant, tuple: &FourTuple) -> bool {
        self.time_wait.is_waiting(now, tuple)
    }

    /// Returns the next event for the application.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if matches!(event.kind, EventKind::Closed | EventKind::Reset) {
            self.free_ended(event.conn);
        }
        Some(event)
    }

    /// The end of a connection has been reported. Only now its number may be used again, so that no
    /// application with this event pending mistakes a new connection for the old one.
    #[cold]
    fn free_ended(&mut self, id: ConnId) {
        self.connections.release(id.0);
        self.ended = self.ends.pop_front().map(|end| (id, end));
    }

    /// [`Host::handle_timeout`] has nothing to do before this; it may turn out to have nothing to
    /// do then, or later than [`Host::poll_timeout`] says. Costs nothing to ask.
    pub fn timeout_bound(&self) -> Option<Instant> {
        self.wakeups.earliest_bound()
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
            self.with(now, id, |conn, (path, guard)| conn.handle_timeout(now, path, guard));
        }
    }

    /// Runs `action` on a connection and its path, then sees to what may have come of it.
    #[inline]
    fn with(
        &mut self,
        now: Instant,
        id: ConnId,
        action: impl FnOnce(&mut Connection, (&mut Path, &mut Guard)),
    ) {
        let Some(entry) = self.connections.at_mut(id.0) else {
            return;
        };
        let Some(path) = self.paths.at_mut(entry.path.0) else {
            return;
        };
        path.set_now(now);
        action(&mut entry.conn, (path, &mut self.guard));
        let logged = path.is_logged();
        if self.auto_read {
            entry.conn.read_all(now);
        }
        let aftermath = entry.queue_for_sending(id, &mut self.ready);
        self.see_to(now, id, aftermath);
        if logged {
            self.spread_news(now, id);
        }
    }

    /// Queues events for the application, and the connection for sending.
    fn queue_events(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else {
            return;
        };
        if self.auto_read {
            entry.conn.read_all(now);
        }
        let aftermath = entry.queue_for_sending(id, &mut self.ready);
        self.see_to(now, id, aftermath);
    }

    #[inline(always)]
    fn see_to(&mut self, now: Instant, id: ConnId, aftermath: PendingWork) {
        if aftermath.is_member {
            self.touch_member(now, id);
        }
        if aftermath.has_news {
            self.report_changes_of(now, id);
        }
    }

    fn report_changes_of(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else {
            return;
        };
        let was_open = entry.reported.is_open();
        report_changes(&mut self.events, id, entry);
        let opened = entry.reported.is_open() && !was_open;
        let joins = entry.prospect.is_some() && entry.conn.state().is_synchronized();
        if opened {
            entry.conn.set_watch_timer(now, &self.guard);
            self.note_opened(now, id);
        }
        if joins {
            self.join(now, id);
        }
    }
}
