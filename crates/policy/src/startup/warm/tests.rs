//! Steps worked out by hand: segments of 1000 bytes, a round trip of 80 ms, a stock window of ten. The rules are those of
//! docs/agent/design.md.

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
    }
}

/// A host that remembers so many segments of the path, learnt at 0, at which slow start had not ended.
fn host(window: u32, rate: u64) -> SharedAttendant {
    let host = SharedAttendant::default();
    let sample = PathSample {
        at: at(0),
        window,
        ssthresh: 0,
        srtt_us: RTT_US,
        min_rtt_us: RTT_US,
        rate,
        shown_rate: 0,
    };
    let to = (at(0), IpAddr::from(PEER));
    host.borrow_mut().lender.learn(to, &sample, false, &options().terms);
    host
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
        self.now = at(ms);
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
    // 2.5 MB/s carry more than 1.2 windows in a round trip, and less than 16 times that.
    let host = host(100, 2_500_000);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(20_000_000)));
    // A gap of 0.4 ms: 200 segments fill the round trip, and three. Slow start ends there.
    assert_eq!(line.window.ssthresh(), 203 * MSS);
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
fn a_loss_in_the_first_flight_costs_half_of_window_and_memory() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    line.now = at(1090);
    line.tell(&mut warm, |startup, window, at| startup.lose(window, at));
    // CUBIC would say 70 of 100.
    line.window.set_ssthresh(70 * MSS, Cause::Loss);
    warm.on_congestion(&mut line.window);
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
    line.now = at(1090);
    line.tell(&mut warm, |startup, window, at| startup.lose(window, at));
    warm.on_congestion(&mut line.window);
    line.segments_sent += 20;
    line.arrive(&mut warm, 1180, 100);
    line.segments_sent += 1;
    line.tell(&mut warm, |startup, window, at| startup.close(window, at, None));
    let heard: Vec<_> =
        told.borrow().iter().map(|one| (one.window, one.sent, one.lost, one.bound)).collect();
    assert_eq!(heard, [(144_800, 120, 20, Bound::Loss)]);
}

#[test]
fn a_later_loss_is_a_measure_of_the_path() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1080, 100);
    line.window.set_cwnd(40 * MSS, Cause::Avoidance);
    line.window.set_ssthresh(30 * MSS, Cause::Loss);
    line.start(&mut warm, 40);
    line.arrive(&mut warm, 1160, 1);
    line.tell(&mut warm, |startup, window, at| startup.lose(window, at));
    line.window.set_ssthresh(28 * MSS, Cause::Loss);
    warm.on_congestion(&mut line.window);
    // One segment less than the window, whatever was remembered.
    assert_eq!((line.window.ssthresh(), remembered(&host)), (28 * MSS, Some(39)));
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

/// 625 kB/s carry 50 segments of 1000 bytes in 80 ms: 32 are the most. Of the path that `ms` between segments tell after nine
/// of them: segments of window, of threshold.
fn wide_start(ms: u64) -> (u64, Option<u64>, Line) {
    let host = SharedAttendant::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, (false, false)));
    line.open(&mut warm, &host);
    assert_eq!(line.segments(), 32);
    line.start(&mut warm, 32);
    for n in 0..9 {
        let order = line.window.pacing_order().unwrap();
        assert_eq!((order.is_on, order.fixed), (true, Some(Rate::from_bps(5_000_000))));
        line.arrive(&mut warm, 80 + n * ms, 1);
    }
    let ends = line.window.ssthresh();
    (line.segments(), (ends < u64::MAX).then_some(ends / MSS), line)
}

#[test]
fn a_wide_start_goes_on_as_any_other_where_the_path_is_as_fast() {
    // A segment in a millisecond is 8 Mbit/s.
    let (window, threshold, line) = wide_start(1);
    assert_eq!((window, threshold), (32, None));
    let order = line.window.pacing_order().unwrap();
    assert_eq!((order.is_on, order.fixed), (false, None));
}

#[test]
fn a_wide_start_ends_slow_start_where_the_path_is_slower() {
    // A segment in 4 ms is 2 Mbit/s: 20 of them fill 80 ms, and three.
    let (window, threshold, _) = wide_start(4);
    assert_eq!((window, threshold), (23, Some(23)));
    // In 12 ms it is 667 kbit/s: 6 and three would be fewer than a stock window.
    let (window, threshold, _) = wide_start(12);
    assert_eq!((window, threshold), (10, Some(10)));
}

