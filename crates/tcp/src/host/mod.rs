//! A host: connections and paths, and the four verbs that drive them.
//!
//! `poll_transmit`, `handle_segment`, `poll_timeout`, `handle_timeout`, and `poll_event` for the
//! application. The host alone sees connections and paths both, and only sequences them: it
//! decides nothing about TCP.

mod ready;
mod slab;
mod wakeups;

use crate::connection::{Connection, State, Stats};
use crate::ensemble::{Ensemble, Independent, PathId};
use crate::path::Path;
use crate::scheme::Scheme;
use crate::segment::{Flags, Segment};
use crate::tuple::{FourTuple, TupleInUse};
use ready::Ready;
use rustc_hash::FxHashMap;
use slab::Slab;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use units::{Instant, SeqNum};
use wakeups::Wakeups;

/// A connection's number within its host. Numbers of closed connections are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// A segment that leaves the host.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// The connection; `None` for a reset that answers a segment of no connection.
    pub conn: Option<ConnId>,
    /// Where it goes.
    pub tuple: FourTuple,
    /// The segment.
    pub segment: Segment,
    /// Offset in the byte stream of its first payload byte.
    pub payload_offset: u64,
    /// It was sent before.
    pub retransmission: bool,
}

impl Default for Transmit {
    /// Room for [`Host::poll_transmit_into`] to write into.
    fn default() -> Self {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Self {
            conn: None,
            tuple: FourTuple { local_port: 0, remote: nowhere, remote_port: 0 },
            segment: Segment::default(),
            payload_offset: 0,
            retransmission: false,
        }
    }
}

/// What the application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The connection.
    pub conn: ConnId,
    /// What happened.
    pub kind: EventKind,
}

/// Kinds of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A peer's connection to a listening port is open, or, opened with data, has data.
    Accepted,
    /// Our connection is open.
    Connected,
    /// This many payload bytes have arrived in order so far.
    Received {
        /// Bytes since the connection began.
        total: u64,
    },
    /// This many payload bytes are acknowledged so far.
    Acked {
        /// Bytes since the connection began.
        total: u64,
    },
    /// The peer will send no more.
    PeerClosed,
    /// Both sides are closed; the connection's number is free again.
    Closed,
    /// The connection was reset or gave up; its number is free again.
    Reset,
}

/// Set-up of a host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostConfig {
    /// Initial sequence numbers derive from this and the four-tuple (RFC 6528).
    pub seed: u64,
}

/// Connections that may be half open at a time, over all listening ports.
const MAX_HALF_OPEN: usize = 4096;

/// What came of asking a connection for a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Polled {
    Nothing,
    /// Nothing, and never again.
    Closed,
    /// A segment, and nothing more to come.
    Last,
    /// A segment; there may be more.
    More,
}

struct Entry {
    conn: Connection,
    path: PathId,
    /// In the queue of connections that may have something to send.
    queued: bool,
    /// What the application was told last.
    told: Told,
}

impl Entry {
    /// False if the application has certainly been told everything.
    #[inline]
    fn has_news(&self) -> bool {
        let Self { conn, told, .. } = self;
        conn.rcv_nxt() > told.received_mark
            || conn.snd_una() > told.acked_mark
            || !told.open
            || conn.peer_finished()
    }
}

#[derive(Clone, Copy, Default)]
struct Told {
    passive: bool,
    open: bool,
    received: u64,
    acked: u64,
    peer_closed: bool,
    /// Smaller totals are not worth telling.
    low_water: u64,
    /// What the connection's offsets exceed, at the latest, when there is something to tell.
    received_mark: u64,
    acked_mark: u64,
}

impl Told {
    /// Offsets count the SYN, and perhaps the FIN, where totals do not.
    fn mark(&mut self) {
        let worth = self.low_water.saturating_sub(1);
        self.received_mark = self.received.max(worth) + 1;
        self.acked_mark = self.acked.max(worth) + 1;
    }
}

