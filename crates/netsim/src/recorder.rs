//! Everything that happened at chosen links, kept for plots and tests.

use crate::observer::{Observer, Step};
use crate::{LinkId, SimPacket};
use units::Instant;

/// One step of one packet at one link.
#[derive(Clone, Copy, Debug)]
pub struct StepRecord {
    /// When.
    pub at: Instant,
    /// Where.
    pub link: LinkId,
    /// What.
    pub step: Step,
    /// Whose.
    pub packet: SimPacket,
}

/// An observer that remembers. Records of one link and one kind of step are in the order of time,
/// all together are not: a departure is known when the packet enters (see [`Observer`]).
#[derive(Debug, Default)]
pub struct StepRecorder {
    /// By link.
    chosen: Vec<bool>,
    records: Vec<StepRecord>,
}

impl StepRecorder {
    /// Remembers what happens at `links` and nowhere else.
    pub fn of(links: impl IntoIterator<Item = LinkId>) -> Self {
        let mut chosen = Vec::new();
        for link in links {
            if link.index() >= chosen.len() {
                chosen.resize(link.index() + 1, false);
            }
            chosen[link.index()] = true;
        }
        Self { chosen, records: Vec::new() }
    }

    /// What has happened so far.
    pub fn records(&self) -> &[StepRecord] {
        &self.records
    }
}

impl Observer for StepRecorder {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        if self.chosen.get(link.index()) == Some(&true) {
            self.records.push(StepRecord { at, link, step, packet: *packet });
        }
    }
}