/// A server's handshake of TLS is a flight of three. The client's request comes a round trip later, and the answer comes in at
/// 8 Mbit/s. Counted from the flight before it, nine segments would have taken 89 ms, 1 Mbit/s.
#[test]
fn a_wide_start_looks_at_a_flight_that_is_long_enough() {
    let host = SharedAttendant::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 3);
    line.arrive(&mut warm, 80, 1);
    line.arrive(&mut warm, 81, 2);
    line.start(&mut warm, 32);
    for n in 0..9 {
        let order = line.window.pacing_order().unwrap();
        assert_eq!(order.fixed, Some(Rate::from_bps(5_000_000)), "{n}");
        line.arrive(&mut warm, 161 + n, 1);
    }
    assert_eq!((line.segments(), line.window.ssthresh()), (32, u64::MAX));
    assert_eq!(line.window.pacing_order().unwrap().fixed, None);
}

#[test]
fn one_connection_on_a_path_begins_wide_in_a_round_trip() {
    let host = SharedAttendant::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let windows = [0, 79, 80].map(|ms| {
        let (mut line, mut warm) = (Line::new(ms), Warm::new(wide, (false, false)));
        line.open(&mut warm, &host);
        line.segments()
    });
    assert_eq!(windows, [32, 10, 32]);
}

/// A tiny transfer has shown that the path takes four segments, not that it takes no more. One that has lost something, or
/// left slow start, has found a bound, and so has a warm start of 16 that failed: eight are left of it.
/// A handshake of 80 ms is over at 1080 ms: a round trip and a quarter before that is 980 ms. Another one that began then is company,
/// one that began a millisecond sooner is not.
#[test]
fn among_others_a_cold_start_is_less_wide() {
    let options = WarmOptions { cold: ColdOpening::Wide, wide_among: 20, ..options() };
    let begins_with = |other_ms: Option<u64>| {
        let host = SharedAttendant::default();
        for ms in other_ms.into_iter().chain([1000]) {
            host.borrow_mut().lender.begin_handshake(at(ms), PEER.into());
        }
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, (false, false)));
        line.now = at(1080);
        line.open(&mut warm, &host);
        line.segments()
    };
    assert_eq!([None, Some(979), Some(980)].map(begins_with), [32, 32, 20]);
}

#[test]
fn a_remembered_tiny_transfer_bars_no_wide_start_unless_it_met_a_bound() {
    let windows = [(4, 0, false), (4, 3, false), (16, 0, true)].map(|(window, ssthresh, fails)| {
        let host = SharedAttendant::default();
        let known = PathSample {
            at: at(0),
            window,
            ssthresh,
            shown_rate: 0,
            srtt_us: RTT_US,
            min_rtt_us: RTT_US,
            rate: 0,
        };
        let lends = |lender: &mut memory::Lender| {
            lender.learn((at(0), PEER.into()), &known, false, &options().terms);
            if fails {
                lender.halve(PEER.into());
            }
        };
        lends(&mut host.borrow_mut().lender);
        let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
        let (mut line, mut warm) = (Line::new(1000), Warm::new(wide, (false, false)));
        line.open(&mut warm, &host);
        line.segments()
    });
    assert_eq!(windows, [32, 10, 10]);
}

#[test]
fn a_loss_ends_a_wide_start() {
    let host = SharedAttendant::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 32);
    line.now = at(90);
    line.tell(&mut warm, |startup, window, at| startup.lose(window, at));
    let order = line.window.pacing_order().unwrap();
    assert_eq!((order.is_on, order.fixed), (false, None));
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

#[test]
fn first_data_that_comes_late_asks_the_memory_again() {
    let host = host(100, 0);
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options(), (false, false)));
    line.open(&mut warm, &host);
    // Meanwhile the path has failed another connection.
    host.borrow_mut().lender.halve(PEER.into());
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

