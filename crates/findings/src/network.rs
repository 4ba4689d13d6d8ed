//! The frequency of requests from the same networks (Zhang, Qiu & Keshav 2000 §5.2.3, Figures 6 and
//! 7), in a capture or in a web server's log.

use crate::distribution::{Counts, CumulativeDistribution};
use crate::tiered::at_most;
use lru::LruCache;
use memory::{PathKey, Scope};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use units::{Duration, Instant};

/// Memory of a gateway (§5.2.3: S, 5 minutes).
pub const GATEWAY_WINDOW: Duration = Duration::from_secs(300);
/// Minimum time after which the last request of a network is noted again.
const NOTED_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of networks and hosts whose last request is remembered.
const MAX_REMEMBERED: NonZeroUsize = NonZeroUsize::new(1 << 20).unwrap();

/// Limits for the number of gaps between requests: 1 and 10 s, 1, 5 and 30 minutes, an hour, a day.
/// Five minutes are the paper's.
pub const GAP_LIMITS: [Duration; 7] = [
    Duration::from_secs(1),
    Duration::from_secs(10),
    Duration::from_secs(60),
    GATEWAY_WINDOW,
    Duration::from_secs(1_800),
    Duration::from_secs(3_600),
    Duration::from_secs(86_400),
];

/// Number of gaps between requests that are no longer than each of [`GAP_LIMITS`].
pub type GapsWithin = [u64; GAP_LIMITS.len()];

/// The frequency of requests from the same hosts and networks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SharingFindings {
    /// Number of requests.
    pub requests: u64,
    /// Number of requests within [`GATEWAY_WINDOW`] of the one before from the same network, /24 or
    /// /48.
    pub soon_after_network: u64,
    /// Number of requests within [`GATEWAY_WINDOW`] of the one before from the same host.
    pub soon_after_host: u64,
    /// Seconds since the request before from the same network, if there was one (Figure 6).
    pub since_network: CumulativeDistribution,
    /// Seconds since the request before from the same host.
    pub since_host: CumulativeDistribution,
    /// Exact gaps of networks; [`CumulativeDistribution`] rounds its values.
    #[serde(skip)]
    pub network_gaps_within: GapsWithin,
    /// Exact gaps of hosts.
    #[serde(skip)]
    pub host_gaps_within: GapsWithin,
    /// Number of networks that asked within [`GATEWAY_WINDOW`] before a request, its own included
    /// (Figure 7).
    pub networks_within: CumulativeDistribution,
}

impl SharingFindings {
    /// Returns the share of requests that another request of their network precedes closely enough
    /// to help, in `0..=1`.
    pub fn helped_share(&self) -> f64 {
        self.soon_after_network as f64 / self.requests.max(1) as f64
    }
}

/// Collects requests in the order of their times.
pub struct RequestWatch {
    gaps: RequestGaps,
    within: Counts,
    networks: LruCache<PathKey, LastRequest>,
    hosts: LruCache<PathKey, LastRequest>,
    /// Networks with the times of their notes, in the order of time.
    noted: VecDeque<(Instant, PathKey)>,
    /// Number of networks noted within the window.
    present: u64,
    now: Instant,
}

#[derive(Clone, Copy, Debug)]
struct LastRequest {
    at: Instant,
    /// Time of its last note, if it is present.
    noted: Option<Instant>,
}

impl Default for RequestWatch {
    fn default() -> Self {
        Self {
            gaps: RequestGaps::default(),
            within: Counts::default(),
            networks: at_most(MAX_REMEMBERED),
            hosts: at_most(MAX_REMEMBERED),
            noted: VecDeque::new(),
            present: 0,
            now: Instant::ZERO,
        }
    }
}

