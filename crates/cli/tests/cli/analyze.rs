//! `headstart analyze` and `headstart check traces`, on captures of simulated races.

use crate::run::{folder, headstart, root};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Captures of a race: a page over a path that loses packets, at both ends of the access link.
fn race(name: &str) -> PathBuf {
    let folder = folder(name);
    let out = headstart(&[
        "race",
        "300kB",
        "--path",
        "10mbit,40ms,20p,loss=0.01",
        "--schemes",
        "linux",
        "--exact",
        "--pcap",
        folder.to_str().unwrap(),
    ]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    folder
}

fn captures(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "pcap") {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Each capture of a race is analysed; the one behind the server's sending shows the object's bytes once, and
/// shares that add up to the time from SYN to last ACK.
#[test]
fn a_race_is_analysed_from_its_captures() {
    let folder = race("analyze-race");
    let captures = captures(&folder);
    assert!(!captures.is_empty());
    for capture in &captures {
        let out = headstart(&["analyze", "--json", "--sender", "linux", capture]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let connections: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
        for connection in &connections {
            for transfer in connection["transfers"].as_array().unwrap() {
                let shares = transfer["shares_ns"].as_object().unwrap();
                let sum: u64 = shares.values().map(|share| share.as_u64().unwrap()).sum();
                let lasted =
                    transfer["end"].as_f64().unwrap() - transfer["begin"].as_f64().unwrap();
                // Seconds are printed as floating-point numbers.
                assert!((sum as f64 / 1e9 - lasted).abs() < 1e-6, "{transfer}");
            }
        }
    }
    let table = headstart(
        &[&["analyze"], &captures.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat(),
    );
    let text = String::from_utf8_lossy(&table.stdout);
    assert!(text.contains("time of transfers") && text.contains("slow-start"), "{text}");
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    for args in [
        &["analyze", "/nonexistent.pcap"][..],
        &["analyze", "--sender", "nonsense", "x.pcap"],
        &["analyze", "--vantage", "moon", "x.pcap"],
        &["check", "traces", "/nonexistent"],
    ] {
        let out = headstart(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(!out.stderr.is_empty(), "{args:?}");
    }
}

/// A folder laid out as TCPRS's, with a label for a retransmission that is not there, does not hold.
#[test]
fn labels_that_are_not_found_fail_the_check() {
    let folder = race("analyze-labels");
    let capture = captures(&folder).remove(0);
    let labelled = folder.join("labelled/one");
    fs::create_dir_all(&labelled).unwrap();
    fs::copy(capture, labelled.join("one.pcap")).unwrap();
    let log = "#fields\tts\tseq\trtype\n0.000001\t1\t2\n";
    fs::write(labelled.join("tcpretransmissions.log"), log).unwrap();
    let out = headstart(&["check", "traces", folder.join("labelled").to_str().unwrap(), "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["missing"], 1);
}

/// A capture that is cut is compared up to there, and the check fails although enough labels agree.
#[test]
fn a_damaged_capture_is_compared_up_to_there() {
    let folder = race("analyze-cut-labels");
    let capture = fs::read(captures(&folder).remove(0)).unwrap();
    let labelled = folder.join("labelled/one");
    fs::create_dir_all(&labelled).unwrap();
    fs::write(labelled.join("one.pcap"), &capture[..capture.len() - 7]).unwrap();
    let out = headstart(&["check", "traces", folder.join("labelled").to_str().unwrap(), "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["missing"], 0);
}

/// Keys of the JSON: others build on them.
#[test]
fn the_keys_of_the_json_stay() {
    let capture = root().join("crates/capture/tests/tcprs/rto003.pcap");
    let out = headstart(&["analyze", "--json", capture.to_str().unwrap(), "--sender", "linux"]);
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let keys = |value: &Value| -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort_unstable();
        keys
    };
    let connection = &found[0];
    let expected = [
        "begin",
        "bytes",
        "client",
        "end",
        "profile_errors",
        "retransmissions",
        "server",
        "transfers",
    ];
    assert_eq!(keys(connection), expected);
    let all = connection["retransmissions"].as_array().unwrap();
    let timeout = all.iter().find(|again| again["kind"] == "timeout").unwrap();
    let expected =
        ["expected", "from", "kind", "len", "phase", "predicted", "seq", "spared_by", "ts"];
    assert_eq!(keys(timeout), expected);
    let expected =
        ["begin", "bytes", "complete", "end", "retransmissions", "shares_ns", "timeouts"];
    assert_eq!(keys(&connection["transfers"][0]), expected);
}
