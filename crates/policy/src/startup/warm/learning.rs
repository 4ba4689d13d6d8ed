//! The values that a connection stores in the memory of its path.

use super::{Warm, segments};
use crate::bbr::ModelledPath;
use crate::startup::hooked::Situation;
use crate::window::Window;
use arith::reuse::{carried_in_lowest, has_queue, may_double, proven, without_queue};
use arith::trains;
use memory::PathSample;
use units::Instant;

/// BBR's fixed point of bandwidths, half of it at a time, so that nothing overflows.
const HALF_SCALE: u32 = arith::bbr::BW_SCALE / 2;
const US_PER_S: u64 = 1_000_000;

/// Segments that a connection, or all members of a session, have shown without a loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProvenSegments {
    pub(super) cwnd: u32,
    pub(super) in_slow_start: bool,
    /// Most segments outstanding at a time that were all delivered.
    pub(super) flight: u32,
    /// Remembered window that it began with; 0: it began cold.
    pub(super) first: u32,
    /// Segments delivered of that flight.
    pub(super) delivered: u32,
}

impl Warm {
    /// Returns the current values, without a window (`take_sample`).
    pub(super) fn current_sample(&self, window: &Window, at: &Situation<'_>) -> PathSample {
        let mss = window.mss();
        PathSample {
            at: self.arrived.unwrap_or(at.now),
            window: 0,
            ssthresh: match window.ssthresh() {
                u64::MAX => 0,
                _ if self.has_lost || !has_queue(at.srtt_us(), at.min_rtt_us()) => 0,
                bytes => segments(bytes, mss),
            },
            srtt_us: at.srtt_us(),
            min_rtt_us: at.min_rtt_us(),
            rate: self.remembered_rate(mss as u32),
            bdp: if self.measure.measured_rate(mss as u32) > 0 { self.bdp(at) } else { 0 },
            shown_rate: match self.measure.shown_rate(mss as u32) {
                0 => self.probe.rate(),
                rate => rate,
            },
        }
    }

    /// The rate that is remembered, bytes a second (`remembered_rate`). It is that of two trains
    /// that agree or, if there are none, of the probe of a cold start; 0: neither is known.
    fn remembered_rate(&self, mss: u32) -> u64 {
        match self.measure.measured_rate(mss) {
            0 => self.probe.rate(),
            rate => rate,
        }
    }

    pub(super) fn record_sample(&mut self, now: Instant, sample: &PathSample, is_measured: bool) {
        let Some(hooked) = &self.hooked else { return };

        let terms = &self.options.terms;
        let taken = hooked.pool(|pool, to| pool.learn(now, to.address, sample, is_measured, terms));
        if taken {
            self.has_measured = is_measured;
        }
    }

    /// Stores its values at its end. If its first flight failed and nothing was measured since, the
    /// site gets only the failure.
    pub(super) fn learn_at_end(&mut self, window: &Window, at: &Situation<'_>) {
        // The width of a later flight is not known.
        if !self.has_fallen_back || self.has_measured || self.has_restarted {
            return self.learn_proven(window, at);
        }
        let Some(hooked) = &self.hooked else { return };
        let (terms, mss) = (&self.options.terms, window.mss());
        let carried = self.carried_sample(window, at);
        // A SYN and a FIN are no data.
        let data = u32::try_from(at.sent_total.div_ceil(mss)).unwrap_or(u32::MAX);
        let sent = u32::try_from(at.segments_sent.saturating_sub(2)).unwrap_or(u32::MAX).max(data);
        let lost = u32::try_from(at.segments_resent).unwrap_or(u32::MAX);
        let failed =
            PathSample { window: self.flight.window.min(data), ..self.current_sample(window, at) };
        hooked.pool(|pool, to| {
            pool.take(at.now, to.address, &carried, true, terms);
            pool.report_failure(at.now, to.address, &failed, sent, lost);
        });
    }

