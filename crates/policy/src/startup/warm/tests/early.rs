//! Starts before a round trip was measured. The remembered path has 100 segments of 1000 bytes and
//! 80 ms.

use super::*;

/// A connection that has opened with data in its SYN, and answered with 40 segments.
fn answered(opens_early: bool, host: &SharedHostState) -> (Line, Warm) {
    let options = WarmOptions { opens_early, ..options() };
    let rtt = RttEstimator::new(ConnectionConfig::default().rto);
    let (mut line, mut warm) =
        (Line { rtt, ..Line::new(1000) }, Warm::new(options, Underneath::default()));
    host.borrow_mut().pool.begin_handshake(at(1000), PEER.into());
    warm.hook(HostAccess::new(host.clone(), PEER.into()));
    line.notify(&mut warm, |startup, window, at| startup.open(window, at, OpenedBy::EarlyData));
    line.start(&mut warm, 40);
    (line, warm)
}

/// Delivers one segment, with a first round trip of `ms`.
fn measures(line: &mut Line, warm: &mut Warm, ms: u64) {
    line.rtt.on_sample(at(1000), at(1000 + ms), 0, 0);
    line.arrive(warm, 1000 + ms, 1);
}

/// 100 segments in 80 ms are 1.25 MB/s; a first flight leaves at 1.2 times that. A round trip of 80
/// ms is that of the path: the flight continues, and ends with the 100th segment. If the option is
/// off, ten segments leave.
#[test]
fn data_in_a_syn_is_answered_as_remembered() {
    let host = host(100, 0);
    let (mut line, mut warm) = answered(true, &host);
    assert_eq!(line.segments(), 100);
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(12_000_000)));
    measures(&mut line, &mut warm, 80);
    assert_eq!((line.segments(), warm.in_first_flight()), (100, true));
    line.sent += 60 * MSS;
    line.arrive(&mut warm, 1160, 98);
    assert!(warm.in_first_flight());
    line.arrive(&mut warm, 1161, 1);
    assert!(!warm.in_first_flight());
    assert_eq!(answered(false, &host).0.segments(), 10);
}

/// 39 ms are less than half of 80, and so of another path. Segments that have not left wait for
/// ACKs, as with a stock window.
#[test]
fn the_first_round_trip_judges_a_start_that_left_before_it() {
    let (mut line, mut warm) = answered(true, &host(100, 0));
    measures(&mut line, &mut warm, 39);
    assert_eq!((line.segments(), warm.in_first_flight()), (10, false));
    assert_eq!(line.window.ssthresh(), u64::MAX);
    assert!(!line.window.pacing_order().is_some_and(|order| order.is_on));
}

/// A connection that opens without a round trip and without data in its SYN, as after a SYN cookie,
/// begins with ten. So does one whose memory is older than ten minutes.
#[test]
fn only_data_in_a_syn_is_answered_so() {
    let host = host(100, 0);
    let options = WarmOptions { opens_early: true, ..options() };
    let rtt = RttEstimator::new(ConnectionConfig::default().rto);
    let (mut line, mut warm) =
        (Line { rtt, ..Line::new(1000) }, Warm::new(options, Underneath::default()));
    line.open(&mut warm, &host);
    assert_eq!((line.segments(), warm.in_first_flight()), (10, false));
    let (mut line, mut warm) = (Line::new(601_000), Warm::new(options, Underneath::default()));
    line.rtt = RttEstimator::new(ConnectionConfig::default().rto);
    warm.hook(HostAccess::new(host, PEER.into()));
    line.notify(&mut warm, |startup, window, at| startup.open(window, at, OpenedBy::EarlyData));
    assert_eq!((line.segments(), warm.in_first_flight()), (10, false));
}

/// The first segments are lost, and the delivery of later ones has measured 39 ms. The start is
/// taken back, as one of another path, and the memory keeps its 100 segments.
#[test]
fn a_loss_before_the_judgement_is_judged_first() {
    let host = host(100, 0);
    let (mut line, mut warm) = answered(true, &host);
    line.rtt.on_sample(at(1000), at(1039), 0, 0);
    line.notify(&mut warm, |startup, window, at| startup.lose(window, at));
    assert!(!warm.in_first_flight() && !warm.has_fallen_back);
    assert_eq!(remembered(&host), Some(100));
}

/// The first of two connections that come within a round trip has the rest beside the other's stock
/// window. Once it has started, the second one has no more than a stock window.
#[test]
fn starts_without_a_round_trip_share_a_path() {
    let host = host(100, 0);
    host.borrow_mut().pool.begin_handshake(at(1000), PEER.into());
    let (first, _) = answered(true, &host);
    let (second, _) = answered(true, &host);
    let both = first.segments() + second.segments();
    assert!(first.segments() > 10 && both <= 100, "{both}");
}

/// Ten segments leave on a path that is not remembered.
#[test]
fn an_unknown_path_is_answered_as_ever() {
    assert_eq!(answered(true, &SharedHostState::default()).0.segments(), 10);
}
