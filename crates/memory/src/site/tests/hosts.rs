//! Limits of the influence of one host, or one network.

use super::*;

/// Each network weighs as one sample, so n of them have a confidence of n / (n + 4), which has to
/// be a half. They allow 1 + n / 4 initial windows of 14,600 B, and no more than 32 segments of
/// 1460 B. Their rates are not this network's.
#[test]
fn too_few_networks_do_not_answer_for_another_and_more_deserve_more() {
    let answer = |networks: u32, reports: u32| {
        let mut site = memory();
        for third in 0..networks {
            let rate = Some(Rate::from_mbps(50));
            let seen = report(&format!("10.1.{third}.0/24"), 1, 1000, Bound::OwnStart);
            let seen = SiteReport { rate, ..seen };
            (0..reports).for_each(|_| site.report(at(0), &seen));
        }
        let found = site.estimate(at(1), ip("10.1.15.1"), None)?;
        assert_eq!((found.source, found.rate), (EstimateSource::Neighbours, None));
        Some((found.window, found.confidence))
    };
    assert_eq!(answer(1, 1), None);
    assert_eq!(answer(3, 50), None);
    assert_eq!(answer(4, 1), Some((29_200, 0.5)));
    // Fifty parts of a sample make one but for rounding.
    let (window, confidence) = answer(12, 50).unwrap();
    assert!(window == 46_720 && (confidence - 0.75).abs() < 1e-9);
    let (window, _) = answer(8, 50).unwrap();
    assert!(window.abs_diff(43_800) <= 1);
}

/// One network of the same /20 is too few, and eight more of the same /16 are enough.
#[test]
fn the_longest_prefix_with_enough_networks_answers() {
    let mut site = memory();
    for third in (0..1).chain(128..136) {
        site.report(at(0), &report(&format!("10.1.{third}.0/24"), 1, 60, Bound::OwnStart));
    }
    let answer = site.estimate(at(1), ip("10.1.15.1"), None).unwrap();
    assert_eq!((answer.source, answer.network), (EstimateSource::Neighbours, net("10.1.0.0/16")));
}

/// Two of eight networks carry 10 kB, a quarter, which the answer has to allow for.
#[test]
fn what_a_quarter_of_the_neighbours_does_not_carry_is_not_answered() {
    let mut site = memory();
    for third in 0..8 {
        let kilobytes = if third < 2 { 10 } else { 1000 };
        site.report(at(0), &report(&format!("10.1.{third}.0/24"), 1, kilobytes, Bound::OwnStart));
    }
    let answer = site.estimate(at(1), ip("10.1.15.1"), None).unwrap();
    assert!((9_800..10_200).contains(&answer.window), "{answer:?}");
}

/// At a site of several hosts, networks answer for another one without any one of the hosts, too.
#[test]
fn one_host_alone_does_not_say_what_the_neighbours_carry() {
    let mut site = memory();
    let asked = |site: &SiteMemory| site.estimate(at(1), ip("10.1.15.1"), None);
    for third in 0..11 {
        for network in [format!("10.1.{third}.0/24"), format!("10.1.{third}.64/28")] {
            site.report(at(0), &report(&network, 77, 60_000, Bound::OwnStart));
        }
    }
    assert!(asked(&site).is_some(), "the site's only host is believed");
    for third in 11..15 {
        let honest = report(&format!("10.1.{third}.0/24"), 1, 12, Bound::OwnStart);
        assert_eq!(
            asked(&site).is_none(),
            third > 11,
            "three networks of the other host are too few"
        );
        site.report(at(0), &honest);
    }
    // However many networks the first host reports, it weighs as three samples beside four. 7 / (7
    // + 4) = 0.64.
    let answer = asked(&site).unwrap();
    assert!((11_700..12_400).contains(&answer.window), "{answer:?}");
    assert!((answer.confidence - 0.64).abs() < 0.01, "{answer:?}");
}

/// A small transfer without loss says less than eight neighbours. A loss says more than they do.
#[test]
fn neighbours_answer_beside_few_samples_without_loss() {
    let answer = |bound| {
        let mut site = memory();
        for third in 0..8 {
            site.report(at(0), &report(&format!("10.1.{third}.0/24"), 1, 60, Bound::OwnStart));
        }
        site.report(at(0), &report("10.1.15.0/24", 1, 8, bound));
        site.estimate(at(1), ip("10.1.15.1"), None).unwrap()
    };
    let (whole, lost) = (answer(Bound::Over), answer(Bound::Loss));
    assert_eq!((whole.source, whole.window), (EstimateSource::Covering, 43_800));
    assert_eq!(lost.source, EstimateSource::Network);
    assert!(lost.window < 17_500, "{lost:?}");
}

