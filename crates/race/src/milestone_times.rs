//! The times of a load's milestones.

use serde::ser::{Serialize, SerializeMap, Serializer};
use units::Duration;
use workload::{Page, PageMilestone};

/// Times of the milestones from the start of the load; `None` for a milestone that never came, or
/// that the page does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MilestoneTimes([Option<Duration>; PageMilestone::ALL.len()]);

impl MilestoneTimes {
    /// Times of a page whose objects were complete at these times.
    pub fn of(page: &Page, objects: &[Option<Duration>]) -> Self {
        Self(PageMilestone::ALL.map(|milestone| {
            if !page.knows(milestone) || objects.len() != page.objects().len() {
                return None;
            }
            let awaited = page.ids().zip(objects).filter(|(id, _)| page.awaits(milestone, *id));
            awaited.map(|(_, done)| *done).collect::<Option<Vec<_>>>()?.into_iter().max()
        }))
    }

    /// Each time as a function of its milestone.
    pub(crate) fn by(time: impl Fn(PageMilestone) -> Option<Duration>) -> Self {
        Self(PageMilestone::ALL.map(time))
    }

    /// The time of a milestone.
    pub fn get(&self, milestone: PageMilestone) -> Option<Duration> {
        self.0[milestone as usize]
    }

    /// Replaces the time of a milestone.
    #[must_use]
    pub fn with(mut self, milestone: PageMilestone, time: Duration) -> Self {
        self.0[milestone as usize] = Some(time);
        self
    }
}

/// Seconds by the keys of the milestones.
impl Serialize for MilestoneTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for milestone in PageMilestone::ALL {
            let seconds = self.get(milestone).map(Duration::as_secs_f64);
            map.serialize_entry(&format!("{}_s", milestone.key()), &seconds)?;
        }
        map.end()
    }
}