/// Thirteen segments of 1000 bytes that arrive 1 ms apart, the last of them queued for 9 ms, are 1 MB/s: 80 segments in a round
/// trip. Two connections that open together begin with half of them each, no more than stock since nobody has proven more,
/// and their segments leave a millisecond apart by turns. A loss among them costs the estimate, too.
#[test]
fn flights_that_begin_together_leave_by_turns_at_the_rate_of_all() {
    let host = host(5, 0);
    let to = IpAddr::from(PEER);
    for ms in 0..13 {
        let arrived = (MSS, Duration::from_millis(9));
        host.borrow_mut().lender.note_arrival((at(ms), to), arrived);
    }
    for _ in 0..2 {
        host.borrow_mut().lender.begin_handshake(at(1000), to);
    }
    let options = WarmOptions { paces_together: true, ..options() };
    let begin = || {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, (false, false)));
        line.open(&mut warm, &host);
        (line, warm)
    };
    let ((mut line, mut one), (_, mut other)) = (begin(), begin());
    assert_eq!((line.segments(), line.window.ssthresh()), (10, 40 * MSS));
    assert!(one.shares_pace() && other.shares_pace());
    // The one asks, asks again, and sends; the other is next, and the one after that.
    let leave = |warm: &mut Warm| warm.book_departure(at(1000), MSS);
    assert_eq!([leave(&mut one), leave(&mut one)], [Some(at(1000)); 2]);
    one.on_departure();
    assert_eq!([leave(&mut other), leave(&mut one)], [Some(at(1001)), Some(at(1002))]);
    // Ten have arrived: the flight is over, and nothing is given a time any more.
    line.start(&mut one, 10);
    line.arrive(&mut one, 1080, 10);
    assert!(!one.shares_pace() && leave(&mut one).is_none());
    let (mut line, mut third) = begin();
    line.start(&mut third, 10);
    line.tell(&mut third, |startup, window, at| startup.lose(window, at));
    assert_eq!(host.borrow_mut().lender.carried(to), 0);
}

/// Thirteen segments of 1000 bytes that arrive 0.4 ms apart are 2.5 MB/s. One connection that opens by itself has no rate of its
/// own: 100 segments leave at that, and not at 1.2 windows in a round trip, 1.5 MB/s. It shares the pace with nobody.
#[test]
fn alone_it_leaves_at_the_rate_that_all_have_shown() {
    let host = host(100, 0);
    for n in 0..13 {
        let arrived = (MSS, Duration::from_millis(4));
        let now = Instant::from_nanos(400_000 * n);
        host.borrow_mut().lender.note_arrival((now, PEER.into()), arrived);
    }
    let options = WarmOptions { paces_together: true, ..options() };
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options, (false, false)));
    line.open(&mut warm, &host);
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(20_000_000)));
    assert!(!warm.shares_pace());
    // If that loses something the rate was wrong, and the next one must not leave at it.
    line.start(&mut warm, 100);
    line.tell(&mut warm, |startup, window, at| startup.lose(window, at));
    assert_eq!(host.borrow_mut().lender.carried(PEER.into()), 0);
}

/// Thirteen segments 4 ms apart, queued for a quarter of the time that they took, are 250 kB/s: 20 segments in a round trip. Of
/// five that open together each has four, less than a stock window. The application announces 30, then three: the share is the
/// first flight all the same, as a stock window would be.
#[test]
fn a_share_below_a_stock_window_is_not_widened_by_what_is_announced() {
    let host = host(5, 0);
    let to = IpAddr::from(PEER);
    for n in 0..13 {
        let arrived = (MSS, Duration::from_millis(13));
        host.borrow_mut().lender.note_arrival((at(4 * n), to), arrived);
    }
    for _ in 0..5 {
        host.borrow_mut().lender.begin_handshake(at(1000), to);
    }
    let options = WarmOptions { paces_together: true, hears_size: true, ..options() };
    for announced in [30, 3] {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, (false, false)));
        line.open(&mut warm, &host);
        assert_eq!(line.segments(), 4);
        let transfer =
            PendingData { bytes: announced * MSS, admitted: u64::MAX, announced: announced * MSS };
        line.tell(&mut warm, |startup, window, at| startup.start(window, at, transfer));
        assert_eq!(line.segments(), 4);
    }
}

