//! Starts: as the connection opens, after idle, where the first data comes long after the opening,
//! and by the size that the application announces.

use super::pacing::rate_of;
use super::{ColdOpening, Warm, WarmPhase, clock_us};
use crate::startup::PendingData;
use crate::startup::hooked::Situation;
use crate::window::{Cause, Window};
use arith::epoch::{PathShare, WindowChoice};
use arith::flights::Flights;
use arith::reuse::{first_window, pacing_rate, wide_cold_window};
use memory::{AnsweredPeer, ColdReason, WindowPool};
use units::{Duration, Instant};

impl Warm {
    /// Starts a connection that opens by itself, and has sent nothing yet (`begin`,
    /// `hs_cubic_start_init`, `hs_bbr_init`).
    pub(super) fn begin_open(&mut self, window: &mut Window, at: &Situation<'_>, lossless: bool) {
        self.opened = Some(at.now);
        self.flights = Flights::beginning_at(at.sent_total);
        self.cold = super::segments(window.cwnd(), window.mss());
        let Some(hooked) = &mut self.hooked else { return };
        hooked.choose_memory(at.now);
        let among = hooked.pool(|pool, to| pool.finish_handshake(at.now, to));
        // A loss in the handshake is evidence against the memory.
        if lossless && at.sent_total == 0 && !self.begin_together(window, at, among) {
            self.begin_as_remembered(window, at, among);
        }
        if self.models {
            window.set_ssthresh(u64::MAX, Cause::Seed);
            return;
        }
        self.stock.begin(self.in_first_flight() && self.is_paced, self.cold.into());
        self.is_starting = self.options.cold != ColdOpening::Stock;
        self.begin_search(window, at);
        if self.options.cold == ColdOpening::Wide && lossless && !self.search.is_pacing() {
            self.widen_cold(window, at);
        }
    }

    /// Opens with more than a stock window on an unknown path, if no other connection did so within
    /// a round trip.
    fn widen_cold(&mut self, window: &mut Window, at: &Situation<'_>) {
        let mss = window.mss();
        let Some(hooked) = &self.hooked else { return };
        let is_alone = hooked.pool(|pool, to| pool.opens_alone(at.now, to.address, at.srtt_us()));
        let most = if is_alone { u32::MAX } else { self.options.wide_among };
        let widest = u64::from(wide_cold_window(at.srtt_us(), mss as u32).min(most)) * mss;
        let request = self.request(window, at, 1);
        let may_widen = |pool: &mut WindowPool, to: AnsweredPeer| {
            let is_unknown = match pool.recall(at.now, to, &request, &self.options.terms) {
                Err(ColdReason::Unknown | ColdReason::Old) => true,
                // A tiny transfer has shown nothing of the path's width.
                Err(ColdReason::Small) => {
                    pool.path(to).is_none_or(|path| path.has_shown_no_width())
                }
                Err(ColdReason::RoundTrip) | Ok(_) => false,
            };
            is_unknown && pool.begin_wide(at.now, to.address, at.srtt_us())
        };
        if self.in_first_flight() || widest <= window.cwnd() || self.pacing.is_on() {
            return;
        }
        if hooked.pool(may_widen) {
            self.wide.begin(&mut self.pacing);
            window.set_cwnd(widest, Cause::Seed);
        }
    }

    /// Another flight leaves. If the cold start may be wide, window and pace follow what short
    /// flights have shown (`widen_by_probe`).
    fn widen_by_probe(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.probe.begin_flight();
        let mss = window.mss();
        let wide = self.probe.window(at.min_rtt_us(), mss as u32, self.cold);
        if let Some(wide) = wide.filter(|_| self.wide.is_sent()) {
            self.wide.on_rate(self.probe.rate(), &mut self.pacing);
            window.set_cwnd(u64::from(wide) * mss, Cause::Seed);
        }
    }

    /// It sends, and had nothing outstanding (`start_cubic`, `start_bbr`, `on_start`).
    pub(super) fn begin_to_send(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        transfer: PendingData,
    ) {
        let mss = window.mss();
        if self.models && !at.in_startup {
            return;
        }
        self.end_if_stalled(window, at);
        let late = self.is_late(at, mss);
        if late {
            self.end_search();
            self.stock.leave();
        }
        self.measure.begin_first_train(clock_us(at.now));
        let mut reserved_for = Duration::ZERO;
        if late {
            self.start_late(window, at);
        } else if self.phase >= WarmPhase::NarrowedFlight {
            self.restart(window, at);
        } else {
            reserved_for = self.open_for(at);
        }
        if self.options.uses_size {
            self.apply_size(window, at, transfer.announced, reserved_for);
        }
        if self.models {
            return;
        }
        self.widen_by_probe(window, at);
        if self.is_about_to_begin(at, mss) {
            self.stock.begin_again(self.in_first_flight() && self.is_paced, self.cold.into());
        }
        if late && self.is_starting {
            self.begin_search(window, at);
        }
        if self.is_starting {
            self.stock.pace(&mut self.pacing, at, transfer.bytes, mss);
        }
    }

