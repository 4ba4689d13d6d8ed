//! Losses. A loss measures the path if it shows that the path was full: round trips show a queue, or the window was as large as the
//! path carries. Then a first flight says that the path is not the one remembered. Any other loss is random: it costs the window
//! what the congestion control says, and the memory nothing.

use super::pacing::rate_of;
use super::{Warm, WarmPhase, segments};
use crate::startup::attended::Situation;
use crate::window::{Cause, Window};
use arith::flights::Flights;
use arith::reuse::{has_queue, pacing_rate, window_at_loss, without_queue};
use memory::PathSample;

/// What a loss takes, until the congestion control has said what it makes of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fall {
    /// Of a first flight: the window to go on with, segments, unless the congestion control's is smaller.
    Back(u32),
    /// Of another: what the path is told.
    Sample {
        /// The loss shows that the path was full; otherwise the path carries that window at least.
        is_measured: bool,
        /// With the window, not yet with the threshold.
        sample: PathSample,
    },
}

/// A first flight that has lost more segments than these two, and one in [`RANDOM_SHARE`], has not lost them by chance.
const RANDOM_LOSSES: u64 = 2;
/// See [`RANDOM_LOSSES`].
const RANDOM_SHARE: u64 = 32;

impl Warm {
    /// Something is lost; the window is still what it was (`hs_cubic_ssthresh`, `hs_bbr_ssthresh`).
    pub(super) fn begin_fall(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.flights = Flights::beginning_at(at.sent_total);
        self.doubt_failed_rate(at);
        self.judge_early(window, at);
        let is_full = self.is_full(window, at);

        if self.in_first_flight() && self.has_failed(window, at) {
            let half = self.fall_back(at);
            match self.models {
                true => lower_model(window, at, half),
                false => self.fall = Some(Fall::Back(half)),
            }
        } else if self.in_first_flight() {
            self.doubt_flight();
        } else if !self.models {
            let cwnd = segments(window.cwnd(), window.mss());
            let carried = window_at_loss(cwnd, self.seen.in_slow_start);
            let sample = self.loss_sample(window, at, carried);
            self.fall = Some(Fall::Sample { is_measured: is_full, sample });
        }
        if !self.models {
            self.wide.end(&mut self.pacing);
            self.end_search();
            self.leave_stock();
        }
    }

    /// The first flight has found the path full, by more than what a stock connection would have sent at once (`has_failed` of the agent).
    pub(super) fn has_failed(&self, window: &Window, at: &Situation<'_>) -> bool {
        let beyond_stock = u64::from(self.flight.window.saturating_sub(self.cold)) * window.mss();
        let is_stock = at.acked_total + beyond_stock < self.flight.end;
        (self.pace.is_on() || !is_stock) && has_queue(at.srtt_us(), at.min_rtt_us())
    }

    /// The path was full when something was lost, as far as round trips or the path's rate tell (`is_full` of the agent).
    pub(super) fn is_full(&self, window: &Window, at: &Situation<'_>) -> bool {
        let (pipe, cwnd) = (self.pipe(at), segments(window.cwnd(), window.mss()));
        has_queue(at.srtt_us(), at.min_rtt_us()) || (pipe > 0 && cwnd > pipe)
    }

    /// What a loss tells that has left a window of `carried` segments.
    pub(super) fn loss_sample(
        &self,
        window: &Window,
        at: &Situation<'_>,
        carried: u32,
    ) -> PathSample {
        let (srtt_us, min_rtt_us) = (at.srtt_us(), at.min_rtt_us());
        let carried = without_queue(carried, self.pipe(at), srtt_us, min_rtt_us);
        PathSample { window: carried, ..self.sample(window, at) }
    }

    /// A first flight has lost something, by chance as it seems: it is judged when it is over.
    pub(super) fn doubt_flight(&mut self) {
        self.end_first_flight(WarmPhase::Stock);
        self.is_doubted = true;
    }

    /// Segments retransmitted so far, and those whose data was fewer than a full segment.
    pub(super) fn retransmitted(at: &Situation<'_>, mss: u64) -> u64 {
        at.segments_sent.saturating_sub(at.sent_total.div_ceil(mss))
    }

    /// A first flight that seemed to have lost something by chance is over: if it has lost more than chance takes, the path is not the
    /// one remembered (`judge_doubted` of the agent).
    pub(super) fn judge_doubted(&mut self, at: &Situation<'_>, mss: u64) {
        if !std::mem::take(&mut self.is_doubted) {
            return;
        }
        let lost = Self::retransmitted(at, mss).saturating_sub(self.flight.retransmitted);
        if lost > RANDOM_LOSSES + u64::from(self.flight.window) / RANDOM_SHARE {
            self.fail_memory(at);
        }
    }

    /// The congestion control has set its threshold: the window falls to that, or further.
    pub(super) fn settle_fall(&mut self, window: &mut Window) {
        let mss = window.mss();
        match self.fall.take() {
            Some(Fall::Back(half)) => {
                let half = u64::from(half) * mss;
                if half < window.ssthresh() {
                    let cause = window.last_cause();
                    window.set_ssthresh(half, cause);
                }
            }
            Some(Fall::Sample { is_measured, sample }) => {
                let ssthresh = if is_measured { segments(window.ssthresh(), mss) } else { 0 };
                self.learn(window.now(), &PathSample { ssthresh, ..sample }, is_measured);
            }
            None => {}
        }
    }

    /// The window to go on with, segments (`fall_back`).
    pub(super) fn fall_back(&mut self, at: &Situation<'_>) -> u32 {
        self.fail_memory(at);
        self.end_first_flight(WarmPhase::Stock);
        (self.flight.window / 2).max(self.cold)
    }

    /// The path is not the one remembered.
    fn fail_memory(&mut self, at: &Situation<'_>) {
        let is_slower = self.measure.is_slower(super::clock_us(at.now), self.delivered);
        if let Some(attendance) = &self.attendance {
            attendance.lender(|lender, to| lender.fail(to, is_slower));
            // By itself, too, it may have left at that rate.
            if self.options.paces_together {
                attendance.lender(memory::Lender::doubt_carried);
            }
        }
        self.has_fallen_back = true;
    }
}

/// Before the pipe is full BBR lowers neither window nor rate: it takes the window from here as the one to return to.
fn lower_model(window: &mut Window, at: &Situation<'_>, half: u32) {
    let mss = window.mss();
    let half_bytes = u64::from(half) * mss;
    if half_bytes < window.cwnd() {
        window.set_cwnd(half_bytes, Cause::Retreat);
    }
    let rate = pacing_rate(half, mss as u32, at.srtt_us());
    window.set_pacing_rate(Some(rate_of(rate)));
}
