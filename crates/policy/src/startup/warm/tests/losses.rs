//! Losses: their effect on a first flight, and on the memory.

use super::*;

#[test]
fn a_loss_in_the_first_flight_behind_a_queue_costs_half_of_window_and_memory() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 100);
    // Ten are acknowledged, as many as a stock connection sends at once.
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    // CUBIC would say 70 of 100.
    line.lose(&mut warm, 70);
    assert_eq!(line.window.ssthresh(), 50 * MSS);
    assert_eq!(remembered(&host), Some(50));
    // It does not start warm again.
    line.acked = line.sent;
    line.now = at(9000);
    line.notify(&mut warm, |startup, window, at| startup.idle(window, at));
    line.window.set_cwnd(10 * MSS, Cause::Idle);
    line.start(&mut warm, 50);
    assert_eq!(line.segments(), 10);
}

/// Half of 14 segments are fewer than a stock window.
#[test]
fn a_failed_start_falls_no_lower_than_a_stock_window() {
    let host = host(14, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 14);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 12);
    assert_eq!((line.window.ssthresh(), remembered(&host)), (10 * MSS, Some(7)));
}

/// 160 segments at a rate that 103 fill find a queue, and round trips that fit to the rate: what
/// fills the path goes on, not 80.
#[test]
fn a_failed_start_goes_on_with_what_fills_the_path_at_a_rate_that_holds() {
    let host = host(160, 1_250_000);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 160);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 112);
    assert_eq!((line.window.ssthresh(), remembered(&host)), (103 * MSS, Some(80)));
}

/// A connection of 20 segments ends with a threshold of 15. It is remembered as the end of slow
/// start if round trips show a queue, and nothing was lost.
#[test]
fn only_a_queue_without_a_loss_shows_where_slow_start_ends() {
    use memory::END_UNKNOWN;
    for (has_queue, is_lost, end) in [
        (true, false, 15),
        (false, false, 0),
        (true, true, END_UNKNOWN),
        (false, true, END_UNKNOWN),
    ] {
        let host = SharedHostState::default();
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 20);
        line.arrive(&mut warm, 1080, 10);
        if has_queue {
            line.queue();
        }
        if is_lost {
            line.lose(&mut warm, 15);
        }
        line.window.set_ssthresh(15 * MSS, Cause::HyStart);
        line.window.set_cwnd(15 * MSS, Cause::HyStart);
        line.arrive(&mut warm, 1160, 10);
        line.close(&mut warm);
        let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).expect("it has learnt");
        assert_eq!(path.ssthresh, end, "queue {has_queue}, loss {is_lost}");
    }
}

/// A flight of 100 segments may lose 2 + 100 / 32 = 5 at random. Six retransmissions fail it.
#[test]
fn a_loss_in_the_first_flight_without_a_queue_is_judged_by_how_much_is_lost() {
    for (retransmitted, window) in [(5, 100), (6, 50)] {
        let host = host(100, 0);
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 100);
        line.arrive(&mut warm, 1090, 10);
        line.lose(&mut warm, 70);
        // The threshold is CUBIC's, and the memory learns of no failure before the flight is over.
        assert_eq!((line.window.ssthresh(), remembered(&host)), (70 * MSS, Some(100)));
        line.retransmit(retransmitted);
        line.arrive(&mut warm, 1170, 90);
        assert_eq!(remembered(&host), Some(window));
    }
}

/// Five of 100 segments may be retransmitted by chance. Ten short segments beside them, each of a
/// write of its own, and a FIN are no retransmissions.
#[test]
fn short_segments_are_not_counted_as_lost() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1090, 10);
    line.lose(&mut warm, 70);
    line.retransmit(5);
    line.segments_sent += 10;
    line.arrive(&mut warm, 1170, 90);
    line.segments_sent += 1;
    line.close(&mut warm);
    assert_eq!(remembered(&host), Some(100));
}

