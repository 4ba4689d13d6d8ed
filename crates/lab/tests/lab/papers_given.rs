//! `headstart lab papers --capture` and `--access-log`: claims answered from a user's own files,
//! small enough to count by hand.

use crate::run::{folder, headstart};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

const SYN: u8 = 2;
const ACK: u8 = 16;
const MSS: u32 = 1000;
/// Connections of each kind: enough for the survey to identify the server's TCP.
const EACH: u16 = 12;

/// A capture beside a server, packet by packet: classic pcap of raw IPv4 packets, cut behind their
/// TCP header.
struct Written {
    bytes: Vec<u8>,
    packets: u16,
}

/// Connection of a packet, and the time of its beginning.
#[derive(Clone, Copy)]
struct Place {
    port: u16,
    ms: u32,
}

impl Written {
    fn new() -> Self {
        let header: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 101];
        Self { bytes: header.iter().flat_map(|word| word.to_le_bytes()).collect(), packets: 0 }
    }

    /// A packet from the server, or the client, with these numbers and bytes of payload.
    fn packet(
        &mut self,
        place: Place,
        (server, flags): (bool, u8),
        numbers: [u32; 2],
        payload: u32,
    ) {
        // A SYN offers segments of 1000 bytes (RFC 9293 §3.2, kind 2).
        let options: &[u8] = if flags & SYN != 0 { &[2, 4, 3, 0xe8] } else { &[] };
        let headers = 40 + options.len() as u32;
        let length = headers + payload;
        let micros = place.ms % 1000 * 1000;
        for word in [place.ms / 1000, micros, headers, length] {
            self.bytes.extend(word.to_le_bytes());
        }
        self.packets += 1;
        let mut ip = [
            [0x45, 0],
            (length as u16).to_be_bytes(),
            self.packets.to_be_bytes(),
            [0, 0],
            [64, 6],
            [0, 0],
        ]
        .concat();
        let (source, destination) = ([192, 0, 2, 1], [198, 51, 100, (place.port % 200) as u8 + 1]);
        let ports = [80, place.port].map(u16::to_be_bytes);
        let (addresses, ports) = match server {
            true => ([source, destination], ports),
            false => ([destination, source], [ports[1], ports[0]]),
        };
        ip.extend(addresses.concat());
        ip.extend(ports.concat());
        ip.extend(numbers.map(u32::to_be_bytes).concat());
        ip.extend([(headers - 20) as u8 / 4 * 16, flags, 0xea, 0x60, 0, 0, 0, 0]);
        ip.extend(options);
        self.bytes.extend(ip);
    }

    /// Handshake of 100 ms, a request of 300 bytes at 110 ms, and the first three segments of the
    /// answer.
    fn open(&mut self, place: Place) {
        let at = |ms| Place { ms: place.ms + ms, ..place };
        self.packet(at(0), (false, SYN), [0, 0], 0);
        self.packet(at(0), (true, SYN | ACK), [0, 1], 0);
        self.packet(at(100), (false, ACK), [1, 1], 0);
        self.packet(at(110), (false, ACK), [1, 1], 300);
        self.send(at(110), 0..3);
    }

    fn send(&mut self, place: Place, segments: impl IntoIterator<Item = u32>) {
        for n in segments {
            self.packet(place, (true, ACK), [1 + n * MSS, 301], MSS);
        }
    }

    fn ack(&mut self, place: Place, n: u32) {
        self.packet(place, (false, ACK), [301, 1 + n * MSS], 0);
    }

    /// All three are lost: the timer of a second retransmits the first, and its ACK releases the
    /// other two (RFC 6298 §5.4, RFC 5681 §3.1: a window of two). A timeout and two slow-start
    /// retransmissions in 13 packets.
    fn timeout(&mut self, place: Place) {
        let at = |ms| Place { ms: place.ms + ms, ..place };
        self.open(place);
        self.send(at(1_110), [0]);
        self.ack(at(1_210), 1);
        self.send(at(1_210), [1, 2]);
        self.ack(at(1_310), 2);
        self.ack(at(1_311), 3);
    }

    /// All three are delivered and release six more, of which the first is lost: the third of five
    /// duplicates retransmits it. A fast retransmission in 23 packets.
    fn fast(&mut self, place: Place) {
        let at = |ms| Place { ms: place.ms + ms, ..place };
        self.open(place);
        for n in 1..=3 {
            self.ack(at(209 + n), n);
            self.send(at(209 + n), [2 * n + 1, 2 * n + 2]);
        }
        for ms in [311, 312, 313] {
            self.ack(at(ms), 3);
        }
        self.send(at(313), [3]);
        self.ack(at(314), 3);
        self.ack(at(315), 3);
        self.ack(at(413), 9);
    }
}

fn papers(claims: &[&str], option: &str, file: &Path) -> Output {
    let rest = ["--json", option, file.to_str().unwrap()];
    headstart(&[&["papers"], claims, &rest].concat())
}

