//! The example of Balakrishnan et al. 1998 §5.5, two clients and a window of 8 KB, worked out by
//! hand.

use super::*;
use policy::config::{ConnectionConfig, RtoConfig};
use policy::congestion::{Halve, Proxy};
use policy::send_plan::SendPlan;
use policy::startup::SlowStart;
use policy::window::PlanOrder;

const A: ProxyClient = ProxyClient::Own(1, 9);
const B: ProxyClient = ProxyClient::Named(7);

/// Returns a path in congestion avoidance with 8 segments of 1 KB, as if 100 had been sent.
fn proxied() -> Path {
    let config = ConnectionConfig {
        mss: 1024,
        initial_window: 8,
        initial_ssthresh: Some(8),
        ..ConnectionConfig::default()
    };
    let mut path =
        Path::new(&config, Box::new(SlowStart), Box::new(Proxy::new(Halve::Window, false, None)));
    path.share(Sharing::default());
    path.set_clients(2);
    path.segments_sent = 100;
    path
}

/// Lets `client` lose the segment at position `order`; returns the rest of the window.
fn lose(path: &mut Path, client: ProxyClient, order: u64, reduction: Reduction) -> u64 {
    let cwnd = path.window.cwnd();
    let timeout = reduction == Reduction::ToOneSegment;
    let event = CongestionEvent {
        now: Instant::ZERO,
        flight_size: cwnd,
        usable_window: cwnd,
        timeout,
        repeated: false,
        losing_clients: 1,
    };
    let report = Report { congestion: Some(reduction), ..Report::default() };
    path.on_member_report(&report, &event, Origin { ports: (1, 9), client }, order);
    path.window.cwnd()
}

#[test]
fn each_client_loses_half_of_its_part_once_for_a_window_of_data() {
    let mut path = proxied();
    let half = Reduction::ToSsthresh;
    // 6 KB are left, 3 each. B had 4 KB of the same window too, and halves these: 4 KB. Other
    // losses of earlier segments, 0 to 99, cost nothing more.
    assert_eq!(lose(&mut path, A, 92, half), 6144);
    assert_eq!(lose(&mut path, A, 94, half), 6144);
    assert_eq!(lose(&mut path, B, 93, half), 4096);
    assert_eq!(lose(&mut path, A, 96, half), 4096);
    assert_eq!(lose(&mut path, B, 99, half), 4096);
    // A loss of a later segment does: three quarters of 4096.
    assert_eq!(lose(&mut path, B, 100, half), 3072);
    // For each client, growth for delivered data stops when its part is reduced.
    path.segments_sent = 110;
    lose(&mut path, A, 105, half);
    assert!(path.is_before_reduction(A, 109) && !path.is_before_reduction(A, 110));
    assert!(path.is_before_reduction(B, 99) && !path.is_before_reduction(B, 100));
}

#[test]
fn a_timeout_takes_the_whole_window_from_all() {
    let mut path = proxied();
    assert_eq!(lose(&mut path, A, 92, Reduction::ToOneSegment), 1024);
    let ssthresh = path.window.ssthresh();
    lose(&mut path, B, 93, Reduction::ToSsthresh);
    assert_eq!((path.window.cwnd(), path.window.ssthresh()), (1024, ssthresh));
}

#[test]
fn a_glide_under_way_goes_on_to_what_both_leave() {
    // The window is being reduced from 8 KB to 6 when B has a loss too: it is to be 4 KB in the
    // end.
    let mut path = proxied();
    assert_eq!(lose(&mut path, A, 92, Reduction::Gradual), 8192);
    assert_eq!(path.window.ssthresh(), 6144);
    lose(&mut path, B, 93, Reduction::Gradual);
    assert_eq!(path.window.ssthresh(), 4096);
}

