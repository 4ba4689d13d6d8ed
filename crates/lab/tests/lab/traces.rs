//! `headstart lab check traces`: labels of captures beside what was found in them.

use crate::run::{folder, headstart, other, refused, root};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A capture with retransmissions.
fn original() -> PathBuf {
    root().join("crates/capture/tests/tcprs/rto003.pcap")
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    refused(&["check", "traces", "/nonexistent"], &["/nonexistent"]);
}

/// A folder laid out as TCPRS's, with a label for a retransmission that is not there, does not
/// hold.
#[test]
fn labels_that_are_not_found_fail_the_check() {
    let folder = folder("labels-missing");
    let labelled = folder.join("labelled/one");
    fs::create_dir_all(&labelled).unwrap();
    fs::copy(original(), labelled.join("one.pcap")).unwrap();
    let log = "#fields\tts\tseq\trtype\n0.000001\t1\t2\n";
    fs::write(labelled.join("tcpretransmissions.log"), log).unwrap();
    let out = headstart(&["check", "traces", folder.join("labelled").to_str().unwrap(), "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["missing"], 1);
}

/// The labelled capture `rto003` under another name in a folder of its own, and its log with lines
/// changed by `change`. `None` without `headstart`, which analyses it.
fn labelled(name: &str, capture: &str, change: impl Fn(String) -> String) -> Option<PathBuf> {
    let folder = folder(name);
    let one = folder.join("one");
    fs::create_dir_all(&one).unwrap();
    fs::copy(original(), one.join(capture)).unwrap();
    let analyze = ["analyze", "--json", "--sender", "linux-sack"];
    let out =
        Command::new(other("headstart")?).args(analyze).arg(one.join(capture)).output().unwrap();
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut log =
        "#fields\tts\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tseq\trtype\n".to_owned();
    for connection in found.as_array().unwrap() {
        let end = |key: &str| connection[key].as_str().unwrap().replace(':', "\t");
        // SYNs and FINs need no label.
        let of_data = |again: &&Value| again["len"] != 0;
        for again in connection["retransmissions"].as_array().unwrap().iter().filter(of_data) {
            let rtype = match again["kind"].as_str().unwrap() {
                "timeout" => 1,
                "fast" => 2,
                _ => 5,
            };
            let (ts, seq) = (again["ts"].as_f64().unwrap(), &again["seq"]);
            let line = format!("{ts:.6}\t{}\t{}\t{seq}\t{rtype}", end("client"), end("server"));
            log += &(change(line) + "\n");
        }
    }
    fs::write(one.join("tcpretransmissions.log"), log).unwrap();
    Some(folder)
}

/// The result for labels, as JSON, with the exit code and the notes.
fn check_traces(folder: &Path) -> (Value, Option<i32>, String) {
    let out = headstart(&["check", "traces", folder.to_str().unwrap(), "--json"]);
    let notes = String::from_utf8_lossy(&out.stderr).into_owned();
    (serde_json::from_slice(&out.stdout).unwrap_or_default(), out.status.code(), notes)
}

/// A line of a log with one column replaced.
fn with_column(line: &str, column: usize, text: &str) -> String {
    let mut fields: Vec<&str> = line.split('\t').collect();
    fields[column] = text;
    fields.join("\t")
}

/// Labels with what was found agree. With another sequence number or another port at the same times
/// none is found, and what the capture has is listed as not labelled.
#[test]
fn labels_mean_a_connection_and_a_sequence_number() {
    let Some(folder) = labelled("labels-right", "one.pcap", |line| line) else { return };
    let (right, code, _) = check_traces(&folder);
    assert_eq!((code, &right["missing"], &right["unlabelled"]), (Some(0), &0.into(), &0.into()));
    let count = |found: &Value| -> u64 {
        let classes = found["classes"].as_array().unwrap().iter();
        classes.map(|class| class["agree"].as_u64().unwrap()).sum()
    };
    let all = count(&right);
    assert!(all > 0);
    for (column, text) in [(5, "12345"), (2, "7")] {
        let name = format!("labels-wrong-{column}");
        let Some(folder) = labelled(&name, "one.pcap", |line| with_column(&line, column, text))
        else {
            return;
        };
        let (wrong, code, _) = check_traces(&folder);
        assert_eq!((code, count(&wrong), &wrong["missing"]), (Some(1), 0, &all.into()), "{text}");
        assert_eq!(wrong["unlabelled"], all);
        let listed = wrong["differences"].as_array().unwrap().iter();
        let not_labelled = listed.filter(|line| line.as_str().unwrap().ends_with("not labelled"));
        assert_eq!(not_labelled.count() as u64, all);
    }
}

/// A capture is one by what it contains, and a folder without one is named.
#[test]
fn captures_have_any_name() {
    let Some(folder) = labelled("labels-any-name", "taken at noon.cap", |line| line) else {
        return;
    };
    fs::create_dir_all(folder.join("two")).unwrap();
    fs::write(folder.join("two/notes.txt"), "no capture").unwrap();
    let (found, code, _) = check_traces(&folder);
    assert_eq!((code, &found["missing"], &found["unlabelled"]), (Some(0), &0.into(), &0.into()));
    assert_eq!(found["without_capture"], serde_json::json!(["two"]));
}

/// A folder of which something cannot be read is named, the others are compared, and the check
/// fails. Offset 0 of a process's memory cannot be read (proc(5)), also not by root.
#[test]
fn a_folder_that_cannot_be_read_does_not_end_the_check() {
    let Some(folder) = labelled("labels-unreadable", "one.pcap", |line| line) else { return };
    fs::create_dir_all(folder.join("a")).unwrap();
    std::os::unix::fs::symlink("/proc/self/mem", folder.join("a/memory")).unwrap();
    fs::create_dir_all(folder.join("b")).unwrap();
    std::os::unix::fs::symlink("/proc/self/mem", folder.join("b/b.pcap")).unwrap();
    let (found, code, notes) = check_traces(&folder);
    assert_eq!((code, &found["missing"], &found["unlabelled"]), (Some(1), &0.into(), &0.into()));
    assert!(found["classes"].as_array().is_some_and(|classes| !classes.is_empty()));
    assert_eq!(found["unreadable"], serde_json::json!(["a"]));
    for named in ["a/memory", "b/b.pcap"] {
        assert!(notes.contains(named), "{named}: {notes}");
    }
}

/// A label without a type counts as unknown, one without a time is left out, and both are named.
#[test]
fn a_label_that_cannot_be_read_is_noted() {
    let Some(folder) = labelled("labels-unset", "one.pcap", |line| with_column(&line, 6, "-"))
    else {
        return;
    };
    let (found, code, notes) = check_traces(&folder);
    assert_eq!((code, &found["unlabelled"]), (Some(0), &0.into()));
    assert!(notes.contains("tcpretransmissions.log: line 2: rtype is not set"), "{notes}");
    let Some(folder) = labelled("labels-untimed", "one.pcap", |line| with_column(&line, 0, "-"))
    else {
        return;
    };
    let (found, code, notes) = check_traces(&folder);
    assert_eq!((code, &found["unreadable_labels"]), (Some(1), &found["unlabelled"]));
    assert!(notes.contains("tcpretransmissions.log: line 2: ts cannot be"), "{notes}");
}

/// A capture that is cut is compared up to there, and the check fails although enough labels agree.
#[test]
fn a_damaged_capture_is_compared_up_to_there() {
    let folder = folder("labels-cut");
    let capture = fs::read(original()).unwrap();
    let labelled = folder.join("labelled/one");
    fs::create_dir_all(&labelled).unwrap();
    fs::write(labelled.join("one.pcap"), &capture[..capture.len() - 7]).unwrap();
    let out = headstart(&["check", "traces", folder.join("labelled").to_str().unwrap(), "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["missing"], 0);
}
