//! A place of the table: the connection that it keeps, and its links to others.

use super::ends::EndWords;
use crate::connection::TracedConnection;
use units::Instant;

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// A list of places, from the one used longest ago to the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Active,
    Parked,
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

/// A place of the table.
pub(super) struct Place {
    /// `None` where the place is free.
    pub(super) connection: Option<Box<TracedConnection>>,
    pub(super) words: EndWords,
    /// In the order of last packets.
    pub(super) link: Link,
    pub(super) list: List,
    /// The side of the first packet is the higher end, by words, which are the ends of IPv4 alone.
    pub(super) swapped: bool,
    /// When it became the latest of its list.
    pub(super) touched: Instant,
}