    /// Starts again as at first, from a memory that has aged since, and only if no start of this
    /// connection has failed.
    fn restart(&mut self, window: &mut Window, at: &Situation<'_>) {
        // The transfer that narrowed it may have been shorter than a stock start.
        if self.in_first_flight() {
            self.end_first_flight(WarmPhase::Stock);
        }
        let was_idle = self.phase == WarmPhase::Idle;
        self.phase = WarmPhase::Stock;
        self.choose_memory(at.now);
        // The restart takes no share: it continues beside connections that open, and a reused
        // connection may have all the data to send.
        if !self.has_fallen_back {
            let among = self.count_restart(at);
            self.begin_as_remembered(window, at, among);
            self.has_restarted |= self.in_first_flight() && was_idle;
        }
    }

    /// Chooses the memory that answers for the peer, until the next start.
    pub(super) fn choose_memory(&mut self, now: Instant) {
        if let Some(hooked) = &mut self.hooked {
            hooked.choose_memory(now);
        }
    }

    /// Returns the number of connections that begin together with its restart, itself included.
    fn count_restart(&self, at: &Situation<'_>) -> u32 {
        let count = |pool: &mut WindowPool, to| pool.count_restart(at.now, to);
        self.hooked.as_ref().map_or(1, |hooked| hooked.pool(count))
    }

    fn open_for(&self, at: &Situation<'_>) -> Duration {
        self.opened.map_or(Duration::ZERO, |opened| at.now.saturating_since(opened))
    }

    /// True if the first flight of its opening has not been sent, and its reservation has expired:
    /// others may have that window, and the memory has aged. Only the first start can be late;
    /// later ones get a window as they send.
    fn is_late(&self, at: &Situation<'_>, mss: u64) -> bool {
        if at.sent_total > 0 || !self.is_about_to_begin(at, mss) {
            return false;
        }
        let Some(hooked) = &self.hooked else { return false };
        let path = hooked.pool(|pool, to| pool.path(to));
        path.is_none_or(|path| self.open_for(at) > path.srtt())
    }

    /// Takes back the window of the opening, as if it had opened cold; then opens as it sends, from
    /// the present memory.
    fn start_late(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.take_back_start(window, at);
        self.choose_memory(at.now);
        let among = self.count_restart(at);
        if !self.begin_together(window, at, among) {
            self.begin_as_remembered(window, at, among);
        }
    }

    /// Takes back the window of its start, as if it had opened cold.
    pub(super) fn take_back_start(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.end_first_flight(WarmPhase::Stock);
        if self.is_paced {
            self.pacing.leave_unpaced();
            self.pacing.settle_at_start();
        }
        self.is_paced = false;
        self.flight.window = 0;
        self.measure.forget_rate();
        let mss = window.mss();
        window.set_cwnd(u64::from(self.cold) * mss, Cause::Seed);
        window.set_ssthresh(u64::MAX, Cause::Seed);
        self.pacing.apply(window);
        if self.pacing.is_on() {
            // 2.4 times 1.2 is the gain with which BBR paces a start; for others the kernel sets
            // the rate.
            let rate = pacing_rate(self.cold * 12 / 5, mss as u32, at.srtt_us());
            window.set_pacing_rate(Some(rate_of(rate)));
        }
    }

    /// Narrows a first flight that has not left yet to the data that there is to send. It leaves at
    /// the path's rate all the same.
    fn apply_size(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        bytes: u64,
        reserved_for: Duration,
    ) {
        let mss = window.mss();
        if bytes == 0 || !self.is_about_to_begin(at, mss) {
            return;
        }
        let first = self.flight.window;
        let wanted = self.window_for(bytes.div_ceil(mss), first);
        // A share may be below a stock window.
        let narrowed = first_window(wanted, self.cold.min(first).into(), first.into()) as u32;
        if let Some(hooked) = &self.hooked {
            hooked.pool(|pool, to| pool.release(to, first - narrowed, reserved_for));
        }
        self.phase = match narrowed < first {
            true => WarmPhase::NarrowedFlight,
            false => WarmPhase::FirstFlight,
        };
        self.flight.window = narrowed;
        self.flight.end = at.sent_total + u64::from(narrowed) * mss;
        window.set_cwnd(u64::from(narrowed) * mss, Cause::Seed);
    }

    /// Returns the first window of a transfer of this number of segments, without the bounds of
    /// `largest` and a stock start. The kernel's windows grow by one in a round trip of congestion
    /// avoidance whether ACKs are delayed or not.
    fn window_for(&self, segments: u64, largest: u32) -> u64 {
        match self.options.ends_epochs {
            true => PathShare { capacity: largest, per_ack: 1 }
                .initial_window(segments, WindowChoice { shift: true, not_below_bottom: false }),
            false => segments,
        }
    }
}
