//! Start-ups that act on some occasions and leave the rest to another start-up.
//!
//! A policy of that kind implements [`Overlay`], which says only what the policy does itself.
//! [`Wrapping`] puts it on top of the other start-up and forwards all else. A wrapper that has
//! nothing to do is therefore the start-up that it wraps.

use super::{Attended, Occasion, Phase, Setback, Start, StartUp};
use crate::ack::{AckSample, RttEstimator};
use crate::bbr::Model;
use crate::window::Window;
use memory::PathState;
use units::Duration;

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayTurn {
    /// The overlay, and it alone.
    Taken,
    /// The wrapped start-up.
    Left,
}

/// What a wrapping start-up does itself; see [`StartUp`] for when each method is called.
pub trait Overlay {
    /// Begins, or leaves the beginning to the wrapped start-up, which is then told.
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn;

    /// True if the wrapped start-up sees ACKs now.
    fn lets_observe(&self) -> bool {
        true
    }

    /// Sees every ACK, after the wrapped start-up if that one sees it.
    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        let _ = (window, sample);
    }

    /// Answers an ACK of new data; `None` leaves growth to the wrapped start-up.
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Option<Phase> {
        let _ = (window, sample);
        None
    }

    /// Is told of congestion, after the wrapped start-up was.
    fn on_congestion(&mut self, window: &mut Window) {
        let _ = window;
    }

    /// Answers a setback; `None` leaves it to the wrapped start-up.
    fn on_setback(&mut self, window: &mut Window, setback: Setback) -> Option<Phase> {
        let _ = (window, setback);
        None
    }

    /// A timeout in the place of the retransmission timeout; without one the wrapped start-up is
    /// asked.
    fn reset_timeout(&self, rtt: &RttEstimator, marked: bool) -> Option<Duration> {
        let _ = (rtt, marked);
        None
    }

    /// The overlay may answer [`Overlay::reset_timeout`] with `Some`.
    fn has_reset_timer(&self) -> bool {
        false
    }

    /// [`StartUp::timer_spacing`]; the wrapped start-up is not asked.
    fn timer_spacing(&self, bytes: u64) -> Duration {
        let _ = bytes;
        Duration::ZERO
    }

    /// The overlay wants to begin with the next transfer, too.
    fn awaits_transfer(&self) -> bool {
        false
    }

    /// Losses are answered by recovery and congestion control now, whatever the wrapped start-up
    /// says: the overlay has sent what that one knows nothing of.
    fn suspends_rules(&self) -> bool {
        false
    }

    /// The overlay wants [`AckSample::round`].
    fn needs_rounds(&self) -> bool {
        false
    }

    /// The overlay, if it is to be told of more events.
    fn attended(&mut self) -> Option<&mut dyn Attended> {
        None
    }

    /// Changes what is remembered of the path, after the wrapped start-up did.
    fn leave(&self, state: &mut PathState) {
        let _ = state;
    }
}

/// An overlay on top of the start-up that it leaves the rest to.
pub struct Wrapping<O> {
    pub(super) overlay: O,
    inner: Box<dyn StartUp>,
    /// The overlay took the path's beginning, so the wrapped start-up knows nothing of the path.
    passed_over: bool,
    /// The wrapped start-up has begun on the path's first data.
    begun: bool,
    /// It was the overlay that said [`Phase::Done`].
    done_by_overlay: bool,
}

impl<O: Overlay> Wrapping<O> {
    /// `overlay` on top of `inner`.
    pub fn new(overlay: O, inner: Box<dyn StartUp>) -> Self {
        Self { overlay, inner, passed_over: false, begun: false, done_by_overlay: false }
    }

    /// The overlay awaited this transfer, and leaves it; the wrapped start-up has long begun.
    fn has_begun_before(&self, start: &Start<'_>) -> bool {
        start.occasion == Occasion::NewPath && self.begun && !self.inner.awaits_transfer()
    }
}

/// The lint sees to it that a new method of [`StartUp`] is forwarded, too.
#[deny(clippy::missing_trait_methods)]
impl<O: Overlay> StartUp for Wrapping<O> {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) {
        let turn = self.overlay.begin(window, start);
        match (start.occasion, turn) {
            (Occasion::NewPath, _) => self.passed_over = turn == OverlayTurn::Taken,
            (Occasion::Idle, OverlayTurn::Taken) => self.passed_over = true,
            (Occasion::Idle | Occasion::Loss, _) => {}
        }
        if turn == OverlayTurn::Taken || self.has_begun_before(start) {
            return;
        }
        self.begun |= start.occasion == Occasion::NewPath;
        self.inner.begin(window, start);
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        if self.overlay.lets_observe() {
            self.inner.observe(window, sample);
        }
        self.overlay.observe(window, sample);
    }

    /// The overlay may observe whether or not the wrapped start-up does.
    fn observes(&self) -> bool {
        true
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        let own = self.overlay.on_ack(window, sample);
        self.done_by_overlay = own == Some(Phase::Done);
        own.unwrap_or_else(|| self.inner.on_ack(window, sample))
    }

    fn on_congestion(&mut self, window: &mut Window) {
        self.inner.on_congestion(window);
        self.overlay.on_congestion(window);
    }

    fn on_setback(&mut self, window: &mut Window, setback: Setback) -> Phase {
        let own = self.overlay.on_setback(window, setback);
        own.unwrap_or_else(|| self.inner.on_setback(window, setback))
    }

    fn reset_timeout(&self, rtt: &RttEstimator, marked: bool) -> Option<Duration> {
        let own = self.overlay.reset_timeout(rtt, marked);
        own.or_else(|| self.inner.reset_timeout(rtt, marked))
    }

    fn has_reset_timer(&self) -> bool {
        self.overlay.has_reset_timer() || self.inner.has_reset_timer()
    }

    /// Only overlays know of others that send.
    fn timer_spacing(&self, bytes: u64) -> Duration {
        self.overlay.timer_spacing(bytes)
    }

    fn awaits_transfer(&self) -> bool {
        self.overlay.awaits_transfer() || (!self.passed_over && self.inner.awaits_transfer())
    }

    fn on_undo(&mut self) {
        self.inner.on_undo();
    }

    fn rules_recovery(&self) -> bool {
        let may = !self.passed_over && !self.overlay.suspends_rules();
        may && self.inner.rules_recovery()
    }

    /// A model that was not fed while the overlay sent says nothing of the path.
    fn hand_over(&mut self) -> Option<Box<Model>> {
        if self.done_by_overlay || self.passed_over { None } else { self.inner.hand_over() }
    }

    fn needs_rounds(&self) -> bool {
        self.overlay.needs_rounds() || self.inner.needs_rounds()
    }

    /// No start-up that wraps nothing is told of these events.
    fn attended(&mut self) -> Option<&mut dyn Attended> {
        self.overlay.attended()
    }

    fn leave(&self, state: &mut PathState) {
        self.inner.leave(state);
        self.overlay.leave(state);
    }
}
