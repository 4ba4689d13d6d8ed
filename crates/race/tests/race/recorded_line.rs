//! The line of a recording is no part of its page: the same page recorded over lines of other rates
//! takes the same time.

use crate::plain::{OPTIONS, plain_race, schemes};
use crate::recorder::{Sending, Source, har};
use race::{Race, RaceMetric, RaceResult, VisitKind, World};
use workload::{LoaderConfig, Page, parse_har};

#[derive(Clone, Copy, Debug)]
struct Times {
    linux: f64,
    limit: f64,
}

/// Page time of `linux` and of the limit over 100 Mbit/s, in seconds.
fn times(page: &Page) -> Times {
    times_with(page, LoaderConfig::default())
}

fn times_with(page: &Page, loader: LoaderConfig) -> Times {
    let path = "100mbit,20ms,1bdp".parse().unwrap();
    let race = plain_race(page, path, schemes(&["linux"]));
    let race = Race { loader, seed: 1, ..race };
    let outcome = race.run(OPTIONS);
    let result = RaceResult::new(&race, &outcome);
    let row = result.row("linux", World::Sim, VisitKind::First).unwrap();
    Times {
        linux: row.median(RaceMetric::PageSeconds).unwrap(),
        limit: outcome.limit.page.as_secs_f64(),
    }
}

/// A recording of the crate that reads them.
fn recorded(name: &str) -> Page {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../workload/tests/recordings/");
    parse_har(&std::fs::read(format!("{folder}{name}")).unwrap(), name).unwrap()
}

fn page(mbit: f64, sending: Sending, source: &dyn Fn(usize) -> Source) -> Page {
    parse_har(har(mbit, sending, source).as_bytes(), "t.har").unwrap()
}

const SENDINGS: [Sending; 3] = [Sending::Http11, Sending::Serial, Sending::Interleaved];

/// Mbit/s.
const RATES: [f64; 7] = [5.0, 9.0, 25.0, 40.0, 100.0, 300.0, 1000.0];

/// Both times within a tenth.
fn agree(a: Times, b: Times) -> bool {
    let near = |a: f64, b: f64| (a / b - 1.0).abs() <= 0.1;
    near(a.linux, b.linux) && near(a.limit, b.limit)
}

fn is_marked(page: &Page) -> bool {
    page.recorded().unwrap().limit_mark().is_some()
}

/// Servers take equally long for every image over any line: the times of the recording at 1 Gbit/s.
#[test]
fn a_slow_line_of_the_recording_does_not_slow_the_page() {
    for server_ms in [5.0, 50.0, 120.0] {
        let source = |_| Source { host: 0, server_ms };
        for sending in SENDINGS {
            let truth = times(&page(1000.0, sending, &source));
            for mbit in RATES {
                let of = times(&page(mbit, sending, &source));
                assert!(agree(of, truth), "{server_ms} {sending:?} {mbit}: {of:?}, {truth:?}");
            }
        }
    }
}

/// Some servers are slow: on a fast line that is seen, on a slow one it is seen or the limit is
/// marked.
#[test]
fn slow_servers_are_seen_or_the_limit_is_marked() {
    let fifth =
        |i: usize| Source { host: 0, server_ms: if i.is_multiple_of(5) { 120.0 } else { 5.0 } };
    let one = |i: usize| Source { host: 0, server_ms: if i == 20 { 120.0 } else { 5.0 } };
    let mixed = |i: usize| Source { host: 0, server_ms: [5.0, 50.0, 120.0][i % 3] };
    // A server that makes one image after another.
    let worker = |i: usize| Source { host: 0, server_ms: 5.0 + 2.0 * i as f64 };
    let hosts = |i: usize| Source { host: i % 2, server_ms: [5.0, 120.0][i % 2] };
    let many = |i: usize| Source { host: i % 4, server_ms: [5.0, 50.0, 120.0, 20.0][i % 4] };
    let sources: [&dyn Fn(usize) -> Source; 6] = [&fifth, &one, &mixed, &worker, &hosts, &many];
    for (number, source) in sources.into_iter().enumerate() {
        for sending in SENDINGS {
            let truth = times(&page(1000.0, sending, source));
            for mbit in RATES {
                let page = page(mbit, sending, source);
                let of = times(&page);
                let is_right = agree(of, truth) || (mbit < 250.0 && is_marked(&page));
                assert!(is_right, "{number} {sending:?} {mbit}: {of:?}, {truth:?}");
            }
        }
    }
}

