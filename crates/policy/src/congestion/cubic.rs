//! CUBIC (RFC 9438) as Linux runs it.
//!
//! The window is bytes outside and whole segments inside. An ACK counts every segment it touches.
//! The curve ([`arith::cubic`]) gives the number of acknowledged segments that make one more of
//! window. Growth, threshold and undo are whole segments. Bytes of `cwnd` above whole segments do
//! not change.

use super::{CongestionControl, CongestionEvent, ControllerDescriptor, LoweredWindow};
use crate::ack::AckSample;
use crate::registry::values::per_mille;
use crate::registry::{Make, Parameter};
use crate::window::{Cause, Window};
use arith::cubic::{self, Beta, CurveAck};
use arith::window::Credit;
use units::{Duration, Instant};

/// CUBIC.
pub static CUBIC: ControllerDescriptor = ControllerDescriptor::new(
    "cubic",
    "a cubic function of the time since the last congestion",
    "RFC 9438; Linux 6.x tcp_cubic.c",
    Make::Alone(&|setup| Box::new(Cubic::with(setup.get(&CUBIC_BETA)))),
)
.with(&[&CUBIC_BETA]);

/// Part of the window that congestion leaves.
static CUBIC_BETA: Parameter<Beta> = Parameter::text(
    "cubic_beta",
    ("fraction between 0 and 1, like 0.7", read_beta),
    "0.7",
    "cubic: part of the window that congestion leaves (Linux tcp_cubic.beta / 1024)",
);

/// Reads a fraction, rounded to 1/1024 as the kernel has it: 0.7 is 717/1024.
fn read_beta(text: &str) -> Result<Beta, String> {
    let in_1024 = (u64::from(per_mille(text, 1)?) * 1024 + 500) / 1000;
    Beta::new(in_1024).ok_or_else(|| "must be between 0 and 1, like 0.7".to_owned())
}

/// CUBIC in the kernel's fixed point.
///
/// An undo needs nothing here: Linux restores window and threshold but lets the curve's maximum
/// and the ended epoch stand (`tcp_reno_undo_cwnd`), unlike RFC 9438 §4.9.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cubic {
    curve: cubic::CubicCurve,
    credit: Credit,
}

impl Cubic {
    /// CUBIC that leaves `beta` of the window on congestion.
    pub fn with(beta: Beta) -> Self {
        Self { curve: cubic::CubicCurve::with(beta), credit: Credit::default() }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) {
        if !sample.cwnd_limited {
            return;
        }
        let mss = window.mss();
        let acked = sample.delivered.div_ceil(mss);
        let pace = self.curve.on_ack(&CurveAck {
            now_ms: millis(sample.now),
            cwnd: window.cwnd() / mss,
            acked,
            min_rtt_ms: millis_up(sample.min_rtt),
        });
        let growth = self.credit.add(acked, pace);
        if growth > 0 {
            window.grow(growth * mss, Cause::Avoidance);
        }
    }

    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> LoweredWindow {
        self.credit.clear();
        let ssthresh = self.curve.on_congestion(window.cwnd() / window.mss());
        if event.timeout {
            // Linux forgets the maximum too: the path may be another one by now.
            self.curve.reset();
        }
        LoweredWindow::to(ssthresh * window.mss())
    }

    fn on_restart(&mut self, _: &mut Window, now: Instant, idle: Duration) {
        self.curve.on_restart(millis(now), idle.as_millis());
    }
}

const fn millis(t: Instant) -> u64 {
    t.as_nanos() / 1_000_000
}

