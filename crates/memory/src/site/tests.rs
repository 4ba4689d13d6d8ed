//! Answers of a site's memory, computed by hand.

mod hosts;

use super::*;
use proptest::prelude::*;
use units::Rate;

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn memory() -> SiteMemory {
    SiteMemory::new(SiteConfig::default())
}

fn net(text: &str) -> IpNet {
    text.parse().unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A window of this number of kB that one host delivered, or that ended with a loss.
fn report(network: &str, reporter: u32, kilobytes: u64, bound: Bound) -> SiteReport {
    SiteReport {
        network: net(network),
        reporter: Reporter(reporter),
        window: kilobytes * 1000,
        rate: None,
        min_rtt: None,
        sent: 0,
        lost: 0,
        bound,
    }
}

#[test]
fn nothing_is_known_of_nothing() {
    assert_eq!(memory().estimate(at(1), ip("192.0.2.1"), None), None);
}

#[test]
fn a_window_that_came_through_is_a_lower_bound() {
    let mut site = memory();
    for second in 0..20 {
        site.report(at(second), &report("192.0.2.0/24", second as u32, 30, Bound::OwnStart));
    }
    let answer = site.estimate(at(20), ip("192.0.2.9"), None).unwrap();
    // The answer is at least the proven window, and at most twice that: the step of 30 kB ends at
    // 32 KiB.
    assert!((28_000..=65_536).contains(&answer.window), "{answer:?}");
    assert_eq!((answer.source, answer.network), (EstimateSource::Network, net("192.0.2.0/24")));
    assert_eq!((answer.samples, answer.reporters), (20, 20));
}

#[test]
fn losses_say_where_a_window_ends() {
    let mut site = memory();
    for second in 0..20 {
        let bound = if second % 2 == 0 { Bound::Loss } else { Bound::OwnStart };
        let kilobytes = if bound == Bound::Loss { 30 } else { 15 };
        site.report(at(second), &report("192.0.2.0/24", second as u32, kilobytes, bound));
    }
    // Every other host tried 30 kB, and lost; 15 kB were delivered. The queue limit lies anywhere
    // between, by ratio: 0.35 of connections deliver 15 kB * 2^0.65 = 23.5 kB. Codes are exact to
    // 4.4 %, a step of windows is 9 % wide.
    let answer = site.estimate(at(20), ip("192.0.2.9"), None).unwrap();
    assert!((21_400..24_600).contains(&answer.window), "{answer:?}");
}

#[test]
fn what_was_lost_of_a_window_was_not_carried() {
    let mut site = memory();
    for second in 0..10 {
        let lossy = SiteReport { sent: 30, lost: 10, ..report("192.0.2.0/24", 1, 30, Bound::Loss) };
        site.report(at(second), &lossy);
    }
    // No more than 7 of 30 segments count as lost: 23 kB, in a step that ends at 24.7.
    let answer = site.estimate(at(20), ip("192.0.2.9"), None).unwrap();
    assert!((22_000..24_800).contains(&answer.window), "{answer:?}");
}

#[test]
fn a_network_that_nobody_has_seen_is_answered_by_its_neighbours() {
    let mut site = memory();
    for third in 16..24 {
        let network = format!("10.1.{third}.0/24");
        site.report(at(0), &report(&network, third, 60, Bound::Loss));
    }
    let answer = site.estimate(at(1), ip("10.1.30.1"), None).unwrap();
    assert_eq!((answer.source, answer.network), (EstimateSource::Neighbours, net("10.1.16.0/20")));
    assert!((40_000..65_000).contains(&answer.window), "{answer:?}");
    // And far away the site's own kind of networks, with more caution.
    let far = site.estimate(at(1), ip("198.51.100.1"), None).unwrap();
    assert_eq!(far.source, EstimateSource::Prior);
    assert!((14_000..=answer.window).contains(&far.window), "{far:?}");
}

#[test]
fn halves_that_disagree_answer_each_for_itself() {
    let mut site = memory();
    for third in 0..8 {
        site.report(at(0), &report(&format!("10.1.{third}.0/24"), third, 20, Bound::Loss));
        let fast = format!("10.1.{}.0/24", 8 + third);
        site.report(at(0), &report(&fast, third, 400, Bound::Loss));
    }
    let [slow, fast] = ["10.1.6.9", "10.1.14.9"].map(|a| {
        // Its own samples are forgotten, also by what covers it, so that seven neighbours answer.
        site.forget(SiteForget::new(at(0), net(&format!("{a}/24"))));
        site.estimate(at(1), ip(a), None).unwrap()
    });
    assert_eq!([slow.network, fast.network], [net("10.1.0.0/21"), net("10.1.8.0/21")]);
    // Seven networks deserve 1 + 7 / 4 initial windows of 14,600 B.
    assert!(slow.window < 25_000 && fast.window == 40_150, "{slow:?} {fast:?}");
}

#[test]
fn rate_times_round_trip_bounds_the_window() {
    let mut site = memory();
    for second in 0..20 {
        // 8 Mbit/s over 100 ms are 100 kB; 150 kB were delivered, with 50 kB of queue. Once 300 kB
        // were.
        let kilobytes = if second == 10 { 300 } else { 150 };
        let report = SiteReport {
            rate: Some(Rate::from_mbps(8)),
            min_rtt: Some(Duration::from_millis(100)),
            ..report("192.0.2.0/24", second as u32, kilobytes, Bound::OwnStart)
        };
        site.report(at(second), &report);
    }
    let answer = site.estimate(at(20), ip("192.0.2.9"), None).unwrap();
    assert!((100_000..160_000).contains(&answer.window), "{answer:?}");
    // Nine and six per cent are the steps of rates and round trips.
    let rate = answer.rate.unwrap().as_bps();
    assert!((7_600_000..8_400_000).contains(&rate));
    assert!(answer.min_rtt.unwrap().as_millis().abs_diff(100) <= 3);
}

#[test]
fn an_answer_is_no_more_than_its_transfer_can_use() {
    let mut site = memory();
    (0..9).for_each(|s| site.report(at(s), &report("192.0.2.0/24", 1, 60, Bound::OwnStart)));
    let answer = site.estimate(at(9), ip("192.0.2.9"), Some(20_000)).unwrap();
    assert_eq!(answer.window, 20_000);
}

#[test]
fn samples_age_and_are_forgotten() {
    let mut site = memory();
    (0..9).for_each(|s| site.report(at(s), &report("192.0.2.0/24", 1, 60, Bound::OwnStart)));
    let confidence = |s: u64| site.estimate(at(s), ip("192.0.2.9"), None).map(|e| e.confidence);
    // Nine samples: 9 / 13. After a half-life half of their weight: 4.5 / 8.5.
    assert!((confidence(9).unwrap() - 9.0 / 13.0).abs() < 0.02);
    assert!((confidence(309).unwrap() - 4.5 / 8.5).abs() < 0.02);
    assert_eq!(confidence(13 * 3600), None);
}

#[test]
fn a_clock_that_went_back_makes_nothing_young() {
    let mut site = memory();
    let reports = report("192.0.2.0/24", 1, 60, Bound::OwnStart);
    site.report(at(1000), &reports);
    // A minute ahead is as good as now; more is no age at all.
    assert!(site.estimate(at(950), ip("192.0.2.9"), None).is_some());
    assert_eq!(site.estimate(at(900), ip("192.0.2.9"), None), None);
    // Only reports by the new clock count.
    site.report(at(900), &reports);
    assert_eq!(site.estimate(at(900), ip("192.0.2.9"), None).unwrap().samples, 1);
}

/// A host whose link was down for an hour reports earlier measurements. By then others have
/// reported the network.
#[test]
fn what_arrives_late_is_as_old_as_it_is_and_erases_nothing() {
    let mut site = memory();
    for host in 0..7 {
        site.report(at(5000), &report("192.0.2.0/24", host, 60, Bound::OwnStart));
    }
    let late = report("192.0.2.0/24", 9, 60, Bound::OwnStart);
    site.report_aged(at(5000), Duration::from_secs(3600), &late);
    let answer = site.estimate(at(5000), ip("192.0.2.9"), None).unwrap();
    assert_eq!((answer.samples, answer.age), (8, Duration::ZERO));
    // Twelve half-lives leave 1/4096 of the late one: 7.0002 / 11.0002.
    assert!((answer.confidence - 7.0 / 11.0).abs() < 0.001, "{answer:?}");
    // All eight slots are taken. An older sample gets none, and a younger one replaces the late
    // one.
    site.report_aged(at(5000), Duration::from_secs(4000), &late);
    assert_eq!(site.estimate(at(5000), ip("192.0.2.9"), None).unwrap().samples, 8);
    site.report_aged(at(5000), Duration::from_secs(60), &late);
    // A fifth of a half-life leaves 0.871: 7.871 / 11.871.
    let confidence = site.estimate(at(5000), ip("192.0.2.9"), None).unwrap().confidence;
    assert!((confidence - 7.871 / 11.871).abs() < 0.002, "{confidence}");
}

/// Eight hosts lose 8 kB at once, and two later transfers deliver them. After 100 s a weight of
/// 0.79 is left of each loss. The share of samples at risk in the step that met a loss is 8 * 0.79
/// / (8 * 0.79 + 2 + 1) = 0.68, and 0.32 is less than 0.35. Beside a third transfer they have a
/// twentieth: 0.32 / (0.32 + 3 + 1) = 0.07. So the answer is twice the delivered window, the end of
/// its step: 2 * 8,192 B.
#[test]
fn what_transfers_met_that_began_without_an_answer_counts_little_beside_three_others() {
    let site = |later: u32| {
        let mut site = memory();
        (0..8).for_each(|s| {
            site.report(at(s / 2), &report("192.0.2.0/24", s as u32, 8, Bound::Loss))
        });
        let reports = (0..later).map(|who| report("192.0.2.0/24", who, 8, Bound::OwnStart));
        reports.for_each(|reports| site.report(at(100), &reports));
        site.estimate(at(100), ip("192.0.2.9"), None).unwrap().window
    };
    assert!((7_512..=8_192).contains(&site(2)), "{}", site(2));
    assert_eq!(site(3), 16_384);
}

#[test]
fn a_network_is_forgotten_with_all_in_it() {
    let mut site = memory();
    for network in ["10.1.1.0/24", "10.1.2.0/24", "10.9.1.0/24"] {
        site.report(at(0), &report(network, 1, 60, Bound::OwnStart));
    }
    assert_eq!(site.forget(SiteForget::new(at(0), net("10.1.0.0/16"))), 2);
    let left: Vec<_> = site.networks().map(|one| one.network).collect();
    assert_eq!(left, [net("10.9.1.0/24")]);
}

/// Eight networks of one /21 have one report each. After one of them is forgotten, the prefixes
/// that cover it and the site have one sample less, and after all are, none.
#[test]
fn covering_prefixes_and_the_site_forget_the_samples_of_a_network() {
    let mut site = memory();
    for third in 0..8 {
        site.report(at(0), &report(&format!("10.1.{third}.0/24"), third, 60, Bound::Loss));
    }
    let kept = |site: &SiteMemory, network: &str| {
        let record = site.records().find(|record| record.network == net(network));
        record.map_or(0, |record| record.len())
    };
    assert_eq!(["10.1.0.0/21", "10.1.0.0/17", "0.0.0.0/0"].map(|one| kept(&site, one)), [8; 3]);
    let before = site.estimate(at(1), ip("10.1.200.1"), None).unwrap();
    assert_eq!((before.source, before.samples), (EstimateSource::Neighbours, 8));
    site.forget(SiteForget::new(at(0), net("10.1.3.0/24")));
    assert_eq!(["10.1.0.0/21", "10.1.0.0/17", "0.0.0.0/0"].map(|one| kept(&site, one)), [7; 3]);
    // A /24 of another half is not touched, and later reports of the network count again.
    site.forget(SiteForget::new(at(0), net("10.2.3.0/24")));
    site.report(at(2), &report("10.1.3.0/24", 3, 60, Bound::Loss));
    assert_eq!(kept(&site, "10.1.0.0/21"), 8);
    site.forget(SiteForget::new(at(2), net("10.1.0.0/21")));
    assert_eq!(["10.1.0.0/21", "10.1.0.0/17", "0.0.0.0/0"].map(|one| kept(&site, one)), [0; 3]);
    assert_eq!(site.estimate(at(3), ip("10.1.3.1"), None), None);
}

/// A network of IPv6 and one of IPv4 are forgotten by the site, whose samples are of both families.
#[test]
fn the_site_forgets_samples_of_both_families() {
    let mut site = memory();
    site.report(at(0), &report("2001:db8:1::/48", 1, 60, Bound::Loss));
    site.report(at(0), &report("192.0.2.0/24", 1, 60, Bound::Loss));
    let of_site =
        |site: &SiteMemory| site.records().any(|record| record.network == net("0.0.0.0/0"));
    assert!(of_site(&site));
    site.forget(SiteForget::new(at(0), net("2001:db8:1::/48")));
    // The /48 has 65,792 networks within, so all samples of the site may be of one of them.
    assert!(!of_site(&site) && site.records().any(|record| record.network == net("192.0.2.0/24")));
}

fn gateway(origin: u32) -> SiteMemory {
    SiteMemory::new(SiteConfig { origin, ..SiteConfig::default() })
}

/// A later record of a gateway that does not know of the request: four samples of before, one of
/// after.
#[test]
fn what_is_forgotten_does_not_come_back_with_what_others_tell_later() {
    let (mut busy, network) = (gateway(1), "192.0.2.0/24");
    let record = |busy: &SiteMemory| busy.records_of(net(network)).remove(0);
    (0..4).for_each(|s| busy.report(at(s), &report(network, 1, 60, Bound::OwnStart)));
    let before = record(&busy);
    busy.report(at(100), &report(network, 1, 60, Bound::OwnStart));
    let mut site = gateway(2);
    assert_eq!(site.forget(SiteForget::new(at(50), net("192.0.0.0/16"))), 0);
    assert!(!site.merge(&before));
    assert!(site.merge(&record(&busy)));
    let answer = site.estimate(at(100), ip("192.0.2.9"), None).unwrap();
    assert_eq!((answer.source, answer.samples), (EstimateSource::Network, 1));
    // Another one has been forgotten nothing of.
    let mut site = gateway(3);
    site.forget(SiteForget::new(at(50), net("192.1.0.0/16")));
    assert!(site.merge(&record(&busy)));
    assert_eq!(site.estimate(at(100), ip("192.0.2.9"), None).unwrap().samples, 5);
}

#[test]
fn what_was_measured_before_its_network_was_forgotten_does_not_count_when_it_arrives() {
    let mut site = memory();
    site.forget(SiteForget::new(at(50), net("192.0.2.0/24")));
    for (second, samples) in [(40, None), (50, Some(1)), (60, Some(2))] {
        site.report(at(second), &report("192.0.2.0/24", 1, 60, Bound::OwnStart));
        assert_eq!(site.estimate(at(60), ip("192.0.2.9"), None).map(|e| e.samples), samples);
    }
}

/// Sixty-three other gateways have slots. Samples count for an hour, which is 3352 steps of time.
#[test]
fn a_gateway_that_was_silent_for_long_gives_its_place_to_another() {
    let max_age = Duration::from_secs(3600);
    let mut site = SiteMemory::new(SiteConfig { max_age, ..SiteConfig::default() });
    let reports = |origin: u32, second: u64| {
        let mut other = gateway(origin);
        let network = format!("10.{origin}.0.0/24");
        other.report(at(second), &report(&network, 1, 60, Bound::OwnStart));
        other.records_of(net(&network)).remove(0)
    };
    for origin in 1..64 {
        assert!(site.merge(&reports(origin, u64::from(100 + 10 * origin))), "{origin}");
    }
    assert!(!site.merge(&reports(64, 3600)));
    assert_eq!(site.unplaced(), 1);
    // The first one is silent for more than an hour, the others are not.
    assert!(site.merge(&reports(64, 3715)));
    assert!(!site.merge(&reports(65, 3715)));
    let networks: Vec<_> = site.networks().map(|one| one.network).collect();
    assert_eq!(networks.len(), 63);
    assert!(networks.contains(&net("10.64.0.0/24")) && !networks.contains(&net("10.1.0.0/24")));
    // A gateway that has a slot keeps it.
    assert!(site.merge(&reports(2, 3716)));
}

#[test]
fn the_table_is_bounded_and_the_oldest_goes() {
    let config = SiteConfig { max_networks: 100, max_busy: 2, ..SiteConfig::default() };
    let mut site = SiteMemory::new(config);
    for i in 0..1000_u64 {
        let network = format!("10.{}.{}.0/24", i / 256, i % 256);
        site.report(at(2 * i), &report(&network, 1, 60, Bound::OwnStart));
        assert!(site.len() <= 102);
    }
    // The hand looks at sixteen: the newest entries of a hundred are safe.
    let newest = site.networks().filter(|one| one.network == net("10.3.231.0/24"));
    assert_eq!(newest.count(), 1);
}

/// A report of a /24 may be of any of its addresses, so the /24 and all that covers it lose its
/// samples when one address is forgotten. Another /24 keeps its samples.
#[test]
fn an_address_is_forgotten_with_the_networks_that_contain_it() {
    let mut site = memory();
    site.report(at(1), &report("192.0.2.0/24", 1, 100, Bound::OwnStart));
    site.report(at(1), &report("198.51.100.0/24", 1, 100, Bound::OwnStart));
    assert_eq!(site.forget(SiteForget::new(at(2), net("192.0.2.7/32"))), 1);
    let samples_of = |network: &str| {
        let of_it = site.records().filter(|record| record.network == net(network));
        of_it.map(|record| record.len()).sum::<usize>()
    };
    assert_eq!(
        ["192.0.2.0/24", "192.0.2.0/25", "192.0.0.0/21", "192.0.0.0/17"].map(samples_of),
        [0; 4]
    );
    assert_eq!(["198.51.100.0/24", "0.0.0.0/0"].map(samples_of), [1; 2]);
}

fn any_report() -> impl Strategy<Value = SiteReport> {
    let address = (0..4_u8, 0..40_u8, 0..3_u8);
    (address, 0..6_u32, 1..2000_u64, any::<bool>()).prop_map(|((b, c, length), who, kb, loss)| {
        let network = format!("10.{b}.{c}.0/{}", 16 + 4 * length);
        let bound = if loss { Bound::Loss } else { Bound::OwnStart };
        report(&network, who, kb, bound)
    })
}

fn sorted(site: &SiteMemory) -> Vec<SiteRecord> {
    let mut records: Vec<_> = site.records().collect();
    records.sort_by_key(|record| (record.network, record.origin));
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Two gateways' records may come in any order, and again: all end with the same.
    #[test]
    fn merging_commutes_and_repeats(
        one in prop::collection::vec(any_report(), 1..60),
        two in prop::collection::vec(any_report(), 1..60),
        later in prop::collection::vec(any_report(), 0..20),
    ) {
        let (mut first, mut second) = (gateway(1), gateway(2));
        one.iter().zip(1..).for_each(|(r, s)| first.report(at(s), r));
        two.iter().zip(1..).for_each(|(r, s)| second.report(at(s), r));
        let early = sorted(&first);
        later.iter().zip(100..).for_each(|(r, s)| first.report(at(s), r));
        let mut all = [early, sorted(&first), sorted(&second)].concat();
        let (mut forth, mut back) = (gateway(3), gateway(3));
        all.iter().for_each(|record| _ = forth.merge(record));
        all.reverse();
        all.iter().chain(&all).for_each(|record| _ = back.merge(record));
        prop_assert_eq!(sorted(&forth), sorted(&back));
        let asked = ip("10.1.1.1");
        prop_assert_eq!(
            forth.estimate(at(200), asked, None).map(|e| e.window),
            back.estimate(at(200), asked, None).map(|e| e.window)
        );
        // If only one gateway knows a network, another one with its records gives the same answer.
        let mut copy = gateway(9);
        sorted(&first).iter().for_each(|record| _ = copy.merge(record));
        prop_assert_eq!(copy.estimate(at(200), asked, None), first.estimate(at(200), asked, None));
    }

    /// The records of another gateway may come before or after its network is forgotten: the result
    /// is the same.
    #[test]
    fn forgetting_commutes_with_merging(
        reports in prop::collection::vec(any_report(), 1..60),
        until in 0..70_u64,
        length in 8..=24_u8,
    ) {
        let mut other = gateway(1);
        let mut all = Vec::new();
        for (report, second) in reports.iter().zip(1..) {
            other.report(at(second), report);
            all.extend(other.records_of(report.network));
        }
        let forget = SiteForget::new(at(until), net(&format!("10.1.0.0/{length}")).trunc());
        let (mut before, mut after) = (gateway(2), gateway(2));
        before.forget(forget);
        all.iter().for_each(|record| _ = before.merge(record));
        all.iter().for_each(|record| _ = after.merge(record));
        after.forget(forget);
        prop_assert_eq!(sorted(&before), sorted(&after));
        // Nothing of before is left of networks within it, nor with what covers them.
        let labels = Prefix::of_any(forget.network).labels();
        for record in sorted(&after) {
            if forget.network.contains(&record.network) {
                prop_assert!(record.newest_at > forget.at, "{:?}", record);
            }
            let prefix = Prefix::of_record(record.network).unwrap();
            if !prefix.is_network() && prefix.covers(Prefix::of_any(forget.network)) {
                let newest_at = Tick(record.newest_at);
                let samples = record.samples.as_chunks::<7>().0.iter();
                let mut samples = samples.map(|one| KeptSample::from_bytes(*one));
                let is_left = |one: KeptSample| {
                    labels.has(one.label) && one.is_until(Tick(forget.at), newest_at)
                };
                prop_assert!(!samples.any(is_left));
            }
        }
    }

    /// All reports lead to answers with windows and confidences in range, and nothing panics.
    #[test]
    fn answers_are_in_range(
        reports in prop::collection::vec((any_report(), 0..100_000_u64, 0..100_000_u64), 0..200),
        asked: u32,
        when in 0..200_000_u64,
    ) {
        let mut site = SiteMemory::new(SiteConfig { max_networks: 20, ..SiteConfig::default() });
        for (report, second, age) in &reports {
            site.report_aged(at(*second), Duration::from_secs(*age), report);
        }
        let asked = IpAddr::from((asked % (1 << 18) + (10 << 24)).to_be_bytes());
        if let Some(answer) = site.estimate(at(when), asked, None) {
            prop_assert!(answer.window >= 1024 && answer.window < 62_000_000);
            prop_assert!((0.0..=1.0).contains(&answer.confidence));
            prop_assert!(answer.network.contains(&asked) || answer.source == EstimateSource::Prior);
        }
    }
}
