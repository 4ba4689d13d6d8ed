//! Restart after idling, by hand: segments of 1000 bytes, a restart window of ten, and one round
//! trip of 100 ms. So the timeout is 100 + 4 * 50 = 300 ms (RFC 6298 §2.2).

use super::*;
use policy::ack::AckSample;
use policy::config::{ConnectionConfig, RtoConfig};
use policy::congestion::{CongestionControl, CongestionEvent, Halve, LoweredWindow, Reno};
use policy::startup::SlowStart;
use policy::window::Window;
use std::cell::Cell;
use std::rc::Rc;

const MSS: u64 = 1000;
const DATA: PendingData = PendingData { bytes: 100_000, admitted: 65_535, announced: 0 };
const RTO: Duration = Duration::from_millis(300);

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn config(idle: IdleRestart) -> ConnectionConfig {
    let rto = RtoConfig { min: Duration::from_millis(200), ..ConnectionConfig::default().rto };
    ConnectionConfig { mss: MSS as u32, rto, idle, ..ConnectionConfig::default() }
}

/// Returns a path with a window of `cwnd` segments and a threshold, whose last data was sent at 0
/// and acknowledged at 100 ms.
fn idle_since_0(idle: IdleRestart, cwnd: u64, ssthresh: Option<u64>) -> Path {
    let reno = Reno { halve: Halve::FlightSize, whole_segments: false };
    let mut path = Path::new(&config(idle), Box::new(SlowStart), Box::new(reno));
    path.on_sending_resumed(at(0), RTO, DATA);
    path.on_payload_sent(at(0), MSS as u32, MSS, || MSS as u32);
    path.window.set_now(at(100));
    path.on_acked(MSS);
    path.on_rtt_sample(at(0), at(100));
    assert_eq!(path.rtt.rto(0), RTO);
    if let Some(segments) = ssthresh {
        path.window.set_ssthresh(segments * MSS, Cause::Seed);
    }
    path.window.set_cwnd(cwnd * MSS, Cause::Seed);
    path.in_startup = false;
    path
}

/// Returns window and threshold in segments, and whether slow start owns them, once data waits
/// again at `ms`.
fn resumed(path: &mut Path, ms: u64) -> (u64, Option<u64>, bool) {
    assert_eq!(path.on_sending_resumed(at(ms), RTO, DATA), None);
    state(path)
}

fn state(path: &Path) -> (u64, Option<u64>, bool) {
    let ssthresh = Some(path.window.ssthresh()).filter(|bytes| *bytes != u64::MAX);
    (path.window.cwnd() / MSS, ssthresh.map(|bytes| bytes / MSS), path.in_startup)
}

/// RFC 2861 §3.1: after more than a timeout the window is halved for each timeout of idling, down
/// to the restart window. The threshold is three quarters of the old window at least.
#[test]
fn decay_halves_once_for_each_timeout() {
    let after = |ms| resumed(&mut idle_since_0(IdleRestart::Decay, 40, Some(20)), ms);
    assert_eq!(after(300), (40, Some(20), false));
    assert_eq!([301, 599].map(after), [(20, Some(30), true); 2]);
    assert_eq!(after(600), (10, Some(30), true));
    // Three halvings would leave five, and a day of them nothing.
    assert_eq!([900, 86_400_000].map(after), [(10, Some(30), true); 2]);
}

/// A threshold of more than three quarters stays, and so does one that is not known. A window below
/// the restart window is not raised.
#[test]
fn decay_lowers_no_threshold_and_raises_no_window() {
    let after =
        |cwnd, ssthresh| resumed(&mut idle_since_0(IdleRestart::Decay, cwnd, ssthresh), 301);
    assert_eq!(after(40, Some(35)), (20, Some(35), true));
    assert_eq!(after(40, None), (20, None, true));
    assert_eq!(after(4, Some(20)), (4, Some(20), true));
}