/// B's loss in the window of data after A's is the first of that one: a quarter of 6 KB.
#[test]
fn each_window_of_data_counts_its_own_losers() {
    let mut path = proxied();
    let half = Reduction::ToSsthresh;
    assert_eq!(lose(&mut path, A, 92, half), 6144);
    path.segments_sent = 106;
    assert_eq!(lose(&mut path, B, 100, half), 4608);
    // A's segment 101 is of the same window as B's: a quarter of 6 KB more.
    assert_eq!(lose(&mut path, A, 101, half), 3072);
    // A timeout ends that window too, so B's next loss is a first one: three quarters of 8 KB.
    lose(&mut path, A, 105, Reduction::ToOneSegment);
    path.segments_sent = 110;
    path.window.set_cwnd(8192, Cause::Avoidance);
    assert_eq!(lose(&mut path, B, 106, half), 6144);
}

/// A's reduction to 6 KB is undone, so B is the only client that lost: 6 KB again, not 4.
#[test]
fn a_client_whose_part_is_restored_has_not_lost() {
    let mut path = proxied();
    lose(&mut path, A, 92, Reduction::ToSsthresh);
    let undo = Report { undo: true, ..Report::default() };
    let event = CongestionEvent {
        now: Instant::ZERO,
        flight_size: 6144,
        usable_window: 6144,
        timeout: false,
        repeated: false,
        losing_clients: 1,
    };
    path.on_member_report(&undo, &event, Origin { ports: (1, 9), client: A }, 93);
    assert_eq!(path.window.cwnd(), 8192);
    assert_eq!(lose(&mut path, B, 93, Reduction::ToSsthresh), 6144);
}

/// RFC 6937 §4, figure 1, on a shared path: 20 segments in flight, the first is lost, three are
/// SACKed. With the fast retransmission out, one segment may be sent for every two delivered.
#[test]
fn a_gradual_reduction_counts_segments() {
    const MSS: u32 = 1024;
    let config = ConnectionConfig { mss: MSS, initial_window: 20, ..ConnectionConfig::default() };
    let halve = Box::new(Proxy::new(Halve::Window, false, None));
    let mut path = Path::new(&config, Box::new(SlowStart), halve);
    path.share(Sharing::default());
    path.segments_sent = 20;
    lose(&mut path, A, 19, Reduction::Gradual);
    let mss = u64::from(MSS);
    path.in_flight = 16 * mss;
    let sample = AckSample::of(Instant::ZERO, mss);
    path.on_member_ack(&sample, None, false);
    let sent: Vec<u64> = (0..12)
        .map(|_| {
            let allowed = path.window.cwnd().saturating_sub(path.in_flight) / mss;
            for _ in 0..allowed {
                path.on_unpaced_sent(Instant::ZERO, MSS, mss);
            }
            path.in_flight = path.in_flight + allowed * mss - mss;
            path.on_member_ack(&sample, None, false);
            allowed
        })
        .collect();
    assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
}

#[test]
fn a_client_that_is_gone_is_forgotten() {
    let mut path = proxied();
    lose(&mut path, A, 92, Reduction::ToSsthresh);
    path.forget_client(A);
    assert!(!path.is_before_reduction(A, 92));
}

/// The path of 100 ms has eight segments and a clock that ticks each 500 ms. A sample is a tick at
/// least, so the smoothed round trip is 500 ms: a segment each 62.5 ms. The lowest is exact: one
/// each 12.5 ms.
#[test]
fn a_coarse_clock_need_not_make_pacing_coarse() {
    let order = |joins| {
        let tick = Duration::from_millis(500);
        let config = ConnectionConfig {
            mss: 1024,
            initial_window: 8,
            rto: RtoConfig { tick, ..ConnectionConfig::default().rto },
            ..ConnectionConfig::default()
        };
        let halve = Box::new(Proxy::new(Halve::Window, false, None));
        let mut path = Path::new(&config, Box::new(SlowStart), halve);
        path.share(Sharing { joins, ..Sharing::default() });
        path.started = true;
        path.rtt.on_sample(Instant::ZERO, Instant::from_nanos(100_000_000), 1024, 1024);
        path.pace_first_window();
        path.window.take_order()
    };
    let spaced =
        |micros| Some(PlanOrder::Follow(SendPlan::spaced(1, Duration::from_micros(micros))));
    assert_eq!(order(JoinPacing::Off), None);
    assert_eq!(order(JoinPacing::Smoothed), spaced(62_500));
    assert_eq!(order(JoinPacing::Lowest), spaced(12_500));
}
