//! Answers of the two memories, worked out by hand, and that both stay bounded.

use memory::{
    CacheConfig, Gateway, GatewayConfig, GatewayReport, HalfLife, HostCache, PathMemory, PathState,
    Remembered, Sample, Scope,
};
use proptest::prelude::*;
use std::net::IpAddr;
use units::{Duration, Instant};

fn at(s: u64) -> Instant {
    Instant::from_nanos(s * 1_000_000_000)
}

fn remote(c: u8, d: u8) -> IpAddr {
    IpAddr::from([192, 0, c, d])
}

fn report(share: u64, rtt_ms: u64) -> Sample {
    Sample::Report(GatewayReport { share, rtt: Some(Duration::from_millis(rtt_ms)) })
}

fn ended(cwnd: u64) -> PathState {
    PathState {
        cwnd,
        ssthresh: Some(8_000),
        srtt: Duration::from_millis(100),
        rttvar: Duration::from_millis(10),
        min_rtt: Some(Duration::from_millis(90)),
        mss: 1000,
        rate: None,
        early_data: true,
    }
}

#[test]
fn the_gateway_answers_with_the_averages_of_a_network() {
    let mut gateway = Gateway::new(GatewayConfig::default());
    assert_eq!(gateway.recall(at(0), remote(2, 1)), None);
    gateway.record(at(0), remote(2, 1), &report(10_000, 100));
    gateway.record(at(60), remote(2, 9), &report(21_000, 120));
    // (10,000 + 21,000) / 2 and (100 + 120) / 2 ms; the newer is 30 s old; RFC 6298's R/2.
    let expected = Remembered {
        cwnd: 15_500,
        srtt: Duration::from_millis(110),
        rttvar: Duration::from_millis(55),
        age: Duration::from_secs(30),
        share: Some(15_500),
        ..Remembered::default()
    };
    assert_eq!(gateway.recall(at(90), remote(2, 200)), Some(expected));
    assert_eq!(gateway.recall(at(90), remote(3, 1)), None, "another network");
    // At 330 s the first sample is gone.
    assert_eq!(gateway.recall(at(330), remote(2, 1)).unwrap().share, Some(21_000));
    assert_eq!(gateway.recall(at(361), remote(2, 1)), None);
    assert!(gateway.is_empty(), "a destination of which nothing is left is forgotten");
}

#[test]
fn by_host_neighbours_know_nothing_of_each_other() {
    let mut gateway =
        Gateway::new(GatewayConfig { scope: Scope::Host, ..GatewayConfig::default() });
    gateway.record(at(0), remote(2, 1), &report(10_000, 100));
    assert!(gateway.recall(at(1), remote(2, 1)).is_some());
    assert_eq!(gateway.recall(at(1), remote(2, 2)), None);
}

#[test]
fn not_enough_is_an_answer() {
    let mut gateway = Gateway::new(GatewayConfig { enough: 3, ..GatewayConfig::default() });
    for s in 0..2 {
        gateway.record(at(s), remote(2, 1), &report(10_000, 100));
        assert_eq!(gateway.recall(at(s), remote(2, 1)), None, "{} samples", s + 1);
    }
    gateway.record(at(2), remote(2, 1), &report(40_000, 100));
    assert_eq!(gateway.recall(at(2), remote(2, 1)).unwrap().share, Some(20_000));
    let share_alone = Sample::Report(GatewayReport { share: 10_000, rtt: None });
    let mut gateway = Gateway::new(GatewayConfig::default());
    gateway.record(at(0), remote(2, 1), &share_alone);
    assert_eq!(gateway.recall(at(0), remote(2, 1)), None, "nothing to pace by");
}

#[test]
fn an_old_share_decays_where_that_is_wanted() {
    let decay = Some(Duration::from_secs(60));
    let mut gateway = Gateway::new(GatewayConfig { decay, ..GatewayConfig::default() });
    gateway.record(at(0), remote(2, 1), &report(16_000, 100));
    let mut share = |s| gateway.recall(at(s), remote(2, 1)).and_then(|known| known.share);
    // In the window until 300 s; then halved every 60 s; 16,000 < 2^14, so nothing is left of it
    // 14 halvings later, at 1140 s.
    assert_eq!(share(300), Some(16_000));
    assert_eq!(share(360), Some(8_000));
    assert_eq!(share(420), Some(4_000));
    assert_eq!(share(1140), None);
    assert!(gateway.is_empty());
}

