//! `--dns`: name lookups as a part of loads.

use crate::race::{json, number_of};
use crate::run::{refused, stdout};
use serde_json::Value;

const PATH: [&str; 3] = ["--path", "20mbit,60ms,100p", "--exact"];
const PAGE: &str = "pages/article.har";

fn race(page: &str, more: &[&str]) -> Value {
    json(&[&["race", page, "--json", "--schemes", "linux"], &PATH[..], more].concat())
}

fn bound(race: &Value, cause: &str) -> f64 {
    race["schemes"][0]["bound"][cause].as_f64().expect("a share")
}

/// One host: one lookup of 30 ms ahead of all else, also of the limit.
#[test]
fn a_lookup_delays_a_load_and_its_limit() {
    let (plain, looked_up) = (race("30kB", &[]), race("30kB", &["--dns", "30ms"]));
    for row in ["linux", "perfect start", "limit"] {
        let more = number_of(&looked_up, row, "page_s") - number_of(&plain, row, "page_s");
        assert!((more - 0.03).abs() < 1e-9, "{row}: {more}");
    }
    assert_eq!((bound(&plain, "dns"), &plain["hosts"][0]["lookup_s"]), (0.0, &Value::Null));
    let share = 0.03 / number_of(&looked_up, "linux", "page_s");
    assert!((bound(&looked_up, "dns") - share).abs() < 1e-6);
    assert_eq!(looked_up["hosts"][0]["lookup_s"], 0.03);
    assert_eq!(looked_up["critical_path"]["objects"][0]["dns_s"], 0.03);
    assert_eq!(looked_up["schemes"][0]["first_load"]["objects"][0]["dns_s"], 0.03);
}

/// The critical path has a column for lookups if there are any, and the account a line.
#[test]
fn lookups_are_shown_where_there_are_any() {
    let text =
        |more: &[&str]| stdout(&[&["race", PAGE, "--schemes", "linux"], &PATH[..], more].concat());
    let head = |text: &str| {
        text.lines().find(|line| line.starts_with("object ")).expect("a head").to_owned()
    };
    let (plain, looked_up) = (text(&[]), text(&["--dns", "300ms"]));
    assert!(!head(&plain).contains("DNS") && !plain.contains("(dns)"), "{plain}");
    assert!(head(&looked_up).contains("DNS"), "{looked_up}");
    assert!(looked_up.contains("looking up names of hosts (dns)"), "{looked_up}");
    let compared = text(&["--dns", "0ms,300ms"]);
    let causes = compared.split("by its causes:").nth(1).expect("an account");
    assert!(causes.contains("dns") && !causes.contains("rwnd"), "{compared}");
}

/// The longest lookups of the two hosts take 0.6 ms. A load without them says that it makes none.
#[test]
fn a_recording_says_how_long_lookups_took() {
    let of_notes = |race: &Value| race["notes"].to_string();
    let (plain, recorded) = (race(PAGE, &[]), race(PAGE, &["--dns", "recorded"]));
    let left_out = "the recorded name lookups (0.6 ms in all) are not part of the load; --dns";
    assert!(of_notes(&plain).contains(left_out));
    let notes = of_notes(&recorded);
    assert!(!notes.contains("name lookups ("), "{notes}");
    assert!(notes.contains("the recording shows lookups of "), "{notes}");
    let lookups = recorded["hosts"].as_array().expect("an array").iter();
    let total: f64 = lookups.map(|host| host["lookup_s"].as_f64().expect("a time")).sum();
    assert!((0.0001..0.002).contains(&total), "{total}");
}

#[test]
fn what_cannot_be_looked_up_is_refused() {
    refused(
        &["race", "news", "--dns", "recorded"],
        &["--dns recorded", "no recording", "--dns 30ms"],
    );
    refused(&["race", "news", "--dns", "30ms,recorded"], &["--dns recorded", "no recording"]);
    refused(&["race", "30kB", "--dns", "30"], &["--dns", "or use recorded"]);
    refused(&["race", "30kB", "--on", "sim,wire", "--dns", "3ms"], &["--dns is for simulations"]);
}
