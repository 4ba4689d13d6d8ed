//! Release of data that the window permits: the pacer of a [`Path`] and the plan of its start-up.

use super::Path;
use super::pacer::{self, Departure, PacedSegment};
use super::planned::PlannedSending;
use policy::window::PlanOrder;
use units::{Duration, Instant};

/// Number of segments that are sent unpaced at the start of a path, as in Linux.
const UNPACED_SEGMENTS: u64 = 10;

impl Path {
    /// Returns true if segments are spread over time, or may be about to be.
    #[inline]
    pub fn is_paced(&self) -> bool {
        debug_assert_eq!(self.spaces, self.has_spacing());
        self.spaces || self.window.has_order()
    }

    const fn has_spacing(&self) -> bool {
        self.pacer.is_some()
            || self.planned.is_some()
            || self.hooks.sending.watches_sending
            || self.hooks.sending.shares_pace
    }

    /// Updates the cached result of [`Path::is_paced`], which every packet reads.
    pub(super) const fn note_spacing(&mut self) {
        self.spaces = self.has_spacing();
    }

    /// Returns when the pacer permits the next segment; `None`: now.
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

    /// Returns the same as [`Path::release`] without changing anything.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let by_rate = self.pacer.as_ref().map(|pacer| pacer.next_release(now));
        let by_plan = self.planned.as_ref().map(PlannedSending::next_release);
        by_rate.max(by_plan).filter(|&at| at > now)
    }

    /// Permits a segment at `at`, for a sender rebuilt from a capture. The capture shows a segment
    /// that this pacer would not have sent yet, so this pacer differs from the sender's. It owes no
    /// time for earlier segments.
    pub fn forgive_pacer(&mut self, at: Instant) {
        if let Some(pacer) = &mut self.pacer {
            pacer.permit_at(at);
        }
    }

    /// Returns the time that the start-up's plan gives a segment, if it has a plan that spaces.
    pub fn planned_gap(&self) -> Option<Duration> {
        let gap = self.planned.as_ref().map(PlannedSending::segment_gap);
        gap.filter(|&gap| gap > Duration::ZERO)
    }

    /// Returns true if the start-up's orders hold new data back until the next order. With nothing
    /// in flight there is no ACK that could cause one.
    #[inline]
    pub fn holds_new_data(&self) -> bool {
        self.planned.as_ref().is_some_and(PlannedSending::has_stopped) && self.in_flight > 0
    }

    /// Returns true if the next segment of new data, of `len` bytes, is to be sent with low
    /// priority.
    #[inline(never)]
    pub fn marks(&mut self, len: u64) -> bool {
        if self.window.has_order() {
            self.take_order();
        }
        self.planned.as_ref().is_some_and(|planned| planned.is_marked(len))
    }

    fn take_order(&mut self) {
        match self.window.take_order() {
            Some(PlanOrder::Follow(plan)) => {
                self.planned = Some(match self.planned.take() {
                    Some(planned) => planned.with_plan(plan),
                    None => PlannedSending::new(plan),
                });
            }
            Some(PlanOrder::End) => self.planned = None,
            None => return,
        }
        self.note_spacing();
    }

    /// Books a segment that is sent now.
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
