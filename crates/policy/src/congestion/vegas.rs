//! Vegas (Brakmo & Peterson 1995 §3.3): the window follows how much the sender keeps queued.
//!
//! Once per round trip the rate expected of an empty path is compared with the one that was got.
//! With fewer than `alpha` segments queued the window grows by one in the next round trip, with
//! more than `beta` it shrinks by one. Losses still halve, or nearly: see `on_congestion`.

use super::{
    CongestionControl, CongestionEvent, ControllerCapabilities, ControllerDescriptor, LoweredWindow,
};
use crate::ack::{AckSample, RoundTrip};
use crate::registry::values::{some_segments, whole};
use crate::registry::{Make, Parameter, PolicySetup};
use crate::window::{Cause, Window};

/// Vegas.
pub static VEGAS: ControllerDescriptor = ControllerDescriptor::new(
    "vegas",
    "by how many segments are queued",
    "Brakmo & Peterson 1995",
    Make::Alone(&|setup| Box::new(Vegas::new(VegasOptions::of(setup)))),
)
.with(&[&ALPHA, &BETA, &GAMMA, &QUEUED, &SECOND]);

static ALPHA: Parameter<u32> =
    Parameter::text("alpha", ("segments", whole), "1", "vegas: with fewer queued the window grows");
static BETA: Parameter<u32> =
    Parameter::text("beta", ("segments", whole), "3", "vegas: with more queued the window shrinks");
/// Queue at which slow start ends.
pub static GAMMA: Parameter<u32> =
    Parameter::text("gamma", ("segments", whole), "1", "vegas: with more queued slow start ends");
/// Unit of the queue.
pub static QUEUED: Parameter<bool> = Parameter::choice(
    "queued",
    &[("bytes", false), ("segments", true)],
    "bytes",
    "vegas: what is queued, exact or rounded",
);
/// A late initial window.
pub static SECOND: Parameter<Option<u32>> = Parameter::or(
    "second",
    ("segments", some_segments),
    None,
    "vegas: window that the ACK after the first sets",
);

/// The window is never taken below this, segments.
const LEAST: u64 = 2;
/// The window grows while at most this many segments of it are unused.
const UNUSED: u64 = 2;

/// Targets of Vegas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasOptions {
    /// The window grows if fewer segments are queued.
    pub alpha: u32,
    /// The window shrinks if more segments are queued.
    pub beta: u32,
    /// Slow start ends if more segments are queued.
    pub gamma: u32,
    /// The queue is rounded to whole segments before it is compared, as in ns-2.
    pub whole_segments: bool,
    /// Window that the ACK after the first sets, segments: ns-2's Vegas begins with one segment and
    /// has its initial window only then.
    pub second_window: Option<u32>,
}

impl VegasOptions {
    /// The options that a scheme gives.
    pub(crate) fn of(setup: &PolicySetup<'_>) -> Self {
        Self {
            alpha: setup.get(&ALPHA),
            beta: setup.get(&BETA),
            gamma: setup.get(&GAMMA),
            whole_segments: setup.get(&QUEUED),
            second_window: setup.get(&SECOND),
        }
    }

    /// Bytes queued in `round`, as these options count them.
    pub(crate) fn queued(&self, round: &RoundTrip, mss: u64) -> i64 {
        let mss = i64::try_from(mss).unwrap_or(i64::MAX);
        let queued = round.queued();
        if self.whole_segments { (queued + mss / 2).div_euclid(mss) * mss } else { queued }
    }
}

/// `segments` of `mss` bytes, comparable with what is queued.
pub(crate) fn threshold(segments: u32, mss: u64) -> i64 {
    i64::try_from(u64::from(segments) * mss).unwrap_or(i64::MAX)
}

/// True unless more of the window is unused than one segment and those that an ACK may cover: a
/// window that is not used does not grow.
pub(crate) fn keeps_up(window: &Window, sample: &AckSample) -> bool {
    window.cwnd() <= sample.in_flight + (UNUSED + 1) * window.mss()
}

/// Vegas's congestion avoidance.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    options: VegasOptions,
    /// The window when it was found too small, bytes: it grows by one segment in a round trip.
    growing_from: Option<u64>,
    /// Numerator left over by growing, bytes squared.
    remainder: u64,
}

impl Vegas {
    /// Vegas with the given aims.
    pub const fn new(options: VegasOptions) -> Self {
        Self { options, growing_from: None, remainder: 0 }
    }

    fn adjust_window(&mut self, window: &mut Window, round: &RoundTrip) {
        let mss = window.mss();
        let queued = self.options.queued(round, mss);
        self.growing_from = None;
        if queued > threshold(self.options.beta, mss) {
            lower_window(window, window.cwnd().saturating_sub(mss));
        } else if queued < threshold(self.options.alpha, mss) {
            self.growing_from = Some(window.cwnd());
        }
    }

