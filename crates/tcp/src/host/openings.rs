//! Connections that open to the same destination at the same time, and the information that they
//! exchange.
//!
//! Under schemes with `opening_timer=known`, an answer to one SYN or SYN-ACK shows the others the
//! round trip, and that an earlier one is overdue. With `opening_burst`, SYNs above that number
//! leave spaced: the first queue on the path would drop them. Other schemes have no cost.

use super::{ConnId, Host};
use crate::connection::{Connection, SiblingOpened};
use crate::path::Path;
use memory::{DestinationTable, PathKey, Scope};
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use units::{Duration, Instant, Rate};

/// Destinations whose round trip is known from connections that have opened.
const DESTINATIONS: usize = 4096;
/// Answers to SYNs sent no earlier after which a SYN is overdue. The number is that of duplicate
/// ACKs less one, because the answers already took part of a round trip longer.
const OVERTAKEN: u8 = 2;
/// Rate assumed of an uplink before anything is known: 1.5 Mbit/s, a slow DSL line.
const UPLINK: Rate = Rate::from_bps(1_500_000);
/// A SYN with its headers, bytes.
const SYN_BYTES: u64 = 74;

/// A connection that waits for an answer to its SYN or SYN-ACK.
struct Waiting {
    id: ConnId,
    /// Time at which that was sent last, when a sibling's answer was last processed.
    sent: Option<Instant>,
    /// Number of siblings' answers that have overtaken it since then.
    overtaken: u8,
}

/// Knowledge of a host's opening connections about each other.
pub(super) struct Openings {
    /// Connections that wait for an answer, by destination.
    waiting: FxHashMap<IpAddr, Vec<Waiting>>,
    round_trips: DestinationTable<(Duration, Instant)>,
    /// The time, by destination, at which all released SYNs will have left.
    released: DestinationTable<Instant>,
}

impl Default for Openings {
    fn default() -> Self {
        Self {
            waiting: FxHashMap::default(),
            round_trips: DestinationTable::new(DESTINATIONS),
            released: DestinationTable::new(DESTINATIONS),
        }
    }
}

/// A round trip older than this may be another path's.
const FRESH: Duration = Duration::from_secs(600);

fn key(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Host)
}

impl Waiting {
    /// Counts the answer to a SYN sent at `answered`; this connection's own was sent last at
    /// `sent`. A retransmission since then is not overtaken yet.
    fn count(&mut self, sent: Option<Instant>, answered: Instant) {
        if self.sent != sent {
            (self.sent, self.overtaken) = (sent, 0);
        }
        let more = match sent {
            Some(sent) if sent < answered => OVERTAKEN,
            Some(sent) => u8::from(sent == answered),
            None => 0,
        };
        self.overtaken = self.overtaken.saturating_add(more);
    }
}

impl Openings {
    /// Seeds a new connection's round trip with that of the last one to open.
    pub(super) fn seed_round_trip(&mut self, now: Instant, conn: &Connection, path: &mut Path) {
        if !conn.waits_for_siblings() {
            return;
        }
        if let Some(&mut (rtt, at)) = self.round_trips.entry(key(conn.tuple().remote))
            && now.saturating_since(at) < FRESH
        {
            path.seed_rtt(rtt, rtt / 2);
        }
    }

    /// Returns the time at which the next SYN to `remote` may leave; `burst` of them leave at once.
    pub(super) fn release(&mut self, now: Instant, remote: IpAddr, burst: u32) -> Instant {
        let gap = UPLINK.transmit_time(SYN_BYTES);
        let last = self.released.entry_or(key(remote), || now);
        *last = (*last).max(now) + gap;
        let ahead = last.saturating_since(now);
        now + ahead.saturating_sub(gap * u64::from(burst))
    }

    fn add_opening(&mut self, remote: IpAddr, id: ConnId) {
        self.waiting.entry(remote).or_default().push(Waiting { id, sent: None, overtaken: 0 });
    }

    fn leave(&mut self, remote: IpAddr, id: ConnId) {
        if let Some(group) = self.waiting.get_mut(&remote) {
            group.retain(|other| other.id != id);
            if group.is_empty() {
                self.waiting.remove(&remote);
            }
        }
    }
}

impl Host {
    /// Registers a connection that was admitted.
    pub(super) fn enter_openings(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        let (remote, burst) = (entry.conn.tuple().remote, entry.conn.opening_burst());
        if let Some(burst) = burst {
            let at = self.openings.release(now, remote, burst);
            if at > now {
                entry.conn.open_at(at);
            }
        }
        if entry.conn.waits_for_siblings() {
            self.openings.add_opening(remote, id);
        }
    }

    /// Notifies connections to the same destination that this one has opened.
    pub(super) fn report_siblings(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at(id.0) else { return };
        if !entry.conn.asks_siblings() {
            return;
        }
        let remote = entry.conn.tuple().remote;
        self.openings.leave(remote, id);
        let Some(path) = self.paths.at(entry.path.0) else { return };
        let round_trip = path.rtt().min_rtt();
        if round_trip == Duration::MAX {
            return;
        }
        *self.openings.round_trips.entry_or(key(remote), || (round_trip, now)) = (round_trip, now);
        let Some(mut group) = self.openings.waiting.remove(&remote) else { return };
        for sibling in &mut group {
            self.report_sibling(now, sibling, round_trip);
        }
        self.openings.waiting.insert(remote, group);
    }

    fn report_sibling(&mut self, now: Instant, waiting: &mut Waiting, round_trip: Duration) {
        let Some(entry) = self.connections.at_mut(waiting.id.0) else { return };
        let Some(path) = self.paths.at_mut(entry.path.0) else { return };
        waiting.count(entry.conn.opening_sent_at(), now - round_trip);
        let sibling = SiblingOpened { round_trip, overtaken: waiting.overtaken >= OVERTAKEN };
        if let Some(deadline) = entry.conn.on_sibling_opened(now, path, sibling) {
            self.wakeups.schedule(waiting.id, deadline);
        }
    }

    /// Removes a connection that ended before it opened.
    pub(super) fn leave_openings(&mut self, id: ConnId, conn: &Connection) {
        if conn.asks_siblings() {
            self.openings.leave(conn.tuple().remote, id);
        }
    }
}
