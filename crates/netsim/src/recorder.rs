//! Records all steps of packets at chosen links, for plots and tests.

use crate::observer::{Observer, Step};
use crate::{LinkId, SimPacket};
use units::Instant;

/// One step of one packet at one link.
#[derive(Clone, Copy, Debug)]
pub struct StepRecord {
    /// Time of the step.
    pub at: Instant,
    /// The link.
    pub link: LinkId,
    /// The step.
    pub step: Step,
    /// The packet.
    pub packet: SimPacket,
}

/// An observer that records. Records of one link and one kind of step are in the order of time, but
/// not all together: a departure is known when the packet enters (see [`Observer`]).
#[derive(Debug, Default)]
pub struct StepRecorder {
    /// True for chosen links, by link.
    chosen: Vec<bool>,
    records: Vec<StepRecord>,
}

impl StepRecorder {
    /// Creates a recorder of the steps at `links` and nowhere else.
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

    /// Returns the records so far.
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
