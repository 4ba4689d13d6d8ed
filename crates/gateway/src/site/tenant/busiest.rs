//! The busiest networks, for people: their number of accepted reports, and the history of their
//! estimates. The table is bounded; a network without reports for long makes room for others.
//! Estimates do not depend on it.

use ipnet::IpNet;
use lru::LruCache;
use memory::site::SiteEstimate;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use units::{Duration, Instant};

/// Maximum number of networks of a tenant that are watched.
const MAX_WATCHED_NETWORKS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
/// Maximum number of points of a network's history.
const MAX_POINTS: usize = 240;
/// Minimum time between two points.
const MIN_POINT_INTERVAL: Duration = Duration::from_secs(5);

/// The busiest networks of a tenant.
#[derive(Debug)]
pub struct BusyNetworks(LruCache<IpNet, BusyNetwork, FxBuildHasher>);

/// One busy network.
#[derive(Clone, Debug, Default)]
pub struct BusyNetwork {
    /// Accepted reports since it is watched.
    pub reports: u64,
    /// Past estimates, the oldest first.
    pub history: VecDeque<HistoryPoint>,
}

/// A past estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// Time, seconds since 1970.
    pub at_s: f64,
    /// Window, bytes.
    pub window: u64,
    /// Rate, bits per second.
    pub rate: Option<u64>,
    /// Lowest round trip, milliseconds.
    pub min_rtt_ms: Option<f64>,
    /// Confidence, 0 to 1.
    pub confidence: f64,
}

impl Default for BusyNetworks {
    fn default() -> Self {
        // Only the few holders of a certificate choose networks, so a quick hash is safe.
        Self(LruCache::with_hasher(MAX_WATCHED_NETWORKS, FxBuildHasher))
    }
}

impl BusyNetworks {
    /// Counts an accepted report of `network`.
    pub fn note_report(&mut self, network: IpNet) {
        self.0.get_or_insert_mut(network, BusyNetwork::default).reports += 1;
    }

    /// Returns true if a point of its history is due.
    pub fn wants_estimate(&self, now: Instant, network: &IpNet) -> bool {
        self.0.peek(network).is_some_and(|busy| busy.is_due(now))
    }

    /// Adds the current estimate of `network` to its history, if a point is due. If it has
    /// [`MAX_POINTS`] points, the oldest is dropped.
    pub fn note_estimate(&mut self, now: Instant, network: IpNet, estimate: &SiteEstimate) {
        let Some(busy) = self.0.peek_mut(&network) else { return };
        if !busy.is_due(now) {
            return;
        }
        if busy.history.len() == MAX_POINTS {
            busy.history.pop_front();
        }
        busy.history.push_back(HistoryPoint {
            at_s: now.as_secs_f64(),
            window: estimate.window,
            rate: estimate.rate.map(|rate| rate.as_bps()),
            min_rtt_ms: estimate.min_rtt.map(|rtt| rtt.as_secs_f64() * 1e3),
            confidence: estimate.confidence,
        });
    }

    /// Returns the entry of `network`.
    pub fn get(&self, network: &IpNet) -> Option<&BusyNetwork> {
        self.0.peek(network)
    }

    /// Returns the networks with the most reports, at most `most` of them.
    pub fn busiest(&self, most: usize) -> Vec<(IpNet, u64)> {
        let mut all: Vec<_> =
            self.0.iter().map(|(network, busy)| (*network, busy.reports)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(most);
        all
    }

    /// Forgets `network` and all networks within.
    pub fn forget(&mut self, network: &IpNet) {
        let within: Vec<_> =
            self.0.iter().map(|(key, _)| *key).filter(|key| network.contains(key)).collect();
        for key in within {
            self.0.pop(&key);
        }
    }
}

impl BusyNetwork {
    /// Returns true if the last point of its history is old enough for another.
    fn is_due(&self, now: Instant) -> bool {
        let last = self.history.back().map_or(f64::NEG_INFINITY, |point| point.at_s);
        now.as_secs_f64() - last >= MIN_POINT_INTERVAL.as_secs_f64()
    }
}
