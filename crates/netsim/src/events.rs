//! The event queue: orders events by time.
//!
//! Almost every event is a packet arriving at the end of a link, and a link's packets arrive in the
//! order in which they were scheduled. So events are in *lanes*, first-in first-out queues with
//! nondecreasing keys, and only the heads of lanes compete. Idle links of the same rate and delay
//! also schedule in order among each other and share a lane, which keeps the lanes few however many
//! links there are.
//!
//! An event that precedes the last one of its lane goes to one binary heap, as does every timer.
//! The heap's head competes like a lane's. The order of events is the order of their keys; their
//! storage has no effect on it.

use crate::key::{Key, Kind, SEQUENCE_BITS};
use crate::ring::Ring;
use crate::tournament::{Tournament, Winner};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use units::Instant;

/// A packet at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkArrival {
    /// Its index in the pool.
    pub(crate) packet: u32,
    /// The next hop of its route.
    pub(crate) cursor: u32,
    /// Its size on the wire, bytes.
    pub(crate) bytes: u32,
}

/// The kind of an event, without the fields of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A packet arrives.
    Arrival(LinkArrival),
    /// A host's wake-up.
    Wake,
    /// An application's timer.
    Timer { token: u32 },
    /// A link's service.
    Service,
}

impl Due {
    const fn kind(&self) -> Kind {
        match self {
            Self::Arrival(_) => Kind::Arrival,
            Self::Wake => Kind::Wake,
            Self::Timer { .. } => Kind::Timer,
            Self::Service => Kind::Service,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    due: Due,
}

/// Compares by key, reversed: the standard heap keeps the largest on top.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

/// Arrivals with nondecreasing keys.
#[derive(Clone, Debug)]
struct Lane {
    pending: Ring<(Key, LinkArrival)>,
    /// The key of the last of them, present or past.
    last: Key,
}

/// All scheduled events.
#[derive(Debug)]
pub(crate) struct EventQueue {
    lanes: Vec<Lane>,
    /// Timers, and arrivals that precede the last event of their lane.
    heap: BinaryHeap<Entry>,
    heads: Tournament,
    sequence: u64,
}

/// The lane or heap with the first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First(Winner);

/// The number of the heap in the tournament; lane `n` has `n + 1`.
const HEAP: usize = 0;

impl EventQueue {
    /// Creates an empty queue without lanes.
    pub(crate) fn new() -> Self {
        Self { lanes: Vec::new(), heap: BinaryHeap::new(), heads: Tournament::new(1), sequence: 0 }
    }

    /// Adds a lane.
    pub(crate) fn add_lane(&mut self) -> u32 {
        self.lanes.push(Lane { pending: Ring::new(), last: Key::FIRST });
        if self.lanes.len() + 1 > self.heads.capacity() {
            self.heads = Tournament::new(self.lanes.len() + 1);
            self.enter_heads();
        }
        (self.lanes.len() - 1) as u32
    }

    /// Enters all heads in the tournament.
    fn enter_heads(&mut self) {
        self.heads.set_key(HEAP, self.heap.peek().map_or(Key::NEVER, |top| top.key));
        for (n, lane) in self.lanes.iter().enumerate() {
            self.heads.set_key(n + 1, lane.pending.front().map_or(Key::NEVER, |(key, _)| *key));
        }
    }

    /// Schedules an arrival by a key of [`EventQueue::arrival_key`].
    #[inline(always)]
    pub(crate) fn push_arrival(&mut self, lane: u32, key: Key, arrival: LinkArrival) {
        let queue = &mut self.lanes[lane as usize];
        let heads = queue.pending.is_empty();
        if key < queue.last && !heads {
            self.push_heap(Entry { key, due: Due::Arrival(arrival) });
            return;
        }
        queue.last = key;
        queue.pending.push_back((key, arrival));
        if heads {
            self.heads.set_key(lane as usize + 1, key);
        }
    }

    /// Schedules the arrival of a packet that a host sent to itself, without a link.
    pub(crate) fn push_loopback(&mut self, at: Instant, arrival: LinkArrival) {
        let key = self.arrival_key(at, Key::NO_LINK);
        self.restore(key, arrival);
    }

    /// Schedules an arrival that already has a key.
    pub(crate) fn restore(&mut self, key: Key, arrival: LinkArrival) {
        self.push_heap(Entry { key, due: Due::Arrival(arrival) });
    }

    /// Removes the arrivals that `wanted` picks, and returns them in the order of their keys.
    pub(crate) fn extract(
        &mut self,
        mut wanted: impl FnMut(Key, &LinkArrival) -> bool,
    ) -> Vec<(Key, LinkArrival)> {
        let mut out = Vec::new();
        for lane in &mut self.lanes {
            let pending = std::mem::replace(&mut lane.pending, Ring::new());
            for (key, arrival) in pending {
                if wanted(key, &arrival) {
                    out.push((key, arrival));
                } else {
                    lane.pending.push_back((key, arrival));
                }
            }
        }
        self.heap.retain(|entry| match &entry.due {
            Due::Arrival(arrival) if wanted(entry.key, arrival) => {
                out.push((entry.key, *arrival));
                false
            }
            _ => true,
        });
        self.enter_heads();
        out.sort_unstable_by_key(|(key, _)| *key);
        out
    }

    /// Schedules a wake-up, timer or service of the host, application or link `index`.
    pub(crate) fn push_timer(&mut self, at: Instant, index: u32, due: Due) {
        let entry = Entry { key: self.next_key(at, due.kind(), index), due };
        self.push_heap(entry);
    }

    /// Returns the lane or heap with the first event, unless that is after `limit`.
    #[inline(always)]
    pub(crate) fn first_until(&self, limit: Instant) -> Option<First> {
        let (first, time) = self.heads.winner();
        (time <= limit.as_nanos()).then_some(First(first))
    }

    /// Removes the first event if it is an arrival in a lane, as nearly all are.
    #[inline(always)]
    pub(crate) fn pop_lane(&mut self, First(first): First) -> Option<(Key, LinkArrival)> {
        // The heap's number wraps to one that no lane has.
        let lane = self.heads.contestant_number(first).wrapping_sub(1);
        let pending = &mut self.lanes.get_mut(lane)?.pending;
        // An empty lane is first only if all are empty.
        let arrival = pending.pop_front()?;
        let next = pending.front().map_or(Key::NEVER, |(key, _)| *key);
        self.heads.replace(first, next);
        Some(arrival)
    }

    /// Removes the first event if it is in the heap. `None` if there is no event at all, too.
    pub(crate) fn pop_heap(&mut self) -> Option<(Key, Due)> {
        let entry = self.heap.pop()?;
        self.heads.set_key(HEAP, self.heap.peek().map_or(Key::NEVER, |top| top.key));
        Some((entry.key, entry.due))
    }

    /// Returns true if nothing is scheduled.
    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Returns the key of an arrival over `link`; at the same instant, keys are in the order of
    /// their creation.
    #[inline]
    pub(crate) fn arrival_key(&mut self, at: Instant, link: u32) -> Key {
        self.next_key(at, Kind::Arrival, link)
    }

    #[inline]
    fn next_key(&mut self, at: Instant, kind: Kind, index: u32) -> Key {
        // If a run ever schedules 2^40 events, ties across the wrap are in the wrong order.
        self.sequence = (self.sequence + 1) & ((1 << SEQUENCE_BITS) - 1);
        Key::new(at, kind, index, self.sequence)
    }

    fn push_heap(&mut self, entry: Entry) {
        let first = self.heap.peek().is_none_or(|top| entry.key < top.key);
        self.heap.push(entry);
        if first {
            self.heads.set_key(HEAP, entry.key);
        }
    }
}

#[cfg(test)]
impl EventQueue {
    /// Removes the first event unless it is after `limit`.
    fn pop_until(&mut self, limit: Instant) -> Option<(Key, Due)> {
        let first = self.first_until(limit)?;
        let arrival = self.pop_lane(first).map(|(key, arrival)| (key, Due::Arrival(arrival)));
        arrival.or_else(|| self.pop_heap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    const fn arrival(packet: u32) -> LinkArrival {
        LinkArrival { packet, cursor: 0, bytes: 0 }
    }

    fn queue_of(lanes: usize) -> EventQueue {
        let mut queue = EventQueue::new();
        (0..lanes).for_each(|_| _ = queue.add_lane());
        queue
    }

    fn push(queue: &mut EventQueue, lane: u32, at: Instant, link: u32, arrival: LinkArrival) {
        let key = queue.arrival_key(at, link);
        queue.push_arrival(lane, key, arrival);
    }

    fn drain(queue: &mut EventQueue) -> Vec<Due> {
        std::iter::from_fn(|| queue.pop_until(Instant::FAR_FUTURE)).map(|(_, due)| due).collect()
    }

    #[test]
    fn ties_go_by_kind_then_index_then_sequence() {
        let mut queue = queue_of(2);
        queue.push_timer(at(5), 0, Due::Service);
        queue.push_timer(at(5), 0, Due::Timer { token: 9 });
        queue.push_timer(at(5), 1, Due::Wake);
        push(&mut queue, 0, at(5), 7, arrival(0));
        push(&mut queue, 1, at(5), 3, arrival(1));
        push(&mut queue, 1, at(5), 3, arrival(2));
        push(&mut queue, 1, at(4), 8, arrival(3));
        // Time 4 is first, though its lane already has a later event; then arrivals by link 3, 3,
        // 7; then the wake-up; then the timer. The last is the service, which was scheduled first
        // of all.
        let expected = [3, 1, 2, 0].map(|packet| Due::Arrival(arrival(packet)));
        let due = drain(&mut queue);
        assert_eq!(due[..4], expected);
        assert_eq!(due[4..], [Due::Wake, Due::Timer { token: 9 }, Due::Service]);
    }

    #[test]
    fn the_limit_is_inclusive() {
        let mut queue = queue_of(1);
        push(&mut queue, 0, at(5), 0, arrival(0));
        assert_eq!(queue.pop_until(at(4)), None);
        assert!(queue.pop_until(at(5)).is_some());
        assert!(queue.is_empty());
    }

    proptest! {
        /// For any distribution over lanes and heap, events are removed in the order of a stable
        /// sort by (time, kind, index).
        #[test]
        fn pops_in_key_order(events in prop::collection::vec((0u64..50, 0u32..4, 0u32..5), 1..200)) {
            let mut queue = queue_of(4);
            let mut expected = Vec::new();
            for (n, (time, lane, link)) in events.into_iter().enumerate() {
                let token = n as u32;
                if link == 4 {
                    queue.push_timer(at(time), lane, Due::Timer { token });
                    expected.push(((time, Kind::Timer, lane), Due::Timer { token }));
                } else {
                    push(&mut queue, lane, at(time), link, arrival(token));
                    expected.push(((time, Kind::Arrival, link), Due::Arrival(arrival(token))));
                }
            }
            expected.sort_by_key(|(key, _)| *key);
            let expected: Vec<_> = expected.into_iter().map(|(_, due)| due).collect();
            prop_assert_eq!(drain(&mut queue), expected);
        }

        #[test]
        fn keys_carry_time_and_index(time: u64, index in 0u32..1 << 22, sequence in 0u64..1 << 40) {
            let key = Key::new(at(time), Kind::Timer, index, sequence);
            prop_assert_eq!((key.at(), key.index()), (at(time), index));
        }
    }
}
