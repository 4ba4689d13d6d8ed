//! A race in words: what could be saved, what the time goes to, and the chain of objects.

use crate::race::{FRAMES, json, number_of};
use crate::run::{folder, headstart, refused, stdout};
use std::fs;

#[test]
fn the_result_begins_with_words() {
    let race = json(&["race", "news", "--json"]);
    let text = stdout(&["race", "news"]);
    let mut lines = text.lines();
    // Median of 626 ms, of which perfect start saves 36.1 %.
    let saving = lines.next().expect("a sentence");
    let gain = number_of(&race, "perfect start", "gain_over_linux");
    let saved = format!("{:.0} ms", number_of(&race, "linux", "page_s") * gain * 1e3);
    assert!(saving.starts_with("This page needs 626 ms (last byte) under linux"), "{saving}");
    assert!(saving.contains(&saved) && saving.ends_with("36 %."), "{saving}, not {saved}");
    // The objects that delay it, and the one that costs most.
    let chain = lines.next().expect("a sentence");
    assert!(chain.starts_with("The load waits longest for lead.jpg: 474 ms, of which 374 ms"));
    let object = &race["critical_path"]["objects"][1];
    let saved = object["saved_without_s"].as_f64().expect("it is not the document");
    let without = format!("Without lead.jpg it would save {:.1} ms ", saved * 1e3);
    assert!(chain.contains(&without), "{chain}, not {without}");
    assert!(race["critical_path"]["objects"][0]["saved_without_s"].is_null(), "the document");
    // All causes, the largest first.
    let account = lines.next().expect("a sentence");
    let bound = race["schemes"][0]["bound"].as_object().expect("shares");
    for (cause, share) in bound {
        let share = share.as_f64().expect("a number");
        let is_named = account.contains(&format!("({cause})"));
        assert_eq!(is_named, share >= 0.005, "{cause} {share}: {account}");
    }
    assert!(account.starts_with("It spends 50 % of the time waiting for congestion windows"));
    // Changes that save something, the largest first.
    let changes = lines.next().expect("a sentence");
    let saved = ["half the round trip", "servers that answer at once"].map(|one| changes.find(one));
    assert!(changes.starts_with("Other changes would save: half the round trip "), "{changes}");
    assert!(saved[0] < saved[1], "{changes}");
    // A scheme's gain in parts of that of perfect start.
    let share = number_of(&race, "linux-bbr", "share_of_perfect_start");
    let parts = number_of(&race, "linux-bbr", "gain_over_linux") / gain;
    assert!((share - parts).abs() < 1e-12 && share < 1.0, "{share}");
    assert_eq!(number_of(&race, "perfect start", "share_of_perfect_start"), 1.0);
    assert!(race["schemes"][5]["share_of_perfect_start"].is_null(), "a limit");
}

/// Each frame waits for the one before it, and for what the browser does until then.
#[test]
fn the_chain_of_objects_is_shown_and_written() {
    let race = json(&[&FRAMES[..], &["--json"]].concat());
    let path = &race["critical_path"];
    let objects = path["objects"].as_array().expect("an array");
    let labels: Vec<&str> = objects.iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert_eq!(labels[1..], ["0", "1", "2"].map(|n| format!("https://frames.example/f{n}.html")));
    assert_eq!(objects[1]["after"], "discovery");
    assert_eq!(objects[1]["host"], "frames.example");
    // 65.6 ms after its beginning at 600 ms, f0 was there, and f1 was asked for at 1.2 s.
    let client = objects[2]["client_s"].as_f64().unwrap();
    assert!((client - 0.5344).abs() < 0.001, "{client}");
    assert_eq!(objects[2]["server_wait_s"], 0.005);
    assert_eq!(objects[1]["connection"], objects[2]["connection"]);
    let phases = ["client_s", "waiting_s", "tcp_s", "tls_s", "trip_s", "server_s", "receiving_s"];
    let total: f64 =
        objects.iter().flat_map(|one| phases.map(|key| one[key].as_f64().unwrap())).sum();
    let first = race["schemes"][0]["samples"][0]["page_s"].as_f64().unwrap();
    assert!((total - first).abs() < 1e-6, "{total}, not {first}");
    let report = folder("diagnosis").join("race.html");
    let text = stdout(&[&FRAMES[..], &["--report", report.to_str().unwrap()]].concat());
    assert!(text.contains("waits for 4 objects in a row:\n"), "{text}");
    assert!(text.contains("\n/f2.html ") && text.contains(" /f1.html (likely) "), "{text}");
    assert_eq!(objects[2]["revealed_by"], "time");
    // A round trip of 20 ms, and what request and first byte take to be sent.
    let [trip, queued] = ["trip_s", "queued_s"].map(|key| objects[2][key].as_f64().unwrap());
    assert!((trip - queued - 0.020).abs() < 1e-9 && queued < 0.001, "{trip} {queued}");
    let html = fs::read_to_string(report).unwrap();
    for word in ["Critical path", "/f1.html (likely)", "a perfect start would save"] {
        assert!(html.contains(word), "{word} is not in the report");
    }
}

#[test]
fn notes_are_in_the_json_too() {
    let race = json(&[&FRAMES[..], &["--json", "--client-window", "6kB"]].concat());
    let notes: Vec<&str> =
        race["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    for word in ["round trip of the recording", "one run of the page", "receive window bounded"] {
        assert!(notes.iter().any(|note| note.contains(word)), "{word}: {notes:?}");
    }
    assert!(notes.iter().all(|note| !note.starts_with("note")), "{notes:?}");
}

/// `linux` needs 2.427 s for the page of three frames, and 66.8 ms for its document. Nothing gains
/// a tenth.
#[test]
fn a_budget_that_is_exceeded_has_an_exit_code_of_its_own() {
    let race = |budget: &str| {
        let output = headstart(&[&FRAMES[..], &["--budget", budget]].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(race("load=2.43s,document=67ms,gain=0%").0, Some(0));
    let (code, printed) = race("load=2.42s,document=66ms");
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("over budget: load takes 2.427 s under linux, and may take 2.420 s"));
    assert!(
        printed.contains("document takes 66.8 ms under linux, and may take 66.0 ms"),
        "{printed}"
    );
    let (code, printed) = race("gain=10%");
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("over budget: the best gain is "), "{printed}");
    let one = ["race", "30kB", "--schemes", "linux", "--budget", "load=1s"];
    refused(&one, &["--budget load", "no time of this event", "last_byte"]);
}
