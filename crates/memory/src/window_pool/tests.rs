//! Tests of the agent's rules, with values computed by hand: docs/agent/design.md, "Sharing" and
//! "What a connection teaches".

mod ages;
mod rates;

use super::{
    ColdReason, END_UNKNOWN, PathSample, ReservationRequest, ReservationTerms, SharedStart,
    WindowPool,
};
use crate::bound::ReportBound;
use crate::{PathMemory, Remembered, Sample, TransferSample, shared};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::{Duration, Instant, Rate};

const TERMS: ReservationTerms =
    ReservationTerms { max_age: Duration::from_secs(600), half_life_rtts: 3000, cap: 256 };
const SRTT_US: u32 = 80_000;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn peer(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

fn sample(ms: u64, window: u32) -> PathSample {
    let (srtt_us, min_rtt_us) = (SRTT_US, SRTT_US);
    PathSample {
        at: at(ms),
        window,
        ssthresh: 0,
        srtt_us,
        min_rtt_us,
        rate: 0,
        bdp: 0,
        shown_rate: 0,
    }
}

/// A sample of a path with a queue as long as its lowest round trip.
fn queued(ms: u64, window: u32) -> PathSample {
    PathSample { min_rtt_us: SRTT_US / 2, ..sample(ms, window) }
}

/// A memory of `window` segments, learnt at 0.
fn knowing(window: u32) -> WindowPool {
    let mut pool = WindowPool::default();
    assert!(pool.learn(at(0), peer(1), &sample(0, window), false, &TERMS));
    pool
}

fn request(among: u32) -> ReservationRequest {
    ReservationRequest { cold: 10, least: 0, among, rtt_us: SRTT_US, mss: 1448, takes: true }
}

fn reserved(pool: &mut WindowPool, ms: u64, request: ReservationRequest) -> Option<u32> {
    pool.reserve(at(ms), peer(1), &request, &TERMS).map(|reservation| reservation.window)
}

/// The window in memory for a line.
fn window_of(pool: &mut WindowPool, last: u8) -> u32 {
    pool.path(peer(last)).map_or(0, |path| path.window)
}

#[test]
fn one_alone_is_lent_all_and_the_next_what_has_come_back() {
    let mut pool = knowing(138);
    // A second is 12.5 of 3000 round trips: 138 less a fifth of a per cent is 138 in whole
    // segments.
    assert_eq!(reserved(&mut pool, 1000, request(1)), Some(138));
    // Half a round trip later half of it has expired: 138 - 69 - 10 beside ten of its own.
    assert_eq!(reserved(&mut pool, 1040, request(1)), Some(69));
    // A round trip after that all of it has.
    assert_eq!(reserved(&mut pool, 1120, request(1)), Some(138));
}

/// Half a round trip after the first one 69 segments are to be had, as above: too few for a
/// connection that takes 70 or none. Its stock window counts as given all the same.
#[test]
fn less_than_the_least_window_is_none() {
    let mut pool = knowing(138);
    assert_eq!(reserved(&mut pool, 1000, request(1)), Some(138));
    assert_eq!(reserved(&mut pool, 1040, ReservationRequest { least: 70, ..request(1) }), None);
    // 138 - 79 - 10 beside ten of its own.
    assert_eq!(reserved(&mut pool, 1040, ReservationRequest { least: 59, ..request(1) }), Some(59));
}

/// Connections that start within a round trip count together, also those that reserve nothing. With
/// three pending handshakes the last one is one of five. A round trip later it is alone.
#[test]
fn those_that_began_within_the_round_trip_are_sharers() {
    let mut pool = knowing(138);
    let mut sharers = |ms, request: ReservationRequest| {
        pool.reserve(at(ms), peer(1), &request, &TERMS).map(|reservation| reservation.sharers)
    };
    assert_eq!(sharers(1000, request(1)), Some(1));
    assert_eq!(sharers(1030, ReservationRequest { takes: false, ..request(1) }), None);
    assert_eq!(sharers(1040, request(3)), Some(5));
    assert_eq!(sharers(1200, request(1)), Some(1));
}

#[test]
fn those_whose_handshakes_are_under_way_share() {
    let mut pool = knowing(138);
    for _ in 0..6 {
        pool.begin_handshake(at(10), peer(1));
    }
    // (138 - 6 * 10) / 6 = 13 beside its own ten; then (138 - 23 - 5 * 10) / 5 = 13 beside ten.
    let among = pool.finish_handshake(at(20), peer(1));
    assert_eq!((among, reserved(&mut pool, 20, request(among))), (6, Some(23)));
    let among = pool.finish_handshake(at(20), peer(1));
    assert_eq!((among, reserved(&mut pool, 20, request(among))), (5, Some(23)));
    // One that has been open starts beside the four that are left.
    assert_eq!(pool.count_restart(at(20), peer(1)), 5);
}

#[test]
fn handshakes_to_unknown_paths_do_not_count() {
    let mut pool = WindowPool::default();
    pool.begin_handshake(at(0), peer(1));
    assert_eq!(pool.finish_handshake(at(0), peer(1)), 1);
    assert_eq!(reserved(&mut pool, 0, request(1)), None);
}

#[test]
fn a_known_rate_lends_what_the_path_carries() {
    let mut pool = WindowPool::default();
    // 2.5 MB/s over 80 ms are 200 kB: 138 segments of 1448. One has proven 22 of them.
    let known = PathSample { rate: 2_500_000, ..sample(0, 22) };
    pool.learn(at(0), peer(1), &known, false, &TERMS);
    // (138 - 3 * 10 - taken) / among beside ten: 36, 36, 36.
    for n in 0..3 {
        assert_eq!(reserved(&mut pool, 0, request(3 - n)), Some(46));
    }
    // One alone: four times what was proven, less 1.4 of 500 half-lives of a thousandth.
    assert_eq!(reserved(&mut pool, 80, request(1)), Some(88));
}

/// The rate fills the path with 138 segments and three. After a failed warm start no more than the
/// proven window is reserved, and the rate stays, unless segments were delivered far more slowly.
#[test]
fn a_failed_start_reaches_no_further_than_what_was_proven() {
    for (is_slower, rate) in [(false, 2_500_000), (true, 0)] {
        let mut pool = WindowPool::default();
        let known = PathSample { rate: 2_500_000, ..sample(0, 100) };
        pool.learn(at(0), peer(1), &known, false, &TERMS);
        assert_eq!(reserved(&mut pool, 0, request(1)), Some(141));
        pool.fail(at(0), peer(1), is_slower);
        assert_eq!(pool.path(peer(1)).map(|path| path.rate), Some(rate));
        assert_eq!(reserved(&mut pool, 80, request(1)), Some(50));
        pool.confirm(peer(1));
        let reached = if is_slower { 50 } else { 141 };
        assert_eq!(reserved(&mut pool, 160, request(1)), Some(reached));
    }
}

/// A fast line and a slow one of a /24 alternate. The fast one is remembered with 138 segments, the
/// slow one, which has lost a segment at 13, with 13. For unknown lines the slow one answers, until
/// ten minutes after its last visit.
#[test]
fn lines_of_a_network_do_not_answer_for_each_other() {
    let mut pool = knowing(138);
    let window = |pool: &mut WindowPool, last| pool.path(peer(last)).map(|path| path.window);
    assert_eq!(window(&mut pool, 2), Some(138));
    assert!(pool.learn(at(1000), peer(2), &sample(1000, 13), true, &TERMS));
    assert_eq!([1, 2, 3].map(|last| window(&mut pool, last)), [138, 13, 13].map(Some));
    // The fast line's window raises no other line's.
    assert!(pool.learn(at(2000), peer(1), &sample(2000, 138), false, &TERMS));
    assert_eq!([1, 2, 3].map(|last| window(&mut pool, last)), [138, 13, 13].map(Some));
    let later = |pool: &mut WindowPool, ms: u64| {
        pool.learn(at(ms), peer(1), &sample(ms, 138), false, &TERMS);
        window(pool, 3)
    };
    // The slow line is as slow as before: it holds the network for ten minutes from then on.
    pool.learn(at(500_000), peer(2), &sample(500_000, 13), true, &TERMS);
    assert_eq!(later(&mut pool, 1_099_999), Some(13));
    assert_eq!(later(&mut pool, 1_100_000), Some(138));
}

/// A line that was not seen for more than ten minutes is answered by its network.
#[test]
fn a_line_that_is_not_active_is_forgotten() {
    let mut pool = knowing(138);
    pool.learn(at(0), peer(2), &sample(0, 13), true, &TERMS);
    pool.learn(at(600_000), peer(1), &sample(600_000, 100), false, &TERMS);
    assert_eq!(reserved(&mut pool, 600_000, request(1)), Some(100));
    pool.begin_handshake(at(600_000), peer(2));
    assert_eq!(window_of(&mut pool, 2), 13);
    pool.begin_handshake(at(600_001), peer(2));
    assert_eq!(window_of(&mut pool, 2), 100);
}

#[test]
fn what_is_not_used_is_given_back() {
    let mut pool = knowing(138);
    assert_eq!(reserved(&mut pool, 0, request(1)), Some(138));
    pool.release(peer(1), 100, Duration::ZERO);
    // 138 - 38 - 10 are left beside its own ten.
    assert_eq!(reserved(&mut pool, 0, request(1)), Some(100));
}

#[test]
fn a_small_window_says_nothing_against_a_larger_one_and_a_measured_one_does() {
    let mut pool = knowing(138);
    assert!(!pool.learn(at(100), peer(1), &sample(100, 22), false, &TERMS));
    assert!(pool.learn(at(100), peer(1), &sample(100, 22), true, &TERMS));
    assert_eq!(pool.path(peer(1)).map(|path| path.window), Some(22));
    // Neighbours of the network are on the same path.
    assert_eq!(pool.path(peer(200)).map(|path| path.window), Some(22));
}

#[test]
fn the_second_failure_in_a_row_ends_the_memory() {
    let mut pool = knowing(138);
    pool.fail(at(0), peer(1), true);
    assert_eq!(pool.path(peer(1)).map(|path| path.window), Some(69));
    pool.confirm(peer(1));
    pool.fail(at(0), peer(1), true);
    assert_eq!(pool.path(peer(1)).map(|path| path.window), Some(34));
    pool.fail(at(0), peer(1), true);
    assert_eq!(pool.path(peer(1)).map(|path| path.window), Some(1));
    // Its network has had one failure, in which the line was not known.
    assert_eq!(pool.path(peer(2)).map(|path| path.window), Some(138));
}

#[test]
fn a_cold_start_has_a_reason() {
    let mut pool = knowing(22);
    let recall = |pool: &mut WindowPool, ms, rtt_us, cold| {
        let opens = ReservationRequest { rtt_us, cold, ..request(1) };
        pool.recall(at(ms), peer(1), &opens, &TERMS)
    };
    assert_eq!(recall(&mut pool, 0, SRTT_US, 10), Ok(22));
    assert_eq!(recall(&mut pool, 0, SRTT_US, 22), Err(ColdReason::Small));
    assert_eq!(recall(&mut pool, 0, SRTT_US / 2 - 1, 10), Err(ColdReason::RoundTrip));
    assert_eq!(recall(&mut pool, 600_001, SRTT_US, 10), Err(ColdReason::Old));
    let unknown = pool.recall(at(0), IpAddr::from([198, 51, 100, 1]), &request(1), &TERMS);
    assert_eq!(unknown, Err(ColdReason::Unknown));
}

/// 625 kB/s over 80 ms are 50 kB: 34 segments of 1448. A page of four has lost a segment there
/// before, so the proven window of one connection is 5.
#[test]
fn connections_that_begin_together_share_what_the_path_holds() {
    const RATE: u64 = 625_000;
    let mut pool = knowing(5);
    for _ in 0..4 {
        pool.begin_handshake(at(10), peer(1));
    }
    let mut begin = |ms| {
        let among = pool.finish_handshake(at(ms), peer(1));
        let request = request(among);
        let start = pool.share(at(ms), peer(1), &request, RATE, &TERMS);
        start.map(|(SharedStart { window, ssthresh }, _)| (window, ssthresh))
    };
    // 34 / 4; (34 - 8) / 3; (34 - 16) / 2; 34 - 25. Slow start ends at a quarter of 34 or at its
    // first window.
    assert_eq!([begin(20), begin(20), begin(20)], [Some((8, 8)), Some((8, 8)), Some((9, 9))]);
    // Half a round trip later 12 of 25 have expired: 34 - 13 are more than a stock window, and have
    // not been proven.
    assert_eq!(begin(60), Some((10, 21)));
    let has_company = |pool: &mut WindowPool, ms| pool.has_company(at(ms), peer(1), 1);
    assert!(has_company(&mut pool, 60) && !has_company(&mut pool, 140));
}

/// A path that holds less than four segments for each still gives four to each. An unknown path has
/// nothing to share.
#[test]
fn a_share_is_four_segments_at_least_and_of_a_known_path() {
    let mut pool = knowing(5);
    let start = pool.share(at(0), peer(1), &request(12), 62_500, &TERMS);
    assert_eq!(start.map(|(start, _)| start), Some(SharedStart { window: 4, ssthresh: 4 }));
    let stranger = IpAddr::from([198, 51, 100, 1]);
    assert_eq!(pool.share(at(0), stranger, &request(12), 62_500, &TERMS), None);
}

/// A memory of ten minutes is the oldest that is used. 640 ms are eight times 80, which may be a
/// queue; 880 are eleven times, which are another path (RFC 9959).
#[test]
fn nothing_is_shared_of_a_memory_that_is_old_or_of_another_path() {
    let mut pool = knowing(5);
    let old = at(0) + TERMS.max_age + Duration::from_millis(1);
    assert_eq!(pool.share(old, peer(1), &request(2), 1_000_000, &TERMS), None);
    let mut share = |times: u32| {
        let far = ReservationRequest { rtt_us: times * SRTT_US, ..request(2) };
        pool.share(at(0), peer(1), &far, 1_000_000, &TERMS).is_some()
    };
    assert_eq!([share(11), share(8)], [false, true]);
}

/// A site with one answer for all networks, which keeps the reports that it gets.
struct Oracle {
    says: Option<Remembered>,
    reported: Rc<RefCell<Vec<TransferSample>>>,
}

impl PathMemory for Oracle {
    fn recall(&mut self, _: Instant, _: IpAddr) -> Option<Remembered> {
        self.says
    }

    fn record(&mut self, _: Instant, _: IpAddr, sample: &Sample) {
        if let Sample::Transfer(transfer) = sample {
            self.reported.borrow_mut().push(*transfer);
        }
    }
}

/// 144,800 bytes are 100 segments of 1448; at 1,448,000 bytes a second they drain in 100 ms, longer
/// than the path's 80.
#[test]
fn what_the_site_knows_is_taken_up_as_a_handshake_begins_unless_own_knowledge_is_fresh() {
    let says = Remembered {
        cwnd: 144_800,
        min_rtt: Some(Duration::from_millis(80)),
        rate: Some(Rate::from_bps(8 * 1_448_000)),
        age: Duration::from_secs(3),
        ..Remembered::default()
    };
    let reported = Rc::new(RefCell::new(Vec::new()));
    let mut pool = WindowPool::default();
    pool.join(shared(Oracle { says: Some(says), reported: reported.clone() }));
    pool.begin_handshake(at(5000), peer(1));
    let path = pool.path(peer(1)).unwrap();
    assert_eq!((path.window, path.srtt_us, path.min_rtt_us), (100, 100_000, 80_000));
    assert_eq!((path.learnt, path.rate), (at(2000), 1_448_000));
    // A loss at 22 segments: the sample stays for ten seconds here, and is reported to the site.
    assert!(pool.learn(at(6000), peer(1), &sample(6000, 22), true, &TERMS));
    assert_eq!(
        reported.borrow().iter().map(|one| (one.window, one.lost)).collect::<Vec<_>>(),
        [(31_856, 1)]
    );
    pool.begin_handshake(at(15_999), peer(1));
    assert_eq!(pool.path(peer(1)).map(|path| path.window), Some(22));
    // For a line its own connections have priority, for other lines of the network the site has.
    pool.begin_handshake(at(16_000), peer(1));
    assert_eq!(pool.path(peer(1)).map(|path| path.window), Some(22));
    assert_eq!(pool.path(peer(2)).map(|path| path.window), Some(100));
}

/// Thirteen segments of 1000 bytes that are delivered a millisecond apart are 1 MB/s. More networks
/// than there are accounts send one SYN each and nothing else: the rate stays.
#[test]
fn half_open_connections_push_out_no_rate() {
    let mut pool = WindowPool::default();
    for ms in 0..13 {
        pool.note_arrival(at(ms), peer(1), 1000, Duration::from_millis(9));
    }
    assert_eq!(pool.delivery_rate(at(20), peer(1), Duration::from_secs(600)), 1_000_000);
    for n in 0..=super::MAX_ACCOUNTS {
        let network = IpAddr::from([10, (n >> 8) as u8, n as u8, 1]);
        pool.begin_handshake(at(20), network);
    }
    assert_eq!(pool.delivery_rate(at(20), peer(1), Duration::from_secs(600)), 1_000_000);
}

/// A connection opens alone if no other handshake began within a round trip and a quarter: 100 ms
/// of 80. Only the last networks are kept; the first one is forgotten, as if there were no other
/// handshake.
#[test]
fn of_the_oldest_handshakes_nothing_is_kept() {
    let mut pool = WindowPool::default();
    for ms in [0, 1] {
        pool.begin_handshake(at(ms), peer(1));
    }
    assert!(!pool.opens_alone(at(81), peer(1), SRTT_US));
    assert!(pool.opens_alone(at(101), peer(1), SRTT_US));
    for n in 0..super::MAX_ACCOUNTS {
        pool.begin_handshake(at(2), IpAddr::from([10, (n >> 8) as u8, n as u8, 1]));
    }
    assert!(pool.opens_alone(at(81), peer(1), SRTT_US));
}

/// Slow start has ended at 141 segments. A loss at 60 lowers that to 60 if it measured the path,
/// and changes nothing if it was random.
#[test]
fn a_loss_that_measures_the_path_lowers_where_slow_start_ends() {
    for (is_measured, end) in [(true, 60), (false, 141)] {
        let mut pool = WindowPool::default();
        let known = PathSample { ssthresh: 141, ..sample(0, 50) };
        assert!(pool.learn(at(0), peer(1), &known, false, &TERMS));
        let lost = PathSample { ssthresh: END_UNKNOWN, ..sample(100, 60) };
        assert!(pool.learn(at(100), peer(1), &lost, is_measured, &TERMS));
        assert_eq!(pool.path(peer(1)).map(|path| path.ssthresh), Some(end));
    }
}
