//! The first flight: how it is lent and at which rate it leaves.

use super::pacing::rate_of;
use super::{Warm, WarmPhase, segments};
use crate::startup::attended::Situation;
use crate::window::{Cause, Window};
use arith::reuse::{first_rate, pacing_rate};
use memory::{LoanRequest, ProvenPath};

/// What the last warm start began with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstFlight {
    /// Remembered window, segments; 0: there was none.
    pub(super) window: u32,
    /// Byte behind it.
    pub(super) end: u64,
    /// Segments delivered before it.
    pub(super) delivered: u32,
}

impl Warm {
    /// Opens, or starts anew, as wide as the memory allows to one of `among` connections (`begin_as_remembered`).
    pub(super) fn begin_as_remembered(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        among: u32,
    ) {
        let mss = window.mss();
        self.cold = segments(window.cwnd(), mss);
        let Some(attendance) = &self.attendance else { return };
        let request = LoanRequest {
            cold: self.cold,
            among,
            rtt_us: at.srtt_us(),
            mss: mss as u32,
            takes: true,
        };
        let terms = &self.options.terms;
        let lent =
            attendance.lender(|lender, remote| lender.reserve((at.now, remote), &request, terms));
        if let Some((first, path)) = lent {
            self.begin_warm(window, at, (&path, first));
        }
    }

    /// Opens with what is remembered, if that is not slower than a cold start (`begin_warm`).
    fn begin_warm(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        (path, first): (&ProvenPath, u32),
    ) {
        let mss = window.mss();
        let carried = self.carried_together(path);
        let Some(rate) = self.choose_rate(at, (&carried, first), mss as u32) else { return };
        self.is_paced |= !self.pacing.is_on();
        self.pacing.limit(rate);
        self.begin_first_flight(at, (first, mss));
        self.measure.assume_rate(mss as u32, path.rate);
        window.set_cwnd(u64::from(first) * mss, Cause::Seed);
        self.pacing.apply(window);
        window.set_pacing_rate(Some(rate_of(rate)));
        // Slow start ended somewhere: it does not begin again below. It never has: it goes on.
        if path.ssthresh > 0 {
            window.set_ssthresh(u64::from(path.ssthresh.max(first)) * mss, Cause::Seed);
        }
    }

    pub(super) fn begin_first_flight(&mut self, at: &Situation<'_>, (first, mss): (u32, u64)) {
        let end = at.sent_total + u64::from(first) * mss;
        self.flight = FirstFlight { window: first, end, delivered: self.delivered };
        self.phase = WarmPhase::FirstFlight;
    }

    /// Bytes a second; `None` if it would be slower than a cold start, as a peer of the same prefix can make it that answers
    /// late.
    fn choose_rate(
        &self,
        at: &Situation<'_>,
        (path, first): (&ProvenPath, u32),
        mss: u32,
    ) -> Option<u64> {
        let now_us = at.srtt_us();
        let even = pacing_rate(first, mss, now_us.max(path.srtt_us));
        let rate = first_rate(even, path.rate, first, path.window);
        (even > 0 && even >= pacing_rate(self.cold, mss, now_us)).then_some(rate)
    }

    /// Its first flight, of which nothing has been sent.
    pub(super) fn is_about_to_begin(&self, at: &Situation<'_>, mss: u64) -> bool {
        self.in_first_flight()
            && at.sent_total + u64::from(self.flight.window) * mss == self.flight.end
    }
}
