//! Effects of a path's rate and threshold on a window: docs/agent/design.md, "Sharing" and "Slow
//! start".

use super::*;

/// 625 kB/s, 5 Mbit/s.
const RATE: u64 = 625_000;

fn knowing_rate(window: u32, rate: u64) -> WindowPool {
    let mut pool = WindowPool::default();
    pool.learn(at(0), peer(1), &PathSample { rate, ..queued(0, window) }, false, &TERMS);
    pool
}

/// 2.5 MB/s over the lowest round trip of 40 ms are 100 kB: 69 segments of 1448. With three more
/// they are the window of one alone that has proven 50. One that has proven 12 begins with up to
/// four times that; of three, each has (69 - 3 * 10) / 3 = 13 beside ten.
#[test]
fn a_path_holds_what_its_rate_carries_in_the_lowest_round_trip() {
    let mut pool = knowing_rate(50, 2_500_000);
    assert_eq!(pool.recall(at(0), peer(1), &request(1), &TERMS), Ok(72));
    assert_eq!(reserved(&mut knowing_rate(12, 2_500_000), 0, request(3)), Some(23));
    // 625 kB/s over 40 ms are 25 kB: 17 segments, in which one that has proven 5 begins with ten.
    let mut pool = knowing(5);
    pool.learn(at(0), peer(1), &queued(0, 5), true, &TERMS);
    let start = pool.share(at(0), peer(1), &request(1), RATE, &TERMS);
    assert_eq!(start.map(|(start, _)| start), Some(SharedStart { window: 10, ssthresh: 17 }));
}

/// A probe among other connections shows less than the path carries: it raises a known rate and
/// does not lower it. Two flights that agree do (`bdp`), and so does a loss that measures the path.
#[test]
fn a_probe_does_not_lower_a_known_rate() {
    let rate_after = |rate, bdp, is_measured| {
        let mut pool = knowing_rate(50, 4 * RATE);
        let sample = PathSample { rate, bdp, ..queued(0, 50) };
        pool.learn(at(0), peer(1), &sample, is_measured, &TERMS);
        pool.path(peer(1)).map(|path| path.rate)
    };
    assert_eq!(rate_after(2 * RATE, 0, false), Some(4 * RATE));
    assert_eq!(rate_after(8 * RATE, 0, false), Some(8 * RATE));
    assert_eq!(rate_after(2 * RATE, 40, false), Some(2 * RATE));
    assert_eq!(rate_after(2 * RATE, 0, true), Some(2 * RATE));
}

/// `--cap` bounds every first window.
#[test]
fn no_first_window_exceeds_the_cap() {
    let mut pool = knowing(400);
    assert_eq!(pool.recall(at(0), peer(1), &request(1), &TERMS), Ok(256));
    let start = pool.share(at(0), peer(1), &request(1), 100 * RATE, &TERMS);
    assert_eq!(start.map(|(start, _)| start.window), Some(256));
    assert_eq!(reserved(&mut pool, 80, request(1)), Some(256));
}

/// A sample without a rate says nothing of it. But a line that carries less than half of what its
/// network does is of another kind, so the network forgets the rate of the faster lines.
#[test]
fn a_rate_stays_until_another_is_measured_or_a_slower_line_comes() {
    let mut pool = knowing_rate(100, 2_500_000);
    pool.learn(at(0), peer(1), &queued(0, 120), false, &TERMS);
    let rate = |pool: &mut WindowPool, last| pool.path(peer(last)).map(|path| path.rate);
    assert_eq!([1, 3].map(|last| rate(&mut pool, last)), [Some(2_500_000); 2]);
    pool.learn(at(0), peer(2), &queued(0, 13), true, &TERMS);
    assert_eq!([1, 3].map(|last| rate(&mut pool, last)), [Some(2_500_000), Some(0)]);
}

/// 625 kB/s over 80 ms hold 34 segments. The first connection has 30 of them, and the next one the
/// least share, four; its slow start ends at half of 34. A round trip later neither counts.
#[test]
fn a_round_trip_later_earlier_sharers_do_not_count() {
    let mut pool = knowing(30);
    let mut share = |ms| {
        let start = pool.share(at(ms), peer(1), &request(1), RATE, &TERMS);
        start.map(|(SharedStart { window, ssthresh }, _)| (window, ssthresh))
    };
    for ms in [0, 80] {
        assert_eq!([share(ms), share(ms)], [Some((30, 34)), Some((4, 17))]);
    }
}

