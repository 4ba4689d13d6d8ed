//! The second flight of a cold start, by the rate of the first.

use super::*;

/// At 1 MB/s a round trip of 80 ms holds 80 segments. That becomes the window of a cold start with
/// eight segments delivered, which sends at that rate; beside another connection it has half of
/// both.
#[test]
fn the_second_flight_is_what_the_path_holds_at_the_rate_of_the_first() {
    let options = WarmOptions { paces_together: true, jumps_by_dispersion: true, ..options() };
    let after = |arrived: [u64; 2], others: u32| {
        let host = carrying();
        for _ in 0..others {
            host.borrow_mut().pool.count_sender(PEER.into(), true);
        }
        let (mut line, mut warm) = (Line::new(0), Warm::new(options, Underneath::default()));
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

/// Returns a cold start of ten segments, eight of them delivered over a path of 1 MB/s: alone, its
/// window has jumped to 80.
fn jumped(is_paced: bool) -> (Line, Warm, SharedHostState) {
    let options = WarmOptions { paces_together: true, jumps_by_dispersion: true, ..options() };
    let host = carrying();
    let (mut line, mut warm) =
        (Line::new(0), Warm::new(options, Underneath { models: false, is_paced }));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    line.arrive(&mut warm, 90, 7);
    line.arrive(&mut warm, 91, 1);
    assert_eq!(line.segments(), 80);
    (line, warm, host)
}

/// The flight of 80 segments after the eight delivered ones begins at the ninth. A loss while less
/// than that is acknowledged shows that the path does not carry as much; a later loss does not.
#[test]
fn a_second_flight_that_loses_something_ends_the_rate() {
    let carried_after_a_loss = |arrived: u64| {
        let (mut line, mut warm, host) = jumped(false);
        line.sent = 95 * MSS;
        line.arrive(&mut warm, 170, arrived);
        line.notify(&mut warm, |startup, window, at| startup.on_loss_or_mark(window, at));
        let max_age = Duration::from_secs(600);
        host.borrow_mut().pool.delivery_rate(at(170), PEER.into(), max_age) > 0
    };
    assert!(!carried_after_a_loss(79));
    assert!(carried_after_a_loss(80));
}

/// Returns a host to whose peer thirteen segments of 1000 bytes were delivered 1 ms apart, queued
/// for 9 ms: 1 MB/s.
fn carrying() -> SharedHostState {
    let host = SharedHostState::default();
    for ms in 0..13 {
        let queued = Duration::from_millis(9);
        host.borrow_mut().pool.note_arrival(at(ms), PEER.into(), MSS, queued);
    }
    host
}

/// 1 MB/s are 8 Mbit/s for one sender. Another one starts while the second flight leaves: each has
/// 4 Mbit/s from the next segment on, and 8 again from the next ACK on once the other has ended.
#[test]
fn the_second_flight_leaves_at_the_rate_that_is_left_by_those_who_send_now() {
    let (mut line, mut warm, host) = jumped(false);
    let fixed = |line: &Line| line.window.pacing_order().unwrap().fixed;
    assert_eq!(fixed(&line), Some(Rate::from_bps(8_000_000)));
    host.borrow_mut().pool.count_sender(PEER.into(), true);
    assert!(warm.needs().watches_sending);
    line.write(&mut warm, 70);
    assert_eq!(fixed(&line), Some(Rate::from_bps(4_000_000)));
    host.borrow_mut().pool.count_sender(PEER.into(), false);
    line.sent += 30 * MSS;
    line.arrive(&mut warm, 92, 1);
    assert_eq!(fixed(&line), Some(Rate::from_bps(8_000_000)));
}

/// Eight senders over a path of 1 MB/s have 125 kB/s each, of which 80 ms hold ten segments: no
/// more than a stock window, so that nothing jumps. When the seven others have ended, it can use
/// 80.
#[test]
fn a_window_that_could_not_jump_jumps_when_others_have_ended() {
    let options = WarmOptions { paces_together: true, jumps_by_dispersion: true, ..options() };
    let host = carrying();
    for _ in 0..7 {
        host.borrow_mut().pool.count_sender(PEER.into(), true);
    }
    let (mut line, mut warm) = (Line::new(0), Warm::new(options, Underneath::default()));
    line.open(&mut warm, &host);
    line.start(&mut warm, 10);
    line.arrive(&mut warm, 90, 8);
    assert_eq!((line.segments(), line.window.pacing_order().unwrap().is_on), (10, false));
    for _ in 0..7 {
        host.borrow_mut().pool.count_sender(PEER.into(), false);
    }
    line.arrive(&mut warm, 91, 1);
    assert_eq!((line.segments(), line.window.pacing_order().unwrap().is_on), (80, true));
}

/// Pacing that the second flight switched on ends with the search, and configured pacing
/// (`pacing=on`) stays.
#[test]
fn configured_pacing_outlasts_the_second_flight() {
    let after_a_loss = |is_paced| {
        let (mut line, mut warm, _) = jumped(is_paced);
        line.notify(&mut warm, |startup, window, at| startup.on_loss_or_mark(window, at));
        // Nothing is under way any more: pacing that is to end does.
        line.sent = line.acked;
        line.start(&mut warm, 20);
        let order = line.window.pacing_order().unwrap();
        (order.is_on, order.fixed)
    };
    assert_eq!((after_a_loss(false), after_a_loss(true)), ((false, None), (true, None)));
}
