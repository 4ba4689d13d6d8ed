//! Packet events at the access link, as they are reported.

use units::Instant;

/// Direction of the access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Towards the client.
    Down,
    /// Away from it.
    Up,
}

/// Event of a packet at the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStep {
    /// It enters the queue.
    Enter,
    /// It never entered: there was no room.
    Drop,
    /// It had entered and is thrown out.
    Discard,
    /// Its last bit is on the wire.
    Leave,
    /// Its last bit was on the wire and will not arrive.
    Lose,
    /// Its last bit is at the other end.
    Arrive,
}

/// A packet at the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenAtLink {
    /// Time of the event.
    pub at: Instant,
    /// Direction of the packet.
    pub way: Way,
    /// Kind of the event.
    pub step: LinkStep,
}