/// Slow start ended at 60 by a queue. A loss that does not measure the path contradicts nothing;
/// one that measures 50 shows that the end is no larger; a queue at 90 shows a new one.
#[test]
fn a_measured_loss_lowers_the_end_of_slow_start() {
    let ended = |ssthresh, window| PathSample { ssthresh, ..sample(0, window) };
    let end_after = |last: PathSample, is_measured| {
        let mut pool = WindowPool::default();
        pool.learn(at(0), peer(1), &ended(60, 40), false, &TERMS);
        pool.learn(at(0), peer(1), &last, is_measured, &TERMS);
        pool.path(peer(1)).unwrap().ssthresh
    };
    assert_eq!(end_after(ended(super::super::END_UNKNOWN, 50), false), 60);
    assert_eq!(end_after(ended(0, 50), true), 50);
    assert_eq!(end_after(ended(0, 70), true), 60);
    assert_eq!(end_after(ended(90, 95), false), 90);
}

/// Slow start ends above its first window, or is not bounded.
#[test]
fn slow_start_ends_beyond_its_first_window() {
    let mut pool = WindowPool::default();
    pool.learn(at(0), peer(1), &PathSample { ssthresh: 60, ..sample(0, 40) }, false, &TERMS);
    let path = pool.path(peer(1)).unwrap();
    assert_eq!([59, 60].map(|window| path.end_beyond(window)), [60, 0]);
}

/// Transfers that ended by themselves show no width. A loss does, and so does a warm start that has
/// failed.
#[test]
fn only_an_end_of_slow_start_or_a_failure_shows_a_width() {
    let mut pool = knowing(22);
    let has_none = |pool: &mut WindowPool| pool.path(peer(1)).unwrap().has_shown_no_width();
    pool.learn(at(0), peer(1), &sample(0, 30), false, &TERMS);
    assert!(has_none(&mut pool));
    pool.fail(at(0), peer(1), false);
    assert!(!has_none(&mut pool));
    let mut pool = knowing(22);
    pool.learn(at(0), peer(1), &sample(0, 22), true, &TERMS);
    assert!(!has_none(&mut pool));
}

/// 144,800 bytes drain in 400 ms at 362,000 bytes a second. A smoothed round trip is at most four
/// times the lowest one of 80 ms.
#[test]
fn the_queue_of_a_site_s_window_is_at_most_three_round_trips() {
    let says = Remembered {
        cwnd: 144_800,
        min_rtt: Some(Duration::from_millis(80)),
        rate: Some(Rate::from_bps(8 * 362_000)),
        ..Remembered::default()
    };
    let mut pool = WindowPool::default();
    pool.join(shared(Oracle { says: Some(says), reported: Rc::default() }));
    pool.begin_handshake(at(0), peer(1));
    let path = pool.path(peer(1)).unwrap();
    assert_eq!((path.srtt_us, path.min_rtt_us, path.rate), (320_000, 80_000, 362_000));
}

/// 22 segments are 31,856 bytes. The site receives the rate that was shown, in bits, and not the
/// one that is used here.
#[test]
fn the_site_receives_what_a_connection_has_shown() {
    let reported = Rc::new(RefCell::new(Vec::new()));
    let mut pool = WindowPool::default();
    pool.join(shared(Oracle { says: None, reported: reported.clone() }));
    let shown = PathSample { rate: 1_000_000, shown_rate: 500_000, ..queued(0, 22) };
    pool.learn(at(0), peer(1), &shown, true, &TERMS);
    pool.learn(at(0), peer(1), &PathSample { shown_rate: 0, ..shown }, false, &TERMS);
    let loss = TransferSample {
        window: 31_856,
        rate: Some(Rate::from_mbps(4)),
        rtt: Some(Duration::from_millis(80)),
        min_rtt: Some(Duration::from_millis(40)),
        sent: 22,
        lost: 1,
        bound: ReportBound::Loss,
    };
    let quiet = TransferSample { rate: None, lost: 0, bound: ReportBound::OwnStart, ..loss };
    assert_eq!(*reported.borrow(), [loss, quiet]);
}
