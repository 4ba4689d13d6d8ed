//! Scenario of a cell, whatever its board: a page over a path, other traffic, and earlier
//! transfers.

use crate::limit::{Capacity, limit, limit_again, limit_without_handshake};
use crate::{BASELINE, Limit};
use link::path::{MAX_RATE, PathSpec};
use serde::Serialize;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Rate};
use workload::{LoaderConfig, Page};

/// Other traffic on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundLoad {
    /// No other traffic.
    Idle,
    /// A `linux` transfer whose window is half of the bandwidth-delay product.
    Half,
    /// Two `linux` transfers that take all available capacity.
    Full,
}

/// Transfers before the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// No transfer: the client is met for the first time.
    Nothing,
    /// The same transfer over the same path.
    SameTransfer,
    /// The same transfer, over a path faster by this factor.
    FasterPath(u64),
}

/// Course of the rate towards the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DownRate {
    /// The rate is constant.
    Steady,
    /// The rate wanders around that of the path; see [`wander`](super::wander).
    Wandering,
}

/// One cell as it is run.
#[derive(Clone, Debug)]
pub(super) struct CellSetup {
    /// Name of its cell, from which seeds are derived.
    pub(super) name: String,
    pub(super) page: Arc<Page>,
    /// Bytes of the transfer, as its cell counts them.
    pub(super) bytes: u64,
    pub(super) loader: LoaderConfig,
    pub(super) path: PathSpec,
    pub(super) down_rate: DownRate,
    pub(super) load: BackgroundLoad,
    pub(super) before: Before,
}

/// References of a cell's figures, which no run decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellReference {
    pub(super) rtt: Duration,
    /// The earliest end of a transfer that shakes hands where its cell has connections to open.
    pub(super) limit: Duration,
    /// The earliest end of any transfer.
    pub(super) limit_without_handshake: Duration,
    /// The background's time beside a fair transfer over its time alone; at least 1.
    pub(super) fair: f64,
}

impl CellSetup {
    pub(super) fn reference(&self) -> CellReference {
        let first = if self.loader.keep_open { limit_again } else { limit };
        let of = |limit: fn(&Page, &LoaderConfig, &Capacity) -> Limit| {
            limit(&self.page, &self.loader, &self.capacity()).page
        };
        CellReference {
            rtt: self.path.rtt(),
            limit: of(first),
            limit_without_handshake: of(limit_without_handshake),
            fair: self.fair_slowdown(),
        }
    }

    /// A rate that wanders bounds nothing: the limit is that of round trips.
    fn capacity(&self) -> Capacity {
        let capacity = Capacity::of(&self.path, Rate::from_bps(0));
        match self.down_rate {
            DownRate::Steady => capacity,
            DownRate::Wandering => Capacity { down: MAX_RATE.into(), ..capacity },
        }
    }

    /// Bytes that the background has to bring while it is watched: as many as the transfer, and
    /// enough for some round trips.
    pub(super) fn background_bytes(&self) -> u64 {
        self.bytes.max(2 * self.path.down().bytes_in(self.path.rtt()))
    }

    /// The background's time under max-min fair sharing over its time alone. Each of its `n` flows
    /// that no window limits, and the transfer as a whole, have a share of 1 / (n + 1) of the rate
    /// from the first instant on. Let the transfer have S bytes and the flows G. If the transfer is
    /// over first, the flows take G + S bytes' time; otherwise they take (n + 1) / n of G bytes'
    /// time. They are slowed by S / G, and by 1 / n at most. Flows that take half of the rate lose
    /// nothing to a transfer that takes the other half.
    fn fair_slowdown(&self) -> f64 {
        let flows = match self.load {
            BackgroundLoad::Idle | BackgroundLoad::Half => return 1.0,
            BackgroundLoad::Full => FULL_FLOWS,
        };
        let slowed = self.bytes as f64 / self.background_bytes() as f64;
        1.0 + slowed.min(1.0 / flows as f64)
    }

    /// The schemes of the background.
    pub(super) fn background(&self) -> Vec<Scheme> {
        let linux = |text: &str| Scheme::parse(text).expect("linux and its parameters");
        match self.load {
            BackgroundLoad::Idle => Vec::new(),
            BackgroundLoad::Full => vec![linux(BASELINE); FULL_FLOWS],
            BackgroundLoad::Half => {
                let half = self.path.down().bytes_in(self.path.rtt()) / 2;
                // The window is in packets of 1500 bytes.
                vec![linux(&format!("{BASELINE}+window={}", (half / 1500).max(1)))]
            }
        }
    }
}

/// Flows of a full background.
const FULL_FLOWS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoreboard::{MatrixCell, Memory, TransferShape};

    /// 10 Mbit/s and 40 ms: two products are 100 kB.
    fn setup(bytes: u64, load: BackgroundLoad) -> CellSetup {
        let cell = MatrixCell {
            bytes,
            rtt_ms: 40,
            rate_bps: 10_000_000,
            queue_millibdp: 1000,
            load,
            memory: Memory::Cold,
            shape: TransferShape::One,
        };
        cell.setup()
    }

    /// Two flows of 50 kB each and a transfer of 30 kB share 10 Mbit/s. Each has a third until the
    /// transfer's 30 kB are over, at 90 kB's time. The flows have 60 kB by then, and 40 kB to go:
    /// 130 kB's time instead of 100. A transfer of 300 kB is not over before them. They have two
    /// thirds throughout, 150 kB's time for 100, though their goal grows with it.
    #[test]
    fn fair_sharing_by_hand() {
        let fair = |bytes| setup(bytes, BackgroundLoad::Full).fair_slowdown();
        assert!((fair(30_000) - 1.3).abs() < 1e-12);
        // 50 kB end when the flows have their 100: both rules say a half.
        assert!((fair(50_000) - 1.5).abs() < 1e-12 && (fair(300_000) - 1.5).abs() < 1e-12);
        // Half of a path is left.
        assert_eq!(setup(300_000, BackgroundLoad::Half).fair_slowdown(), 1.0);
    }

    /// A handshake is a round trip of 40 ms and the SYNs' 44 bytes each way at 10 Mbit/s, 35.2 us:
    /// 40.0704 ms.
    #[test]
    fn the_limits_differ_by_a_handshake() {
        let CellReference { limit, limit_without_handshake, rtt, .. } =
            setup(30_000, BackgroundLoad::Idle).reference();
        let handshake = (limit - limit_without_handshake).as_nanos() as f64 / 1e6;
        assert!((handshake - 40.0704).abs() < 0.001, "{handshake}");
        assert_eq!(rtt, Duration::from_millis(40));
    }
}
