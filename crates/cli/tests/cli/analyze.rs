//! `headstart analyze`, on captures of simulated races.

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
    let notes = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{notes}");
    // The command that is named is one that both files are there for.
    let named = notes.split("headstart analyze --vantage middle --sender SCHEME ").nth(1);
    let files: Vec<&str> = named.expect(&notes).split_whitespace().collect();
    assert!(files.len() == 2 && files.iter().all(|file| Path::new(file).is_file()), "{files:?}");
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

/// Each capture of a race is analysed. The one behind the server's sending shows the object's bytes
/// once, and shares that add up to the time from SYN to last ACK.
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
    ] {
        let out = headstart(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(!out.stderr.is_empty(), "{args:?}");
    }
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
        "end_reason",
        "mss",
        "profile",
        "profile_errors",
        "retransmissions",
        "round_trip",
        "server",
        "transfers",
        "vantage",
    ];
    assert_eq!(keys(connection), expected);
    assert_eq!(keys(&connection["round_trip"]), ["lowest_ns", "smoothed_ns"]);
    let all = connection["retransmissions"].as_array().unwrap();
    let timeout = all.iter().find(|again| again["kind"] == "timeout").unwrap();
    let expected =
        ["expected", "from", "kind", "len", "phase", "predicted", "seq", "spared_by", "ts"];
    assert_eq!(keys(timeout), expected);
    let expected = [
        "begin",
        "bytes",
        "complete",
        "end",
        "outcome",
        "retransmissions",
        "shares_ns",
        "timeouts",
    ];
    assert_eq!(keys(&connection["transfers"][0]), expected);
}

/// The servers' direction alone shows no kinds of retransmissions, and the clients' direction alone
/// no sender: words and JSON note it. If the sender is named, or both directions are there, nothing
/// is doubtful.
#[test]
fn one_direction_alone_is_warned_of() {
    let captures = captures(&race("analyze-one-direction"));
    let of = |end: &str| captures.iter().find(|name| name.ends_with(end)).unwrap().as_str();
    let (down, up) = (of("-down-sent.pcap"), of("-up.pcap"));
    let words = |args: &[&str]| String::from_utf8(headstart(args).stdout).unwrap();
    assert!(words(&["analyze", down]).contains("no ACKs of the clients of 1 connection"));
    assert!(words(&["analyze", up]).contains("name the servers' TCP with --sender"));
    for args in [&["analyze", up, "--sender", "linux"][..], &["analyze", down, up]] {
        assert!(!words(args).contains("Warning"), "{args:?}");
    }
    let out = headstart(&["analyze", "--json=findings", down]);
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["reading"]["without_acks"]["connections"], 1);
}

/// The assumed sender is named everywhere, also the profile that was chosen.
#[test]
fn the_profile_is_named() {
    let capture = root().join("crates/capture/tests/tcprs/rto003.pcap");
    let capture = capture.to_str().unwrap();
    let run = |args: &[&str]| headstart(&[&["analyze", capture], args].concat()).stdout;
    let words = String::from_utf8(run(&["--sender", "newreno"])).unwrap();
    assert!(words.contains(", servers rebuilt as newreno"), "{words}");
    let found: Value = serde_json::from_slice(&run(&["--json", "--sender", "sack"])).unwrap();
    assert_eq!(found[0]["profile"], "sack");
    let found: Value = serde_json::from_slice(&run(&["--json=findings"])).unwrap();
    let surveyed = &found["reading"]["surveyed"][0];
    let chosen = surveyed["profile"].as_str().unwrap();
    assert_eq!(found["reading"]["profiles"][chosen], 1);
    assert_eq!(surveyed["charges"].as_object().unwrap().len(), 5);
    let words = String::from_utf8(run(&["--error"])).unwrap();
    assert!(words.contains("sender profile") && words.contains("linux-sack"), "{words}");
}

/// Times have the nine decimals of the clock, and standard error has what an empty array leaves
/// out.
#[test]
fn json_has_the_times_of_the_clock_and_says_why_it_is_empty() {
    let capture = root().join("crates/capture/tests/tcprs/rto003.pcap");
    let capture = capture.to_str().unwrap();
    let out = headstart(&["analyze", "--json", capture, "--sender", "linux"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let begin = text.split("\"begin\":").nth(1).unwrap().split(',').next().unwrap();
    let (_, decimals) = begin.split_once('.').unwrap();
    // The capture has microseconds.
    assert!(decimals.len() == 9 && decimals.ends_with("000"), "{begin}");
    let out = headstart(&["analyze", "--json", capture, "--server", "1"]);
    assert_eq!(out.stdout, b"[]\n");
    let notes = String::from_utf8(out.stderr).unwrap();
    assert!(notes.contains("of other servers"), "{notes}");
}
