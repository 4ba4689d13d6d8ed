//! Steps worked out by hand: segments of 1000 bytes, a round trip of 80 ms, a stock window of ten. The rules are those of
//! docs/agent/design.md.

mod dispersion;
mod early;
mod member;
mod together;
mod wide;

use super::{ColdOpening, MemberStart, Warm, WarmOptions};
use crate::ack::{AckSample, RttEstimator};
use crate::config::ConnectionConfig;
use crate::startup::attended::{Attendance, Attended, SharedAttendant, Situation};
use crate::startup::{Overlay, PendingData, StartUp};
use crate::window::{Cause, Window};
use memory::site::Bound;
use memory::{LendingTerms, PathMemory, PathSample, Remembered, Sample, TransferSample, shared};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::{Duration, Instant, Rate};

const MSS: u64 = 1000;
const RTT_US: u32 = 80_000;
const PEER: [u8; 4] = [192, 0, 2, 1];

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn options() -> WarmOptions {
    let terms = LendingTerms { max_age: Duration::from_secs(600), half_life_rtts: 3000, cap: 256 };
    WarmOptions {
        terms,
        cold: ColdOpening::Paced,
        hears_size: false,
        ends_epochs: false,
        paces_together: false,
        wide_among: 32,
        jumps_by_dispersion: false,
        timer_gaps: 0,
        opens_early: false,
    }
}

/// What is remembered of a path of so many segments, learnt at 0, at which slow start had not ended.
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
fn host_knowing(sample: &PathSample) -> SharedAttendant {
    let host = SharedAttendant::default();
    let to = (at(0), IpAddr::from(PEER));
    host.borrow_mut().lender.learn(to, sample, false, &options().terms);
    host
}

/// The same, of what [`known`] says.
fn host(window: u32, rate: u64) -> SharedAttendant {
    host_knowing(&known(window, rate))
}

fn remembered(host: &SharedAttendant) -> Option<u32> {
    host.borrow_mut().lender.path(PEER.into()).map(|path| path.window)
}

/// The path of a connection, as its start-up sees it.
struct Line {
    rtt: RttEstimator,
    window: Window,
    now: Instant,
    sent: u64,
    /// Segments, retransmissions and a SYN included.
    segments_sent: u64,
    acked: u64,
}

impl Line {
    fn new(ms: u64) -> Self {
        let mut rtt = RttEstimator::new(ConnectionConfig::default().rto);
        rtt.on_sample(at(ms), at(ms + 80), 0, 0);
        let window = Window::new(MSS, 10 * MSS, u64::MAX, false);
        Self { rtt, window, now: at(ms), sent: 0, segments_sent: 1, acked: 0 }
    }

