//! The window that the receiver offers. Its right end never moves back (RFC 9293 §3.8.6) and grows
//! in steps that are worth an ACK (silly window avoidance, §3.8.6.2.2). It never exceeds the room
//! beside data that waits to be read or for a gap to be filled; [`super::right_sizing`] decides on
//! that room.

use super::config::ReceiveConfig;
use super::right_sizing::Backlog;

/// Largest window that a SYN can offer.
const UNSCALED_MAX: u64 = 65_535;

/// The receive buffer, and the data in it.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes that may be buffered.
    pub capacity: u64,
    /// Data in the buffer.
    pub backlog: Backlog,
}

impl Room {
    const fn free(self) -> u64 {
        self.capacity.saturating_sub(self.backlog.unread + self.backlog.waiting)
    }
}

/// Offered receive window.
#[derive(Clone, Copy, Debug)]
pub struct OfferedWindow {
    /// Largest offer, bytes: it follows the capacity by two segments for each one received (Linux
    /// `rcv_ssthresh`).
    limit: u64,
    /// One past the last byte offered.
    edge: u64,
    shift: u8,
    /// Offers are rounded up to units of the shift, as Linux does (`__tcp_select_window`);
    /// otherwise down.
    rounds_up: bool,
    steady: SteadyOffer,
}

/// The offer as long as no data waits in the buffer. Every segment carries a window, and mostly
/// this one.
#[derive(Clone, Copy, Debug)]
struct SteadyOffer {
    /// The room that it follows from, bytes.
    room: u64,
    /// The window field, as on the wire.
    field: u16,
    /// The offer in bytes.
    bytes: u64,
}

impl SteadyOffer {
    /// Nothing has been offered: no buffer has so much room.
    const NONE: Self = Self { room: u64::MAX, field: 0, bytes: 0 };
}

impl OfferedWindow {
    /// The window at the start of a connection.
    pub fn new(config: &ReceiveConfig, scaling: bool) -> Self {
        let max = Self::max(config, scaling);
        let first = u64::from(config.initial_window).min(max);
        Self {
            limit: if config.autotune { first } else { max },
            edge: 0,
            shift: if scaling { shift_for(max) } else { 0 },
            rounds_up: config.autotune,
            steady: SteadyOffer::NONE,
        }
    }

    /// Returns the largest window, bytes, that can be offered and is worth buffering.
    pub fn max(config: &ReceiveConfig, scaling: bool) -> u64 {
        let ceiling = if scaling { u64::from(u32::MAX) >> 2 } else { UNSCALED_MAX };
        u64::from(config.max_window).min(ceiling)
    }

    /// Shift to announce in the SYN (RFC 7323 §2.3).
    pub const fn shift(&self) -> u8 {
        self.shift
    }

    /// The peer does not scale windows (RFC 7323 §2.2).
    pub fn disable_scaling(&mut self) {
        self.shift = 0;
        self.steady = SteadyOffer::NONE;
        self.limit = self.limit.min(UNSCALED_MAX);
    }

    /// One past the last byte that may be accepted.
    pub const fn edge(&self) -> u64 {
        self.edge
    }

    /// Returns the window from `rcv_nxt` to the end offered, as on the wire.
    pub fn field(&self, rcv_nxt: u64) -> u16 {
        (self.edge.saturating_sub(rcv_nxt) >> self.shift).min(UNSCALED_MAX) as u16
    }

    /// The peer's SYN was received: accepts its data up to the unscaled window for `capacity`
    /// bytes.
    pub fn open(&mut self, rcv_nxt: u64, capacity: u64) {
        self.edge = rcv_nxt + capacity.min(UNSCALED_MAX);
    }

    /// The handshake is complete. Later offers are in units of the shift, and growth starts from a
    /// whole number of them, as captures of a 6.18 kernel show.
    pub fn begin(&mut self) {
        if self.rounds_up {
            self.limit = self.limit.next_multiple_of(1 << self.shift);
        }
    }

    /// Returns the right end that could be offered.
    #[inline]
    fn possible_edge(&self, rcv_nxt: u64, room: Room) -> u64 {
        (rcv_nxt + room.free().min(self.limit)).max(self.edge)
    }

    /// True if a larger window than before may be offered, with a buffer of `capacity` bytes.
    #[inline]
    pub const fn may_open(&self, capacity: u64) -> bool {
        self.limit < capacity
    }

    /// A segment was received: two more of size `mss` may be offered if there is room. Returns true
    /// if so.
    #[inline]
    pub fn on_arrival(&mut self, mss: u64, room: Room) -> bool {
        let before = self.limit;
        self.limit = (self.limit + 2 * mss).min(room.free()).max(before);
        self.limit > before
    }

    /// Offers all room and returns the window field of a segment that acknowledges `rcv_nxt`.
    #[inline(always)]
    pub fn offer(&mut self, rcv_nxt: u64, room: Room, in_syn: bool) -> u16 {
        let edge = rcv_nxt + self.steady.bytes;
        let is_steady = room.capacity.min(self.limit) == self.steady.room
            && room.backlog.unread == 0
            && room.backlog.waiting == 0
            && self.edge <= edge
            && !in_syn;
        if is_steady {
            self.edge = edge;
            return self.steady.field;
        }
        self.offer_anew(rcv_nxt, room, in_syn)
    }

