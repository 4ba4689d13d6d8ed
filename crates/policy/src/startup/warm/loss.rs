//! Losses. A loss measures the path if it shows that the path was full: round trips show a queue,
//! or the window was as large as the path carries. In a first flight it means that the path is not
//! the remembered one. Any other loss is random: the congestion control reduces the window for it,
//! and the memory does not change.

use super::pacing::rate_of;
use super::{Warm, WarmPhase, segments};
use crate::startup::hooked::Situation;
use crate::window::{Cause, Window};
use arith::flights::Flights;
use arith::reuse::{
    carried_in_lowest, has_queue, has_standing_queue, is_slower, pacing_rate, window_at_loss,
    without_queue,
};
use arith::trains;
use memory::{END_UNKNOWN, PathSample};
use units::Instant;

/// The effect of a loss, until the congestion control has decided on its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum LossEffect {
    /// Loss in a first flight: the window to continue with, segments, unless the congestion
    /// control's is smaller.
    Back(u32),
    /// Another loss: the sample for the path.
    Sample {
        /// The loss shows that the path was full; otherwise the path carries that window at least.
        is_measured: bool,
        /// The sample, with the window, not yet with the threshold.
        sample: PathSample,
    },
}

/// The window at a loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossWindow {
    /// Segments.
    pub(super) cwnd: u32,
    pub(super) in_slow_start: bool,
}

/// Number of lost segments of a first flight that still count as random, in addition to one in
/// [`RANDOM_SHARE`]. Chosen, not measured.
const RANDOM_LOSSES: u64 = 2;
/// See [`RANDOM_LOSSES`]. Chosen, not measured.
const RANDOM_SHARE: u64 = 32;

impl Warm {
    /// Processes a loss before the window is reduced (`hs_cubic_ssthresh`, `hs_bbr_ssthresh`).
    pub(super) fn begin_loss_effect(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.flights = Flights::beginning_at(at.sent_total);
        self.doubt_failed_rate(at);
        self.judge_early(window, at);
        self.has_lost = true;
        if self.in_first_flight() && self.has_failed(window, at) {
            let half = self.fall_back(window, at);
            match self.models {
                true => lower_model(window, at, half),
                false => self.loss_effect = Some(LossEffect::Back(half)),
            }
        } else if self.in_first_flight() {
            self.doubt_flight();
        } else if !self.models {
            let cwnd = segments(window.cwnd(), window.mss());
            let loss = LossWindow { cwnd, in_slow_start: window.below_ssthresh() };
            self.loss_effect = Some(self.sample_loss(window, at, loss));
        }
        if !self.models {
            self.wide.end(&mut self.pacing);
            self.end_search();
            self.leave_stock();
        }
    }

    /// True if the first flight has found the path full, with more than a stock connection would
    /// have sent at once (`has_failed` of the agent).
    pub(super) fn has_failed(&self, window: &Window, at: &Situation<'_>) -> bool {
        let beyond_stock = u64::from(self.flight.window.saturating_sub(self.cold)) * window.mss();
        let is_stock = at.acked_total + beyond_stock < self.flight.end;
        (self.pace.is_on() || !is_stock) && has_queue(at.srtt_us(), at.min_rtt_us())
    }

    /// Returns the sample of a loss outside of a first flight. It measures the path if it shows
    /// that the path was full; otherwise the path carries at least the rest of the window. If the
    /// rate is not known, or round trips contradict it, the rate of acknowledgements is used. In
    /// congestion avoidance a queue that long never runs empty (`learn_loss` of the agent).
    pub(super) fn sample_loss(
        &mut self,
        window: &Window,
        at: &Situation<'_>,
        loss: LossWindow,
    ) -> LossEffect {
        let (srtt_us, min_rtt_us) = (at.srtt_us(), at.min_rtt_us());
        let (mss, full) = (window.mss() as u32, self.bdp(at));
        let left = window_at_loss(loss.cwnd, loss.in_slow_start);
        let carried = carried_in_lowest(left, srtt_us, min_rtt_us);
        let is_measured = has_queue(srtt_us, min_rtt_us) || (full > 0 && loss.cwnd > full);
        let is_steady = !loss.in_slow_start && has_standing_queue(srtt_us, min_rtt_us);
        let is_below = is_steady && (full == 0 || carried < full / 4 * 3);
        let sample = PathSample { ssthresh: END_UNKNOWN, ..self.current_sample(window, at) };
        if is_below || self.is_slower(window, at) {
            let rate = arith::reuse::rate_of(carried, mss, min_rtt_us);
            self.measure.assume_rate(mss, rate);
            return LossEffect::Sample {
                is_measured,
                sample: PathSample { window: carried, rate, ..sample },
            };
        }
        let carried = without_queue(left, full, srtt_us, min_rtt_us);
        LossEffect::Sample { is_measured, sample: PathSample { window: carried, ..sample } }
    }

