//! Connections that send to one network: shares of its path, the common pace, and timers that count
//! others.

use super::*;

/// Thirteen segments of 1000 bytes arrive 0.4 ms apart, the last of them queued: 2.5 MB/s.
fn show_20_mbps(host: &SharedHostState) {
    for n in 0..13 {
        let queued = Duration::from_millis(4);
        let now = Instant::from_nanos(400_000 * n);
        host.borrow_mut().pool.note_arrival(now, PEER.into(), MSS, queued);
    }
}

/// Thirteen segments of 1000 bytes that are delivered 1 ms apart, the last of them queued for 9 ms,
/// are 1 MB/s: 80 segments in a round trip. Two connections that open together begin with half of
/// them each, which is no more than stock because no more is proven. Their segments leave
/// interleaved, a millisecond apart. A loss among them ends the estimate, too.
#[test]
fn flights_that_begin_together_leave_by_turns_at_the_rate_of_all() {
    let host = host(5, 0);
    let to = IpAddr::from(PEER);
    for ms in 0..13 {
        let queued = Duration::from_millis(9);
        host.borrow_mut().pool.note_arrival(at(ms), to, MSS, queued);
    }
    for _ in 0..2 {
        host.borrow_mut().pool.begin_handshake(at(1000), to);
    }
    let options = WarmOptions { paces_together: true, ..options() };
    let begin = || {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, Underneath::default()));
        line.open(&mut warm, &host);
        (line, warm)
    };
    let ((mut line, mut one), (_, mut other)) = (begin(), begin());
    assert_eq!((line.segments(), line.window.ssthresh()), (10, 40 * MSS));
    assert!(one.needs().shares_pace && other.needs().shares_pace);
    // The one asks, asks again, and sends; the other is next, and the one after that.
    let leave = |warm: &mut Warm| warm.schedule_departure(at(1000), MSS);
    assert_eq!([leave(&mut one), leave(&mut one)], [Some(at(1000)); 2]);
    one.on_departure();
    assert_eq!([leave(&mut other), leave(&mut one)], [Some(at(1001)), Some(at(1002))]);
    // Ten are delivered: the flight is over, and later segments get no departure time.
    line.start(&mut one, 10);
    line.arrive(&mut one, 1080, 10);
    assert!(!one.needs().shares_pace && leave(&mut one).is_none());
    let (mut line, mut third) = begin();
    line.start(&mut third, 10);
    line.queue();
    line.notify(&mut third, |startup, window, at| startup.on_loss_or_mark(window, at));
    assert_eq!(host.borrow_mut().pool.delivery_rate(at(0), to, Duration::from_secs(600)), 0);
}

/// All have shown 2.5 MB/s, and the path is known to carry half of that: 103 segments in a round
/// trip, which leave at 1.29 MB/s.
#[test]
fn a_rate_of_its_own_goes_before_the_rate_that_all_have_shown() {
    let host = host(100, 1_250_000);
    show_20_mbps(&host);
    let options = WarmOptions { paces_together: true, ..options() };
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options, Underneath::default()));
    line.open(&mut warm, &host);
    assert_eq!(line.segments(), 103);
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(10_300_000)));
}

/// Thirteen segments of 1000 bytes that are delivered 0.4 ms apart are 2.5 MB/s. One connection
/// that opens by itself has no rate of its own. 100 segments leave at that rate, not at 1.2 windows
/// in a round trip, 1.5 MB/s. It does not share the pace.
#[test]
fn alone_it_leaves_at_the_rate_that_all_have_shown() {
    let host = host(100, 0);
    show_20_mbps(&host);
    let options = WarmOptions { paces_together: true, ..options() };
    let (mut line, mut warm) = (Line::new(1000), Warm::new(options, Underneath::default()));
    line.open(&mut warm, &host);
    assert_eq!(line.window.pacing_rate(), Some(Rate::from_bps(20_000_000)));
    assert!(!warm.needs().shares_pace);
    // If that meets a queue and a segment is lost, the rate was wrong, and the next connection must
    // not use it.
    line.start(&mut warm, 100);
    line.arrive(&mut warm, 1081, 10);
    line.queue();
    line.notify(&mut warm, |startup, window, at| startup.on_loss_or_mark(window, at));
    assert_eq!(
        host.borrow_mut().pool.delivery_rate(at(0), PEER.into(), Duration::from_secs(600)),
        0
    );
}

/// 100 remembered segments fill the path, and the flight has left evenly. When slow start is over
/// the window is open for 40 more than are under way: they do not leave at once. Pacing ends when
/// no more than a stock burst would, or with a new transfer.
#[test]
fn pacing_lasts_until_no_more_than_a_stock_burst_waits() {
    let options = WarmOptions { cold: ColdOpening::Stock, paces_together: true, ..options() };
    let host = host(100, 0);
    let begin = || {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, Underneath::default()));
        line.open(&mut warm, &host);
        line.start(&mut warm, 100);
        // It is delivered, slow start ends at 120, and 80 of these have left.
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

/// Thirteen segments of 1000 bytes 8 ms apart are 125 kB/s: 8 ms each. Each of two senders has one
/// in 16 ms, and two take 32. A connection whose data is all acknowledged, or that has closed, does
/// not send.
#[test]
fn a_timer_waits_for_segments_of_all_that_send() {
    let host = host(5, 0);
    let to = IpAddr::from(PEER);
    for n in 0..13 {
        let queued = Duration::from_millis(24);
        host.borrow_mut().pool.note_arrival(at(8 * n), to, MSS, queued);
    }
    let options = WarmOptions { paces_together: true, timer_gaps: 2, ..options() };
    let begin = || {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, Underneath::default()));
        line.open(&mut warm, &host);
        line.start(&mut warm, 4);
        (line, warm)
    };
    let ((mut line, mut one), (mut other_line, mut other)) = (begin(), begin());
    let spacing = |warm: &Warm| {
        let gaps = Overlay::capabilities(warm).timer_gaps;
        host.borrow_mut().pool.spacing(to, MSS).saturating_mul(gaps.into())
    };
    assert_eq!(spacing(&one), Duration::from_millis(32));
    line.arrive(&mut one, 1080, 4);
    assert_eq!(spacing(&other), Duration::from_millis(16));
    line.start(&mut one, 4);
    assert_eq!(spacing(&other), Duration::from_millis(32));
    other_line.notify(&mut other, |startup, window, at| startup.on_close(window, at, None));
    assert_eq!(spacing(&one), Duration::from_millis(16));
}