/// The figures of a claim by their labels.
fn ours(answers: &Value, id: &str, label: &str) -> f64 {
    let answer = answers.as_array().unwrap().iter().find(|answer| answer["id"] == id).unwrap();
    assert!(answer["note"].as_str().unwrap().starts_with("From the "), "{answer}");
    let figures = answer["ours"].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["label"] == label);
    found.unwrap_or_else(|| panic!("{label}: {figures:#?}"))["value"].as_f64().unwrap()
}

fn json(output: &Output) -> Value {
    let printed = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {printed}"))
}

/// Twelve connections time out, and twelve retransmit fast, each as computed for NewReno above. So
/// the ACKs alone show every retransmission: BS-4 holds. A quarter of 48 retransmissions is fast, a
/// quarter by timeouts, half after them.
#[test]
fn claims_are_answered_from_a_capture_of_ones_own() {
    let mut written = Written::new();
    for n in 0..EACH {
        let begin =
            |half: u16| Place { port: 40_000 + 2 * n + half, ms: 5_000 * (2 * n + half) as u32 };
        written.timeout(begin(0));
        written.fast(begin(1));
    }
    let folder = folder("papers-capture");
    let whole = folder.join("own.pcap");
    fs::write(&whole, &written.bytes).unwrap();
    let output = papers(&["BS-4", "BS-5"], "--capture", &whole);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = json(&output);
    assert_eq!(answers[0]["verdict"], "holds", "{answers:#}");
    for (kind, count) in
        [("timeouts", 12.0), ("fast retransmissions", 12.0), ("slow-start retransmissions", 24.0)]
    {
        for what in ["happened", "predicted"] {
            let label = match what {
                "happened" => format!("{kind} that happened"),
                _ => format!("{kind} predicted"),
            };
            assert_eq!(ours(&answers, "BS-4", &label), count, "{label}");
        }
    }
    let of = |label| ours(&answers, "BS-5", label);
    assert_eq!([of("connections"), of("packets")], [24.0, 12.0 * (13.0 + 23.0)]);
    assert_eq!(of("retransmissions, fast"), 25.0);
    assert_eq!(of("retransmissions, by timeouts"), 25.0);
    assert_eq!(of("retransmissions, slow start after timeouts"), 50.0);
    // No duplicate ACK came before any timeout.
    assert_eq!([of("timeouts that SACK spares"), of("other timeouts")], [0.0, 100.0]);

    // The capture with the beginning of a packet behind it gives the same answers, marked as
    // answers of the readable part.
    let cut = folder.join("cut.pcap");
    fs::write(&cut, [&written.bytes[..], &[0; 7]].concat()).unwrap();
    let output = papers(&["BS-4", "BS-5"], "--capture", &cut);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("cut.pcap: ends within a packet"), "{printed}");
    assert_eq!(json(&output), answers);

    let none = folder.join("none.pcap");
    fs::write(&none, b"hello").unwrap();
    let output = papers(&["BS-4"], "--capture", &none);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

/// A /24 asks at 0 and 60 s, another one at 120 s, the first again at 400 s. One of four requests
/// follows another of its network within five minutes, and that is of another host. Networks that
/// asked within five minutes, at each request: 1, 1, 2, 2. One of the two networks has names of two
/// domains.
#[test]
fn sp_9_is_answered_from_a_log_of_ones_own() {
    let log = r#"192.0.2.1 a.example.org - [10/Oct/2000:20:00:00 +0000] "GET / HTTP/1.1" 200 5
192.0.2.2 b.example.com - [10/Oct/2000:20:01:00 +0000] "GET /a HTTP/1.1" 200 5
198.51.100.7 c.example.net - [10/Oct/2000:20:02:00 +0000] "GET /a HTTP/1.1" 200 5
192.0.2.1 a.example.org - [10/Oct/2000:20:06:40 +0000] "GET /b HTTP/1.1" 200 5
"#;
    let folder = folder("papers-log");
    let path = folder.join("access.log");
    fs::write(&path, log).unwrap();
    let output = papers(&["SP-9"], "--access-log", &path);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = json(&output);
    let of = |label| ours(&answers, "SP-9", label);
    assert_eq!(of("requests within 5 minutes of one from the same /24"), 25.0);
    assert_eq!(of("networks seen in 5 minutes, median"), 1.0);
    assert_eq!(of("of these requests, those that follow one of the same host"), 0.0);
    assert_eq!(of("/24s with several domains (a simulated log has no names)"), 50.0);
    assert_eq!(answers[0]["verdict"], "differs");

    // A line that is none costs the exit code, not the answer.
    fs::write(&path, format!("hello\n{log}")).unwrap();
    let output = papers(&["SP-9"], "--access-log", &path);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), json(&output)), (Some(1), answers), "{printed}");
    assert!(printed.contains("access.log: line 1: "), "{printed}");
}

/// A file that answers none of the requested claims is refused before anything is run, whether it
/// is there or not.
#[test]
fn a_file_that_answers_nothing_is_refused() {
    let refused = |claims: &[&str], option, says: &str| {
        let output = papers(claims, option, Path::new("no-such-file"));
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{printed}");
        assert!(printed.contains(says), "{printed}");
    };
    refused(&["FS-1"], "--capture", "only BS-4 and BS-5");
    refused(&["FS-1", "BS-4"], "--access-log", "only SP-9");
}
