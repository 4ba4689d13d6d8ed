//! Bounds of a load: step tables worked out by hand, and properties of every load.
//!
//! In the step tables hosts answer at once, and segments carry 1448 bytes in packets of 1500: the
//! headers of `linux` have timestamps.

use crate::plain::{OPTIONS, plain_race, schemes};
use proptest::prelude::*;
use race::{Bound, BoundShares, MeasuredLoad, ProcessingDelay, REAL_PROCESSING, Race, Visits};
use units::Duration;
use workload::{Discovery, HostId, Http, Object, ObjectId, ObjectKind, Page, PageHost, Tls};

fn race(page: Page, scheme: &str, path: &str) -> Race {
    plain_race(&page, path.parse().unwrap(), schemes(&[scheme]))
}

fn only_load(race: &Race) -> MeasuredLoad {
    race.run(OPTIONS).contestants[0].turns[0].visits[0].clone()
}

/// Returns the bounds of the load of a page.
fn bounds(page: Page, scheme: &str, path: &str) -> (Duration, BoundShares) {
    let load = only_load(&race(page, scheme, path));
    (load.page.unwrap(), load.bounds.unwrap())
}

/// The account is of these times, in milliseconds, and of no others: to a hundredth of a
/// millisecond.
#[track_caller]
fn assert_times((total, shares): (Duration, BoundShares), expected: &[(Bound, f64)]) {
    let sum: f64 = expected.iter().map(|(_, millis)| millis).sum();
    let total = total.as_secs_f64() * 1e3;
    assert!((total - sum).abs() < 0.01 * expected.len() as f64, "{total} ms, expected {sum}");
    for (bound, share) in shares.iter() {
        let of_bound = expected.iter().find(|(expected, _)| *expected == bound);
        let millis = of_bound.map_or(0.0, |(_, millis)| *millis);
        let name = bound.name();
        assert!((share * total - millis).abs() < 0.01, "{name}: {}, not {millis}", share * total);
    }
}

fn object(body_bytes: u64, discovery: Discovery) -> Object {
    Object { discovery, ..Object::plain("object", ObjectKind::Html, body_bytes) }
}

fn page_of(objects: Vec<Object>) -> Page {
    Page::new("test", vec![PageHost::plain("a.example", Http::Http11)], objects).unwrap()
}

// Before the first byte of each of these loads, these segments travel up: SYN of 60 bytes, ACK of
// 52, request of 300 + 52 bytes. These travel down: SYN-ACK of 60 bytes, and an ACK of 52 for the
// request, ahead of the answer. The request is data and waits for the ACK before it, as the answer
// does. So, of these, the SYNs' time on the link is of rounds, and the rest the path's.

/// 2 MB at 5 Mbit/s and 60 ms. A packet of 1500 bytes takes 2.4 ms, an ACK of 52 bytes 0.0832 ms.
///
/// - rounds: the handshake's 60 ms, two SYNs of 0.096 ms, 30 ms for the request and 30 for the last
///   byte.
/// - path: 2,000,200 bytes are 1381 segments of 1448 and one of 512, with 52 of headers each:
///   2,072,064 bytes, 3315.3024 ms. The request's 0.5632 ms and two ACKs.
/// - cwnd: ten segments take 24 ms; the first is acknowledged 2.4 + 60.0832 ms after it began, so
///   the link idles 38.4832 ms. The 20 of the next round take 48 ms and leave 14.4832 ms. Forty
///   take 96 ms, longer than the round trip: from there on the link is never idle.
#[test]
fn the_path_bounds_a_long_transfer() {
    let page = page_of(vec![object(2_000_000, Discovery::AtStart)]);
    let load = bounds(page, "linux+ack=all", "5mbit,60ms,inf");
    assert_eq!(load.1.largest().0, Bound::Path);
    let expected = [
        (Bound::Path, 3315.3024 + 0.5632 + 2.0 * 0.0832),
        (Bound::CongestionWindow, 38.4832 + 14.4832),
        (Bound::Rounds, 120.192),
    ];
    assert_times(load, &expected);
}