#[test]
fn a_host_remembers_how_its_last_path_ended() {
    let half_life = HalfLife::RoundTrips(600);
    let mut cache = HostCache::new(CacheConfig { half_life, ..CacheConfig::default() });
    assert_eq!(cache.recall(at(0), remote(2, 1)), None);
    cache.record(at(0), remote(2, 1), &Sample::Ended(ended(99_000)));
    cache.record(at(10), remote(2, 1), &Sample::Ended(ended(32_000)));
    let known = cache.recall(at(10), remote(2, 1)).unwrap();
    let expected = Remembered {
        cwnd: 32_000,
        ssthresh: Some(8_000),
        srtt: Duration::from_millis(100),
        rttvar: Duration::from_millis(10),
        min_rtt: Some(Duration::from_millis(90)),
        age: Duration::ZERO,
        share: None,
        mss: Some(1000),
        rate: None,
        early_data: true,
    };
    assert_eq!(known, expected);
    // 600 round trips of 100 ms: half of the window a minute; the rest stays as it was.
    let later = cache.recall(at(130), remote(2, 1)).unwrap();
    assert_eq!(later, Remembered { cwnd: 8_000, age: Duration::from_secs(120), ..expected });
    assert_eq!(cache.recall(at(10), remote(2, 2)), None, "another host");
}

#[test]
fn unaged_a_window_is_what_it_was() {
    let half_life = HalfLife::Never;
    let mut cache = HostCache::new(CacheConfig { half_life, ..CacheConfig::default() });
    cache.record(at(0), remote(2, 1), &Sample::Ended(ended(32_000)));
    assert_eq!(cache.recall(at(100_000), remote(2, 1)).unwrap().cwnd, 32_000);
}

#[test]
fn a_path_that_measured_nothing_replaces_nothing() {
    let half_life = HalfLife::Never;
    let mut cache = HostCache::new(CacheConfig { half_life, ..CacheConfig::default() });
    cache.record(at(0), remote(2, 1), &Sample::Ended(ended(32_000)));
    let unmeasured = PathState { srtt: Duration::ZERO, ..ended(1_000) };
    cache.record(at(1), remote(2, 1), &Sample::Ended(unmeasured));
    assert_eq!(cache.recall(at(1), remote(2, 1)).unwrap().cwnd, 32_000);
}

#[test]
fn what_a_clock_that_went_back_has_left_in_the_future_is_forgotten() {
    let mut cache = HostCache::new(CacheConfig::default());
    cache.record(at(1000), remote(2, 1), &Sample::Ended(ended(32_000)));
    assert_eq!(cache.recall(at(999), remote(2, 1)), None);
    assert!(cache.is_empty());
    let decay = Some(Duration::from_secs(60));
    let mut gateway = Gateway::new(GatewayConfig { decay, ..GatewayConfig::default() });
    gateway.record(at(1000), remote(2, 1), &report(16_000, 100));
    assert_eq!(gateway.recall(at(999), remote(2, 1)), None);
    assert!(gateway.is_empty());
}

#[test]
fn whoever_was_not_heard_of_for_longest_is_forgotten_first() {
    let config = CacheConfig { max_destinations: 2, ..CacheConfig::default() };
    let mut cache = HostCache::new(config);
    for host in [1, 2] {
        cache.record(at(0), remote(2, host), &Sample::Ended(ended(32_000)));
    }
    assert!(cache.recall(at(1), remote(2, 1)).is_some(), "asked for: younger than 2 now");
    cache.record(at(2), remote(2, 3), &Sample::Ended(ended(32_000)));
    assert!(cache.recall(at(3), remote(2, 1)).is_some());
    assert!(cache.recall(at(3), remote(2, 2)).is_none());
    assert!(cache.recall(at(3), remote(2, 3)).is_some());
}

proptest! {
    #[test]
    fn both_stay_bounded_and_repeat(
        steps in prop::collection::vec((0..1000_u64, any::<u8>(), any::<u8>(), any::<u64>()), 1..300),
        max_destinations in 1..20_usize,
    ) {
        let run = || {
            let config = GatewayConfig { max_destinations, max_samples: 4, ..GatewayConfig::default() };
            let mut gateway = Gateway::new(config);
            let mut cache = HostCache::new(CacheConfig { max_destinations, ..CacheConfig::default() });
            let mut answers = Vec::new();
            for (s, c, d, share) in &steps {
                let remote = remote(*c, *d);
                gateway.record(at(*s), remote, &report(*share, 100));
                cache.record(at(*s), remote, &Sample::Ended(ended(*share)));
                answers.push((gateway.recall(at(*s), remote), cache.recall(at(*s), remote)));
                assert!(gateway.len() <= max_destinations && cache.len() <= max_destinations);
                let (shares, rtts) = gateway.averages(at(*s), remote);
                assert!(shares.is_some_and(|a| a.count <= 4) && rtts.is_some_and(|a| a.count <= 4));
            }
            (answers, gateway.destinations())
        };
        prop_assert_eq!(run(), run());
    }
}

/// RFC 9959 §3.2: only one connection uses a set of parameters; the next sample makes another set.
#[test]
fn what_a_host_remembers_one_connection_may_use_alone() {
    let (mut cache, to) = (HostCache::new(CacheConfig::default()), remote(2, 1));
    assert!(cache.sole_use(to).is_none());
    let mut take_twice = |now| {
        cache.record(now, to, &Sample::Ended(ended(50_000)));
        [cache.sole_use(to), cache.sole_use(to)].map(|one| one.unwrap().take())
    };
    assert_eq!([take_twice(at(0)), take_twice(at(1))], [[true, false]; 2]);
}
