//! Acks-first: pure acknowledgements go before everything else (TCP Fast Start §7.2, after
//! Kalampoukas et al.). On a slow link upstream they then do not wait behind uploads, only for the
//! packet in service. The arriving packet is refused where there is no room.

use super::{Room, Waiting};
use crate::Occupancy;
use crate::packet::Queued;

/// Two queues, one limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct AcksFirst {
    acks: Waiting,
    others: Waiting,
}

impl AcksFirst {
    pub(super) fn enqueue(&mut self, packet: Queued, room: Room) -> bool {
        let fits = room.admits(self.occupancy(), packet.info.bytes);
        let queue = if packet.info.pure_ack { &mut self.acks } else { &mut self.others };
        fits && queue.push(packet)
    }

    pub(super) fn dequeue(&mut self) -> Option<Queued> {
        self.acks.pop().or_else(|| self.others.pop())
    }

    pub(super) fn occupancy(&self) -> Occupancy {
        let (acks, others) = (self.acks.occupancy(), self.others.occupancy());
        Occupancy { packets: acks.packets + others.packets, bytes: acks.bytes + others.bytes }
    }
}
