//! An acknowledgement as a sender reads it, in offsets.

use crate::SackBlocks;
use units::{Duration, Instant};

/// SACK blocks of one segment as offsets `[left, right)`, in the order of the wire. One of no bytes
/// means none: it lies before the SYN, or is no range.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SackOffsets {
    blocks: [(u64, u64); SackBlocks::MAX],
    count: u8,
}

impl SackOffsets {
    /// No blocks.
    pub(crate) const NONE: Self = Self { blocks: [(0, 0); SackBlocks::MAX], count: 0 };

    /// Adds a block.
    pub(crate) fn push(&mut self, block: (u64, u64)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = block;
            self.count += 1;
        }
    }

    /// There are none.
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A sender's clock of timestamps: it showed a value at an instant, and counts milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StampClock {
    pub(crate) value: u32,
    pub(crate) at: Instant,
}

impl StampClock {
    /// Returns its value at an instant.
    // Never: in line its division is moved to where segments without timestamps pay for it, too.
    #[inline(never)]
    pub(crate) fn stamp(self, now: Instant) -> u32 {
        self.value.wrapping_add((now.saturating_since(self.at).as_nanos() / 1_000_000) as u32)
    }

    /// Returns the age of an echo; `None` if it is no echo of this clock.
    pub(super) fn age(self, now: Instant, echo: u32) -> Option<Duration> {
        let age = self.stamp(now).wrapping_sub(echo) as i32;
        (age > 0 && echo != 0).then(|| Duration::from_millis(age as u64))
    }
}

/// An acceptable acknowledgement, as a sender reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// Instant at which it reaches the sender.
    pub(crate) now: Instant,
    /// All below is acknowledged.
    pub(crate) una: u64,
    /// The window that it offers is another one.
    pub(crate) changes_window: bool,
    /// It takes no sequence space: it may be a duplicate (RFC 5681 §2).
    pub(crate) is_bare: bool,
    /// Its SACK blocks.
    pub(crate) sack: &'a SackOffsets,
    /// The timestamp that it echoes.
    pub(crate) echo: Option<u32>,
    /// The clock of the sender's timestamps.
    pub(crate) clock: StampClock,
    /// It echoes a mark of congestion (RFC 3168 §6.1).
    pub(crate) is_marked: bool,
    /// The connection may send new data.
    pub(crate) may_send: bool,
}

/// The outcome of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckOutcome {
    /// Payload bytes newly acknowledged; 0 where the start-up takes back what it sent.
    pub(crate) acked: u64,
    /// The path may have a report for a gateway on the way.
    pub(crate) may_report: bool,
}
