//! A place of the table: the connection that it keeps, folded or not, and its links to others.

use super::ends::EndWords;
use crate::connection::{FoldedConnection, TracedConnection};
use crate::profile::SenderModels;
use units::Instant;

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// A list of places, from the one used longest ago to the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Active,
    Parked,
    /// Of the active and the parked ones those that are not folded.
    Unfolded,
}

impl List {
    /// How many there are.
    pub(super) const COUNT: usize = 3;

    /// Which of a place's links is this list's.
    pub(super) const fn link(self) -> usize {
        matches!(self, Self::Unfolded) as usize
    }
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

/// What a place keeps.
pub(super) enum Kept {
    Nothing,
    Unfolded(Box<TracedConnection>),
    Folded(FoldedConnection),
}

impl Kept {
    /// The connection, if it is not folded.
    #[inline]
    pub(super) fn unfolded(&mut self) -> Option<&mut TracedConnection> {
        if let Self::Unfolded(connection) = self { Some(connection) } else { None }
    }

    /// When the last packet of the connection was.
    pub(super) fn last(&self) -> Option<Instant> {
        match self {
            Self::Nothing => None,
            Self::Unfolded(connection) => Some(connection.last),
            Self::Folded(folded) => Some(folded.last()),
        }
    }

    /// The connection, unfolded.
    pub(super) fn into_unfolded(self, models: &SenderModels) -> Option<Box<TracedConnection>> {
        match self {
            Self::Nothing => None,
            Self::Unfolded(connection) => Some(connection),
            Self::Folded(folded) => Some(folded.unfold(models)),
        }
    }
}

/// A place of the table.
pub(super) struct Place {
    pub(super) kept: Kept,
    pub(super) words: EndWords,
    /// In the order of last packets, and among those that are not folded.
    pub(super) links: [Link; 2],
    /// The list that the first of these belongs to.
    pub(super) list: List,
    /// The second one is in use: the connection is among those that are not folded and may be.
    pub(super) may_fold: bool,
    /// The side of the first packet is the higher end.
    pub(super) swapped: bool,
    /// When it became the latest of its list.
    pub(super) touched: Instant,
}
