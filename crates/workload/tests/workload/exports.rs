//! Recordings in the formats of Firefox, Safari and WebPageTest, read as pages. Expected values are
//! worked out by hand from the files' own times and sizes; `exports/README.md` says where the files
//! come from.

use units::Duration;
use workload::{Discovery, Http, Object, ObjectId, Page, Tls, parse_har, parse_har_page};

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/exports/{name}.har", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("the exports are part of the repository")
}

fn exported(name: &str) -> Page {
    parse_har(&bytes(name), name).unwrap()
}

fn sizes(object: &Object) -> (u64, u64) {
    (object.response_header_bytes, object.body_bytes)
}

fn found(parent: u32, offset: u64, delay_ms: u64) -> Discovery {
    let delay = Duration::from_millis(delay_ms);
    Discovery::InBody { parent: ObjectId(parent), offset, delay }
}

fn waits(page: &Page) -> Vec<u64> {
    page.objects().iter().map(|object| object.server_wait.as_millis()).collect()
}

#[test]
fn firefox_counts_headers_as_body_and_connects_by_tcp_alone() {
    let page = exported("firefox");
    // `data:` is left out; the icon that was not found is not.
    assert_eq!(page.objects().len(), 10);
    assert_eq!((page.hosts()[0].http, page.hosts()[0].tls), (Http::Http2, Tls::Tls13));
    // `bodySize` 9,519 less `headersSize` 217 is the content's 9,302; and so on.
    assert_eq!(sizes(&page.objects()[0]), (217, 9_302));
    assert_eq!(sizes(&page.objects()[1]), (202, 11_192));
    assert_eq!(sizes(&page.objects()[9]), (91, 0));
    // The root took 1 blocked + 0 + 0 connect + 11 TLS + 40 wait + 4 receive = 56 ms and began at
    // .801. The second object, `main.css`, began at 17.181, which is 380 ms later, so 324 ms after
    // its end.
    assert_eq!(page.objects()[1].discovery, found(0, 9_302, 324));
    // TCP connected in less than a millisecond, which Firefox writes as 0: no round trip is known.
    assert_eq!(waits(&page)[..2], [40, 6]);
    assert!(page.notes().iter().any(|note| note.contains("round trip is unknown")));
}

#[test]
fn the_creator_decides_where_tls_is() {
    // 20 ms of TCP and 30 of TLS, as each writes it; then 45 ms to the first byte and 10 of body.
    let page = |creator: &str, connect: u64| {
        let entry = |at: &str, url: &str, timings: &str| {
            format!(
                r#"{{"startedDateTime": "2026-03-02T09:00:00.{at}Z", "request": {{"url": "{url}"}},
                "response": {{"status": 200, "content": {{"size": 1000, "mimeType": "text/html"}}}},
                "timings": {timings}}}"#
            )
        };
        let connecting =
            format!(r#"{{"connect": {connect}, "ssl": 30, "send": 0, "wait": 45, "receive": 10}}"#);
        let root = entry("000", "https://a.test/", &connecting);
        let next = entry("120", "https://a.test/2", r#"{"wait": 30, "receive": 1}"#);
        let har = format!(
            r#"{{"log": {{"creator": {{"name": "{creator}"}}, "entries": [{root}, {next}]}}}}"#
        );
        parse_har(har.as_bytes(), "t.har").unwrap()
    };
    for (creator, connect) in
        [("Firefox", 20), ("WebInspector", 50), ("WebKit Web Inspector", 50), ("WebPagetest", 50)]
    {
        let page = page(creator, connect);
        // A round trip is TCP's 20 ms: 45 - 20 and 30 - 20 are the server's.
        assert_eq!(waits(&page), [25, 10], "{creator}");
        // The root ended at 20 + 30 + 45 + 10 = 105 ms; the next began at 120.
        assert_eq!(page.objects()[1].discovery, found(0, 1000, 15), "{creator}");
    }
}

#[test]
fn safari_says_what_came_from_its_cache_and_repeats_blocked_as_send() {
    let page = exported("safari");
    assert_eq!(page.objects().len(), 3);
    assert!(page.notes()[0].contains("skipped 1 request answered from the browser's cache"));
    assert_eq!(
        page.objects().iter().map(sizes).collect::<Vec<_>>(),
        [(150, 2000), (60, 5000), (55, 900)]
    );
    // TCP's part of connecting is 50 - 30 = 20 ms: 45 - 20, 24 - 20, 25 - 20.
    assert_eq!(waits(&page), [25, 4, 5]);
    // The root ended at 2 + 8 + 50 + 1 + 45 + 24 = 130 ms, the script began at 140.
    assert_eq!(page.objects()[1].discovery, found(0, 2000, 10));
    // The script's body came from 140 + 6 + 24 = 170 to 180 ms, not from 176: half was there
    // at 175.
    assert_eq!(page.objects()[2].discovery, found(1, 2500, 0));
}

#[test]
fn webpagetest_has_several_runs_of_which_one_is_chosen() {
    let first = exported("webpagetest");
    assert_eq!(first.objects().len(), 2);
    assert_eq!(first.hosts()[0].http, Http::Http2);
    // `_bytesIn` less `_objectSize`.
    assert_eq!(first.objects().iter().map(sizes).collect::<Vec<_>>(), [(120, 2000), (60, 5000)]);
    // 90 - 60 = 30 ms of TCP.
    assert_eq!(waits(&first), [120, 20]);
    let note = first.notes().iter().find(|note| note.contains("--har-page")).unwrap();
    assert!(note.contains("page 1 of 2 in the file"), "{note}");
    assert!(note.contains("2 page_2_0_1 (Run 2, First View"), "{note}");
    for choice in ["2", "page_2_0_1"] {
        let second = parse_har_page(&bytes("webpagetest"), Some(choice), "w").unwrap();
        // 145 ms less 70 - 45 = 25 of TCP.
        assert_eq!(waits(&second), [120]);
    }
    let none = parse_har_page(&bytes("webpagetest"), Some("3"), "w").unwrap_err().to_string();
    assert!(none.contains("no page \"3\"") && none.contains("1 page_1_0_1"), "{none}");
}
