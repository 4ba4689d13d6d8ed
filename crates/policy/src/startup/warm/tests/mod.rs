//! Steps worked out by hand: segments of 1000 bytes, a round trip of 80 ms, a stock window of ten.
//! The rules are those of docs/agent/design.md.

mod company;
mod dispersion;
mod early;
mod line;
mod losses;
mod member;
mod together;
mod wide;

use super::{ColdOpening, MemberStart, Underneath, Warm, WarmOptions};
use crate::ack::{AckSample, RttEstimator};
use crate::config::ConnectionConfig;
use crate::startup::hooked::{HostAccess, KernelEvents, OpenedBy, SharedHostState, SharedSending};
use crate::startup::{LossEvent, Overlay, PendingData, StartUp};
use crate::window::Cause;
use line::Line;
use memory::site::Bound;
use memory::{
    PathMemory, PathSample, Remembered, ReservationTerms, Sample, TransferSample, shared,
};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::{Duration, Instant, Rate};

const MSS: u64 = 1000;
const RTT_US: u32 = 80_000;
const OPENED: OpenedBy = OpenedBy::Handshake { lossless: true };
const RETRANSMITTED: OpenedBy = OpenedBy::Handshake { lossless: false };
const PEER: [u8; 4] = [192, 0, 2, 1];

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn options() -> WarmOptions {
    let terms =
        ReservationTerms { max_age: Duration::from_secs(600), half_life_rtts: 3000, cap: 256 };
    WarmOptions {
        terms,
        cold: ColdOpening::Paced,
        uses_size: false,
        ends_epochs: false,
        paces_together: false,
        wide_among: 32,
        jumps_by_dispersion: false,
        timer_gaps: 0,
        opens_early: false,
    }
}

/// Returns the remembered sample of a path with this window in segments, learnt at 0, at which slow
/// start had not ended.
fn known(window: u32, rate: u64) -> PathSample {
    PathSample {
        at: at(0),
        window,
        ssthresh: 0,
        srtt_us: RTT_US,
        min_rtt_us: RTT_US,
        rate,
        bdp: 0,
        shown_rate: 0,
    }
}

/// A host that remembers a path.
fn host_knowing(sample: &PathSample) -> SharedHostState {
    let host = SharedHostState::default();
    let to = IpAddr::from(PEER);
    host.borrow_mut().pool.learn(at(0), to, sample, false, &options().terms);
    host
}

/// The same, of what [`known`] says.
fn host(window: u32, rate: u64) -> SharedHostState {
    host_knowing(&known(window, rate))
}

fn remembered(host: &SharedHostState) -> Option<u32> {
    host.borrow_mut().pool.path(IpAddr::from(PEER)).map(|path| path.window)
}

/// A connection that opens at 1000 ms with the options of all.
fn opened(host: &SharedHostState) -> (Line, Warm) {
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), Underneath::default()));
    line.open(&mut warm, host);
    (line, warm)
}

#[test]
fn a_remembered_window_is_sent_in_the_first_round_trip_paced() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    assert_eq!(line.segments(), 100);
    // 1.2 windows in a round trip: 120 kB in 80 ms are 1.5 MB/s.
    let paced = Some(Rate::from_bps(12_000_000));
    assert_eq!(line.window.pacing_order().and_then(|order| order.most), paced);
    assert_eq!(line.window.pacing_rate(), paced);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1080, 99);
    assert!(line.window.pacing_order().unwrap().most.is_some(), "one segment is under way");
    line.arrive(&mut warm, 1081, 1);
    // As fast as the kernel likes, and paced still, for slow start goes on.
    let order = line.window.pacing_order().unwrap();
    assert_eq!((order.is_on, order.most), (true, None));
    // Below the threshold no more.
    line.window.set_ssthresh(50 * MSS, Cause::HyStart);
    line.start(&mut warm, 1);
    line.arrive(&mut warm, 1161, 1);
    assert!(!line.window.pacing_order().unwrap().is_on);
}

