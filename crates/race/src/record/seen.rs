//! What packets do at the access link, as it is told.

use units::Instant;

/// Direction of the access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Towards the client.
    Down,
    /// Away from it.
    Up,
}

/// What a packet does at the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStep {
    /// It takes its place in the queue.
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
    /// When.
    pub at: Instant,
    /// Which way it goes.
    pub way: Way,
    /// What it does.
    pub step: LinkStep,
}
