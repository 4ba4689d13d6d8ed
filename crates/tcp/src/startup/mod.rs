//! Start-up policies: the first window and rate of a path, their growth until hand-over to
//! congestion control, and a safe retreat.
//!
//! A start-up begins when a path does, after an idle time, and after a timeout. It ends by saying
//! [`Phase::Done`]; until then it, not congestion control, moves the window on ACKs. Any start-up
//! runs with any congestion control and any recovery.

pub mod hoe;
pub mod hystart;
pub mod rbp;
pub mod slow_start;
pub mod vegas;

use crate::ack::AckSample;
use crate::window::Window;

pub use hoe::Hoe;
pub use rbp::Rbp;
pub use slow_start::SlowStart;
pub use vegas::VegasStart;

/// Why a start-up begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The path's first data.
    NewPath,
    /// Data after an idle time longer than the retransmission timeout.
    Idle,
    /// The window fell below `ssthresh`: after a timeout or a deep reduction.
    Loss,
}

/// Whether a start-up goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It still owns the window.
    Continue,
    /// Congestion control takes over.
    Done,
}

/// A start-up policy.
pub trait StartUp {
    /// Sets the window to begin with, where the policy wants another than it finds.
    fn begin(&mut self, window: &mut Window, occasion: Occasion);

    /// Sees every ACK before recovery and growth do, during recovery too, and whether or not the
    /// start-up still owns the window.
    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        let _ = (window, sample);
    }

    /// Grows the window on an ACK of new data outside of recovery.
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase;

    /// Is told that congestion was met (loss, ECN or timeout) while it ran.
    fn on_congestion(&mut self, window: &mut Window);

    /// The policy wants [`AckSample::round`].
    fn needs_rounds(&self) -> bool {
        false
    }
}
