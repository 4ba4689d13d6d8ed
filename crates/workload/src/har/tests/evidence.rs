//! Evidence for versions of HTTP and TLS.

use super::*;
use crate::VersionEvidence;

/// An entry of an unnamed version on a connection, 10 ms of response that begin at `first`.
fn unnamed(number: usize, first: u64, connection: &str) -> Value {
    let entry = entry(0, &format!("http://a.test/{number}"), "image/png", 500);
    let entry = with(entry, "/request/httpVersion", json!(""));
    let entry = with(entry, "/timings", json!({"wait": first, "receive": 10}));
    with(entry, "/connection", json!(connection))
}

fn http_of(entries: Vec<Value>) -> (Http, VersionEvidence) {
    let page = parse(entries).unwrap();
    (page.hosts()[0].http, page.recorded().unwrap().hosts[0].version_by)
}

#[test]
fn three_responses_at_once_on_one_connection_are_not_http11() {
    let at = |firsts: &[u64], connections: &[&str]| {
        let both = firsts.iter().zip(connections).enumerate();
        http_of(both.map(|(n, (first, id))| unnamed(n, *first, id)).collect())
    };
    let multiplexed = (Http::Http2, VersionEvidence::Overlap);
    let unknown = (Http::Http11, VersionEvidence::Nothing);
    assert_eq!(at(&[5, 6, 7], &["1", "1", "1"]), multiplexed);
    assert_eq!(at(&[5, 6, 16], &["1", "1", "1"]), unknown);
    assert_eq!(at(&[5, 6, 7], &["1", "1", "2"]), unknown);
    // Without names of connections, seven at once are more than a browser opens to a host.
    assert_eq!(at(&[5; 7], &[""; 7]), multiplexed);
    assert_eq!(at(&[5; 6], &[""; 6]), unknown);
    // The port of the server names no connection.
    assert_eq!(at(&[5; 6], &["443"; 6]), unknown);
}

#[test]
fn names_of_headers_that_only_http2_has_are_evidence() {
    let with_header = |name: &str| {
        let headers = json!([{"name": name, "value": "a.test"}]);
        http_of(vec![with(unnamed(0, 5, "1"), "/request/headers", headers)])
    };
    let expected = (Http::Http2, VersionEvidence::PseudoHeaders);
    assert_eq!(with_header(":authority"), expected);
    assert_eq!(with_header("host"), (Http::Http11, VersionEvidence::Nothing));
}

/// `connect` holds TCP's 20 ms and the TLS handshake.
#[test]
fn round_trips_of_tls_are_told_by_the_tcp_handshake() {
    let of = |tcp: f64, tls: f64| {
        let entry = entry(0, "https://a.test/", "text/html", 500);
        let timings = json!({"connect": tcp + tls, "ssl": tls, "wait": 30, "receive": 1});
        let page = parse(vec![with(entry, "/timings", timings)]).unwrap();
        (page.hosts()[0].tls, page.recorded().unwrap().hosts[0].tls_round_trips)
    };
    assert_eq!(of(20.0, 21.0), (Tls::Tls13, Some(1)));
    // Certificates of 4 kB over 5 Mbit/s take 6 ms.
    assert_eq!(of(20.0, 27.0), (Tls::Tls13, Some(1)));
    assert_eq!(of(20.0, 38.0), (Tls::Tls12, Some(2)));
    assert_eq!(of(20.0, 52.0), (Tls::Tls12, Some(2)));
    // Neither early data nor a slow processor show a version.
    assert_eq!(of(20.0, 5.0), (Tls::Tls13, None));
    assert_eq!(of(20.0, 90.0), (Tls::Tls13, None));
    assert_eq!(of(0.1, 0.2), (Tls::Tls13, None));
}

/// `HTTP/2 200`, cut as WebPageTest does it, names its version.
#[test]
fn a_version_that_was_cut_out_of_a_status_line_is_named() {
    let page = parse(vec![with(html(0), "/request/httpVersion", json!("2 2"))]).unwrap();
    assert_eq!(page.hosts()[0].http, Http::Http2);
    assert_eq!(page.recorded().unwrap().hosts[0].version_by, VersionEvidence::Named);
}

/// A browser that started a handshake ahead leaves a rest that is no round trip.
#[test]
fn the_rest_of_an_early_handshake_is_no_round_trip() {
    let of = |connects: [f64; 3]| {
        let entries = connects.iter().enumerate().map(|(n, connect)| {
            let timings = json!({"connect": connect, "wait": 50, "receive": 1});
            with(entry(0, &format!("http://a.test/{n}"), "text/html", 500), "/timings", timings)
        });
        parse(entries.collect()).unwrap().recorded().unwrap().rtt
    };
    assert_eq!(of([0.1, 20.0, 21.0]), Some(Duration::from_millis(20)));
    assert_eq!(of([2.0, 20.0, 21.0]), Some(Duration::from_millis(2)));
}