/// With two hosts the answer is at most one and a half times the lower one of theirs, whichever has
/// more samples, or younger ones. With a third host, two have to report more.
#[test]
fn no_host_alone_raises_an_answer_by_more_than_half() {
    let add_sample = |site: &mut SiteMemory, second, host, kilobytes| {
        site.report(at(second), &report("192.0.2.0/24", host, kilobytes, Bound::OwnStart));
    };
    let window = |site: &SiteMemory| site.estimate(at(2000), ip("192.0.2.9"), None).unwrap().window;
    let mut site = memory();
    (0..4).for_each(|second| add_sample(&mut site, second, 1, 30));
    let honest = window(&site);
    (0..1000).for_each(|n| add_sample(&mut site, 1000 + n, 77, 60_000));
    assert!((honest..=honest * 3 / 2).contains(&window(&site)), "{honest} {}", window(&site));
    (0..4).for_each(|n| add_sample(&mut site, 1990 + n, 2, 30));
    assert!(window(&site) <= honest * 3 / 2, "{}", window(&site));
    (0..8).for_each(|n| add_sample(&mut site, 1992 + n, 1 + n as u32 % 2, 240));
    assert!(window(&site) > honest * 4, "{}", window(&site));
}

/// The longest prefix answers, and one host may report a longer one than the others.
#[test]
fn a_longer_prefix_of_one_host_raises_no_more() {
    let mut site = memory();
    (0..5).for_each(|s| site.report(at(s), &report("192.0.2.0/24", 1, 30, Bound::OwnStart)));
    let honest = site.estimate(at(9), ip("192.0.2.1"), None).unwrap();
    (0..5).for_each(|s| site.report(at(s), &report("192.0.2.0/28", 77, 60_000, Bound::OwnStart)));
    let answer = site.estimate(at(9), ip("192.0.2.1"), None).unwrap();
    assert_eq!(answer.window, honest.window * 3 / 2);
}

/// A host that reports without end takes all slots while it is alone. Others' earlier measurements
/// get four of eight.
#[test]
fn samples_of_others_get_their_places_however_old_they_are() {
    let mut site = memory();
    for second in 0..100 {
        site.report(at(2000 + second), &report("192.0.2.0/24", 77, 900, Bound::OwnStart));
    }
    for host in 0..8 {
        let old = report("192.0.2.0/24", host, 60, Bound::OwnStart);
        site.report_aged(at(2100), Duration::from_secs(600), &old);
    }
    assert_eq!(site.estimate(at(2100), ip("192.0.2.9"), None).unwrap().reporters, 9);
}

/// Forty windows of each of `hosts` honest hosts, 20 to 28 kB, half of them ended by a loss.
fn reported_by(hosts: u32, share: f64) -> SiteMemory {
    let mut site = SiteMemory::new(SiteConfig { share, ..SiteConfig::default() });
    for n in 0..40 {
        for host in 0..hosts {
            let bound = if (n + host) % 2 == 0 { Bound::Loss } else { Bound::OwnStart };
            let kilobytes = u64::from(20 + (3 * n + host) % 9);
            site.report(at(n.into()), &report("192.0.2.0/24", host, kilobytes, bound));
        }
    }
    site
}

/// The bound that `SiteConfig::reporter_share` states: one host among three or more weighs a
/// quarter of all at most. Without its samples the answer would be one for a share of connections
/// between (s - 1/4) / (3/4) and s / (3/4), for a wanted share s. These are (0.6 - 0.25) / 0.75 =
/// 0.467 and 0.6 / 0.75 = 0.8.
#[test]
fn ten_million_forged_reports_of_one_host_stay_within_the_bound() {
    let asked = ip("192.0.2.9");
    let window = |site: &SiteMemory| site.estimate(at(60), asked, None).unwrap().window;
    for (kilobytes, bound) in [(1, Bound::Loss), (60_000, Bound::OwnStart)] {
        let mut site = reported_by(3, 0.6);
        for n in 0..5_000_000_u64 {
            site.report(at(40 + n / 250_000), &report("192.0.2.0/24", 77, kilobytes, bound));
        }
        let forged = window(&site);
        let (least, most) = (window(&reported_by(3, 0.8)), window(&reported_by(3, 0.467)));
        // A step of the survival function, 9 %, is what rounding may add.
        let (least, most) = (least * 91 / 100, most * 109 / 100);
        assert!((least..=most).contains(&forged), "{least} {forged} {most}");
    }
}

/// Losses of many segments count twice, so they use up a host's weight twice as fast. With a sixth
/// of the others' weight, a seventh of all, they take 2/7 of the share. Six sevenths of all are
/// left to the others, for a share of 1 - (1 - 0.6 - 2/7) / (6/7) = 0.867.
#[test]
fn forged_losses_of_many_segments_stay_within_the_bound() {
    let window = |site: &SiteMemory| site.estimate(at(60), ip("192.0.2.9"), None).unwrap().window;
    let mut site = reported_by(3, 0.6);
    let forged = report("192.0.2.0/24", 77, 1, Bound::Loss);
    for n in 0..1000 {
        site.report(at(40 + n / 50), &SiteReport { sent: 30, lost: 30, ..forged });
    }
    let (least, most) = (window(&reported_by(3, 0.867)), window(&reported_by(3, 0.6)));
    let answer = window(&site);
    assert!((least * 91 / 100..=most).contains(&answer), "{least} {answer} {most}");
}
