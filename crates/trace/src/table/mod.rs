//! The open connections, by their addresses, ports and networks, in the order of their last
//! packets.
//!
//! Packets of two VLANs or tunnels with the same addresses and ports are of two connections, unless
//! their sequence numbers are those of one. A mirror captures a routed packet in both VLANs. Each
//! direction of a connection may also have a VLAN or tunnel of its own. A connection has one key
//! for both directions. The least recently used one is the first to be idle and the first to be
//! evicted, so neither needs a search.

mod ends;
mod place;

use crate::connection::{Digesting, Side, TracedConnection};
use crate::sink::TraceSink;
use capture::Observed;
use ends::EndWords;
pub(crate) use ends::SegmentEnds;
use hashbrown::HashTable;
use place::{Link, List, ListEnds, NONE, TableSlot};
use units::{Duration, Instant};

/// The slot of a segment's connection, and the side that has sent the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundPlace {
    pub(crate) place: u32,
    pub(crate) side: Side,
}

/// The open connections.
pub(crate) struct ConnectionTable {
    /// Slots of IPv4 connections by the words of their ends, and those of IPv6.
    by_v4: HashTable<u32>,
    by_v6: HashTable<u32>,
    places: Vec<TableSlot>,
    free: Vec<u32>,
    lists: [ListEnds; List::COUNT],
    /// Key and slot of the last lookup: the next segment is often of the same connection.
    last: (EndWords, u32),
}

/// Minimum time between two moves of a connection to the end of its list.
const TOUCH_EVERY: Duration = Duration::from_millis(100);

/// The key of no connection, and no slot: both ends are equal, with port 0.
const NO_ENDS: (EndWords, u32) = (EndWords::NO_ENDS, NONE);

impl ConnectionTable {
    pub(crate) fn new() -> Self {
        let none = ListEnds { oldest: NONE, newest: NONE };
        Self {
            by_v4: HashTable::new(),
            by_v6: HashTable::new(),
            places: Vec::new(),
            free: Vec::new(),
            lists: [none; List::COUNT],
            last: NO_ENDS,
        }
    }

    /// Returns the number of connections.
    pub(crate) fn len(&self) -> usize {
        self.by_v4.len() + self.by_v6.len()
    }

    /// Returns the slot of a segment's connection, and its sender's side. Returns nothing if the
    /// connection began in another network ([`Self::find_elsewhere`]).
    #[inline(always)]
    pub(crate) fn find(&mut self, ends: &SegmentEnds, segment: &Observed) -> Option<FoundPlace> {
        if !ends.is_v4 {
            return self.find_v6(ends, segment);
        }
        if ends.words != self.last.0 {
            self.last = (ends.words, self.find_slot(ends)?);
        }
        let place = self.last.1;
        let swapped = self.places.get(place as usize)?.swapped;
        Some(FoundPlace { place, side: usize::from(swapped != ends.swapped) })
    }

    #[inline]
    fn find_slot(&self, ends: &SegmentEnds) -> Option<u32> {
        let is_here = |&place: &u32| self.places[place as usize].words == ends.words;
        self.by_v4.find(ends.hash, is_here).copied()
    }

    /// Returns the connection of a segment of IPv6, and the side that has sent it.
    #[inline(never)]
    fn find_v6(&self, ends: &SegmentEnds, segment: &Observed) -> Option<FoundPlace> {
        let is_here = |&place: &u32| {
            self.places[place as usize].words == ends.words
                && self.side_at(place, segment).is_some()
        };
        let place = *self.by_v6.find(ends.hash, is_here)?;
        Some(FoundPlace { place, side: self.side_at(place, segment)? })
    }

    /// Finds a connection of the same ends that began in another network, if the segment fits its
    /// sequence numbers.
    #[cold]
    pub(crate) fn find_elsewhere(
        &self,
        ends: &SegmentEnds,
        segment: &Observed,
    ) -> Option<FoundPlace> {
        let side_here = |place: u32| {
            let side = self.side_at(place, segment)?;
            let TableSlot { words, connection, .. } = &self.places[place as usize];
            let is_here = connection.as_ref()?.has_numbers_of(side, segment);
            (*words != ends.words && is_here).then_some(side)
        };
        let places = if ends.is_v4 { &self.by_v4 } else { &self.by_v6 };
        let place = *places.find(ends.hash, |&place| side_here(place).is_some())?;
        Some(FoundPlace { place, side: side_here(place)? })
    }

    /// Returns the side of a connection that has sent a segment, if both have the same ends.
    fn side_at(&self, place: u32, segment: &Observed) -> Option<Side> {
        let [one, other] = self.places[place as usize].connection.as_ref()?.ends;
        match (segment.source, segment.destination) {
            between if between == (one, other) => Some(0),
            between if between == (other, one) => Some(1),
            _ => None,
        }
    }

    /// Returns the connection in a slot, if it need not be moved to become the latest of the active
    /// ones.
    #[inline]
    pub(crate) fn connection_at(
        &mut self,
        place: u32,
        now: Instant,
    ) -> Option<&mut TracedConnection> {
        let known = self.places.get_mut(place as usize)?;
        let stays =
            known.list == List::Active && now.saturating_since(known.touched) <= TOUCH_EVERY;
        if stays { known.connection.as_deref_mut() } else { None }
    }

