//! Milestones of a load, and the objects that each waits for.
//!
//! A recording says when its browser's events fired. A page keeps the objects that an event waited
//! for and not its time: on another network the same objects need another time. The browser's own
//! work between the last byte and the event is no part of a milestone.

use super::{Object, ObjectId, ObjectKind, Page};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An instant of a load, in the order in which they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageMilestone {
    /// The last byte of the main document.
    Document,
    /// The last byte that the event `DOMContentLoaded` waited for in the recording.
    ContentLoaded,
    /// The last byte that the event `load` waited for in the recording.
    Load,
    /// The last byte of all.
    #[default]
    LastByte,
}

impl PageMilestone {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Document, Self::ContentLoaded, Self::Load, Self::LastByte];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::ContentLoaded => "DOMContentLoaded",
            Self::Load => "load",
            Self::LastByte => "last byte",
        }
    }

    /// Its key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::ContentLoaded => "content_loaded",
            Self::Load => "load",
            Self::LastByte => "last_byte",
        }
    }
}

impl fmt::Display for PageMilestone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The objects that each milestone waits for, and the milestone that ends the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    /// All but the last byte, which waits for every object.
    objects: BTreeMap<PageMilestone, BTreeSet<ObjectId>>,
    until: PageMilestone,
}

impl Awaited {
    /// The main document is the first one; of a page without documents, the root.
    pub(super) fn of(objects: &[Object]) -> Self {
        let first = objects.iter().position(|object| object.kind == ObjectKind::Html);
        let document = ObjectId(first.unwrap_or(0) as u32);
        let objects = [(PageMilestone::Document, BTreeSet::from([document]))].into();
        Self { objects, until: PageMilestone::LastByte }
    }

    /// The same without an object, where later ones have the numbers that `renumbered` gives.
    pub(super) fn without(&self, id: ObjectId, renumbered: impl Fn(ObjectId) -> ObjectId) -> Self {
        let others = |ids: &BTreeSet<ObjectId>| {
            ids.iter().filter(|other| **other != id).map(|other| renumbered(*other)).collect()
        };
        let objects = self.objects.iter().map(|(milestone, ids)| (*milestone, others(ids)));
        Self { objects: objects.collect(), until: self.until }
    }
}

impl Page {
    /// Adds an event of the recording, and the objects that the event waits for.
    #[must_use]
    pub fn with_event(
        mut self,
        event: PageMilestone,
        objects: impl IntoIterator<Item = ObjectId>,
    ) -> Self {
        self.awaited.objects.insert(event, objects.into_iter().collect());
        self
    }

    /// Lets a load end with this milestone in place of the last byte, if the page knows it.
    #[must_use]
    pub fn measured_until(mut self, until: PageMilestone) -> Self {
        self.awaited.until = if self.knows(until) { until } else { PageMilestone::LastByte };
        self
    }

    /// The milestone that ends a load, and that a race measures. Later objects are loaded, too.
    pub const fn until(&self) -> PageMilestone {
        self.awaited.until
    }

    /// False for an event that is not in the recording.
    pub fn knows(&self, milestone: PageMilestone) -> bool {
        milestone == PageMilestone::LastByte || self.awaited.objects.contains_key(&milestone)
    }

    /// True if the milestone waits for the object; of an unknown event, false.
    pub fn awaits(&self, milestone: PageMilestone, id: ObjectId) -> bool {
        let objects = self.awaited.objects.get(&milestone);
        milestone == PageMilestone::LastByte || objects.is_some_and(|ids| ids.contains(&id))
    }
}
