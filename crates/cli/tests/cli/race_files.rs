//! Files of `headstart race`: its report, its captures, and errors if there is no room for them.

use crate::race::{json, number_of};
use crate::run::{command, folder, headstart, root, stdout};
use serde_json::Value;
use std::fs;
use test_support::Need;

#[test]
fn the_report_stands_alone_and_names_its_schemes() {
    let report = folder("report").join("report.html");
    stdout(&["race", "pages/app.har", "--report", report.to_str().unwrap()]);
    let html = fs::read_to_string(report).unwrap();
    assert!(html.len() < 5_000_000);
    for word in ["linux+iw=32", "perfect start", "<svg", "Content-Security-Policy", "app.example"] {
        assert!(html.contains(word), "{word} is missing");
    }
    for forbidden in ["src=\"http", "<link", "@import"] {
        assert!(!html.contains(forbidden), "{forbidden} reaches out");
    }
    // A program that is not installed has no documents to link to; `linux` and the fastest stand
    // side by side.
    assert!(!html.contains("href=\"http") && !html.contains("href=\"file"));
    assert!(html.contains("docs/race.md") && html.contains("id=\"compare\""));
    assert!(html.contains("TCP handshake: "), "the phases of an object");
}

/// Packets of a capture that `filter` selects; `None` without tshark.
fn tshark_count(capture: &std::path::Path, filter: &str) -> usize {
    let mut tshark = std::process::Command::new("tshark");
    let output = tshark.arg("-r").arg(capture).args(["-Y", filter]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count()
}

#[test]
fn tshark_finds_as_many_retransmissions_as_we_count() {
    if !test_support::has(&[Need::Program("tshark")]) {
        return;
    }
    const TSHARK_RETRANSMISSIONS: &str = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || \
        tcp.analysis.spurious_retransmission || tcp.analysis.out_of_order";
    let folder = folder("tshark");
    let race = json(&[
        "race",
        "pages/app.har",
        "--json",
        "--schemes",
        "linux,newreno,reno,sack,tahoe",
        "--path",
        "4mbit,80ms,12p,loss=0.01",
        // Captures are of the first repeat.
        "--repeat",
        "1",
        "--pcap",
        folder.to_str().unwrap(),
    ]);
    for name in ["linux", "newreno", "reno", "sack", "tahoe"] {
        let count =
            |file: &str, filter| tshark_count(&folder.join(format!("{name}-{file}.pcap")), filter);
        let malformed = count("down", "_ws.malformed || _ws.expert.severity == error");
        assert_eq!(malformed, 0, "{name}");
        let found =
            count("down-sent", TSHARK_RETRANSMISSIONS) + count("up-sent", TSHARK_RETRANSMISSIONS);
        let ours = number_of(&race, name, "retransmitted_segments");
        assert!(ours > 0.0, "{name} lost nothing: the test shows nothing");
        assert_eq!(found as f64, ours, "{name}");
    }
}

#[test]
fn a_full_disk_leaves_no_half_report() {
    // /dev/full is a device that is always full: the write fails, and nothing takes its name.
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        test_support::skipped("no /dev/full here");
        return;
    }
    let output = headstart(&["race", "--report", "/dev/full", "--schemes", "linux"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("/dev/full") && errors.contains("space"), "{errors}");
    assert!(!output.stdout.is_empty(), "the results are there all the same");
}

#[test]
fn a_report_larger_than_the_disk_quota_leaves_the_old_one() {
    let folder = folder("quota");
    let report = folder.join("report.html");
    fs::write(&report, "<!doctype html>the old one").unwrap();
    // The shell limits the size of files to 16 blocks of 512 bytes; a report is larger.
    let line = format!(
        "ulimit -f 16; trap '' XFSZ; {} race --schemes linux --report {}",
        env!("CARGO_BIN_EXE_headstart"),
        report.display()
    );
    let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&report).unwrap(), "<!doctype html>the old one");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "something was left behind");
}

#[test]
fn results_that_cannot_be_written_are_a_failure() {
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
        test_support::skipped("no /dev/full here");
        return;
    };
    let output = command(&["race"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write results"));
}

#[test]
fn text_of_a_recording_does_not_steer_the_terminal() {
    let har = r#"{"log": {"entries": [
        {"startedDateTime": "2024-01-01T00:00:00Z", "request": {"url": "http://a.example/"},
         "response": {"status": 200, "bodySize": 100}},
        {"startedDateTime": "2024-01-01T00:00:00Z", "request": {"url": "ws:\u001b[2Jx"}}]}}"#;
    let path = folder("steer").join("steer.har");
    fs::write(&path, har).unwrap();
    let output = headstart(&["race", path.to_str().unwrap(), "--schemes", "linux"]);
    let shown = [output.stdout, output.stderr].concat();
    assert!(!shown.contains(&0x1b), "{}", String::from_utf8_lossy(&shown));
}

#[test]
fn results_go_to_stdout_and_remarks_to_stderr() {
    let output = command(&["race", "pages/app.har", "--json"]).output().unwrap();
    serde_json::from_slice::<Value>(&output.stdout).expect("nothing but JSON");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("note: "), "{errors}");
    assert!(!errors.contains('\r'), "no progress where no one looks");
    assert!(root().join("pages/app.har").exists());
}
