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

/// The labelled capture `rto003` under another name in a folder of its own, and its log with lines changed by `change`.
fn labelled(name: &str, capture: &str, change: impl Fn(String) -> String) -> PathBuf {
    let folder = folder(name);
    let one = folder.join("one");
    fs::create_dir_all(&one).unwrap();
    fs::copy(root().join("crates/capture/tests/tcprs/rto003.pcap"), one.join(capture)).unwrap();
    let out = headstart(&[
        "analyze",
        "--json",
        "--sender",
        "linux-sack",
        one.join(capture).to_str().unwrap(),
    ]);
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
    folder
}

/// The verdict on labels, as JSON, with the exit code and the notes.
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

/// Labels with what was found agree. With another sequence number or another port at the same times none is found, and
/// what the capture has is listed as not labelled.
#[test]
fn labels_mean_a_connection_and_a_sequence_number() {
    let (right, code, _) = check_traces(&labelled("labels-right", "one.pcap", |line| line));
    assert_eq!((code, &right["missing"], &right["unlabelled"]), (Some(0), &0.into(), &0.into()));
    let count = |found: &Value| -> u64 {
        let classes = found["classes"].as_array().unwrap().iter();
        classes.map(|class| class["agree"].as_u64().unwrap()).sum()
    };
    let all = count(&right);
    assert!(all > 0);
    for (column, text) in [(5, "12345"), (2, "7")] {
        let name = format!("labels-wrong-{column}");
        let folder = labelled(&name, "one.pcap", |line| with_column(&line, column, text));
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
    let folder = labelled("labels-any-name", "taken at noon.cap", |line| line);
    fs::create_dir_all(folder.join("two")).unwrap();
    fs::write(folder.join("two/notes.txt"), "no capture").unwrap();
    let (found, code, _) = check_traces(&folder);
    assert_eq!((code, &found["missing"], &found["unlabelled"]), (Some(0), &0.into(), &0.into()));
    assert_eq!(found["without_capture"], serde_json::json!(["two"]));
}

/// A folder of which something cannot be read is named, the others are compared, and the check fails. Offset 0 of a process's memory
/// cannot be read (proc(5)), also not by root.
#[test]
fn a_folder_that_cannot_be_read_does_not_end_the_check() {
    let folder = labelled("labels-unreadable", "one.pcap", |line| line);
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
    let folder = labelled("labels-unset", "one.pcap", |line| with_column(&line, 6, "-"));
    let (found, code, notes) = check_traces(&folder);
    assert_eq!((code, &found["unlabelled"]), (Some(0), &0.into()));
    assert!(notes.contains("tcpretransmissions.log: line 2: rtype is not set"), "{notes}");
    let folder = labelled("labels-untimed", "one.pcap", |line| with_column(&line, 0, "-"));
    let (found, code, notes) = check_traces(&folder);
    assert_eq!((code, &found["unreadable_labels"]), (Some(1), &found["unlabelled"]));
    assert!(notes.contains("tcpretransmissions.log: line 2: ts cannot be"), "{notes}");
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
        "profile",
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

/// The servers' direction alone tells no kinds, and the clients' direction alone no sender: words and JSON say so. Where the
/// sender is named, or both directions are there, nothing is doubtful.
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

/// Who the senders are taken for is said everywhere, also which of the profiles was chosen.
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

/// Times have the nine decimals of the clock, and standard error says what an empty array leaves out.
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
