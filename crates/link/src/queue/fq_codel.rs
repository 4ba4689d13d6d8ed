//! Fair queueing with controlled delay (RFC 8290): flows are hashed to queues that take turns of a
//! quantum of bytes, new ones before old ones, each under its own [`CoDel`]. A flow that sends less
//! than its share is always new and hardly waits. If there is no room, the longest queue drops.

use super::codel::CoDel;
use super::{Dropped, Room, Waiting};
use crate::packet::Queued;
use crate::{FqCoDelConfig, Occupancy};
use std::collections::VecDeque;
use units::Instant;

/// List that a queue is in (RFC 8290 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    /// It is empty and has been for a turn.
    None,
    New,
    Old,
}

#[derive(Clone, Debug)]
struct FlowQueue {
    waiting: Waiting,
    codel: CoDel,
    /// Bytes that it may still send in its turn; negative by the excess of the last packet.
    deficit: i64,
    list: List,
}

/// All queues, and those whose turn comes.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel {
    config: FqCoDelConfig,
    salt: u64,
    queues: Vec<FlowQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    held: Occupancy,
}

impl FqCoDel {
    /// `salt` makes the collisions of flows another set in every run.
    pub(super) fn new(config: FqCoDelConfig, salt: u64) -> Self {
        let queue = FlowQueue {
            waiting: Waiting::default(),
            codel: CoDel::new(config.codel),
            deficit: 0,
            list: List::None,
        };
        Self {
            config,
            salt,
            queues: vec![queue; config.queues as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            held: Occupancy::default(),
        }
    }

    /// RFC 8290 §4.1: the packet enters first, and then the longest queue drops for the room.
    pub(super) fn enqueue(&mut self, packet: Queued, room: Room, dropped: &mut Dropped) -> bool {
        let index = self.queue_of(packet.info.flow);
        let queue = &mut self.queues[index as usize];
        if queue.list == List::None {
            queue.list = List::New;
            queue.deficit = i64::from(self.config.quantum);
            self.new.push_back(index);
        }
        self.held = self.held.with(u64::from(packet.info.bytes));
        queue.waiting.push(packet);
        while self.held.packets > 0 && !room.has_room_for(self.held) {
            self.drop_from_longest(dropped);
        }
        true
    }

    /// Evenly over the queues, by the upper bits of a mixed hash.
    fn queue_of(&self, flow: u64) -> u32 {
        let spread = u128::from(mix_bits(flow ^ self.salt)) * u128::from(self.config.queues);
        (spread >> 64) as u32
    }

    /// Drops up to half of the queue with most bytes, from its head: one search for many packets.
    fn drop_from_longest(&mut self, dropped: &mut Dropped) {
        let candidates = self.new.iter().chain(&self.old);
        let size = |index: &&u32| {
            let Occupancy { packets, bytes } = self.queues[**index as usize].waiting.occupancy();
            // Packets count only where there are no bytes at all.
            (bytes, packets)
        };
        let Some(&longest) = candidates.max_by_key(size) else {
            return;
        };
        let waiting = &mut self.queues[longest as usize].waiting;
        let batch = waiting.occupancy().packets.div_ceil(2).min(self.config.drop_batch);
        for _ in 0..batch {
            if let Some(packet) = waiting.pop() {
                self.held = self.held.without(u64::from(packet.info.bytes));
                dropped.push(packet);
            }
        }
    }

    /// RFC 8290 §4.2.
    pub(super) fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<Queued> {
        loop {
            let &index = self.new.front().or_else(|| self.old.front())?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.config.quantum);
                self.turn_over(index, List::Old);
                continue;
            }
            let before = dropped.len();
            let packet = queue.codel.dequeue(now, &mut queue.waiting, dropped);
            for gone in dropped[before..].iter().chain(&packet) {
                self.held = self.held.without(u64::from(gone.info.bytes));
            }
            match packet {
                Some(packet) => {
                    queue.deficit -= i64::from(packet.info.bytes);
                    return Some(packet);
                }
                // A new queue waits a turn among the old ones before it may be new again.
                None if queue.list == List::New => self.turn_over(index, List::Old),
                None => self.turn_over(index, List::None),
            }
        }
    }

    /// Moves the queue whose turn it is to the end of another list.
    fn turn_over(&mut self, index: u32, list: List) {
        let queue = &mut self.queues[index as usize];
        match queue.list {
            List::New => self.new.pop_front(),
            List::Old => self.old.pop_front(),
            List::None => None,
        };
        queue.list = list;
        if list == List::Old {
            self.old.push_back(index);
        }
    }

    pub(super) const fn occupancy(&self) -> Occupancy {
        self.held
    }
}

/// Spreads the differences of two flows over all bits (the finaliser of splitmix64, Steele, Lea &
/// Flood 2014).
const fn mix_bits(flow: u64) -> u64 {
    let x = (flow ^ (flow >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
