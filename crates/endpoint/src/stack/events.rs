//! Passes the core's events to the applications that they concern.

use super::slot::{Owner, Slot};
use super::{Listening, Stack};
use crate::mailbox::Remote;
use crate::shared::{End, SharedStream};
use crate::stream::Stream;
use std::io::ErrorKind;
use std::sync::Arc;
use tcp::{ConnId, EventKind, FourTuple, ResetCause, Scheme, Unreachable};
use units::Instant;

impl Stack {
    /// Handles all events of the core.
    pub(super) fn digest_events(&mut self, now: Instant) {
        while let Some(event) = self.host.poll_event() {
            let id = event.conn;
            match event.kind {
                EventKind::Accepted => self.on_accepted(now, id),
                EventKind::Connected => self.on_connected(now, id),
                EventKind::Received { total } => {
                    if let Some(slot) = self.slots.at(id) {
                        slot.shared.on_received(total, &mut self.wakers);
                    }
                }
                EventKind::Acked { total } => self.on_acked(now, id, total),
                EventKind::PeerClosed => {
                    if let Some(slot) = self.slots.at(id) {
                        slot.shared.on_peer_closed(&mut self.wakers);
                    }
                }
                EventKind::Closed => self.on_end(id, End::Closed),
                EventKind::Reset => {
                    let kind = self.failure(id);
                    self.on_end(id, End::Failed(kind));
                }
            }
        }
    }

    /// Gives a peer's connection a slot, if it has none.
    pub(super) fn adopt(&mut self, id: ConnId, tuple: &FourTuple) {
        if self.slots.at(id).is_some_and(|slot| slot.tuple == *tuple) {
            return;
        }
        let listening = self.listeners.iter().find(|l| l.port == tuple.local_port);
        if let Some(scheme) = listening.map(|listening| listening.scheme.clone()) {
            self.make_slot(id, tuple, &scheme);
        }
    }

    /// Gives a connection its slot.
    pub(super) fn make_slot(&mut self, id: ConnId, tuple: &FourTuple, scheme: &Scheme) {
        let peer = (tuple.remote, tuple.remote_port).into();
        let Some(local) = self.addresses.local_address_towards(tuple.remote, tuple.local_port)
        else {
            return;
        };
        let (sizes, account) = (self.sizes(scheme), self.accounts.of(tuple.remote));
        let shared = Arc::new(SharedStream::new(id, local, peer, sizes, account));
        self.slots.insert(id, Slot::new(shared, *tuple, scheme.name().into()));
    }

    fn on_accepted(&mut self, now: Instant, id: ConnId) {
        let Some(tuple) = self.host.connection(id).map(|conn| *conn.tuple()) else { return };
        self.adopt(id, &tuple);
        let refused = match self.hand_out(id, &tuple) {
            Ok(()) => return,
            Err(counter) => counter,
        };
        match refused {
            Refused::Backlog => self.counters.backlog_full += 1,
            Refused::Buffers => self.counters.buffers_full += 1,
            Refused::NobodyListens => {}
        }
        if let Some(slot) = self.slot_of(id) {
            slot.owner = Owner::Dropped;
        }
        self.host.abort(now, id);
    }

    /// Passes a connection to the listener.
    fn hand_out(&mut self, id: ConnId, tuple: &FourTuple) -> Result<(), Refused> {
        let remote = self.remote.upgrade().ok_or(Refused::NobodyListens)?;
        let listening = self.listeners.iter().find(|l| l.port == tuple.local_port);
        let Listening { accepted, .. } = listening.ok_or(Refused::NobodyListens)?;
        let slot = self.slots.at_mut(id).ok_or(Refused::NobodyListens)?;
        if slot.shared.may_take_nothing() {
            return Err(Refused::Buffers);
        }
        let place = accepted.try_reserve().map_err(|_| Refused::Backlog)?;
        slot.owner = Owner::Application;
        place.send(Stream::new(Arc::clone(&slot.shared), remote));
        self.counters.accepted += 1;
        Ok(())
    }

    fn on_connected(&mut self, now: Instant, id: ConnId) {
        let Some(slot) = self.slots.at_mut(id) else { return };
        let owner = std::mem::replace(&mut slot.owner, Owner::Application);
        let Owner::Connecting(reply) = owner else {
            slot.owner = owner;
            return;
        };
        self.counters.connected += 1;
        let shared = Arc::clone(&slot.shared);
        let stream: Option<Arc<Remote>> = self.remote.upgrade();
        // A stream without a receiver is dropped here, which closes the connection.
        let taken =
            stream.is_some_and(|remote| reply.send(Ok(Stream::new(shared, remote))).is_ok());
        if !taken && self.remote.strong_count() == 0 {
            self.host.abort(now, id);
        }
    }

    fn on_acked(&mut self, now: Instant, id: ConnId, total: u64) {
        let Some(slot) = self.slots.at_mut(id) else { return };
        let path = self.host.path_of(id);
        // The buffer has room for the window and for data written until that is acknowledged, as in
        // Linux.
        let limit = path.map_or(0, |path| path.window().cwnd().saturating_mul(2));
        slot.shared.on_acked(total, limit, &mut self.wakers);
        if let Some(path) = path {
            slot.rate.on_acked(now, total, path.rtt().srtt());
        }
    }

    fn on_end(&mut self, id: ConnId, end: End) {
        self.counters.failed += u64::from(end != End::Closed);
        if let Some(slot) = self.slots.take(id) {
            slot.end(end, &mut self.wakers);
        }
    }

    /// Returns why a connection was reset or given up, with the error kinds of the system's own
    /// sockets.
    fn failure(&self, id: ConnId) -> ErrorKind {
        let connecting =
            self.slots.at(id).is_some_and(|slot| matches!(slot.owner, Owner::Connecting(_)));
        match self.host.reset_cause(id) {
            Some(ResetCause::TimedOut) => ErrorKind::TimedOut,
            Some(ResetCause::Local) => ErrorKind::ConnectionAborted,
            Some(ResetCause::Unreachable(Unreachable::Route | Unreachable::TimeExceeded)) => {
                ErrorKind::HostUnreachable
            }
            Some(ResetCause::Unreachable(_)) => ErrorKind::ConnectionRefused,
            Some(ResetCause::Peer) if connecting => ErrorKind::ConnectionRefused,
            Some(ResetCause::Peer) | None => ErrorKind::ConnectionReset,
        }
    }
}

/// The reason why a connection is not passed on.
enum Refused {
    NobodyListens,
    Backlog,
    Buffers,
}