/// 900 kB at 1 Gbit/s and 200 ms, the client's window out of the way: 900,200 bytes are 622
/// segments, in rounds of 10, 20, 40, 80, 160 and 312. A packet takes 0.012 ms, an ACK 0.000416.
///
/// - cwnd: five times the first segment's 0.012 ms, 200 ms and the ACK's 0.000416 ms. The link was
///   busy with the 310 segments of the first five rounds for 3.72 ms, which are subtracted.
/// - path: 621 full packets and one of 992 + 52 bytes (900,200 − 621 × 1448), 7.460352 ms, the
///   request's 0.002816 ms and two ACKs.
/// - rounds: 4 × 100 ms and two SYNs of 0.00048.
#[test]
fn the_congestion_window_bounds_slow_start_on_a_long_path() {
    let page = page_of(vec![object(900_000, Discovery::AtStart)]);
    let load = bounds(page, "linux+ack=all+rwnd=6MB", "1gbit,200ms,inf");
    assert_eq!(load.1.largest().0, Bound::CongestionWindow);
    let expected = [
        (Bound::Path, 7.460_352 + 0.002_816 + 2.0 * 0.000_416),
        (Bound::CongestionWindow, 5.0 * 200.012_416 - 3.72),
        (Bound::Rounds, 400.000_96),
    ];
    assert_times(load, &expected);
}

/// 300 kB at 50 Mbit/s and 104 ms go to a client that never offers more than ten segments, 14,480
/// bytes. 300,200 bytes are 207 full segments and one of 464, in 20 rounds of ten and one of eight.
/// A packet takes 0.24 ms, an ACK 0.00832.
///
/// - rwnd: 20 times 104 ms, the first segment's 0.24 ms and the ACK's 0.00832 ms, less 200 packets'
///   48 ms.
/// - path: 207 × 0.24 ms and 516 bytes' 0.08256 ms; the request's 0.05632 ms and two ACKs.
/// - rounds: 4 × 52 ms and two SYNs of 0.0096.
#[test]
fn the_receive_window_bounds_a_sender_that_could_send_more() {
    let page = page_of(vec![object(300_000, Discovery::AtStart)]);
    let load = bounds(page, "linux+ack=all+rwnd=14480B", "50mbit,104ms,inf");
    assert_eq!(load.1.largest().0, Bound::ReceiveWindow);
    let expected = [
        (Bound::Path, 207.0 * 0.24 + 0.082_56 + 0.056_32 + 2.0 * 0.008_32),
        (Bound::ReceiveWindow, 20.0 * 104.248_32 - 48.0),
        (Bound::Rounds, 208.019_2),
    ];
    assert_times(load, &expected);
}

/// 10 kB, for which the server thinks half a second, at 20 Mbit/s and 40 ms.
///
/// - path: 10,200 bytes are seven full packets of 0.6 ms and one of 64 + 52 bytes, 0.0464 ms; the
///   request's 0.1408 ms and the ACK's ahead of it, 0.0208. The ACK for the request has passed long
///   before the answer is ready.
/// - rounds: 4 × 20 ms and two SYNs of 0.024.
#[test]
fn the_server_bounds_an_answer_that_takes_thought() {
    let think = Duration::from_millis(500);
    let thought = Object { server_wait: think, ..object(10_000, Discovery::AtStart) };
    let load = bounds(page_of(vec![thought]), "linux", "20mbit,40ms,inf");
    assert_eq!(load.1.largest().0, Bound::Server);
    let path = 7.0 * 0.6 + 0.0464 + 0.1408 + 0.0208;
    assert_times(load, &[(Bound::Path, path), (Bound::Server, 500.0), (Bound::Rounds, 80.048)]);
}

/// Ten objects of 500 bytes, each found at the end of the one before it, at 20 Mbit/s and 80 ms,
/// over one connection.
///
/// - path: ten requests of 352 bytes, 0.1408 ms each, and ten packets of 700 + 52, 0.3008 ms each.
///   ACKs go ahead of the first two requests and of the first answer; later ones travel with data,
///   since both ends have answered soon.
/// - rounds: the handshake's 80 ms, two SYNs of 0.024, and ten times 80 ms.
#[test]
fn round_trips_bound_a_chain_of_small_objects() {
    let first = object(500, Discovery::AtStart);
    let next = |n: u32| object(500, first.at_end(ObjectId(n)));
    let chain = std::iter::once(first.clone()).chain((0..9).map(next)).collect();
    let load = bounds(page_of(chain), "linux", "20mbit,80ms,inf");
    assert_eq!(load.1.largest().0, Bound::Rounds);
    let path = 10.0 * (0.1408 + 0.3008) + 3.0 * 0.0208;
    assert_times(load, &[(Bound::Path, path), (Bound::Rounds, 880.048)]);
}

