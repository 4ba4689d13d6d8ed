//! A start before the handshake has ended (`warm_early`): data that came with the SYN, by a cookie from an earlier visit, is answered
//! at once (RFC 7413). Nothing says yet what the round trip is, so a path that is remembered is taken to be the one it was, and
//! what leaves is paced at its rate. The SYN's window bounds it: 64 kB, as it is not scaled. The handshake's round trip judges the
//! start: of another path, it is taken back.

use super::{ColdOpening, Warm, segments};
use crate::startup::attended::Situation;
use crate::window::Window;
use arith::reuse::same_round_trip;
use units::{Duration, Instant};

impl Warm {
    /// Data is to be sent, and the handshake may not have ended.
    pub(super) fn begin_early(&mut self, window: &mut Window, at: &Situation<'_>) {
        let is_early = self.options.opens_early
            && !self.models
            && self.opened.is_none()
            && self.counted_among.is_none()
            && at.sent_total == 0;
        let Some(attendance) = self.attendance.as_ref().filter(|_| is_early) else { return };
        let Some(path) = attendance.lender(|lender, to| lender.path(to)) else { return };
        let among = attendance.lender(|lender, to| lender.finish_handshake(at.now, to));
        self.counted_among = Some(among);
        self.cold = segments(window.cwnd(), window.mss());
        let mut rtt = *at.rtt;
        let took = Duration::from_micros(path.min_rtt_us.into());
        rtt.on_sample(Instant::ZERO, Instant::ZERO + took, 0, 0);
        let assumed = Situation { rtt: &rtt, ..*at };
        if !self.begin_together(window, &assumed, among) {
            self.begin_as_remembered(window, &assumed, among);
        }
        if self.in_first_flight() {
            self.assumed_rtt_us = path.min_rtt_us;
            self.stock.begin(self.is_paced, self.cold.into());
            self.is_starting = self.options.cold != ColdOpening::Stock;
            self.begin_search(window, &assumed);
        }
    }

    /// The handshake has ended, and the first flight left before: goes on with it, if nothing was lost and the round trip may be
    /// that of the path.
    pub(super) fn judge_early(&mut self, window: &mut Window, at: &Situation<'_>, lossless: bool) {
        if lossless && same_round_trip(at.srtt_us(), self.assumed_rtt_us) {
            return;
        }
        if self.in_first_flight() {
            self.end_search();
            self.stock.leave();
            self.take_back_start(window, at);
        }
    }
}