impl RequestWatch {
    /// Counts a request of `client` at `at`. If its host or network has asked at a later time
    /// already, the gap is zero. The number of networks is that at the latest time so far.
    pub fn on_request(&mut self, at: Instant, client: IpAddr) {
        self.now = self.now.max(at);
        let now = self.now;
        let gaps = &mut self.gaps;
        gaps.requests += 1;
        let (host, network) =
            (PathKey::new(client, Scope::Host), PathKey::new(client, Scope::Network));
        let (since, _) = since_last(&mut self.hosts, host, at);
        count_within(&mut gaps.host_gaps_within, since);
        gaps.soon_after_host += u64::from(add_gap(&mut gaps.since_host, since));
        let (since, dropped) = since_last(&mut self.networks, network, at);
        count_within(&mut gaps.network_gaps_within, since);
        gaps.soon_after_network += u64::from(add_gap(&mut gaps.since_network, since));
        self.present -= u64::from(dropped.is_some_and(|dropped| dropped.noted.is_some()));
        self.expire(now);
        self.record_request(network, now);
        self.within.add(self.present);
    }

    /// Forgets networks whose last request is too old.
    fn expire(&mut self, now: Instant) {
        while let Some(&(at, key)) = self.noted.front()
            && now.saturating_since(at) > GATEWAY_WINDOW
        {
            self.noted.pop_front();
            if let Some(last) = self.networks.peek_mut(&key).filter(|last| last.noted == Some(at)) {
                last.noted = None;
                self.present -= 1;
            }
        }
    }

    /// Notes a request of a network, at most once in [`NOTED_EVERY`].
    fn record_request(&mut self, network: PathKey, now: Instant) {
        let Some(last) = self.networks.peek_mut(&network) else { return };
        if last.noted.is_some_and(|noted| now.saturating_since(noted) < NOTED_EVERY) {
            return;
        }
        self.present += u64::from(last.noted.is_none());
        last.noted = Some(now);
        self.noted.push_back((now, network));
    }

    /// Returns the results.
    pub fn findings(&self) -> SharingFindings {
        self.with_gaps(&self.gaps)
    }

    /// Returns the findings on sharing, with the gaps between requests.
    fn with_gaps(&self, gaps: &RequestGaps) -> SharingFindings {
        SharingFindings {
            requests: gaps.requests,
            soon_after_network: gaps.soon_after_network,
            soon_after_host: gaps.soon_after_host,
            since_network: gaps.since_network.distribution(1e-9),
            since_host: gaps.since_host.distribution(1e-9),
            network_gaps_within: gaps.network_gaps_within,
            host_gaps_within: gaps.host_gaps_within,
            networks_within: self.within.distribution(1.0),
        }
    }

    /// Returns the sums of a capture with these requests, nanoseconds and client each.
    pub(crate) fn sums(self, requests: Vec<(u64, IpAddr)>) -> RequestSums {
        RequestSums { gaps: self.gaps, requests }
    }
}

/// Requests by the time since the one before from the same network or host.
#[derive(Default, Serialize, Deserialize)]
struct RequestGaps {
    requests: u64,
    soon_after_network: u64,
    soon_after_host: u64,
    since_network: Counts,
    since_host: Counts,
    network_gaps_within: GapsWithin,
    host_gaps_within: GapsWithin,
}

/// Sums of captures that no network shares.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct RequestSums {
    gaps: RequestGaps,
    /// Nanoseconds and client of each request: networks of all captures count together.
    requests: Vec<(u64, IpAddr)>,
}

impl RequestSums {
    /// Adds the sums of other captures.
    pub(crate) fn add_all(&mut self, other: Self) {
        let add_each = |sums: &mut GapsWithin, more: GapsWithin| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        let (own, more) = (&mut self.gaps, other.gaps);
        own.requests += more.requests;
        own.soon_after_network += more.soon_after_network;
        own.soon_after_host += more.soon_after_host;
        own.since_network.add_all(&more.since_network);
        own.since_host.add_all(&more.since_host);
        add_each(&mut own.network_gaps_within, more.network_gaps_within);
        add_each(&mut own.host_gaps_within, more.host_gaps_within);
        self.requests.extend(other.requests);
    }

    /// Returns the results of all captures.
    pub(crate) fn findings(mut self) -> SharingFindings {
        self.requests.sort_by_key(|(at, _)| *at);
        let mut watch = RequestWatch::default();
        for (at, client) in self.requests {
            watch.on_request(Instant::from_nanos(at), client);
        }
        watch.with_gaps(&self.gaps)
    }
}

