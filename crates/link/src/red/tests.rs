use super::*;
use crate::{Discipline, QueueLimit, Thresholds};
use units::Rate;

/// 1 ms per packet of the mean size, thresholds of 5 and 15 packets.
fn red(change: impl Fn(&mut RedConfig)) -> Red {
    let thresholds = Thresholds::Packets { min: 5.0, max: 15.0 };
    let mut config = RedConfig { thresholds, ..RedConfig::default() };
    change(&mut config);
    let link = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, QueueLimit::Unlimited)
        .and_then(|link| link.with_discipline(Discipline::Red(config)))
        .unwrap();
    Red::new(&config, &link, Pcg32::new(11, 1))
}

fn waiting(packets: u32) -> RedArrival {
    let waiting = Occupancy { packets, bytes: u64::from(packets) * 1000 };
    RedArrival { now: Instant::ZERO, idle_since: None, waiting }
}

fn packet(ecn_capable: bool) -> PacketInfo {
    PacketInfo { ecn_capable, ..PacketInfo::plain(1000) }
}

/// RED after enough packets at a constant queue of `packets` that its average is that queue: the
/// share of the first average is below 0.98^2000, or 3e-18.
fn settled(red: &mut Red, packets: u32) {
    for _ in 0..2000 {
        red.decide_fate(&waiting(packets), &packet(true));
    }
    assert!((red.average() - f64::from(packets)).abs() < 1e-9);
}

