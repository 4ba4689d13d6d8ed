//! Effects of Ctrl-C and SIGTERM: they stop reading captures, and what follows it.

use crate::analyze_input::{connections, json, original, written};
use crate::run::{command, folder};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Output, Stdio};
use std::thread;
use std::time::Duration;

/// `headstart` that reads what is written to the pipe.
fn piped(arguments: &[&str]) -> (Child, ChildStdin) {
    let mut running = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = running.stdin.take().unwrap();
    (running, pipe)
}

fn signal(running: &Child, signal: Signal) {
    kill(Pid::from_raw(running.id() as i32), signal).unwrap();
}

/// True once the process catches SIGINT: bit 1 of its mask of caught signals (proc(5)).
fn catches_interrupts(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|m| m & 2 != 0)
}

fn await_handler(process: u32) {
    for _ in 0..6000 {
        if catches_interrupts(process) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Files end where they are interrupted: what was read before is analysed, and the exit code says
/// so. The capture is long enough not to be over before the signal: the same one a thousand times.
#[test]
fn an_interrupted_file_is_analysed_up_to_there() {
    let folder = folder("analyze-interrupted");
    let bytes = fs::read(original("rto001")).unwrap();
    let long = [&bytes[..24], &bytes[24..].repeat(1000)].concat();
    let file = written(&folder, "long.pcap", &long);
    let running = command(&["analyze", "--json", "--sender", "linux", &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    await_handler(running.id());
    signal(&running, Signal::SIGINT);
    let output = running.wait_with_output().unwrap();
    fs::remove_file(file).unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{printed}");
    assert!(printed.contains("headstart: stopped: "), "{printed}");
    if !printed.contains("no packet could be read") {
        assert!(connections(&output).len() < 1000);
    }
}

/// Output of `headstart` for a capture from a pipe if Ctrl-C comes amid it, and the pipe ends right
/// behind the rest. It is no failure.
fn interrupted(capture: &str, arguments: &[&str]) -> Output {
    let bytes = fs::read(original(capture)).unwrap();
    let (running, mut pipe) = piped(arguments);
    pipe.write_all(&bytes[..1000]).unwrap();
    await_handler(running.id());
    signal(&running, Signal::SIGINT);
    pipe.write_all(&bytes[1000..]).unwrap();
    drop(pipe);
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Ctrl-C goes to both ends of a pipe. The capturing program writes what it still has, which is
/// part of the capture.
#[test]
fn an_interrupted_pipe_is_read_to_its_end() {
    let output = interrupted("rto001", &["analyze", "--json", "--sender", "linux", "-"]);
    assert!(output.stdout == json(&[original("rto001").to_str().unwrap()]).stdout);
}

/// The first Ctrl-C waits for the end of the pipe, which does not come. The second ends at once.
#[test]
fn a_second_interrupt_ends_at_once() {
    let (mut running, pipe) = piped(&["analyze", "--json", "--sender", "linux", "-"]);
    await_handler(running.id());
    signal(&running, Signal::SIGINT);
    let mut printed = String::new();
    let stderr = running.stderr.take().unwrap();
    BufReader::new(stderr).read_line(&mut printed).unwrap();
    assert!(printed.contains("once more to end at once"), "{printed}");
    signal(&running, Signal::SIGINT);
    let output = running.wait_with_output().unwrap();
    drop(pipe);
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
}

/// SIGTERM goes to this process alone, and the writer may never write or end: what was read is
/// analysed.
#[test]
fn a_pipe_ends_where_it_is_terminated() {
    let bytes = fs::read(original("rto001")).unwrap();
    let (running, mut pipe) = piped(&["analyze", "--json", "--sender", "linux", "-"]);
    pipe.write_all(&bytes).unwrap();
    await_handler(running.id());
    // Its handlers are two, and packets are on their way.
    thread::sleep(Duration::from_millis(500));
    signal(&running, Signal::SIGTERM);
    let output = running.wait_with_output().unwrap();
    drop(pipe);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == json(&[original("rto001").to_str().unwrap()]).stdout);
}

/// Half a forecast is none: at Ctrl-C during the replays, a hundred schemes over a capture repeated
/// three hundred times, the command ends at once, and prints nothing.
#[test]
fn an_interrupted_forecast_prints_nothing() {
    let schemes: Vec<String> = (1..=100).map(|n| format!("linux+iw={n}")).collect();
    let schemes = schemes.join(",");
    let (running, mut pipe) =
        piped(&["predict", "-", "--sender", "linux", "--schemes", &schemes, "--jobs", "1"]);
    let bytes = fs::read(original("rto003")).unwrap();
    pipe.write_all(&[&bytes[..24], &bytes[24..].repeat(300)].concat()).unwrap();
    drop(pipe);
    thread::sleep(Duration::from_millis(500));
    signal(&running, Signal::SIGINT);
    let output = running.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{printed}");
    assert!(output.stdout.is_empty() && !printed.contains("the results are of"), "{printed}");
}

/// Ctrl-C in `tcpdump -w - | headstart predict -` ends the capture. The captured packets are
/// replayed.
#[test]
fn a_forecast_of_an_interrupted_pipe_is_of_all_of_it() {
    let arguments = ["predict", "-", "--sender", "linux", "--schemes", "linux", "--json"];
    let output = interrupted("fast005", &arguments);
    let file = original("fast005");
    let arguments = ["predict", file.to_str().unwrap(), "--sender", "linux", "--schemes", "linux"];
    let whole = command(&[&arguments[..], &["--json"]].concat()).output().unwrap();
    assert_eq!(output.stdout, whole.stdout);
}
