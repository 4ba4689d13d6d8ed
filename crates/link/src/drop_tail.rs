//! A drop-tail queue as a ledger of announced departures: it knows which packets are still in, and
//! whether one more fits.

use crate::QueueLimit;
use std::collections::VecDeque;
use units::Instant;

/// Contents of a queue, the packet in service included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

/// First in, first out; packets that do not fit are refused at arrival.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: QueueLimit,
    /// The packet taken last, which departs last of all; `None` when the queue is empty.
    newest: Option<QueuedDeparture>,
    /// Departures before it that are still in, oldest first. A packet that finds the link idle
    /// never gets here, which is the common case on all links but the bottleneck.
    older: VecDeque<QueuedDeparture>,
    older_bytes: u64,
}

/// A queued packet, and its departure time.
#[derive(Clone, Copy, Debug)]
struct QueuedDeparture {
    departs: Instant,
    bytes: u32,
}

impl DropTail {
    /// An empty queue.
    pub const fn new(limit: QueueLimit) -> Self {
        Self { limit, newest: None, older: VecDeque::new(), older_bytes: 0 }
    }

    /// Forgets packets that departed before `now`; one departing at exactly `now` is still
    /// in.
    #[inline]
    pub fn expire(&mut self, now: Instant) {
        if self.newest.is_some_and(|newest| newest.departs < now) {
            self.newest = None;
        }
        if !self.older.is_empty() {
            self.expire_older(now);
        }
    }

    fn expire_older(&mut self, now: Instant) {
        while let Some(&oldest) = self.older.front()
            && oldest.departs < now
        {
            self.older.pop_front();
            self.older_bytes -= u64::from(oldest.bytes);
        }
    }

    /// True if a packet of `bytes` fits beside the contents as of the last [`DropTail::expire`].
    #[inline]
    pub fn admits(&self, bytes: u32) -> bool {
        // Without a newest there is none; no limit is below one packet.
        self.newest.is_none() || self.has_room_beside(bytes)
    }

    fn has_room_beside(&self, bytes: u32) -> bool {
        match self.limit {
            QueueLimit::Packets(limit) => self.occupancy().packets < limit,
            QueueLimit::Bytes(limit) => self.occupancy().bytes + u64::from(bytes) <= limit,
            QueueLimit::Unlimited => true,
        }
    }

    /// Removes all packets.
    pub(crate) fn clear(&mut self) {
        *self = Self { limit: self.limit, newest: None, older: VecDeque::new(), older_bytes: 0 };
    }

    /// Takes in a packet that will have departed at `departs`, not before any other that is in.
    #[inline]
    pub fn push(&mut self, departs: Instant, bytes: u32) {
        debug_assert!(self.newest.is_none_or(|newest| newest.departs <= departs));
        if let Some(newest) = self.newest.replace(QueuedDeparture { departs, bytes }) {
            self.older.push_back(newest);
            self.older_bytes += u64::from(newest.bytes);
        }
    }

    /// Takes in a packet that will have departed at `departs`, when all others have departed.
    #[inline]
    pub(crate) fn restart(&mut self, departs: Instant, bytes: u32) {
        self.newest = Some(QueuedDeparture { departs, bytes });
        if !self.older.is_empty() {
            self.older.clear();
            self.older_bytes = 0;
        }
    }

    /// Contents as of the last [`DropTail::expire`].
    #[inline]
    pub fn occupancy(&self) -> Occupancy {
        let (packets, bytes) = self.newest.map_or((0, 0), |newest| (1, u64::from(newest.bytes)));
        Occupancy { packets: self.older.len() as u32 + packets, bytes: self.older_bytes + bytes }
    }

    /// The same without the packet in service, which is the oldest.
    pub fn waiting(&self) -> Occupancy {
        let in_service = self.older.front().or(self.newest.as_ref());
        match in_service {
            Some(oldest) => self.occupancy().without(u64::from(oldest.bytes)),
            None => Occupancy::default(),
        }
    }
}

impl Occupancy {
    /// Adds one packet of `bytes`.
    #[must_use]
    pub const fn with(self, bytes: u64) -> Self {
        Self { packets: self.packets + 1, bytes: self.bytes + bytes }
    }

    /// With one packet of `bytes` less, which is in it.
    #[must_use]
    pub const fn without(self, bytes: u64) -> Self {
        Self { packets: self.packets - 1, bytes: self.bytes - bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn a_packet_departing_now_still_counts() {
        let mut queue = DropTail::new(QueueLimit::Packets(1));
        queue.push(at(10), 100);
        queue.expire(at(10));
        assert!(!queue.admits(100), "departs at 10, in the way of an arrival at 10");
        queue.expire(at(11));
        assert!(queue.admits(100));
    }

    #[test]
    fn bytes_are_counted_with_the_packet_in_service() {
        let mut queue = DropTail::new(QueueLimit::Bytes(2_500));
        queue.push(at(10), 1_000);
        queue.push(at(20), 1_000);
        assert!(queue.admits(500));
        assert!(!queue.admits(501));
        queue.expire(at(11));
        assert_eq!(queue.occupancy(), Occupancy { packets: 1, bytes: 1_000 });
        assert!(queue.admits(1_500));
    }

    #[test]
    fn the_packet_in_service_does_not_wait() {
        let mut queue = DropTail::new(QueueLimit::Unlimited);
        assert_eq!(queue.waiting(), Occupancy::default());
        queue.push(at(10), 100);
        assert_eq!(queue.waiting(), Occupancy::default());
        queue.push(at(20), 200);
        queue.push(at(30), 300);
        assert_eq!(queue.waiting(), Occupancy { packets: 2, bytes: 500 });
        queue.expire(at(11));
        assert_eq!(queue.waiting(), Occupancy { packets: 1, bytes: 300 });
    }

    #[test]
    fn an_idle_link_takes_a_packet_larger_than_its_queue() {
        let mut queue = DropTail::new(QueueLimit::Bytes(500));
        assert!(queue.admits(1_500));
        queue.push(at(10), 1_500);
        assert!(!queue.admits(1));
    }
}
