//! A capture may be longer than the memory: what is over goes to the output.

use crate::run::command;
use nix::unistd::Pid;
use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use trace::testing::BusyServer;

/// The most memory that a process has had beside the pages of its program, kilobytes.
fn most_memory(child: &Child) -> u64 {
    let pid = Pid::from_raw(child.id().cast_signed());
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("Linux tells");
    let kilobytes = |key| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("it is alive");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
    };
    kilobytes("VmHWM:") - kilobytes("RssFile:")
}

/// Writes the next `bytes` to a process that reads them.
fn feed(child: &mut Child, capture: &mut BusyServer, bytes: usize) {
    let mut room = vec![0; 1 << 20];
    for _ in 0..bytes / room.len() {
        capture.read_exact(&mut room).expect("it has no end");
        let to = child.stdin.as_mut().expect("a pipe");
        to.write_all(&room).expect("it reads");
    }
}

/// 200 MB through a pipe: 74,000 connections of 4,096 hosts. 500 are open at a time, and 3,000 more
/// have ended within two seconds. If the others were kept as idle ones are, 866 bytes each, that
/// alone would be 64 MB on top of the 82 MB that all takes.
#[test]
fn memory_does_not_grow_with_the_capture() {
    let mut child = command(&["analyze", "--sender", "linux", "--jobs", "1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let mut capture = BusyServer::new(500, 4096);
    feed(&mut child, &mut capture, 50_000_000);
    let part = most_memory(&child);
    feed(&mut child, &mut capture, 150_000_000);
    let whole = most_memory(&child);
    assert!(capture.connections() > 70_000, "{}", capture.connections());
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("it ends");
    println!("{part} kB behind 50 MB, {whole} kB behind 200 MB");
    assert!(!output.stdout.is_empty());
    assert!(whole < 92 << 10, "{part}, {whole}");
}