    /// The start-up is told of something.
    fn tell(
        &mut self,
        startup: &mut dyn Attended,
        act: impl FnOnce(&mut dyn Attended, &mut Window, &Situation<'_>),
    ) {
        self.window.set_now(self.now);
        let at = Situation {
            now: self.now,
            rtt: &self.rtt,
            sent_total: self.sent,
            segments_sent: self.segments_sent,
            acked_total: self.acked,
            max_in_flight: self.sent - self.acked,
            last_departure: self.now,
            in_startup: true,
        };
        act(startup, &mut self.window, &at);
    }

    fn open(&mut self, startup: &mut dyn Attended, host: &SharedAttendant) {
        startup.attend(Attendance::new(host.clone(), PEER.into()));
        self.tell(startup, |startup, window, at| startup.open(window, at, true));
    }

    /// Something to send waits, and nothing is outstanding; `segments` leave.
    fn start(&mut self, startup: &mut dyn Attended, segments: u64) {
        let bytes = segments * MSS;
        let transfer = PendingData { bytes, admitted: u64::MAX, announced: 0 };
        self.tell(startup, |startup, window, at| startup.start(window, at, transfer));
        self.sent += bytes;
        self.segments_sent += segments;
    }

    /// `segments` arrive.
    fn arrive(&mut self, warm: &mut Warm, ms: u64, segments: u64) {
        self.arrive_at(warm, 1000 * ms, segments);
    }

    /// The same at `us` microseconds.
    fn arrive_at(&mut self, warm: &mut Warm, us: u64, segments: u64) {
        self.now = Instant::from_nanos(1000 * us);
        self.acked += segments * MSS;
        let sample = AckSample {
            sent_total: self.sent,
            acked_total: self.acked,
            ..AckSample::of(self.now, segments * MSS)
        };
        warm.observe(&mut self.window, &sample);
        self.tell(warm, |startup, window, at| startup.acked(window, at, &sample));
        if self.acked >= self.sent {
            warm.all_arrived();
        }
    }

    /// The same while repairs go on: congestion control has no part in such ACKs.
    fn arrive_in_recovery(&mut self, warm: &mut Warm, ms: u64, segments: u64) {
        self.now = at(ms);
        self.acked += segments * MSS;
        warm.observe(&mut self.window, &AckSample::of(self.now, segments * MSS));
    }

    /// It is over.
    fn close(&mut self, warm: &mut Warm) {
        self.tell(warm, |startup, window, at| startup.close(window, at, None));
    }

    /// A round trip of so many ms, of which an eighth counts.
    fn round_trip(&mut self, ms: u64) {
        self.rtt.on_sample(self.now, self.now + Duration::from_millis(ms), 0, 0);
    }

    /// A round trip of 180 ms: the smoothed one becomes 92.5 ms, an eighth more than 80 and some.
    fn queue(&mut self) {
        self.round_trip(180);
    }

    /// Something is lost of a window that the congestion control makes `ssthresh` segments.
    fn lose(&mut self, warm: &mut Warm, ssthresh: u64) {
        self.tell(warm, |startup, window, at| startup.lose(window, at));
        self.window.set_ssthresh(ssthresh * MSS, Cause::Loss);
        warm.on_congestion(&mut self.window);
    }

    fn segments(&self) -> u64 {
        self.window.cwnd() / MSS
    }
}

#[test]
fn a_remembered_window_is_sent_in_the_first_round_trip_paced() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
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
    // 2.5 MB/s: 200 segments fill the round trip, and three, which leave evenly over it. Slow start ends there.
    let host = host(100, 2_500_000);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    assert_eq!((line.segments(), line.window.ssthresh()), (203, 203 * MSS));
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(20_300_000)));
}

/// 5 MB/s are 403 segments, of which the cap allows 256: at 5 MB/s by 256 of 256.
#[test]
fn a_window_at_the_cap_leaves_at_the_rate_of_the_path() {
    let host = host(300, 5_000_000);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    assert_eq!((line.segments(), line.window.ssthresh()), (256, 403 * MSS));
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(40_000_000)));
}

/// Slow start ended at 30 segments on some earlier connection, and the rate is not known: it may have been a random loss.
#[test]
fn where_slow_start_has_ended_before_it_need_not_end_again() {
    let host = SharedAttendant::default();
    let sample = PathSample { ssthresh: 30, ..known(30, 0) };
    let to = (at(0), IpAddr::from(PEER));
    host.borrow_mut().lender.learn(to, &sample, true, &options().terms);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    assert_eq!((line.segments(), line.window.ssthresh()), (30, u64::MAX));
}

#[test]
fn what_a_stock_connection_sends_at_once_is_not_paced() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    assert!(!line.window.pacing_order().unwrap().is_on);
    // An eleventh is written.
    assert!(warm.watches_sending());
    line.tell(&mut warm, |startup, window, at| startup.before_sending(window, at, 11 * MSS));
    assert!(line.window.pacing_order().unwrap().is_on);
}

#[test]
fn a_loss_in_the_first_flight_behind_a_queue_costs_half_of_window_and_memory() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    // Ten have arrived, as many as anybody sends at once.
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    // CUBIC would say 70 of 100.
    line.lose(&mut warm, 70);
    assert_eq!(line.window.ssthresh(), 50 * MSS);
    assert_eq!(remembered(&host), Some(50));
    // It does not start warm again.
    line.acked = line.sent;
    line.now = at(9000);
    line.tell(&mut warm, |startup, window, at| startup.idle(window, at));
    line.window.set_cwnd(10 * MSS, Cause::Idle);
    line.start(&mut warm, 50);
    assert_eq!(line.segments(), 10);
}