    /// Ends a first flight whose round trips contradict its rate, before a loss, at the window that
    /// the path carries (`end_if_contradicted` of the agent).
    pub(super) fn end_if_contradicted(&mut self, window: &mut Window, at: &Situation<'_>) {
        if !self.in_first_flight() || !self.is_slower(window, at) {
            return;
        }
        let mss = window.mss();
        let cwnd = segments(window.cwnd(), mss);
        let carried = carried_in_lowest(cwnd, at.srtt_us(), at.min_rtt_us()).max(self.cold);
        self.fail_memory(at.now, true);
        self.end_first_flight(WarmPhase::Stock);
        if self.models {
            return lower_model(window, at, carried);
        }
        self.end_search();
        self.leave_stock();
        window.set_cwnd(u64::from(carried) * mss, Cause::FallBack);
        window.set_ssthresh(u64::from(carried) * mss, Cause::FallBack);
    }

    /// True if round trips contradict the known rate of the path or, if none is known, the rate of
    /// its first flight.
    fn is_slower(&self, window: &Window, at: &Situation<'_>) -> bool {
        let outstanding = segments(window.cwnd(), window.mss()).max(self.flight.window);
        let gap = match self.measure.best() {
            0 => trains::gap_of_rate(window.mss() as u32, self.pacing.limited_to()),
            known => known,
        };
        is_slower(outstanding, gap, at.srtt_us(), at.min_rtt_us())
    }

    /// Marks a first flight whose loss seems random, to be judged when it is over.
    pub(super) fn doubt_flight(&mut self) {
        self.end_first_flight(WarmPhase::Stock);
        self.is_doubted = true;
    }

    /// Judges a first flight whose loss seemed random, when it is over. If it has lost more than a
    /// random part, the path is not the remembered one (`judge_doubted` of the agent).
    pub(super) fn judge_doubted(&mut self, at: &Situation<'_>) {
        if !std::mem::take(&mut self.is_doubted) {
            return;
        }
        let lost = at.segments_resent - self.flight.retransmitted;
        let delivered = self.delivered.wrapping_sub(self.flight.delivered);
        let flight = u64::from(self.flight.window.min(delivered));
        if lost > RANDOM_LOSSES + flight / RANDOM_SHARE {
            self.fail_memory(at.now, false);
        }
    }

    /// Applies the effect of a loss after the congestion control has set its threshold: the window
    /// is reduced to that, or further.
    pub(super) fn settle_loss_effect(&mut self, window: &mut Window) {
        let mss = window.mss();
        match self.loss_effect.take() {
            Some(LossEffect::Back(half)) => {
                let half = u64::from(half) * mss;
                if half < window.ssthresh() {
                    let cause = window.last_cause();
                    window.set_ssthresh(half, cause);
                }
            }
            Some(LossEffect::Sample { is_measured, sample }) => {
                self.record_sample(window.now(), &sample, is_measured);
            }
            None => {}
        }
    }

    /// Returns the window to continue with, segments: half of the flight, but at least what fills
    /// the path at a rate that nothing contradicts (`fall_back`).
    pub(super) fn fall_back(&mut self, window: &Window, at: &Situation<'_>) -> u32 {
        let is_slower = self.is_slower(window, at);
        let full = if is_slower { 0 } else { self.bdp(at) };
        self.fail_memory(at.now, is_slower);
        self.end_first_flight(WarmPhase::Stock);
        (self.flight.window / 2).max(self.cold).max(full)
    }

    /// Reports to the memory that the path is not the remembered one.
    pub(super) fn fail_memory(&mut self, now: Instant, is_slower: bool) {
        if let Some(hooked) = &self.hooked {
            hooked.pool(|pool, to| pool.fail(now, to, is_slower));
            // A flight by itself may have used that rate, too.
            if self.options.paces_together {
                hooked.pool(|pool, to| pool.discard_delivery_rate(to.address));
            }
        }
        self.has_fallen_back = true;
    }
}

/// Lowers the window of BBR, which itself lowers neither window nor rate before the pipe is full:
/// it uses this window as the one to return to.
fn lower_model(window: &mut Window, at: &Situation<'_>, half: u32) {
    let mss = window.mss();
    let half_bytes = u64::from(half) * mss;
    if half_bytes < window.cwnd() {
        window.set_cwnd(half_bytes, Cause::FallBack);
    }
    let rate = pacing_rate(half, mss as u32, at.srtt_us());
    window.set_pacing_rate(Some(rate_of(rate)));
}
