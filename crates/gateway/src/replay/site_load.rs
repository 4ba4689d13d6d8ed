//! A synthetic load like that of a busy site, for benchmarks: clients and times of requests.
//! MSNBC's log of August 1999 has 10,688,728 requests in nine hours. Its clients were in 106,669
//! networks with names, and 15,000 to 25,000 networks in five minutes (Zhang, Qiu & Keshav 2000
//! §5.2).
//!
//! Networks differ in how busy they are: of m networks the n-th busiest has a share of 1 / (n ln
//! m), Zipf's law. With 330 requests per second over 106,669 networks that makes about 25,000
//! networks in five minutes; the test gives the exact value.

use gateway_proto::v1::{Bound, Network, Report};
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant};

/// Requests per second of the paper's log.
const REQUESTS_PER_S: f64 = 10_688_728.0 / 32_400.0;
/// Number of networks in the paper's log.
const NETWORKS: f64 = 106_669.0;
/// Number of networks that have addresses of visitors: 1.0.0.0/24 to 223.255.255.0/24.
const MAX_NETWORKS: f64 = 14_614_528.0;
const FIRST_NETWORK: u32 = 1 << 24;

/// Endless requests, in the order of their times.
#[derive(Clone, Debug)]
pub struct SiteLoad {
    random: Pcg32,
    at: f64,
    begin: Instant,
    requests_per_s: f64,
    networks: f64,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadRequest {
    /// Time of the request.
    pub at: Instant,
    /// The client.
    pub client: IpAddr,
}

/// Returns an agent's report of a connection that met a loss at a window of 100,000 bytes; it is
/// the same for all networks.
pub fn report_of(network: Network) -> Report {
    Report {
        network: Some(network),
        window: 100_000,
        rate: 20_000_000,
        min_rtt_us: 80_000,
        sent: 100,
        lost: 1,
        bound: Bound::Loss.into(),
        ..Report::default()
    }
}

impl SiteLoad {
    /// Creates the paper's load from `begin` on, scaled by `times` in requests and networks (as far
    /// as IPv4 has them).
    pub fn new(seed: u64, begin: Instant, times: f64) -> Self {
        Self {
            random: Pcg32::new(seed, 0xda3e_39cb_94b9_5bdb),
            at: 0.0,
            begin,
            requests_per_s: REQUESTS_PER_S * times,
            networks: (NETWORKS * times).clamp(2.0, MAX_NETWORKS),
        }
    }

    /// Returns the load with this number of requests per second, and the same networks.
    #[must_use]
    pub fn at_rate(self, requests_per_s: f64) -> Self {
        Self { requests_per_s, ..self }
    }

    /// Returns a random number in `[0, 1)`.
    fn draw(&mut self) -> f64 {
        f64::from(self.random.next_u32()) / (f64::from(u32::MAX) + 1.0)
    }
}

impl Iterator for SiteLoad {
    type Item = LoadRequest;

    fn next(&mut self) -> Option<LoadRequest> {
        // Requests of many clients are independent, so times between them are exponential.
        self.at -= (1.0 - self.draw()).ln() / self.requests_per_s;
        // Zipf's law by its inverse: the rank grows as a power of the share of requests.
        let rank = self.networks.powf(self.draw()) as u32;
        // Ranks are spread over all networks: busy ones are no neighbours. The factor is odd, so no
        // two ranks collide.
        let place = u64::from(rank).wrapping_mul(0x9E37_79B1) % MAX_NETWORKS as u64;
        let host = self.random.next_u32() % 254 + 1;
        let address = FIRST_NETWORK + ((place as u32) << 8) + host;
        let at = self.begin + Duration::from_secs_f64(self.at);
        Some(LoadRequest { at, client: Ipv4Addr::from_bits(address).into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ipnet::IpNet;
    use rustc_hash::FxHashSet;

    /// By Zipf's law with c = 330 * 300 / ln 106,669 = 8,550 the networks in five minutes are the
    /// sum of 1 - exp(-c / n). Within one per cent that is c (ln(106,669 / c) + 1 - 0.577) + c² /
    /// (2 * 106,669) = 8,550 * 2.947 + 343 = 25,500.
    #[test]
    fn a_site_like_the_papers_sees_25_000_networks_in_five_minutes() {
        let requests: Vec<_> = SiteLoad::new(1, Instant::ZERO, 1.0)
            .take_while(|request| request.at < Instant::ZERO + Duration::from_secs(300))
            .collect();
        let count = requests.len() as f64;
        assert!((count / (300.0 * REQUESTS_PER_S) - 1.0).abs() < 0.02, "{count}");
        let network = |request: &LoadRequest| IpNet::new(request.client, 24).unwrap().trunc();
        let networks: FxHashSet<_> = requests.iter().map(network).collect();
        assert!((24_700..=26_300).contains(&networks.len()), "{}", networks.len());
    }

    /// A thousand requests per second take a second, within 6 / √1000 = 19 %.
    #[test]
    fn a_load_has_the_rate_that_is_asked_for() {
        let mut load = SiteLoad::new(1, Instant::ZERO, 1.0).at_rate(1000.0);
        let last = load.nth(999).unwrap().at.as_secs_f64();
        assert!((0.81..1.19).contains(&last), "{last}");
    }
}
