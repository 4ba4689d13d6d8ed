//! `headstart predict`.

use crate::run::{folder, headstart, root, stdout};
use serde_json::Value;

fn capture(name: &str) -> String {
    let path = root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap");
    path.to_str().unwrap().to_owned()
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

/// Two captures of a server, and two schemes: rows for the capture and both, the first held against itself.
#[test]
fn a_capture_is_replayed_under_each_scheme() {
    let files = [capture("rto003"), capture("fast019")];
    let command = ["predict", &files[0], &files[1], "--schemes", "linux+iw=32", "--json"];
    let json = obeying(&stdout(&command));
    let transfers = json["paths"]["transfers"].as_u64().unwrap();
    assert!(transfers >= 2, "{json}");
    assert_eq!(json["fit"]["transfers"], json["paths"]["transfers"]);
    // One of each: what these captures are named for.
    assert!(json["captured"]["retransmissions"].as_u64().unwrap() >= 2, "{json}");
    assert!(json["captured"]["timeouts"].as_u64().unwrap() >= 1, "{json}");
    assert_eq!(json["running"]["scheme"], "linux");
    let names: Vec<&str> = json["schemes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["scheme"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["linux", "linux+iw=32"]);
    assert_eq!(json["schemes"][0]["gains"][0]["ratio"], 1.0);
    // Wherever linux stands in the list, the others are held against it.
    let last = ["predict", &files[0], &files[1], "--schemes", "linux+iw=32,linux", "--json"];
    let last = obeying(&stdout(&last));
    assert_eq!(last["schemes"], json["schemes"]);
    // Servers that run something else are held against that.
    let bbr = ["predict", &files[0], "--sender", "bbr", "--schemes", "linux+iw=32"];
    let text = stdout(&bbr);
    for part in ["The servers run linux-bbr", "under linux-bbr", "Time over that of linux-bbr"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Results do not depend on the number of threads.
    let twice = ["1", "2"].map(|jobs| stdout(&[&command[..], &["--jobs", jobs]].concat()));
    assert_eq!(twice[0], twice[1]);
    let text = stdout(&["predict", &files[0], "--schemes", "linux,linux-bbr"]);
    for part in [
        "captured",
        "explained best by linux",
        "The model itself",
        "Time over that of linux",
        "linux-bbr",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The page has each table, both figures, and the schemes' names; a place that cannot be written to is refused before anything is read.
#[test]
fn the_report_draws_the_forecast() {
    let page = folder("predict-report").join("forecast.html");
    let path = page.to_str().unwrap();
    let text = stdout(&["predict", &capture("fast019"), "--schemes", "hs-cubic", "--report", path]);
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
    let refused = headstart(&["predict", "none.pcap", "--report", "/nonexistent/x.html"]);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && errors.contains("--report"), "{errors}");
}

/// What cannot be predicted is refused with what to do: no such file, no such scheme, nothing captured of the server.
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
    // What stands before damage is used, and said to be all.
    let cut = folder("predict-cut").join("cut.pcap");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&cut, &whole[..whole.len() - 7]).unwrap();
    let output = headstart(&["predict", cut.to_str().unwrap(), &capture("fast019")]);
    assert_eq!(output.status.code(), Some(1));
    let (said, text) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(said.contains("that could be read") && text.contains("captured"), "{said} {text}");
    let damaged = headstart(&["predict", empty.to_str().unwrap()]);
    assert_eq!(damaged.status.code(), Some(1), "{}", String::from_utf8_lossy(&damaged.stderr));
}
