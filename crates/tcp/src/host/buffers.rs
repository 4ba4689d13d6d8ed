//! Room for received data that no application has read, on all connections together.
//!
//! Half of the limit is shared by all. When that is taken, a connection gets no more than its equal
//! share of the other half. Connections that hold much, in order or not, thus cannot keep others
//! from receiving. Without a limit nothing is measured.

use super::{ConnId, Host};
use crate::segment::{Flags, Segment};
use units::Instant;

/// Bytes held by all connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffers {
    limit: u64,
    held: u64,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { limit: u64::MAX, held: 0 }
    }
}

impl Buffers {
    pub(super) fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    pub(super) const fn are_limited(&self) -> bool {
        self.limit != u64::MAX
    }

    /// True if a connection that holds `held` among `connections` may take `more`: within the
    /// shared half, or within its own share if all together stay within the limit.
    fn has_room_for(&self, (held, more): (u64, u64), connections: usize) -> bool {
        let share = self.limit / 2 / (connections.max(1) as u64);
        let all = self.held.saturating_add(more);
        all <= self.limit / 2 || (all <= self.limit && held.saturating_add(more) <= share)
    }

    /// A connection that held `before` holds `now`.
    fn on_held_change(&mut self, before: u64, now: u64) {
        self.held = (self.held + now).saturating_sub(before);
    }

    /// A connection that held so much is gone.
    pub(super) fn release(&mut self, held: u64) {
        self.held = self.held.saturating_sub(held);
    }
}

impl Host {
    /// Returns the bytes received and not read on all connections; zero without
    /// [`crate::Limits::buffered`].
    pub const fn buffered(&self) -> u64 {
        self.buffers.held
    }

    /// Processes a segment with data where room is limited: without room only its acknowledgement
    /// counts, data and FIN must be retransmitted, and a counter of drops grows.
    pub(super) fn handle_within_room(&mut self, now: Instant, id: ConnId, segment: &Segment) {
        let Some(entry) = self.connections.at(id.0) else { return };
        let needs = entry.conn.room_needed(segment);
        let room = self.buffers.has_room_for((entry.held, needs), self.connections.len());
        if needs == 0 || room {
            self.handle_seldom(now, id, segment);
            return self.update_held(id);
        }
        let in_order = entry.conn.is_next_in_order(segment);
        self.guard.counters.receive_drops += 1;
        self.guard.counters.out_of_order_drops += u64::from(!in_order);
        let flags = Flags(segment.flags.0 & !Flags::FIN.0);
        let bare = Segment { len: 0, flags, ..*segment };
        self.handle_seldom(now, id, &bare);
    }

    /// Updates the bytes that a connection holds, where room is limited.
    pub(super) fn update_held(&mut self, id: ConnId) {
        if !self.buffers.are_limited() {
            return;
        }
        if let Some(entry) = self.connections.at_mut(id.0) {
            let now = entry.conn.room_held();
            self.buffers.on_held_change(entry.held, now);
            entry.held = now;
        }
    }
}
