//! `headstart predict`.

use crate::run::{folder, headstart, refused, root, stdout};
use serde_json::Value;
use std::path::Path;

fn capture(name: &str) -> String {
    let path = root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap");
    path.to_str().unwrap().to_owned()
}

/// Captures of a race under linux: visits for 500 kB over 20 Mbit/s and 40 ms, with `more`
/// arguments. Both are made on the client's side of the server's link.
fn raced(folder: &Path, more: &[&str]) -> [String; 2] {
    let race = ["race", "500kB", "--client-window", "1MB", "--visits", "6", "--reconnect"];
    let rest = ["--idle", "2", "--repeat", "1", "--schemes", "linux", "--pcap"];
    stdout(&[&race[..], &rest[..], &[folder.to_str().unwrap()], more].concat());
    ["linux-down-sent.pcap", "linux-up.pcap"]
        .map(|name| folder.join(name).to_str().unwrap().to_owned())
}

/// A forecast with `--json`, which obeys its schema.
fn obeying(text: &str) -> Value {
    let json: Value = serde_json::from_str(text).expect("JSON");
    let schema: Value = serde_json::from_str(&stdout(&["predict", "--json-schema"])).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<_> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    json
}

/// Both directions of a server, and two schemes: rows for the capture and both, the first compared
/// with itself. A queue of 12 packets drops some.
#[test]
fn a_capture_is_replayed_under_each_scheme() {
    let files = raced(&folder("predict-schemes"), &["--path", "20mbit,40ms,12p"]);
    let read = ["predict", &files[0], &files[1], "--vantage", "middle"];
    let command = [&read[..], &["--schemes", "linux+iw=32", "--json"]].concat();
    let json = obeying(&stdout(&command));
    let transfers = json["paths"]["transfers"].as_u64().unwrap();
    assert!(transfers >= 5, "{json}");
    assert_eq!(json["fit"]["transfers"], json["paths"]["transfers"]);
    assert!(json["captured"]["retransmissions"].as_u64().unwrap() >= 10, "{json}");
    let gain = &json["schemes"][1]["gains"][0];
    let [low, high] = [0, 1].map(|end| gain["interval"][end].as_f64().unwrap());
    assert!((low..=high).contains(&gain["ratio"].as_f64().unwrap()), "{gain}");
    assert_eq!(json["running"]["scheme"], "linux");
    let names: Vec<&str> = json["schemes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["scheme"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["linux", "linux+iw=32", "perfect start"]);
    assert_eq!(json["schemes"][0]["gains"][0]["ratio"], 1.0);
    // Wherever linux is in the list, it is the baseline.
    let last = [&read[..], &["--schemes", "linux+iw=32,linux", "--json"]].concat();
    let last = obeying(&stdout(&last));
    assert_eq!(last["schemes"], json["schemes"]);
    // If servers run something else, that is the baseline.
    let bbr = [&read[..], &["--sender", "bbr", "--schemes", "linux+iw=32"]].concat();
    let text = String::from_utf8(headstart(&bbr).stdout).unwrap();
    for part in ["The servers run linux-bbr", "under linux-bbr"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Results do not depend on the number of threads.
    let twice = ["1", "2"].map(|jobs| stdout(&[&command[..], &["--jobs", jobs]].concat()));
    assert_eq!(twice[0], twice[1]);
    let text = stdout(&[&read[..], &["--schemes", "linux,linux-bbr"]].concat());
    for part in [
        "A ratio is the geometric mean",
        "captured",
        "explained best by linux",
        "The model itself",
        "Time over that of linux",
        "linux-bbr",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A bulk download shares the line with the visits of a race. The replay of the capture, in which
/// these visits are alone, is much too fast: words, JSON and page say so, and none has a ratio.
#[test]
fn a_capture_that_the_model_does_not_explain_is_refused() {
    let folder = folder("predict-refused");
    let files = raced(&folder, &["--path", "20mbit,40ms,100p", "--background", "1"]);
    let page = folder.join("forecast.html");
    let command = ["predict", "--vantage", "middle", &files[0], &files[1]];
    let report = ["--schemes", "linux+iw=32", "--report", page.to_str().unwrap()];
    let output = headstart(&[&command[..], &report[..]].concat());
    let (printed, text) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for part in ["No prediction: under linux", "0.75 to 1.33", "other traffic", "--client"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(printed.contains("nothing is predicted"), "{printed}");
    assert!(!text.contains("linux+iw=32") && text.contains("The model itself"), "{text}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("No prediction: under linux"));
    let output = headstart(&[&command[..], &["--json"]].concat());
    let json = obeying(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(json["schemes"].as_array().unwrap().len(), 1);
    assert!(json["refused"].as_f64().unwrap() < 0.75, "{json}");
}

/// A capture of packets with data alone, as a display filter leaves it. The message names the ACKs
/// that are missing, and not the transfers that end nowhere.
#[test]
fn a_capture_without_pure_acks_is_refused_with_the_reason() {
    let whole = std::fs::read(capture("fast019")).unwrap();
    let filtered = folder("predict-no-pure-acks").join("data.pcap");
    std::fs::write(&filtered, only_data(&whole)).unwrap();
    refused(&["predict", filtered.to_str().unwrap()], &["no ACK without data", "display filter"]);
}

/// The packets of a little-endian capture of Ethernet and IPv4 that carry data.
fn only_data(capture: &[u8]) -> Vec<u8> {
    let captured = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().unwrap()) as usize;
    let (mut kept, mut at) = (capture[..24].to_vec(), 24);
    while at < capture.len() {
        let end = at + 16 + captured(at + 8);
        let ip = at + 16 + 14;
        let header = usize::from(capture[ip] & 15) * 4;
        let total = usize::from(u16::from_be_bytes([capture[ip + 2], capture[ip + 3]]));
        if total > header + usize::from(capture[ip + header + 12] >> 4) * 4 {
            kept.extend_from_slice(&capture[at..end]);
        }
        at = end;
    }
    kept
}

/// The page has each table, both figures, and the schemes' names; a path that cannot be written to
/// is refused before anything is read.
#[test]
fn the_report_draws_the_forecast() {
    let folder = folder("predict-report");
    let files = raced(&folder, &["--path", "20mbit,40ms,100p"]);
    let page = folder.join("forecast.html");
    let command = ["predict", &files[0], &files[1], "--vantage", "middle", "--schemes", "hs-cubic"];
    let text = stdout(&[&command[..], &["--report", page.to_str().unwrap()]].concat());
    assert!(text.contains("captured"), "{text}");
    let html = std::fs::read_to_string(&page).unwrap();
    for part in [
        "Share of transfers that take no longer",
        "Replayed under linux, over captured",
        "Time over that of linux",
        "hs-cubic",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert_eq!(html.matches("<table").count(), 2);
    let unwritten = headstart(&["predict", "none.pcap", "--report", "/nonexistent/x.html"]);
    let errors = String::from_utf8_lossy(&unwritten.stderr);
    assert!(unwritten.status.code() == Some(2) && errors.contains("--report"), "{errors}");
}

/// Impossible forecasts are refused with what to do: a missing file, an unknown scheme, a server
/// without captured packets.
#[test]
fn what_has_no_transfer_is_refused() {
    let file = capture("rto003");
    let empty = folder("predict-empty").join("empty.pcap");
    std::fs::write(&empty, "no capture").unwrap();
    for (arguments, says) in [
        (vec!["predict", "/nonexistent.pcap"], "no such file"),
        (vec!["predict", &file, "--schemes", "cubic"], "\"cubic\" is called linux here"),
        (vec!["predict", &file, "--server", "1"], "`headstart analyze` says what they hold"),
    ] {
        let output = headstart(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(says), "{arguments:?}: {errors}");
    }
    // Packets before the damage are used, and the output notes that there are no others.
    let cut = folder("predict-cut").join("cut.pcap");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&cut, &whole[..whole.len() - 7]).unwrap();
    let output = headstart(&["predict", cut.to_str().unwrap(), &capture("fast019")]);
    assert_eq!(output.status.code(), Some(1));
    let (printed, text) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(
        printed.contains("that could be read") && text.contains("captured"),
        "{printed} {text}"
    );
    let damaged = headstart(&["predict", empty.to_str().unwrap()]);
    assert_eq!(damaged.status.code(), Some(1), "{}", String::from_utf8_lossy(&damaged.stderr));
}
