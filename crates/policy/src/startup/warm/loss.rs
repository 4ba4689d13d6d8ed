//! Losses: a first flight that loses something says that the path is not the one remembered. Any other loss measures it.

use super::pacing::rate_of;
use super::{Warm, WarmPhase, segments};
use crate::startup::attended::Situation;
use crate::window::{Cause, Window};
use arith::flights::Flights;
use arith::reuse::{pacing_rate, window_at_loss};
use memory::PathSample;

/// What a loss takes, until the congestion control has said what it makes of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fall {
    /// Of a first flight: the window to go on with, segments, unless the congestion control's is smaller.
    Back(u32),
    /// Of another: what the path is told.
    Measured(PathSample),
}

impl Warm {
    /// Something is lost; the window is still what it was (`hs_cubic_ssthresh`, `hs_bbr_ssthresh`).
    pub(super) fn begin_fall(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.flights = Flights::beginning_at(at.sent_total);
        self.doubt_failed_rate(at);
        self.judge_early(window, at);
        if self.in_first_flight() {
            let half = self.fall_back();
            match self.models {
                true => lower_model(window, at, half),
                false => self.fall = Some(Fall::Back(half)),
            }
        } else if !self.models {
            let lost = segments(window.cwnd(), window.mss());
            let lost = window_at_loss(lost, self.seen.in_slow_start);
            let sample = PathSample { window: lost, ..self.sample(window, at) };
            self.fall = Some(Fall::Measured(sample));
        }
        if !self.models {
            self.wide.end(&mut self.pacing);
            self.end_search();
            self.leave_stock();
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
            Some(Fall::Measured(sample)) => {
                let ssthresh = segments(window.ssthresh(), mss);
                self.learn(window.now(), &PathSample { ssthresh, ..sample }, true);
            }
            None => {}
        }
    }

    /// The window to go on with, segments (`fall_back`).
    pub(super) fn fall_back(&mut self) -> u32 {
        if let Some(attendance) = &self.attendance {
            attendance.lender(memory::Lender::halve);
            // By itself, too, it may have left at that rate.
            if self.options.paces_together {
                attendance.lender(memory::Lender::doubt_carried);
            }
        }
        self.end_first_flight(WarmPhase::Stock);
        self.has_fallen_back = true;
        (self.flight.window / 2).max(self.cold)
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