/// Rounded up, as the kernel converts to its clock; zero while unknown.
fn millis_up(d: Duration) -> u64 {
    if d == Duration::MAX { 0 } else { d.as_nanos().div_ceil(1_000_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn window(segments: u64) -> Window {
        Window::new(MSS, segments * MSS, u64::MAX, false)
    }

    fn sample(now_ms: u64, acked: u64) -> AckSample {
        AckSample {
            now: Instant::from_nanos(now_ms * 1_000_000),
            acked,
            delivered: acked,
            rtt: Some(Duration::from_millis(100)),
            srtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(100),
            prior_in_flight: 0,
            in_flight: 0,
            cwnd_limited: true,
            sent_total: 0,
            acked_total: 0,
            round: None,
            delivery: None,
        }
    }

    fn event(timeout: bool) -> CongestionEvent {
        CongestionEvent {
            now: Instant::ZERO,
            flight_size: 0,
            usable_window: 0,
            timeout,
            repeated: false,
            losing_clients: 1,
        }
    }

    #[test]
    fn the_threshold_is_whole_segments_and_spare_bytes_survive_growth() {
        let mut cubic = Cubic::default();
        // 10.5 segments count as 10; 10 * 717 / 1024 = 7.
        let mut w = Window::new(MSS, 10_500, u64::MAX, false);
        assert_eq!(cubic.on_congestion(&w, &event(false)).ssthresh, 7_000);
        // The pace at the maximum is 100 * 10. Reno's share after 40 ACKs makes it 10 / 2 = 5. 39
        // waiting ACKs of credit are seven segments (39 / 5), and the half one stays.
        cubic.on_ack(&mut w, &sample(0, MSS));
        cubic.on_ack(&mut w, &sample(40, 39 * MSS));
        assert_eq!(w.cwnd(), 10_500 + 8 * MSS);
    }

    /// 0.7 * 1024 = 716.8, which is the kernel's 717; half of 100 segments are 50.
    #[test]
    fn beta_is_read_as_a_fraction() {
        assert_eq!(read_beta("0.7"), Ok(Beta::default()));
        let mut cubic = Cubic::with(read_beta("0.5").unwrap());
        assert_eq!(cubic.on_congestion(&window(100), &event(false)).ssthresh, 50 * MSS);
        for wrong in ["0", "1", "1.1", "-0.5", "x"] {
            assert!(read_beta(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn growth_back_to_the_maximum_takes_k_and_slows_down_near_it() {
        let mut cubic = Cubic::default();
        let mut w = window(100);
        let ssthresh = cubic.on_congestion(&w, &event(false)).ssthresh;
        w.set_cwnd(ssthresh, Cause::Loss);
        assert_eq!(w.cwnd(), 70 * MSS);
        // One window acknowledged per round trip of 100 ms, one segment per ACK. K is 4.2 s.
        let mut after = Vec::new();
        for round in 0..60_u64 {
            let acks = w.cwnd() / MSS;
            for n in 0..acks {
                cubic.on_ack(&mut w, &sample(round * 100 + n * 100 / acks, MSS));
            }
            after.push(w.cwnd() / MSS);
        }
        // RFC 9438 figure 1: 30 - 0.4 * 2.2^3 = 26 of the 30 segments are back after 2 s, and the
        // plateau holds around K. 1.8 s later the window has passed the maximum by 0.4 * 1.8^3 =
        // 2.3 segments.
        assert!((94..=97).contains(&after[20]), "{after:?}");
        assert!((99..=101).contains(&after[42]), "{after:?}");
        assert!((101..=104).contains(&after[59]), "{after:?}");
        assert!(after.windows(2).all(|w| w[0] <= w[1]), "{after:?}");
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut cubic = Cubic::default();
        let w = window(100);
        assert_eq!(cubic.on_congestion(&w, &event(true)).ssthresh, 70 * MSS);
        assert_eq!(cubic.curve, cubic::CubicCurve::default());
    }

    #[test]
    fn an_application_limited_window_stays() {
        let mut cubic = Cubic::default();
        let mut w = window(10);
        for ms in 0..1000 {
            cubic.on_ack(&mut w, &AckSample { cwnd_limited: false, ..sample(ms, MSS) });
        }
        assert_eq!(w.cwnd(), 10 * MSS);
    }

    #[test]
    fn an_ack_counts_the_segments_it_touches() {
        let mut cubic = Cubic::default();
        let mut w = window(10);
        // No maximum known: one segment per 20 acknowledged at most. Ten ACKs of a full and a
        // short segment are 20 segments.
        for _ in 0..10 {
            cubic.on_ack(&mut w, &sample(5, MSS + 200));
        }
        assert_eq!(w.cwnd(), 11 * MSS);
    }

    /// RFC 9438 §5.8: a minute of silence in the middle of an epoch moves the curve by a minute.
    #[test]
    fn the_curve_stands_still_while_nothing_is_sent() {
        let grow = |idle_ms: u64| {
            let (mut cubic, mut window) = (Cubic::default(), window(100));
            let ssthresh = cubic.on_congestion(&window, &event(false)).ssthresh;
            window.set_cwnd(ssthresh, Cause::Loss);
            let mut sizes = Vec::new();
            for round in 1..100 {
                let since = if round > 20 { idle_ms } else { 0 };
                let now = 100 * round + since;
                if round == 21 {
                    let (at, idle) = (sample(now, 0).now, Duration::from_millis(idle_ms));
                    cubic.on_restart(&mut window, at, idle);
                }
                let cwnd = window.cwnd();
                cubic.on_ack(&mut window, &sample(now, cwnd));
                sizes.push(window.cwnd());
            }
            sizes
        };
        let without = grow(0);
        assert!(without[98] > without[20]);
        assert_eq!(grow(60_000), without);
    }
}
