//! The event queue: what happens next.
//!
//! Almost every event is a packet arriving at the end of a link, and a link's packets arrive in the
//! order in which they were scheduled. So events live in *lanes*, first-in first-out queues whose
//! keys never fall, and only the heads of lanes compete. Idle links of the
//! same rate and delay schedule in order between them too and share a lane, which keeps the lanes
//! few however many links there are. What does not fit behind the last event of its lane, and
//! every timer, goes to one binary heap, whose head competes like a lane's. The order of events is
//! the order of their keys; how they are stored never shows.

use crate::key::{Key, Kind, SEQUENCE_BITS};
use crate::ring::Ring;
use crate::tournament::{Tournament, Winner};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use units::Instant;

/// A packet at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkArrival {
    /// Its place in the pool.
    pub(crate) packet: u32,
    /// The next hop of its route.
    pub(crate) cursor: u32,
    /// What it takes on the wire.
    pub(crate) bytes: u32,
}

/// What is due, apart from what the key says.
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

/// By key, reversed: the standard heap keeps the largest on top.
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

/// Arrivals whose keys never fall.
#[derive(Clone, Debug)]
struct Lane {
    pending: Ring<(Key, LinkArrival)>,
    /// The key of the last of them, or of the last there was.
    last: Key,
}

/// Everything scheduled and not yet due.
#[derive(Debug)]
pub(crate) struct EventQueue {
    lanes: Vec<Lane>,
    /// Timers, and arrivals that found their lane already scheduled beyond them.
    heap: BinaryHeap<Entry>,
    heads: Tournament,
    sequence: u64,
}

/// Who has the first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First(Winner);

/// The heap competes under the first number, lane `n` under `n + 1`.
const HEAP: usize = 0;

impl EventQueue {
    /// Nothing scheduled, and no lanes.
    pub(crate) fn new() -> Self {
        Self { lanes: Vec::new(), heap: BinaryHeap::new(), heads: Tournament::new(1), sequence: 0 }
    }

    /// One more lane.
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
        self.heads.enter(HEAP, self.heap.peek().map_or(Key::NEVER, |top| top.key));
        for (n, lane) in self.lanes.iter().enumerate() {
            self.heads.enter(n + 1, lane.pending.front().map_or(Key::NEVER, |(key, _)| *key));
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
            self.heads.enter(lane as usize + 1, key);
        }
    }

    /// Schedules the arrival, over no link at all, of what a host sent to itself.
    pub(crate) fn push_loopback(&mut self, at: Instant, arrival: LinkArrival) {
        let key = self.arrival_key(at, Key::NO_LINK);
        self.restore(key, arrival);
    }

    /// Schedules an arrival that has had its key for longer.
    pub(crate) fn restore(&mut self, key: Key, arrival: LinkArrival) {
        self.push_heap(Entry { key, due: Due::Arrival(arrival) });
    }

    /// Takes out the arrivals that `wanted` picks; in the order of their keys.
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

    /// Who has the first event, unless that is after `limit`.
    #[inline(always)]
    pub(crate) fn first_until(&self, limit: Instant) -> Option<First> {
        let (first, time) = self.heads.winner();
        (time <= limit.as_nanos()).then_some(First(first))
    }

    /// Takes out the first event if it is an arrival in a lane, as nearly all are.
    #[inline(always)]
    pub(crate) fn pop_lane(&mut self, First(first): First) -> Option<(Key, LinkArrival)> {
        // The heap's number is none of a lane.
        let lane = self.heads.number(first).wrapping_sub(1);
        let pending = &mut self.lanes.get_mut(lane)?.pending;
        // One that is empty would not be first, unless all are.
        let arrival = pending.pop_front()?;
        let next = pending.front().map_or(Key::NEVER, |(key, _)| *key);
        self.heads.replace(first, next);
        Some(arrival)
    }

    /// Takes out the first event if it is in no lane. `None` also where no one is left to compete.
    pub(crate) fn pop_heap(&mut self) -> Option<(Key, Due)> {
        let entry = self.heap.pop()?;
        self.heads.enter(HEAP, self.heap.peek().map_or(Key::NEVER, |top| top.key));
        Some((entry.key, entry.due))
    }

    /// True if nothing is scheduled.
    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The key of an arrival over `link`; of those at the same instant the first to be made is first.
    #[inline]
    pub(crate) fn arrival_key(&mut self, at: Instant, link: u32) -> Key {
        self.next_key(at, Kind::Arrival, link)
    }

    #[inline]
    fn next_key(&mut self, at: Instant, kind: Kind, index: u32) -> Key {
        // Should a run ever schedule 2^40 events, ties across the wrap come in the wrong order.
        self.sequence = (self.sequence + 1) & ((1 << SEQUENCE_BITS) - 1);
        Key::new(at, kind, index, self.sequence)
    }

    fn push_heap(&mut self, entry: Entry) {
        let first = self.heap.peek().is_none_or(|top| entry.key < top.key);
        self.heap.push(entry);
        if first {
            self.heads.enter(HEAP, entry.key);
        }
    }
}

#[cfg(test)]
impl EventQueue {
    /// Takes out the first event unless it is after `limit`.
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
        // Time 4 first, though its lane was scheduled beyond it; then arrivals by link 3, 3, 7;
        // then the wake-up; then the timer; then the service that was scheduled first of all.
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
        /// However events are spread over lanes and heap, they come out in the order of a stable
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