/// A retransmitted SYN-ACK speaks against the memory.
#[test]
fn a_handshake_that_lost_something_starts_cold() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    warm.attend(Attendance::new(host, PEER.into()));
    line.tell(&mut warm, |startup, window, at| startup.open(window, at, false));
    assert_eq!(line.segments(), 10);
}

/// 50 segments were learnt at round trips of 480 ms, with a queue: 60 in that time are 125 kB/s. Ten of a cold start leave at 150 kB/s.
/// 60 segments leave at the same rate, and 61 faster.
#[test]
fn a_remembered_window_that_would_leave_slower_than_a_cold_start_is_not_used() {
    for (window, first) in [(50, 10), (59, 10), (61, 61)] {
        let host = host_knowing(&PathSample { srtt_us: 480_000, ..known(window, 0) });
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
        assert_eq!(line.segments(), first);
    }
}

/// Half of 14 segments are fewer than a stock window.
#[test]
fn a_failed_start_falls_no_lower_than_a_stock_window() {
    let host = host(14, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 14);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 12);
    assert_eq!((line.window.ssthresh(), remembered(&host)), (10 * MSS, Some(7)));
}

/// Of a hundred segments some are used, and meanwhile the path has failed others twice. A round trip and 200 ms are 280: what is left of
/// the flight may still be sent after such a pause. After a longer one no more than what has arrived, but a stock window.
#[test]
fn a_first_flight_that_pauses_for_longer_than_a_timeout_is_over() {
    for (used, pause_us, segments) in [(20, 280_000, 100), (20, 280_001, 20), (3, 280_001, 10)] {
        let host = host(100, 0);
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, used);
        line.arrive(&mut warm, 1080, used);
        for _ in 0..2 {
            host.borrow_mut().lender.fail(PEER.into(), true);
        }
        line.now = at(1080) + Duration::from_micros(pause_us);
        line.start(&mut warm, 1);
        assert_eq!(line.segments(), segments, "{used} {pause_us}");
    }
}

/// 160 segments at a rate that 103 fill find a queue, and round trips that fit to the rate: what fills the path goes on, not 80.
#[test]
fn a_failed_start_goes_on_with_what_fills_the_path_at_a_rate_that_holds() {
    let host = host(160, 1_250_000);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 160);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 112);
    assert_eq!((line.window.ssthresh(), remembered(&host)), (103 * MSS, Some(80)));
}

/// A connection of 20 segments ends with a threshold of 15. It is remembered as the end of slow start if round trips show a queue, and
/// nothing was lost.
#[test]
fn only_a_queue_without_a_loss_shows_where_slow_start_ends() {
    use memory::END_UNKNOWN;
    for (has_queue, is_lost, end) in [
        (true, false, 15),
        (false, false, 0),
        (true, true, END_UNKNOWN),
        (false, true, END_UNKNOWN),
    ] {
        let host = SharedAttendant::default();
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
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
        let path = host.borrow_mut().lender.path(PEER.into()).expect("it has learnt");
        assert_eq!(path.ssthresh, end, "queue {has_queue}, loss {is_lost}");
    }
}

/// Of 100 segments three in 32 and two are five: six that go again are more than chance takes.
#[test]
fn a_loss_in_the_first_flight_without_a_queue_is_judged_by_how_much_is_lost() {
    for (retransmitted, window) in [(5, 100), (6, 50)] {
        let host = host(100, 0);
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, 100);
        line.arrive(&mut warm, 1090, 10);
        line.lose(&mut warm, 70);
        // What CUBIC says, and nobody is told of a failure before the flight is over.
        assert_eq!((line.window.ssthresh(), remembered(&host)), (70 * MSS, Some(100)));
        line.segments_sent += retransmitted;
        line.arrive(&mut warm, 1170, 90);
        assert_eq!(remembered(&host), Some(window));
    }
}

/// A queue of a few packets loses the last of the ten that anybody sends at once. That says nothing of the ninety behind them.
#[test]
fn a_loss_among_what_a_stock_connection_would_have_sent_fails_no_start() {
    for (arrived, window) in [(9, 100), (10, 50)] {
        let host = host(100, 0);
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, 100);
        line.arrive(&mut warm, 1090, arrived);
        line.queue();
        line.lose(&mut warm, 70);
        assert_eq!(remembered(&host), Some(window));
    }
}

