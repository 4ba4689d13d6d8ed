//! The connections under way, by their addresses and ports, in the order of their last packets.
//!
//! A connection has one key for both directions. The least recently used one is the first to be idle and
//! the first to be evicted, so neither needs a search.

mod ends;
mod folding;
mod place;

use crate::connection::{Digesting, Side, TracedConnection};
use crate::profile::SenderModels;
use crate::sink::TraceSink;
use capture::Observed;
use ends::{EndsKey, EndsV4, EndsV6, word_of};
use place::{Kept, Link, List, ListEnds, NONE, Place};
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use units::{Duration, Instant};

/// Where a segment's connection is, and which side of it has sent the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundPlace {
    pub(crate) place: u32,
    pub(crate) side: Side,
}

/// The connections under way.
pub(crate) struct ConnectionTable {
    by_v4: FxHashMap<EndsV4, u32>,
    by_v6: FxHashMap<EndsV6, u32>,
    places: Vec<Place>,
    free: Vec<u32>,
    lists: [ListEnds; List::COUNT],
    /// Connections in the list of those that are not folded.
    unfolded: usize,
    /// Where connections are folded.
    room: Vec<u8>,
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
            lists: [none; List::COUNT],
            unfolded: 0,
            room: Vec::new(),
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

    /// The connection at a place, if it is not folded.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> Option<&mut TracedConnection> {
        self.places[place as usize].kept.unfolded()
    }

    /// The connection at a place, which becomes the latest of the active ones, and is not folded.
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
            let found = self.places.get(place as usize)?;
            let last = found.kept.last()?;
            if last >= then {
                if found.touched >= then {
                    return None;
                }
                self.move_to(place, List::Active, last);
            } else if self.park(place, with) {
                return Some(place);
            } else {
                self.move_to(place, List::Parked, last);
            }
        }
    }

    /// Adds a connection that begins with `segment`.
    pub(crate) fn insert(&mut self, segment: &Observed, connection: TracedConnection) -> u32 {
        let key = EndsKey::of(segment);
        let fresh = Place {
            kept: Kept::Unfolded(Box::new(connection)),
            links: [Link::ALONE; 2],
            list: List::Active,
            may_fold: false,
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
        self.link_newest(place, List::Active);
        self.may_fold(place);
        place
    }

    /// Takes the connection at a place out.
    pub(crate) fn remove(
        &mut self,
        place: u32,
        models: &SenderModels,
    ) -> Option<Box<TracedConnection>> {
        self.unlink(place, self.places[place as usize].list);
        self.may_not_fold(place);
        self.last = NOBODY;
        self.free.push(place);
        let kept = std::mem::replace(&mut self.places[place as usize].kept, Kept::Nothing);
        let connection = kept.into_unfolded(models)?;
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
            let last = self.places.get(oldest as usize)?.kept.last()?;
            Some((oldest, last))
        })
    }

    fn move_to(&mut self, place: u32, list: List, touched: Instant) {
        self.unlink(place, self.places[place as usize].list);
        let known = &mut self.places[place as usize];
        known.list = list;
        known.touched = touched;
        let may_fold = known.may_fold;
        self.link_newest(place, list);
        if may_fold && list == List::Active {
            self.unlink(place, List::Unfolded);
            self.link_newest(place, List::Unfolded);
        }
    }

    fn link_newest(&mut self, place: u32, list: List) {
        let before = std::mem::replace(&mut self.lists[list as usize].newest, place);
        if before == NONE {
            self.lists[list as usize].oldest = place;
        }
        self.places[place as usize].links[list.link()] = Link { older: before, newer: NONE };
        if let Some(before) = self.places.get_mut(before as usize) {
            before.links[list.link()].newer = place;
        }
    }

    fn unlink(&mut self, place: u32, list: List) {
        let Link { older, newer } = self.places[place as usize].links[list.link()];
        match self.places.get_mut(older as usize) {
            Some(older) => older.links[list.link()].newer = newer,
            None => self.lists[list as usize].oldest = newer,
        }
        match self.places.get_mut(newer as usize) {
            Some(newer) => newer.links[list.link()].older = older,
            None => self.lists[list as usize].newest = older,
        }
    }
}
