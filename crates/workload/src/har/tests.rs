use super::*;
use crate::page::{Discovery, Object, ObjectId, ObjectKind};
use crate::{Http, Tls};
use proptest::prelude::*;
use serde_json::{Value, json};
use units::Duration;

mod discovery;
mod evidence;
mod forms;
mod line;
mod sizes;
mod visits;

/// An entry that started `at` ms after the first: 10 ms to the first byte, 20 ms of body.
fn entry(at: u64, url: &str, mime: &str, body: u64) -> Value {
    json!({
        "startedDateTime": format!("2024-05-06T07:08:{:02}.{:03}Z", at / 1000, at % 1000),
        "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "headersSize": 300},
        "response": {
            "status": 200, "headersSize": 200, "bodySize": body,
            "content": {"size": body, "mimeType": mime},
        },
        "timings": {"wait": 10, "receive": 20},
    })
}

/// `entry` with the value at a JSON pointer replaced.
fn with(mut entry: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    entry.pointer_mut(parent).unwrap()[key] = value;
    entry
}

fn parse(entries: Vec<Value>) -> Result<Page, HarError> {
    parse_har(json!({"log": {"entries": entries}}).to_string().as_bytes(), "t.har")
}

fn objects(entries: Vec<Value>) -> Vec<Object> {
    parse(entries).unwrap().objects().to_vec()
}

fn html(at: u64) -> Value {
    entry(at, "http://a.test/", "text/html", 1000)
}

fn png(at: u64, url: &str) -> Value {
    entry(at, url, "image/png", 500)
}

fn found(parent: u32, offset: u64, delay_ms: u64) -> Discovery {
    let delay = Duration::from_millis(delay_ms);
    Discovery::InBody { parent: ObjectId(parent), offset, delay }
}

fn error(text: &str) -> String {
    parse_har(text.as_bytes(), "t.har").unwrap_err().to_string()
}

mod hosts {
    use super::*;

    #[test]
    fn versions_and_tls_are_those_recorded() {
        let over =
            |url: &str, version: &str| with(png(40, url), "/response/httpVersion", json!(version));
        let page = parse(vec![
            html(0),
            over("https://b.test:8443/i.png", "h2"),
            over("https://b.test/i.png", "http/2.0"),
            over("https://c.test/i.png", "h3"),
            over("http://d.test/i.png", "HTTP/1.0"),
        ]);
        let page = page.unwrap();
        let hosts: Vec<_> = page.hosts().iter().map(|h| (h.name.as_str(), h.http, h.tls)).collect();
        assert_eq!(
            hosts,
            [
                ("a.test", Http::Http11, Tls::None),
                ("b.test:8443", Http::Http2, Tls::Tls13),
                ("b.test", Http::Http2, Tls::Tls13),
                ("c.test", Http::Http3, Tls::Tls13),
                ("d.test", Http::Http10, Tls::None),
            ]
        );
    }

    #[test]
    fn server_time_is_the_wait_less_the_round_trip() {
        // TCP took 6 of 9 ms of connecting: waits of 10 ms hold 4 ms of thinking; one of 3 none.
        let secure = |at, n: u32| png(at, &format!("https://b.test/{n}"));
        let connecting = with(secure(31, 0), "/timings/connect", json!(9));
        let connecting = with(connecting, "/timings/ssl", json!(3));
        let quick = with(secure(60, 2), "/timings/wait", json!(3));
        let objects = objects(vec![html(0), connecting, secure(50, 1), quick]);
        let waits: Vec<_> = objects.iter().map(|o| o.server_wait.as_millis()).collect();
        // The HTML's host opened no connection on record: the other's round trip is used.
        assert_eq!(waits, [4, 4, 4, 0]);
    }

    #[test]
    fn more_responses_at_once_than_connections_are_said_to_have_queued() {
        let noted = |count: usize, version: &str| {
            let picture = |n| png(40, &format!("http://a.test/{n}"));
            let mut entries = vec![html(0)];
            entries.extend((0..count).map(picture));
            let over = |e| with(e, "/response/httpVersion", json!(version));
            let page = parse(entries.into_iter().map(over).collect()).unwrap();
            page.notes().iter().any(|note| note.contains("queueing"))
        };
        // Six connections carry six pictures; over HTTP/2 one carries any number.
        assert!(!noted(6, "HTTP/1.1"));
        assert!(noted(7, "HTTP/1.1"));
        assert!(!noted(7, "h2"));
    }

    #[test]
    fn without_a_connection_on_record_the_wait_is_kept_and_said() {
        let page = parse(vec![html(0)]).unwrap();
        assert_eq!(page.objects()[0].server_wait, Duration::from_millis(10));
        assert!(page.notes()[0].contains("round trip is unknown"), "{:?}", page.notes());
    }
}