/// An object of 1 kB is wanted by a script, also of 1 kB, 300 ms after the script's delivery, at 20
/// Mbit/s and 40 ms.
///
/// - path: two requests of 0.1408 ms, two answers of 1200 + 52 bytes, 0.5008 ms; the two ACKs of
///   the first.
/// - rounds: the handshake's 40 ms, two SYNs of 0.024, and two round trips.
#[test]
fn the_browser_bounds_a_request_that_it_has_to_work_out() {
    let delay = Duration::from_millis(300);
    let second = Discovery::InBody { parent: ObjectId(0), offset: 1000, delay };
    let objects = vec![object(1000, Discovery::AtStart), object(1000, second)];
    let load = bounds(page_of(objects), "linux", "20mbit,40ms,inf");
    let path = 2.0 * (0.1408 + 0.5008) + 2.0 * 0.0208;
    assert_times(load, &[(Bound::Path, path), (Bound::Client, 300.0), (Bound::Rounds, 120.048)]);
}

/// Ten segments meet a queue of five packets, that in service included, at 10 Mbit/s and 100 ms.
/// The ACK for the request has the first slot; the last six are lost, and only a probe reveals it.
/// Until all are retransmitted, recovery bounds the time in which the link carries no data.
///
/// - path: 14,480 bytes are ten packets of 1.2 ms; the request's 0.2816 ms and two ACKs of 0.0416.
///   It is no more: lost packets took no time on the link.
/// - rounds: 4 × 50 ms and two SYNs of 0.048.
#[test]
fn recovery_bounds_what_waits_for_lost_segments() {
    let page = page_of(vec![object(14_280, Discovery::AtStart)]);
    let load = only_load(&race(page, "linux", "10mbit,100ms,5p"));
    let (total, shares) = (load.page.unwrap(), load.bounds.unwrap());
    assert_eq!((load.dropped, shares.largest().0), (6, Bound::Recovery));
    let (path, rounds) = (12.0 + 0.2816 + 2.0 * 0.0416, 200.096);
    let expected = [
        (Bound::Path, path),
        (Bound::Recovery, total.as_secs_f64() * 1e3 - path - rounds),
        (Bound::Rounds, rounds),
    ];
    assert_times((total, shares), &expected);
}

/// 300 kB over 50 Mbit/s and 104 ms by a sender that would send all in one round trip. The client's
/// 64 KB decide how much it sends in the first, though its plan spaces that and so never fills the
/// window.
#[test]
fn the_receive_window_bounds_a_fast_start_that_it_cut_short() {
    let page = || page_of(vec![object(300_000, Discovery::AtStart)]);
    let of = |scheme| bounds(page(), scheme, "50mbit,104ms,200p");
    let (total, narrow) = of("jump-start");
    // From the first segment to its acknowledgement, less 44 or 45 packets of 0.24 ms.
    let rwnd = narrow.get(Bound::ReceiveWindow) * total.as_secs_f64() * 1e3;
    assert!((93.0..94.0).contains(&rwnd), "{rwnd}");
    assert_eq!(of("jump-start+rwnd=1MB").1.get(Bound::ReceiveWindow), 0.0);
    // Slow start from ten segments is still below 64 KB when the window grows.
    assert_eq!(of("linux").1.get(Bound::ReceiveWindow), 0.0);
}

fn any_object() -> impl Strategy<Value = (u64, u64, u64, u64)> {
    // Body; think time and delay of discovery, ms; how far into its parent it is found, eighths.
    (1..60_000_u64, prop_oneof![Just(0), 0..200_u64], prop_oneof![Just(0), 0..80_u64], 0..=8_u64)
}

