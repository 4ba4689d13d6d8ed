//! The ages at which windows, lines and networks lose their weight: docs/agent/design.md,
//! "Networks" and "Sharing".

use super::*;

/// The estimate of a window is halved after 3000 smoothed round trips of 80 ms, 240 s, whatever the
/// lowest one is. After 600 s a quarter of 100 has gone half of the way to an eighth: 25 less 6.
#[test]
fn a_window_ages_by_its_smoothed_round_trip_and_counts_for_ten_minutes() {
    let mut pool = WindowPool::default();
    pool.learn(at(0), peer(1), &queued(0, 100), false, &TERMS);
    let path = pool.path(peer(1)).unwrap();
    assert_eq!([0, 240_000, 480_000].map(|ms| path.aged_window(at(ms), &TERMS)), [100, 50, 25]);
    let mut recall = |ms| pool.recall(at(ms), peer(1), &request(1), &TERMS);
    assert_eq!([recall(600_000), recall(600_001)], [Ok(19), Err(ColdReason::Old)]);
}

/// The kernel's clock differs between processors: a sample from the future is ignored.
#[test]
fn nothing_is_believed_of_a_window_of_the_future() {
    let mut pool = WindowPool::default();
    pool.learn(at(1000), peer(1), &sample(1000, 100), false, &TERMS);
    let early = pool.recall(at(999), peer(1), &request(1), &TERMS);
    assert_eq!(early, Err(ColdReason::Old));
    assert_eq!(pool.path(peer(1)).unwrap().aged_window(at(999), &TERMS), 0);
}

/// A line with at least half of its network's estimate is of its kind, and another line may raise
/// the network again. A line with less than half holds the network low. The estimate of 138
/// segments is 69 after 240 s.
#[test]
fn only_a_line_of_less_than_half_holds_its_network() {
    for (ms, window, held) in
        [(0, 69, false), (0, 68, true), (240_000, 60, false), (240_000, 33, true)]
    {
        let mut pool = knowing(138);
        pool.learn(at(ms), peer(2), &sample(ms, window), true, &TERMS);
        pool.learn(at(ms), peer(1), &sample(ms, 138), false, &TERMS);
        let expected = if held { window } else { 138 };
        assert_eq!(pool.path(peer(3)).map(|path| path.window), Some(expected), "{window}");
    }
}

/// A network held at 13 segments since 1 s. A line of up to twice that is slow, too, and holds it
/// for another ten minutes; a faster one does not.
#[test]
fn a_line_of_up_to_twice_the_window_holds_its_network_longer() {
    for (window, held) in [(26, true), (27, false)] {
        let mut pool = knowing(138);
        pool.learn(at(1000), peer(2), &sample(1000, 13), true, &TERMS);
        pool.learn(at(500_000), peer(4), &sample(500_000, window), true, &TERMS);
        pool.learn(at(601_000), peer(1), &sample(601_000, 138), false, &TERMS);
        let expected = if held { 13 } else { 138 };
        assert_eq!(pool.path(peer(3)).map(|path| path.window), Some(expected), "{window}");
    }
}

/// A line that carries as much as the held network does not raise it: the network learns its round
/// trip.
#[test]
fn a_held_network_learns_of_lines_that_are_no_faster() {
    let mut pool = knowing(138);
    pool.learn(at(1000), peer(2), &sample(1000, 13), true, &TERMS);
    let min_rtt = |pool: &mut WindowPool| pool.path(peer(3)).map(|path| path.min_rtt_us);
    pool.learn(at(1000), peer(4), &queued(1000, 14), true, &TERMS);
    assert_eq!(min_rtt(&mut pool), Some(80_000));
    pool.learn(at(1000), peer(5), &queued(1000, 13), true, &TERMS);
    assert_eq!(min_rtt(&mut pool), Some(40_000));
}

/// A line that is not known fails with the network's window: both keep half of it.
#[test]
fn a_start_that_failed_by_the_network_s_window_lowers_the_network() {
    let mut pool = knowing(138);
    pool.fail(at(0), peer(2), false);
    assert_eq!([2, 3, 1].map(|last| window_of(&mut pool, last)), [69, 69, 138]);
}