/// RFC 5681 §4.1: RW = min(IW, cwnd).
#[test]
fn slow_start_begins_with_the_restart_window_or_less() {
    let after = |cwnd| resumed(&mut idle_since_0(IdleRestart::SlowStart, cwnd, Some(20)), 301);
    assert_eq!([after(40), after(4)], [(10, Some(20), true), (4, Some(20), true)]);
    let kept = resumed(&mut idle_since_0(IdleRestart::Keep, 40, Some(20)), 301);
    assert_eq!(kept, (40, Some(20), false));
}

/// The application writes again before a segment was sent: that is the same idle time.
#[test]
fn an_idle_time_counts_once() {
    let mut path = idle_since_0(IdleRestart::Decay, 40, Some(20));
    assert_eq!(resumed(&mut path, 301), (20, Some(30), true));
    assert_eq!(resumed(&mut path, 601), (20, Some(30), true));
    // A segment is sent, and the next idle time begins.
    path.on_payload_sent(at(601), MSS as u32, MSS, || MSS as u32);
    assert_eq!(resumed(&mut path, 902), (10, Some(30), true));
}

/// ns-2's timer keeps running from the last ACK at 100 ms, and has run out at 400 ms. Then one
/// segment is left, and slow start.
#[test]
fn a_timer_that_runs_on_has_run_out_a_timeout_after_the_last_ack() {
    let mut path = idle_since_0(IdleRestart::TimerSlowStart, 40, Some(20));
    assert_eq!(path.on_sending_resumed(at(399), RTO, DATA), None);
    assert_eq!(state(&path), (40, Some(20), false));
    let mut path = idle_since_0(IdleRestart::TimerSlowStart, 40, Some(20));
    assert_eq!(path.on_sending_resumed(at(400), RTO, DATA), Some(at(400)));
    path.restart_by_timer();
    assert_eq!(state(&path), (1, Some(20), true));
    let mut path = idle_since_0(IdleRestart::TimerKeep, 40, Some(20));
    path.restart_by_timer();
    assert_eq!(state(&path), (40, Some(20), false));
}

/// A restored path goes on: its threshold shows whether it is in slow start, and the idle time
/// continues.
#[test]
fn a_parked_path_goes_on() {
    for (ssthresh, in_startup) in [(Some(20), false), (Some(50), true), (None, true)] {
        let idle = idle_since_0(IdleRestart::Decay, 40, ssthresh).compress();
        let mut path = idle_since_0(IdleRestart::Decay, 10, None);
        path.last_sent = None;
        path.restore(&idle);
        assert_eq!(state(&path), (40, ssthresh, in_startup));
        let (cwnd, ..) = resumed(&mut path, 301);
        assert_eq!(cwnd, 20);
    }
}

/// Notes the idle time in the notification.
struct Listening(Rc<Cell<Option<Duration>>>);

impl CongestionControl for Listening {
    fn on_ack(&mut self, _: &mut Window, _: &AckSample) {}

    fn on_congestion(&mut self, window: &Window, _: &CongestionEvent) -> LoweredWindow {
        LoweredWindow::to(window.cwnd())
    }

    fn on_restart(&mut self, _: &mut Window, _: Instant, idle: Duration) {
        self.0.set(Some(idle));
    }
}

/// This includes an idle time shorter than a timeout, during which a curve stands still (RFC 9438
/// §5.8), but not the first data.
#[test]
fn the_congestion_control_is_told_of_every_idle_time() {
    let reported = Rc::new(Cell::new(None));
    let control = Box::new(Listening(reported.clone()));
    let mut path = Path::new(&config(IdleRestart::Decay), Box::new(SlowStart), control);
    path.on_sending_resumed(at(0), RTO, DATA);
    assert_eq!(reported.get(), None);
    path.on_payload_sent(at(0), MSS as u32, MSS, || MSS as u32);
    path.on_sending_resumed(at(150), RTO, DATA);
    assert_eq!(reported.get(), Some(Duration::from_millis(150)));
}
