//! The waterfall of a race's report has what `--json` has.

use crate::race::{FRAMES, json};
use crate::run::{folder, stdout};
use serde_json::Value;
use std::fs;

/// The recording has three frames, each revealed by the one before it, and a server time of 5 ms.
#[test]
fn the_waterfall_has_the_critical_path_and_the_milestones() {
    let race = json(&[&FRAMES[..], &["--exact", "--json"]].concat());
    let file = folder("race-waterfall").join("race.html");
    stdout(&[&FRAMES[..], &["--exact", "--report", file.to_str().unwrap()]].concat());
    let html = fs::read_to_string(file).unwrap();
    let load =
        html.split("id=\"load\"").nth(1).expect("a load").split("</section>").next().unwrap();
    let rows: Vec<&str> = load.split("<div class=\"r critical\"").skip(1).collect();
    let path = race["critical_path"]["objects"].as_array().expect("a path");
    assert_eq!(rows.len(), path.len());
    let number = |object: &Value, key: &str| object[key].as_f64().expect(key);
    let phases = ["client_s", "waiting_s", "tcp_s", "tls_s", "trip_s", "server_s", "receiving_s"];
    for (row, object) in rows.iter().zip(path) {
        let from = number(object, "from_s");
        let to = from + phases.map(|phase| number(object, phase)).iter().sum::<f64>();
        let [from, to] = [from, to].map(report::seconds);
        let says = [
            object["label"].as_str().unwrap().to_owned(),
            format!("the load waits for it from {from} to {to}"),
            format!(" {} B with header", object["bytes"]),
        ];
        let row = row.replace('\u{202f}', "");
        for text in says {
            assert!(row.contains(&text), "no {text:?} in {row}");
        }
    }
    assert!(rows[1].contains("(server time 5.0 ms)"), "{}", rows[1]);
    // f0 arrives before f1 is asked for, and the time between is the browser's.
    let [from, work] = ["from_s", "client_s"].map(|key| report::seconds(number(&path[2], key)));
    assert!(rows[2].contains(&format!("\nrevealed by /f0.html at {from}\n")), "{}", rows[2]);
    assert!(rows[2].contains(&format!("\nbrowser's own time: {work}\n")), "{}", rows[2]);
    let milestones = &race["schemes"][0]["samples"][0]["times"];
    // The load event waits for the last byte, so these two share a line.
    let lines = [
        ("document", "document_s"),
        ("DOMContentLoaded", "content_loaded_s"),
        ("load, last byte", "load_s"),
    ];
    for (name, key) in lines {
        let line = format!("{name} {}", report::seconds(number(milestones, key)));
        assert!(load.contains(&line), "no {line:?} in {milestones}");
    }
}

/// The time of an object of the critical path and its largest phase come first. The time that the
/// load would save without the object follows. f1 waits for the browser most of its time.
#[test]
fn a_narrow_page_shows_the_time_of_a_critical_object_and_its_reason() {
    let race = json(&[&FRAMES[..], &["--exact", "--json"]].concat());
    let file = folder("race-critical").join("race.html");
    stdout(&[&FRAMES[..], &["--exact", "--report", file.to_str().unwrap()]].concat());
    let html = fs::read_to_string(file).unwrap();
    let table = html.split("<h2 id=\"part0\"><bdi>Critical path").nth(1).expect("a critical path");
    let table = table.split("</table>").next().unwrap();
    let heads = table.split("</thead>").next().unwrap().split("<th ").skip(1);
    let titles: Vec<&str> =
        heads.map(|head| head.split('>').nth(1).unwrap().split('<').next().unwrap()).collect();
    assert_eq!(titles[..5], ["object", "time", "mostly", "without it", "waits for"]);
    let object = &race["critical_path"]["objects"][2];
    let number = |key: &str| object[key].as_f64().expect(key);
    let phases = ["client_s", "waiting_s", "tcp_s", "tls_s", "trip_s", "server_s", "receiving_s"];
    let total = report::seconds(phases.map(number).iter().sum());
    let row = table
        .split("<th scope=\"row\">")
        .find(|row| row.contains("<bdi>/f1.html</bdi></th>"))
        .expect("f1");
    let cells: Vec<&str> =
        row.split("<td").skip(1).map(|cell| cell.split('>').nth(1).unwrap()).collect();
    assert_eq!(cells[0], format!("{total}</td"));
    assert!(
        row.contains(&format!("<bdi>browser {}</bdi>", report::seconds(number("client_s")))),
        "{row}"
    );
}

/// Words that the report does not use are not explained. A program that is not installed has no
/// documents to link to.
#[test]
fn the_report_explains_its_words() {
    let file = folder("race-words").join("race.html");
    stdout(&[&FRAMES[..], &["--exact", "--report", file.to_str().unwrap()]].concat());
    let html = fs::read_to_string(&file).unwrap();
    let words = html.split("<summary>Words</summary>").nth(1).expect("words");
    let words = words.split("</details>").next().unwrap();
    for word in ["linux:", "perfect start:", "of perfect:", "limit:", "× limit:", "no difference:"]
    {
        assert!(words.contains(word), "no {word} in {words}");
    }
    for word in ["rounds,", "path,", "cwnd,", "What the words mean: docs/race.md"] {
        assert!(words.contains(word), "no {word} in {words}");
    }
    assert!(!words.contains("hs-cubic") && !words.contains("href"), "{words}");
    let raced = ["linux,hs-cubic", "--exact", "--report", file.to_str().unwrap()];
    stdout(&[&FRAMES[..5], &raced].concat());
    assert!(fs::read_to_string(file).unwrap().contains("<bdi>hs-cubic: "));
}

/// Over HTTP/1.1, six connections to each host carry more objects. One object waits for each
/// handshake, and no object that takes the connection later shows it.
#[test]
fn a_handshake_is_shown_at_the_object_that_waited_for_it() {
    let race = ["race", "crates/cli/tests/recordings/five-runs.har", "--http", "1.1"];
    let race =
        [&race[..], &["--path", "5mbit,60ms,1bdp", "--schemes", "linux", "--exact"]].concat();
    let detail = &json(&[&race[..], &["--json"]].concat())["schemes"][0]["first_load"];
    let connections = detail["connections"].as_array().expect("connections").len();
    let objects = detail["objects"].as_array().expect("objects").len();
    let file = folder("race-handshakes").join("race.html");
    stdout(&[&race[..], &["--report", file.to_str().unwrap()]].concat());
    let html = fs::read_to_string(&file).unwrap();
    let load =
        html.split("id=\"load\"").nth(1).expect("a load").split("</section>").next().unwrap();
    assert!(connections < objects, "{connections} connections for {objects} objects");
    assert_eq!(load.matches("\nTCP handshake: ").count(), connections);
    // The first connection to a host waits for the lookup of its name, if lookups take time.
    let dns = [&race[..], &["--dns", "30ms", "--report", file.to_str().unwrap()]].concat();
    stdout(&dns);
    let html = fs::read_to_string(file).unwrap();
    assert!(html.contains("\nname lookup: 30.0 ms\nTCP handshake: "));
    assert!(html.contains("<bdi>name lookup</bdi>") && !load.contains("name lookup"));
}
