//! A host in virtual time, and what it has sent and reported.

use super::super::machine::{self, ScriptMachine};
use super::super::model::{IcmpTrouble, ScriptSettings, TcpInfoField};
use super::info::{self, LastWords};
use super::subject::{ConnectRequest, ConnectionRequest, ObservedSegment, SocketProgress, Subject};
use std::collections::VecDeque;
use std::net::IpAddr;
use tcp::{
    ConnId, Ecn, EventKind, FastOpen, FastOpenClient, Flags, FourTuple, Host, HostConfig, Limits,
    Scheme, Segment, Transmit,
};
use units::{Duration, Instant, SeqNum};

/// The host's port.
const LOCAL_PORT: u16 = 8080;
/// The peer's port in the first connection; each further one has the next.
const FIRST_REMOTE_PORT: u16 = 49_152;
/// A script has fewer connections.
const MAX_CONNECTIONS: usize = 10_000;

/// Limit of timers that fire at one instant; with more the host makes no progress.
const MAX_AT_ONCE: u32 = 10_000;

/// A connection of the script.
#[derive(Clone, Debug, Default)]
struct Entry {
    id: Option<ConnId>,
    /// Its number and its ports may be another's by now.
    is_former: bool,
    progress: SocketProgress,
    last: LastWords,
}

/// A host of the model in virtual time, with what it has sent and reported.
pub struct VirtualHost {
    host: Host,
    now: Instant,
    remote: IpAddr,
    local: IpAddr,
    connections: Vec<Entry>,
    /// A connection that has ended, whose ports a new one has.
    former: Option<Entry>,
    sent: VecDeque<ObservedSegment>,
    at_once: u32,
    /// The host's before any command.
    first_limits: Limits,
    /// The queue takes nothing.
    drops: bool,
}

impl VirtualHost {
    /// A host with the addresses and the seed of `settings`, at time zero.
    pub fn new(settings: &ScriptSettings) -> Self {
        let mut host = Host::new(HostConfig { seed: settings.seed });
        host.set_auto_read(false);
        Self {
            first_limits: *host.limits(),
            host,
            now: Instant::ZERO,
            remote: settings.remote,
            local: settings.local,
            connections: Vec::new(),
            former: None,
            sent: VecDeque::new(),
            at_once: 0,
            drops: false,
        }
    }

    fn tuple(&self, connection: usize) -> FourTuple {
        let remote_port = FIRST_REMOTE_PORT + connection.min(MAX_CONNECTIONS) as u16;
        FourTuple { local_port: LOCAL_PORT, remote: self.remote, remote_port }
    }

    fn entry_mut(&mut self, connection: usize) -> &mut Entry {
        if self.connections.len() <= connection {
            self.connections.resize_with(connection + 1, Entry::default);
        }
        &mut self.connections[connection]
    }

    fn id(&self, connection: usize) -> Option<ConnId> {
        self.connections.get(connection).filter(|entry| !entry.is_former)?.id
    }

    /// Its number in the host while it lives there: a number is used again once its connection has
    /// ended.
    fn live_connection(&self, connection: usize) -> Option<ConnId> {
        self.id(connection).filter(|id| self.host.find(&self.tuple(connection)) == Some(*id))
    }

    /// False if timers fire and fire and no time passes.
    fn move_to(&mut self, due: Instant) -> bool {
        self.at_once = if due > self.now { 0 } else { self.at_once + 1 };
        self.now = self.now.max(due);
        self.at_once < MAX_AT_ONCE
    }

    /// Calls `act` on the connection, if there is one, and sends what it leads to.
    fn with(&mut self, connection: usize, act: impl FnOnce(&mut Host, Instant, ConnId)) {
        if let Some(id) = self.live_connection(connection) {
            act(&mut self.host, self.now, id);
        }
        self.drain_host();
    }

    /// Sets the host's limits.
    fn limit(&mut self, machine: &ScriptMachine) {
        let mut limits = self.first_limits;
        if machine.always_cookies {
            limits.half_open = 0;
        }
        if machine.answers_all_invalid == Some(true) {
            limits.invalid_interval = Duration::ZERO;
        }
        let lifetimes = &mut limits.lifetimes;
        lifetimes.syn_retries = machine.syn_retries.unwrap_or(lifetimes.syn_retries);
        lifetimes.syn_ack_retries = machine.syn_ack_retries.unwrap_or(lifetimes.syn_ack_retries);
        self.host.set_limits(limits);
    }