/// A queue of a few packets loses the last of the ten that anybody sends at once. That says nothing
/// of the ninety behind them.
#[test]
fn a_loss_among_what_a_stock_connection_would_have_sent_fails_no_start() {
    for (arrived, window) in [(9, 100), (10, 50)] {
        let host = host(100, 0);
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 100);
        line.arrive(&mut warm, 1090, arrived);
        line.queue();
        line.lose(&mut warm, 70);
        assert_eq!(remembered(&host), Some(window));
    }
}

/// The path has become ten times slower: of 100 segments all arrive within 800 ms, which are ten in
/// a round trip of 80.
#[test]
fn after_a_failed_start_the_path_is_remembered_by_what_arrived() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 50);
    line.arrive(&mut warm, 1800, 90);
    line.close(&mut warm);
    assert_eq!(remembered(&host), Some(10));
}

/// At 1.25 MB/s a segment takes 0.8 ms, so a flight of 103 makes round trips of 80 + 82.4 ms at
/// most. Twice that delay, 244.8 ms in all, still fits to the rate. A sample of 1405 ms makes the
/// smoothed round trip 245.6: the path carries 33 segments, and nothing has to be lost for that.
#[test]
fn round_trips_that_contradict_the_rate_end_a_first_flight() {
    for (ms, segments, window, rate) in [(1390, 103, 100, 1_250_000), (1405, 33, 50, 0)] {
        let host = host(100, 1_250_000);
        let (mut line, mut warm) = opened(&host);
        assert_eq!(line.segments(), 103);
        line.start(&mut warm, 103);
        line.round_trip(ms);
        line.arrive(&mut warm, 1090, 1);
        assert_eq!(line.segments(), segments);
        let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap();
        assert_eq!((path.window, path.rate), (window, rate));
    }
}

/// In congestion avoidance 60 segments are lost one of at round trips of 125 ms: 59 * 80 / 125 are
/// 37 in the lowest, 37 kB in 80 ms.
#[test]
fn a_loss_behind_a_standing_queue_measures_the_rate() {
    let host = host(20, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 20);
    line.arrive(&mut warm, 1080, 20);
    line.window.set_cwnd(60 * MSS, Cause::Avoidance);
    line.window.set_ssthresh(30 * MSS, Cause::Loss);
    line.start(&mut warm, 60);
    line.round_trip(440);
    line.arrive(&mut warm, 1205, 1);
    line.lose(&mut warm, 42);
    let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap();
    assert_eq!((path.window, path.rate), (37, 462_500));
}

/// 120 segments at the known rate of a segment in 0.8 ms take 96 ms, so round trips of up to 80 +
/// 192 ms fit to it. In slow start one is lost at 300 ms: 60 * 80 / 300 are 16 in the lowest, 16 kB
/// in 80 ms.
#[test]
fn a_loss_of_slow_start_at_round_trips_that_contradict_the_rate_measures_another() {
    for (ms, window, rate) in [(1600, 60, 1_250_000), (1840, 16, 200_000)] {
        let host = host(100, 1_250_000);
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 103);
        line.arrive(&mut warm, 1080, 103);
        line.window.set_cwnd(120 * MSS, Cause::SlowStart);
        line.window.set_ssthresh(u64::MAX, Cause::SlowStart);
        line.start(&mut warm, 120);
        line.round_trip(ms);
        line.arrive(&mut warm, 1380, 1);
        line.lose(&mut warm, 60);
        let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap();
        assert_eq!((path.window, path.rate), (window, rate), "{ms}");
    }
}

/// Segments that are acknowledged after a first flight has failed prove nothing: the path keeps
/// half of its window.
#[test]
fn a_first_flight_that_failed_proves_no_window() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 70);
    line.window.set_cwnd(70 * MSS, Cause::Loss);
    line.arrive_in_recovery(&mut warm, 1180, 90);
    line.notify(&mut warm, |startup, window, at| startup.idle(window, at));
    assert_eq!(remembered(&host), Some(50));
}

