//! Messages of tshark's experts about our endpoint's captures also occur for the Linux kernel, on
//! the same path with the same client. The tests need root, TUN devices and tshark; they report a
//! skip and pass without them.

use crate::common::line::{Line, Setup, Who, ask, question, read_answer};
use crate::common::{PORT, linux};
use link::{Duplex, LinkConfig, QueueLimit};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time;
use test_support::Need;
use units::{Duration, Rate};

/// Number of occurrences of each message.
type Messages = BTreeMap<String, usize>;

/// Returns 20 Mbit/s, 20 ms, with this queue towards the client and this loss both ways.
fn links(packets: u32, loss: f64) -> Duplex<LinkConfig> {
    let link = |packets| {
        let limit = QueueLimit::Packets(packets);
        let link = LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(10), limit);
        link.unwrap().with_loss(loss).unwrap()
    };
    // The uplink holds a whole window: only random losses happen there.
    Duplex { forward: link(packets), reverse: link(1000) }
}

/// Returns the experts' messages about the server's end of a mixed workload.
async fn remarks(who: Who, links: Duplex<LinkConfig>, file: &Path) -> Option<Messages> {
    let line = Line::new(Setup { who, scheme: linux(), links, sysctls: &[] })?;
    line.serve().await;
    let work = move || {
        transfers(&line);
        pauses(&line);
        ends(&line);
        line.stop()
    };
    let traces = tokio::task::spawn_blocking(work).await.unwrap();
    fs::write(file, traces.capture).unwrap();
    Some(experts(file))
}

/// Makes short and long transfers, down and up, each on a connection that the client ends first.
fn transfers(line: &Line) {
    for (up, down) in [(0, 30_000), (0, 200_000), (0, 2_000_000), (1_000_000, 100)] {
        let mut stream = line.connect(PORT).unwrap();
        ask(&mut stream, up, down);
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the server ends it");
    }
}

/// Makes several transfers on a connection, idle between them for longer than any timeout. Another
/// client reads nothing until its window has been shut for some probes.
fn pauses(line: &Line) {
    let mut kept = line.connect(PORT).unwrap();
    for down in [1, 50_000, 1000] {
        ask(&mut kept, 10, down);
        sleep(time::Duration::from_millis(400));
    }
    let mut slow = line.connect(PORT).unwrap();
    // The answer is as large as both kernels' buffers for a reader before they grow, and more.
    question(&mut slow, 0, 3_000_000);
    sleep(time::Duration::from_secs(3));
    read_answer(&mut slow, 3_000_000);
}

/// A client closes in the middle of an answer, and one connects to a port without a listener.
fn ends(line: &Line) {
    let mut stream = line.connect(PORT).unwrap();
    question(&mut stream, 0, 300_000);
    stream.read_exact(&mut [0; 1000]).unwrap();
    drop(stream);
    assert_eq!(line.connect(PORT + 1).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    sleep(time::Duration::from_millis(500));
}

/// Returns the messages of tshark's experts about a capture of the server's end.
fn experts(file: &Path) -> Messages {
    let mut tshark = Command::new("tshark");
    tshark.args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]);
    // The payload is decoded as no protocol, whatever the ports suggest.
    tshark.args(["-d", "tcp.port==0-65535,data", "-T", "fields", "-E", "aggregator=|"]);
    tshark.args(["-e", "tcp.srcport", "-e", "_ws.expert.message", "-r"]);
    let output = tshark.arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut messages = Messages::new();
    for (port, value) in text.lines().filter_map(|line| line.split_once('\t')) {
        let is_ours = port.parse() == Ok(PORT) || port.parse() == Ok(PORT + 1);
        let who = if is_ours { "server" } else { "client" };
        for message in value.split('|').filter(|message| !message.is_empty()) {
            // Numbers of segments and ports are of the occurrence.
            let kind = message.replace(|c: char| c.is_ascii_digit(), "");
            *messages.entry(format!("{who}: {kind}")).or_default() += 1;
        }
    }
    messages
}

/// Messages for one kind of event that only timing distinguishes: the number of ACKs, and the time
/// before. The kernel's captures have each of them on these paths, now and then.
const REPAIRS: [&str; 5] = [
    "(suspected) retransmission",
    "(suspected) fast retransmission",
    "(suspected) out-of-order",
    "(suspected) spurious retransmission",
    "D-SACK",
];

/// A repeated ACK has one or the other message, depending on whether the window in it changed. With
/// a buffer that grows it does, after a loss as well, at times that depend on either host.
const REPEATS: [&str; 2] = ["Duplicate ACK", "TCP window update"];

/// Merges all repairs into one kind, and all repeated ACKs into another. It leaves out a message
/// about the client alone: its checksum of zero, one in 65,536, which the kernel sends as 0xffff.
fn kinds(messages: &Messages) -> Messages {
    let mut kinds = Messages::new();
    for (message, count) in messages {
        if message.starts_with("client: TCP Checksum xffff") {
            continue;
        }
        let (who, value) = message.split_once(": ").unwrap();
        let is_one_of = |list: &[&str]| list.iter().any(|one| value.contains(one));
        let kind = match () {
            () if is_one_of(&REPAIRS) => format!("{who}: repairs"),
            () if is_one_of(&REPEATS) => format!("{who}: repeated ACKs"),
            () => message.clone(),
        };
        *kinds.entry(kind).or_default() += count;
    }
    kinds
}

/// Returns how often a kind may occur if the kernel's capture has it `theirs` times: thrice and ten
/// more. Lost packets are another draw in each run, and one loss more causes some dozen duplicate
/// ACKs.
///
/// If the kernel's capture has none of it, ours has none either, except for tail probes. Either
/// sender retransmits a segment needlessly if the machine is busy for longer than a probe waits.
fn most(kind: &str, theirs: usize) -> usize {
    match theirs {
        0 if kind.ends_with("repairs") || kind.ends_with("repeated ACKs") => 3,
        0 => 0,
        _ => 3 * theirs + 10,
    }
}

async fn nothing_but_what_the_kernel_shows(name: &str, links: Duplex<LinkConfig>) {
    if !test_support::has(&[Need::Program("tshark")]) {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = |who: &str| folder.join(format!("expert-{name}-{who}.pcap"));
    let Some(ours) = remarks(Who::Ours, links.clone(), &file("ours")).await else { return };
    let Some(kernel) = remarks(Who::Kernel, links, &file("kernel")).await else { return };
    println!("{name}\nours {ours:#?}\nkernel {kernel:#?}");
    let theirs = kinds(&kernel);
    for (kind, count) in kinds(&ours) {
        let theirs = theirs.get(&kind).copied().unwrap_or(0);
        assert!(count <= most(&kind, theirs), "{kind}: {count}, the kernel's {theirs}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_clean_path() {
    nothing_but_what_the_kernel_shows("clean", links(1000, 0.0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_path_that_loses_one_in_a_hundred() {
    nothing_but_what_the_kernel_shows("lossy", links(1000, 0.01)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_path_with_a_small_queue() {
    nothing_but_what_the_kernel_shows("small-queue", links(10, 0.0)).await;
}
