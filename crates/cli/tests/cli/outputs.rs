//! Outputs beside each other: one that fails, or whose reader leaves, takes no other with it.

use crate::run::{command, folder, headstart, root};
use std::fs;
use std::io::{Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

fn original(name: &str) -> String {
    let path = root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap");
    path.to_str().unwrap().to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A run whose reader has left before it began.
fn unheard(arguments: &[&str]) -> Output {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    command(arguments).stdout(writer).output().unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Names in a folder that end so.
fn ending(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| text(path).ends_with(end)).collect()
}

/// A table cannot get its name, because a folder has it: page and words come all the same, the exit
/// code is 1, and no part is left.
#[test]
fn a_table_that_fails_takes_no_other_output_with_it() {
    let folder = folder("outputs-table");
    let (out, page) = (folder.join("tables"), folder.join("page.html"));
    fs::create_dir_all(out.join("windows.parquet/taken")).unwrap();
    let output =
        headstart(&["analyze", &original("rto005"), "--out", text(&out), "--report", text(&page)]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(printed(&output).contains("windows.parquet"), "{}", printed(&output));
    assert!(page.exists() && !output.stdout.is_empty());
    assert_eq!(ending(&out, ".part"), [] as [PathBuf; 0]);
}

/// The disk is full where the page goes: words and tables come all the same.
#[test]
fn a_page_that_fails_takes_no_other_output_with_it() {
    if !Path::new("/dev/full").exists() {
        test_support::skipped("no /dev/full here");
        return;
    }
    let out = folder("outputs-page").join("tables");
    let capture = original("rto005");
    let output = headstart(&["analyze", &capture, "--out", text(&out), "--report", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(!output.stdout.is_empty() && ending(&out, ".parquet").len() == 5);
    let log = folder("outputs-log").join("log");
    fs::write(&log, "192.0.2.1 - - [10/Oct/2000:20:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n")
        .unwrap();
    let output = headstart(&["analyze", "--access-log", text(&log), "--report", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(!output.stdout.is_empty());
}

/// Tables get their names once all of them are whole. A run that is refused, or cannot read its
/// input, leaves neither a table nor a part of one.
#[test]
fn what_fails_leaves_no_part_of_a_table() {
    let folder = folder("outputs-parts");
    let out = folder.join("tables");
    fs::create_dir_all(out.join("windows.parquet.part")).unwrap();
    let capture = original("rto005");
    let output = headstart(&["analyze", &capture, "--out", text(&out)]);
    assert_eq!(output.status.code(), Some(2), "{}", printed(&output));
    fs::remove_dir(out.join("windows.parquet.part")).unwrap();
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
    let output = headstart(&["analyze", "none.pcap", "--out", text(&out)]);
    assert_eq!(output.status.code(), Some(2), "{}", printed(&output));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

/// Tables of one folder are of one run: the error names tables that a run would not replace.
#[test]
fn tables_of_another_run_are_refused() {
    let out = folder("outputs-mixed").join("tables");
    let run = |capture: &str, tables: &[&str]| {
        headstart(&[&["analyze", &original(capture), "--out", text(&out)], tables].concat())
    };
    assert!(run("rto005", &[]).status.success());
    let output = run("rto003", &["--tables", "connections,transfers"]);
    assert_eq!(output.status.code(), Some(2), "{}", printed(&output));
    assert!(printed(&output).contains("retransmissions.parquet"), "{}", printed(&output));
    assert!(run("rto003", &[]).status.success(), "all are replaced");
    // A smaller set is refused only where it would mix.
    let few = folder("outputs-few").join("tables");
    for _ in 0..2 {
        let capture = original("rto005");
        let tables = ["--tables", "connections"];
        let output =
            headstart(&[&["analyze", &capture, "--out", text(&few)][..], &tables].concat());
        assert!(output.status.success(), "{}", printed(&output));
    }
}

/// `| head -1` reads what it wants; the page, and the error for a damaged capture, are wanted
/// nevertheless.
#[test]
fn a_reader_that_leaves_keeps_neither_files_nor_verdicts_back() {
    let folder = folder("outputs-unheard");
    let page = folder.join("page.html");
    let whole = original("rto005");
    let output = unheard(&["analyze", &whole, "--json", "--report", text(&page)]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    assert!(page.exists());
    let cut = folder.join("cut.pcap");
    let bytes = fs::read(&whole).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 7]).unwrap();
    let other = original("fast019");
    for arguments in [
        &["analyze", text(&cut), "--json"][..],
        &["analyze", text(&cut)],
        &["predict", text(&cut), &other, "--schemes", "linux"],
    ] {
        let output = unheard(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", printed(&output));
    }
}

/// If nothing but JSON is wanted and its reader has left, a pipe is not read on, however much it
/// has to give. Without that all repeats would be taken.
#[test]
fn nothing_is_read_for_nobody() {
    let bytes = fs::read(original("rto001")).unwrap();
    let (header, records) = bytes.split_at(24);
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut running = command(&["analyze", "--json", "--sender", "linux", "-"])
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = running.stdin.take().unwrap();
    input.write_all(header).unwrap();
    let refused = (0..20_000).any(|_| input.write_all(records).is_err());
    drop(input);
    let output = running.wait_with_output().unwrap();
    assert!(refused, "it has read all: {}", printed(&output));
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
}
