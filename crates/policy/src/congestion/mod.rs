//! Congestion controllers: the window after start-up, and how far it falls.
//!
//! A controller never sees which segment was lost, nor how it is repaired: `recovery`
//! does, and applies the threshold that the controller answers.

/// Declares the modules of controllers and lists their descriptors, so that a new one takes one
/// line.
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

/// The state of a path that meets congestion.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// The instant of detection.
    pub now: Instant,
    /// Bytes outstanding (`FlightSize` of RFC 5681 §2), of the whole path.
    pub flight_size: u64,
    /// Bytes usable: `min(cwnd, rwnd)`.
    pub usable_window: u64,
    /// Detected by timeout.
    pub timeout: bool,
    /// The lost segment had been retransmitted before.
    pub repeated: bool,
    /// Number of clients, this one included, that have lost segments of one window of data. Above 1
    /// only where the controller [reduces by client](ControllerCapabilities::reduces_by_client);
    /// bytes outstanding and usable are then those before the first of these losses.
    pub losing_clients: u32,
}

/// A controller's answer to congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoweredWindow {
    /// The new `ssthresh`, bytes.
    pub ssthresh: u64,
    /// The window that the threshold stood for before it was rounded to whole segments, bytes,
    /// where the controller rounds the threshold only.
    pub exact: Option<u64>,
}

impl LoweredWindow {
    /// Window and threshold are the same, bytes.
    pub const fn to(ssthresh: u64) -> Self {
        Self { ssthresh, exact: None }
    }

    /// The window falls to `bytes`, and the threshold to the whole segments in it.
    pub const fn whole_segments(bytes: u64, mss: u64) -> Self {
        Self { ssthresh: bytes / mss * mss, exact: Some(bytes) }
    }
}

/// A controller's capabilities. The path asks when it is made; the answer holds for its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerCapabilities {
    /// Samples have [`AckSample::round`].
    pub needs_rounds: bool,
    /// Once start-up has ended, the policy answers losses itself. It is then shown every ACK, with
    /// [`AckSample::delivery`], also during recovery, which moves the window no more but after a
    /// timeout. Start-up does not come back when the window is below the threshold.
    pub rules_recovery: bool,
    /// Each client loses its own part of the window: several may in the same window of data.
    pub reduces_by_client: bool,
}

/// Description of a congestion control policy.
pub type ControllerDescriptor = Descriptor<dyn CongestionControl>;

/// A congestion controller. It has to grow the window and to say where it falls; all else has a
/// default that does nothing.
pub trait CongestionControl {
    /// The controller's capabilities.
    fn capabilities(&self) -> ControllerCapabilities {
        ControllerCapabilities::default()
    }

    /// Grows the window on an ACK of new data in congestion avoidance.
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample);

    /// Answers where the window falls on congestion; at most once per window of data (and client,
    /// where it [reduces by client](ControllerCapabilities::reduces_by_client)).
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent) -> LoweredWindow;

    /// The last reduction was spurious and is undone.
    fn on_undo(&mut self, window: &Window) {
        let _ = window;
    }

    /// Sending goes on after `idle` with nothing in flight.
    fn on_restart(&mut self, window: &mut Window, now: Instant, idle: Duration) {
        let _ = (window, now, idle);
    }

    /// Seeds the policy's random choices, before anything else.
    fn set_seed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// The controller itself if it goes by a model of the path.
    fn modelling(&mut self) -> Option<&mut dyn ModellingControl> {
        None
    }
}

/// A controller that goes by a model of the path (BBR).
pub trait ModellingControl {
    /// Takes over the model that the start-up has made.
    fn take_over(&mut self, model: Box<Model>);

    /// Measurements of the path so far.
    fn modelled(&self) -> Option<ModelledPath>;
}
