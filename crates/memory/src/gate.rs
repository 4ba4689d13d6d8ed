//! Between a memory and a sender: what an absent, old or absurd memory may not do.

use crate::Remembered;
use arith::reuse::first_window;
use units::Duration;

/// Longest plausible round trip: RFC 6298 §2.5 allows a timeout to be bounded there.
const MAX_RTT: Duration = Duration::from_secs(60);

/// Start of a sender without memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cold {
    /// Its first window, bytes.
    pub window: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
}

/// Decides whether, and with which bounds, a memory is used.
///
/// An admitted memory has a first window between the cold one and the cap, and a round trip that
/// pacing can divide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReuseGate {
    /// Largest first window, bytes. The default, 4 MiB, is the largest send buffer of stock Linux
    /// (`tcp_wmem`), which bounds any window there anyway.
    pub cap: u64,
    /// Older memories are ignored. Ten minutes, for which fast start reuses its state.
    pub max_age: Duration,
}

impl Default for ReuseGate {
    fn default() -> Self {
        Self { cap: 4 << 20, max_age: Duration::from_secs(600) }
    }
}

impl ReuseGate {
    /// Returns the part of `remembered` that a sender may use that would start with `cold`; `None`:
    /// nothing.
    pub fn admit(&self, remembered: &Remembered, cold: &Cold) -> Option<Remembered> {
        let Remembered { srtt, age, .. } = *remembered;
        if age > self.max_age || srtt.is_zero() || srtt > MAX_RTT {
            return None;
        }
        Some(Remembered {
            cwnd: first_window(remembered.cwnd, cold.window, self.cap),
            // Below two segments a threshold is no threshold (RFC 5681 §3.1).
            ssthresh: remembered.ssthresh.map(|bytes| bytes.max(2 * cold.mss)),
            rttvar: remembered.rttvar.min(MAX_RTT),
            share: remembered.share.map(|bytes| bytes.clamp(cold.mss, self.cap.max(cold.mss))),
            ..*remembered
        })
    }
}
