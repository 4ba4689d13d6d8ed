//! A slot of the table: its connection, and its links to others.

use super::ends::EndWords;
use crate::connection::TracedConnection;
use units::Instant;

/// The index of no slot.
pub(super) const NONE: u32 = u32::MAX;

/// A list of slots, from the least recently used one to the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Active,
    Idle,
}

impl List {
    /// Number of lists.
    pub(super) const COUNT: usize = 2;
}

/// The neighbours in a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) older: u32,
    pub(super) newer: u32,
}

impl Link {
    pub(super) const ALONE: Self = Self { older: NONE, newer: NONE };
}

/// The ends of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListEnds {
    pub(super) oldest: u32,
    pub(super) newest: u32,
}

/// A slot of the table.
pub(super) struct TableSlot {
    /// The connection; `None` if the slot is free.
    pub(super) connection: Option<Box<TracedConnection>>,
    pub(super) words: EndWords,
    /// Neighbours in the order of last packets.
    pub(super) link: Link,
    pub(super) list: List,
    /// The side of the first packet is the higher end, by words; for IPv4 the words are the ends.
    pub(super) swapped: bool,
    /// Time at which it became the latest of its list.
    pub(super) touched: Instant,
}