/// 100 remembered segments fill the path, and the flight has left evenly. When slow start is over the window is open for 40 more than
/// are under way: they do not leave at once. Pacing ends when no more than a stock burst would, or with a new transfer.
#[test]
fn pacing_lasts_until_no_more_than_a_stock_burst_waits() {
    let options = WarmOptions { cold: ColdOpening::Stock, paces_together: true, ..options() };
    let host = host(100, 0);
    let begin = || {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, 100);
        // It has arrived, slow start ends at 120, and 80 of these have left.
        line.sent = 180 * MSS;
        line.window.set_cwnd(120 * MSS, Cause::SlowStart);
        line.window.set_ssthresh(120 * MSS, Cause::HyStart);
        line.arrive(&mut warm, 1080, 100);
        (line, warm)
    };
    let is_paced = |line: &Line| line.window.pacing_order().unwrap().is_on;
    let (mut line, mut warm) = begin();
    assert!(is_paced(&line));
    line.sent += 31 * MSS;
    line.arrive(&mut warm, 1090, 2);
    // 109 of 120 are under way, eleven wait; then ten.
    assert!(is_paced(&line));
    line.sent += 2 * MSS;
    line.arrive(&mut warm, 1091, 1);
    assert!(!is_paced(&line));
    let (mut line, mut warm) = begin();
    line.sent = line.acked;
    line.start(&mut warm, 100);
    assert!(!is_paced(&line));
}

/// Thirteen segments of 1000 bytes 8 ms apart are 125 kB/s: 8 ms each. Of two that send each has one in 16 ms, and two take 32. Who
/// has had all acknowledged, or has closed, does not send.
#[test]
fn a_timer_waits_for_segments_of_all_that_send() {
    let host = host(5, 0);
    let to = IpAddr::from(PEER);
    for n in 0..13 {
        let arrived = (MSS, Duration::from_millis(24));
        host.borrow_mut().lender.note_arrival((at(8 * n), to), arrived);
    }
    let options = WarmOptions { paces_together: true, timer_gaps: 2, ..options() };
    let begin = || {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, 4);
        (line, warm)
    };
    let ((mut line, mut one), (mut other_line, mut other)) = (begin(), begin());
    let spacing = |warm: &Warm| Overlay::timer_spacing(warm, MSS);
    assert_eq!(spacing(&one), Duration::from_millis(32));
    line.arrive(&mut one, 1080, 4);
    assert_eq!(spacing(&other), Duration::from_millis(16));
    line.start(&mut one, 4);
    assert_eq!(spacing(&other), Duration::from_millis(32));
    other_line.tell(&mut other, |startup, window, at| startup.close(window, at, None));
    assert_eq!(spacing(&one), Duration::from_millis(16));
}

/// Thirteen segments of 1000 bytes that arrive 1 ms apart, queued for 9 ms, are 1 MB/s, of which a round trip of 80 ms holds 80. A cold
/// start of which eight segments have arrived has that as its window, and sends at that rate; beside another one half of either.
#[test]
fn the_second_flight_is_what_the_path_holds_at_the_rate_of_the_first() {
    let options = WarmOptions { paces_together: true, jumps_by_dispersion: true, ..options() };
    let after = |arrived: [u64; 2], others: u32| {
        let host = SharedAttendant::default();
        for ms in 0..13 {
            let arrived = (MSS, Duration::from_millis(9));
            host.borrow_mut().lender.note_arrival((at(ms), PEER.into()), arrived);
        }
        for _ in 0..others {
            host.borrow_mut().lender.count_sender(PEER.into(), true);
        }
        let (mut line, mut warm) = (Line::new(0), Warm::new(options, (false, false)));
        line.open(&mut warm, &host);
        line.start(&mut warm, 10);
        line.arrive(&mut warm, 90, arrived[0]);
        line.arrive(&mut warm, 91, arrived[1]);
        (line.segments(), line.window.pacing_order().unwrap().fixed)
    };
    assert_eq!(after([6, 1], 0), (10, None));
    assert_eq!(after([7, 1], 0), (80, Some(Rate::from_bps(8_000_000))));
    assert_eq!(after([7, 1], 1), (40, Some(Rate::from_bps(4_000_000))));
}

