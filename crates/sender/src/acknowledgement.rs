//! An acknowledgement as a sender reads it, in offsets.

use policy::recovery::Report;
use segment::{EcnCounters, SackBlocks};
use units::{Duration, Instant};

/// SACK blocks of one segment as offsets `[left, right)`, in the order of the wire. A block of no
/// bytes means none: it lies before the SYN, or is no range.
#[derive(Clone, Copy, Debug, Default)]
pub struct SackOffsets {
    blocks: [(u64, u64); SackBlocks::MAX],
    count: u8,
}

impl SackOffsets {
    /// No blocks.
    pub const NONE: Self = Self { blocks: [(0, 0); SackBlocks::MAX], count: 0 };

    /// Adds a block.
    pub fn push(&mut self, left: u64, right: u64) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = (left, right);
            self.count += 1;
        }
    }

    /// Whether there are no blocks.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A sender's clock of timestamps: it showed a value at an instant, and counts milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct StampClock {
    /// Its value then.
    pub value: u32,
    /// Instant of that value.
    pub at: Instant,
}

impl StampClock {
    /// Returns its value at an instant.
    // Never: in line its division is moved to where segments without timestamps pay for it, too.
    #[inline(never)]
    pub fn stamp(self, now: Instant) -> u32 {
        self.value.wrapping_add((now.saturating_since(self.at).as_nanos() / 1_000_000) as u32)
    }

    /// Returns the age of an echo; `None` if it is no echo of this clock.
    pub(crate) fn age(self, now: Instant, echo: u32) -> Option<Duration> {
        let age = self.stamp(now).wrapping_sub(echo) as i32;
        (age > 0 && echo != 0).then(|| Duration::from_millis(age as u64))
    }
}

/// Feedback of Accurate ECN beside the ACE field.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccurateFeedback {
    /// The AccECN option.
    pub counters: Option<EcnCounters>,
    /// Its timestamp is newer than that of any segment before.
    pub advances_clock: bool,
}

/// An acceptable acknowledgement, as a sender reads it.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    /// Instant at which it reaches the sender.
    pub now: Instant,
    /// All below is acknowledged.
    pub una: u64,
    /// The window that it offers is another one.
    pub changes_window: bool,
    /// It takes no sequence space: it may be a duplicate (RFC 5681 §2).
    pub is_bare: bool,
    /// Its SACK blocks.
    pub sack: &'a SackOffsets,
    /// The timestamp that it echoes.
    pub echo: Option<u32>,
    /// The clock of the sender's timestamps, if it is known.
    pub clock: Option<StampClock>,
    /// Its ACE field, whose lowest bit is the echo of classic ECN (RFC 9768 §3.2.2). `None` in a
    /// segment with SYN, and in one that acknowledges a SYN under Accurate ECN.
    pub ace: Option<u8>,
    /// The other feedback of Accurate ECN, if it is in use and was read.
    pub feedback: Option<&'a AccurateFeedback>,
    /// The connection may send new data.
    pub may_send: bool,
}

/// The outcome of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckOutcome {
    /// Payload bytes newly acknowledged; 0 where the start-up falls back and discards its flight.
    pub acked: u64,
    /// Payload bytes newly delivered: acknowledged, or selectively.
    pub delivered: u64,
    /// The round trip of the last segment that it delivered, if that was sent once.
    pub rtt: Option<Duration>,
    /// The receiver got something twice (RFC 2883).
    pub has_dsack: bool,
    /// The outcome of recovery, or of an echoed mark.
    pub found: RecoveryOutcome,
}

/// The outcome of an event for the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryOutcome {
    /// A loss is an episode of congestion, which recovery repairs from now on.
    pub congestion: bool,
    /// The last reduction of the window was for nothing.
    pub undo: bool,
    /// The window, or its state, has changed in another way than by growing.
    pub any: bool,
}

impl RecoveryOutcome {
    /// Returns the outcome of a report of recovery.
    #[inline]
    pub(crate) const fn of(report: &Report) -> Self {
        let congestion = report.congestion.is_some();
        Self { congestion, undo: report.undo, any: !report.is_quiet() }
    }
}
