//! Looking at packets without touching them: captures, time-sequence plots, queue occupancy.

use crate::{LinkId, SimPacket};
use link::Occupancy;
use std::any::Any;
use units::Instant;

/// What a packet does at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It takes its place in the queue, which then holds `queue`, itself included.
    Enter {
        /// After it entered.
        queue: Occupancy,
    },
    /// It finds no room in the queue, or the queue refuses it: it never entered.
    Drop {
        /// What was in its way.
        queue: Occupancy,
    },
    /// It entered and is thrown out before its service.
    Discard {
        /// What is left.
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
/// Calls about one link and one kind of step come in the order of `at`; `at` may lie ahead of the
/// calls around it, because a drop-tail link knows a departure when the packet enters.
pub trait Observer: Any {
    /// `packet` does `step` at `link` at the instant `at`.
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket);
}
