//! When what the window allows may leave: the pacer of a [`Path`] and the plan of its start-up.

use super::Path;
use super::pacer::{self, Departure, PacedSegment};
use super::planned::PlannedSending;
use policy::window::PlanOrder;
use units::{Duration, Instant};

/// Segments that leave unpaced at the start of a path, as Linux does it.
const UNPACED_SEGMENTS: u64 = 10;

impl Path {
    /// True if what is sent is spread over time, or may be about to be.
    #[inline]
    pub fn is_paced(&self) -> bool {
        debug_assert_eq!(self.spaces, self.has_spacing());
        self.spaces || self.window.has_order()
    }

    const fn has_spacing(&self) -> bool {
        self.pacer.is_some()
            || self.planned.is_some()
            || self.attention.sending.watches_sending
            || self.attention.sending.shares_pace
    }

    /// What [`Path::is_paced`] depends on may have changed: every packet asks for it.
    pub(super) const fn note_spacing(&mut self) {
        self.spaces = self.has_spacing();
    }

    /// When the pacer lets the next segment go; `None`: now.
    #[inline]
    pub fn release(&mut self, now: Instant) -> Option<Instant> {
        if self.is_paced() { self.release_paced(now) } else { None }
    }

    #[inline(never)]
    fn release_paced(&mut self, now: Instant) -> Option<Instant> {
        self.take_order();
        let at = self.due(now).max(self.departure(now));
        self.wait.on_asked(now, at);
        at
    }

    /// The same for who only looks on: asking changes nothing.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let by_rate = self.pacer.as_ref().map(|pacer| pacer.next_release(now));
        let by_plan = self.planned.as_ref().map(PlannedSending::next_release);
        by_rate.max(by_plan).filter(|&at| at > now)
    }

    /// For a sender rebuilt from a capture: what is seen to leave at `at` was not to leave yet, so this pacer is not that of the
    /// sender. It owes nothing for what has left.
    pub fn forgive_pacer(&mut self, at: Instant) {
        if let Some(pacer) = &mut self.pacer {
            pacer.forgive(at);
        }
    }

    /// The time that the start-up's plan gives a segment, if one is under way that spaces.
    pub fn planned_gap(&self) -> Option<Duration> {
        let gap = self.planned.as_ref().map(PlannedSending::segment_gap);
        gap.filter(|&gap| gap > Duration::ZERO)
    }

    /// The start-up's orders keep new data back until it gives others. With nothing in flight there
    /// is no ACK that could make it.
    #[inline]
    pub fn holds_new_data(&self) -> bool {
        self.planned.as_ref().is_some_and(PlannedSending::has_stopped) && self.in_flight > 0
    }

    /// The next segment of new data, of `len` bytes, is to leave with low priority.
    #[inline(never)]
    pub fn marks(&mut self, len: u64) -> bool {
        if self.window.has_order() {
            self.take_order();
        }
        self.planned.as_ref().is_some_and(|planned| planned.marks(len))
    }

    fn take_order(&mut self) {
        match self.window.take_order() {
            Some(PlanOrder::Follow(plan)) => {
                self.planned = Some(match self.planned.take() {
                    Some(planned) => planned.follow(plan),
                    None => PlannedSending::new(plan),
                });
            }
            Some(PlanOrder::End) => self.planned = None,
            None => return,
        }
        self.note_spacing();
    }

    /// Books a segment that leaves now.
    #[inline(never)]
    pub(super) fn pace(&mut self, now: Instant, segment: PacedSegment) {
        let late = self.wait.end(now);
        self.on_departure();
        if let Some(pacer) = &mut self.pacer {
            let set = self.window.pacing_rate();
            let rate = set.filter(|_| self.segments_sent > UNPACED_SEGMENTS);
            let (mss, min_rtt) = (self.window.mss(), self.rtt.min_rtt());
            let departure = Departure { at: now, late, segment };
            pacer.on_sent(&departure, rate, || pacer::batch(set, mss, min_rtt));
        }
        self.take_order();
        if let Some(planned) = &mut self.planned {
            planned.on_sent(now, late, segment.fresh);
        }
    }
}
