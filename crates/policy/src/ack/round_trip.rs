//! A round trip of a path, and how much of the window was queued in it.

use units::Duration;

/// One round trip that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Mean of the round trips measured in it; if there were none, how long it lasted.
    pub rtt: Duration,
    /// Lowest round trip of the path: of any sample, and of any round with one segment in it,
    /// which cannot have met a queue of its own.
    pub base: Duration,
    /// Bytes sent in it.
    pub sent: u64,
    /// Bytes in flight when it ended, with the segment that the ending ACK makes room for.
    pub window: u64,
}

impl RoundTrip {
    /// Returns the bytes that the sender keeps queued in the path. They are its bytes in flight
    /// less those with which the measured rate fills the empty path (Brakmo & Peterson 1995 §3.3:
    /// `Diff`, times the base round trip). Rounded down.
    pub fn queued(&self) -> i64 {
        let rtt = i128::from(self.rtt.as_nanos().max(1));
        let base = i128::from(self.base.as_nanos());
        let queued = i128::from(self.window) * rtt - i128::from(self.sent) * base;
        i64::try_from(queued.div_euclid(rtt)).unwrap_or(i64::MAX)
    }
}
