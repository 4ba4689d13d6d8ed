//! Bounds of the servers' times.

use super::*;

/// Timings of a request that was sent at once, beside the entry of `entry`.
fn timed(entry: Value, wait: f64, receive: f64) -> Value {
    with(entry, "/timings", json!({"wait": wait, "receive": receive}))
}

/// An image of 200 and `body` bytes on a named HTTP/2 connection.
fn image(at: u64, number: usize, connection: &str, body: u64) -> Value {
    let image = entry(at, &format!("http://a.test/{number}.png"), "image/png", body);
    let image = with(image, "/request/httpVersion", json!("h2"));
    with(image, "/connection", json!(connection))
}

fn bounds(entries: Vec<Value>) -> Vec<(f64, f64)> {
    let page = parse(entries).unwrap();
    let ms = |time: Duration| time.as_nanos() as f64 / 1e6;
    let fetches = &page.recorded().unwrap().fetches;
    let of = |f: &crate::RecordedFetch| (ms(f.least_server_time), ms(f.most_server_time));
    fetches.iter().map(of).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.5
}

/// 100 kB a response at 8 Mbit/s (1 kB a millisecond), one after another: the servers may have
/// been as fast as the first, which took 10 ms.
#[test]
fn a_busy_line_may_have_kept_all_responses_waiting() {
    let images = (0..4).map(|n| timed(image(0, n, "1", 99_800), 10.0 + 100.0 * n as f64, 100.0));
    for (n, (least, most)) in bounds(images.collect()).into_iter().enumerate() {
        assert!(near(most, 10.0 + 100.0 * n as f64), "{n}: {most}");
        assert!(least < 10.5, "{n}: {least}");
    }
}

/// The same, but the line was idle from 110 to 310 ms: later data was not ready before.
#[test]
fn an_idle_line_shows_that_the_server_was_not_ready() {
    let images = vec![
        timed(image(0, 0, "1", 99_800), 10.0, 100.0),
        timed(image(0, 1, "1", 99_800), 310.0, 100.0),
    ];
    let (least, most) = bounds(images)[1];
    // A flight of 14.6 kB is 18 ms at four fifths of the rate: so well are the ends known.
    assert!(near(most, 310.0) && least > 285.0, "{least} {most}");
}

/// Two responses of 10 kB, each in a millisecond, with a second between them: 20 kB in a second are
/// no rate of a line, which was idle. Each alone is less than a flight.
#[test]
fn an_idle_line_shows_no_rate() {
    let apart = |ms: u64| {
        let images =
            [timed(image(0, 0, "1", 9_800), 10.0, 1.0), timed(image(ms, 1, "1", 9_800), 10.0, 1.0)];
        parse(images.to_vec()).unwrap().recorded().unwrap().rate
    };
    assert_eq!(apart(1_000), None);
    // One after the other they show it: 10 kB a millisecond are 80 Mbit/s.
    assert_eq!(apart(1), Some(units::Rate::from_mbps(80)));
}

/// A response that delivers a tenth of the line's rate does not keep others waiting.
#[test]
fn a_slow_response_keeps_no_line_busy() {
    let images = vec![
        timed(image(0, 0, "1", 999_800), 10.0, 100.0),
        timed(image(200, 1, "1", 99_800), 10.0, 1000.0),
        timed(image(200, 2, "1", 9_800), 610.0, 1.0),
    ];
    // At 10 kB a millisecond, 60 kB are 7.5 ms at four fifths of the rate.
    let (least, most) = bounds(images)[2];
    assert!(near(most, 610.0) && least > 600.0, "{least} {most}");
}

/// Two connections share a line of 1 kB a millisecond that is busy to the end. The answer to a
/// request of 100 ms later came first: the earlier one was not on the line by then.
#[test]
fn a_line_is_first_in_first_out_between_connections() {
    let images = |other: &str| {
        vec![
            timed(image(0, 0, "1", 399_800), 10.0, 400.0),
            timed(image(0, 1, other, 9_800), 250.0, 1.0),
            timed(image(100, 2, "1", 9_800), 140.0, 1.0),
        ]
    };
    let (least, most) = bounds(images("2"))[1];
    assert!(near(most, 250.0) && near(least, 100.0), "{least} {most}");
    // On one connection the server may send one response before the other.
    let (least, _) = bounds(images("1"))[1];
    assert!(least < 10.5, "{least}");
}

/// A response that is alone on the line waited for no other, however short its server's time.
#[test]
fn a_response_that_came_alone_is_measured() {
    let images = vec![
        timed(image(0, 0, "1", 99_800), 10.0, 100.0),
        timed(image(300, 1, "1", 9_800), 12.0, 10.0),
    ];
    assert_eq!(bounds(images)[1], (12.0, 12.0));
}
