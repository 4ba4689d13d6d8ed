//! The connections under way, by their addresses and ports, in the order of their last packets.
//!
//! A connection has one key for both directions. The least recently used one is the first to be idle and
//! the first to be evicted, so neither needs a search.

use crate::connection::{Side, TracedConnection};
use capture::{Observed, TcpEnd};
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use units::Instant;

const NONE: u32 = u32::MAX;

/// The two ends of a connection, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    low: TcpEnd,
    high: TcpEnd,
}

impl Ends {
    fn of(segment: &Observed) -> Self {
        let (a, b) = (segment.source, segment.destination);
        if a <= b { Self { low: a, high: b } } else { Self { low: b, high: a } }
    }
}

impl Hash for Ends {
    /// Two words for IPv4: every segment is looked up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        for end in [&self.low, &self.high] {
            match end.ip {
                IpAddr::V4(ip) => {
                    state.write_u64(u64::from(u32::from(ip)) << 16 | u64::from(end.port));
                }
                IpAddr::V6(ip) => {
                    state.write_u128(ip.into());
                    state.write_u16(end.port);
                }
            }
        }
    }
}

/// A place of the table.
struct Place {
    connection: Option<TracedConnection>,
    ends: Ends,
    older: u32,
    newer: u32,
}

/// The connections under way.
pub(crate) struct ConnectionTable {
    by_ends: FxHashMap<Ends, u32>,
    places: Vec<Place>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
}

impl ConnectionTable {
    pub(crate) fn new() -> Self {
        Self {
            by_ends: FxHashMap::default(),
            places: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// The place of the connection of a segment.
    pub(crate) fn find(&self, segment: &Observed) -> Option<u32> {
        self.by_ends.get(&Ends::of(segment)).copied()
    }

    /// The connection at a place, and the side that sent `segment`.
    pub(crate) fn at(&mut self, place: u32, segment: &Observed) -> Option<(&mut TracedConnection, Side)> {
        let connection = self.places[place as usize].connection.as_mut()?;
        let side = usize::from(connection.ends[0] != segment.source);
        Some((connection, side))
    }

    /// Makes the connection at a place the latest.
    pub(crate) fn touch(&mut self, place: u32) {
        if self.newest != place {
            self.unlink(place);
            self.link_newest(place);
        }
    }

    /// Adds a connection that begins with `segment`.
    pub(crate) fn insert(&mut self, segment: &Observed, connection: TracedConnection) -> u32 {
        let ends = Ends::of(segment);
        let fresh = Place { connection: Some(connection), ends, older: NONE, newer: NONE };
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = fresh;
                place
            }
            None => {
                self.places.push(fresh);
                (self.places.len() - 1) as u32
            }
        };
        self.by_ends.insert(ends, place);
        self.link_newest(place);
        place
    }

    /// Takes the connection at a place out.
    pub(crate) fn remove(&mut self, place: u32) -> Option<TracedConnection> {
        self.unlink(place);
        self.by_ends.remove(&self.places[place as usize].ends);
        self.free.push(place);
        self.places[place as usize].connection.take()
    }

    /// The place of the connection with the earliest last packet, and when that was.
    pub(crate) fn oldest(&self) -> Option<(u32, Instant)> {
        let place = self.places.get(self.oldest as usize)?;
        place.connection.as_ref().map(|connection| (self.oldest, connection.last))
    }

    fn link_newest(&mut self, place: u32) {
        let before = std::mem::replace(&mut self.newest, place);
        self.places[place as usize].older = before;
        self.places[place as usize].newer = NONE;
        match self.places.get_mut(before as usize) {
            Some(before) => before.newer = place,
            None => self.oldest = place,
        }
    }

    fn unlink(&mut self, place: u32) {
        let Place { older, newer, .. } = self.places[place as usize];
        match self.places.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
        match self.places.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
    }
}
