//! One visit as a race's result lists it.

use super::bound::BoundShares;
use super::contestant::{ClientTurn, MeasuredLoad};
use super::milestone_times::MilestoneTimes;
use serde::Serialize;
use units::Duration;

/// One visit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VisitSample {
    /// Number of the page's run, from 0.
    pub run: usize,
    /// Number of real turns of the race before the sample's turn; `None` if it is simulated.
    pub order: Option<u64>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Number of the client's visit, from 0.
    pub visit: usize,
    /// The visit was repeated because of scheduling delay, and does not count.
    pub redone: bool,
    /// Seconds of the path's recordings at which it began, in one cycle of them; `None` if no rate
    /// changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_s: Option<f64>,
    /// Seconds until it ended.
    pub page_s: Option<f64>,
    /// Times of its milestones.
    pub times: MilestoneTimes,
    /// Shares of its bounds; `None` if it did not complete, or the link was not watched.
    pub bound: Option<BoundShares>,
    /// Packets dropped or lost.
    pub dropped_packets: u64,
    /// Seconds that one packet in a hundred exceeded in being handed over late.
    pub lateness_p99_s: f64,
    /// Reason why it did not complete.
    pub failure: Option<String>,
}

impl VisitSample {
    /// The load of a turn's visit.
    pub(super) fn new(turn: &ClientTurn, visit: usize, load: &MeasuredLoad) -> Self {
        Self {
            run: 0,
            order: turn.order,
            repeat: turn.repeat,
            visit,
            redone: turn.is_redone,
            phase_s: load.phase.map(Duration::as_secs_f64),
            page_s: load.page.map(Duration::as_secs_f64),
            times: load.times,
            bound: load.bounds,
            dropped_packets: load.dropped,
            lateness_p99_s: load.scheduling_delay.as_secs_f64(),
            failure: load.failure.clone(),
        }
    }
}
