//! Clients on the kernel's sockets that take nothing, or too little: each is freed by the timer
//! that its option sets, while another goes on.
#![expect(clippy::disallowed_methods, reason = "real time is what is tested")]

use super::device::{Machine, soon};
use super::{large, possible, site};
use nix::sys::socket::{setsockopt, sockopt};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 1));
/// Stall time of the servers here.
const STALL: Duration = Duration::from_secs(2);
/// Size of the file that the other client loads over and over, bytes.
const OTHERS: usize = 3_000_000;
/// The longest that one of those may take: some hundredths of a second, and what a busy machine
/// adds.
const SLOW: Duration = Duration::from_millis(1500);

/// A server with a file that no buffer holds, and one for the other client.
fn serve(name: &str, options: &[&str]) -> Machine {
    let root = site(name);
    large(&root, 100_000_000);
    fs::write(root.join("other.bin"), other_bytes()).unwrap();
    serve_folder(&root, options)
}

fn serve_folder(root: &Path, options: &[&str]) -> Machine {
    let machine = Machine::serve(root, &[&["--stall", "2s"], options].concat());
    assert!(machine.line.contains("http://10.77.0.1/"), "{}", machine.line);
    machine
}

/// No two positions near each other are alike.
fn other_bytes() -> Vec<u8> {
    (0..OTHERS as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn ask(machine: &Machine, address: IpAddr, path: &str) -> TcpStream {
    let to = SocketAddr::new(address, 80);
    let mut stream = machine.namespace.run(|| TcpStream::connect(to)).unwrap().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: here\r\n\r\n").unwrap();
    stream
}

/// Reads one answer of `len` bytes.
fn body(stream: &mut TcpStream, len: usize) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let mut body = vec![0; len];
    stream.read_exact(&mut body).unwrap();
    body
}

/// Loads a file over and over on one connection until `stop` is set; returns the number of loads.
/// The file is always whole, and soon there.
fn go_on(machine: &Machine, stop: &AtomicBool) -> usize {
    let expected = other_bytes();
    let mut stream = ask(machine, V6, "/other.bin");
    for loads in 1.. {
        let started = Instant::now();
        assert!(body(&mut stream, OTHERS) == expected, "the other's bytes");
        assert!(started.elapsed() < SLOW, "the other waited for {:?}", started.elapsed());
        if stop.load(Ordering::Relaxed) {
            return loads;
        }
        sleep(Duration::from_millis(50));
        write!(stream, "GET /other.bin HTTP/1.1\r\nhost: here\r\n\r\n").unwrap();
    }
    unreachable!("it is told to stop")
}

/// The server's status shows a connection to this peer.
fn has(machine: &Machine, peer: SocketAddr) -> bool {
    let status = machine.get("http://[fd00:77::1]/.headstart/status.json");
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    let all = status["connections"].as_array().unwrap();
    all.iter().any(|connection| connection["peer"] == peer.to_string())
}

/// The connection of a client that `behaves` so is freed after one stall at least and two at most,
/// beside another that goes on; what the client reads afterwards.
fn freed_beside_another(machine: &Machine, mut behaves: impl FnMut(&mut TcpStream)) -> TcpStream {
    let stop = AtomicBool::new(false);
    let mut client = ask(machine, V4, "/large.bin");
    let own = client.local_addr().unwrap();
    scope(|scope| {
        let other = scope.spawn(|| go_on(machine, &stop));
        soon("the response is under way", || has(machine, own));
        let started = Instant::now();
        soon("the connection is freed", || {
            behaves(&mut client);
            !has(machine, own)
        });
        let after = started.elapsed();
        stop.store(true, Ordering::Relaxed);
        // Its last data was taken in the moments before, and looks are 50 ms apart, or more on a
        // busy machine.
        let least = STALL - Duration::from_millis(500);
        assert!((least..2 * STALL + Duration::from_secs(2)).contains(&after), "after {after:?}");
        assert!(other.join().unwrap() > 5);
    });
    client
}

/// Checks the traces of dropped clients: the server's own counter, and its log.
fn assert_given_up(mut machine: Machine) {
    let status = machine.get("http://10.77.0.1/.headstart/status.json");
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["counters"]["tcp"]["TCPAbortOnStall"], 1, "{status:#}");
    machine.signal("TERM");
    let (code, rest) = machine.ended();
    assert_eq!(code, Some(0), "{rest}");
    let lines: Vec<_> = rest.lines().filter(|line| line.contains("/large.bin")).collect();
    assert!(lines.len() == 1 && lines[0].contains("given up"), "{rest}");
}

