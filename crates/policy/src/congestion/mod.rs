//! Congestion controllers: the window after start-up, and how far it falls.
//!
//! A controller never sees which segment was lost, nor how it is repaired: `recovery`
//! does, and applies the threshold that the controller answers.

/// Declares the modules of controllers and lists their descriptors, so that a new one takes one line.
macro_rules! controllers {
    ($($module:ident: $descriptor:ident;)+) => {
        $(pub mod $module;)+

        /// All congestion controllers, in the order they are listed to users.
        pub static CONTROLLERS: &[&ControllerDescriptor] = &[$(&$module::$descriptor),+];
    };
}

controllers! {
    reno: RENO;
    linux_reno: LINUX_RENO;
    cubic: CUBIC;
    bbr: BBR;
    vegas: VEGAS;
    proxy: PROXY;
}

use crate::ack::AckSample;
use crate::bbr::{Model, ModelledPath};
use crate::registry::Descriptor;
use crate::window::Window;
use units::{Duration, Instant};

pub use bbr::Bbr;
pub use cubic::Cubic;
pub use linux_reno::LinuxReno;
pub use proxy::Proxy;
pub use reno::{Halve, Reno};
pub use vegas::{Vegas, VegasOptions};

/// What a controller is told of congestion.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When it was detected.
    pub now: Instant,
    /// Bytes outstanding (`FlightSize` of RFC 5681 §2), of the whole path.
    pub flight_size: u64,
    /// Bytes usable: `min(cwnd, rwnd)`.
    pub usable_window: u64,
    /// Detected by timeout.
    pub timeout: bool,
    /// The lost segment had been sent again before.
    pub repeated: bool,
}

/// What a policy of this kind says of itself.
pub type ControllerDescriptor = Descriptor<dyn CongestionControl>;

/// A congestion controller.
pub trait CongestionControl {
    /// Grows the window on an ACK of new data in congestion avoidance.
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample);

    /// Answers the new `ssthresh`, bytes, on congestion; at most once per window of data
    /// (and client, where it [reduces by client](Self::reduces_by_client)).
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> u64;

    /// The window that the last answer stood for before it was rounded to whole segments, where
    /// the controller rounds the threshold only.
    fn exact_reduction(&self, event: &CongestionEvent) -> Option<u64> {
        let _ = event;
        None
    }

    /// Is told that the last reduction was spurious and was undone.
    fn on_undo(&mut self, window: &Window) {
        let _ = window;
    }

    /// Is told that sending goes on after `idle` with nothing in flight.
    fn on_restart(&mut self, window: &mut Window, now: Instant, idle: Duration) {
        let _ = (window, now, idle);
    }

    /// Is told for how many different clients the path's connections are there.
    fn set_clients(&mut self, clients: u32) {
        let _ = clients;
    }

    /// Each client loses its own part of the window: several may in the same window of data.
    fn reduces_by_client(&self) -> bool {
        false
    }

    /// Seeds what the policy draws at random, before anything else.
    fn set_seed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Once start-up has ended the policy answers losses itself: it is shown every ACK, with
    /// [`AckSample::delivery`], also during recovery, which moves the window no more but after a
    /// timeout; and start-up does not come back when the window is below the threshold.
    fn rules_recovery(&self) -> bool {
        false
    }

    /// Takes over the model of the path that the start-up has made.
    fn take_over(&mut self, model: Box<Model>) {
        drop(model);
    }

    /// What it has measured of the path, if it models one.
    fn modelled(&self) -> Option<ModelledPath> {
        None
    }

    /// The controller wants [`AckSample::round`].
    fn needs_rounds(&self) -> bool {
        false
    }
}
