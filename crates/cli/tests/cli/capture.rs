//! Captures of an interface, in a network of each test's own. They need root; without, these tests
//! say so and pass.

use crate::run::{command, folder, headstart};
use capture::{CaptureFiles, Observed, SegmentSource};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use test_support::Need;

/// Runs a test where the loopback interface is all there is.
fn alone(test: impl FnOnce() + Send + 'static) {
    if !test_support::has(&[Need::Namespaces, Need::Program("ip")]) {
        return;
    }
    let ran = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap();
        assert!(up.success());
        test();
    });
    if let Err(why) = ran.join() {
        std::panic::resume_unwind(why);
    }
}

/// A running capture.
fn start(arguments: &[&str]) -> Child {
    let mut command = command(&[&["capture", "-i", "lo"], arguments].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("capturing TCP"), "{line}");
    child
}

fn stop(child: Child, signal: Signal) -> Output {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
    child.wait_with_output().unwrap()
}

/// One transfer of `bytes` from a new port, which is answered.
fn transfer(listener: &TcpListener, bytes: usize) {
    let at = listener.local_addr().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = TcpStream::connect(at).unwrap();
            assert_eq!(client.read_to_end(&mut vec![]).unwrap(), bytes);
        });
        listener.accept().unwrap().0.write_all(&vec![7; bytes]).unwrap();
    });
}

fn segments(files: &[PathBuf]) -> Vec<Observed> {
    let (mut source, mut all, mut batch) = (CaptureFiles::new(files), vec![], vec![]);
    while source.next_batch(&mut batch).unwrap() {
        all.append(&mut batch);
    }
    all
}

/// A capture is stopped by SIGTERM, as a service is. Files took turns, of which two are kept, and
/// the summary is printed. The addresses are others than 127.0.0.1, and both ends have the same, as
/// they have in fact.
#[test]
fn a_capture_takes_turns_and_says_what_it_has() {
    alone(|| {
        let folder = folder("capture-turns");
        let file = folder.join("server.pcap");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let child = start(&[
            "--port",
            &port,
            "-w",
            file.to_str().unwrap(),
            "--rotate",
            "1kB",
            "--keep",
            "2",
            "--anonymize",
        ]);
        (0..5).for_each(|_| transfer(&listener, 10_000));
        thread::sleep(std::time::Duration::from_millis(300));
        let output = stop(child, Signal::SIGTERM);
        assert_eq!(output.status.code(), Some(0));
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains("dropped   0 packets"), "{printed}");
        let files: Vec<PathBuf> = printed
            .lines()
            .filter_map(|line| line.strip_prefix("file"))
            .map(|name| PathBuf::from(name.trim()))
            .collect();
        let mut there: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
        there.sort();
        assert_eq!((files.len(), &files), (2, &there));
        assert!(files.iter().all(|file| fs::metadata(file).unwrap().len() <= 1_000));
        let kept = segments(&files);
        assert!(!kept.is_empty());
        for segment in kept {
            assert_eq!(segment.source.ip, segment.destination.ip);
            assert_ne!(segment.source.ip.to_string(), "127.0.0.1");
        }
    });
}

/// Packets go to standard output, as many as are asked for; messages go elsewhere.
#[test]
fn packets_go_to_standard_output() {
    alone(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let child = start(&["-w", "-", "--count", "5"]);
        transfer(&listener, 10_000);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let mut source =
            CaptureFiles::from_reader("-", Box::new(std::io::Cursor::new(output.stdout))).unwrap();
        let mut batch = vec![];
        assert!(source.next_batch(&mut batch).unwrap());
        assert_eq!(batch.len(), 5);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(printed.contains("captured  5 packets"), "{printed}");
    });
}

/// Without a file, the number of packets is printed; for a second, whatever comes.
#[test]
fn without_a_file_packets_are_counted() {
    alone(|| {
        let output = headstart(&["capture", "-i", "lo", "--for", "1s", "--quiet"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
        let output = headstart(&["capture", "-i", "any", "--for", "100ms"]);
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("captured  0 packets\n"));
    });
}

#[test]
fn what_is_wrong_is_said_before_anything_is_captured() {
    for (arguments, hint) in [
        (&["capture"][..], "--interface"),
        (&["capture", "-i", "lo", "--port", "0"], "neither a port"),
        (&["capture", "-i", "lo", "-w", "x", "--rotate", "often"], "neither a size"),
        (&["capture", "-i", "lo", "-w", "-", "--rotate", "1MB"], "standard output has no turns"),
        (&["capture", "-i", "lo", "--rotate", "1MB"], "--write"),
        (&["capture", "-i", "lo", "-w", "x", "--keep", "3"], "--rotate"),
        (&["capture", "-i", "l0"], "did you mean \"lo\"?"),
        (&["capture", "-i", "lo", "--snap", "20"], "40"),
    ] {
        let output = headstart(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(hint), "{arguments:?}: {errors}");
    }
}
