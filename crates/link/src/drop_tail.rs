//! A drop-tail queue as a ledger of promised departures: who is still in, and does one more fit.

use crate::QueueLimit;
use std::collections::VecDeque;
use units::Instant;

/// What a queue holds, the packet in service included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

/// First in, first out; what does not fit is refused at arrival.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: QueueLimit,
    /// Departure and size of each packet that is in, oldest first.
    departures: VecDeque<(Instant, u32)>,
    bytes: u64,
}

impl DropTail {
    /// An empty queue.
    pub fn new(limit: QueueLimit) -> Self {
        Self {
            limit,
            departures: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Forgets packets that departed before `now`; one departing at exactly `now` is still in.
    #[inline]
    pub fn expire(&mut self, now: Instant) {
        while let Some(&(departs, bytes)) = self.departures.front()
            && departs < now
        {
            self.departures.pop_front();
            self.bytes -= u64::from(bytes);
        }
    }

    /// True if a packet of `bytes` fits beside what is in as of the last [`DropTail::expire`].
    #[inline]
    pub fn admits(&self, bytes: u32) -> bool {
        match self.limit {
            QueueLimit::Packets(limit) => self.departures.len() < limit as usize,
            QueueLimit::Bytes(limit) => {
                self.departures.is_empty() || self.bytes + u64::from(bytes) <= limit
            }
            QueueLimit::Unlimited => true,
        }
    }

    /// Takes in a packet that will have departed at `departs`, not before any other that is in.
    #[inline]
    pub fn push(&mut self, departs: Instant, bytes: u32) {
        debug_assert!(self.departures.back().is_none_or(|last| last.0 <= departs));
        self.departures.push_back((departs, bytes));
        self.bytes += u64::from(bytes);
    }

    /// What is in as of the last [`DropTail::expire`].
    pub fn occupancy(&self) -> Occupancy {
        Occupancy {
            packets: self.departures.len() as u32,
            bytes: self.bytes,
        }
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
        assert!(
            !queue.admits(100),
            "departs at 10, in the way of an arrival at 10"
        );
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
        assert_eq!(
            queue.occupancy(),
            Occupancy {
                packets: 1,
                bytes: 1_000
            }
        );
        assert!(queue.admits(1_500));
    }

    #[test]
    fn an_idle_link_takes_a_packet_larger_than_its_queue() {
        let mut queue = DropTail::new(QueueLimit::Bytes(500));
        assert!(queue.admits(1_500));
        queue.push(at(10), 1_500);
        assert!(!queue.admits(1));
    }
}