    /// Returns the connection in a slot.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> Option<&mut TracedConnection> {
        self.places[place as usize].connection.as_deref_mut()
    }

    /// Returns the connection in a slot, and makes it the latest of the active ones.
    #[inline]
    pub(crate) fn use_connection(
        &mut self,
        place: u32,
        now: Instant,
    ) -> Option<&mut TracedConnection> {
        let known = self.places.get(place as usize)?;
        if known.list == List::Idle || now.saturating_since(known.touched) > TOUCH_EVERY {
            self.move_to(place, List::Active, now);
        }
        self.at(place)
    }

    /// Compresses active connections whose last packet was before `then`; returns the next of them
    /// that is over.
    pub(crate) fn compress_before<S: TraceSink>(
        &mut self,
        then: Instant,
        with: &mut Digesting<'_, S>,
    ) -> Option<u32> {
        loop {
            let place = self.lists[List::Active as usize].oldest;
            let found = self.places.get(place as usize)?;
            let last = found.connection.as_ref()?.last;
            if last >= then {
                if found.touched >= then {
                    return None;
                }
                self.move_to(place, List::Active, last);
            } else if self.compress(place, with) {
                return Some(place);
            } else {
                self.move_to(place, List::Idle, last);
            }
        }
    }

    /// Compresses the connection in a slot; returns true if it is over instead.
    fn compress<S: TraceSink>(&mut self, place: u32, with: &mut Digesting<'_, S>) -> bool {
        let Some(connection) = self.at(place) else { return false };
        if !connection.is_over {
            connection.compress(with);
        }
        connection.is_over
    }

    /// Returns the connections that are over and wait for their last packets.
    pub(crate) fn finished_connections(&self) -> Vec<u32> {
        let is_over = |place: &&u32| {
            let connection = &self.places[**place as usize].connection;
            connection.as_ref().is_some_and(|connection| connection.is_over)
        };
        self.by_v4.iter().chain(&self.by_v6).filter(is_over).copied().collect()
    }

    /// Adds a connection that begins with `segment`, which has these `ends`.
    pub(crate) fn insert(
        &mut self,
        ends: &SegmentEnds,
        segment: &Observed,
        connection: TracedConnection,
    ) -> u32 {
        let fresh = TableSlot {
            connection: Some(Box::new(connection)),
            words: ends.words,
            link: Link::ALONE,
            list: List::Active,
            swapped: ends.swapped,
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
        let Self { by_v4, by_v6, places, .. } = self;
        let by_ends = if ends.is_v4 { by_v4 } else { by_v6 };
        by_ends.insert_unique(ends.hash, place, |&of| places[of as usize].words.hash());
        self.link_newest(place, List::Active);
        place
    }

    /// Removes the connection from a slot.
    pub(crate) fn remove(&mut self, place: u32) -> Option<Box<TracedConnection>> {
        self.unlink(place, self.places[place as usize].list);
        self.last = NO_ENDS;
        self.free.push(place);
        let TableSlot { connection, words, .. } = &mut self.places[place as usize];
        let connection = connection.take()?;
        let is_v4 = connection.ends.iter().all(|end| end.ip.is_ipv4());
        let by_ends = if is_v4 { &mut self.by_v4 } else { &mut self.by_v6 };
        if let Ok(found) = by_ends.find_entry(words.hash(), |&of| of == place) {
            found.remove();
        }
        Some(connection)
    }

    /// Returns the slot of the least recently used connection, and the time of its last packet.
    pub(crate) fn least_recently_used(&self) -> Option<(u32, Instant)> {
        [List::Idle, List::Active].into_iter().find_map(|list| {
            let oldest = self.lists[list as usize].oldest;
            let last = self.places.get(oldest as usize)?.connection.as_ref()?.last;
            Some((oldest, last))
        })
    }

    fn move_to(&mut self, place: u32, list: List, touched: Instant) {
        self.unlink(place, self.places[place as usize].list);
        let known = &mut self.places[place as usize];
        known.list = list;
        known.touched = touched;
        self.link_newest(place, list);
    }

    /// Adds a connection to a list as its newest one.
    fn link_newest(&mut self, place: u32, list: List) {
        let before = std::mem::replace(&mut self.lists[list as usize].newest, place);
        if before == NONE {
            self.lists[list as usize].oldest = place;
        }
        self.places[place as usize].link = Link { older: before, newer: NONE };
        if let Some(before) = self.places.get_mut(before as usize) {
            before.link.newer = place;
        }
    }

    /// Removes a connection from a list.
    fn unlink(&mut self, place: u32, list: List) {
        let Link { older, newer } = self.places[place as usize].link;
        match self.places.get_mut(older as usize) {
            Some(older) => older.link.newer = newer,
            None => self.lists[list as usize].oldest = newer,
        }
        match self.places.get_mut(newer as usize) {
            Some(newer) => newer.link.older = older,
            None => self.lists[list as usize].newest = older,
        }
    }
}