/// Returns the time since the last request under this key, and the entry that was dropped to
/// remember this one.
fn since_last(
    known: &mut LruCache<PathKey, LastRequest>,
    key: PathKey,
    at: Instant,
) -> (Option<Duration>, Option<LastRequest>) {
    if let Some(last) = known.get_mut(&key) {
        let since = at.saturating_since(last.at);
        last.at = last.at.max(at);
        return (Some(since), None);
    }
    let dropped = known.push(key, LastRequest { at, noted: None });
    (None, dropped.map(|(_, last)| last))
}

/// Counts a gap under each limit that it does not exceed.
fn count_within(within: &mut GapsWithin, since: Option<Duration>) {
    let Some(since) = since else { return };
    for (count, limit) in within.iter_mut().zip(GAP_LIMITS) {
        *count += u64::from(since <= limit);
    }
}

/// Adds a gap, in nanoseconds, to `gaps`. Returns true if it is within [`GATEWAY_WINDOW`]; without
/// a gap, false.
fn add_gap(gaps: &mut Counts, since: Option<Duration>) -> bool {
    if let Some(since) = since {
        gaps.add(since.as_nanos());
    }
    since.is_some_and(|since| since <= GATEWAY_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(requests: &[(u64, &str)]) -> SharingFindings {
        let mut watch = RequestWatch::default();
        for (seconds, client) in requests {
            let at = Instant::ZERO + Duration::from_secs(*seconds);
            watch.on_request(at, client.parse().unwrap());
        }
        watch.findings()
    }

    /// .1 asks at 0 and 100 s, its neighbour .2 at 200 and 700. The host has a gap of 100 s; the
    /// network has gaps of 100, 100 and 500 s, of which only the last is too long.
    #[test]
    fn neighbours_follow_each_other() {
        let found =
            watch(&[(0, "192.0.2.1"), (100, "192.0.2.1"), (200, "192.0.2.2"), (700, "192.0.2.2")]);
        assert_eq!((found.requests, found.soon_after_network, found.soon_after_host), (4, 2, 1));
        assert_eq!((found.since_network.count, found.since_host.count), (3, 2));
        assert_eq!(found.helped_share(), 0.5);
        let longest = found.since_network.quantile(1.0).unwrap();
        assert!((495.0..=505.0).contains(&longest), "{longest}");
    }

    /// Gaps of exactly 1 s, 300 s and 301 s: each limit includes a gap of its own length. The same
    /// host asks each time.
    #[test]
    fn gaps_are_counted_up_to_their_limits() {
        let found =
            watch(&[(0, "10.0.0.1"), (1, "10.0.0.1"), (301, "10.0.0.1"), (602, "10.0.0.1")]);
        assert_eq!(found.network_gaps_within, [1, 1, 1, 2, 3, 3, 3]);
        assert_eq!(found.host_gaps_within, found.network_gaps_within);
    }

    /// Three networks ask at 0, 100 and 200 s, the first again at 301 s. It sees one, two, three,
    /// and then again three networks in five minutes, because the first has just asked. At 450 s
    /// the second is gone.
    #[test]
    fn networks_are_counted_while_they_are_within_the_window() {
        let requests = [
            (0, "10.0.0.1"),
            (100, "10.0.1.1"),
            (200, "10.0.2.1"),
            (301, "10.0.0.9"),
            (450, "10.0.2.1"),
        ];
        let found = watch(&requests);
        let counts: Vec<_> = found.networks_within.steps.iter().map(|step| step.value).collect();
        assert_eq!(counts, [1.0, 2.0, 3.0]);
        // Among five requests, one saw one network, two saw two, and two saw three.
        assert_eq!(found.networks_within.quantile(0.2), Some(1.0));
        assert_eq!(found.networks_within.quantile(0.6), Some(2.0));
        assert_eq!(found.networks_within.quantile(0.61), Some(3.0));
    }

    /// A network that asks every half second is noted each second, and counts as one all the time.
    #[test]
    fn a_busy_network_is_one() {
        let mut watch = RequestWatch::default();
        for n in 0..2_000_u64 {
            let at = Instant::ZERO + Duration::from_millis(500 * n);
            watch.on_request(at, "2001:db8::1".parse().unwrap());
        }
        assert!(watch.noted.len() <= 301, "{}", watch.noted.len());
        assert_eq!(watch.findings().networks_within.quantile(1.0), Some(1.0));
    }
}