/// The path has become ten times slower: of 100 segments all arrive within 800 ms, which are ten in a round trip of 80.
#[test]
fn after_a_failed_start_the_path_is_remembered_by_what_arrived() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 50);
    line.arrive(&mut warm, 1800, 90);
    line.close(&mut warm);
    assert_eq!(remembered(&host), Some(10));
}

/// 1.25 MB/s are a segment in 0.8 ms: a flight of 103 makes round trips of 80 + 82.4 ms at most, and twice as much more is another path:
/// beyond 244.8. One of 1405 ms makes 245.6. Then 33 segments are what the path carries, and nothing has to be lost for that.
#[test]
fn round_trips_that_contradict_the_rate_end_a_first_flight() {
    for (ms, segments, window, rate) in [(1390, 103, 100, 1_250_000), (1405, 33, 50, 0)] {
        let host = host(100, 1_250_000);
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
        assert_eq!(line.segments(), 103);
        line.start(&mut warm, 103);
        line.round_trip(ms);
        line.arrive(&mut warm, 1090, 1);
        assert_eq!(line.segments(), segments);
        let path = host.borrow_mut().lender.path(PEER.into()).unwrap();
        assert_eq!((path.window, path.rate), (window, rate));
    }
}

/// Of ten segments that leave at once two are acknowledged first. The other eight arrive 0.5 ms or 0.3 ms apart: 0.8 ms were remembered, so
/// 0.4 ms are twice as fast. Beyond that slow start goes on, without a rate.
#[test]
fn a_burst_that_arrives_much_faster_lets_slow_start_go_on() {
    for (gap_us, ssthresh, rate) in [(500, 103 * MSS, 1_250_000), (300, u64::MAX, 0)] {
        let host = host(100, 1_250_000);
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, 103);
        line.arrive(&mut warm, 1080, 2);
        for n in 1..=8 {
            line.arrive_at(&mut warm, 1_080_000 + gap_us * n, 1);
        }
        assert_eq!(line.window.ssthresh(), ssthresh);
        let path = host.borrow_mut().lender.path(PEER.into()).unwrap();
        assert_eq!((path.window, path.rate), (100, rate));
    }
}

/// The rate is not known. The burst arrives 0.5 ms apart, the rest of the flight as it left. The second flight of 200 leaves within a round
/// trip and arrives over 100 ms, as the burst did: 1000 bytes in 0.5 ms are 2 MB/s.
#[test]
fn a_burst_is_the_first_train_of_a_measurement() {
    let host = host(20, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
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
    let path = host.borrow_mut().lender.path(PEER.into()).unwrap();
    assert_eq!(path.rate, 2_000_000);
}

/// In congestion avoidance 60 segments are lost one of at round trips of 125 ms: 59 * 80 / 125 are 37 in the lowest, 37 kB in 80 ms.
#[test]
fn a_loss_behind_a_standing_queue_measures_the_rate() {
    let host = host(20, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 20);
    line.arrive(&mut warm, 1080, 20);
    line.window.set_cwnd(60 * MSS, Cause::Avoidance);
    line.window.set_ssthresh(30 * MSS, Cause::Loss);
    line.start(&mut warm, 60);
    line.round_trip(440);
    line.arrive(&mut warm, 1205, 1);
    line.lose(&mut warm, 42);
    let path = host.borrow_mut().lender.path(PEER.into()).unwrap();
    assert_eq!((path.window, path.rate), (37, 462_500));
}

/// 120 segments at the known rate of a segment in 0.8 ms take 96 ms, so round trips of up to 80 + 192 ms fit to it. In slow start one is lost
/// at 300 ms: 60 * 80 / 300 are 16 in the lowest, 16 kB in 80 ms.
#[test]
fn a_loss_of_slow_start_at_round_trips_that_contradict_the_rate_measures_another() {
    for (ms, window, rate) in [(1600, 60, 1_250_000), (1840, 16, 200_000)] {
        let host = host(100, 1_250_000);
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, 103);
        line.arrive(&mut warm, 1080, 103);
        line.window.set_cwnd(120 * MSS, Cause::SlowStart);
        line.window.set_ssthresh(u64::MAX, Cause::SlowStart);
        line.start(&mut warm, 120);
        line.round_trip(ms);
        line.arrive(&mut warm, 1380, 1);
        line.lose(&mut warm, 60);
        let path = host.borrow_mut().lender.path(PEER.into()).unwrap();
        assert_eq!((path.window, path.rate), (window, rate), "{ms}");
    }
}

