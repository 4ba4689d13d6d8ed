//! A start before the handshake has ended (`warm_early`): data that came with the SYN, by a cookie
//! from an earlier visit, is answered at once (RFC 7413). No round trip is measured yet, so a
//! remembered path is assumed to be unchanged, and the flight is paced at its rate. The SYN's
//! window bounds it: 64 kB, because it is not scaled. The first measured round trip decides: if it
//! is of another path, the start is taken back.

use super::Warm;
use crate::ack::RttEstimator;
use crate::startup::hooked::Situation;
use crate::window::Window;
use arith::reuse::same_round_trip;
use memory::ReservationRequest;
use units::{Duration, Instant};

impl Warm {
    /// It opens before anything was measured, with data in the SYN.
    pub(super) fn begin_open_early(&mut self, window: &mut Window, at: &Situation<'_>) {
        let Some(rtt) = self.assumed_round_trips(window, at) else {
            return self.begin_open(window, at, true);
        };
        let assumed = Situation { rtt: &rtt, ..*at };
        self.begin_open(window, &assumed, true);
        if self.in_first_flight() {
            self.assumed_rtt_us = assumed.min_rtt_us();
        }
    }

    /// Round trips as remembered, if what is remembered would be believed.
    fn assumed_round_trips(&self, window: &Window, at: &Situation<'_>) -> Option<RttEstimator> {
        let is_early = self.options.opens_early && !self.models;
        let hooked = self.hooked.as_ref().filter(|_| is_early)?;
        let path = hooked.pool(|pool, to| pool.path(to))?;
        let request =
            ReservationRequest { cold: 0, rtt_us: path.min_rtt_us, ..self.request(window, at, 1) };
        let terms = &self.options.terms;
        hooked.pool(|pool, to| pool.recall(at.now, to, &request, terms)).ok()?;
        let mut rtt = *at.rtt;
        let took = Duration::from_micros(path.min_rtt_us.into());
        rtt.on_sample(Instant::ZERO, Instant::ZERO + took, 0, 0);
        Some(rtt)
    }

    /// Processes the first delivery. A first flight that left before a round trip was measured
    /// continues if the round trip may be that of the path.
    pub(super) fn judge_early(&mut self, window: &mut Window, at: &Situation<'_>) {
        let measured = at.srtt_us();
        if self.assumed_rtt_us == 0 || measured == 0 {
            return;
        }
        let assumed = std::mem::take(&mut self.assumed_rtt_us);
        if self.in_first_flight() && !same_round_trip(measured, assumed) {
            self.end_search();
            self.stock.leave();
            self.take_back_start(window, at);
        }
    }
}
