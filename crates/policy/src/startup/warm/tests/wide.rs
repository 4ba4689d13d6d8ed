//! Wide cold starts: their width, alone and among others, and their end.

use super::*;

/// 1.25 MB/s carry 100 segments of 1000 bytes in 80 ms: 32 are the most. Returns the results of
/// ACKs that are `ms` apart, after nine of them: the window and the threshold in segments.
fn wide_start(ms: u64) -> (u64, Option<u64>, Line) {
    let host = SharedHostState::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, Underneath::default()));
    line.open(&mut warm, &host);
    assert_eq!(line.segments(), 32);
    line.start(&mut warm, 32);
    for n in 0..9 {
        let order = line.window.pacing_order().unwrap();
        assert_eq!((order.is_on, order.fixed), (true, Some(Rate::from_bps(10_000_000))));
        line.arrive(&mut warm, 80 + n * ms, 1);
    }
    let ends = line.window.ssthresh();
    (line.segments(), (ends < u64::MAX).then_some(ends / MSS), line)
}

#[test]
fn a_wide_start_goes_on_as_any_other_where_the_path_is_as_fast() {
    // A segment in a millisecond is 8 Mbit/s, more than three quarters of 10.
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

/// A connection that has opened wide and sent a TLS flight of three segments.
fn behind_tls() -> (Line, Warm) {
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, Underneath::default()));
    line.open(&mut warm, &SharedHostState::default());
    line.start(&mut warm, 3);
    (line, warm)
}

/// A server's TLS flight of three is acknowledged by one ACK, which shows no rate. The answer
/// arrives at 8 Mbit/s. With the flight before it, nine segments would have taken 89 ms, 1 Mbit/s.
#[test]
fn a_wide_start_looks_at_a_flight_that_is_long_enough() {
    let (mut line, mut warm) = behind_tls();
    line.arrive(&mut warm, 80, 3);
    line.start(&mut warm, 32);
    for n in 0..9 {
        let order = line.window.pacing_order().unwrap();
        assert_eq!(order.fixed, Some(Rate::from_bps(10_000_000)), "{n}");
        line.arrive(&mut warm, 161 + n, 1);
    }
    assert_eq!((line.segments(), line.window.ssthresh()), (32, u64::MAX));
    assert_eq!(line.window.pacing_order().unwrap().fixed, None);
}

/// A server sends a session ticket, whose ACK is delayed. Its answer leaves 60 ms later, and
/// arrives at 8 Mbit/s from 220 ms on. The ticket's ACK, at 200 ms, is no part of that: with it,
/// nine segments would have taken 27 ms, 2.7 Mbit/s, and slow start would end.
#[test]
fn a_delayed_ack_of_what_was_sent_before_is_no_part_of_the_flight() {
    let (mut line, mut warm) = behind_tls();
    let millis = |ms| Some(Duration::from_millis(ms));
    line.arrive_timed(&mut warm, 80_000, 3, millis(80));
    line.now = at(80);
    line.start(&mut warm, 1);
    line.now = at(140);
    line.sent += 20 * MSS;
    line.arrive_timed(&mut warm, 200_000, 1, millis(120));
    for n in 0..9 {
        assert_eq!(line.window.ssthresh(), u64::MAX, "{n}");
        line.arrive_timed(&mut warm, 220_000 + n * 1000, 1, millis(80 + n));
    }
    assert_eq!((line.segments(), line.window.ssthresh()), (32, u64::MAX));
    // It was the ninth that ended the measurement.
    assert_eq!(warm.probe.rate(), 1_000_000);
}

/// Round trips that are 20 us shorter from ACK to ACK are of one flight. A segment in 4 ms is 2
/// Mbit/s: 20 of them fill 80 ms, and three.
#[test]
fn round_trips_that_differ_by_little_are_of_one_flight() {
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, Underneath::default()));
    line.open(&mut warm, &SharedHostState::default());
    line.start(&mut warm, 32);
    for n in 0..9 {
        let rtt = Some(Duration::from_micros(80_000 - 20 * n));
        line.arrive_timed(&mut warm, 80_000 + n * 4000, 1, rtt);
    }
    assert_eq!((line.segments(), line.window.ssthresh()), (23, 23 * MSS));
}