    /// The slow path of [`OfferedWindow::offer`]: the room has changed, or data waits.
    #[inline(never)]
    fn offer_anew(&mut self, rcv_nxt: u64, room: Room, in_syn: bool) -> u16 {
        if !in_syn {
            self.note_steady(room.capacity.min(self.limit));
        }
        let shift = if in_syn { 0 } else { self.shift };
        // Linux decides on a SYN-ACK's window before it looks at the SYN's data (`tcp_make_synack`:
        // `rsk_rcv_wnd`).
        let from = if in_syn && self.rounds_up { rcv_nxt.min(1) } else { rcv_nxt };
        let window = self.possible_edge(from, room).saturating_sub(from);
        // The offer is in units of the shift. Linux rounds up, so that no byte is lost in scaling.
        // Otherwise the offer is rounded down, but not below the last offer, as long as that costs
        // less than a unit more than the buffer has.
        let promised = self.edge.saturating_sub(from).div_ceil(1 << shift);
        let keeps = (promised << shift) + room.backlog.unread < room.capacity + (1 << shift);
        let whole = self.in_units(window, shift);
        let field = whole.max(if keeps { promised } else { 0 }).min(UNSCALED_MAX);
        self.edge = self.edge.max(rcv_nxt + (field << shift));
        field as u16
    }

    const fn in_units(&self, window: u64, shift: u8) -> u64 {
        if self.rounds_up { window.div_ceil(1 << shift) } else { window >> shift }
    }

    /// Remembers the offer of an empty buffer with `room` bytes, unless a larger one was made.
    fn note_steady(&mut self, room: u64) {
        let field = self.in_units(room, self.shift).min(UNSCALED_MAX);
        self.steady = SteadyOffer { room, field: field as u16, bytes: field << self.shift };
    }

    /// True if the peer should get a window update: the last offer is nearly used up, and at least
    /// a segment, or half the buffer, can be added. Otherwise the next regular ACK is soon enough.
    #[inline]
    pub fn update_is_due(&self, rcv_nxt: u64, room: Room, mss: u64) -> bool {
        let gain = self.possible_edge(rcv_nxt, room) - self.edge;
        let offered = self.edge.saturating_sub(rcv_nxt);
        let scarce = room.capacity.min(UNSCALED_MAX) / 2;
        offered < scarce && gain >= mss.min(room.capacity / 2).max(1) && gain >= offered
    }
}

/// Smallest shift that lets 16 bits hold `max`.
fn shift_for(max: u64) -> u8 {
    (0..14).find(|s| max >> s <= UNSCALED_MAX).unwrap_or(14)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::{AckPolicy, SackHold};
    use proptest::prelude::*;
    use units::Duration;

    const FIXED: ReceiveConfig = ReceiveConfig {
        initial_window: 65_535,
        first_buffer: 0,
        max_window: 65_535,
        autotune: false,
        ack: AckPolicy::Immediate,
        ack_tick: Duration::ZERO,
        sack_hold: SackHold::LINUX_6_18,
        dsack: false,
        delay_repeated_last: false,
        by_range: false,
    };

    proptest! {
        /// The remembered offer changes no offer: a window that forgets it before each offer
        /// returns the same.
        #[test]
        fn a_steady_offer_is_what_would_be_offered_anew(
            initial_window in 1_u32..200_000,
            max_window in 1_u32..1 << 24,
            (autotune, scaling, stops_scaling) in any::<(bool, bool, bool)>(),
            steps in prop::collection::vec((0_u64..3, 0_u64..3, 0_u64..3, 0_u8..8), 1..80),
        ) {
            let config = ReceiveConfig { initial_window, max_window, autotune, ..FIXED };
            let mut kept = OfferedWindow::new(&config, scaling);
            let (mut rcv_nxt, mut capacity) = (1, OfferedWindow::max(&config, scaling));
            for (n, (fresh, unread, waiting, rare)) in steps.into_iter().enumerate() {
                match rare {
                    0 => capacity = capacity.saturating_sub(1000).max(1),
                    1 => capacity += 3000,
                    2 if stops_scaling => kept.disable_scaling(),
                    _ => {}
                }
                rcv_nxt += 1000 * fresh;
                let backlog = Backlog { unread: 700 * unread, waiting: 900 * waiting, extent: 0 };
                let room = Room { capacity, backlog };
                kept.on_arrival(1000, room);
                let mut forgets = OfferedWindow { steady: SteadyOffer::NONE, ..kept };
                let in_syn = n == 0;
                prop_assert_eq!(kept.offer(rcv_nxt, room, in_syn), forgets.offer(rcv_nxt, room, in_syn));
                prop_assert_eq!(kept.edge(), forgets.edge());
            }
        }
    }
}