    /// Takes what the host has to send and to report.
    fn drain_host(&mut self) {
        while let Some(Transmit { conn, tuple, segment, .. }) = self.host.poll_transmit(self.now) {
            let connection = usize::from(tuple.remote_port.saturating_sub(FIRST_REMOTE_PORT));
            let entry = self.entry_mut(connection);
            entry.id = entry.id.or(conn);
            if !self.drops {
                self.sent.push_back(ObservedSegment { at: self.now, connection, segment });
            }
        }
        self.note_last_words();
        while let Some(event) = self.host.poll_event() {
            // Numbers are used again: the last connection that has this one is it.
            let known = self
                .connections
                .iter()
                .rposition(|entry| entry.id == Some(event.conn) && !entry.is_former);
            let tuple = self.host.connection(event.conn).map(|conn| *conn.tuple());
            let number = known.or_else(|| {
                tuple.map(|tuple| usize::from(tuple.remote_port.saturating_sub(FIRST_REMOTE_PORT)))
            });
            if let Some(number) = number {
                let cause = self.host.reset_cause(event.conn);
                let entry = self.entry_mut(number);
                entry.id = Some(event.conn);
                on_event(&mut entry.progress, event.kind, cause);
            }
        }
    }

    /// Notes the quantities of connections at their end, for later questions.
    fn note_last_words(&mut self) {
        for connection in 0..self.connections.len() {
            let Some(id) = self.live_connection(connection) else { continue };
            if let (Some(of), Some(path)) = (self.host.connection(id), self.host.path_of(id)) {
                self.connections[connection].last.record_state(of, path, self.now);
            }
        }
    }
}

fn on_event(progress: &mut SocketProgress, kind: EventKind, cause: Option<tcp::ResetCause>) {
    match kind {
        EventKind::Connected => progress.connected = true,
        EventKind::Accepted => progress.accepted = true,
        EventKind::Received { total } => progress.received = total,
        EventKind::PeerClosed => progress.peer_closed = true,
        EventKind::Reset => (progress.reset, progress.cause) = (true, cause),
        EventKind::Acked { .. } | EventKind::Closed => {}
    }
}

impl Subject for VirtualHost {
    fn now(&self) -> Instant {
        self.now
    }

    fn progress(&mut self, connection: usize) -> SocketProgress {
        self.entry_mut(connection).progress
    }

    fn take_sent(&mut self) -> Option<ObservedSegment> {
        self.sent.pop_front()
    }

    fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.host.poll_timeout()
    }

    /// Fires the next timer due by `limit`, at its time; without one, moves the clock to `limit`.
    fn step(&mut self, limit: Instant) -> Result<bool, String> {
        match self.host.poll_timeout() {
            Some(due) if due <= limit.max(self.now) => {
                if !self.move_to(due) {
                    return Err(format!("{MAX_AT_ONCE} timers"));
                }
                self.host.handle_timeout(self.now);
                self.drain_host();
                Ok(true)
            }
            _ => {
                self.now = self.now.max(limit);
                Ok(false)
            }
        }
    }

    fn handle_segment(&mut self, connection: usize, segment: &Segment) {
        let tuple = self.tuple(connection);
        let now = self.now;
        let id = self.id(connection);
        let had_ended = id.is_some() && self.host.find(&tuple) != id;
        let refused_before = self.host.counters().out_of_window;
        self.host.handle_segment(now, &tuple, segment);
        let refused = self.host.counters().out_of_window > refused_before;
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK);
        let opens = opens && !self.host.is_in_time_wait(now, &tuple);
        if had_ended && (opens || self.host.find(&tuple).is_some()) {
            self.former = Some(std::mem::take(self.entry_mut(connection)));
        }
        if segment.len > 0 {
            self.entry_mut(connection).last.note_data(now);
            if segment.ecn != Ecn::NotEct && !refused {
                self.entry_mut(connection).last.note_ecn();
            }
        }
        self.drain_host();
    }

    fn began_anew(&mut self, _connection: usize, former: usize) -> bool {
        let Some(entry) = self.former.take() else { return false };
        *self.entry_mut(former) = Entry { is_former: true, ..entry };
        true
    }

    fn handle_icmp(&mut self, connection: usize, seq: SeqNum, trouble: IcmpTrouble) {
        let tuple = self.tuple(connection);
        match trouble {
            IcmpTrouble::Unreachable(kind) => {
                self.host.handle_unreachable(self.now, &tuple, seq, kind);
            }
            IcmpTrouble::TooBig(mtu) => self.host.handle_too_big(self.now, &tuple, seq, mtu),
        }
        self.drain_host();
    }

    fn listen(&mut self, scheme: &Scheme) {
        self.host.listen(LOCAL_PORT, scheme.clone());
    }

    fn unlisten(&mut self) {
        self.host.unlisten(self.now, LOCAL_PORT);
        self.drain_host();
    }

    fn connect(&mut self, connection: usize, scheme: &Scheme, request: ConnectRequest) -> u64 {
        let (tuple, now) = (self.tuple(connection), self.now);
        let mut taken = 0;
        // A second connection from the same port to the same peer is refused.
        if let Ok(id) = self.host.connect(now, tuple, scheme) {
            self.entry_mut(connection).id = Some(id);
            taken = match request.at_once {
                true => request.bytes.min(self.host.early_room(now, id)),
                false => request.bytes,
            };
            self.host.write(now, id, taken);
        }
        self.drain_host();
        taken
    }

    fn knows_cookie(&mut self) -> bool {
        self.host.has_fast_open_cookie(self.now, self.remote)
    }

    fn write(&mut self, connection: usize, bytes: u64) {
        self.with(connection, |host, now, id| host.write(now, id, bytes));
    }

    fn read(&mut self, connection: usize, bytes: u64) {
        self.with(connection, |host, now, id| host.read(now, id, bytes));
    }

    fn shutdown(&mut self, connection: usize) {
        self.with(connection, |host, now, id| host.shutdown(now, id));
    }

    fn close(&mut self, connection: usize) {
        self.with(connection, |host, now, id| host.close(now, id));
    }

    fn abort(&mut self, connection: usize) {
        self.with(connection, |host, now, id| host.abort(now, id));
    }

    fn request(&mut self, connection: usize, request: ConnectionRequest) {
        self.with(connection, |host, now, id| match request {
            ConnectionRequest::UserTimeout(timeout) => {
                let timeout = (timeout > Duration::ZERO).then_some(timeout);
                host.set_user_timeout(now, id, timeout);
            }
            ConnectionRequest::NoDelay(on) => host.set_nodelay(now, id, on),
            ConnectionRequest::Cork(on) => host.set_cork(now, id, on),
            ConnectionRequest::More => host.expect_more(now, id),
            ConnectionRequest::EndRecord => host.end_record(now, id),
            ConnectionRequest::SynRetries(count) => host.set_syn_retries(now, id, count),
        });
    }

    fn info(&mut self, connection: usize, info: TcpInfoField) -> Option<u64> {
        let live = self.live_connection(connection);
        let entry = self.connections.get(connection).filter(|entry| entry.id.is_some())?;
        let of = live.and_then(|id| self.host.connection(id).zip(self.host.path_of(id)));
        match of {
            Some((of, path)) => info::value(info, of, path, &entry.last, self.now),
            None => entry.last.value(info, self.now),
        }
    }

    fn has_connection(&mut self, connection: usize) -> bool {
        self.connections.get(connection).is_some_and(|entry| entry.id.is_some())
    }

    fn configure(&mut self, machine: &ScriptMachine) {
        self.drops = machine.drops;
        self.limit(machine);
        let Some(bits) = machine.fast_open else { return };
        let key = machine.fast_open_key.unwrap_or_default();
        self.host.set_fast_open(FastOpen {
            local: Some(self.local),
            demands_cookie: bits & machine::TFO_SERVER_NO_COOKIE == 0,
            ..FastOpen::new(key)
        });
        self.host.set_fast_open_client(FastOpenClient {
            demands_cookie: bits & machine::TFO_CLIENT_NO_COOKIE == 0,
            first_pause: Duration::from_secs(machine.blackhole_seconds.unwrap_or(3600)),
            timeouts_tolerated: 2,
            reserves_options: true,
        });
    }

    fn forget_peers(&mut self) {
        self.host.forget_fast_open_cookies();
    }

    fn counter(&mut self, name: &str) -> Option<u64> {
        match name {
            "OutOfWindowIcmps" => Some(self.host.counters().icmp_out_of_window),
            "BeyondWindow" => Some(self.host.counters().out_of_window),
            _ => None,
        }
    }
}