/// Gaps between strikes at a constant queue.
fn gaps(mut red: Red, packets: u32, strikes: usize) -> Vec<usize> {
    settled(&mut red, packets);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    while gaps.len() <= strikes {
        gap += 1;
        if red.decide_fate(&waiting(packets), &packet(true)) == Judgement::Mark {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    gaps.split_off(1)
}

/// Every gap from `least` to `most` comes as often as the others. Each count is a binomial with
/// mean `n / k` and standard deviation below its root; the bound is five of them for about twenty
/// classes.
fn assert_even(gaps: &[usize], least: usize, most: usize) {
    assert!(gaps.iter().all(|gap| (least..=most).contains(gap)));
    let mean = gaps.len() as f64 / (most - least + 1) as f64;
    for wanted in least..=most {
        let count = gaps.iter().filter(|gap| **gap == wanted).count() as f64;
        assert!((count - mean).abs() < 5.0 * mean.sqrt(), "{wanted}: {count}, not {mean}");
    }
}

/// Halfway between the thresholds pb is half of max_p, 1/20: the n-th packet is struck with
/// 1/(20 - n), which makes gaps even from 1 to 19. With `wait`, and pb 1/19.5 so that no product is
/// exactly one, none is below 20: with 1/(39 - n) from there on, even from 20 to 38.
#[test]
fn gaps_between_strikes_are_even() {
    assert_even(&gaps(red(|_| ()), 10, 20_000), 1, 19);
    let wait = red(|red| (red.wait, red.max_p) = (true, 2.0 / 19.5));
    assert_even(&gaps(wait, 10, 20_000), 20, 38);
}

/// A RED whose average is the present queue.
fn prompt(change: impl Fn(&mut RedConfig)) -> Red {
    red(|red| {
        red.weight = 1.0;
        change(red);
    })
}

/// With pb 1/4 exactly the fourth packet is the first that may be struck: 1/p packets lie between
/// two strikes at least, even up to the seventh (ns-2's `wait_`).
#[test]
fn with_wait_the_packet_of_one_over_p_may_be_struck() {
    let red = prompt(|red| (red.wait, red.max_p) = (true, 0.5));
    assert_even(&gaps(red, 10, 20_000), 4, 7);
}

/// Figure 2 of the paper: below the minimum `count` is -1, so the first packet above it counts
/// nothing. The first gap is even from 1 to 1/pb, one more than those between strikes.
#[test]
fn the_first_packet_above_the_minimum_counts_nothing() {
    let mut red = prompt(|_| ());
    let mut first_gap = || {
        red.decide_fate(&waiting(0), &packet(true));
        (1..).find(|_| red.decide_fate(&waiting(10), &packet(true)) == Judgement::Mark).unwrap_or(0)
    };
    let gaps: Vec<usize> = (0..20_000).map(|_| first_gap()).collect();
    assert_even(&gaps, 1, 20);
}

/// At the minimum itself pb is 0, and packets count. After 20 of them the next one with pb 1/20 is
/// struck for certain. A packet that finds no room was a strike, after which they count from
/// nothing: one of 20 is struck then.
#[test]
fn packets_at_the_minimum_count_and_an_overflow_is_a_strike() {
    let struck = |overflows: bool| {
        let mut red = prompt(|_| ());
        let mut strikes = 0;
        for _ in 0..400 {
            red.decide_fate(&waiting(0), &packet(true));
            for _ in 0..20 {
                assert_eq!(red.decide_fate(&waiting(5), &packet(true)), Judgement::Take);
            }
            if overflows {
                red.on_overflow();
            }
            strikes += u32::from(red.decide_fate(&waiting(10), &packet(true)) == Judgement::Mark);
        }
        strikes
    };
    assert_eq!(struck(false), 400);
    // 20 are expected, with a standard deviation of 4.4.
    assert!(struck(true) < 40, "{}", struck(true));
}

/// From the maximum on every packet is struck, and not marked if marks end there. With `gentle`
/// this is so from twice the maximum on, also for the small ones that thresholds in bytes strike
/// less.
#[test]
fn at_the_maximum_itself_all_are_struck() {
    let all = |red: &mut Red, queue, bytes, wanted| {
        let info = PacketInfo { bytes, ..packet(true) };
        (0..200).all(|_| red.decide_fate(&waiting(queue), &info) == wanted)
    };
    assert!(all(&mut prompt(|_| ()), 15, 1000, Judgement::Mark));
    assert!(all(&mut prompt(|red| red.mark_above_max = false), 15, 1000, Judgement::Drop));
    let thresholds = Thresholds::Bytes { min: 5000.0, max: 15_000.0 };
    let gentle = |red: &mut RedConfig| (red.gentle, red.thresholds) = (true, thresholds);
    assert!(all(&mut prompt(gentle), 30, 500, Judgement::Mark));
}

/// Even from 1 to 1/pb - 1 is 1/(2 pb) in the mean: RED strikes 2 pb of all packets. The standard
/// deviation of a gap is 1/(pb sqrt(12)), 0.58 of its mean; four times that over the root of the
/// number of gaps.
#[test]
fn the_rate_of_strikes_follows_the_average() {
    // pb = max_p (q - 5) / 10 below 15; with gentle max_p + (1 - max_p) (q - 15) / 15 above.
    for (queue, max_p, gentle, pb) in [
        (6, 0.1, false, 0.01),
        (10, 0.1, false, 0.05),
        (13, 0.1, false, 0.08),
        (10, 0.02, false, 0.01),
        (16, 0.04, true, 0.04 + 0.96 / 15.0),
    ] {
        let red = red(|red| (red.max_p, red.gentle) = (max_p, gentle));
        let gaps = gaps(red, queue, 20_000);
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        let expected = 1.0 / (2.0 * pb);
        let error = (mean / expected - 1.0).abs();
        // 1/pb is not whole in every case: the last gap is cut short by less than one packet.
        let cut = 1.0 / expected * 0.5 * f64::from(u8::from(gentle));
        assert!(error < 4.0 * 0.58 / 20_000f64.sqrt() + cut, "{queue}: {mean} for {expected}");
    }
}

#[test]
fn below_the_minimum_none_is_struck_above_the_maximum_all() {
    let mut low = red(|_| ());
    for _ in 0..10_000 {
        assert_eq!(low.decide_fate(&waiting(4), &packet(true)), Judgement::Take);
    }
    let judge = |change: fn(&mut RedConfig), queue, capable| {
        let mut red = red(change);
        settled(&mut red, queue);
        (0..1000).map(|_| red.decide_fate(&waiting(queue), &packet(capable))).collect::<Vec<_>>()
    };
    let all = |judged: Vec<Judgement>, wanted| judged.into_iter().all(|is| is == wanted);
    assert!(all(judge(|_| (), 16, true), Judgement::Mark), "marks everything above the maximum");
    assert!(all(judge(|_| (), 16, false), Judgement::Drop), "what cannot be marked is dropped");
    assert!(all(judge(|red| red.ecn = false, 16, true), Judgement::Drop));
    assert!(all(judge(|red| red.mark_above_max = false, 16, true), Judgement::Drop));
    assert!(all(judge(|red| red.gentle = true, 31, true), Judgement::Mark), "twice the maximum");
    let gentle = judge(|red| red.gentle = true, 16, false);
    assert!(gentle.contains(&Judgement::Take), "{gentle:?}");
}

/// After n packets at a constant queue q the average is q (1 - (1 - w)^n). An idle time of m
/// packets reduces it by (1 - w)^(m + 1), the arriving packet's own sample included.
#[test]
fn the_average_is_exponential_and_falls_while_idle() {
    let mut red = red(|red| red.weight = 0.25);
    for n in 1..=4 {
        red.decide_fate(&waiting(8), &packet(true));
        let expected = 8.0 * (1.0 - 0.75f64.powi(n));
        assert!((red.average() - expected).abs() < 1e-12);
    }
    let before = red.average();
    // 3.9 ms idle are three whole packets of 1 ms.
    let now = Instant::from_nanos(10_900_000);
    let idle_since = Some(Instant::from_nanos(7_000_000));
    red.decide_fate(&RedArrival { now, idle_since, ..waiting(0) }, &packet(true));
    assert!((red.average() - before * 0.75f64.powi(4)).abs() < 1e-12);
    // A year of idleness ends at nothing, and quickly.
    let now = now + Duration::from_secs(365 * 86_400);
    red.decide_fate(&RedArrival { now, idle_since, ..waiting(0) }, &packet(true));
    assert_eq!(red.average(), 0.0);
}

/// With thresholds in bytes a packet of half the mean size is struck half as often: gaps even from
/// 1 to 39 instead of 19.
#[test]
fn in_bytes_small_packets_are_struck_less() {
    let mut red = red(|red| red.thresholds = Thresholds::Bytes { min: 5000.0, max: 15_000.0 });
    let small = PacketInfo { bytes: 500, ..packet(true) };
    let mut strikes = 0;
    for n in 0..202_000 {
        let struck = red.decide_fate(&waiting(10), &small) == Judgement::Mark;
        strikes += u32::from(struck && n >= 2000);
    }
    // 200,000 packets, a strike every 20 on average with a standard deviation of 11.3: 10,000
    // strikes, four standard deviations of 56.
    assert!((9_775..=10_225).contains(&strikes), "{strikes}");
}

#[test]
fn powers_by_squaring() {
    for exponent in [0, 1, 2, 3, 10, 63] {
        let expected = 0.98f64.powi(exponent as i32);
        assert!((power(0.98, exponent) - expected).abs() < 1e-15);
    }
    assert_eq!(power(0.98, u64::MAX), 0.0);
    assert_eq!(power(0.0, 1), 0.0);
}
