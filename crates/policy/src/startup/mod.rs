//! Start-up policies: the first window and rate of a path, their growth until hand-over to
//! congestion control, and a way to fall back.
//!
//! A start-up begins with a path's first data, after an idle time, and after a timeout. It ends by
//! returning [`Phase::Done`]; until then it, not congestion control, changes the window on ACKs.
//! One that sent more than slow start would have may take that back ([`Phase::FallBack`]) at a
//! [`LossSignal`]. Any start-up runs with any congestion control and any recovery.

/// Declares the modules of start-ups and lists their descriptors, so that a new one takes one line.
macro_rules! start_ups {
    ($($module:ident: $($descriptor:ident),+;)+) => {
        $(pub mod $module;)+

        /// All start-ups, in the order they are listed to users.
        pub static STARTUPS: &[&StartUpDescriptor] = &[$($(&$module::$descriptor),+),+];
    };
}

mod capabilities;
pub mod hooked;
mod pages;
mod registered;
pub mod start;
pub mod wrapping;

start_ups! {
    slow_start: SLOW_START, LINUX_SLOW_START;
    hystart: HYSTART;
    hystart_plus_plus: HYSTART_PLUS_PLUS;
    search: SEARCH;
    suss: SUSS;
    rapid_start: RAPID_START;
    bbr: BBR_START, BBR3_START;
    vegas: VEGAS_START;
    hoe: HOE;
    rbp: RBP, RBP_VEGAS;
    spand: SPAND;
    paced_start: PACED_START;
    careful_resume: CAREFUL_RESUME;
    picoquic_resume: PICOQUIC_RESUME;
    quicly_jump: QUICLY_JUMP;
    stateful_tcp: STATEFUL_TCP;
    ewma_iw: EWMA_IW;
    jump_start: JUMP_START;
    fast_start: FAST_START;
    warm: WARM, MEMBER;
}

use crate::ack::AckSample;
use crate::bbr::Model;
use crate::registry::Descriptor;
use crate::window::Window;
use memory::PathState;

pub use bbr::BbrStart;
pub use capabilities::StartUpCapabilities;
pub use careful_resume::CarefulResume;
pub use fast_start::FastStart;
pub use hoe::Hoe;
pub use hooked::{
    HostAccess, KernelEvents, OpenedBy, SendingNeeds, SharedHostState, SharedSending, Situation,
    StartupHostState,
};
pub use jump_start::JumpStart;
pub use paced_start::PacedStart;
pub use rbp::Rbp;
pub use registered::{find, register};
pub use slow_start::{LinuxSlowStart, SlowStart};
pub use spand::Spand;
pub use start::{PendingData, Remembered, SeedTerms, Start, StartupReason};
pub use vegas::VegasStart;
pub use warm::Warm;
pub use wrapping::{Overlay, OverlayTurn, Suspended, Wrapping};

/// Whether a start-up goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It still owns the window.
    Continue,
    /// Congestion control takes over.
    Done,
    /// The start-up sent too much. All that is outstanding counts as lost, the window becomes the
    /// initial one and plain slow start follows, as if the start-up had never tried. Unlike after a
    /// timeout, the start-up sets the threshold, the retransmission timeout does not double, and
    /// SACKs stay valid.
    FallBack,
}

/// Result of a start-up's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The start-up began with the transfer.
    Whole,
    /// The start-up saw too little data, like a TLS handshake, to estimate the transfer. It is to
    /// begin again with the next data that waits while nothing is in flight, as if that were the
    /// path's first data.
    AwaitsTransfer,
}

/// An event that recovery would answer in its own way, unless the start-up falls back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSignal {
    /// The retransmission timer, or the one that replaces it, expired.
    Timeout {
        /// The earliest segment that is not acknowledged was sent with low priority.
        marked: bool,
    },
    /// Without SACK: during fast recovery an ACK of some, not all, of what was outstanding when it
    /// began, so more than one segment is lost (RFC 6582 §1).
    PartialAck,
}

/// A step of the answer to a loss, a mark or a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEvent {
    /// Recovery answers next, unless the start-up answers [`Phase::FallBack`]. To do so it first
    /// sets `ssthresh` to slow start's threshold. Any other answer leaves it to recovery.
    LossSignal(LossSignal),
    /// `ssthresh` is lowered, whether or not the start-up still owns the window.
    /// [`Window::last_cause`] shows if the cause is loss, ECN or timeout.
    Reduced,
    /// The last reduction was spurious and is undone.
    Undone,
}

/// Description of a start-up policy.
pub type StartUpDescriptor = Descriptor<dyn StartUp>;

/// A start-up policy. It has to grow the window; all else has a default that does nothing.
pub trait StartUp {
    /// The policy's capabilities.
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities::default()
    }

    /// Sets the window to begin with, where the policy wants another than it finds.
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        let _ = (window, start);
        Beginning::Whole
    }

    /// Sees every ACK before recovery and growth do, during recovery too, and whether or not the
    /// start-up still owns the window.
    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        let _ = (window, sample);
    }

    /// Grows the window on an ACK of new data outside of recovery.
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase;

    /// Answers a loss, a mark or a timeout. The answer counts for a [`LossEvent::LossSignal`]
    /// alone.
    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        let _ = (window, event);
        Phase::Continue
    }

    /// Its model of the path, once it is done, for a controller that goes on with it.
    fn hand_over(&mut self) -> Option<Box<Model>> {
        None
    }

    /// Changes the state of the path at the end, which is to be remembered, to the values with
    /// which the policy wants to begin.
    fn leave(&self, state: &mut PathState) {
        let _ = state;
    }

    /// Returns the policy itself if it follows the events of the Linux kernel; the answer is the
    /// same for its life.
    fn kernel_events(&mut self) -> Option<&mut dyn KernelEvents> {
        None
    }
}
