use super::*;

fn event(method: &str, params: Value) -> Value {
    json!({ "method": method, "params": params })
}

fn sent(id: &str, url: &str, at: f64) -> Value {
    json!({
        "requestId": id,
        "request": { "url": url, "method": "GET", "headers": { "Accept": "*/*" } },
        "timestamp": at,
        "wallTime": 1_700_000_000.0 + at,
        "initiator": { "type": "other" },
        "type": "Document",
    })
}

/// A response whose request went out at once on an open connection, and whose header came 40 ms
/// later.
fn response(status: u32, started: f64) -> Value {
    json!({
        "status": status,
        "protocol": "h2",
        "headers": { "Location": "/b" },
        "mimeType": "text/html",
        "connectionId": 7,
        "encodedDataLength": 90,
        "timing": {
            "requestTime": started, "dnsStart": -1, "dnsEnd": -1, "connectStart": -1,
            "connectEnd": -1, "sslStart": -1, "sslEnd": -1, "sendStart": 0.5, "sendEnd": 1.0,
            "receiveHeadersEnd": 41.0,
        },
    })
}

/// A redirect at 10 s, and the document that it leads to, from 10.05 to 10.2 s.
fn load() -> Vec<Value> {
    let redirected = {
        let mut sent = sent("1", "http://a.test/b", 10.05);
        sent["redirectResponse"] = response(302, 10.002);
        sent
    };
    let first_answer = {
        let mut response = response(200, 10.06);
        let timing = &mut response["timing"];
        for (name, at) in
            [("connectStart", 2.0), ("connectEnd", 62.0), ("sslStart", 32.0), ("sslEnd", 62.0)]
        {
            timing[name] = json!(at);
        }
        for (name, at) in [("sendStart", 62.5), ("sendEnd", 63.0), ("receiveHeadersEnd", 113.0)] {
            timing[name] = json!(at);
        }
        response
    };
    vec![
        event("Network.requestWillBeSent", sent("1", "http://a.test/", 10.0)),
        event("Network.requestWillBeSent", redirected),
        event("Network.responseReceived", json!({ "requestId": "1", "response": first_answer })),
        event("Network.dataReceived", json!({ "requestId": "1", "dataLength": 300 })),
        event("Network.dataReceived", json!({ "requestId": "1", "dataLength": 200 })),
        event("Network.requestWillBeSent", sent("2", "data:,", 10.18)),
        event(
            "Network.loadingFinished",
            json!({ "requestId": "1", "timestamp": 10.2, "encodedDataLength": 590 }),
        ),
        event("Page.domContentEventFired", json!({ "timestamp": 10.21 })),
        event("Page.loadEventFired", json!({ "timestamp": 10.25 })),
    ]
}

/// Expected milliseconds are differences of the events' times, by hand. Queued: 10.06 - 10.05 s.
/// Received: 10.2 - 10.06 s less 113 ms.
#[test]
fn timings_are_differences_of_the_browsers_times() {
    let RecordedHar { har, load_s } = RecordedHar::of(&load()).expect("a load");
    assert!((load_s - 0.25).abs() < 1e-9);
    let entries = har["log"]["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 2, "a redirect and its document, and no address of data");
    let near = |value: &Value, expected: f64| {
        let ms = value.as_f64().expect("a number");
        assert!((ms - expected).abs() < 1e-3, "{value} and {expected}");
    };
    let timings = |n: usize| &entries[n]["timings"];
    let of = |n: usize, expected: [f64; 7]| {
        let names = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"];
        names.iter().zip(expected).for_each(|(name, ms)| near(&timings(n)[name], ms));
    };
    of(0, [2.5, -1.0, -1.0, -1.0, 0.5, 40.0, 7.0]);
    of(1, [12.0, -1.0, 60.0, 30.0, 1.0, 50.0, 27.0]);
    assert_eq!(entries[0]["response"]["redirectURL"], "/b");
    assert_eq!(entries[0]["response"]["_transferSize"], 90.0);
    assert_eq!(entries[1]["response"]["_transferSize"], 590.0);
    assert_eq!(entries[1]["response"]["content"]["size"], 500.0);
    assert_eq!(entries[1]["connection"], "7");
    assert_eq!(entries[0]["startedDateTime"], "2023-11-14T22:13:30.000Z");
}

/// HTTP/2 writes names of headers in lower case (RFC 9113 §8.2.1), and HTTP/1.1 in any.
#[test]
fn a_redirect_is_known_by_its_header_in_any_case() {
    let address = |header: &str| {
        let mut events = load();
        let redirect = &mut events[1]["params"]["redirectResponse"];
        redirect["headers"] = json!({ "server": "a", (header): "/b" });
        let har = RecordedHar::of(&events).expect("a load").har;
        har["log"]["entries"][0]["response"]["redirectURL"].clone()
    };
    assert_eq!(["Location", "location", "LOCATION"].map(address), ["/b"; 3]);
    assert_eq!(address("content-location"), "");
}

/// The crate that reads HAR files derives from the events two objects of one host, the second
/// revealed by the first, and both of the browser's events.
#[test]
fn the_file_is_read_as_a_page() {
    let har = RecordedHar::of(&load()).expect("a load").har;
    let page = workload::parse_har(har.to_string().as_bytes(), "har").expect("a page");
    assert_eq!((page.hosts().len(), page.objects().len()), (1, 2));
    let document = &page.objects()[1];
    assert_eq!(document.response_bytes(), 590);
    assert!(matches!(document.discovery, workload::Discovery::InBody { .. }));
    assert!(page.knows(workload::PageMilestone::Load));
}

#[test]
fn a_load_that_is_not_whole_is_refused_with_the_reason() {
    let without = |method: &str| {
        let events: Vec<Value> = load().into_iter().filter(|e| e["method"] != method).collect();
        RecordedHar::of(&events).unwrap_err()
    };
    assert!(without("Page.loadEventFired").contains("Page.loadEventFired"));
    assert_eq!(without("Network.loadingFinished"), "http://a.test/b has no end");
    let mut failed = load();
    let params = json!({ "requestId": "1", "errorText": "net::ERR_TIMED_OUT" });
    failed.insert(3, event("Network.loadingFailed", params));
    let message = RecordedHar::of(&failed).unwrap_err();
    assert_eq!(message, "http://a.test/b failed: net::ERR_TIMED_OUT");
    let mut missing = load();
    missing[2]["params"]["response"]["status"] = json!(404);
    let message = RecordedHar::of(&missing).unwrap_err();
    assert_eq!(message, "http://a.test/b was answered with status 404");
    assert!(RecordedHar::of(&[]).is_err());
}