fn any_page() -> impl Strategy<Value = Page> {
    let http = prop_oneof![Just(Http::Http10), Just(Http::Http11), Just(Http::Http2)];
    let tls = prop_oneof![Just(Tls::None), Just(Tls::Tls12), Just(Tls::Tls13), Just(Tls::ZeroRtt)];
    (prop::collection::vec(any_object(), 1..8), http, tls, 1..3_u32).prop_map(
        |(objects, http, tls, hosts)| {
            let host = |n| PageHost { http, tls, ..PageHost::plain(format!("h{n}"), http) };
            let mut made: Vec<Object> = Vec::new();
            for (n, (body, think, delay, eighths)) in (0_u32..).zip(objects) {
                let discovery = match n.checked_sub(1) {
                    None => Discovery::AtStart,
                    Some(before) => Discovery::InBody {
                        parent: ObjectId(before / 2),
                        offset: made[before as usize / 2].body_bytes * eighths / 8,
                        delay: Duration::from_millis(delay),
                    },
                };
                let server_wait = Duration::from_millis(think);
                made.push(Object {
                    host: HostId(n % hosts),
                    server_wait,
                    ..object(body, discovery)
                });
            }
            Page::new("any", (0..hosts).map(host).collect(), made).unwrap()
        },
    )
}

fn any_scheme() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("linux"),
        Just("linux+rwnd=8kB"),
        Just("linux-bbr"),
        Just("newreno+iw=1"),
        Just("tahoe"),
        Just("jump-start"),
        Just("phttp"),
        Just("linux+iw=32+pacing=on"),
        Just("linux+open=data"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Shares are shares, and account for all of the time, whatever is raced and whatever is lost.
    /// A server that never thinks and hosts that answer at once leave nothing to `server`, a
    /// browser that works nothing out nothing to `client`.
    #[test]
    fn shares_sum_to_one(
        page in any_page(),
        scheme in any_scheme(),
        path in (1..100_u64, 0..200_u64, 3..60_u32, prop_oneof![Just(0), 0..4_u32]),
        (processing, background) in (any::<bool>(), 0..2_u32),
        visits in 1..3_u32,
    ) {
        let (rate, rtt, queue, loss) = path;
        let thinks = page.objects().iter().any(|object| !object.server_wait.is_zero());
        let delayed = |object: &Object| matches!(object.discovery, Discovery::InBody { delay, .. } if !delay.is_zero());
        let works = page.objects().iter().any(delayed);
        let path = format!("{rate}mbit,{rtt}ms,{queue}p,loss=0.0{loss}");
        let processing = if processing { REAL_PROCESSING } else { ProcessingDelay::NONE };
        let visits = Visits { count: visits, ..Visits::default() };
        let race = Race { processing, background, visits, ..race(page, scheme, &path) };
        for load in race.run(OPTIONS).contestants.iter().flat_map(|contestant| contestant.loads()) {
            prop_assert_eq!(load.bounds.is_some(), load.page.is_some());
            let Some(shares) = load.bounds else { continue };
            prop_assert!(shares.iter().all(|(_, share)| (0.0..=1.0).contains(&share)), "{:?}", shares);
            let sum: f64 = shares.iter().map(|(_, share)| share).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{:?}", shares);
            prop_assert!(shares.get(Bound::Path) > 0.0, "{:?}", shares);
            prop_assert!(works || shares.get(Bound::Client) == 0.0, "{:?}", shares);
            let at_once = race.processing == ProcessingDelay::NONE;
            prop_assert!(thinks || !at_once || shares.get(Bound::Server) == 0.0, "{:?}", shares);
        }
    }
}

/// Three requests over HTTP/2, of which the second is lost and retransmitted a second later. The
/// third arrives meanwhile, and its server cannot use it. The server therefore bounds no moment.
#[test]
fn a_request_behind_a_gap_is_not_at_its_server() {
    let host = PageHost {
        tls: Tls::ZeroRtt,
        http10_connections: 6,
        ..PageHost::plain("a.example", Http::Http2)
    };
    let object = |body_bytes, discovery| Object {
        request_bytes: 300,
        response_header_bytes: 200,
        body_bytes,
        discovery,
        ..Object::plain("object", ObjectKind::Html, 1)
    };
    let named = |delay_ms| Discovery::InBody {
        parent: ObjectId(0),
        offset: 28_830,
        delay: Duration::from_millis(delay_ms),
    };
    let objects =
        vec![object(32_949, Discovery::AtStart), object(1, named(0)), object(1, named(1))];
    let page = Page::new("three", vec![host], objects).unwrap();
    let (time, shares) = bounds(page, "newreno", "1mbit,6ms,10p,loss=0.02");
    assert!(time > Duration::from_secs(1), "the timeout of a second: {time}");
    assert_eq!(shares.get(Bound::Server), 0.0, "{shares:?}");
}
