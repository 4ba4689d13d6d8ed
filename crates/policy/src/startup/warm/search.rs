//! A cold start that leaves slow start by measurement, not by loss. When two flights in a row were
//! delivered at the same rate, slow start ends at the window that fills the path. Until then data
//! is paced an eighth faster than it is delivered. A search that finds nothing changes nothing
//! (docs/adr/0014-cold-start.md; `search.h` of the agent).

use super::pacing::SocketPacing;
use crate::startup::hooked::Situation;
use crate::window::{Cause, Window};
use arith::measure::{TrainAck, TrainMeasure, TrainSays};
use arith::trains;

/// State of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    pub(super) is_on: bool,
    /// Nothing else paces the connection.
    may_pace: bool,
    is_pacing: bool,
    /// Data leaves at a rate that connections have shown together, and the search has none of its
    /// own.
    is_paced_by_dispersion: bool,
    /// Slow start had no proven end.
    pub(super) is_endless: bool,
}

/// The parts of a warm start that its search works with.
pub(super) struct SearchTools<'a> {
    pub(super) measure: &'a mut TrainMeasure,
    pub(super) pacing: &'a mut SocketPacing,
}

impl Search {
    /// Begins, unless slow start has an end already and no rate is known: then there is nothing to
    /// find.
    pub(super) fn begin(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        tools: SearchTools<'_>,
        may_pace: bool,
    ) {
        let SearchTools { measure, pacing } = tools;
        self.is_endless = window.ssthresh() == u64::MAX;
        let is_known = measure.best() > 0;
        if !self.is_endless && !is_known {
            return;
        }
        self.is_on = true;
        measure.begin_at(at.sent_total);
        self.may_pace = may_pace;
        self.is_pacing = may_pace && is_known;
        if is_known && self.is_endless {
            let full = trains::window(at.min_rtt_us(), measure.best()) * window.mss();
            window.set_ssthresh(full.max(window.cwnd()), Cause::Seed);
        }
        pacing.search_rate = self.rate(window, measure);
    }

    /// True if it has a rate to send at.
    pub(super) const fn is_pacing(&self) -> bool {
        self.is_pacing
    }

    /// Returns a rate an eighth faster than the estimate, bytes a second; 0: the kernel's own.
    fn rate(&self, window: &Window, measure: &TrainMeasure) -> u64 {
        if self.is_pacing { trains::rate(window.mss() as u32, measure.best()) } else { 0 }
    }

    /// Makes the second flight leave at `rate` bytes a second, until the search has a rate of its
    /// own or ends. Pacing ends with it where nothing else paces.
    pub(super) const fn pace_by_dispersion(&mut self, rate: u64, pacing: &mut SocketPacing) {
        self.is_pacing = self.may_pace;
        self.is_paced_by_dispersion = true;
        pacing.keep_paced();
        pacing.search_rate = rate;
    }

    pub(super) const fn is_paced_by_dispersion(&self) -> bool {
        self.is_paced_by_dispersion
    }

    /// Also of its pacing.
    pub(super) fn end(&mut self, pacing: &mut SocketPacing) {
        if self.is_pacing {
            pacing.leave_unpaced();
        }
        self.is_on = false;
        self.is_pacing = false;
        self.is_paced_by_dispersion = false;
        pacing.search_rate = 0;
    }

    /// Processes an ACK. Slow start ends at the estimated window.
    pub(super) fn on_ack(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        ack: &TrainAck,
        tools: SearchTools<'_>,
    ) {
        let SearchTools { measure, pacing } = tools;
        let gives_up = measure.best() == 0 && measure.has_measured_enough();
        if !window.below_ssthresh() || gives_up {
            return self.end(pacing);
        }
        match measure.on_ack(ack) {
            TrainSays::Nothing => return,
            TrainSays::Rate => {
                let full = trains::window(at.min_rtt_us(), measure.best()) * window.mss();
                window.set_ssthresh(full, Cause::HyStart);
                self.is_pacing = self.may_pace;
            }
            TrainSays::Faster => window.set_ssthresh(u64::MAX, Cause::HyStart),
        }
        if self.is_pacing {
            pacing.keep_paced();
            self.is_paced_by_dispersion = false;
            pacing.search_rate = self.rate(window, measure);
        }
    }
}
