//! Admission of connections to a host, their removal, and their paths.

use super::reported::{ConnectionEntry, PollState, ReportedState, SharingFacts, report_changes};
use super::{ConnId, End, Event, EventKind, Host};
use crate::connection::{Connection, State};
use crate::ensemble::{MemberShare, PathId};
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
        let path = PathId(self.paths.insert(self.memories.path(now, scheme, tuple.remote)));
        if let Some(path) = self.paths.at_mut(path.0) {
            path.set_seed(conn.seed());
            self.openings.seed_round_trip(now, &conn, path);
            if !passive || self.guard.limits.early_data_without_cookie {
                conn.permit_early_data(path.remembers_early_data());
            }
        }
        let reported = ReportedState::new(passive);
        let prospect = scheme.sharing().map(|sharing| {
            let scheme = scheme.shared_name();
            Box::new(SharingFacts { scheme, sharing, share: MemberShare::default() })
        });
        let early = prospect.is_some() && conn.is_early_data_allowed();
        let entry =
            ConnectionEntry { conn, path, standing: PollState::Idle, reported, prospect, held: 0 };
        let id = ConnId(self.connections.insert(entry));
        self.wakeups.forget(id);
        self.by_tuple.insert(tuple, id);
        self.enter_openings(now, id);
        if early {
            // Its first data leaves before the handshake ends.
            self.join(now, id);
        }
        id
    }

    /// Processes that a connection is open.
    pub(super) fn note_opened(&mut self, now: Instant, id: ConnId) {
        self.open_path(now, id);
        match self.connections.at(id.0).map(|entry| entry.reported.is_passive()) {
            Some(true) => self.half_open -= 1,
            Some(false) => self.learn_of_fast_open(now, id),
            None => {}
        }
        self.report_siblings(now, id);
    }

    /// Notifies a connection's path that the handshake is done, or that data was received before.
    pub(super) fn open_path(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at(id.0) else { return };
        if let Some(path) = self.paths.at_mut(entry.path.0) {
            let stats = entry.conn.stats();
            match entry.conn.is_pending_fast_open() {
                true => path.on_opened_early(now),
                false => path.on_opened(now, stats.timeouts + stats.retransmitted_segments == 0),
            }
        }
    }

    /// Releases a connection's path, which ends with its last connection.
    pub(super) fn let_go_of(&mut self, id: PathId) {
        let Some(path) = self.paths.at_mut(id.0) else { return };
        if path.drop_user() {
            path.learn_of_end();
            self.paths.take(id.0);
            self.paths.release(id.0);
        }
    }

    /// Frees a connection that is closed and has nothing left to send.
    pub(super) fn free_if_done(&mut self, now: Instant, id: ConnId) {
        let state = self.connections.at(id.0).map(|e| e.conn.state());
        let retires = state == Some(State::TimeWait) && self.guard.limits.retire_early;
        if state != Some(State::Closed) && !retires {
            return;
        }
        self.leave(id);
        let Some(mut entry) = self.connections.take(id.0) else {
            return;
        };
        if let Some(path) = self.paths.at_mut(entry.path.0) {
            entry.conn.release(path);
            path.forget(id.0);
        }
        self.let_go_of(entry.path);
        self.by_tuple.remove(entry.conn.tuple());
        self.leave_openings(id, &entry.conn);
        self.buffers.release(entry.held);
        self.guard.counters.sack_discarded += entry.conn.stats().sack_discarded;
        if retires {
            let remains = (*entry.conn.tuple(), entry.conn.time_wait_state());
            self.time_wait.add_connection(now, remains, &mut self.guard);
        }
        if entry.reported.is_passive() && entry.conn.is_pending_fast_open() {
            self.note_fast_open_reset(now);
        }
        if entry.reported.is_passive() && !entry.reported.is_open() {
            // The application does not know of this connection (RFC 9293 §3.10.7.4, RST in
            // SYN-RECEIVED).
            self.half_open -= 1;
            self.connections.release(id.0);
            return;
        }
        entry.reported.set_low_water(0);
        report_changes(&mut self.events, id, &mut entry);
        let (stats, cause) = (entry.conn.stats(), entry.conn.reset_cause());
        let kind = if cause.is_some() { EventKind::Reset } else { EventKind::Closed };
        self.events.push_back(Event { conn: id, kind });
        self.ends.push_back(End { stats, cause });
    }
}