#[test]
fn a_known_rate_is_the_rate_of_the_first_flight() {
    // 2.5 MB/s: 200 segments fill the round trip, and three more, which leave evenly over it. Slow
    // start ends there.
    let host = host(100, 2_500_000);
    let (line, _) = opened(&host);
    assert_eq!((line.segments(), line.window.ssthresh()), (203, 203 * MSS));
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(20_300_000)));
}

/// 5 MB/s are 403 segments, of which the cap allows 256: at 5 MB/s by 256 of 256.
#[test]
fn a_window_at_the_cap_leaves_at_the_rate_of_the_path() {
    let host = host(300, 5_000_000);
    let (line, _) = opened(&host);
    assert_eq!((line.segments(), line.window.ssthresh()), (256, 403 * MSS));
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(40_000_000)));
}

/// Slow start ended at 30 segments on some earlier connection, and the rate is not known: it may
/// have been a random loss.
#[test]
fn where_slow_start_has_ended_before_it_need_not_end_again() {
    let host = SharedHostState::default();
    let sample = PathSample { ssthresh: 30, ..known(30, 0) };
    let to = IpAddr::from(PEER);
    host.borrow_mut().pool.learn(at(0), to, &sample, true, &options().terms);
    let (line, _) = opened(&host);
    assert_eq!((line.segments(), line.window.ssthresh()), (30, u64::MAX));
}

#[test]
fn what_a_stock_connection_sends_at_once_is_not_paced() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 10);
    assert!(!line.window.pacing_order().unwrap().is_on);
    // An eleventh is written.
    assert!(warm.needs().watches_sending);
    line.write(&mut warm, 11);
    assert!(line.window.pacing_order().unwrap().is_on);
}

/// A retransmitted SYN-ACK speaks against the memory.
#[test]
fn a_handshake_that_lost_something_starts_cold() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), Underneath::default()));
    warm.attach_host(HostAccess::new(host, PEER.into()));
    line.notify(&mut warm, |startup, window, at| startup.on_open(window, at, RETRANSMITTED));
    assert_eq!(line.segments(), 10);
}

/// 50 segments were learnt at round trips of 480 ms, with a queue: 60 in that time are 125 kB/s.
/// Ten of a cold start leave at 150 kB/s. 60 segments leave at the same rate, and 61 faster.
#[test]
fn a_remembered_window_that_would_leave_slower_than_a_cold_start_is_not_used() {
    for (window, first) in [(50, 10), (59, 10), (60, 60), (61, 61)] {
        let host = host_knowing(&PathSample { srtt_us: 480_000, ..known(window, 0) });
        let (line, _) = opened(&host);
        assert_eq!(line.segments(), first);
    }
}

/// Some of a hundred segments are used, and meanwhile the path has failed others twice. A round
/// trip and 200 ms are 280: the rest of the flight may still be sent after a pause of that length.
/// After a longer one, no more than was delivered may be sent, but at least a stock window.
#[test]
fn a_first_flight_that_pauses_for_longer_than_a_timeout_is_over() {
    for (used, pause_us, segments) in [(20, 280_000, 100), (20, 280_001, 20), (3, 280_001, 10)] {
        let host = host(100, 0);
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, used);
        line.arrive(&mut warm, 1080, used);
        for _ in 0..2 {
            host.borrow_mut().pool.fail(at(0), IpAddr::from(PEER), true);
        }
        line.now = at(1080) + Duration::from_micros(pause_us);
        line.start(&mut warm, 1);
        assert_eq!(line.segments(), segments, "{used} {pause_us}");
    }
}

/// Two of ten segments that leave at once are acknowledged first. The other eight are delivered 0.5
/// ms or 0.3 ms apart. 0.8 ms were remembered, so 0.4 ms are twice as fast. At a shorter gap slow
/// start continues, without a rate.
#[test]
fn a_burst_that_arrives_much_faster_lets_slow_start_go_on() {
    for (gap_us, ssthresh, rate) in [(500, 103 * MSS, 1_250_000), (300, u64::MAX, 0)] {
        let host = host(100, 1_250_000);
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 103);
        line.arrive(&mut warm, 1080, 2);
        for n in 1..=8 {
            line.arrive_at(&mut warm, 1_080_000 + gap_us * n, 1);
        }
        assert_eq!(line.window.ssthresh(), ssthresh);
        let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap();
        assert_eq!((path.window, path.rate), (100, rate));
    }
}