/// The second and third segment of a TLS flight arrive within `ms` of the first: the window of the
/// answer in segments, and its rate.
fn probed(ms: u64) -> (u64, Option<Rate>, Line, Warm) {
    let (mut line, mut warm) = behind_tls();
    line.arrive(&mut warm, 80, 1);
    line.arrive(&mut warm, 80 + ms, 2);
    line.now = at(160);
    line.start(&mut warm, 60);
    (line.segments(), line.window.pacing_order().unwrap().fixed, line, warm)
}

/// Two segments in 4 ms are 4 Mbit/s: 40 fill a round trip of 80 ms, and three. In 1 ms they are 16
/// Mbit/s: 160, of which 64 are the most. In 40 ms they are 400 kbit/s: fewer than a stock window.
#[test]
fn behind_a_tls_flight_a_cold_start_is_as_wide_and_fast_as_its_acks_tell() {
    let of = |ms| {
        let (window, rate, ..) = probed(ms);
        (window, rate.map(|rate| rate.as_bps()))
    };
    assert_eq!(of(4), (43, Some(4_000_000)));
    assert_eq!(of(1), (64, Some(16_000_000)));
    assert_eq!(of(40), (10, Some(400_000)));
}

/// Two segments in 1 ms seemed to be 16 Mbit/s. The answer arrives at 8 Mbit/s, less than three
/// quarters of that: slow start ends at 80 segments, and three. At 16 Mbit/s it goes on.
#[test]
fn a_probe_that_was_too_fast_ends_slow_start() {
    let ends_at = |us: u64| {
        let (_, _, mut line, mut warm) = probed(1);
        for n in 0..9 {
            line.arrive_at(&mut warm, 241_000 + n * us, 1);
        }
        line.window.ssthresh()
    };
    assert_eq!(ends_at(1000), 83 * MSS);
    assert_eq!(ends_at(500), u64::MAX);
}

/// Nothing but the TLS flight has shown a rate, 4 Mbit/s: it is remembered.
#[test]
fn the_rate_of_a_probe_is_remembered() {
    let host = SharedHostState::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, Underneath::default()));
    line.open(&mut warm, &host);
    line.start(&mut warm, 3);
    line.arrive(&mut warm, 80, 1);
    line.arrive(&mut warm, 84, 2);
    line.now = at(160);
    line.start(&mut warm, 20);
    line.arrive(&mut warm, 240, 20);
    line.close(&mut warm);
    let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).expect("it was learnt");
    assert_eq!(path.rate, 500_000);
}

/// A stock window that arrives in segments 2 ms apart shows 4 Mbit/s, whatever a TLS flight has
/// shown: 16 Mbit/s here.
#[test]
fn a_stock_window_that_has_arrived_corrects_the_probe() {
    let (mut line, mut warm) = behind_tls();
    line.arrive(&mut warm, 80, 1);
    line.arrive(&mut warm, 81, 2);
    line.now = at(160);
    line.start(&mut warm, 20);
    (0..9).for_each(|n| line.arrive(&mut warm, 240 + 2 * n, 1));
    assert_eq!(warm.probe.rate(), 500_000);
}

#[test]
fn one_connection_on_a_path_begins_wide_in_a_round_trip() {
    let host = SharedHostState::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let windows = [0, 79, 80].map(|ms| {
        let (mut line, mut warm) = (Line::new(ms), Warm::new(wide, Underneath::default()));
        line.open(&mut warm, &host);
        line.segments()
    });
    assert_eq!(windows, [32, 10, 32]);
}

/// A handshake of 80 ms is over at 1080 ms: a round trip and a quarter before that is 980 ms.
/// Another connection that began then counts, one that began a millisecond sooner does not.
#[test]
fn among_others_a_cold_start_is_less_wide() {
    let options = WarmOptions { cold: ColdOpening::Wide, wide_among: 20, ..options() };
    let begins_with = |other_ms: Option<u64>| {
        let host = SharedHostState::default();
        for ms in other_ms.into_iter().chain([1000]) {
            host.borrow_mut().pool.begin_handshake(at(ms), PEER.into());
        }
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, Underneath::default()));
        line.now = at(1080);
        line.open(&mut warm, &host);
        line.segments()
    };
    assert_eq!([None, Some(979), Some(980)].map(begins_with), [32, 32, 20]);
}