mod skipped {
    use super::*;

    /// The note about the skipped entry beside an HTML that was not skipped.
    fn note_on(entry: Value) -> String {
        let page = parse(vec![html(0), entry]).unwrap();
        assert_eq!(page.objects().len(), 1);
        page.notes()[0].clone()
    }

    #[test]
    fn what_did_not_cross_the_network_is_left_out_and_said() {
        let picture = || png(40, "http://a.test/i.png");
        let cached = "skipped 1 request answered from the browser's cache";
        assert_eq!(note_on(with(picture(), "/_fromCache", json!("memory"))), cached);
        assert_eq!(note_on(with(picture(), "/_fetchType", json!("Disk Cache"))), cached);
        assert_eq!(note_on(with(picture(), "/response/_transferSize", json!(0))), cached);
        let instant = with(picture(), "/timings", json!({"wait": 0, "receive": 0}));
        assert_eq!(note_on(with(instant, "/response/bodySize", json!(0))), cached);
        let worker = with(picture(), "/_fetchedViaServiceWorker", json!(true));
        assert_eq!(note_on(worker), "skipped 1 request answered by a service worker");
        let failed = with(picture(), "/response/status", json!(0));
        assert_eq!(note_on(failed), "skipped 1 request that failed without an answer");
        let upgraded = with(picture(), "/response/status", json!(101));
        assert_eq!(note_on(upgraded), "skipped 1 request that became web sockets");
        for url in ["data:image/png;base64,AA==", "blob:http://a.test/1", "chrome://x/", "x", ""] {
            assert!(note_on(png(40, url)).contains("not http or https"), "{url}");
        }
    }

    #[test]
    fn other_pages_of_the_file_are_left_out() {
        let on = |entry, page: &str| with(entry, "/pageref", json!(page));
        let second = on(entry(900, "http://a.test/2", "text/html", 9), "p2");
        let page = parse(vec![on(html(0), "p1"), second]).unwrap();
        assert_eq!(page.objects().len(), 1);
        assert_eq!(page.notes()[0], "skipped 1 request of other pages in the same file");
    }