#[test]
fn a_client_that_stops_reading_is_freed() {
    if !possible(&["curl"]) {
        return;
    }
    let machine = serve("serve-stops", &[]);
    let mut client = freed_beside_another(&machine, |_| ());
    let end = client.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(end.kind(), ErrorKind::ConnectionReset, "it is told");
    assert_given_up(machine);
}

#[test]
fn a_client_that_reads_a_byte_a_second_is_freed() {
    if !possible(&["curl"]) {
        return;
    }
    let machine = serve("serve-byte", &[]);
    let mut next = Instant::now();
    freed_beside_another(&machine, |client| {
        if Instant::now() >= next {
            // Once it is reset there is nothing to read.
            let _ = client.read(&mut [0]);
            next += Duration::from_secs(1);
        }
    });
    assert_given_up(machine);
}

/// The client takes some 100 kB in each stall, far more than a segment. The minimum demands 500 kB,
/// or the waiting data, 256 kB at least. If there is no minimum, the client stays.
#[test]
fn a_client_below_the_least_rate_is_freed() {
    if !possible(&["curl"]) {
        return;
    }
    let slowly = |client: &mut TcpStream| {
        // Small, so that its window opens in small steps.
        setsockopt(client, sockopt::RcvBuf, &60_000).unwrap();
        let _ = client.read(&mut [0; 4000]);
        sleep(Duration::from_millis(30));
    };
    let machine = serve("serve-rate", &["--min-rate", "2mbit"]);
    freed_beside_another(&machine, slowly);
    assert_given_up(machine);
    let machine = serve("serve-any-rate", &["--min-rate", "0bit"]);
    let mut client = ask(&machine, V4, "/large.bin");
    let started = Instant::now();
    while started.elapsed() < 3 * STALL {
        slowly(&mut client);
    }
    assert!(has(&machine, client.local_addr().unwrap()), "it is still served");
}

/// Its machine has gone: nothing answers any more, and nothing says so.
#[test]
fn a_client_that_vanishes_is_freed() {
    if !possible(&["curl"]) {
        return;
    }
    let machine = serve("serve-vanishes", &[]);
    let mut is_there = true;
    freed_beside_another(&machine, |_| {
        if std::mem::take(&mut is_there) {
            let device = ["address", "del", "10.77.0.2/24", "dev", "headstart0"];
            let output = machine.run("ip", &device);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    });
    machine.run("ip", &["address", "add", "10.77.0.2/24", "dev", "headstart0"]);
    assert_given_up(machine);
}

/// A client that sends no request, or half of one, keeps its connection for as long as --idle
/// allows.
#[test]
fn a_client_that_does_not_ask_is_freed() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-silent");
    let machine = serve_folder(&root, &["--idle", "1s"]);
    for request in ["", "GET / HTTP/1.1\r\nhost: he"] {
        let to = SocketAddr::new(V4, 80);
        let mut client = machine.namespace.run(|| TcpStream::connect(to)).unwrap().unwrap();
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let started = Instant::now();
        client.read_to_end(&mut Vec::new()).unwrap();
        let after = started.elapsed();
        let times = Duration::from_millis(900)..Duration::from_secs(4);
        assert!(times.contains(&after), "{request:?}: after {after:?}");
    }
}
