//! Several runs of a page in one recording.
//!
//! The recording has five runs whose servers think 5, 50, 5, 120 and 20 ms. A page is a chain of a
//! document and its pictures, so a run takes twice as much longer as its servers think longer.

use crate::race::json;
use crate::run::{headstart, stdout};
use serde_json::Value;

const RUNS: &str = "crates/cli/tests/recordings/five-runs.har";
const PATH: [&str; 4] = ["--path", "100mbit,20ms,1bdp", "--schemes", "linux,linux+iw=32"];

fn printed(arguments: &[&str]) -> String {
    String::from_utf8_lossy(&headstart(arguments).stderr).into_owned()
}

/// The values of a row in each run.
fn by_run(race: &Value, name: &str, key: &str) -> Vec<f64> {
    let row = |run: &Value| {
        let mut rows = run["schemes"].as_array().expect("an array").iter();
        rows.find(|row| row["name"] == name).expect("a row")[key].as_f64().expect("a number")
    };
    race["runs"].as_array().expect("an array").iter().map(row).collect()
}

#[test]
fn gains_are_over_the_runs() {
    let race = json(&[&["race", RUNS, "--har-page", "all", "--json"], &PATH[..]].concat());
    // One exchange more or less than 160 ms by 5 ms of thinking: 2 · (50 − 5), and so on.
    for (time, expected) in by_run(&race, "linux", "page_s").iter().zip([160, 250, 160, 390, 190]) {
        assert!((time * 1e3 - f64::from(expected)).abs() < 1.5, "{time}, not {expected} ms");
    }
    // The larger window spares a round trip of 20 ms of each run.
    let gains = by_run(&race, "linux+iw=32", "gain_over_linux");
    for (gain, expected) in gains.iter().zip([0.122, 0.078, 0.122, 0.054, 0.102]) {
        assert!((gain - expected).abs() < 0.002, "{gain}, not {expected}");
    }
    // Servers that answer at once save two waits of each run, so that all runs are as long.
    let what_if = race["what_if"].as_array().expect("an array");
    let instant = what_if.iter().find(|one| one["change"] == "instant_servers").expect("a change");
    for key in ["page_s", "page_s_min", "page_s_max"] {
        let time = instant[key].as_f64().expect("a number");
        assert!((time * 1e3 - 151.0).abs() < 1.5, "{key}: {time}");
    }
    let row = &race["schemes"][1];
    let value = |key: &str| row[key].as_f64().expect("a number");
    let mut sorted = gains;
    sorted.sort_by(f64::total_cmp);
    assert_eq!(value("gain_over_linux"), sorted[2]);
    assert_eq!(value("gain_over_linux_min"), sorted[0]);
    assert_eq!(value("gain_over_linux_max"), sorted[4]);
    // Five runs are too few for an interval, although all repeats together would have one.
    assert!(row["gain_over_linux_interval"].is_null());
    assert_eq!(row["samples"].as_array().expect("an array").len(), 5 * 7);
    assert_eq!(row["samples"][34]["run"], 4);
    let ids: Vec<&Value> = race["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, ["page_1", "page_2", "page_3", "page_4", "page_5"]);
    let table = stdout(&[&["race", RUNS, "--har-page", "all"], &PATH[..]].concat());
    assert!(table.contains("+10.2 % (+5.4 to +12.2)"), "{table}");
}

#[test]
fn a_single_run_says_that_it_is_one() {
    let one = [&["race", RUNS], &PATH[..]].concat();
    let notes = printed(&one);
    assert!(notes.contains("one run of the page") && notes.contains("or all: "), "{notes}");
    let race = json(&[&one[..], &["--json", "--har-page", "2"]].concat());
    assert_eq!(race["runs"].as_array().expect("an array").len(), 1);
    assert!((by_run(&race, "linux", "page_s")[0] - 0.251).abs() < 0.002);
    let all = printed(&[&one[..], &["--har-page", "all"]].concat());
    assert!(all.contains("medians of 5 runs") && !all.contains("one run"), "{all}");
    // Notes of each run that say the same are one note.
    assert_eq!(all.matches("round trip of the recording").count(), 1, "{all}");
    // A model of a page has no runs.
    assert!(!printed(&["race", "news", "--schemes", "linux"]).contains("run of the page"));
    let output = headstart(&["race", "news", "--har-page", "all"]);
    assert_eq!(output.status.code(), Some(2));
}
