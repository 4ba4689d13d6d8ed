//! Contents of a queue of the access link over time, all traffic together.

use super::seen::{LinkStep, SeenAtLink};
use units::Instant;

/// Contents of one queue over time, all traffic together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Name of its link.
    pub link: String,
    /// Levels in order of time, from the start of the load on.
    pub levels: Vec<QueueLevel>,
    /// Times at which it dropped a packet.
    pub drops: Vec<Instant>,
}

/// Contents of a queue from an instant on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLevel {
    /// Start of the interval.
    pub at: Instant,
    /// Packets waiting and in service.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Packets that enter and leave a queue, and drops.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueRecord {
    changes: Vec<LevelChange>,
    drops: Vec<Instant>,
}

/// A packet enters (+1) or leaves (−1), with its bytes; leaving is known in advance.
#[derive(Clone, Copy, Debug)]
struct LevelChange {
    at: Instant,
    packets: i64,
    bytes: i64,
}

impl QueueRecord {
    pub(super) fn on_packet(&mut self, seen: SeenAtLink, wire_bytes: u32) {
        let (at, bytes) = (seen.at, i64::from(wire_bytes));
        let enters = LevelChange { at, packets: 1, bytes };
        let leaves = LevelChange { at, packets: -1, bytes: -bytes };
        match seen.step {
            LinkStep::Enter => self.changes.push(enters),
            LinkStep::Leave => self.changes.push(leaves),
            LinkStep::Drop => self.drops.push(at),
            LinkStep::Discard => {
                self.changes.push(leaves);
                self.drops.push(at);
            }
            LinkStep::Lose | LinkStep::Arrive => {}
        }
    }

    /// Contents of a link's queue from `start` on, and before `next`.
    pub(super) fn queue_during(&self, link: &str, start: Instant, next: Option<Instant>) -> Queue {
        let is_before_next = |at: Instant| next.is_none_or(|next| at < next);
        let drops = self.drops.iter().copied();
        let drops = drops.filter(|at| *at >= start && is_before_next(*at)).collect();
        let mut levels = self.levels(start);
        levels.retain(|level| is_before_next(level.at));
        Queue { link: link.to_owned(), drops, levels }
    }

    /// The levels from `start` on. Among changes at the same instant, arrivals come first: a packet
    /// that departs at an instant is still there for one that arrives.
    fn levels(&self, start: Instant) -> Vec<QueueLevel> {
        let mut changes = self.changes.clone();
        changes.sort_by_key(|change| (change.at, -change.packets));
        let mut level = QueueLevel::default();
        let mut levels: Vec<QueueLevel> = Vec::new();
        for change in changes {
            level.at = change.at.max(start);
            level.packets = level.packets.saturating_add_signed(change.packets);
            level.bytes = level.bytes.saturating_add_signed(change.bytes);
            match levels.last_mut() {
                Some(last) if last.at == level.at && level.at == start => *last = level,
                _ => levels.push(level),
            }
        }
        levels
    }
}
