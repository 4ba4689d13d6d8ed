//! Recordings of every kind of form, version and handshake. `recordings/README.md` says how each
//! was made; expected values follow from that.

use units::Duration;
use workload::{
    Http, ObjectId, ObjectKind, Page, ServerTimeConfidence, Tls, VersionEvidence, parse_har,
    parse_har_page,
};

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/recordings/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("the recordings are part of the repository")
}

fn recorded(name: &str) -> Page {
    parse_har(&bytes(&format!("{name}.har")), name).unwrap()
}

fn notes_with<'a>(page: &'a Page, word: &str) -> Vec<&'a str> {
    page.notes().iter().map(String::as_str).filter(|note| note.contains(word)).collect()
}

#[test]
fn twelve_responses_on_one_connection_are_http2_whatever_the_name() {
    let named = recorded("version-h2");
    assert!(notes_with(&named, "HTTP").is_empty(), "{:?}", named.notes());
    for name in ["version-spdy", "version-unknown", "version-2-2", "version-h2c"] {
        let page = recorded(name);
        assert_eq!(page.hosts(), named.hosts(), "{name}");
        assert_eq!(page.objects(), named.objects(), "{name}");
        assert!(notes_with(&page, "HTTP").len() <= 1, "{name}: {:?}", page.notes());
    }
    let unknown = recorded("version-unknown");
    let host = &unknown.recorded().unwrap().hosts[0];
    assert_eq!(host.version_by, VersionEvidence::Overlap);
    assert!(notes_with(&unknown, "\"unknown\"")[0].contains("1 host taken as HTTP/2"));
}

#[test]
fn a_call_around_the_file_changes_nothing() {
    let plain = recorded("plain");
    let wrapped = parse_har(&bytes("jsonp.harp"), "jsonp").unwrap();
    assert_eq!(wrapped, plain);
    // Without pages the load event is unknown, and nothing else.
    assert_eq!(recorded("no-pages").objects(), plain.objects());
}

#[test]
fn a_log_of_the_devtools_protocol_is_named_with_the_way_out() {
    let error = parse_har(&bytes("devtools-log.json"), "log.json").unwrap_err().to_string();
    assert!(error.contains("log.json") && error.contains("DevTools"), "{error}");
    assert!(error.contains("export a HAR file"), "{error}");
}

#[test]
fn two_round_trips_of_tls_are_tls_12() {
    let page = recorded("tls12");
    assert_eq!(page.hosts().len(), 9);
    assert!(page.hosts().iter().all(|host| host.tls == Tls::Tls12));
    assert!(notes_with(&page, "TLS 1.2")[0].contains("9 hosts of 9"));
    let page = recorded("tls-flight");
    assert!(page.hosts().iter().all(|host| host.tls == Tls::Tls13));
    assert!(notes_with(&page, "TLS").is_empty(), "{:?}", page.notes());
}

/// Each redirect takes a round trip and the server's 5 ms, beside 0.7 ms of the browser; the first
/// opens the connection, which the document would have had to open.
#[test]
fn redirects_before_the_document_are_known_and_named_first() {
    let page = recorded("redirects");
    let redirects: Vec<ObjectId> = (0..4).map(ObjectId).collect();
    assert_eq!(page.recorded().unwrap().redirects, redirects);
    assert_eq!(page.object(ObjectId(4)).kind, ObjectKind::Html);
    let note = &page.notes()[0];
    let cost: f64 = note.split("cost ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(note.starts_with("4 redirects before the document"), "{note}");
    assert!((100.0..=104.0).contains(&cost), "{note}");
}

#[test]
fn a_redirect_loop_without_a_document_is_named_first() {
    let page = recorded("redirect-loop");
    assert!(page.notes()[0].contains("redirect loop without a document"), "{:?}", page.notes());
    assert!(page.notes()[0].contains("20 redirects"));
    assert!(notes_with(&recorded("redirects"), "loop").is_empty());
}

#[test]
fn pauses_of_minutes_divide_a_file_into_visits() {
    let page = recorded("proxy-session");
    assert_eq!(page.objects().len(), 1);
    assert!(page.notes()[0].contains("3 pauses of 16 minutes"), "{:?}", page.notes());
    assert!(page.notes()[0].contains("visit 1 of 4"));
    let file = bytes("proxy-session.har");
    let second = parse_har_page(&file, Some("2"), "p").unwrap();
    assert_eq!(second.name(), "https://site.example/step1");
    // Its times count from its own first request.
    let fetch = &second.recorded().unwrap().fetches[0];
    assert_eq!(fetch.started, Duration::ZERO);
    // Connecting 40 ms, sending 0.1, waiting 25, and 1 ms of body.
    assert_eq!(fetch.first_byte, Duration::from_micros(65_100));
    assert_eq!(fetch.finished, Duration::from_micros(66_100));
    let none = parse_har_page(&file, Some("5"), "p").unwrap_err().to_string();
    assert!(none.contains("4 https://site.example/step3"), "{none}");
}

#[test]
fn a_slow_line_is_found_and_the_servers_times_are_not_its() {
    for name in ["recorded-5mbit-serial", "recorded-25mbit-serial", "recorded-5mbit-interleaved"] {
        let page = recorded(name);
        let recorded = page.recorded().unwrap();
        let longest = page.objects().iter().map(|object| object.server_wait).max().unwrap();
        assert!(longest <= Duration::from_millis(10), "{name}: {longest}");
        assert!(recorded.limit_mark().is_some());
        assert!(matches!(recorded.server_times, ServerTimeConfidence::Estimated { .. }));
        assert_eq!(notes_with(&page, "The limit is that of this recording").len(), 1);
        let rate = recorded.rate.unwrap().as_bps() as f64 / 1e6;
        let line = if name.contains("25") { 25.0 } else { 5.0 };
        assert!((rate / line - 1.0).abs() < 0.1, "{name}: {rate}");
    }
}

#[test]
fn servers_that_are_slow_on_a_fast_line_stay_slow() {
    let file = bytes("five-runs.har");
    for (run, think) in (1..).zip([5, 50, 5, 120, 20]) {
        let page = parse_har_page(&file, Some(&format!("{run}")), "f").unwrap();
        let times = page.objects().iter().map(|object| object.server_wait);
        assert!(times.into_iter().all(|time| time == Duration::from_millis(think)), "run {run}");
        assert_eq!(page.recorded().unwrap().server_times, ServerTimeConfidence::Measured);
        assert_eq!(page.hosts()[0].http, Http::Http2);
    }
}