/// Round trip, in milliseconds, of a host with these values of `dns`, `connect` and `wait`.
fn rtt_of(fetches: &[(f64, f64, f64)]) -> Option<f64> {
    let entries = fetches.iter().enumerate().map(|(n, (dns, connect, wait))| {
        let timings = json!({"dns": dns, "connect": connect, "wait": wait, "receive": 1});
        with(entry(0, &format!("http://a.test/{n}"), "text/html", 500), "/timings", timings)
    });
    let rtt = parse(entries.collect()).unwrap().recorded().unwrap().rtt;
    rtt.map(|rtt| rtt.as_nanos() as f64 / 1e6)
}

/// Chromium counts the rest of a handshake at the start of the fetch, and no time of a lookup.
#[test]
fn a_handshake_that_began_with_its_fetch_is_the_round_trip() {
    // The rests are left out, also those that are longer.
    let among = |early: f64| rtt_of(&[(0.0, early, 101.2), (0.01, 100.4, 100.9)]);
    assert_eq!([among(80.3), among(100.7)], [Some(100.4); 2]);
    // Without fractions nothing shows that a lookup took no time.
    assert_eq!(rtt_of(&[(0.0, 80.0, 101.2), (0.01, 100.4, 100.9)]), Some(80.0));
    // A connection of earlier has no lookup.
    assert_eq!(rtt_of(&[(-1.0, 80.5, 101.2), (0.01, 100.4, 100.9)]), Some(80.5));
}

/// Firefox writes no time for a lookup that its cache answers, and whole handshakes.
#[test]
fn firefox_moves_no_handshake() {
    let fetch = |n: u32, connect: f64| {
        let timings = json!({"dns": 0, "connect": connect, "wait": 101.2, "receive": 1});
        with(entry(0, &format!("http://a.test/{n}"), "text/html", 500), "/timings", timings)
    };
    let rtt = |creator: &str| {
        let entries = [fetch(0, 94.5), fetch(1, 60.5)];
        let har = json!({"log": {"creator": {"name": creator}, "entries": entries}});
        let page = parse_har(har.to_string().as_bytes(), "t.har").unwrap();
        page.recorded().unwrap().rtt.map(|rtt| rtt.as_micros())
    };
    assert_eq!(rtt("Firefox"), Some(60_500));
    assert_eq!(rtt("WebInspector"), Some(101_200));
}

/// Firefox writes TCP's handshake alone in `connect`. Before it had `ssl`, it wrote both together.
#[test]
fn a_secure_connection_of_old_firefox_shows_no_round_trip() {
    let rtt = |timings: Value| {
        let fetch = with(entry(0, "https://a.test/", "text/html", 500), "/timings", timings);
        let har = json!({"log": {"creator": {"name": "Firefox"}, "entries": [fetch]}});
        let page = parse_har(har.to_string().as_bytes(), "t.har").unwrap();
        page.recorded().unwrap().rtt.map(|rtt| rtt.as_millis())
    };
    let whole = json!({"dns": 3, "connect": 120, "wait": 50, "receive": 1});
    assert_eq!(rtt(whole), None);
    let apart = json!({"dns": 3, "connect": 40, "ssl": 80, "wait": 50, "receive": 1});
    assert_eq!(rtt(apart), Some(40));
}

/// 94.5 and 101.2 ms are within an eighth, 36.5 and 841 are not. No round trip exceeds a wait.
#[test]
fn rests_of_handshakes_and_waits_bound_the_round_trip() {
    assert_eq!(rtt_of(&[(0.0, 94.5, 101.2), (0.0, 3.2, 140.0)]), Some(101.2));
    assert_eq!(rtt_of(&[(0.0, 36.5, 841.0), (0.0, 3.2, 850.0)]), Some(36.5));
    assert_eq!(rtt_of(&[(0.0, 177.5, 44.5), (0.0, 32.6, 300.0)]), Some(44.5));
}

/// TLS took one round trip of 41 ms; TCP took as long and had 20.5 ms left, which would make two.
#[test]
fn a_rest_of_a_handshake_shows_no_version_of_tls() {
    let over = |dns: f64, tcp: f64| {
        let timings =
            json!({"dns": dns, "connect": tcp + 41.0, "ssl": 41, "wait": 41.5, "receive": 1});
        with(entry(0, "https://a.test/", "text/html", 500), "/timings", timings)
    };
    let tls = |entries: Vec<Value>| {
        let page = parse(entries).unwrap();
        page.recorded().unwrap().hosts[0].tls_round_trips
    };
    let rests = [over(0.0, 20.5), over(0.0, 20.5), over(0.02, 40.5)];
    assert_eq!(tls(rests.to_vec()), Some(1));
    assert_eq!(tls(vec![over(0.02, 20.5)]), Some(2), "a handshake that is whole is believed");
}
