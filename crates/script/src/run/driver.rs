//! A host in virtual time, and what it has sent and reported.

use super::super::model::TcpInfoField;
use super::info;
use super::subject::{ObservedSegment, SocketProgress, Subject};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use tcp::{ConnId, EventKind, FourTuple, Host, HostConfig, Scheme, Segment, Transmit};
use units::Instant;

/// Ports and address of a script's one connection (RFC 5737's documentation addresses).
const TUPLE: FourTuple = FourTuple {
    local_port: 8080,
    remote: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    remote_port: 49_152,
};

/// Timers that may fire at one instant; beyond it the host makes no progress.
const MOST_AT_ONCE: u32 = 10_000;

/// A host in virtual time.
pub(super) struct Driver {
    host: Host,
    now: Instant,
    connection: Option<ConnId>,
    sent: VecDeque<ObservedSegment>,
    progress: SocketProgress,
    at_once: u32,
}

impl Driver {
    pub(super) fn new(seed: u64) -> Self {
        let mut host = Host::new(HostConfig { seed });
        host.set_auto_read(false);
        Self {
            host,
            now: Instant::ZERO,
            connection: None,
            sent: VecDeque::new(),
            progress: SocketProgress::default(),
            at_once: 0,
        }
    }

    /// False if timers fire and fire and no time passes.
    fn move_to(&mut self, due: Instant) -> bool {
        self.at_once = if due > self.now { 0 } else { self.at_once + 1 };
        self.now = self.now.max(due);
        self.at_once < MOST_AT_ONCE
    }

    /// Calls `act` on the connection, if there is one, and sends what it leads to.
    fn with(&mut self, act: impl FnOnce(&mut Host, Instant, ConnId)) {
        if let Some(id) = self.connection {
            act(&mut self.host, self.now, id);
        }
        self.drain();
    }

    /// Takes what the host has to send and to report.
    fn drain(&mut self) {
        while let Some(Transmit { conn, segment, .. }) = self.host.poll_transmit(self.now) {
            self.connection = self.connection.or(conn);
            self.sent.push_back(ObservedSegment { at: self.now, segment });
        }
        while let Some(event) = self.host.poll_event() {
            self.connection.get_or_insert(event.conn);
            self.on_event(event.kind);
        }
    }

    fn on_event(&mut self, kind: EventKind) {
        match kind {
            EventKind::Connected => self.progress.connected = true,
            EventKind::Accepted => self.progress.accepted = true,
            EventKind::Received { total } => self.progress.received = total,
            EventKind::PeerClosed => self.progress.peer_closed = true,
            EventKind::Reset => self.progress.reset = true,
            EventKind::Acked { .. } | EventKind::Closed => {}
        }
    }
}

impl Subject for Driver {
    fn now(&self) -> Instant {
        self.now
    }

    fn progress(&mut self) -> SocketProgress {
        self.progress
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
                    return Err(format!("{MOST_AT_ONCE} timers"));
                }
                self.host.handle_timeout(self.now);
                self.drain();
                Ok(true)
            }
            _ => {
                self.now = self.now.max(limit);
                Ok(false)
            }
        }
    }

    fn handle_segment(&mut self, segment: &Segment) {
        self.host.handle_segment(self.now, &TUPLE, segment);
        self.drain();
    }

    fn listen(&mut self, scheme: &Scheme) {
        self.host.listen(TUPLE.local_port, scheme.clone());
    }

    fn connect(&mut self, scheme: &Scheme, bytes: u64) {
        // A script has one connection; a second one to the same peer is refused.
        if let Ok(id) = self.host.connect(self.now, TUPLE, scheme) {
            self.connection = Some(id);
            self.host.write(self.now, id, bytes);
        }
        self.drain();
    }

    fn write(&mut self, bytes: u64) {
        self.with(|host, now, id| host.write(now, id, bytes));
    }

    fn read(&mut self, bytes: u64) {
        self.with(|host, now, id| host.read(now, id, bytes));
    }

    fn shutdown(&mut self) {
        self.with(|host, now, id| host.shutdown(now, id));
    }

    fn abort(&mut self) {
        self.with(|host, now, id| host.abort(now, id));
    }

    fn info(&mut self, info: TcpInfoField) -> Option<u64> {
        let id = self.connection?;
        let (connection, path) = (self.host.connection(id)?, self.host.path_of(id)?);
        Some(info::value(info, connection, path))
    }

    fn has_connection(&mut self) -> bool {
        self.connection.is_some_and(|id| self.host.connection(id).is_some())
    }
}
