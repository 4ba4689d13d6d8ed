//! The connections under way, by their addresses and ports, in the order of their last packets.
//!
//! A connection has one key for both directions. The least recently used one is the first to be idle and
//! the first to be evicted, so neither needs a search.

use crate::connection::{Digesting, Side, TracedConnection};
use crate::sink::TraceSink;
use capture::{Observed, TcpEnd};
use rustc_hash::FxHashMap;
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant};

const NONE: u32 = u32::MAX;

/// The two ends of a connection, the lower one first: two words for IPv4, since every segment is looked up.
type EndsV4 = (u64, u64);
type EndsV6 = (TcpEnd, TcpEnd);

/// What a segment is looked up by; `swapped`: its sender is the higher end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndsKey {
    V4 { ends: EndsV4, swapped: bool },
    V6 { ends: EndsV6, swapped: bool },
}

impl EndsKey {
    fn between(source: &TcpEnd, destination: &TcpEnd) -> Self {
        if let (IpAddr::V4(from), IpAddr::V4(to)) = (source.ip, destination.ip) {
            let (from, to) = (word_of(from, source.port), word_of(to, destination.port));
            return Self::V4 { ends: (from.min(to), from.max(to)), swapped: from > to };
        }
        let swapped = source > destination;
        let ends = if swapped { (*destination, *source) } else { (*source, *destination) };
        Self::V6 { ends, swapped }
    }

    fn of(segment: &Observed) -> Self {
        Self::between(&segment.source, &segment.destination)
    }

    const fn is_swapped(&self) -> bool {
        match self {
            Self::V4 { swapped, .. } | Self::V6 { swapped, .. } => *swapped,
        }
    }
}

/// An end of IPv4.
#[inline]
fn word_of(ip: Ipv4Addr, port: u16) -> u64 {
    u64::from(u32::from(ip)) << 16 | u64::from(port)
}

/// Where a segment's connection is, and which side of it has sent the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundPlace {
    pub(crate) place: u32,
    pub(crate) side: Side,
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
    /// The side of the first packet is the higher end.
    swapped: bool,
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
    by_v4: FxHashMap<EndsV4, u32>,
    by_v6: FxHashMap<EndsV6, u32>,
    places: Vec<Place>,
    free: Vec<u32>,
    lists: [ListEnds; 2],
    /// Whose segment was looked up last: the next is often of the same connection.
    last: (EndsV4, u32),
}

/// A connection is moved to the end of its list at most this often.
const TOUCH_EVERY: Duration = Duration::from_millis(100);

/// No connection: its ends are one, at port 0.
const NOBODY: (EndsV4, u32) = ((0, 0), NONE);

impl ConnectionTable {
    pub(crate) fn new() -> Self {
        let none = ListEnds { oldest: NONE, newest: NONE };
        Self {
            by_v4: FxHashMap::default(),
            by_v6: FxHashMap::default(),
            places: Vec::new(),
            free: Vec::new(),
            lists: [none; 2],
            last: NOBODY,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_v4.len() + self.by_v6.len()
    }

    /// The place of the connection of a segment, and its sender's side.
    #[inline]
    pub(crate) fn find(&mut self, segment: &Observed) -> Option<FoundPlace> {
        let (IpAddr::V4(from), IpAddr::V4(to)) = (segment.source.ip, segment.destination.ip) else {
            return self.find_v6(segment);
        };
        let from = word_of(from, segment.source.port);
        let to = word_of(to, segment.destination.port);
        let ends = (from.min(to), from.max(to));
        let place = if ends == self.last.0 { self.last.1 } else { *self.by_v4.get(&ends)? };
        self.last = (ends, place);
        let swapped = self.places.get(place as usize)?.swapped;
        Some(FoundPlace { place, side: usize::from(swapped != (from > to)) })
    }

    fn find_v6(&self, segment: &Observed) -> Option<FoundPlace> {
        let EndsKey::V6 { ends, swapped } = EndsKey::of(segment) else { return None };
        let place = *self.by_v6.get(&ends)?;
        let side = usize::from(self.places.get(place as usize)?.swapped != swapped);
        Some(FoundPlace { place, side })
    }

    /// The connection at a place.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> Option<&mut TracedConnection> {
        self.places[place as usize].connection.as_deref_mut()
    }

    /// The connection at a place, which becomes the latest of the active ones.
    #[inline]
    pub(crate) fn touch(&mut self, place: u32, now: Instant) -> Option<&mut TracedConnection> {
        let known = self.places.get(place as usize)?;
        if known.list == List::Parked || now.saturating_since(known.touched) > TOUCH_EVERY {
            self.move_to(place, List::Active, now);
        }
        self.at(place)
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
            if last < then && connection.is_over {
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
        let key = EndsKey::of(segment);
        let fresh = Place {
            connection: Some(Box::new(connection)),
            older: NONE,
            newer: NONE,
            list: List::Active,
            swapped: key.is_swapped(),
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
        match key {
            EndsKey::V4 { ends, .. } => self.by_v4.insert(ends, place),
            EndsKey::V6 { ends, .. } => self.by_v6.insert(ends, place),
        };
        self.link_newest(place);
        place
    }

    /// Takes the connection at a place out.
    pub(crate) fn remove(&mut self, place: u32) -> Option<Box<TracedConnection>> {
        self.unlink(place);
        self.last = NOBODY;
        self.free.push(place);
        let connection = self.places[place as usize].connection.take()?;
        match EndsKey::between(&connection.ends[0], &connection.ends[1]) {
            EndsKey::V4 { ends, .. } => self.by_v4.remove(&ends),
            EndsKey::V6 { ends, .. } => self.by_v6.remove(&ends),
        };
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