/// One host's TCP.
pub struct Host {
    config: HostConfig,
    connections: Slab<Entry>,
    paths: Slab<Path>,
    ensemble: Box<dyn Ensemble>,
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
            ensemble: Box::new(Independent),
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
        let id = self.admit(conn, scheme, false);
        self.settle(now, id);
        Ok(id)
    }

    fn admit(&mut self, conn: Connection, scheme: &Scheme, passive: bool) -> ConnId {
        let tuple = *conn.tuple();
        let path =
            self.ensemble.join(&tuple).unwrap_or_else(|| PathId(self.paths.insert(scheme.path())));
        self.ensemble.on_joined(&tuple, path);
        let told = Told { passive, ..Told::default() };
        let id = ConnId(self.connections.insert(Entry { conn, path, queued: false, told }));
        self.wakeups.forget(id);
        self.by_tuple.insert(tuple, id);
        id
    }

    /// Derived, not random: a simulation repeats. Mixes by multiplication (Steele & Vigna 2021).
    fn initial_sequence(&self, now: Instant, tuple: &FourTuple) -> SeqNum {
        if let Some(isn) = self.fixed_sequence {
            return isn;
        }
        let address = match tuple.remote {
            IpAddr::V4(a) => u64::from(u32::from(a)),
            IpAddr::V6(a) => (u128::from(a) >> 64) as u64 ^ u128::from(a) as u64,
        };
        let ports = u64::from(tuple.local_port) << 16 | u64::from(tuple.remote_port);
        let mut x = self.config.seed ^ address.rotate_left(32) ^ ports;
        for _ in 0..2 {
            x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            x ^= x >> 27;
        }
        // RFC 6528 §3: and a clock of 4 us, so that a second incarnation has other numbers.
        SeqNum((x >> 16) as u32) + (now.as_nanos() / 4_000) as u32
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

    /// The next segment to send now; call until `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let mut out = Transmit::default();
        self.poll_transmit_into(now, &mut out).then_some(out)
    }

    /// As [`Host::poll_transmit`], written over `out`, for whoever polls millions of times; false
    /// if there is none. `out` means nothing then.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Instant, out: &mut Transmit) -> bool {
        (self.ready.first().is_some() || !self.strays.is_empty()) && self.poll_ready(now, out)
    }

    fn poll_ready(&mut self, now: Instant, out: &mut Transmit) -> bool {
        if let Some(stray) = self.strays.pop_front() {
            *out = stray;
            return true;
        }
        while let Some(id) = self.ready.first() {
            match self.poll_connection(now, id, out) {
                Polled::More => return true,
                Polled::Last => {
                    self.ready.pop();
                    return true;
                }
                Polled::Nothing => self.ready.pop(),
                Polled::Closed => {
                    self.ready.pop();
                    self.reap(id);
                }
            }
        }
        false
    }

    /// Asks a connection for a segment. One that has no more for now waits for its timers.
    #[inline]
    fn poll_connection(&mut self, now: Instant, id: ConnId, out: &mut Transmit) -> Polled {
        let Some(entry) = self.connections.at_mut(id.0) else { return Polled::Nothing };
        let Some(path) = self.paths.at_mut(entry.path.0) else { return Polled::Nothing };
        path.set_now(now);
        let departure = entry.conn.poll_transmit(now, path, &mut out.segment);
        if let Some(departure) = departure {
            out.conn = Some(id);
            out.tuple = *entry.conn.tuple();
            out.payload_offset = departure.payload_offset;
            out.retransmission = departure.retransmission;
            if !departure.last {
                return Polled::More;
            }
        }
        entry.queued = false;
        if departure.is_none() && entry.conn.state() == State::Closed {
            return Polled::Closed;
        }
        if let Some(deadline) = entry.conn.next_timeout() {
            self.wakeups.schedule(id, deadline);
        }
        if departure.is_some() { Polled::Last } else { Polled::Nothing }
    }

    /// Digests a segment that arrived for `tuple`.
    pub fn handle_segment(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) {
        match self.by_tuple.get(tuple) {
            Some(&id) if self.is_new_incarnation(id, segment) => {
                // RFC 9293 §3.6.1: a SYN beyond the old numbers ends TIME-WAIT and opens anew.
                self.with(now, id, |conn, _| conn.leave_time_wait());
                self.reap(id);
                self.handle_unknown(now, tuple, segment);
            }
            Some(&id) => self.with(now, id, |conn, path| conn.handle_segment(now, path, segment)),
            None => self.handle_unknown(now, tuple, segment),
        }
    }

    #[inline]
    fn is_new_incarnation(&self, id: ConnId, segment: &Segment) -> bool {
        self.connection(id).is_some_and(|conn| conn.gives_way_to(segment))
    }

    /// LISTEN and CLOSED (RFC 9293 §3.10.7.1, §3.10.7.2).
    fn handle_unknown(&mut self, now: Instant, tuple: &FourTuple, segment: &Segment) {
        if segment.has(Flags::RST) {
            return;
        }
        let listener = self.listeners.iter().find(|(port, _)| *port == tuple.local_port);
        let Some((_, scheme)) = listener.filter(|_| !segment.has(Flags::ACK)) else {
            self.strays.push_back(reset_for(tuple, segment));
            return;
        };
        if !segment.has(Flags::SYN) {
            // Accelerated opening: data that overtook its SYN. It will come again.
            return;
        }
        if self.half_open >= MAX_HALF_OPEN {
            // As any listener whose backlog is full: the SYN will come again.
            return;
        }
        self.half_open += 1;
        let scheme = scheme.clone();
        let isn = self.initial_sequence(now, tuple);
        let conn = Connection::passive(*tuple, scheme.shared_config(), scheme.recovery(), isn);
        let id = self.admit(conn, &scheme, true);
        self.with(now, id, |conn, path| conn.on_peer_syn(now, path, segment));
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
        self.settle(now, id);
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
        if !entry.queued {
            entry.queued = true;
            self.ready.push(id);
        }
        if entry.has_news() {
            self.tell_news(id);
        }
    }

    fn tell_news(&mut self, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else {
            return;
        };
        let was_open = entry.told.open;
        tell(&mut self.events, id, entry);
        if entry.told.open && !was_open && entry.told.passive {
            self.half_open -= 1;
        }
    }

    /// Frees a connection that is closed and has nothing left to send.
    fn reap(&mut self, id: ConnId) {
        let closed = self.connections.at(id.0).is_some_and(|e| e.conn.state() == State::Closed);
        if !closed {
            return;
        }
        let Some(mut entry) = self.connections.take(id.0) else {
            return;
        };
        if let Some(path) = self.paths.at_mut(entry.path.0) {
            entry.conn.release(path);
        }
        if self.ensemble.on_left(entry.conn.tuple(), entry.path) {
            self.paths.take(entry.path.0);
            self.paths.release(entry.path.0);
        }
        self.by_tuple.remove(entry.conn.tuple());
        if entry.told.passive && !entry.told.open {
            // Nobody was told that it existed (RFC 9293 §3.10.7.4, RST in SYN-RECEIVED).
            self.half_open -= 1;
            self.connections.release(id.0);
            return;
        }
        entry.told.low_water = 0;
        tell(&mut self.events, id, &mut entry);
        let kind = match entry.conn.reset_cause() {
            Some(_) => EventKind::Reset,
            None => EventKind::Closed,
        };
        self.events.push_back(Event { conn: id, kind });
        self.final_stats.push_back(*entry.conn.stats());
    }
}

