//! Start-ups that act in some cases and leave the rest to another start-up.
//!
//! A policy of that kind implements [`Overlay`], which says only what the policy does itself.
//! [`Wrapping`] puts it on top of the other start-up and forwards all else. A wrapper that has
//! nothing to do is therefore the start-up that it wraps.

use super::{
    Beginning, KernelEvents, LossEvent, Phase, Start, StartUp, StartUpCapabilities, StartupReason,
};
use crate::ack::AckSample;
use crate::bbr::Model;
use crate::window::Window;
use memory::PathState;

/// The start-up that acts when something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayTurn {
    /// The overlay, and it alone.
    Taken,
    /// The wrapped start-up.
    Left,
    /// The wrapped start-up, and the overlay wants to begin with the next transfer
    /// ([`Beginning::AwaitsTransfer`]).
    AwaitsTransfer,
}

/// Duties that the wrapped start-up does not have at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspended {
    /// It sees no ACKs.
    pub observing: bool,
    /// It answers no losses itself: recovery and congestion control do, for the overlay has sent
    /// data that the wrapped start-up knows nothing of.
    pub ruling: bool,
}

/// The wrapping start-up's own part; [`StartUp`] says when each method is called.
pub trait Overlay {
    /// The overlay's capabilities. Its `observes` and `rules_recovery` count for nothing: an
    /// overlay always observes, and the wrapped start-up alone may rule losses.
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities::default()
    }

    /// Begins, or leaves the beginning to the wrapped start-up, which then begins.
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn;

    /// Duties that the wrapped start-up does not have now.
    fn suspended_duties(&self) -> Suspended {
        Suspended::default()
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

    /// Answers a [`LossEvent`]; `None` leaves it to the wrapped start-up. Gets other events after
    /// the wrapped start-up.
    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        let _ = (window, event);
        None
    }

    /// Changes the remembered state of the path, after the wrapped start-up did.
    fn leave(&self, state: &mut PathState) {
        let _ = state;
    }

    /// The overlay, if it follows the events of the Linux kernel.
    fn kernel_events(&mut self) -> Option<&mut dyn KernelEvents> {
        None
    }
}

/// An overlay on top of the start-up that it leaves the rest to.
pub struct Wrapping<O> {
    pub(super) overlay: O,
    inner: Box<dyn StartUp>,
    /// The overlay took the path's beginning, so the wrapped start-up knows nothing of the path.
    passed_over: bool,
    /// The wrapped start-up has started with the path's first data.
    started: bool,
    /// The wrapped start-up's last answer.
    inner_beginning: Beginning,
    /// The overlay returned [`Phase::Done`].
    done_by_overlay: bool,
}

impl<O: Overlay> Wrapping<O> {
    /// `overlay` on top of `inner`.
    pub fn new(overlay: O, inner: Box<dyn StartUp>) -> Self {
        Self {
            overlay,
            inner,
            passed_over: false,
            started: false,
            inner_beginning: Beginning::Whole,
            done_by_overlay: false,
        }
    }

    /// True if the overlay awaited this transfer, and leaves it; the wrapped start-up has started
    /// long before.
    fn has_started_before(&self, start: &Start<'_>) -> bool {
        start.reason == StartupReason::NewPath
            && self.started
            && self.inner_beginning == Beginning::Whole
    }
}

/// The lint checks that a new method of [`StartUp`] is forwarded, too.
#[deny(clippy::missing_trait_methods)]
impl<O: Overlay> StartUp for Wrapping<O> {
    fn capabilities(&self) -> StartUpCapabilities {
        let (own, inner) = (self.overlay.capabilities(), self.inner.capabilities());
        let may_rule = !self.passed_over && !self.overlay.suspended_duties().ruling;
        StartUpCapabilities {
            observes: true,
            needs_rounds: own.needs_rounds || inner.needs_rounds,
            rules_recovery: may_rule && inner.rules_recovery,
            // No wrapped start-up follows the kernel's events.
            sees_all_acks: own.sees_all_acks,
            timer_gaps: own.timer_gaps,
        }
    }

    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        let turn = self.overlay.begin(window, start);
        let taken = turn == OverlayTurn::Taken;
        match start.reason {
            StartupReason::NewPath => self.passed_over = taken,
            StartupReason::Idle => self.passed_over |= taken,
            StartupReason::Loss => {}
        }
        if !taken && !self.has_started_before(start) {
            self.started |= start.reason == StartupReason::NewPath;
            self.inner_beginning = self.inner.begin(window, start);
        }
        match turn {
            OverlayTurn::AwaitsTransfer => Beginning::AwaitsTransfer,
            _ if self.passed_over => Beginning::Whole,
            OverlayTurn::Taken | OverlayTurn::Left => self.inner_beginning,
        }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        if !self.overlay.suspended_duties().observing {
            self.inner.observe(window, sample);
        }
        self.overlay.observe(window, sample);
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        let own = self.overlay.on_ack(window, sample);
        self.done_by_overlay = own == Some(Phase::Done);
        own.unwrap_or_else(|| self.inner.on_ack(window, sample))
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        if let LossEvent::LossSignal(_) = event {
            let own = self.overlay.on_loss(window, event);
            return own.unwrap_or_else(|| self.inner.on_loss(window, event));
        }
        let phase = self.inner.on_loss(window, event);
        self.overlay.on_loss(window, event).unwrap_or(phase)
    }

    /// A model that was not fed while the overlay sent says nothing of the path.
    fn hand_over(&mut self) -> Option<Box<Model>> {
        if self.done_by_overlay || self.passed_over { None } else { self.inner.hand_over() }
    }

    fn leave(&self, state: &mut PathState) {
        self.inner.leave(state);
        self.overlay.leave(state);
    }

    fn kernel_events(&mut self) -> Option<&mut dyn KernelEvents> {
        self.overlay.kernel_events()
    }
}

#[cfg(test)]
mod tests;