/// Hosts with a server's time of their own have that time, though all their images waited for a
/// line of 9 Mbit/s.
#[test]
fn each_host_keeps_its_servers_time() {
    let hosts = |i: usize| Source { host: i % 2, server_ms: [5.0, 120.0][i % 2] };
    for sending in [Sending::Serial, Sending::Interleaved] {
        let truth = times(&page(1000.0, sending, &hosts));
        let of = times(&page(9.0, sending, &hosts));
        assert!(agree(of, truth), "{sending:?}: {of:?}, {truth:?}");
    }
}

#[test]
fn a_line_that_was_fast_enough_leaves_no_mark() {
    for server_ms in [5.0, 120.0] {
        for sending in SENDINGS {
            let page = page(1000.0, sending, &|_| Source { host: 0, server_ms });
            assert!(!is_marked(&page), "{server_ms} {sending:?}");
        }
    }
}

/// A recording's line is named by its rate if it was the bottleneck: the rate of all responses
/// together.
#[test]
fn the_rate_of_the_line_is_found() {
    for sending in [Sending::Serial, Sending::Interleaved] {
        for mbit in RATES {
            let page = page(mbit, sending, &|_| Source { host: 0, server_ms: 5.0 });
            let rate = page.recorded().unwrap().rate.unwrap().as_bps() as f64 / 1e6;
            assert!((rate / mbit - 1.0).abs() < 0.1, "{sending:?} {mbit}: {rate}");
        }
    }
}

/// One page was recorded over lines of three rates. All have the times of the recordings at 1
/// Gbit/s: 220 and 158 ms over HTTP/2, and 318 and 158 ms over six connections.
#[test]
fn recordings_over_three_rates_are_one_page() {
    for sending in ["serial", "interleaved", "http11"] {
        let linux = if sending == "http11" { 318.0 } else { 220.0 } / 1e3;
        for mbit in [5, 25, 1000] {
            let page = recorded(&format!("recorded-{mbit}mbit-{sending}.har"));
            let of = times(&page);
            assert!(agree(of, Times { linux, limit: 0.158 }), "{mbit} {sending}: {of:?}");
            assert_eq!(is_marked(&page), mbit != 1000, "{mbit} {sending}");
        }
    }
}

/// Page times over 100 Mbit/s and 20 ms, as derived where the recordings are described.
#[test]
fn recordings_take_what_they_were_made_for() {
    let seconds = [
        ("plain.har", 0.136),
        ("no-pages.har", 0.136),
        ("jsonp.harp", 0.136),
        ("version-spdy.har", 0.161),
        ("version-2-2.har", 0.161),
        ("tls-flight.har", 0.136),
        // Each of two connections takes a round trip more than with TLS 1.3: 162 + 40 ms.
        ("tls12.har", 0.202),
        ("redirects.har", 0.170),
    ];
    for (name, expected) in seconds {
        let of = times(&recorded(name)).linux;
        assert!((of - expected).abs() < 0.002, "{name}: {of}");
    }
}

/// A server's TLS flight that fits into ten segments costs its bytes, a longer one a round trip.
#[test]
fn a_long_tls_flight_takes_a_round_trip_more() {
    let page = recorded("tls-flight.har");
    let with = |bytes: u64| {
        times_with(&page, LoaderConfig { tls_server_flight: bytes, ..LoaderConfig::default() })
            .linux
    };
    // 12 kB: nine flights are 8.5 kB longer, 6.2 ms at 100 Mbit/s. 20 kB: two round trips of 20 ms,
    // and nine times 16.5 kB.
    assert!((0.135..0.1435).contains(&with(12_000)), "{}", with(12_000));
    assert!((0.176..0.1885).contains(&with(20_000)), "{}", with(20_000));
}
