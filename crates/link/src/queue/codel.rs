//! Controlled delay (RFC 8289): if the packets of a queue have waited longer than a target for a
//! whole interval, it drops, or marks, at the head. It strikes at first one packet, then ever more
//! often, until they wait less. The `n`-th strike comes `interval / sqrt(n)` after the one before.
//!
//! [`CoDel`] is the control law over any queue that can be popped; [`CoDelQueue`] the discipline.

use super::{Dropped, Room, Waiting};
use crate::packet::Queued;
use crate::{CoDelConfig, Occupancy};
use units::{Duration, Instant};

/// State of the control law (RFC 8289 §5.3: `first_above_time_`, `drop_next_`, `count_`,
/// `lastcount_`, `dropping_`).
#[derive(Clone, Debug)]
pub(super) struct CoDel {
    config: CoDelConfig,
    /// End of the interval that began when waiting times first exceeded the target; set while they
    /// stay above it.
    at_fault_from: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    count: u32,
    last_count: u32,
}

/// Drops in a state of dropping that ended less than this many intervals ago are remembered.
const MEMORY_INTERVALS: u64 = 16;

impl CoDel {
    pub(super) const fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            at_fault_from: None,
            dropping: false,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// Returns the next packet, after dropping those before it that the control law strikes (RFC
    /// 8289 §5.5).
    pub(super) fn dequeue(
        &mut self,
        now: Instant,
        queue: &mut Waiting,
        dropped: &mut Dropped,
    ) -> Option<Queued> {
        let mut packet = self.pop(now, queue);
        if !packet.at_fault {
            self.dropping = false;
        } else if !self.dropping {
            packet = self.strike(now, packet, queue, dropped);
            self.begin_dropping(now);
        }
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            let marks = self.can_mark(packet.next.as_ref());
            packet = self.strike(now, packet, queue, dropped);
            if !packet.at_fault {
                self.dropping = false;
                break;
            }
            self.drop_next += self.spacing();
            if marks {
                break;
            }
        }
        packet.next
    }

    /// The head of the queue, and whether it has waited too long for too long (RFC 8289 §5.6).
    fn pop(&mut self, now: Instant, queue: &mut Waiting) -> Head {
        let next = queue.pop();
        let waited = next.map_or(Duration::ZERO, |packet| now.saturating_since(packet.since));
        let little = queue.occupancy().bytes <= u64::from(self.config.mtu);
        if waited < self.config.target || little {
            self.at_fault_from = None;
            return Head { next, at_fault: false };
        }
        let from = *self.at_fault_from.get_or_insert(now + self.config.interval);
        Head { next, at_fault: now >= from }
    }

    /// Marks the packet, or drops it and takes the next.
    fn strike(
        &mut self,
        now: Instant,
        head: Head,
        queue: &mut Waiting,
        dropped: &mut Dropped,
    ) -> Head {
        let Some(packet) = head.next else {
            return head;
        };
        if self.can_mark(Some(&packet)) {
            return Head { next: Some(Queued { marked: true, ..packet }), ..head };
        }
        dropped.push(packet);
        self.pop(now, queue)
    }

    fn can_mark(&self, packet: Option<&Queued>) -> bool {
        self.config.ecn && packet.is_some_and(|packet| packet.info.ecn_capable)
    }

    /// RFC 8289 §5.5, "if we're not in dropping state": a rate that was right a short while ago is
    /// where to begin.
    fn begin_dropping(&mut self, now: Instant) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let memory = self.config.interval * MEMORY_INTERVALS;
        let recent = now.saturating_since(self.drop_next) < memory;
        self.count = if recent && delta > 1 { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + self.spacing();
    }

    /// `interval / sqrt(count)`, rounded down: exact, by the integer square root of
    /// `interval^2 / count`.
    fn spacing(&self) -> Duration {
        let interval = u128::from(self.config.interval.as_nanos());
        let square = interval * interval / u128::from(self.count.max(1));
        Duration::from_nanos(square.isqrt() as u64)
    }
}

/// The head of the queue as [`CoDel::pop`] found it.
#[derive(Clone, Copy, Debug)]
struct Head {
    next: Option<Queued>,
    at_fault: bool,
}

/// One queue under the control law; packets that do not fit are refused.
#[derive(Clone, Debug)]
pub(crate) struct CoDelQueue {
    codel: CoDel,
    waiting: Waiting,
}

impl CoDelQueue {
    pub(super) fn new(config: CoDelConfig) -> Self {
        Self { codel: CoDel::new(config), waiting: Waiting::default() }
    }

    pub(super) fn enqueue(&mut self, packet: Queued, room: Room) -> bool {
        room.admits(self.waiting.occupancy(), packet.info.bytes) && self.waiting.push(packet)
    }

    pub(super) fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<Queued> {
        self.codel.dequeue(now, &mut self.waiting, dropped)
    }

    pub(super) fn occupancy(&self) -> Occupancy {
        self.waiting.occupancy()
    }
}

#[cfg(test)]
mod tests;
