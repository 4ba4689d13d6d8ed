//! The connections under way, by their addresses and ports, in the order of their last packets.
//!
//! A connection has one key for both directions. The least recently used one is the first to be idle and
//! the first to be evicted, so neither needs a search.

use crate::connection::{Digesting, Side, TracedConnection};
use crate::sink::TraceSink;
use capture::{Observed, TcpEnd};
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use units::{Duration, Instant};

const NONE: u32 = u32::MAX;

/// The two ends of a connection, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    low: TcpEnd,
    high: TcpEnd,
}

impl Ends {
    fn of(segment: &Observed) -> Self {
        Self::between(segment.source, segment.destination)
    }

    fn between(a: TcpEnd, b: TcpEnd) -> Self {
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

/// A list of places, from the one used longest ago to the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Active,
    Parked,
}

/// A place of the table.
struct Place {
    connection: Option<Box<TracedConnection>>,
    older: u32,
    newer: u32,
    list: List,
    /// When it became the latest of its list.
    touched: Instant,
}

/// The ends of a list.
#[derive(Clone, Copy, Debug)]
struct ListEnds {
    oldest: u32,
    newest: u32,
}

/// The connections under way.
pub(crate) struct ConnectionTable {
    by_ends: FxHashMap<Ends, u32>,
    places: Vec<Place>,
    free: Vec<u32>,
    lists: [ListEnds; 2],
    /// Whose segment was looked up last: the next is often of the same connection.
    last: Option<(TcpEnd, TcpEnd, u32)>,
}

/// A connection is moved to the end of its list at most this often.
const TOUCH_EVERY: Duration = Duration::from_millis(100);

impl ConnectionTable {
    pub(crate) fn new() -> Self {
        let none = ListEnds { oldest: NONE, newest: NONE };
        Self {
            by_ends: FxHashMap::default(),
            places: Vec::new(),
            free: Vec::new(),
            lists: [none; 2],
            last: None,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// The place of the connection of a segment.
    pub(crate) fn find(&mut self, segment: &Observed) -> Option<u32> {
        if let Some((source, destination, place)) = self.last
            && source == segment.source
            && destination == segment.destination
        {
            return Some(place);
        }
        let place = self.by_ends.get(&Ends::of(segment)).copied()?;
        self.last = Some((segment.source, segment.destination, place));
        Some(place)
    }

    /// The connection at a place, and the side that sent `segment`.
    pub(crate) fn at(
        &mut self,
        place: u32,
        segment: &Observed,
    ) -> Option<(&mut TracedConnection, Side)> {
        let connection = self.places[place as usize].connection.as_deref_mut()?;
        let side = usize::from(connection.ends[0] != segment.source);
        Some((connection, side))
    }

    /// Makes the connection at a place the latest of the active ones.
    pub(crate) fn touch(&mut self, place: u32, now: Instant) {
        let known = &self.places[place as usize];
        if known.list == List::Parked || now.saturating_since(known.touched) > TOUCH_EVERY {
            self.move_to(place, List::Active, now);
        }
    }

    /// Makes active connections small whose last packet was before `then`; answers the next of them that is
    /// over.
    pub(crate) fn park_before<S: TraceSink>(
        &mut self,
        then: Instant,
        with: &mut Digesting<'_, S>,
    ) -> Option<u32> {
        loop {
            let place = self.lists[List::Active as usize].oldest;
            let found = self.places.get_mut(place as usize)?;
            let connection = found.connection.as_mut()?;
            let last = connection.last;
            if last >= then && found.touched >= then {
                return None;
            }
            if last < then && connection.is_over() {
                return Some(place);
            }
            if last < then {
                connection.park(with);
                self.move_to(place, List::Parked, last);
            } else {
                self.move_to(place, List::Active, last);
            }
        }
    }

    /// Adds a connection that begins with `segment`.
    pub(crate) fn insert(&mut self, segment: &Observed, connection: TracedConnection) -> u32 {
        let fresh = Place {
            connection: Some(Box::new(connection)),
            older: NONE,
            newer: NONE,
            list: List::Active,
            touched: segment.at,
        };
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
        self.by_ends.insert(Ends::of(segment), place);
        self.link_newest(place);
        place
    }

    /// Takes the connection at a place out.
    pub(crate) fn remove(&mut self, place: u32) -> Option<Box<TracedConnection>> {
        self.unlink(place);
        self.last = None;
        self.free.push(place);
        let connection = self.places[place as usize].connection.take()?;
        self.by_ends.remove(&Ends::between(connection.ends[0], connection.ends[1]));
        Some(connection)
    }

    /// The place of the connection used longest ago, and when its last packet was.
    pub(crate) fn oldest(&self) -> Option<(u32, Instant)> {
        [List::Parked, List::Active].into_iter().find_map(|list| {
            let oldest = self.lists[list as usize].oldest;
            let place = self.places.get(oldest as usize)?;
            place.connection.as_ref().map(|connection| (oldest, connection.last))
        })
    }

    fn move_to(&mut self, place: u32, list: List, touched: Instant) {
        self.unlink(place);
        let known = &mut self.places[place as usize];
        known.list = list;
        known.touched = touched;
        self.link_newest(place);
    }

    fn link_newest(&mut self, place: u32) {
        let list = &mut self.lists[self.places[place as usize].list as usize];
        let before = std::mem::replace(&mut list.newest, place);
        if before == NONE {
            list.oldest = place;
        }
        self.places[place as usize].older = before;
        self.places[place as usize].newer = NONE;
        if let Some(before) = self.places.get_mut(before as usize) {
            before.newer = place;
        }
    }

    fn unlink(&mut self, place: u32) {
        let Place { older, newer, list, .. } = self.places[place as usize];
        match self.places.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.lists[list as usize].oldest = newer,
        }
        match self.places.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => self.lists[list as usize].newest = older,
        }
    }
}
