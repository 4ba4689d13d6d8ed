//! Priority drop: if there is no room, the low-priority packet nearest to the tail is dropped (TCP
//! Fast Start §3.3). The order of those that stay is untouched.
//!
//! A list of the low-priority packets finds that one at once. Its slot in the queue is left empty
//! and skipped when its turn comes, so that a packet costs the same however long the queue is.

use super::{Dropped, Room};
use crate::Occupancy;
use crate::packet::Queued;
use std::collections::VecDeque;

/// A queue with a list of the packets that are dropped first where there is no room.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriorityDrop {
    /// Packets in the order of arrival; `None` where a packet was dropped.
    places: VecDeque<Option<Queued>>,
    /// Slots that have left the front so far: the number of the first that is there.
    first: u64,
    /// Numbers of the slots of low-priority packets, in the order of arrival.
    low: VecDeque<u64>,
    low_bytes: u64,
    held: Occupancy,
}

impl PriorityDrop {
    pub(super) fn enqueue(&mut self, packet: Queued, room: Room, dropped: &mut Dropped) -> bool {
        let bytes = packet.info.bytes;
        if !room.admits(self.held, bytes) {
            // An arriving low-priority packet is itself the one nearest to the tail.
            if packet.info.low_priority || !room.admits(self.held_without_low(), bytes) {
                return false;
            }
            while !room.admits(self.held, bytes) {
                self.drop_nearest_to_tail(dropped);
            }
        }
        self.push(packet);
        true
    }

    fn push(&mut self, packet: Queued) {
        if packet.info.low_priority {
            self.low.push_back(self.first + self.places.len() as u64);
            self.low_bytes += u64::from(packet.info.bytes);
        }
        self.held = self.held.with(u64::from(packet.info.bytes));
        self.places.push_back(Some(packet));
    }

    fn drop_nearest_to_tail(&mut self, dropped: &mut Dropped) {
        let place = self.low.pop_back().map(|number| (number - self.first) as usize);
        let packet = place.and_then(|place| self.places[place].take());
        if let Some(packet) = packet {
            self.forget(&packet);
            dropped.push(packet);
        }
    }

    pub(super) fn dequeue(&mut self) -> Option<Queued> {
        loop {
            let place = self.places.pop_front()?;
            self.first += 1;
            if let Some(packet) = place {
                if packet.info.low_priority {
                    self.low.pop_front();
                }
                self.forget(&packet);
                return Some(packet);
            }
        }
    }

    fn forget(&mut self, packet: &Queued) {
        let bytes = u64::from(packet.info.bytes);
        self.held = self.held.without(bytes);
        if packet.info.low_priority {
            self.low_bytes -= bytes;
        }
    }

    pub(super) const fn occupancy(&self) -> Occupancy {
        self.held
    }

    fn held_without_low(&self) -> Occupancy {
        Occupancy {
            packets: self.held.packets - self.low.len() as u32,
            bytes: self.held.bytes - self.low_bytes,
        }
    }
}
