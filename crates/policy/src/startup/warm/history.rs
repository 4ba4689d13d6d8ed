//! The state of a warm start as others may see it: its phase, and its history.

use super::Warm;

/// The phase of a connection's warm start (`enum phase` of the agent).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarmPhase {
    /// Cold, or its warm start is over: the start-up underneath decides.
    Stock,
    /// The remembered window is sent, paced, and not yet acknowledged.
    FirstFlight,
    /// The same, but only as wide as the size of one transfer.
    NarrowedFlight,
    /// After that flight: the next start may be wider.
    Narrowed,
    /// Idling has taken back its window; nothing is sent yet since.
    Idle,
}

/// History of a connection, as its summary will have it (`struct summary` of the agent).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmHistory {
    /// Window of its last warm start, segments; 0: it had none.
    pub first_flight: u32,
    /// A first flight of it has found the path full.
    pub has_fallen_back: bool,
    /// A loss has measured what it left in the memory last.
    pub has_measured: bool,
    /// It has started warm after idle.
    pub has_restarted: bool,
}

impl Warm {
    /// Phase of the warm start.
    pub const fn phase(&self) -> WarmPhase {
        self.phase
    }

    /// History of the connection so far.
    pub const fn history(&self) -> WarmHistory {
        let Self { has_fallen_back, has_measured, has_restarted, .. } = *self;
        WarmHistory {
            first_flight: self.flight.window,
            has_fallen_back,
            has_measured,
            has_restarted,
        }
    }
}
