//! `headstart pages FILE`: what is read from recordings, for people and as JSON.

use crate::run::{refused, root, stdout};
use serde_json::Value;

/// A recording of the crate that reads them; expected values follow from how it was made.
fn recording(name: &str) -> String {
    let path = root().join("crates/workload/tests/recordings").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn json_obeys_the_schema_that_it_publishes() {
    let schema: Value = serde_json::from_str(&stdout(&["pages", "--json-schema"])).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let files = ["recorded-5mbit-serial.har", "redirects.har", "tls12.har", "proxy-session.har"];
    let files = files.map(recording);
    for page in files.iter().map(String::as_str).chain(["news", "30kB", "pages/article.har"]) {
        let json: Value = serde_json::from_str(&stdout(&["pages", page, "--json"])).unwrap();
        let errors: Vec<String> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{page}: {errors:?}");
    }
}

#[test]
fn every_object_has_its_parent_host_connection_and_times() {
    let text = stdout(&["pages", &recording("recorded-5mbit-serial.har"), "--json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    // The 40th image: asked for after the document of 8 kB (78.9 ms), and sent after 39 others that
    // take 32 ms each.
    let last = &json["objects"][40];
    assert_eq!((&last["discovery"]["parent"], &last["host"]), (&Value::from(0), &Value::from(0)));
    assert_eq!(last["recorded"]["connection"], "1");
    let seconds = |value: &Value| value.as_f64().unwrap();
    assert!((seconds(&last["recorded"]["wait_s"]) - (0.025 + 39.0 * 0.032)).abs() < 1e-6);
    assert!((seconds(&last["server_time_s"]) - 0.005).abs() < 1e-6);
    assert!((seconds(&last["recorded"]["most_server_time_s"]) - 1.253).abs() < 1e-6);
    assert_eq!(json["recording"]["server_times"], "estimated");
    assert_eq!(json["recording"]["limit_mark"], "limit of this recording");
    assert!((seconds(&json["recording"]["rate_bps"]) / 5e6 - 1.0).abs() < 0.1);
}

#[test]
fn a_file_is_shown_with_its_hosts_line_and_what_was_left_out() {
    let text = stdout(&["pages", &recording("tls12.har")]);
    assert!(text.contains("9 objects, 9 hosts"), "{text}");
    let row = text.lines().find(|line| line.starts_with("h3.site.example")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["h3.site.example", "2", "1.2", "20.0", "ms", "1", "1", "20.0", "kB"]);
    assert!(text.contains("servers' times: measured"), "{text}");
    let text = stdout(&["pages", &recording("proxy-session.har"), "--har-page", "3"]);
    assert!(text.starts_with("https://site.example/step2\n"), "{text}");
    assert!(text.contains("left out: 3 requests"), "{text}");
}

#[test]
fn a_file_of_another_kind_is_named_with_the_way_out() {
    let file = recording("devtools-log.json");
    refused(&["pages", &file], &[&file, "DevTools", "export a HAR file"]);
    refused(&["race", &file], &[&file, "DevTools", "export a HAR file"]);
}

/// The table and JSON of a race say that a limit depends on the recording's line; a recording of a
/// fast line has a limit of its page.
#[test]
fn a_race_marks_the_limit_of_a_recording() {
    for (file, marked) in
        [("recorded-5mbit-serial.har", true), ("recorded-1000mbit-serial.har", false)]
    {
        let path = recording(file);
        let race = |json: &[&str]| {
            let args = ["race", &*path, "--path", "100mbit,20ms,1bdp", "--schemes", "linux"];
            stdout(&[&args[..], json].concat())
        };
        let table = race(&[]);
        assert_eq!(table.contains("\nlimit of this recording "), marked, "{table}");
        assert_eq!(table.contains("\nlimit of this recording, no handshake "), marked, "{table}");
        assert_eq!(table.contains("\nlimit  "), !marked, "{table}");
        let json: Value = serde_json::from_str(&race(&["--json"])).unwrap();
        assert_eq!(json["limit_mark"] == "limit of this recording", marked);
    }
}

#[test]
fn one_page_of_several_is_shown() {
    let file = recording("five-runs.har");
    refused(&["pages", &file, "--har-page", "all"], &[&file, "5 pages", "--har-page"]);
}