    #[test]
    fn if_nothing_is_left_it_says_why() {
        let failed = with(html(0), "/response", json!(null));
        let message = parse(vec![failed]).unwrap_err().to_string();
        assert!(message.contains("(1 that failed without an answer)"), "{message}");
        assert!(error(r#"{"log":{"entries":[]}}"#).contains("it has no entries"));
    }
}

mod malformed {
    use super::*;

    #[test]
    fn errors_name_file_line_and_key_and_the_way_out() {
        // In the third line two blanks, `[{`, 17 characters of key, a colon and a blank come first.
        let message = error("{\"log\":\n {\"entries\":\n  [{\"startedDateTime\": 7}]}}");
        assert!(
            message.starts_with("t.har:3:24: at log.entries[0].startedDateTime: "),
            "{message}"
        );
        assert!(message.contains("text is needed"), "{message}");
        assert!(message.contains("Export HAR"), "{message}");
        assert!(error("{\"log\":{}}").contains("at log.entries: this key is missing"));
        assert!(error("").contains("an empty file and no HAR file"), "{}", error(""));
        assert!(error("{\"log\":{\"entries\":[]}} x").contains("at the end: more text follows"));
    }

    #[test]
    fn a_time_that_is_none_is_named() {
        let bad = with(html(0), "/startedDateTime", json!("yesterday"));
        let message = parse(vec![bad]).unwrap_err().to_string();
        assert!(message.starts_with("t.har: at log.entries[0].startedDateTime: \"yesterday\" is"));
    }

    #[test]
    fn sizes_beyond_reason_are_refused() {
        for size in [json!(1e300), json!(u64::MAX), json!("1e99")] {
            let message = parse(vec![with(html(0), "/response/bodySize", size)]).unwrap_err();
            assert!(message.to_string().contains("at log.entries[0]: "), "{message}");
        }
    }

    #[test]
    fn optional_values_of_the_wrong_type_count_as_missing() {
        for odd in [json!(null), json!("x"), json!([1]), json!({"a": 1}), json!(true), json!(-5)] {
            let entry = with(html(0), "/response/bodySize", odd.clone());
            let entry = with(entry, "/timings/wait", odd.clone());
            let entry = with(entry, "/_initiator", odd.clone());
            let page = parse(vec![entry]).unwrap();
            assert_eq!(page.objects()[0].body_bytes, 1000, "content.size is used for {odd}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        for open in ["[", "{\"a\":", "{\"log\":{\"entries\":[{\"_initiator\":["] {
            assert!(parse_har(open.repeat(100_000).as_bytes(), "t.har").is_err());
        }
        let deep = format!("{{\"log\":{{\"x\":{}1{}}}}}", "[".repeat(9999), "]".repeat(9999));
        assert!(error(&deep).contains("t.har:1:"));
    }

    #[test]
    fn errors_are_one_line_of_bounded_length_whatever_the_keys() {
        let key = "\\n\\u001b".repeat(1000);
        let message = error(&format!("{{\"log\":{{\"entries\":[{{\"_initiator\":{{\"{key}\":x"));
        assert!(message.contains("_initiator.\\n\\u{1b}"), "{message}");
        assert!(message.len() < 300 && !message.contains(char::is_control), "{message}");
    }

    #[test]
    fn a_byte_order_mark_is_no_error() {
        let text = json!({"log": {"entries": [html(0)]}}).to_string();
        let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        assert!(parse_har(&marked, "t.har").is_ok());
    }

    #[test]
    fn utf_16_and_gzip_are_read_as_what_they_hold() {
        let text = json!({"log": {"entries": [entry(0, "http://a.test/\u{e9}", "text/html", 9)]}})
            .to_string();
        let plain = parse_har(text.as_bytes(), "t.har").unwrap();
        let units = |order: fn(u16) -> [u8; 2], mark: [u8; 2]| {
            let units = text.encode_utf16().flat_map(order);
            mark.into_iter().chain(units).collect::<Vec<u8>>()
        };
        let little = units(u16::to_le_bytes, [0xff, 0xfe]);
        let big = units(u16::to_be_bytes, [0xfe, 0xff]);
        for bytes in [&little, &big, &packed(text.as_bytes()), &packed(&little)] {
            let page = parse_har(bytes, "t.har").unwrap();
            assert_eq!((page.name(), page.objects()), (plain.name(), plain.objects()));
        }
        let odd = parse_har(&little[..little.len() - 1], "t.har").unwrap_err().to_string();
        assert!(odd.contains("half a character"), "{odd}");
        let half = packed(text.as_bytes());
        let cut = parse_har(&half[..half.len() / 2], "t.har").unwrap_err().to_string();
        assert!(cut.starts_with("t.har: damaged gzip"), "{cut}");
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn strings_are_passed_on_raw() {
        let page = parse(vec![entry(0, "http://a.test/<b>&", "text/html", 1)]).unwrap();
        assert_eq!(page.name(), "http://a.test/<b>&");
    }
}

fn small_har() -> String {
    let redirect = with(html(0), "/response/status", json!(301));
    let redirect = with(redirect, "/response/redirectURL", json!("http://a.test/x"));
    let home = entry(40, "http://a.test/x", "text/html", 1000);
    json!({"log": {"entries": [redirect, home, png(60, "https://b.test/i.png")]}}).to_string()
}

/// Values that a hostile or careless exporter may put anywhere.
fn odd_values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("")),
        Just(json!("NaN")),
        Just(json!("http://b.test/i.png")),
        Just(json!("9999-12-31T23:59:59Z")),
        Just(json!("-009999-01-01T00:00:00Z")),
        any::<f64>().prop_map(|v| json!(v)),
        any::<i64>().prop_map(|v| json!(v)),
        any::<u64>().prop_map(|v| json!(v)),
        Just(json!([])),
        Just(json!({})),
    ]
}

/// Every JSON pointer into a value.
fn pointers(value: &Value, prefix: &str, all: &mut Vec<String>) {
    let mut visit = |key: String, child: &Value| {
        let pointer = format!("{prefix}/{key}");
        pointers(child, &pointer, all);
        all.push(pointer);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| visit(k.clone(), v)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| visit(i.to_string(), v)),
        _ => {}
    }
}

proptest! {
    /// For any damaged bytes, there is a page or an error, never a panic.
    #[test]
    fn damaged_bytes_never_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = small_har().into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(length.index(bytes.len() + 1));
        if let Err(error) = parse_har(&bytes, "t.har") {
            prop_assert!(error.to_string().starts_with("t.har"));
        }
    }

    /// No value of any type makes it panic, under any key.
    #[test]
    fn odd_values_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), odd_values()), 1..4),
    ) {
        let mut har: Value = serde_json::from_str(&small_har()).unwrap();
        for (at, value) in changes {
            let mut all = Vec::new();
            pointers(&har, "", &mut all);
            if !all.is_empty() {
                *har.pointer_mut(&all[at.index(all.len())]).unwrap() = value;
            }
        }
        if let Err(error) = parse_har(har.to_string().as_bytes(), "t.har") {
            prop_assert!(error.to_string().starts_with("t.har"));
        }
    }
}
