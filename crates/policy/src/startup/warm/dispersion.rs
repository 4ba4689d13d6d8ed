//! The second flight of a cold start by the dispersion of the first (`warm_dispersion`). As soon as
//! ACKs show the rate at which a queue lets segments out, the window becomes what the path holds at
//! that rate. The segments gained leave at that rate. Slow start would take some round trips more.
//! If several connections send, each gets its part (docs/adr/0022-headstart.md).

use super::Warm;
use super::pacing::STOCK_BURST;
use crate::startup::hooked::Situation;
use crate::window::{Cause, Window};
use memory::{AnsweredPeer, WindowPool};
use units::Instant;

/// Segments of the stock ten that must be delivered first: fewer show more about clocks than about
/// the path. Chosen, not measured.
const MIN_ARRIVED: u32 = 8;

/// Largest window, segments (eight stock windows): compressed ACKs make a path seem faster, and an
/// error costs others no more than this. Source: docs/adr/0022-headstart.md.
const MAX_WINDOW: u64 = 8 * STOCK_BURST;

impl Warm {
    /// Processes an ACK. The window jumps once, if a rate is known, slow start continues and the
    /// window would grow by it. After that the pace follows the number of senders.
    pub(super) fn widen_by_dispersion(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.follow_senders(at.now);
        let may_jump = self.options.jumps_by_dispersion && self.jumped_until.is_none();
        if !may_jump || !self.is_slow_cold_start(window) {
            return;
        }
        let rate = self.part_of_rate(at.now);
        let mss = window.mss();
        let held = rate.saturating_mul(at.min_rtt_us().into()) / 1_000_000 / mss;
        let wide = held.min(MAX_WINDOW) * mss;
        if wide > window.cwnd() {
            self.jumped_until = Some(at.acked_total + wide);
            window.set_cwnd(wide, Cause::Seed);
            self.search.pace_by_dispersion(rate, &mut self.pacing);
        }
    }

    /// Paces the segments that the second flight has gained at one sender's part of the rate, as
    /// connections begin and end, until the search has a rate of its own.
    pub(super) fn follow_senders(&mut self, now: Instant) {
        if self.search.is_paced_by_dispersion() {
            let rate = self.part_of_rate(now);
            // If the rate is not known any more, the last one stays.
            if rate > 0 {
                self.search.pace_by_dispersion(rate, &mut self.pacing);
            }
        }
    }

    /// Returns its part of the rate at which segments of all connections were delivered, bytes a
    /// second; 0: not known.
    fn part_of_rate(&self, now: Instant) -> u64 {
        let max_age = self.options.terms.max_age;
        let part = |pool: &mut WindowPool, AnsweredPeer { address, .. }: AnsweredPeer| {
            pool.delivery_rate(now, address, max_age) / u64::from(pool.senders(address))
        };
        self.hooked.as_ref().map_or(0, |hooked| hooked.pool(part))
    }

    /// Processes a loss. If it is in the flight that the rate has widened, the path does not have
    /// that rate, so the memory must not use it.
    pub(super) fn doubt_failed_rate(&self, at: &Situation<'_>) {
        let is_of_jump = self.jumped_until.is_some_and(|until| at.acked_total < until);
        if let Some(hooked) = self.hooked.as_ref().filter(|_| is_of_jump) {
            hooked.pool(|pool, to| pool.discard_delivery_rate(to.address));
        }
    }

    /// True if the connection began cold, still searches, and has enough deliveries.
    fn is_slow_cold_start(&self, window: &Window) -> bool {
        let is_cold = self.flight.window == 0 && !self.in_first_flight();
        is_cold && self.search.is_on && window.below_ssthresh() && self.delivered >= MIN_ARRIVED
    }
}
