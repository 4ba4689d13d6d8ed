//! The start of a path: its first data, the memory for it, and the effect of lost SYNs.

use super::Path;
use policy::startup::{PendingData, Remembered, Start, StartupReason};
use policy::window::Cause;
use units::Duration;

/// The event that starts the start-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trigger {
    pub(super) reason: StartupReason,
    /// The remembered state to start from.
    pub(super) seed: Option<Remembered>,
    /// Data that waits to be sent.
    pub(super) transfer: Option<PendingData>,
    /// Idle time before it.
    pub(super) idle: Duration,
}

impl Trigger {
    /// Creates an event without memory, data and idle time.
    pub(super) const fn of(reason: StartupReason) -> Self {
        Self { reason, seed: None, transfer: None, idle: Duration::ZERO }
    }
}

impl Path {
    /// Notes that the path's first data is about to be sent. Returns false if it was before.
    pub fn begin(&mut self, transfer: PendingData) -> bool {
        let first = !std::mem::replace(&mut self.started, true);
        if first {
            self.begin_transfer(transfer);
        }
        first
    }

    #[cold]
    pub(super) fn begin_transfer(&mut self, transfer: PendingData) {
        // Lost SYNs speak against using the memory. It stays unchanged for later connections.
        let known = self.recall(false);
        let seed = known.filter(|_| self.lost_window().is_none());
        self.note_withheld(known.is_some() && seed.is_none());
        let transfer = Some(transfer);
        self.begin_startup(Trigger { seed, transfer, ..Trigger::of(StartupReason::NewPath) });
        if let Some(lost) = self.lost_window().filter(|lost| *lost < self.window.cwnd()) {
            self.window.set_cwnd(lost, Cause::Timeout);
        }
        self.lost_initial_window = None;
    }

    /// Returns the maximum size of the first data after lost SYNs, bytes; `None`: no SYN was lost.
    pub(super) fn lost_window(&self) -> Option<u64> {
        let lost = self.lost_initial_window.map(|n| u64::from(n) * self.window.mss());
        lost.map(|bytes| bytes.min(self.restart_window))
    }

    pub(super) fn begin_startup(&mut self, trigger: Trigger) {
        let Trigger { reason, seed, transfer, idle } = trigger;
        let (now, initial_window) = (self.window.now(), self.restart_window);
        let lost_window = self.lost_window();
        let terms = seed.and_then(|seed| self.terms_of(&seed));
        let (rtt, terms) = (&self.rtt, terms.as_ref());
        let start =
            Start { reason, now, rtt, seed, terms, transfer, initial_window, lost_window, idle };
        self.beginning = self.startup.begin(&mut self.window, &start);
        if seed.is_some() {
            self.bound_first_window();
        }
    }

    /// Falls back to a window of this many segments because SYNs were lost (RFC 5681 §3.1: one),
    /// whatever is remembered.
    pub fn on_handshake_loss(&mut self, segments: u32) {
        if !self.has_several_users() {
            self.lost_initial_window = Some(segments).filter(|_| !self.started);
            let window = u64::from(segments) * self.window.mss();
            self.window.set_cwnd(window.min(self.window.cwnd()), Cause::Timeout);
        }
    }
}
