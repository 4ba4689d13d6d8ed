//! The waterfall of a race's report has what `--json` has.

use crate::race::json;
use crate::run::{folder, stdout};
use serde_json::Value;
use std::fs;

const FRAMES: [&str; 7] = [
    "race",
    "crates/cli/tests/recordings/frames.har",
    "--path",
    "100mbit,20ms,1bdp",
    "--schemes",
    "linux",
    "--exact",
];

/// A time of the JSON as the report writes it, to the microsecond.
fn milliseconds(seconds: f64) -> String {
    let micros = (seconds * 1e9).round() as u64 / 1_000;
    format!("{}.{:03} ms", micros / 1_000, micros % 1_000)
}

/// The recording has three frames, each revealed by the one before it, and a server time of 5 ms.
#[test]
fn the_waterfall_has_the_critical_path_and_the_milestones() {
    let race = json(&[&FRAMES[..], &["--json"]].concat());
    let file = folder("race-waterfall").join("race.html");
    stdout(&[&FRAMES[..], &["--report", file.to_str().unwrap()]].concat());
    let html = fs::read_to_string(file).unwrap();
    let panel =
        html.split("id=\"s0\"").nth(1).expect("a panel").split("</section>").next().unwrap();
    let rows: Vec<&str> = panel.split("<div class=\"r critical\"").skip(1).collect();
    let path = race["critical_path"]["objects"].as_array().expect("a path");
    assert_eq!(rows.len(), path.len());
    let number = |object: &Value, key: &str| object[key].as_f64().expect(key);
    let phases = ["client_s", "waiting_s", "tcp_s", "tls_s", "trip_s", "server_s", "receiving_s"];
    for (row, object) in rows.iter().zip(path) {
        let from = number(object, "from_s");
        let to = from + phases.map(|phase| number(object, phase)).iter().sum::<f64>();
        let [from, to] = [from, to].map(milliseconds);
        let says = [
            object["label"].as_str().unwrap().to_owned(),
            format!("the load waits for it from {from} to {to}"),
        ];
        for text in says {
            assert!(row.contains(&text), "no {text:?} in {row}");
        }
    }
    assert!(rows[1].contains("(server time 5.000 ms)"), "{}", rows[1]);
    assert!(rows[2].contains("\nrevealed by /f0.html\n"), "{}", rows[2]);
    let milestones = &race["schemes"][0]["samples"][0]["times"];
    // The load event waits for the last byte, so these two share a line.
    let lines = [
        ("document", "document_s"),
        ("DOMContentLoaded", "content_loaded_s"),
        ("load, last byte", "load_s"),
    ];
    for (name, key) in lines {
        let line = format!("{name} {}", report::seconds(number(milestones, key)));
        assert!(panel.contains(&line), "no {line:?} in {milestones}");
    }
}