/// Flights of 10 and 20 segments arrive, the window is 30. Without a queue slow start would send 31 next. At round trips of 110 ms, more
/// than a quarter above 80, it would not double again: of the 20 that have arrived 14 were under way in the lowest one.
#[test]
fn a_flight_that_waited_in_a_queue_proves_what_the_path_carried() {
    for (ms, proven) in [(80, 31), (320, 14)] {
        let host = SharedAttendant::default();
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
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

/// What arrives of a first flight after it has failed proves nothing: the path keeps the half that it was left with.
#[test]
fn a_first_flight_that_failed_proves_no_window() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 70);
    line.window.set_cwnd(70 * MSS, Cause::Loss);
    line.arrive_in_recovery(&mut warm, 1180, 90);
    line.tell(&mut warm, |startup, window, at| startup.idle(window, at));
    assert_eq!(remembered(&host), Some(50));
}

/// After a failed start 100 segments and a FIN arrive within 260 ms, 31 in a round trip of 80. Its end confirms nothing: a second failure
/// in a row leaves one segment, not 15.
#[test]
fn the_end_of_a_connection_whose_start_failed_confirms_no_path() {
    let host = host(100, 0);
    for (ms, first, left) in [(1000, 100, 31), (2000, 31, 1)] {
        let (mut line, mut warm) = (Line::new(ms), Warm::new(options(), (false, false)));
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

/// A site that knows nothing, and keeps what it is told.
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

/// Of 100 segments in the first flight 20 go again; a SYN and a FIN are no data. The memory counts in segments of 1448 bytes.
#[test]
fn the_site_hears_at_which_window_a_first_flight_failed_and_of_nothing_else() {
    let (host, told) = (host(100, 0), Rc::new(RefCell::new(Vec::new())));
    host.borrow_mut().lender.join(shared(Listener(told.clone())));
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1090, 10);
    line.queue();
    line.lose(&mut warm, 70);
    line.segments_sent += 20;
    line.arrive(&mut warm, 1180, 90);
    line.segments_sent += 1;
    line.close(&mut warm);
    let heard: Vec<_> =
        told.borrow().iter().map(|one| (one.window, one.sent, one.lost, one.bound)).collect();
    assert_eq!(heard, [(144_800, 120, 20, Bound::Loss)]);
}

/// The same of a flight after idle: nobody knows how wide that was, and the site does not hear of it.
#[test]
fn the_site_does_not_hear_of_a_later_first_flight_that_failed() {
    let (host, told) = (host(100, 0), Rc::new(RefCell::new(Vec::new())));
    host.borrow_mut().lender.join(shared(Listener(told.clone())));
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1080, 100);
    line.now = at(3000);
    line.tell(&mut warm, |startup, window, at| startup.idle(window, at));
    line.window.set_cwnd(10 * MSS, Cause::Idle);
    line.start(&mut warm, 100);
    assert_eq!(line.segments(), 100);
    line.arrive(&mut warm, 3090, 10);
    line.queue();
    line.lose(&mut warm, 70);
    line.arrive_in_recovery(&mut warm, 3180, 90);
    line.close(&mut warm);
    assert!(told.borrow().iter().all(|one| one.bound != Bound::Loss), "{told:?}");
}

#[test]
fn a_later_loss_behind_a_queue_is_a_measure_of_the_path() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1080, 100);
    line.window.set_cwnd(40 * MSS, Cause::Avoidance);
    line.window.set_ssthresh(30 * MSS, Cause::Loss);
    line.start(&mut warm, 40);
    line.arrive(&mut warm, 1160, 1);
    line.queue();
    line.lose(&mut warm, 28);
    // One segment less than the window, without the queue: 80 of 92.5 parts of 39, whatever was remembered.
    assert_eq!((line.window.ssthresh(), remembered(&host)), (28 * MSS, Some(33)));
}

