//! The window that the receiver offers: its right edge never moves back (RFC 9293 §3.8.6), grows in
//! steps worth telling (silly window avoidance, §3.8.6.2.2), and, with autotuning, in time with
//! what the application reads (dynamic right-sizing, Fisk & Feng 2001, as Linux does it).

use crate::config::ReceiveConfig;
use units::{Duration, Instant};

/// Largest window that a SYN can offer.
const UNSCALED_MAX: u64 = 65_535;

/// What a sender is expected to send in its first round trip.
const INITIAL_SEGMENTS: u64 = 10;

/// Offered receive window.
#[derive(Clone, Copy, Debug)]
pub struct OfferedWindow {
    max: u64,
    /// What may be buffered now, bytes.
    capacity: u64,
    autotune: bool,
    /// What is offered at most, bytes: it follows the capacity by two segments for each one that
    /// arrives (Linux `rcv_ssthresh`).
    limit: u64,
    /// One past the last byte offered.
    edge: u64,
    shift: u8,
    /// Right-sizing: start of the current round, and bytes read until then.
    round_start: Instant,
    read_at_start: u64,
    /// Bytes read in the previous round.
    last_copied: u64,
}

impl OfferedWindow {
    /// The window at the start of a connection.
    pub fn new(config: &ReceiveConfig, scaling: bool) -> Self {
        let ceiling = if scaling { u64::from(u32::MAX) >> 2 } else { 65_535 };
        let max = u64::from(config.max_window).min(ceiling);
        let first = u64::from(config.initial_window).min(max);
        Self {
            max,
            capacity: if config.autotune { roomier(first).min(max) } else { max },
            limit: if config.autotune { first } else { max },
            autotune: config.autotune,
            edge: 0,
            shift: if scaling { shift_for(max) } else { 0 },
            round_start: Instant::ZERO,
            read_at_start: 0,
            last_copied: 0,
        }
    }

    /// Shift to announce in the SYN (RFC 7323 §2.3).
    pub const fn shift(&self) -> u8 {
        self.shift
    }

    /// The peer does not scale windows (RFC 7323 §2.2).
    pub fn disable_scaling(&mut self) {
        self.shift = 0;
        self.max = self.max.min(UNSCALED_MAX);
        self.capacity = self.capacity.min(self.max);
        self.limit = self.limit.min(self.max);
    }

    /// One past the last byte that may be accepted.
    pub const fn edge(&self) -> u64 {
        self.edge
    }

    /// What is offered now beyond `rcv_nxt`, as on the wire.
    pub fn field(&self, rcv_nxt: u64) -> u16 {
        (self.edge.saturating_sub(rcv_nxt) >> self.shift).min(UNSCALED_MAX) as u16
    }

    /// What may be buffered now, bytes.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The peer's SYN has come: its data is welcome up to what an unscaled window could offer.
    pub fn open(&mut self, rcv_nxt: u64) {
        self.edge = rcv_nxt + self.capacity.min(UNSCALED_MAX);
    }

    /// The edge that could be offered, with `read` bytes consumed by the application.
    #[inline]
    fn possible_edge(&self, rcv_nxt: u64, read: u64) -> u64 {
        let room = read + self.capacity;
        room.min(rcv_nxt + self.limit).max(self.edge)
    }

    /// A segment arrived: two more of size `mss` may be offered if the capacity allows. True if
    /// so.
    #[inline]
    pub fn on_arrival(&mut self, mss: u64) -> bool {
        let before = self.limit;
        self.limit = (self.limit + 2 * mss).min(self.capacity).max(before);
        self.limit > before
    }

    /// Offers all there is and answers the window field of a segment that acknowledges `rcv_nxt`.
    #[inline]
    pub fn offer(&mut self, rcv_nxt: u64, read: u64, in_syn: bool) -> u16 {
        let shift = if in_syn { 0 } else { self.shift };
        let window = self.possible_edge(rcv_nxt, read).saturating_sub(rcv_nxt);
        // In units of the shift: rounded down, but, as long as that costs less than a unit beyond
        // the buffer, not to less than was promised.
        let promised = self.edge.saturating_sub(rcv_nxt).div_ceil(1 << shift);
        let keeps = rcv_nxt + (promised << shift) < read + self.capacity + (1 << shift);
        let field = (window >> shift).max(if keeps { promised } else { 0 }).min(UNSCALED_MAX);
        self.edge = self.edge.max(rcv_nxt + (field << shift));
        field as u16
    }

    /// True if the peer should be told that the window has opened: what it was offered last is
    /// nearly used up, and at least a segment, or half the buffer, can be added. Otherwise the next
    /// ordinary ACK tells soon enough.
    #[inline]
    pub fn update_is_due(&self, rcv_nxt: u64, read: u64, mss: u64) -> bool {
        let gain = self.possible_edge(rcv_nxt, read) - self.edge;
        let offered = self.edge.saturating_sub(rcv_nxt);
        let scarce = self.capacity.min(UNSCALED_MAX) / 2;
        offered < scarce && gain >= mss.min(self.capacity / 2).max(1) && gain >= offered
    }

    /// Grows the buffer once per round trip in which more was read than in any before (Linux
    /// `tcp_rcvbuf_grow`).
    #[inline]
    pub fn on_read(&mut self, now: Instant, read: u64, rtt: Duration, mss: u64) {
        if !self.autotune || rtt.is_zero() || now.saturating_since(self.round_start) < rtt {
            return;
        }
        let copied = read - self.read_at_start;
        let known = self.last_copied.max(INITIAL_SEGMENTS * mss);
        if copied > known {
            // Twice because the measure is a round trip old, and as much more as it has grown,
            // twice, because a sender in slow start will go on growing.
            let base = 2 * copied;
            let growth = 2 * (base * (copied - known) / known);
            self.capacity = self.capacity.max((base + growth).min(self.max));
            self.last_copied = copied;
        }
        self.round_start = now;
        self.read_at_start = read;
    }
}

/// The capacity once the first segments have shown how much of a buffer is payload: Linux guesses
/// half of its 128 KiB at first and finds 158/256 for full segments of Ethernet.
const fn roomier(first: u64) -> u64 {
    first * 79 / 64
}

/// Smallest shift that lets 16 bits hold `max`.
fn shift_for(max: u64) -> u8 {
    (0..14).find(|s| max >> s <= UNSCALED_MAX).unwrap_or(14)
}
