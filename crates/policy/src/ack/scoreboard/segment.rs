//! A segment on the scoreboard, and its state.

use units::Instant;

/// One segment that was sent and is not yet cumulatively acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentSegment {
    /// Offset of its first byte.
    pub start: u64,
    /// Sequence space it takes, SYN and FIN included.
    pub len: u32,
    pub(super) marks: u8,
    /// Number of its retransmissions; saturates.
    pub retransmissions: u8,
    /// Time at which it was last sent.
    pub sent_at: Instant,
    /// Its position in the path's order of sending, when it was last sent; other connections'
    /// segments are included.
    pub order: u64,
}

pub(super) const SACKED: u8 = 1;
pub(super) const LOST: u8 = 2;
/// This mark is kept, like [`LOST`], beneath a SACK in case that is forgotten.
pub(super) const IN_FLIGHT_AGAIN: u8 = 4;
pub(super) const LOW_PRIORITY: u8 = 8;

/// It was found overdue since it was last sent.
pub(super) const OVERDUE: u8 = 16;

impl SentSegment {
    /// Offset one past its last byte.
    pub const fn end(&self) -> u64 {
        self.start + self.len as u64
    }
    /// Selectively acknowledged.
    pub const fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    /// Presumed lost, whether or not it was retransmitted since.
    pub const fn is_lost(&self) -> bool {
        self.marks & (LOST | SACKED) == LOST
    }
    /// Retransmitted, and that transmission is not yet presumed lost.
    pub const fn is_retransmission_in_flight(&self) -> bool {
        self.marks & (IN_FLIGHT_AGAIN | SACKED) == IN_FLIGHT_AGAIN
    }
    /// Sent with low priority, whether or not it was retransmitted without it since.
    pub const fn is_low_priority(&self) -> bool {
        self.marks & LOW_PRIORITY != 0
    }
    /// Found overdue since it was last sent, whether or not that loss was forgiven.
    pub const fn was_overdue(&self) -> bool {
        self.marks & OVERDUE != 0
    }
    /// Sent once, not SACKed and not presumed lost.
    pub(super) const fn is_plain(&self) -> bool {
        self.marks & !LOW_PRIORITY == 0 && self.retransmissions == 0
    }
    /// Returns the part of `bytes` of it that was lost and not retransmitted when it was SACKed.
    pub(super) const fn waiting_beneath_sack(&self, bytes: u64) -> u64 {
        if self.marks & (LOST | IN_FLIGHT_AGAIN) == LOST { bytes } else { 0 }
    }
    /// Sent more than once, so an ACK for it is ambiguous (Karn & Partridge 1987).
    pub const fn was_retransmitted(&self) -> bool {
        self.retransmissions > 0
    }
}
