//! Captures of an interface, in a network namespace of each test's own, beside tshark on the same
//! interface.

use crate::tools::{Everything, folder, text};
use capture::{
    CaptureWriter, InterfaceChange, LiveCapture, LiveOptions, Observed, PacketDirection, PortRange,
    ReadAhead, Rotation,
};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use segment::Flags;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use test_support::Need;

/// Runs a test on a thread in a network of its own, whose loopback interface is up; reports a skip
/// if that is not possible.
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

/// Starts a server that answers each request of a byte with this many bytes.
fn serve(bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            client.read_exact(&mut [0]).unwrap();
            client.write_all(&vec![7; bytes]).unwrap();
        }
    });
    at
}

fn fetch(server: SocketAddr) -> usize {
    let mut client = TcpStream::connect(server).unwrap();
    client.write_all(&[1]).unwrap();
    client.read_to_end(&mut vec![]).unwrap()
}

fn options(server: SocketAddr, snap: Option<u32>) -> LiveOptions {
    let ports = vec![PortRange { first: server.port(), last: server.port() }];
    LiveOptions { interfaces: vec!["lo".to_owned()], ports, snap }
}

/// Starts tshark on the loopback interface, writing to a file; reports a skip and returns `None`
/// without tshark.
fn tshark(filter: &str, file: &Path) -> Option<Child> {
    let arguments = ["-i", "lo", "-f", filter, "-w", text(file)];
    let mut command = Command::new("tshark");
    if !test_support::has(&[Need::Program("tshark")]) {
        return None;
    }
    let mut child = command.args(arguments).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    // It prints that it captures a moment before it does.
    let mut lines = lines.skip_while(|line| !line.contains("Capturing on"));
    assert!(lines.next().is_some(), "tshark ends");
    thread::spawn(move || lines.for_each(drop));
    thread::sleep(Duration::from_secs(1));
    Some(child)
}

/// Writes captured packets until none arrives for half a second.
fn record(live: &mut LiveCapture, writer: &mut CaptureWriter) {
    let mut write = |packet: capture::LivePacket<'_>| {
        writer.record(packet.at, packet.record, packet.length).unwrap();
    };
    while live.receive(Duration::from_millis(500), &mut write).unwrap() {}
}

/// Three transfers of 300 kB: all of their segments are captured, as many as tshark sees, with
/// whole headers and without a byte of payload.
#[test]
fn every_segment_is_captured_as_tshark_does() {
    alone(|| {
        let folder = folder("live");
        let (ours, theirs) = (folder.join("ours.pcap"), folder.join("theirs.pcap"));
        let server = serve(300_000);
        let port = server.port();
        let tshark = tshark(&format!("tcp port {port}"), &theirs);
        let mut live = LiveCapture::open(&options(server, None)).unwrap();
        let mut writer =
            CaptureWriter::begin(&ours, LiveCapture::LINK, Rotation::default()).unwrap();
        // This transfer uses another port.
        fetch(serve(1_000));
        (0..3).for_each(|_| assert_eq!(fetch(server), 300_000));
        record(&mut live, &mut writer);
        assert_eq!(live.finish(|_| ()).unwrap(), 0, "dropped");
        writer.finish().unwrap();

        let read = Everything::of_files([&ours]);
        assert_eq!(read.counters.segments, read.counters.packets);
        // The sum counts each byte once: if the machine stalls for a moment, TCP retransmits some
        // of them.
        let of = |from_server: bool| {
            let mut lengths = BTreeMap::new();
            for s in read.segments.iter().filter(|s| (s.source.port == port) == from_server) {
                let client = if from_server { s.destination.port } else { s.source.port };
                // The first one is the SYN.
                let (first, length) = lengths.entry(client).or_insert((s.seq.0.wrapping_add(1), 0));
                if s.payload > 0 {
                    *length = (*length).max(s.seq.0.wrapping_sub(*first) + s.payload);
                }
            }
            lengths.values().map(|(_, length)| u64::from(*length)).sum::<u64>()
        };
        assert_eq!((of(true), of(false)), (900_000, 3), "payload is told, though not recorded");
        let syns = read.segments.iter().filter(|s| s.has(Flags::SYN) && !s.has(Flags::ACK));
        assert_eq!(syns.count(), 3);
        assert!(read.segments.iter().all(|s| s.direction == PacketDirection::In));
        assert!(
            read.segments.iter().all(|s| !s.options.are_cut() && s.options.timestamps().is_some())
        );
        // The headers are 20 bytes of the cooked capture, 20 of IPv4, 20 of TCP and at most 40 of
        // options.
        assert!(read.counters.captured_bytes <= read.counters.packets * 100);
        assert!(read.segments.windows(2).all(|pair| pair[0].at <= pair[1].at));

        let Some(mut tshark) = tshark else { return };
        thread::sleep(Duration::from_secs(1));
        kill(Pid::from_raw(tshark.id() as i32), Signal::SIGINT).unwrap();
        tshark.wait().unwrap();
        let shown = Everything::of_files([&theirs]).segments;
        let fields = |s: &Observed| (s.source, s.seq.0, s.ack.0, s.payload, s.flags.0, s.ip_id);
        let (mut ours, mut theirs): (Vec<_>, Vec<_>) =
            (read.segments.iter().map(fields).collect(), shown.iter().map(fields).collect());
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours.len(), theirs.len());
        assert!(ours == theirs, "the same segments");
    });
}

