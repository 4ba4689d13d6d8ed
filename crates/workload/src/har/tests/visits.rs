//! Pauses within a recording.

use super::*;

fn poll(at_s: u64) -> Value {
    let poll = entry(0, "http://a.test/poll", "application/json", 5);
    let at = format!("2024-05-06T{:02}:{:02}:{:02}Z", 7 + at_s / 3600, at_s / 60 % 60, at_s % 60);
    with(poll, "/startedDateTime", json!(at))
}

fn first() -> Value {
    with(html(0), "/startedDateTime", json!("2024-05-06T07:00:00Z"))
}

#[test]
fn pauses_of_more_than_a_minute_end_a_visit() {
    // A request of 30 ms ends at 59.03 s; the next begins 61 s later.
    let page = parse(vec![first(), poll(59), poll(121)]).unwrap();
    assert_eq!(page.objects().len(), 2);
    assert!(page.notes()[0].contains("a pause of 1 minute"), "{:?}", page.notes());
    assert_eq!(parse(vec![first(), poll(59), poll(119)]).unwrap().objects().len(), 3);
}

#[test]
fn a_page_that_polls_for_more_than_an_hour_is_cut() {
    let polls = (0..75).map(|n| poll(50 * n));
    let page = parse(std::iter::once(first()).chain(polls).collect()).unwrap();
    // Polls at 0, 50, … 3600 s are 73.
    assert_eq!(page.objects().len(), 74);
    assert!(page.notes().iter().any(|note| note.contains("more than an hour")));
}

/// Requests before the load event are part of the page, however long nothing was under way.
#[test]
fn no_pause_before_the_load_event_ends_a_visit() {
    let on = |entry| with(entry, "/pageref", json!("p"));
    let objects = |load_ms: u64| {
        let pages = json!([{
            "id": "p",
            "startedDateTime": "2024-05-06T07:00:00Z",
            "pageTimings": {"onLoad": load_ms},
        }]);
        let entries = [on(first()), on(poll(121))];
        let har = json!({"log": {"pages": pages, "entries": entries}}).to_string();
        parse_har(har.as_bytes(), "t.har").unwrap().objects().len()
    };
    assert_eq!(objects(130_000), 2);
    assert_eq!(objects(50), 1);
}