/// The rate is not known, and two of the ten segments of the burst are acknowledged first. Within
/// 80 ms there is room for 47 segments that arrive 1.7 ms apart, and for 46 at 1.703 ms. Three more
/// are half of the first window of 100, or less: then slow start ends there. Eleven fill the path
/// at 10 ms. Five would at 40 ms, and a stock window is ten.
#[test]
fn a_burst_that_arrives_much_slower_ends_slow_start_where_it_fills_the_path() {
    for (gap_us, full) in [(1700, None), (1703, Some(49)), (10_000, Some(11)), (40_000, Some(10))] {
        let host = host(100, 0);
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 100);
        line.arrive(&mut warm, 1080, 2);
        for n in 1..=8 {
            line.arrive_at(&mut warm, 1_080_000 + gap_us * n, 1);
        }
        let ssthresh = full.map_or(u64::MAX, |segments| segments * MSS);
        assert_eq!(line.window.ssthresh(), ssthresh, "{gap_us}");
        assert!(line.window.cwnd() <= ssthresh, "{gap_us}");
        // The memory has failed: half of it is left.
        let known = if full.is_some() { 50 } else { 100 };
        assert_eq!(
            host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap().window,
            known,
            "{gap_us}"
        );
    }
}

/// The rate is not known. The burst arrives 0.5 ms apart, the rest of the flight as it left. The
/// second flight of 200 leaves within a round trip and arrives over 100 ms, as the burst did: 1000
/// bytes in 0.5 ms are 2 MB/s.
#[test]
fn a_burst_is_the_first_train_of_a_measurement() {
    let host = host(20, 0);
    let (mut line, mut warm) = opened(&host);
    line.start(&mut warm, 20);
    line.arrive(&mut warm, 1080, 2);
    for n in 1..=8 {
        line.arrive_at(&mut warm, 1_080_000 + 500 * n, 1);
    }
    line.sent += 200 * MSS;
    for n in 0..10 {
        line.arrive_at(&mut warm, 1_090_000 + 4000 * n, 1);
    }
    for n in 0..200 {
        line.arrive_at(&mut warm, 1_160_000 + 500 * n, 1);
    }
    line.close(&mut warm);
    let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap();
    assert_eq!(path.rate, 2_000_000);
}

/// Flights of 10 and 20 segments are delivered, and the window is 30. Without a queue slow start
/// would send 31 next. At round trips of 110 ms, more than a quarter above 80, it would not double
/// again: of the 20 delivered, 14 were under way in the lowest round trip.
#[test]
fn a_flight_that_waited_in_a_queue_proves_what_the_path_carried() {
    for (ms, proven) in [(80, 31), (320, 14)] {
        let host = SharedHostState::default();
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 10);
        line.arrive(&mut warm, 1080, 10);
        line.window.set_cwnd(20 * MSS, Cause::SlowStart);
        line.start(&mut warm, 20);
        line.round_trip(ms);
        line.window.set_cwnd(30 * MSS, Cause::SlowStart);
        line.arrive(&mut warm, 1190, 20);
        line.close(&mut warm);
        assert_eq!(remembered(&host), Some(proven), "{ms}");
    }
}

#[test]
fn a_cold_connection_leaves_twice_its_flight_and_starts_from_that_after_idle() {
    let host = SharedHostState::default();
    let (mut line, mut warm) = (Line::new(0), Warm::new(options(), Underneath::default()));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    for _ in 0..10 {
        line.window.grow(MSS, Cause::SlowStart);
        line.arrive(&mut warm, 80, 1);
    }
    assert_eq!((line.segments(), remembered(&host)), (20, None));
    // Two seconds idle: the kernel asks before it takes the window back.
    line.now = at(2080);
    line.notify(&mut warm, |startup, window, at| startup.on_idle(window, at));
    // Twice ten and one, and one more than the window at most, while slow start lasts.
    assert_eq!(remembered(&host), Some(21));
    line.window.set_cwnd(10 * MSS, Cause::Idle);
    line.start(&mut warm, 30);
    assert_eq!(line.segments(), 21);
    assert!(line.window.pacing_order().unwrap().is_on);
}

