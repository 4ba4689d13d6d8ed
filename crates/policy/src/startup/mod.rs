//! Start-up policies: the first window and rate of a path, their growth until hand-over to
//! congestion control, and a safe retreat.
//!
//! A start-up begins with a path's first data, after an idle time, and after a timeout. It ends by
//! saying [`Phase::Done`]; until then it, not congestion control, moves the window on ACKs. One that
//! sent more than slow start would have may take that back ([`Phase::Retreat`]) when it meets a
//! [`Setback`]. Any start-up runs with any congestion control and any recovery.

/// Declares the modules of start-ups and lists their descriptors, so that a new one takes one line.
macro_rules! start_ups {
    ($($module:ident: $($descriptor:ident),+;)+) => {
        $(pub mod $module;)+

        /// All start-ups, in the order they are listed to users.
        pub static STARTUPS: &[&StartUpDescriptor] = &[$($(&$module::$descriptor),+),+];
    };
}

pub mod attended;
mod pages;
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

use crate::ack::{AckSample, RttEstimator};
use crate::bbr::Model;
use crate::registry::Descriptor;
use crate::window::Window;
use memory::PathState;
use units::Duration;

pub use attended::{Attendance, Attendant, Attended, SharedAttendant, Situation};
pub use bbr::BbrStart;
pub use careful_resume::CarefulResume;
pub use fast_start::FastStart;
pub use hoe::Hoe;
pub use jump_start::JumpStart;
pub use paced_start::PacedStart;
pub use rbp::Rbp;
pub use slow_start::{LinuxSlowStart, SlowStart};
pub use spand::Spand;
pub use start::{Occasion, PendingData, Remembered, SeedTerms, Start};
pub use vegas::VegasStart;
pub use warm::Warm;
pub use wrapping::{Overlay, OverlayTurn, Wrapping};

/// Whether a start-up goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It still owns the window.
    Continue,
    /// Congestion control takes over.
    Done,
    /// What it sent was too much: all that is outstanding counts as lost, the window falls to the
    /// initial one and plain slow start follows, as if the start-up had never tried. Unlike after a
    /// timeout the threshold is what the start-up makes it, the retransmission timeout does not
    /// double, and what SACK told stays known.
    Retreat,
}

/// What recovery would answer in its own way, unless the start-up retreats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setback {
    /// The retransmission timer, or the one in its place, ran out.
    Timeout {
        /// The earliest segment that is not acknowledged was sent with low priority.
        marked: bool,
    },
    /// Without SACK: during fast recovery an ACK of some, not all, of what was outstanding when it
    /// began, so more than one segment is lost (RFC 6582 §1).
    PartialAck,
}

/// What a policy of this kind says of itself.
pub type StartUpDescriptor = Descriptor<dyn StartUp>;

/// A start-up policy.
pub trait StartUp {
    /// Sets the window to begin with, where the policy wants another than it finds.
    fn begin(&mut self, window: &mut Window, start: &Start<'_>);

    /// Sees every ACK before recovery and growth do, during recovery too, and whether or not the
    /// start-up still owns the window.
    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        let _ = (window, sample);
    }

    /// False if [`StartUp::observe`] does nothing: the policy is not shown each ACK then.
    fn observes(&self) -> bool {
        true
    }

    /// Grows the window on an ACK of new data outside of recovery.
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase;

    /// Is told that congestion was met and `ssthresh` lowered, whether or not it still owns the
    /// window; [`Window::last_cause`] says whether by loss, ECN or timeout.
    fn on_congestion(&mut self, window: &mut Window);

    /// Is asked, before recovery is, what to make of a setback; [`Phase::Retreat`] to take back what
    /// was sent, having set `ssthresh` to what slow start shall have. Any other answer leaves it to
    /// recovery.
    fn on_setback(&mut self, window: &mut Window, setback: Setback) -> Phase {
        let _ = (window, setback);
        Phase::Continue
    }

    /// Replaces the retransmission timeout, its bounds and doublings, if it answers `Some` when the
    /// timer starts; `marked`: the earliest segment not acknowledged was sent with low priority. A
    /// policy that may do so says [`StartUp::has_reset_timer`]; others are not asked at each ACK.
    fn reset_timeout(&self, rtt: &RttEstimator, marked: bool) -> Option<Duration> {
        let _ = (rtt, marked);
        None
    }

    /// The policy may answer [`StartUp::reset_timeout`] with `Some`.
    fn has_reset_timer(&self) -> bool {
        false
    }

    /// How far apart segments of `bytes` are to be expected beside those of other connections, if that is known: a retransmission timer
    /// that waits less beyond the round trip expires between two. Zero: nothing is known. Asked of attended start-ups alone.
    fn timer_spacing(&self, bytes: u64) -> Duration {
        let _ = bytes;
        Duration::ZERO
    }

    /// What began was too little to tell how much there is to transfer, like a TLS handshake: the
    /// policy wants to begin with what waits next while nothing is in flight, too, as if it were the
    /// path's first data.
    fn awaits_transfer(&self) -> bool {
        false
    }

    /// Is told that the last reduction was spurious and was undone.
    fn on_undo(&mut self) {}

    /// As long as it owns the window the policy answers losses itself: it is shown every ACK, with
    /// [`AckSample::delivery`], by [`StartUp::on_ack`], also during recovery, and neither congestion
    /// control nor recovery moves the window, but for a timeout. A policy that has not begun says
    /// whether it ever may; after that the answer may change with what it does.
    fn rules_recovery(&self) -> bool {
        false
    }

    /// Its model of the path, once it is done, for a controller that goes on with it.
    fn hand_over(&mut self) -> Option<Box<Model>> {
        None
    }

    /// The policy wants [`AckSample::round`].
    fn needs_rounds(&self) -> bool {
        false
    }

    /// Itself, if it is to be told of more events; the answer is the same for its life.
    fn attended(&mut self) -> Option<&mut dyn Attended> {
        None
    }

    /// Changes what is remembered of the path, which is how it was at the end, to what the policy wants to begin with.
    fn leave(&self, state: &mut PathState) {
        let _ = state;
    }
}
