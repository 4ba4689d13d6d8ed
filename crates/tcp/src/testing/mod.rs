//! Hostile peers driven by bytes, for fuzzing and for replaying inputs that fuzzing found.
//!
//! Bytes become events. [`play`] sets one arbitrary peer against a host, [`play_crowd`] a third
//! party against two hosts and all their connections.

mod crowd;
mod lone;

pub use crowd::play_crowd;
pub use lone::play;
use std::ops::AddAssign;

/// Bytes to make events of.
struct Input<'a> {
    data: &'a [u8],
}

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.data.split_first() else {
            return 0;
        };
        self.data = rest;
        first
    }

    fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn long(&mut self) -> u32 {
        u32::from(self.word()) << 16 | u32::from(self.word())
    }
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Segments from a host to a host.
    pub delivered: u64,
    /// Forged segments.
    pub forged: u64,
    /// Forged segments whose data was accepted: with numbers that RFC 5961 cannot distinguish from
    /// true ones.
    pub injected: u64,
    /// ICMP messages, true and forged.
    pub icmp: u64,
    /// Connections opened by SYN cookies.
    pub cookies: u64,
    /// Connections opened by Fast Open cookies.
    pub fast_opened: u64,
    /// Connections whose scheme was changed.
    pub changed: u64,
    /// The sum of all counters of the hosts.
    pub refused: u64,
}

impl Played {
    /// Segments delivered to a host.
    pub const fn segments(&self) -> u64 {
        self.delivered + self.forged
    }
}

impl AddAssign for Played {
    fn add_assign(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.forged += other.forged;
        self.injected += other.injected;
        self.icmp += other.icmp;
        self.cookies += other.cookies;
        self.fast_opened += other.fast_opened;
        self.changed += other.changed;
        self.refused += other.refused;
    }
}
