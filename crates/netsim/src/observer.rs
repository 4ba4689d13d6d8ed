//! Read-only observers of packets: captures, time-sequence plots, queue occupancy.

use crate::{LinkId, SimPacket};
use link::Occupancy;
use std::any::Any;
use units::Instant;

/// A step of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It enters the queue, which then holds `queue`, itself included.
    Enter {
        /// Occupancy after it entered.
        queue: Occupancy,
    },
    /// It finds no room in the queue, or the queue refuses it: it never entered.
    Drop {
        /// Occupancy that it met.
        queue: Occupancy,
    },
    /// It entered and is discarded before its service.
    Discard {
        /// Occupancy without it.
        queue: Occupancy,
    },
    /// It carries a congestion mark from here on (RFC 3168: CE).
    Mark,
    /// Its last bit is on the wire.
    Leave,
    /// Its last bit was on the wire and will not arrive; follows [`Step::Leave`].
    Lose,
    /// Its last bit is at the other end.
    Arrive,
}

/// Sees every step of every packet at every link.
///
/// Calls about one link and one kind of step are in the order of `at`. Other calls may have an
/// earlier or later `at`, because a drop-tail link knows a departure when the packet enters.
pub trait Observer: Any {
    /// Reports that `packet` takes `step` at `link` at the instant `at`.
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket);
}