/// A sample does not end a row of failures. Only a warm start without a loss does.
#[test]
fn a_sample_between_two_failures_leaves_them_in_a_row() {
    let mut pool = knowing(138);
    pool.fail(at(0), peer(1), false);
    pool.learn(at(1000), peer(1), &sample(1000, 100), true, &TERMS);
    pool.fail(at(0), peer(1), false);
    assert_eq!(window_of(&mut pool, 1), 1);
}

/// A sample without a window, a smoothed round trip or a lowest one teaches nothing.
#[test]
fn a_sample_without_a_round_trip_teaches_nothing() {
    let whole = sample(0, 22);
    for lacking in [
        PathSample { window: 0, ..whole },
        PathSample { srtt_us: 0, ..whole },
        PathSample { min_rtt_us: 0, ..whole },
    ] {
        let mut pool = WindowPool::default();
        assert!(!pool.learn(at(0), peer(1), &lacking, true, &TERMS), "{lacking:?}");
        assert_eq!(pool.path(peer(1)), None);
    }
}

/// One cold start in a round trip of 80 ms is wider than stock. The next one comes 80 ms after the
/// last wide one, not after the first.
#[test]
fn one_wide_start_in_a_round_trip() {
    let mut pool = WindowPool::default();
    let wide = [0, 79, 80, 159, 160].map(|ms| pool.begin_wide(at(ms), peer(1), SRTT_US));
    assert_eq!(wide, [true, false, true, false, true]);
}

/// Own knowledge as young as the site's stays. A failure here also counts with the window that the
/// site knows.
#[test]
fn the_site_s_window_counts_if_it_is_younger_and_own_failures_stay() {
    let says =
        Remembered { cwnd: 144_800, srtt: Duration::from_millis(90), ..Remembered::default() };
    let begin = |age_ms| {
        let says = Remembered { age: Duration::from_millis(age_ms), ..says };
        let mut pool = WindowPool::default();
        pool.join(shared(Oracle { says: Some(says), reported: Rc::default() }));
        pool.learn(at(0), peer(1), &sample(0, 22), false, &TERMS);
        pool.fail(at(0), peer(2), false);
        pool.begin_handshake(at(11_000), peer(3));
        pool
    };
    // The failure has halved 22.
    assert_eq!(window_of(&mut begin(11_000), 3), 11);
    let mut younger = begin(10_999);
    let path = younger.path(peer(3)).unwrap();
    // Without a lowest round trip the smoothed one stands for it, and without a rate there is no
    // queue.
    assert_eq!((path.window, path.srtt_us, path.min_rtt_us), (100, 90_000, 90_000));
    younger.fail(at(0), peer(3), false);
    assert_eq!(window_of(&mut younger, 3), 1);
}

/// A reservation returns within a round trip. Unused segments of the first one have returned after
/// 80 ms, so releasing them takes nothing from the second one.
#[test]
fn a_release_after_a_round_trip_returns_nothing() {
    let mut pool = knowing(138);
    assert_eq!([0, 80].map(|ms| reserved(&mut pool, ms, request(1))), [Some(138); 2]);
    pool.release(peer(1), 100, Duration::from_millis(80));
    assert_eq!(reserved(&mut pool, 80, request(1)), None);
}

/// A reservation expires within a smoothed round trip of 80 ms, queue included: half of it after 40
/// ms, the lowest round trip. Then 50 of 100 segments and the ten of the stock window are reserved.
#[test]
fn a_reservation_returns_within_a_smoothed_round_trip() {
    let mut pool = WindowPool::default();
    pool.learn(at(0), peer(1), &queued(0, 100), false, &TERMS);
    assert_eq!([0, 40].map(|ms| reserved(&mut pool, ms, request(1))), [Some(100), Some(50)]);
}

/// A connection that takes nothing counts with its stock window: 138 - 10 are left for the next
/// one.
#[test]
fn a_connection_that_takes_nothing_counts_with_a_stock_window() {
    let mut pool = knowing(138);
    assert_eq!(reserved(&mut pool, 0, ReservationRequest { takes: false, ..request(1) }), None);
    assert_eq!(reserved(&mut pool, 0, request(1)), Some(128));
}
