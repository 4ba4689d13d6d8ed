//! How a start-up wants what it sends to be spaced, for as long as it says so.

use units::Duration;

/// Orders for the pacer of a path. They hold beside the window, which they never widen, until the
/// start-up gives others or ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendPlan {
    /// Segments that may leave back to back; at least one.
    pub burst: u32,
    /// From the first segment of a burst to the first of the next.
    pub gap: Duration,
}
