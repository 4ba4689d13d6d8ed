//! Fetches that an event waits for. Each entry takes 30 ms: 10 to its first byte, 20 for its body.

use crate::page::{ObjectId, Page, PageMilestone};
use crate::parse_har;
use serde_json::{Value, json};
use units::Duration;

fn entry(at: u64, url: &str, mime: &str) -> Value {
    json!({
        "pageref": "p",
        "startedDateTime": format!("2024-05-06T07:08:01.{at:03}Z"),
        "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "headersSize": 300},
        "response": {
            "status": 200, "headersSize": 200, "bodySize": 500,
            "content": {"size": 500, "mimeType": mime},
        },
        "timings": {"wait": 10, "receive": 20},
    })
}

/// A document, a script, and three pictures, which end after 30, 60, 70, 100 and 130 ms. The page
/// began `before` milliseconds before its first request.
fn page(timings: Value, before: u64) -> Page {
    let entries = [
        entry(100, "http://a.test/", "text/html"),
        entry(130, "http://a.test/s.js", "text/javascript"),
        entry(140, "http://a.test/1.png", "image/png"),
        entry(170, "http://a.test/2.png", "image/png"),
        entry(200, "http://a.test/3.png", "image/png"),
    ];
    let started = format!("2024-05-06T07:08:01.{:03}Z", 100 - before);
    let pages = json!([{"id": "p", "startedDateTime": started, "pageTimings": timings}]);
    let har = json!({"log": {"pages": pages, "entries": entries}});
    parse_har(har.to_string().as_bytes(), "t.har").expect("a page")
}

/// The numbers of the objects that an event waits for; `None` if it is unknown.
fn awaited(page: &Page, event: PageMilestone) -> Option<Vec<u32>> {
    let ids = page.ids().filter(|id| page.awaits(event, *id));
    page.knows(event).then(|| ids.map(|ObjectId(n)| n).collect())
}

#[test]
fn an_event_waits_for_what_had_arrived_before_it() {
    let page = page(json!({"onContentLoad": 75.5, "onLoad": 100.5}), 0);
    assert_eq!(awaited(&page, PageMilestone::Load), Some(vec![0, 1, 2, 3]));
    // The first picture had ended, too, but no parser waits for pictures.
    assert_eq!(awaited(&page, PageMilestone::ContentLoaded), Some(vec![0, 1]));
    assert_eq!(awaited(&page, PageMilestone::Document), Some(vec![0]));
    assert_eq!(awaited(&page, PageMilestone::LastByte), Some(vec![0, 1, 2, 3, 4]));
    assert_eq!(page.recorded().unwrap().load_event, Some(Duration::from_micros(100_500)));
    // 0.5 ms after the second picture; the third ended later.
    let note = page.notes().iter().find(|note| note.contains("load event")).expect("a note");
    assert!(note.contains(" 0.5 ms after") && note.contains("1 request ended after it"), "{note}");
}

/// 99 ms may be 99.9, not 100 and more; 99.2 ms is nothing but that.
#[test]
fn whole_milliseconds_are_a_millisecond_long() {
    for (on_load, last) in [(99.2, 2), (99.0, 3), (98.0, 2), (100.0, 3), (129.0, 4)] {
        let awaited = awaited(&page(json!({"onLoad": on_load}), 0), PageMilestone::Load);
        assert_eq!(awaited, Some((0..=last).collect()), "{on_load}");
    }
}

/// Times of events count from the beginning of the page, those of fetches from the first request.
#[test]
fn a_page_that_began_before_its_first_request_has_later_events() {
    let page = page(json!({"onLoad": 100.5}), 20);
    // 80.5 ms after the first request.
    assert_eq!(awaited(&page, PageMilestone::Load), Some(vec![0, 1, 2]));
}

#[test]
fn an_event_without_a_time_that_can_be_is_unknown() {
    let earlier_than_the_document = json!({"onContentLoad": 20.5, "onLoad": 29.5});
    for timings in
        [json!({}), json!({"onLoad": -1}), json!({"onLoad": null}), earlier_than_the_document]
    {
        let page = page(timings, 0);
        assert_eq!(awaited(&page, PageMilestone::Load), None);
        assert_eq!(awaited(&page, PageMilestone::ContentLoaded), None);
        assert_eq!(page.until(), PageMilestone::LastByte);
        assert_eq!(page.recorded().unwrap().load_event, None);
        assert!(page.notes().iter().all(|note| !note.contains("load event")), "{:?}", page.notes());
    }
}

/// Asked for by `--until`.
#[test]
fn an_event_that_is_known_may_end_the_load() {
    let known = page(json!({"onLoad": 100.5}), 0);
    assert_eq!(known.until(), PageMilestone::LastByte);
    assert_eq!(known.measured_until(PageMilestone::Load).until(), PageMilestone::Load);
    let unknown = page(json!({}), 0).measured_until(PageMilestone::Load);
    assert_eq!(unknown.until(), PageMilestone::LastByte);
}
