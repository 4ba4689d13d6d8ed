//! An initial window by moving average: a path begins with the mean window of the connections
//! before it, all at once.
//!
//! Operators do this with route metrics or a socket hook. It does not pace, fall back or measure
//! rates. A connection's sample is its largest window, or the bytes that it had acknowledged if
//! that was less. The average moves by a quarter of the difference. Connections that begin together
//! count as one. The other start-up grows the window.

use super::{
    LossEvent, Overlay, OverlayTurn, Phase, Start, StartUpDescriptor, StartupReason, Wrapping,
};
use crate::ack::AckSample;
use crate::config::MemoryKind;
use crate::registry::{Implied, Make, Parameter};
use crate::window::{Cause, Window};
use memory::PathState;

/// An initial window by moving average.
pub static EWMA_IW: StartUpDescriptor = StartUpDescriptor::new(
    "ewma-iw",
    "begins at once with the moving average of the windows of earlier connections",
    "project tesi-ebpf-initcwnd 2026",
    Make::Around(|setup, inner| {
        Box::new(Wrapping::new(EwmaIw::new(setup.get(&HALVES_ON_LOSS)), inner))
    }),
)
.with(&[&HALVES_ON_LOSS])
.implying(Implied { memory: MemoryKind::Temporal, ..Implied::NOTHING })
.explained(&super::pages::EWMA_IW);

static HALVES_ON_LOSS: Parameter<bool> = Parameter::choice(
    "ewma_loss",
    &[("ignore", false), ("halve", true)],
    "ignore",
    "ewma-iw: a connection that lost something counts as any other, or halves the average",
);

/// The weight of a sample is one in this many. Chosen, not measured.
const WEIGHT: u64 = 4;

/// Begins with the mean window of others.
#[derive(Clone, Copy, Debug)]
pub struct EwmaIw {
    halves_on_loss: bool,
    /// Remembered average when the path began, bytes.
    average: Option<u64>,
    initial_window: u64,
    largest: u64,
    acked: u64,
    lost: bool,
}

impl EwmaIw {
    /// Creates a start-up that has not started.
    pub const fn new(halves_on_loss: bool) -> Self {
        let (average, initial_window) = (None, 0);
        Self { halves_on_loss, average, initial_window, largest: 0, acked: 0, lost: false }
    }

    /// The average with this connection.
    fn updated_average(&self) -> u64 {
        let sample = self.largest.min(self.acked);
        let moved = match self.average {
            Some(average) if self.halves_on_loss && self.lost => average / 2,
            Some(average) => (average * (WEIGHT - 1) + sample) / WEIGHT,
            None => sample,
        };
        moved.max(self.initial_window)
    }
}

impl Overlay for EwmaIw {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        if start.reason == StartupReason::NewPath {
            self.initial_window = start.initial_window;
            self.average = start.seed.map(|seed| seed.cwnd);
            if let Some(average) = self.average {
                let segments = average / window.mss();
                window.set_cwnd((segments * window.mss()).max(window.cwnd()), Cause::Seed);
            }
        }
        OverlayTurn::Left
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.largest = self.largest.max(window.cwnd());
        self.acked = sample.acked_total;
    }

    fn on_loss(&mut self, _: &mut Window, event: LossEvent) -> Option<Phase> {
        self.lost |= event == LossEvent::Reduced;
        None
    }

    fn leave(&self, state: &mut PathState) {
        state.cwnd = self.updated_average();
        state.ssthresh = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::RttEstimator;
    use crate::startup::Remembered;
    use units::Instant;

    const MSS: u64 = 1000;

    /// Returns the average after a connection that starts with `average` segments and has `acked`
    /// acknowledged, with a loss or without.
    fn left(halves: bool, average: Option<u64>, (acked, lost): (u64, bool)) -> u64 {
        let mut policy = EwmaIw::new(halves);
        let mut window = Window::new(MSS, 10 * MSS, u64::MAX, false);
        let rtt = RttEstimator::new(crate::config::ConnectionConfig::default().rto);
        let seed = average.map(|n| Remembered { cwnd: n * MSS, ..Remembered::default() });
        let start =
            Start { seed, initial_window: 10 * MSS, ..Start::of(StartupReason::NewPath, &rtt) };
        policy.begin(&mut window, &start);
        assert_eq!(window.cwnd(), average.unwrap_or(10) * MSS);
        window.set_cwnd(60 * MSS, Cause::SlowStart);
        let sample = AckSample::of(Instant::ZERO, acked * MSS);
        policy.observe(&mut window, &sample);
        if lost {
            policy.on_loss(&mut window, LossEvent::Reduced);
        }
        let mut state = PathState { cwnd: 60 * MSS, ..PathState::default() };
        policy.leave(&mut state);
        state.cwnd
    }

    #[test]
    fn the_average_moves_by_a_quarter() {
        // 60 is the largest window; 100 were acknowledged. 3/4 * 20 + 60 / 4 = 30.
        assert_eq!(left(false, Some(20), (100, false)), 30 * MSS);
        // The first connection's own.
        assert_eq!(left(false, None, (100, false)), 60 * MSS);
        // Only 40 were acknowledged: 3/4 * 20 + 40 / 4.
        assert_eq!(left(false, Some(20), (40, false)), 25 * MSS);
    }

    #[test]
    fn a_loss_halves_the_average_if_asked_to_and_never_below_the_initial_window() {
        assert_eq!(left(false, Some(40), (100, true)), 45 * MSS);
        assert_eq!(left(true, Some(40), (100, true)), 20 * MSS);
        assert_eq!(left(true, Some(12), (100, true)), 10 * MSS);
    }
}