    /// Returns the sample of a path whose first flight failed: the segments delivered since then,
    /// per lowest round trip.
    fn carried_sample(&self, window: &Window, at: &Situation<'_>) -> PathSample {
        let sample = self.current_sample(window, at);
        let arrived = self.delivered.wrapping_sub(self.flight.delivered);
        let took = self.arrived.unwrap_or(at.now).saturating_since(self.flight.began);
        let took_us = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        PathSample { window: carried_in_lowest(arrived, took_us, sample.min_rtt_us), ..sample }
    }

    pub(super) fn learn_proven(&mut self, window: &Window, at: &Situation<'_>) {
        let sample = self.proven_sample(window, at);
        self.record_sample(at.now, &sample, false);
    }

    /// Returns the segments that fill the path at the rate that this connection has measured, or
    /// that is remembered; 0: neither is known (`pipe_of` of the agent).
    pub(super) fn bdp(&self, at: &Situation<'_>) -> u32 {
        match self.measure.best() {
            0 => 0,
            gap => u32::try_from(trains::window(at.min_rtt_us(), gap)).unwrap_or(u32::MAX),
        }
    }

    /// Returns the window to remember of the proven segments. It excludes those that waited in a
    /// queue, and does not double a flight that waited (`proven_window`).
    pub(super) fn proven_window(&self, at: &Situation<'_>, of: &ProvenSegments) -> u32 {
        let (srtt_us, min_rtt_us) = (at.srtt_us(), at.min_rtt_us());
        let window = match of.first > 0 || may_double(srtt_us, min_rtt_us) {
            true => proven(of.cwnd, of.in_slow_start, of.flight, of.first, of.delivered),
            false => of.flight.min(of.cwnd),
        };
        without_queue(window, self.bdp(at), srtt_us, min_rtt_us)
    }

    /// Returns the values that it has proven since the last loss (`take_proven_sample`).
    fn proven_sample(&self, window: &Window, at: &Situation<'_>) -> PathSample {
        let mss = window.mss();
        let flight = self.flights.proven(segments(at.outstanding() + mss - 1, mss));
        let since_first = match self.flight.used {
            0 => self.delivered.wrapping_sub(self.flight.delivered),
            used => used,
        };
        let delivered = if self.has_fallen_back { 0 } else { since_first };
        let (cwnd, in_slow_start) = (segments(window.cwnd(), mss), window.below_ssthresh());
        let mut sample = self.current_sample(window, at);
        let first = self.flight.window;
        let proof = ProvenSegments { cwnd, in_slow_start, flight, first, delivered };
        sample.window = self.proven_window(at, &proof);
        // A search sets the end of slow start, which it has not proven.
        if self.search.is_on && self.search.is_endless {
            sample.ssthresh = 0;
        }
        sample
    }

    /// Stores the congestion control's measurement of the path: the bottleneck's rate over a round
    /// trip without a queue (`measured_by_bbr`).
    pub(super) fn learn_modelled(
        &mut self,
        window: &Window,
        at: &Situation<'_>,
        modelled: ModelledPath,
    ) {
        let ModelledPath { bandwidth, min_rtt_us } = modelled;
        let mut sample = self.current_sample(window, at);
        sample.window = (bandwidth.saturating_mul(min_rtt_us) >> arith::bbr::BW_SCALE) as u32;
        let rate = bandwidth.saturating_mul(window.mss()) >> HALF_SCALE;
        sample.rate = rate.saturating_mul(US_PER_S) >> HALF_SCALE;
        sample.shown_rate = sample.rate;
        sample.srtt_us = u32::try_from(min_rtt_us).unwrap_or(u32::MAX);
        self.record_sample(at.now, &sample, true);
    }

    /// Records that a warm start ended without failing.
    pub(super) fn confirm(&self) {
        if self.flight.window > 0
            && !self.has_fallen_back
            && let Some(hooked) = &self.hooked
        {
            hooked.pool(memory::WindowPool::confirm);
        }
    }
}
