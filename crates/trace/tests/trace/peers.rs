//! The engine's counts beside those of tshark and tcptrace, on the captures of the repository and
//! on simulated ones. The tests print the tables of `docs/validation/trace-engine.md`:
//! `cargo test -p headstart-trace --test trace peers:: -- --nocapture`. `CAPTURES=a.pcap:b.pcap`
//! adds files. The tests need both programs, and report a skip without them.

use crate::common::{Exchange, Pipe, Scenario, run};
use capture::{CaptureFiles, Observed, SegmentSource, TcpEnd};
use segment::SackBlocks;
use std::fs::{self, File};
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tcp::{Scheme, Segment, TcpOptions};
use test_support::Need;
use trace::{
    ConnectionTrace, EngineConfig, SenderModel, SenderModels, SenderProfile, TraceEngine, TraceSink,
};
use units::{Duration, Instant};
use wire::{Marking, PcapFile, TcpPacket};

/// Retransmitted packets in one file, as three programs count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    /// Packets with payload, as the engine counts.
    data: u64,
    /// SYNs and FINs without payload, as the engine counts.
    control: u64,
    /// `rexmt data pkts`.
    tcptrace: u64,
    /// Packets with payload that tshark marks as retransmissions (fast and spurious ones included)
    /// or out of order.
    tshark: u64,
    /// The part of `tshark` that it marks `tcp.analysis.out_of_order`.
    tshark_disordered: u64,
}

impl Counted {
    fn add(&mut self, other: &Self) {
        self.data += other.data;
        self.control += other.control;
        self.tcptrace += other.tcptrace;
        self.tshark += other.tshark;
        self.tshark_disordered += other.tshark_disordered;
    }

    /// Returns all three counts, or `None` if a program is missing.
    fn of(path: &Path, model: SenderModel) -> Option<Self> {
        let mut counted = ours(path, model);
        counted.tcptrace = tcptrace(path)?;
        (counted.tshark, counted.tshark_disordered) = tshark(path)?;
        Some(counted)
    }
}

/// Sums over all connections.
#[derive(Default)]
struct Sums(Counted);

impl TraceSink for Sums {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        for counters in [&summary.client_sent, &summary.server_sent] {
            self.0.data += counters.retransmission_count();
            self.0.control += counters.control_again;
        }
    }
}

fn ours(path: &Path, model: SenderModel) -> Counted {
    let config = EngineConfig { models: SenderModels::all(model), ..EngineConfig::default() };
    let mut engine = TraceEngine::new(config, Sums::default());
    let (mut source, mut batch) = (CaptureFiles::new([path]), Vec::new());
    while source.next_batch(&mut batch).expect("a whole capture") {
        batch.iter().for_each(|segment| engine.on_segment(segment));
    }
    engine.finish_all().0.0
}

/// Returns the output of a program; reports a skip and returns `None` if the program is missing.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    if !test_support::has(&[Need::Program(program)]) {
        return None;
    }
    let output = Command::new(program).args(arguments).output().expect("it is in PATH");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns `rexmt data pkts` of both directions of all connections.
fn tcptrace(path: &Path) -> Option<u64> {
    let printed = output("tcptrace", &["-l", "-n", path.to_str()?])?;
    let lines = printed.lines().filter(|line| line.contains("rexmt data pkts"));
    let numbers =
        lines.flat_map(|line| line.split_whitespace().filter_map(|word| word.parse::<u64>().ok()));
    Some(numbers.sum::<u64>())
}

/// Returns the number of packets with payload that tshark marks as retransmissions or out of order,
/// and of those the ones out of order.
fn tshark(path: &Path) -> Option<(u64, u64)> {
    const MARKED: &str =
        "tcp.len > 0 && (tcp.analysis.retransmission || tcp.analysis.out_of_order)";
    const DISORDERED: &str = "tcp.analysis.out_of_order";
    let arguments = ["-n", "-r", path.to_str()?, "-Y", MARKED, "-T", "fields", "-e", DISORDERED];
    let printed = output("tshark", &arguments)?;
    let disordered = printed.lines().filter(|line| !line.is_empty()).count();
    Some((printed.lines().count() as u64, disordered as u64))
}

/// Returns the labelled captures of crate `capture`.
fn labelled() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/tests/tcprs");
    let files = fs::read_dir(folder).expect("the captures are part of the repository");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pcap"));
    files.sort();
    files
}

/// Writes a simulated connection to a file.
fn written(scenario: &Scenario, path: &Path) {
    let file = File::create(path).expect("a file");
    let mut file = PcapFile::begin(BufWriter::new(file)).expect("a capture");
    for segment in &scenario.segments {
        let mut bytes = Vec::new();
        let packet = packet(segment);
        wire::write(&packet, &vec![0; segment.payload as usize], &mut bytes).expect("a packet");
        file.record(segment.at, &bytes, bytes.len() as u32).expect("room");
    }
    file.finish().expect("written");
}