/// Compares what the application was told with how things are.
fn tell(events: &mut VecDeque<Event>, id: ConnId, entry: &mut Entry) {
    let Entry { conn, told, .. } = entry;
    let mut push = |kind| events.push_back(Event { conn: id, kind });
    let received = conn.received();
    if !told.open {
        told.open = conn.state().is_synchronized() || (told.passive && received > 0);
        if told.open {
            push(if told.passive { EventKind::Accepted } else { EventKind::Connected });
        }
    }
    if conn.peer_finished() && !told.peer_closed {
        told.low_water = 0;
    }
    if received > told.received && received >= told.low_water {
        told.received = received;
        push(EventKind::Received { total: received });
    }
    let acked = conn.acked();
    if acked > told.acked && acked >= told.low_water {
        told.acked = acked;
        push(EventKind::Acked { total: acked });
    }
    if conn.peer_finished() && !told.peer_closed {
        told.peer_closed = true;
        push(EventKind::PeerClosed);
    }
    told.mark();
}

/// The reset that answers a segment of no connection (RFC 9293 §3.5.2, group 1).
fn reset_for(tuple: &FourTuple, segment: &Segment) -> Transmit {
    let answer = if segment.has(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        let ack = segment.seq + segment.sequence_len();
        Segment { ack, flags: Flags::RST.with(Flags::ACK), ..Segment::default() }
    };
    Transmit {
        conn: None,
        tuple: *tuple,
        segment: answer,
        payload_offset: 0,
        retransmission: false,
    }
}