/// A round trip of 80 ms does not fit one of 800 or 7. Another network may answer for the address,
/// and a narrow one.
#[test]
fn a_path_with_another_round_trip_gets_no_wide_start() {
    for (min_rtt_us, window) in [(RTT_US, 100), (800_000, 10), (7000, 10)] {
        let known = PathSample { srtt_us: min_rtt_us, min_rtt_us, ..known(100, 0) };
        let host = host_knowing(&known);
        let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
        let (mut line, mut warm) = (Line::new(1000), Warm::new(wide, Underneath::default()));
        line.open(&mut warm, &host);
        assert_eq!(line.segments(), window, "{min_rtt_us}");
    }
}

/// A tiny transfer has shown that the path takes four segments, not that it takes no more. A
/// transfer that has lost a segment, or left slow start, has found a bound. So has a warm start of
/// 16 that failed: eight are left of it.
#[test]
fn a_remembered_tiny_transfer_bars_no_wide_start_unless_it_met_a_bound() {
    let windows = [(4, 0, false), (4, 3, false), (16, 0, true)].map(|(window, ssthresh, fails)| {
        let host = SharedHostState::default();
        let known = PathSample { ssthresh, ..known(window, 0) };
        let lends = |pool: &mut memory::WindowPool| {
            pool.learn(at(0), PEER.into(), &known, false, &options().terms);
            if fails {
                pool.fail(at(0), IpAddr::from(PEER), true);
            }
        };
        lends(&mut host.borrow_mut().pool);
        let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
        let (mut line, mut warm) = (Line::new(1000), Warm::new(wide, Underneath::default()));
        line.open(&mut warm, &host);
        line.segments()
    });
    assert_eq!(windows, [32, 10, 10]);
}

#[test]
fn a_loss_ends_a_wide_start() {
    let host = SharedHostState::default();
    let wide = WarmOptions { cold: ColdOpening::Wide, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(wide, Underneath::default()));
    line.open(&mut warm, &host);
    line.start(&mut warm, 32);
    line.now = at(90);
    line.notify(&mut warm, |startup, window, at| startup.on_loss_or_mark(window, at));
    let order = line.window.pacing_order().unwrap();
    assert_eq!((order.is_on, order.fixed), (false, None));
}

/// Thirteen segments 4 ms apart, queued for a quarter of their duration, are 250 kB/s: 20 segments
/// in a round trip. Five connections that open together have four each, less than a stock window.
/// The application announces 30, then three: the share is the first flight in both cases, as a
/// stock window would be.
#[test]
fn a_share_below_a_stock_window_is_not_widened_by_what_is_announced() {
    let host = host(5, 0);
    let to = IpAddr::from(PEER);
    for n in 0..13 {
        let queued = Duration::from_millis(13);
        host.borrow_mut().pool.note_arrival(at(4 * n), to, MSS, queued);
    }
    for _ in 0..5 {
        host.borrow_mut().pool.begin_handshake(at(1000), to);
    }
    let options = WarmOptions { paces_together: true, uses_size: true, ..options() };
    for announced in [30, 3] {
        let (mut line, mut warm) = (Line::new(1000), Warm::new(options, Underneath::default()));
        line.open(&mut warm, &host);
        assert_eq!(line.segments(), 4);
        let transfer =
            PendingData { bytes: announced * MSS, admitted: u64::MAX, announced: announced * MSS };
        line.notify(&mut warm, |startup, window, at| {
            startup.on_transfer_start(window, at, transfer)
        });
        assert_eq!(line.segments(), 4);
    }
}

/// A server's three segments of TLS are too few to measure. Ten of the answer after them leave at
/// once, as from a stock connection, and the rest is paced.
#[test]
fn behind_a_handshake_of_tls_a_wide_start_begins_with_a_stock_burst() {
    let options = WarmOptions { cold: ColdOpening::Wide, paces_together: true, ..options() };
    let (mut line, mut warm) = (Line::new(0), Warm::new(options, Underneath::default()));
    line.open(&mut warm, &SharedHostState::default());
    line.start(&mut warm, 3);
    line.arrive(&mut warm, 80, 3);
    let mut is_paced = |sent| {
        line.sent = line.acked + sent * MSS;
        line.write(&mut warm, 30);
        line.window.pacing_order().unwrap().is_on
    };
    assert_eq!([is_paced(0), is_paced(9), is_paced(10)], [false, false, true]);
}