fn packet(segment: &Observed) -> TcpPacket {
    let options = &segment.options;
    let mut sack = SackBlocks::NONE;
    options.sack().iter().for_each(|(left, right)| sack.push(*left, *right));
    let options = TcpOptions {
        mss: options.mss(),
        window_scale: options.window_scale(),
        sack_permitted: options.sack_permitted(),
        timestamps: options.timestamps(),
        sack,
        ..TcpOptions::default()
    };
    let inner = Segment {
        seq: segment.seq,
        ack: segment.ack,
        len: segment.payload,
        window: segment.window,
        flags: segment.flags,
        options,
        ..Segment::default()
    };
    let at = |end: TcpEnd| SocketAddr::from(end);
    TcpPacket::new(at(segment.source), at(segment.destination), inner, &Marking::default())
}

/// Simulates 30 connections of a scheme in one file; returns the number of their server's
/// retransmissions.
fn simulated(scheme: &str, path: &Path) -> u64 {
    let scheme = Scheme::parse(scheme).expect("a scheme of the catalogue");
    let pipes = [Pipe::new(10, 20, 20, 0), Pipe::new(50, 5, 1000, 20), Pipe::new(2, 100, 10, 5)];
    let mut all = Scenario::default();
    for n in 0..30_u16 {
        let scenario = run(&Exchange {
            server: &scheme,
            client: &scheme,
            pipe: pipes[usize::from(n) % pipes.len()],
            sizes: &[30_000, 200_000, 5_000],
            think: Duration::from_millis(100),
            seed: n.into(),
            port: 40_000 + n,
            begin: Instant::ZERO + Duration::from_secs(100),
        });
        all.segments.extend(scenario.segments);
        all.again.extend(scenario.again);
    }
    all.segments.sort_by_key(|segment| segment.at);
    written(&all, path);
    all.again.len() as u64
}

/// Prints a line of the table.
fn print(name: &str, counted: &Counted) {
    let Counted { data, control, tcptrace, tshark, tshark_disordered } = counted;
    println!("| {name} | {data} | {control} | {tcptrace} | {tshark} | {tshark_disordered} |");
}

fn print_head() {
    println!(
        "| capture | engine: data | SYN, FIN | tcptrace | tshark: either mark | out of order |"
    );
    println!("|---|---|---|---|---|---|");
}

/// tcptrace does not distinguish SYN and FIN from data: for it, a number of the sequence space is a
/// byte.
fn check(name: &str, counted: &Counted, apart: &[(&str, i64, i64)]) {
    let known = apart.iter().find(|known| known.0 == name);
    let (_, tcptrace, tshark) = known.copied().unwrap_or((name, 0, 0));
    let by = |theirs: u64, ours: u64| theirs as i64 - ours as i64;
    let ours = counted.data + counted.control;
    assert_eq!(by(counted.tcptrace, ours), tcptrace, "{name}: tcptrace: {counted:?}");
    assert_eq!(by(counted.tshark, counted.data), tshark, "{name}: tshark: {counted:?}");
}

/// Captures with different counts: the excess of tcptrace's and tshark's counts over ours. In this
/// capture requests were lost before the capture at the server, which shows only their second
/// copies. tshark knows that from earlier ACKs; for the engine, and for tcptrace, the requests were
/// sent once.
const LABELLED_APART: [(&str, i64, i64); 1] = [("fack013", 0, 1)];
const SIMULATED_APART: [(&str, i64, i64); 2] = [("reno+tick=500ms", 0, 1), ("newreno", 0, 2)];

#[test]
fn labelled_captures() {
    let model = SenderModel::of(SenderProfile::LinuxSack);
    let mut sum = Counted::default();
    print_head();
    for path in labelled() {
        let Some(counted) = Counted::of(&path, model.clone()) else { return };
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        print(&name, &counted);
        check(&name, &counted, &LABELLED_APART);
        sum.add(&counted);
    }
    print("all", &sum);
}

#[test]
fn simulated_captures() {
    print_head();
    for scheme in ["reno+tick=500ms", "newreno", "linux", "linux-bbr"] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{scheme}.pcap"));
        let truth = simulated(scheme, &path);
        let model = SenderModel::of_scheme(scheme).expect("a scheme of the catalogue");
        let Some(counted) = Counted::of(&path, model) else { return };
        print(scheme, &counted);
        assert_eq!(counted.data, truth, "{scheme}");
        check(scheme, &counted, &SIMULATED_APART);
    }
}

#[test]
fn other_captures() {
    let Some(paths) = std::env::var_os("CAPTURES") else { return };
    print_head();
    for path in std::env::split_paths(&paths) {
        let model = SenderModel::of(SenderProfile::Linux);
        let Some(counted) = Counted::of(&path, model) else { return };
        print(&path.display().to_string(), &counted);
    }
}
