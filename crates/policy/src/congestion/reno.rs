//! The window of RFC 5681: additive increase, multiplicative decrease.

use super::{CongestionControl, CongestionEvent, ControllerDescriptor, LoweredWindow};
use crate::ack::AckSample;
use crate::registry::{Make, Parameter};
use crate::window::{Cause, Window};

/// Reno.
pub static RENO: ControllerDescriptor = ControllerDescriptor::new(
    "reno",
    "a segment more every round trip, half on congestion",
    "RFC 5681",
    Make::Alone(&|setup| {
        Box::new(Reno { halve: setup.get(&HALVE), whole_segments: setup.get(&ROUND) })
    }),
)
.with(&[&HALVE, &ROUND]);

/// The bytes that are halved.
pub static HALVE: Parameter<Halve> = Parameter::choice(
    "halve",
    &[("flight", Halve::FlightSize), ("window", Halve::Window)],
    "flight",
    "reno, proxy: what congestion halves: bytes outstanding, or the window",
);
/// Whether thresholds are whole segments.
pub static ROUND: Parameter<bool> = Parameter::choice(
    "round",
    &[("bytes", false), ("segments", true)],
    "bytes",
    "reno, proxy: threshold exact, or whole segments",
);

/// The bytes that are halved on congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halve {
    /// The bytes outstanding (RFC 5681 §3.1 formula (4)).
    FlightSize,
    /// `min(cwnd, rwnd)`, as BSD and the papers' simulator do.
    Window,
}

/// Reno's additive increase and multiplicative decrease.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    /// The bytes that are halved.
    pub halve: Halve,
    /// Round the threshold down to whole segments, as senders that count segments do.
    pub whole_segments: bool,
}

impl Reno {
    fn half_of_flight(&self, event: &CongestionEvent) -> u64 {
        let base = match self.halve {
            Halve::FlightSize => event.flight_size,
            Halve::Window => event.usable_window,
        };
        base / 2
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, window: &mut Window, _: &AckSample) {
        let mss = window.mss();
        window.grow_by_fraction(mss * mss, Cause::Avoidance);
    }

    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> LoweredWindow {
        let half = self.half_of_flight(event);
        if self.whole_segments {
            LoweredWindow::whole_segments(half, window.mss())
        } else {
            LoweredWindow::to(half)
        }
    }
}