/// The capture is a source, read ahead on a thread: it returns segments until it is stopped, and
/// then those that are left.
#[test]
fn an_interface_is_a_source_of_segments() {
    alone(|| {
        let server = serve(100_000);
        let live = LiveCapture::open(&options(server, Some(1_000))).unwrap();
        let stop = live.stopper();
        let source = ReadAhead::new(live).unwrap();
        assert_eq!(fetch(server), 100_000);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
        let read = Everything::of(source);
        let payload: u64 = read.segments.iter().map(|s| u64::from(s.payload)).sum();
        assert_eq!((payload, read.counters.lost), (100_001, 0));
        assert!(read.segments.iter().zip(1..).all(|(segment, number)| segment.number == number));
        assert!(
            read.counters.captured_bytes > 1_000,
            "with a snap length payload is recorded, too"
        );
    });
}

/// The packets are between two hosts: those that this one sends, and those that it receives; and of
/// all interfaces at once.
#[test]
fn directions_and_interfaces_are_told() {
    alone(|| {
        let ip = |arguments: &str| {
            let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
            assert!(status.success(), "ip {arguments}");
        };
        ip("link add left type veth peer name right");
        ip("addr add 192.0.2.1/24 dev left");
        ip("link set left up");
        ip("link set right up");
        // Until the kernel has noticed that the other end is up, it drops outbound packets.
        let is_up = || {
            let output = Command::new("ip").args(["link", "show", "left"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).contains("state UP")
        };
        let _ = (0..1000).find(|_| {
            thread::sleep(Duration::from_millis(10));
            is_up()
        });
        let mut options =
            LiveOptions { interfaces: vec!["left".to_owned()], ..LiveOptions::default() };
        let seen = |options: &LiveOptions| {
            let live = LiveCapture::open(options).unwrap();
            let stop = live.stopper();
            // There is no host at the other end: without a neighbour entry there is not even a SYN.
            let neighbour = "neigh replace 192.0.2.2 lladdr 02:00:00:00:00:01 dev left";
            ip(neighbour);
            let address: SocketAddr = "192.0.2.2:80".parse().unwrap();
            let _ = TcpStream::connect_timeout(&address, Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
            let mut segments = Everything::of(live).segments;
            segments.retain(|segment| segment.destination.port == 80);
            segments
        };
        let on_left = seen(&options);
        assert!(!on_left.is_empty());
        assert!(on_left.iter().all(|segment| segment.direction == PacketDirection::Out));
        options.interfaces = vec!["any".to_owned()];
        let on_any = seen(&options);
        let ways = |way| on_any.iter().filter(|segment| segment.direction == way).count();
        assert!(ways(PacketDirection::Out) >= 1 && on_any.len() >= 2, "{on_any:?}");
        let interfaces: std::collections::BTreeSet<u16> =
            on_any.iter().map(|segment| segment.interface).collect();
        assert_eq!(interfaces.len(), 2, "sent by one, received by the other");
    });
}

#[test]
fn an_unknown_interface_is_named_with_what_there_is() {
    alone(|| {
        let options = LiveOptions { interfaces: vec!["l0".to_owned()], ..LiveOptions::default() };
        let messages = LiveCapture::open(&options).map(drop).unwrap_err().to_string();
        assert!(messages.starts_with("no interface \"l0\" (did you mean \"lo\"?)"), "{messages}");
    });
}

/// Runs `ip` with these arguments, in the namespace of the thread.
fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

/// Sends a SYN to an address that does not answer, out of the interface `hs0`.
fn knock() {
    let at: SocketAddr = "192.0.2.9:80".parse().unwrap();
    let _ = TcpStream::connect_timeout(&at, Duration::from_millis(50));
}

/// An interface that is deleted is reported, and captured again once there is one of its name: it
/// has another number then.
#[test]
fn an_interface_that_is_made_again_is_captured_again() {
    alone(|| {
        let made = Command::new("ip").args(["link", "add", "hs0", "type", "dummy"]).status();
        if !made.is_ok_and(|status| status.success()) {
            return test_support::skipped("the kernel has no dummy interfaces");
        }
        ip("link del hs0");
        let make = || {
            ip("link add hs0 type dummy");
            ip("addr add 192.0.2.1/24 dev hs0");
            ip("link set hs0 up");
            // A dummy swallows ARP, so its neighbour is configured.
            ip("neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev hs0");
        };
        make();
        let options = LiveOptions { interfaces: vec!["hs0".to_owned()], ..LiveOptions::default() };
        let mut live = LiveCapture::open(&options).unwrap();
        let captured = |live: &mut LiveCapture| {
            let mut count = 0;
            while live.receive(Duration::from_millis(100), |_| count += 1).unwrap() {}
            count
        };
        knock();
        assert!(captured(&mut live) > 0);
        assert_eq!(live.take_changes(), []);
        ip("link del hs0");
        assert_eq!(captured(&mut live), 0);
        assert_eq!(live.take_changes(), [InterfaceChange::Gone("hs0".to_owned())]);
        make();
        assert_eq!(captured(&mut live), 0);
        assert_eq!(live.take_changes(), [InterfaceChange::Back("hs0".to_owned())]);
        knock();
        assert!(captured(&mut live) > 0);
    });
}
