//! Captures read back by tshark: nothing malformed, checksums right, as many retransmissions as we
//! count. The tests report a skip without tshark.

use link::{LinkConfig, QueueLimit};
use netsim::{
    BulkSpec, BulkTransfer, Captures, Dumbbell, Duplex, LinkId, Observer, Simulation,
    SimulationConfig,
};
use std::any::Any;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tcp::Scheme;
use test_support::Need;
use units::{Duration, Instant, Rate};

/// Captures a lossy transfer of 300 kB at the sender's first link and the bottleneck's way back.
fn captured(scheme: &str, seed: u64) -> (Vec<Vec<u8>>, u64) {
    let wire = |mbit, ms, queue| {
        LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(ms), queue).unwrap()
    };
    let lossy = wire(2, 20, QueueLimit::Packets(20)).with_loss(0.02).unwrap();
    let side = wire(100, 1, QueueLimit::Unlimited);
    let bell = Dumbbell::new(1, side, Duplex::symmetric(lossy));
    let links = [bell.first_links[0], bell.bottleneck.reverse];
    let mut sim = Simulation::new(bell.topology, SimulationConfig { seed, ..Default::default() });
    sim.observe(Captures::begin(links.map(|link| (link, Vec::new()))).unwrap());
    let scheme = Scheme::parse(scheme).unwrap();
    let spec = BulkSpec {
        from: bell.sources[0],
        to: bell.sinks[0],
        bytes: Some(300_000),
        scheme: scheme.clone(),
        receiver: scheme,
        close: false,
    };
    let id = sim.add(Instant::ZERO, BulkTransfer::new(spec));
    sim.run(Instant::from_nanos(600_000_000_000)).unwrap();
    let sender = sim.application::<BulkTransfer>(id).unwrap().sender().unwrap();
    let stats = sim.host(bell.sources[0]).connection(sender).unwrap().stats();
    let captures: Box<dyn Any> = sim.take_observers().remove(0) as Box<dyn Observer>;
    let captures = captures.downcast::<Captures<Vec<u8>>>().unwrap().finish().unwrap();
    let bytes = captures.into_iter().map(|(_, bytes): (LinkId, _)| bytes);
    (bytes.collect(), stats.retransmitted_segments)
}

/// Returns tshark's lines for `fields` of the packets that `filter` selects.
fn tshark(capture: &[u8], name: &str, filter: &str, fields: &[&str]) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, capture).unwrap();
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-Y", filter, "-T", "fields"]);
    command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(!errors.contains("cut short") && !errors.contains("damaged"), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

const TSHARK_RETRANSMISSIONS: &str = "tcp.analysis.retransmission or tcp.analysis.fast_retransmission \
                     or tcp.analysis.spurious_retransmission or tcp.analysis.out_of_order";
const WRONG: &str = "_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0 \
                     or not tcp or tcp.len > 1460";

#[test]
fn tshark_reads_captures_without_complaint() {
    if !test_support::has(&[Need::Program("tshark")]) {
        return;
    }
    let runs = [
        ("tahoe", 1),
        ("reno", 2),
        ("newreno", 3),
        ("sack", 3),
        ("sack+recovery=pipe", 4),
        ("linux", 3),
        ("linux+pacing=on", 5),
        ("linux+open=data", 6),
    ];
    for (scheme, seed) in runs {
        let (captures, retransmitted) = captured(scheme, seed);
        for (n, capture) in captures.iter().enumerate() {
            let name = format!("{scheme}-{n}.pcap");
            let wrong = tshark(capture, &name, WRONG, &["frame.number"]);
            assert_eq!(wrong, Vec::<String>::new(), "{name}");
        }
        let name = format!("{scheme}-again.pcap");
        let again = tshark(&captures[0], &name, TSHARK_RETRANSMISSIONS, &["frame.number"]);
        assert!(retransmitted > 0);
        assert_eq!(again.len() as u64, retransmitted, "{scheme}");
    }
}

#[test]
fn pure_acknowledgements_are_whole_and_their_checksums_good() {
    if !test_support::has(&[Need::Program("tshark")]) {
        return;
    }
    let (captures, _) = captured("linux", 3);
    let filter = "tcp.len == 0";
    let fields = ["tcp.checksum.status", "ip.checksum.status"];
    let acks = tshark(&captures[1], "acks.pcap", filter, &fields);
    assert!(acks.len() > 50);
    // A status of 1 is "good".
    assert!(acks.iter().all(|status| status == "1\t1"), "{acks:?}");
}

#[test]
fn captures_repeat_to_the_last_byte() {
    assert_eq!(captured("linux", 3), captured("linux", 3));
}
