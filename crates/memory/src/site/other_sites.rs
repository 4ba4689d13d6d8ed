//! Prior of a site that knows nothing of a network, by the estimates of other sites.
//!
//! A path from another city is another path: it has another round trip, and may share only the last
//! mile. So other sites answer as other networks do ([`super::answer`]): by a low quantile, without
//! a rate, and within a bound by their number. Windows are compared at the shortest round trip,
//! because a window is a rate times a round trip. An agent starts cold if its own round trip is
//! less than half of the answer's, or more than ten times as long.

use super::SiteConfig;
use super::answer::{LOW_QUANTILE, confidence, most_by_others};
use super::estimate::{EstimateSource, SiteEstimate};
use units::Duration;

/// Returns the estimate for a network of which only other sites know, by the estimates that each of
/// them has of this network. `None` without any that is of the network itself and has a round trip.
pub fn by_other_sites(config: &SiteConfig, others: &[SiteEstimate]) -> Option<SiteEstimate> {
    let measured = |other: &SiteEstimate| {
        let rtt = other.min_rtt.filter(|_| other.is_of_network())?;
        (rtt > Duration::ZERO).then_some((rtt, *other))
    };
    let mut known: Vec<(Duration, SiteEstimate)> = others.iter().filter_map(measured).collect();
    let (shortest, nearest) = *known.iter().min_by_key(|(rtt, _)| *rtt)?;
    let scaled = |(rtt, other): &(Duration, SiteEstimate)| {
        (other.window as f64 * shortest.as_secs_f64() / rtt.as_secs_f64()) as u64
    };
    known.sort_by_key(scaled);
    let carried = scaled(&known[(known.len() as f64 * LOW_QUANTILE) as usize]);
    let sites = known.len() as f64;
    let newest = known.iter().map(|(_, other)| other.age).min()?;
    Some(SiteEstimate {
        window: carried.min(most_by_others(sites, config)),
        rate: None,
        min_rtt: Some(shortest),
        confidence: confidence(sites),
        age: newest,
        samples: known.iter().map(|(_, other)| other.samples).sum(),
        reporters: known.iter().map(|(_, other)| other.reporters).sum(),
        network: nearest.network,
        source: EstimateSource::OtherSites,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn site(kilobytes: u64, rtt_ms: u64, source: EstimateSource) -> SiteEstimate {
        SiteEstimate {
            window: kilobytes * 1000,
            rate: Some(Rate::from_bps(1_000_000)),
            min_rtt: Some(Duration::from_millis(rtt_ms)),
            confidence: 0.9,
            age: Duration::from_secs(rtt_ms),
            samples: 3,
            reporters: 2,
            network: "192.0.2.0/24".parse().unwrap(),
            source,
        }
    }

    fn prior(others: &[SiteEstimate]) -> Option<SiteEstimate> {
        by_other_sites(&SiteConfig::default(), others)
    }

    #[test]
    fn the_lowest_of_few_sites_answers_at_the_shortest_round_trip() {
        let own = EstimateSource::Network;
        // At 20 ms the second one carries 60 · 20 / 80 = 15 kB, the third 20 kB.
        let others = [site(40, 20, own), site(60, 80, EstimateSource::Covering), site(60, 60, own)];
        let answer = prior(&others).unwrap();
        assert_eq!((answer.window, answer.rate), (15_000, None));
        assert_eq!(answer.min_rtt, Some(Duration::from_millis(20)));
        assert_eq!((answer.samples, answer.reporters), (9, 6));
        assert_eq!(answer.age, Duration::from_secs(20));
        assert_eq!(answer.source, EstimateSource::OtherSites);
        // 3 / (3 + 4).
        assert!((answer.confidence - 3.0 / 7.0).abs() < 1e-9);
    }

    /// One site allows 14,600 · 5/4 bytes, four sites twice 14,600, and any number 46,720. One of
    /// five sites may carry less than the answer.
    #[test]
    fn the_number_of_sites_bounds_the_window() {
        let all = |sites: usize| prior(&vec![site(900, 20, EstimateSource::Network); sites]);
        assert_eq!(all(1).unwrap().window, 18_250);
        assert_eq!(all(4).unwrap().window, 29_200);
        assert_eq!(all(40).unwrap().window, 46_720);
        let mut others = vec![site(900, 20, EstimateSource::Network); 4];
        others.push(site(3, 20, EstimateSource::Network));
        assert_eq!(prior(&others).unwrap().window, 32_850);
        assert_eq!(prior(&others[1..]).unwrap().window, 29_200);
        assert_eq!(prior(&others[2..]).unwrap().window, 3000);
    }

    #[test]
    fn what_other_sites_only_assume_is_no_answer() {
        let assumed =
            [EstimateSource::Neighbours, EstimateSource::Prior, EstimateSource::OtherSites];
        assert_eq!(prior(&assumed.map(|source| site(40, 20, source))), None);
        let unmeasured = SiteEstimate { min_rtt: None, ..site(40, 20, EstimateSource::Network) };
        assert_eq!(prior(&[unmeasured]), None);
        assert_eq!(prior(&[]), None);
    }
}
