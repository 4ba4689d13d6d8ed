//! `headstart lab theory` from outside.

use crate::run::{folder, headstart, stdout};
use serde_json::Value;
use std::fs;

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).expect("JSON")
}

#[test]
fn all_topics_are_tabled() {
    let text = stdout(&["theory"]);
    for word in
        ["SPAND, Figure 5", "its Table 2", "decrease factor", "the link is busy from", "excess"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn the_papers_worked_example_is_in_the_json() {
    // Zhang, Qiu & Keshav 2000 §4.2: Wc = 10, F = 11: 9 before the shift, 5 with it.
    let theory = json(&["theory", "windows", "--segments", "11", "--json"]);
    let rows = theory["windows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["capacity"] == 10).unwrap();
    assert_eq!((row["unshifted"].as_u64(), row["shifted"].as_u64()), (Some(9), Some(5)));
    assert!(theory.get("gaps").is_none() && theory.get("time").is_none());
}

#[test]
fn the_time_on_a_path_is_at_least_the_bytes() {
    let path = ["--path", "12mbit,20ms,10p", "--sizes", "58400B,1MB"];
    let theory = json(&[&["theory", "time", "--json"], &path[..]].concat());
    let time = &theory["time"];
    // 1500 bytes take 1 ms, a segment alone 21.03 ms: 22 keep the link busy, 10 + 20 are held.
    assert_eq!((time["pipe"].as_u64(), time["capacity"].as_u64()), (Some(22), Some(30)));
    for size in time["sizes"].as_array().unwrap() {
        let of = |key: &str| size[key].as_f64().unwrap();
        assert!(of("bound_s") <= of("fastest_s") && of("fastest_s") <= of("shifted_s"), "{size}");
    }
    // 40 segments: 29 + 30 would do, the shift begins at 20, the pipe is full at 22.
    assert_eq!(time["sizes"][0]["shifted"], 20);
    assert_eq!(time["sizes"][0]["fastest"], 22);
}

#[test]
fn the_page_holds_its_figures_and_nothing_from_outside() {
    let page = folder("theory").join("theory.html");
    stdout(&["theory", "--report", page.to_str().unwrap()]);
    let html = fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("Figure 5") && html.contains("Figure 6") && html.contains("class=\"heat ")
    );
    // It names no address: the program of a test is not installed, and neither is its document.
    assert!(
        !html.contains("https://") && !html.contains("http://") && html.contains("docs/theory.md")
    );
}

#[test]
fn what_cannot_be_is_refused() {
    for arguments in [
        &["theory", "everything"][..],
        &["theory", "time", "--path", "fast"],
        &["theory", "time", "--sizes", "0B"],
        &["theory", "windows", "--segments", "0"],
    ] {
        assert_eq!(headstart(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