/// After a failed start 100 segments and a FIN arrive within 260 ms, 31 in a round trip of 80. Its
/// end confirms nothing: a second failure in a row leaves one segment, not 15.
#[test]
fn the_end_of_a_connection_whose_start_failed_confirms_no_path() {
    let host = host(100, 0);
    for (ms, first, left) in [(1000, 100, 31), (2000, 31, 1)] {
        let (mut line, mut warm) = (Line::new(ms), Warm::new(options(), Underneath::default()));
        line.open(&mut warm, &host);
        assert_eq!(line.segments(), first);
        line.start(&mut warm, first);
        line.arrive(&mut warm, ms + 90, 10);
        line.queue();
        line.lose(&mut warm, first / 2);
        if ms == 1000 {
            line.arrive_in_recovery(&mut warm, 1260, 90);
            line.close(&mut warm);
        }
        assert_eq!(remembered(&host), Some(left));
    }
}

/// A site that knows nothing, and keeps the samples that it gets.
struct Listener(Rc<RefCell<Vec<TransferSample>>>);

impl PathMemory for Listener {
    fn recall(&mut self, _: Instant, _: IpAddr) -> Option<Remembered> {
        None
    }

    fn record(&mut self, _: Instant, _: IpAddr, sample: &Sample) {
        if let Sample::Transfer(transfer) = sample {
            self.0.borrow_mut().push(*transfer);
        }
    }
}

/// The first flight of 100 segments has 20 retransmissions. A SYN and a FIN are no data. The memory
/// counts in segments of 1448 bytes.
#[test]
fn the_site_hears_at_which_window_a_first_flight_failed_and_of_nothing_else() {
    let (host, reported) = (host(100, 0), Rc::new(RefCell::new(Vec::new())));
    host.borrow_mut().pool.join(shared(Listener(reported.clone())));
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 70);
    line.retransmit(20);
    line.arrive(&mut warm, 1180, 90);
    line.segments_sent += 1;
    line.close(&mut warm);
    let reported: Vec<_> =
        reported.borrow().iter().map(|one| (one.window, one.sent, one.lost, one.bound)).collect();
    assert_eq!(reported, [(144_800, 120, 20, Bound::Loss)]);
}

/// The site gets no report of a flight after idle, whose width is not known.
#[test]
fn the_site_does_not_hear_of_a_later_first_flight_that_failed() {
    let (host, reported) = (host(100, 0), Rc::new(RefCell::new(Vec::new())));
    host.borrow_mut().pool.join(shared(Listener(reported.clone())));
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1080, 100);
    line.now = at(3000);
    line.notify(&mut warm, |startup, window, at| startup.idle(window, at));
    line.window.set_cwnd(10 * MSS, Cause::Idle);
    line.start(&mut warm, 100);
    assert_eq!(line.segments(), 100);
    line.arrive(&mut warm, 3090, 10);
    line.queue();
    line.lose(&mut warm, 70);
    line.arrive_in_recovery(&mut warm, 3180, 90);
    line.close(&mut warm);
    assert!(reported.borrow().iter().all(|one| one.bound != Bound::Loss), "{reported:?}");
}

#[test]
fn a_later_loss_behind_a_queue_is_a_measure_of_the_path() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1080, 100);
    line.window.set_cwnd(40 * MSS, Cause::Avoidance);
    line.window.set_ssthresh(30 * MSS, Cause::Loss);
    line.start(&mut warm, 40);
    line.arrive(&mut warm, 1160, 1);
    line.queue();
    line.lose(&mut warm, 28);
    // One segment less than the window, without the queue: 80 of 92.5 parts of 39.
    assert_eq!((line.window.ssthresh(), remembered(&host)), (28 * MSS, Some(33)));
}

#[test]
fn a_later_loss_without_a_queue_says_nothing_against_the_memory() {
    for (window, left) in [(40, 100), (120, 119)] {
        let host = host(100, 0);
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 100);
        line.arrive(&mut warm, 1080, 100);
        line.window.set_cwnd(window * MSS, Cause::Avoidance);
        line.window.set_ssthresh(30 * MSS, Cause::Loss);
        line.start(&mut warm, 40);
        line.arrive(&mut warm, 1160, 1);
        line.lose(&mut warm, 28);
        assert_eq!(remembered(&host), Some(left));
    }
}
