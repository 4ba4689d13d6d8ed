//! Queues of the service stage: they choose the next packet when the link falls free, and the
//! packets to drop.
//!
//! One file per discipline. A queue holds packets by token; room is the link's affair until there
//! is none, then the queue chooses the packet to drop. Times are those of arrivals and of services,
//! never of wake-ups.

mod acks_first;
mod codel;
mod fq_codel;
mod priority_drop;

use crate::medium::{Draws, independent_stream};
use crate::packet::Queued;
use crate::{Discipline, LinkConfig, Occupancy, QueueLimit};
use acks_first::AcksFirst;
use codel::CoDelQueue;
use fq_codel::FqCoDel;
use priority_drop::PriorityDrop;
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::collections::VecDeque;
use units::Instant;

/// Room for packets beside the ones in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) limit: QueueLimit,
    /// Packets that count towards the limit and do not wait.
    pub(crate) in_service: Occupancy,
}

impl Room {
    /// True if a packet of `bytes` fits beside the `waiting` packets.
    pub(crate) const fn admits(&self, waiting: Occupancy, bytes: u32) -> bool {
        self.has_room_for(waiting.with(bytes as u64))
    }

    /// True if the `waiting` packets have room.
    pub(crate) const fn has_room_for(&self, waiting: Occupancy) -> bool {
        let packets = waiting.packets + self.in_service.packets;
        match self.limit {
            QueueLimit::Packets(limit) => packets <= limit,
            QueueLimit::Bytes(limit) => {
                packets <= 1 || waiting.bytes + self.in_service.bytes <= limit
            }
            QueueLimit::Unlimited => true,
        }
    }
}

/// Packets that a queue has dropped, to be reported.
pub(crate) type Dropped = Vec<Queued>;

/// The queue of one link, by discipline.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    Fifo(Waiting),
    PriorityDrop(PriorityDrop),
    CoDel(CoDelQueue),
    FqCoDel(FqCoDel),
    AcksFirst(AcksFirst),
}

impl Queue {
    pub(crate) fn new(config: &LinkConfig, stream: &Pcg32) -> Self {
        match config.discipline() {
            Discipline::PriorityDrop => Self::PriorityDrop(PriorityDrop::default()),
            Discipline::Red(red) if red.low_priority_first => {
                Self::PriorityDrop(PriorityDrop::default())
            }
            Discipline::DropTail | Discipline::Red(_) => Self::Fifo(Waiting::default()),
            Discipline::CoDel(codel) => Self::CoDel(CoDelQueue::new(codel)),
            Discipline::FqCoDel(fq) => {
                let salt = independent_stream(stream, Draws::FlowHash).next_u64();
                Self::FqCoDel(FqCoDel::new(fq, salt))
            }
            Discipline::AcksFirst => Self::AcksFirst(AcksFirst::default()),
        }
    }

    /// Takes in a packet, or drops it or others where there is no room. True if it is in.
    pub(crate) fn enqueue(&mut self, packet: Queued, room: Room, dropped: &mut Dropped) -> bool {
        match self {
            Self::Fifo(queue) => {
                room.admits(queue.occupancy(), packet.info.bytes) && queue.push(packet)
            }
            Self::PriorityDrop(queue) => queue.enqueue(packet, room, dropped),
            Self::CoDel(queue) => queue.enqueue(packet, room),
            Self::FqCoDel(queue) => queue.enqueue(packet, room, dropped),
            Self::AcksFirst(queue) => queue.enqueue(packet, room),
        }
    }

    /// Takes out the packet whose service begins at `now`.
    pub(crate) fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<Queued> {
        match self {
            Self::Fifo(queue) => queue.pop(),
            Self::PriorityDrop(queue) => queue.dequeue(),
            Self::CoDel(queue) => queue.dequeue(now, dropped),
            Self::FqCoDel(queue) => queue.dequeue(now, dropped),
            Self::AcksFirst(queue) => queue.dequeue(),
        }
    }

    /// Packets that wait.
    pub(crate) fn occupancy(&self) -> Occupancy {
        match self {
            Self::Fifo(queue) => queue.occupancy(),
            Self::PriorityDrop(queue) => queue.occupancy(),
            Self::CoDel(queue) => queue.occupancy(),
            Self::FqCoDel(queue) => queue.occupancy(),
            Self::AcksFirst(queue) => queue.occupancy(),
        }
    }
}

/// Packets in the order of their arrival, and their totals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    packets: VecDeque<Queued>,
    bytes: u64,
}

impl Waiting {
    /// Always true: it is in.
    fn push(&mut self, packet: Queued) -> bool {
        self.bytes += u64::from(packet.info.bytes);
        self.packets.push_back(packet);
        true
    }

    fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.info.bytes);
        Some(packet)
    }

    fn occupancy(&self) -> Occupancy {
        Occupancy { packets: self.packets.len() as u32, bytes: self.bytes }
    }
}