/// As above, but the window grew by eight alone: 19 segments are remembered. Paced, they are less
/// in two round trips than the ten and twenty of a stock start, so it starts with ten.
#[test]
fn after_idle_less_than_twice_a_stock_window_is_not_taken() {
    let host = SharedHostState::default();
    let (mut line, mut warm) = (Line::new(0), Warm::new(options(), Underneath::default()));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    line.window.grow(8 * MSS, Cause::SlowStart);
    line.arrive(&mut warm, 80, 10);
    line.now = at(2080);
    line.notify(&mut warm, |startup, window, at| startup.on_idle(window, at));
    assert_eq!(remembered(&host), Some(19));
    line.window.set_cwnd(10 * MSS, Cause::Idle);
    line.start(&mut warm, 30);
    assert_eq!(line.segments(), 10);
}

#[test]
fn first_data_that_comes_late_asks_the_memory_again() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    // Meanwhile the path has failed another connection.
    host.borrow_mut().pool.fail(at(0), IpAddr::from(PEER), true);
    line.now = at(1081);
    line.start(&mut warm, 100);
    assert_eq!(line.segments(), 50);
}

#[test]
fn a_first_flight_is_no_wider_than_what_the_application_announces() {
    let host = host(100, 0);
    let sized = WarmOptions { uses_size: true, ..options() };
    let (mut line, mut warm) = (Line::new(1000), Warm::new(sized, Underneath::default()));
    line.open(&mut warm, &host);
    let transfer = PendingData { bytes: 5 * MSS, admitted: u64::MAX, announced: 30 * MSS };
    line.notify(&mut warm, |startup, window, at| startup.on_transfer_start(window, at, transfer));
    // The rate is that of the whole flight.
    assert_eq!(line.segments(), 30);
    assert_eq!(line.window.pacing_rate(), None, "five segments are a stock burst");
    // The other 70 are there for the next one: 100 - 30 - 10 beside ten of its own.
    let (mut next, mut second) = (Line::new(1000), Warm::new(options(), Underneath::default()));
    next.open(&mut second, &host);
    assert_eq!(next.segments(), 70);
}

/// Five segments of a first flight of 100 are delivered. The next ones come when the memory is
/// older than the maximum of 600 s, and the other 95 are not proven.
#[test]
fn the_rest_of_a_first_flight_is_asked_for_again_after_a_pause() {
    let host = host(100, 0);
    let (mut line, mut warm) =
        (Line::new(1000), Warm::new(options(), Underneath { models: true, is_paced: true }));
    line.open(&mut warm, &host);
    line.start(&mut warm, 5);
    line.arrive(&mut warm, 1080, 5);
    // Within a round trip and 200 ms the flight goes on.
    line.now = at(1300);
    line.start(&mut warm, 5);
    assert_eq!(line.segments(), 100);
    line.arrive(&mut warm, 1380, 5);
    line.now = at(700_000);
    line.start(&mut warm, 50);
    assert_eq!(line.segments(), 10);
}

/// A hundred segments, one at a time: only one was outstanding, so the window of 100 is not learnt
/// again.
#[test]
fn segments_one_by_one_prove_one() {
    let host = host(100, 0);
    let (mut line, mut warm) = opened(&host);
    for n in 0..100 {
        line.start(&mut warm, 1);
        line.arrive(&mut warm, 1080 + 80 * n, 1);
        line.now = at(1081 + 80 * n);
    }
    line.close(&mut warm);
    let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap();
    assert_eq!((path.window, path.learnt), (100, at(0)));
}
