//! The first flight: its reservation from the window pool, and its rate.

use super::burst::Burst;
use super::pacing::rate_of;
use super::{Warm, WarmPhase, segments};
use crate::startup::hooked::Situation;
use crate::window::{Cause, Window};
use arith::parts::{part_of_full, part_of_rate};
use arith::reuse::{first_rate, pacing_rate};
use memory::{ProvenPath, Reservation, ReservationRequest};
use units::{Duration, Instant};

/// Minimum of Linux' retransmission timer (`TCP_RTO_MIN`).
const MIN_RTO: Duration = Duration::from_millis(200);

/// State at the last warm start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstFlight {
    /// Remembered window, segments; 0: there was none.
    pub(super) window: u32,
    /// Offset of the byte after it.
    pub(super) end: u64,
    /// Segments delivered before it.
    pub(super) delivered: u32,
    /// Segments of it that were delivered when it first had nothing outstanding; 0: it always had.
    pub(super) used: u32,
    /// Time at which it began.
    pub(super) began: Instant,
    /// Segments retransmitted before it.
    pub(super) retransmitted: u64,
}

/// A first window beside the one that a connection would have by itself, segments.
#[derive(Clone, Copy, Debug)]
struct FlightShare {
    window: u32,
    whole: u32,
}

impl Warm {
    /// Opens, or restarts, with the window that the memory allows to one of `among` connections
    /// (`begin_as_remembered`).
    pub(super) fn begin_as_remembered(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        among: u32,
    ) {
        self.cold = segments(window.cwnd(), window.mss());
        let Some(hooked) = &self.hooked else { return };
        let request = self.request(window, at, among);
        let terms = &self.options.terms;
        let reserved = hooked.pool(|pool, to| pool.reserve(at.now, to, &request, terms));
        if let Some(reservation) = reserved {
            self.begin_warm(window, at, &reservation, among);
        }
    }

    /// Returns its request to the memory, as one of `among` connections.
    pub(super) fn request(
        &self,
        window: &Window,
        at: &Situation<'_>,
        among: u32,
    ) -> ReservationRequest {
        let mss = window.mss() as u32;
        // A start after idle is paced from its first segment on. In two round trips a stock one
        // sends its window and twice as much again.
        let least = if at.sent_total > 0 { 2 * self.cold } else { 0 };
        ReservationRequest { cold: self.cold, least, among, rtt_us: at.srtt_us(), mss, takes: true }
    }

    /// Opens with the remembered window, as one of `among` connections, if that is not slower than
    /// a cold start (`begin_warm`).
    fn begin_warm(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        reservation: &Reservation,
        among: u32,
    ) {
        let mss = window.mss();
        let Reservation { window: first, taken, sharers, ref path } = *reservation;
        let carried = self.carried_together(at.now, path);
        let whole = path.reached_window(mss as u32).min(self.options.terms.cap);
        let flight = FlightShare { window: first, whole };
        let Some(rate) = self.choose_rate(at, &carried, flight, mss as u32) else { return };
        self.is_paced |= !self.pacing.is_on();
        self.pacing.limit(rate);
        self.begin_first_flight(at, first, mss);
        // The segments of others spread its burst, so that it shows no rate of the path.
        if among > 1 || taken > 0 {
            self.burst = Burst::Not;
        }
        self.measure.assume_rate(mss as u32, part_of_rate(path.rate, taken, first, among));
        window.set_cwnd(u64::from(first) * mss, Cause::Seed);
        self.pacing.apply(window);
        window.set_pacing_rate(Some(rate_of(rate)));
        // Slow start ends near its part of a full path, or where it has ended by a queue. If
        // neither is known, it has no end.
        let end = match carried.bdp(mss as u32) {
            0 => path.end_beyond(first),
            full => part_of_full(full, first, sharers),
        };
        if end > 0 {
            window.set_ssthresh(u64::from(end) * mss, Cause::Seed);
        }
    }

    pub(super) fn begin_first_flight(&mut self, at: &Situation<'_>, first: u32, mss: u64) {
        let end = at.sent_total + u64::from(first) * mss;
        self.flight = FirstFlight {
            window: first,
            end,
            delivered: self.delivered,
            used: 0,
            began: at.now,
            retransmitted: at.segments_resent,
        };
        self.phase = WarmPhase::FirstFlight;
        // After idle all is paced.
        self.burst =
            if at.sent_total == 0 && !self.pace.is_on() { Burst::Sent } else { Burst::Not };
    }

    /// Returns bytes a second; `None` if that would be slower than a cold start. A peer of the same
    /// prefix that answers late can cause this.
    fn choose_rate(
        &self,
        at: &Situation<'_>,
        path: &ProvenPath,
        flight: FlightShare,
        mss: u32,
    ) -> Option<u64> {
        let now_us = at.srtt_us();
        let even = pacing_rate(flight.window, mss, now_us.max(path.srtt_us));
        let rate = first_rate(even, path.rate, flight.window, flight.whole);
        (even > 0 && even >= pacing_rate(self.cold, mss, now_us)).then_some(rate)
    }

    /// Records how much of its first flight was delivered when it first had nothing outstanding:
    /// data sent later, a little at a time, does not prove the rest.
    pub(super) fn note_used(&mut self, at: &Situation<'_>, mss: u64) {
        let has_arrived = at.outstanding() == 0 && !self.is_about_to_begin(at, mss);
        if self.flight.used == 0 && self.in_first_flight() && has_arrived {
            self.flight.used = self.delivered.wrapping_sub(self.flight.delivered);
        }
    }

    /// True if all sent segments of its first flight were delivered, longer ago than the kernel's
    /// minimum timer (`has_stalled`).
    fn has_stalled(&self, at: &Situation<'_>, mss: u64) -> bool {
        let pause = self.arrived.map_or(Duration::ZERO, |arrived| at.now.saturating_since(arrived));
        let waits = Duration::from_micros(at.srtt_us().into()) + MIN_RTO;
        self.in_first_flight() && !self.is_about_to_begin(at, mss) && pause > waits
    }

    /// Ends a first flight that has stalled, because its rest is not proven. It is to start as
    /// after idle, with no more than was delivered before (`end_stalled_flight`).
    pub(super) fn end_if_stalled(&mut self, window: &mut Window, at: &Situation<'_>) {
        let mss = window.mss();
        if !self.has_stalled(at, mss) {
            return;
        }
        let arrived = self.delivered.wrapping_sub(self.flight.delivered).max(self.cold);
        self.end_first_flight(WarmPhase::Idle);
        window.set_cwnd(window.cwnd().min(u64::from(arrived) * mss), Cause::Idle);
    }

    /// True if nothing of its first flight has been sent.
    pub(super) fn is_about_to_begin(&self, at: &Situation<'_>, mss: u64) -> bool {
        self.in_first_flight()
            && at.sent_total + u64::from(self.flight.window) * mss == self.flight.end
    }
}