#[test]
fn a_later_loss_without_a_queue_says_nothing_against_the_memory() {
    for (window, left) in [(40, 100), (120, 119)] {
        let host = host(100, 0);
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
        line.open(&mut warm, &host);
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

#[test]
fn a_cold_connection_leaves_twice_its_flight_and_starts_from_that_after_idle() {
    let host = SharedAttendant::default();
    let (mut line, mut warm) = (Line::new(0), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    for _ in 0..10 {
        line.window.grow(MSS, Cause::SlowStart);
        line.arrive(&mut warm, 80, 1);
    }
    assert_eq!((line.segments(), remembered(&host)), (20, None));
    // Two seconds idle: the kernel asks before it takes the window back.
    line.now = at(2080);
    line.tell(&mut warm, |startup, window, at| startup.idle(window, at));
    // Twice ten and one, and one more than the window at most, while slow start lasts.
    assert_eq!(remembered(&host), Some(21));
    line.window.set_cwnd(10 * MSS, Cause::Idle);
    line.start(&mut warm, 30);
    assert_eq!(line.segments(), 21);
    assert!(line.window.pacing_order().unwrap().is_on);
}

#[test]
fn first_data_that_comes_late_asks_the_memory_again() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    // Meanwhile the path has failed another connection.
    host.borrow_mut().lender.fail(PEER.into(), true);
    line.now = at(1081);
    line.start(&mut warm, 100);
    assert_eq!(line.segments(), 50);
}

#[test]
fn members_of_a_session_share_one_window() {
    let host = host(100, 0);
    let mut members = [0, 1].map(|_| (Line::new(1000), MemberStart::new(options())));
    for (line, member) in &mut members {
        line.open(member, &host);
    }
    // The first one starts for all, with all that is remembered. Its 11 kB are twelve segments at most: they are promised to it.
    let [(first, one), (second, other)] = &mut members;
    first.start(one, 11);
    assert_eq!(first.segments(), 100);
    // Of two with the same weight each has half, and 100 - 12 - 10 beside ten of its own is more.
    second.start(other, 500);
    assert_eq!(second.segments(), 50);
    assert!(one.rules_recovery() && other.rules_recovery());
}

#[test]
fn a_first_flight_is_no_wider_than_what_the_application_announces() {
    let host = host(100, 0);
    let hears = WarmOptions { hears_size: true, ..options() };
    let (mut line, mut warm) = (Line::new(1000), Warm::new(hears, (false, false)));
    line.open(&mut warm, &host);
    let transfer = PendingData { bytes: 5 * MSS, admitted: u64::MAX, announced: 30 * MSS };
    line.tell(&mut warm, |startup, window, at| startup.start(window, at, transfer));
    // At the rate of all the same.
    assert_eq!(line.segments(), 30);
    assert_eq!(line.window.pacing_rate(), None, "five segments are a stock burst");
    // The other 70 are there for the next one: 100 - 30 - 10 beside ten of its own.
    let (mut next, mut second) = (Line::new(1000), Warm::new(options(), (false, false)));
    next.open(&mut second, &host);
    assert_eq!(next.segments(), 70);
}

/// Five segments of a first flight of 100 have arrived. The next ones come when the memory is older than the 600 s that one is believed:
/// nobody has proven the other 95.
#[test]
fn the_rest_of_a_first_flight_is_asked_for_again_after_a_pause() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (true, true)));
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

/// A hundred segments, each by itself: one was outstanding at a time, so the window of 100 is not learnt anew.
#[test]
fn segments_one_by_one_prove_one() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    for n in 0..100 {
        line.start(&mut warm, 1);
        line.arrive(&mut warm, 1080 + 80 * n, 1);
        line.now = at(1081 + 80 * n);
    }
    line.close(&mut warm);
    let path = host.borrow_mut().lender.path(PEER.into()).unwrap();
    assert_eq!((path.window, path.learnt), (100, at(0)));
}