    fn grow(&mut self, window: &mut Window, from: u64) {
        let mss = window.mss();
        let total = self.remainder + mss * mss;
        self.remainder = total % from;
        window.grow(total / from, Cause::Avoidance);
    }
}

/// Lowers the window on rising delay. The threshold goes with it: slow start does not begin again.
pub(crate) fn lower_window(window: &mut Window, cwnd: u64) {
    let cwnd = cwnd.max(LEAST * window.mss());
    if window.ssthresh() > cwnd {
        window.set_ssthresh(cwnd, Cause::Delay);
    }
    window.set_cwnd(cwnd, Cause::Delay);
}

impl CongestionControl for Vegas {
    fn capabilities(&self) -> ControllerCapabilities {
        ControllerCapabilities { needs_rounds: true, ..Default::default() }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        if let Some(round) = &sample.round {
            self.adjust_window(window, round);
        }
        if let Some(from) = self.growing_from.filter(|_| keeps_up(window, sample)) {
            self.grow(window, from);
        }
    }

    /// Reduces the window by a quarter, or by half when the lost segment had been retransmitted
    /// before, and after a timeout. The result is in whole segments, at least two (the authors'
    /// implementation; the paper has no factor).
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> LoweredWindow {
        self.growing_from = None;
        let mss = window.mss();
        let segments = event.usable_window / mss;
        let kept = match segments {
            0..=3 => LEAST,
            n if event.timeout || event.repeated => n / 2,
            n => n - n / 4,
        };
        LoweredWindow::to(kept.max(LEAST) * mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::by_default;
    use units::{Duration, Instant};

    const MSS: u64 = 1000;

    /// An ACK that ends a round of `segments` in `rtt_ms` on a path of 100 ms.
    fn round(segments: u64, rtt_ms: u64) -> AckSample {
        let [rtt, base] = [rtt_ms, 100].map(Duration::from_millis);
        let bytes = segments * MSS;
        AckSample {
            now: Instant::ZERO,
            acked: MSS,
            delivered: MSS,
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt: base,
            prior_in_flight: bytes,
            in_flight: bytes - MSS,
            cwnd_limited: true,
            sent_total: 0,
            acked_total: 0,
            round: Some(RoundTrip { rtt, base, sent: bytes, window: bytes }),
            delivery: None,
        }
    }

    fn window_after(options: VegasOptions, rtt_ms: u64) -> u64 {
        let mut window = Window::new(MSS, 10 * MSS, 10 * MSS, false);
        Vegas::new(options).on_ack(&mut window, &round(10, rtt_ms));
        assert!(window.ssthresh() <= window.cwnd());
        window.cwnd()
    }

    #[test]
    fn the_window_follows_what_is_queued() {
        // Ten segments in `rtt`: 10 - 10 * 100 / rtt queued. At 111 ms 0.99, at 112 ms 1.07; at
        // 142 ms 2.96, at 143 ms 3.01. Growth is a tenth of a segment an ACK.
        let exact = by_default(VegasOptions::of);
        for (rtt, cwnd) in [(100, 10_100), (111, 10_100), (112, 10_000), (142, 10_000), (143, 9000)]
        {
            assert_eq!(window_after(exact, rtt), cwnd, "{rtt} ms");
        }
        // Rounded to whole segments the limits are half a segment off: 0.48 and 0.57, 3.46 and
        // 3.51.
        let rounded = VegasOptions { whole_segments: true, ..exact };
        for (rtt, cwnd) in [(105, 10_100), (106, 10_000), (153, 10_000), (154, 9000)] {
            assert_eq!(window_after(rounded, rtt), cwnd, "{rtt} ms, rounded");
        }
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut window = Window::new(MSS, 10 * MSS, 2 * MSS, false);
        let mut vegas = Vegas::new(by_default(VegasOptions::of));
        vegas.on_ack(&mut window, &AckSample { in_flight: 6 * MSS, ..round(10, 100) });
        assert_eq!(window.cwnd(), 10 * MSS);
        vegas.on_ack(&mut window, &AckSample { in_flight: 7 * MSS, round: None, ..round(10, 100) });
        assert_eq!(window.cwnd(), 10 * MSS + 100);
    }

    #[test]
    fn losses_cost_a_quarter_or_half() {
        let window = Window::new(MSS, 10 * MSS, 2 * MSS, false);
        let mut vegas = Vegas::new(by_default(VegasOptions::of));
        for (segments, timeout, repeated, kept) in [
            (10, false, false, 8),
            (10, false, true, 5),
            (10, true, false, 5),
            (3, false, false, 2),
            (4, false, false, 3),
            (1, true, false, 2),
        ] {
            let usable_window = segments * MSS;
            let event = CongestionEvent {
                now: Instant::ZERO,
                flight_size: 0,
                usable_window,
                timeout,
                repeated,
                losing_clients: 1,
            };
            assert_eq!(vegas.on_congestion(&window, &event).ssthresh, kept * MSS, "{event:?}");
        }
    }
}
