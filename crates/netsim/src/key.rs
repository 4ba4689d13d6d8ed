//! The order of events: a key of 128 bits for each, compared as a number. [`crate::events`] keeps
//! events by their keys, and [`crate::tournament`] finds the smallest of several.

use units::Instant;

/// The kind of an event, in the order in which events of the same instant happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A packet is at the end of a link; index: the link.
    Arrival = 0,
    /// A host asked to be woken; index: the host.
    Wake = 1,
    /// An application's timer; index: the application.
    Timer = 2,
    /// A link serves; index: the link. It is last, so that the link sees all arrivals of that
    /// instant.
    Service = 3,
}

/// Order of events: time, then kind, then index, then the sequence in which they were scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    time: u64,
    /// Kind, index and sequence, from the top bits down.
    tie: u64,
}

/// Number of bits of the sequence in which events were scheduled.
pub(crate) const SEQUENCE_BITS: u32 = 40;
const INDEX_BITS: u32 = 22;

impl Key {
    /// Maximum number of links, of hosts, and of applications in one simulation.
    pub(crate) const INDEX_LIMIT: usize = 1 << INDEX_BITS;
    /// The index that stands for no link.
    pub(crate) const NO_LINK: u32 = (1 << INDEX_BITS) - 1;
    /// The key before all others.
    pub(crate) const FIRST: Self = Self { time: 0, tie: 0 };
    /// The key after all others.
    pub(crate) const NEVER: Self = Self { time: u64::MAX, tie: u64::MAX };

    #[inline]
    pub(crate) fn new(at: Instant, kind: Kind, index: u32, sequence: u64) -> Self {
        let tie = (kind as u64) << (SEQUENCE_BITS + INDEX_BITS)
            | u64::from(index) << SEQUENCE_BITS
            | sequence;
        Self { time: at.as_nanos(), tie }
    }

    #[inline]
    pub(crate) const fn from_parts(time: u64, tie: u64) -> Self {
        Self { time, tie }
    }

    #[inline]
    pub(crate) const fn into_parts(self) -> (u64, u64) {
        (self.time, self.tie)
    }

    #[inline]
    pub(crate) const fn at(self) -> Instant {
        Instant::from_nanos(self.time)
    }

    /// Returns the key after all events at `at`.
    pub(crate) const fn end_of(at: Instant) -> Self {
        Self { time: at.as_nanos(), tie: u64::MAX }
    }

    /// Returns the index of the link, host or application.
    #[inline]
    pub(crate) const fn index(self) -> u32 {
        (self.tie >> SEQUENCE_BITS) as u32 & ((1 << INDEX_BITS) - 1)
    }
}
