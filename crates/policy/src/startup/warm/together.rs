//! First flights at the pace of the path, with those of all connections (`warm_together`). The
//! memory may know the rate at which segments of all connections to a path are delivered. A
//! connection that begins on that path asks the memory for a departure time of each segment, and
//! begins with its share of what the path holds. So a page's flights meet no queue, where stock
//! ones come as bursts of ten each.

use super::{Warm, segments};
use crate::startup::hooked::Situation;
use crate::window::{Cause, Window};
use memory::{AnsweredPeer, ColdReason, ProvenPath, ReservationRequest, WindowPool};
use units::Instant;

/// A connection's part in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SharedPace {
    /// Bytes a second; 0: it leaves as ever.
    rate: u64,
    /// When its next segment may leave, if it has asked.
    booked: Option<Instant>,
}

impl SharedPace {
    pub(super) const fn is_on(&self) -> bool {
        self.rate > 0
    }

    pub(super) const fn end(&mut self) {
        *self = Self { rate: 0, booked: None };
    }

    /// A segment has left.
    pub(super) const fn on_sent(&mut self) {
        self.booked = None;
    }
}

impl Warm {
    /// Begins with its share, at the shared pace, if the rate is known; says whether it is.
    pub(super) fn begin_together(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        among: u32,
    ) -> bool {
        let Some(hooked) = &self.hooked else { return false };
        let max_age = self.options.terms.max_age;
        let rate = hooked.pool(|pool, to| pool.delivery_rate(at.now, to.address, max_age));
        if !self.options.paces_together || rate == 0 {
            return false;
        }
        let mss = window.mss();
        let cold = segments(window.cwnd(), mss);
        let request = ReservationRequest { cold, ..self.request(window, at, among) };
        let terms = &self.options.terms;
        let share = |pool: &mut WindowPool, to| {
            // Without the others, a connection begins with the window that one has proven, or with
            // a stock window, unless a start of that width has met a queue.
            let recalled = pool.recall(at.now, to, &request, terms);
            let is_narrow = recalled == Err(ColdReason::Small)
                && pool.path(to).is_some_and(|path| !path.has_shown_no_width());
            let begins = is_narrow || pool.has_company(at.now, to, among);
            if begins { pool.share(at.now, to, &request, rate, terms) } else { None }
        };
        let Some((start, _)) = hooked.pool(share) else { return false };
        self.cold = cold;
        self.pace = SharedPace { rate, booked: None };
        self.begin_first_flight(at, start.window, mss);
        window.set_cwnd(u64::from(start.window) * mss, Cause::Seed);
        window.set_ssthresh(u64::from(start.ssthresh) * mss, Cause::Seed);
        true
    }

    /// `path`, with the rate that all connections together have seen where it has none of its own.
    pub(super) fn carried_together(&self, now: Instant, path: &ProvenPath) -> ProvenPath {
        let mut path = *path;
        if self.options.paces_together
            && path.rate == 0
            && let Some(hooked) = &self.hooked
        {
            let max_age = self.options.terms.max_age;
            path.rate = hooked.pool(|pool, to| pool.delivery_rate(now, to.address, max_age));
        }
        path
    }

    /// It has something under way from now on, or nothing any more.
    pub(super) fn set_sending(&mut self, sends: bool) {
        let is_asked = self.options.timer_gaps > 0 || self.options.jumps_by_dispersion;
        if is_asked
            && std::mem::replace(&mut self.is_sending, sends) != sends
            && let Some(hooked) = &self.hooked
        {
            hooked.pool(|pool, to| pool.count_sender(to.address, sends));
        }
    }

    /// Returns the time at which the next segment of `bytes` may leave.
    pub(super) fn schedule_departure(&mut self, now: Instant, bytes: u64) -> Option<Instant> {
        let rate = self.pace.rate;
        let hooked = self.hooked.as_ref().filter(|_| rate > 0)?;
        let book =
            |pool: &mut WindowPool, to: AnsweredPeer| pool.book(now, to.address, bytes, rate);
        Some(*self.pace.booked.get_or_insert_with(|| hooked.pool(book)))
    }
}
