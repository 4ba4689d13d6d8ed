//! The matrix of paths and sizes that the scoreboard runs and that closed forms are tabled over.
//!
//! Four rates, five round trips, two queues and five sizes. They do not change, so that figures of
//! different versions are of the same paths.

use crate::path::{PathSpec, QueueSize};
use units::{Duration, Rate};

/// Rates of the matrix, bit/s.
pub const RATES: [u64; 4] = [1_500_000, 10_000_000, 50_000_000, 200_000_000];
/// Round trips of the matrix, milliseconds.
pub const RTTS: [u64; 5] = [10, 40, 80, 200, 600];
/// Queues of the matrix, thousandths of the bandwidth-delay product.
pub const QUEUES: [u64; 2] = [250, 1000];
/// Packets that a queue of the matrix holds at least: a quarter of the smallest product is less
/// than one packet, and a router that drops every packet is none.
pub const MIN_QUEUE: u32 = 4;
/// Sizes of the matrix, bytes.
pub const SIZES: [u64; 5] = [10_000, 30_000, 100_000, 300_000, 1_000_000];

/// A path of the matrix by its levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixPath {
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// Round trip, milliseconds.
    pub rtt_ms: u64,
    /// Queue, thousandths of the bandwidth-delay product.
    pub queue_millibdp: u64,
}

impl MatrixPath {
    /// The path itself: its queue in whole packets of 1500 bytes and at least [`MIN_QUEUE`].
    ///
    /// # Panics
    /// If the rate is zero or above [`MAX_RATE`](crate::path::MAX_RATE).
    pub fn spec(self) -> PathSpec {
        let (rate, rtt) = (Rate::from_bps(self.rate_bps), Duration::from_millis(self.rtt_ms));
        let bytes = u128::from(rate.bytes_in(rtt)) * u128::from(self.queue_millibdp) / 1000;
        let packets = u32::try_from(bytes / 1500).unwrap_or(u32::MAX).max(MIN_QUEUE);
        PathSpec::new(rate, rtt, QueueSize::Packets(packets)).expect("a rate that can be")
    }
}

/// Every rate with every round trip and every queue, the last varying fastest.
pub fn paths() -> impl Iterator<Item = MatrixPath> {
    let lines = RATES.iter().flat_map(|rate| RTTS.iter().map(move |rtt| (*rate, *rtt)));
    lines.flat_map(|(rate_bps, rtt_ms)| {
        QUEUES.map(|queue_millibdp| MatrixPath { rate_bps, rtt_ms, queue_millibdp })
    })
}