/// A cold start of ten segments, of which eight have arrived over a path that carries 1 MB/s: it has jumped to 80 if it was alone.
fn jumped(is_paced: bool) -> (Line, Warm, SharedAttendant) {
    let options = WarmOptions { paces_together: true, jumps_by_dispersion: true, ..options() };
    let host = carrying(1);
    let (mut line, mut warm) = (Line::new(0), Warm::new(options, (false, is_paced)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    line.arrive(&mut warm, 90, 7);
    line.arrive(&mut warm, 91, 1);
    assert_eq!(line.segments(), 80);
    (line, warm, host)
}

/// A host to whose peer segments of 1000 bytes have arrived `ms` apart, queued for longer than that took.
fn carrying(ms: u64) -> SharedAttendant {
    let host = SharedAttendant::default();
    for n in 0..13 {
        let arrived = (MSS, Duration::from_millis(9 * ms));
        host.borrow_mut().lender.note_arrival((at(n * ms), PEER.into()), arrived);
    }
    host
}

/// 1 MB/s are 8 Mbit/s for one sender. Another one begins while the second flight leaves: each has 4 Mbit/s from the next segment on,
/// and 8 again from the next ACK on once the other has ended.
#[test]
fn the_second_flight_leaves_at_the_rate_that_is_left_by_those_who_send_now() {
    let (mut line, mut warm, host) = jumped(false);
    let fixed = |line: &Line| line.window.pacing_order().unwrap().fixed;
    assert_eq!(fixed(&line), Some(Rate::from_bps(8_000_000)));
    host.borrow_mut().lender.count_sender(PEER.into(), true);
    assert!(warm.watches_sending());
    line.tell(&mut warm, |startup, window, at| startup.before_sending(window, at, 70 * MSS));
    assert_eq!(fixed(&line), Some(Rate::from_bps(4_000_000)));
    host.borrow_mut().lender.count_sender(PEER.into(), false);
    line.sent += 30 * MSS;
    line.arrive(&mut warm, 92, 1);
    assert_eq!(fixed(&line), Some(Rate::from_bps(8_000_000)));
}

/// Eight senders over a path that carries 1 MB/s have 125 kB/s each, of which 80 ms hold ten segments: no more than a stock window.
/// Nothing has jumped then. When the seven others have ended 80 are there for it.
#[test]
fn a_window_that_could_not_jump_jumps_when_others_have_ended() {
    let options = WarmOptions { paces_together: true, jumps_by_dispersion: true, ..options() };
    let host = carrying(1);
    for _ in 0..7 {
        host.borrow_mut().lender.count_sender(PEER.into(), true);
    }
    let (mut line, mut warm) = (Line::new(0), Warm::new(options, (false, false)));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    line.arrive(&mut warm, 90, 8);
    assert_eq!((line.segments(), line.window.pacing_order().unwrap().is_on), (10, false));
    for _ in 0..7 {
        host.borrow_mut().lender.count_sender(PEER.into(), false);
    }
    line.arrive(&mut warm, 91, 1);
    assert_eq!((line.segments(), line.window.pacing_order().unwrap().is_on), (80, true));
}

/// Pacing that was switched on by the second flight ends with the search, and what was configured (`pacing=on`) stays.
#[test]
fn configured_pacing_outlasts_the_second_flight() {
    let after_a_loss = |is_paced| {
        let (mut line, mut warm, _) = jumped(is_paced);
        line.tell(&mut warm, |startup, window, at| startup.lose(window, at));
        // Nothing is under way any more: pacing that is to end does.
        line.sent = line.acked;
        line.start(&mut warm, 20);
        let order = line.window.pacing_order().unwrap();
        (order.is_on, order.fixed)
    };
    assert_eq!((after_a_loss(false), after_a_loss(true)), ((false, None), (true, None)));
}

/// A server's three segments of TLS are no flight to look at. Of the answer behind them ten leave at once, as from a stock
/// connection, and what is beyond ten is paced.
#[test]
fn behind_a_handshake_of_tls_a_wide_start_begins_with_a_stock_burst() {
    let options = WarmOptions { cold: ColdOpening::Wide, paces_together: true, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(options, (false, false)));
    line.open(&mut warm, &SharedAttendant::default());
    line.start(&mut warm, 3);
    line.arrive(&mut warm, 80, 3);
    let mut is_paced = |sent| {
        line.sent = line.acked + sent * MSS;
        line.tell(&mut warm, |startup, window, at| startup.before_sending(window, at, 30 * MSS));
        line.window.pacing_order().unwrap().is_on
    };
    assert_eq!([is_paced(0), is_paced(9), is_paced(10)], [false, false, true]);
}
