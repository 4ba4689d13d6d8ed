//! Connections that open to the same destination at a time, and what they tell each other.
//!
//! Under schemes with `opening_timer=known` an answer to one SYN or SYN-ACK tells the others how long
//! an answer takes, and that one which left earlier is overdue. With `opening_burst` SYNs beyond so
//! many leave spaced: the first queue on the way would drop them. Other schemes pay nothing.

use super::{ConnId, Host};
use crate::connection::{Connection, SiblingOpened};
use crate::path::Path;
use memory::{DestinationTable, PathKey, Scope};
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use units::{Duration, Instant, Rate};

/// Destinations whose round trip is known from connections that have opened.
const DESTINATIONS: usize = 4096;
/// Answers to SYNs that left no sooner which say that one is overdue: as the third duplicate ACK, but
/// for packets that are on their way a quarter of a round trip longer already.
const OVERTAKEN: u8 = 2;
/// What an uplink is believed to carry before anything is known: 1.5 Mbit/s, a slow DSL line.
const UPLINK: Rate = Rate::from_bps(1_500_000);
/// A SYN with its headers, bytes.
const SYN_BYTES: u64 = 74;

/// A connection that waits for an answer to its SYN or SYN-ACK.
struct Waiting {
    id: ConnId,
    /// When that left last, as far as others have been heard since.
    sent: Option<Instant>,
    /// Answers that have overtaken it since then.
    overtaken: u8,
}

/// What the opening connections of a host know of each other.
pub(super) struct Openings {
    /// By destination, those that wait for an answer.
    waiting: FxHashMap<IpAddr, Vec<Waiting>>,
    round_trips: DestinationTable<(Duration, Instant)>,
    /// By destination, when the SYNs that have been let go will have left.
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
    /// What left at `answered` has been answered; its own left last at `sent`. What has gone again since
    /// is overtaken by nothing yet.
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
    /// A connection that begins takes what the last one to open has seen.
    pub(super) fn inform(&mut self, now: Instant, conn: &Connection, path: &mut Path) {
        if !conn.waits_for_siblings() {
            return;
        }
        if let Some(&mut (rtt, at)) = self.round_trips.entry(key(conn.tuple().remote))
            && now.saturating_since(at) < FRESH
        {
            path.rtt.seed(rtt, rtt / 2);
        }
    }

    /// When the next SYN to `remote` may leave, `burst` of which leave at once.
    pub(super) fn release(&mut self, now: Instant, remote: IpAddr, burst: u32) -> Instant {
        let gap = UPLINK.transmit_time(SYN_BYTES);
        let last = self.released.entry_or(key(remote), || now);
        *last = (*last).max(now) + gap;
        let ahead = last.saturating_since(now);
        now + ahead.saturating_sub(gap * u64::from(burst))
    }

    fn enter(&mut self, remote: IpAddr, id: ConnId) {
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
    /// A connection has been admitted.
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
            self.openings.enter(remote, id);
        }
    }

    /// A connection has opened: others to the same destination hear of it.
    pub(super) fn tell_siblings(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at(id.0) else { return };
        if !entry.conn.asks_siblings() {
            return;
        }
        let remote = entry.conn.tuple().remote;
        self.openings.leave(remote, id);
        let Some(path) = self.paths.at(entry.path.0) else { return };
        let round_trip = path.rtt.min_rtt();
        if round_trip == Duration::MAX {
            return;
        }
        *self.openings.round_trips.entry_or(key(remote), || (round_trip, now)) = (round_trip, now);
        let Some(mut group) = self.openings.waiting.remove(&remote) else { return };
        for sibling in &mut group {
            self.tell_sibling(now, sibling, round_trip);
        }
        self.openings.waiting.insert(remote, group);
    }

    fn tell_sibling(&mut self, now: Instant, waiting: &mut Waiting, round_trip: Duration) {
        let Some(entry) = self.connections.at_mut(waiting.id.0) else { return };
        let Some(path) = self.paths.at_mut(entry.path.0) else { return };
        waiting.count(entry.conn.opening_sent_at(), now - round_trip);
        let sibling = SiblingOpened { round_trip, overtaken: waiting.overtaken >= OVERTAKEN };
        if let Some(deadline) = entry.conn.on_sibling_opened(now, path, sibling) {
            self.wakeups.schedule(waiting.id, deadline);
        }
    }

    /// A connection is over before it has opened.
    pub(super) fn leave_openings(&mut self, id: ConnId, conn: &Connection) {
        if conn.asks_siblings() {
            self.openings.leave(conn.tuple().remote, id);
        }
    }
}
