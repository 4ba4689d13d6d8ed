//! Milestones of recorded pages: a document, the load event, and what comes after it.
//!
//! The recordings have servers that think 5 ms and a round trip of 20 ms. TCP and TLS take two
//! round trips, and the request a third. So the document of 8 kB is complete after 60 + 5 ms and
//! its transmission, about 66.8 ms with the work of hosts.

use crate::race::{json, number_of};
use crate::run::{headstart, stdout};
use serde_json::Value;

const PATH: [&str; 2] = ["--path", "100mbit,20ms,1bdp"];
const SCHEMES: [&str; 2] = ["--schemes", "linux,linux+iw=32"];

fn recording(name: &str) -> String {
    format!("crates/cli/tests/recordings/{name}.har")
}

fn race(name: &str, more: &[&str]) -> Value {
    let file = recording(name);
    json(&[&["race", &file, "--json"], &PATH[..], &SCHEMES[..], more].concat())
}

fn milestone(race: &Value, scheme: &str, milestone: &str, key: &str) -> f64 {
    let rows = race["schemes"].as_array().expect("an array");
    let row = rows.iter().find(|row| row["name"] == scheme).expect("a row");
    row["milestones"][milestone][key].as_f64().expect("a number")
}

#[track_caller]
fn assert_about(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() < within, "{value}, not {expected}");
}

/// The load event does not wait for polls at 4.4 and 7.4 s. The recorded document took 66 ms,
/// so the last poll is requested 7.334 s after this document, and answered 25 ms later.
#[test]
fn polls_after_the_load_event_do_not_delay_the_load() {
    let polled = race("polls-after-load", &[]);
    assert_eq!(polled["until"], "load");
    assert_about(number_of(&polled, "linux", "page_s"), 0.139, 0.001);
    assert_about(number_of(&polled, "linux+iw=32", "gain_over_linux"), 0.138, 0.002);
    assert_about(milestone(&polled, "linux", "last_byte", "time_s"), 7.426, 0.002);
    assert_about(milestone(&polled, "linux+iw=32", "last_byte", "gain_over_linux"), 0.0, 0.001);
    // Seven seconds between polls are no part of what bounded the load.
    let linux = &polled["schemes"][0]["bound"];
    assert!(linux["client"].as_f64().expect("a share") < 0.05, "{linux}");
    let last = race("polls-after-load", &["--until", "last"]);
    assert_eq!(last["until"], "last_byte");
    assert_about(number_of(&last, "linux", "page_s"), 7.426, 0.002);
    assert_eq!(last["schemes"][0]["milestones"], polled["schemes"][0]["milestones"]);
    assert!(last["schemes"][0]["bound"]["client"].as_f64().expect("a share") > 0.9);
}

/// Three frames of HTML arrive up to 2.4 s after the document; the load event waits for them.
#[test]
fn the_document_is_there_before_its_frames() {
    let framed = race("frames", &[]);
    assert_about(milestone(&framed, "linux", "document", "time_s"), 0.0668, 0.0005);
    assert_about(milestone(&framed, "linux", "content_loaded", "time_s"), 0.0668, 0.0005);
    assert_about(number_of(&framed, "linux", "page_s"), 2.427, 0.002);
    // The limits know the milestones, too.
    let limit = milestone(&framed, "limit", "document", "time_s");
    assert!((0.065..0.0668).contains(&limit), "{limit}");
    let ratio = milestone(&framed, "linux", "document", "ratio_to_limit");
    assert_about(ratio, milestone(&framed, "linux", "document", "time_s") / limit, 1e-9);
}

/// Harm and its interval end with the load: downloads do not lose seven seconds to six pictures.
#[test]
fn harm_counts_to_the_end_of_the_load() {
    let more = ["--background", "1", "--repeat", "3"];
    let of_load = number_of(&race("polls-after-load", &more), "linux+iw=32", "background_harm");
    let last = [&more[..], &["--until", "last"]].concat();
    let of_all = number_of(&race("polls-after-load", &last), "linux+iw=32", "background_harm");
    // Seven seconds of a download compared with 0.14 s would be minus 5,000 %.
    assert!(of_load.abs() < 0.5, "{of_load}");
    // The same loss is fifty times as large a share of 0.14 s as of 7.4 s.
    assert!(of_load.abs() > 5.0 * of_all.abs(), "{of_load} and {of_all}");
}

#[test]
fn each_milestone_has_its_gain_in_the_table() {
    let file = recording("polls-after-load");
    let table = stdout(&[&["race", &file], &PATH[..], &SCHEMES[..]].concat());
    let parts: Vec<&str> = table.split("\n\n").collect();
    let [_, race, milestones, ..] = parts[..] else { panic!("words and two tables: {table}") };
    assert!(race.starts_with("scheme ") && race.contains(" load "), "{race}");
    for word in ["document", "DOMContentLoaded", "load", "last byte", "7.426 s", "+13.8 %"] {
        assert!(milestones.contains(word), "{word}: {milestones}");
    }
    assert_eq!(milestones.lines().next().expect("a head").matches("gain").count(), 4);
    // A page of one object has one milestone, and no second table.
    let single = stdout(&["race", "30kB", "--schemes", "linux"]);
    assert!(!single.contains("document"), "{single}");
}

#[test]
fn a_page_without_the_event_cannot_be_loaded_until_it() {
    let output = headstart(&["race", "news", "--until", "load"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("news has no time of a load event") && errors.contains("--until last"));
    assert_eq!(headstart(&["race", "news", "--until", "soon"]).status.code(), Some(2));
    let news = json(&["race", "news", "--json", "--schemes", "linux", "--until", "last"]);
    assert_eq!(news["until"], "last_byte");
    assert!(news["schemes"][0]["milestones"].get("load").is_none());
}

/// Two visits of a page with polls: the second begins after the last poll of the first.
#[test]
fn the_next_visit_waits_for_the_last_byte() {
    let more = ["--visits", "2", "--idle", "1", "--repeat", "1"];
    let polled = race("polls-after-load", &more);
    let rows = polled["schemes"].as_array().expect("an array");
    let repeated = rows.iter().filter(|row| row["visit"] == "repeated");
    for row in repeated.filter(|row| !row["on"].is_null()) {
        assert_eq!(row["completed"], true, "{row}");
        assert!(
            row["milestones"]["last_byte"]["time_s"].as_f64().expect("it ended") > 7.3,
            "{row}"
        );
    }
}
