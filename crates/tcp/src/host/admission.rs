//! How connections come to a host and leave it, and which paths they have.

use super::told::{Entry, Told, tell};
use super::{ConnId, Event, EventKind, Host};
use crate::connection::{Connection, State};
use crate::ensemble::PathId;
use crate::scheme::Scheme;
use units::Instant;

impl Host {
    pub(super) fn admit(
        &mut self,
        now: Instant,
        mut conn: Connection,
        (scheme, passive): (&Scheme, bool),
    ) -> ConnId {
        let tuple = *conn.tuple();
        let path = self.ensemble.join(&tuple).unwrap_or_else(|| {
            PathId(self.paths.insert(self.memories.path(now, scheme, tuple.remote)))
        });
        if let Some(path) = self.paths.at(path.0) {
            conn.permit_early_data(path.remembers_early_data());
        }
        self.ensemble.on_joined(&tuple, path);
        let told = Told { passive, ..Told::default() };
        let id = ConnId(self.connections.insert(Entry { conn, path, queued: false, told }));
        self.wakeups.forget(id);
        self.by_tuple.insert(tuple, id);
        id
    }

    /// Frees a connection that is closed and has nothing left to send.
    pub(super) fn reap(&mut self, id: ConnId) {
        let closed = self.connections.at(id.0).is_some_and(|e| e.conn.state() == State::Closed);
        if !closed {
            return;
        }
        let Some(mut entry) = self.connections.take(id.0) else {
            return;
        };
        if let Some(path) = self.paths.at_mut(entry.path.0) {
            entry.conn.release(path);
            path.learn_of_end();
            path.forget(id.0);
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
