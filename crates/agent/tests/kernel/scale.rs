//! The agent's memory in the kernel, and that it does not grow: paths from very many prefixes, and
//! very many connections.

use crate::bed::{Bed, timed, until};
use crate::memory::{Memory, newest};
use crate::peers::Peers;
use libbpf_rs::{MapHandle, Object, ObjectBuilder, ProgramInput};
use nix::sys::signal::Signal;
use socket2::Domain;
use std::ffi::OsStr;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

static SCAN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scan.bpf.o"));
/// Prefixes that one call teaches of: it cannot be interrupted.
const AT_ONCE: u32 = 1_000_000;

/// The agent's own code, which teaches its memory what connections from very many prefixes would.
struct Scan(Object);

impl Scan {
    fn of(memory: &Memory) -> Self {
        let mut open = ObjectBuilder::default().open_memory(SCAN).unwrap();
        let mut paths = open.maps_mut().find(|map| map.name() == "paths").unwrap();
        paths.reuse_fd(memory.map().as_fd()).unwrap();
        Self(open.load().unwrap())
    }

    /// Teaches `prefixes` /24 of IPv4, one after the other from the lowest on.
    fn teach(&mut self, prefixes: u32) {
        let mut programs = self.0.progs_mut();
        let scan = programs.find(|program| program.name() == OsStr::new("scan")).unwrap();
        for first in (0..prefixes).step_by(AT_ONCE as usize) {
            let asked = [first, AT_ONCE.min(prefixes - first), 1];
            let mut asked: Vec<u8> = asked.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let input = ProgramInput { context_in: Some(&mut asked), ..Default::default() };
            assert_eq!(scan.test_run(input).unwrap().return_value, 0);
        }
    }
}

/// Figures of docs/agent/measurements.md are in millions of bytes; within a fifth is the same.
const MB: f64 = 1e6;

/// Asserts that a measured value is the documented one; `what` is printed.
fn assert_documented(what: &str, measured: f64, documented: f64) {
    eprintln!("{what}: {measured:.2}, documented {documented}");
    let least = documented / 1.2;
    assert!((least..=documented * 1.2).contains(&measured), "{what}: {measured}, not {documented}");
}

/// Bytes of the kernel's that a map takes, by its own count.
fn bytes_of(map: &MapHandle) -> u64 {
    let map = map.as_fd().as_raw_fd();
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{map}")).unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix("memlock:")).unwrap();
    line.trim().parse().unwrap()
}

/// Maps whose memory is set aside as the agent starts, and how much it is.
const SET_ASIDE: [(&str, f64); 6] = [
    ("paths", 10.5),
    ("sessions", 16.3),
    ("accounts", 0.92),
    ("summaries", 1.1),
    ("decisions", 0.08),
    ("vacant", 0.26),
];
/// A million paths: of the kernel, of the agent once it has listed them, on disk.
const MILLION_OF_KERNEL: f64 = 160.8;
const MILLION_OF_AGENT: f64 = 46.0;
const MILLION_ON_DISK: f64 = 269.5;
/// Bytes for each open connection, with an agent and without.
const EXCESS_BYTES_PER_CONNECTION: f64 = 460.0;
const CONNECTION: f64 = 2867.0;
/// Limit of the agent's growth by reports from very many prefixes, kB: their keys, as many as the
/// maximum of paths.
const MAX_GROWTH_KB: u64 = 10_000;

#[test]
fn what_is_set_aside_for_maps_is_what_the_documents_say() {
    let Some(bed) = Bed::new() else { return };
    let _agent = bed.agent(&[]);
    for (name, documented) in SET_ASIDE {
        assert_documented(name, bytes_of(&newest(name)) as f64 / MB, documented);
    }
}

/// Ten million are all of the 16 million /24 that there are, but for a few.
#[test]
fn a_scan_from_ten_million_prefixes_keeps_memory_flat() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let memory = Memory::new();
        let (before, resident) = (memory.bytes(), agent.resident());
        let mut scan = Scan::of(&memory);
        scan.teach(10_000_000);
        assert_eq!(memory.bytes(), before);
        let count = memory.count();
        eprintln!("{count} paths in {before} bytes");
        let most = agent.status().max_paths as usize;
        // Each processor keeps some entries free.
        assert!((most * 9 / 10..=most).contains(&count), "{count} of {most}");
        // The agent has read all of them for `status`.
        let now = agent.resident();
        assert!(now < resident + MAX_GROWTH_KB, "{now} kB, {resident} before");

        // Paths that are learnt after that are remembered all the same.
        let server = bed.serve(Domain::IPV4, None);
        for closed in 1..=2 {
            bed.visit(&server, 30_000);
            agent.wait_for_closed(closed);
        }
        assert_eq!(agent.status().connections.warm.closed, 1);
    });
}

#[test]
#[ignore = "half a minute: make test-agent-long"]
fn a_million_paths_take_what_the_documents_say() {
    let Some(bed) = Bed::new() else { return };
    let state = std::env::temp_dir().join("headstart-agent-million.redb");
    let mut agent = bed.agent(&["--max-paths", "1000000", "--state", state.to_str().unwrap()]);
    let memory = Memory::new();
    let before = agent.resident();
    Scan::of(&memory).teach(1_000_000);
    let (asking, status) = timed(|| agent.status());
    eprintln!("{} paths, status after {asking:?}", status.paths);
    assert_documented("of the kernel", memory.bytes() as f64 / MB, MILLION_OF_KERNEL);
    let (asking, paths) = timed(|| agent.paths().len());
    eprintln!("{paths} listed after {asking:?}; the agent had {before} kB");
    // Each processor keeps some entries free.
    assert!((990_000..=1_000_000).contains(&paths), "{paths}");
    assert_documented("of the agent", agent.resident() as f64 * 1024.0 / MB, MILLION_OF_AGENT);
    let (saving, ()) = timed(|| {
        agent.signal(Signal::SIGTERM);
        agent.wait();
    });
    drop(agent);
    let bytes = fs::metadata(&state).unwrap().len();
    assert_documented("on disk", bytes as f64 / MB, MILLION_ON_DISK);
    let (restoring, agent) =
        timed(|| bed.agent(&["--max-paths", "1000000", "--state", state.to_str().unwrap()]));
    let again = agent.status().paths;
    eprintln!("saved in {saving:?}; begun anew in {restoring:?}, {} kB", agent.resident());
    assert!((paths * 99 / 100..=paths).contains(&again), "{again} of {paths}");
    fs::remove_file(state).unwrap();
}

const CONNECTIONS: u32 = 100_000;

/// Bytes of the kernel's that cannot be taken back, for each of very many open connections, each
/// from a /24 of its own. They are not accepted, so that no process needs as many descriptors.
fn held(bed: &Bed) -> f64 {
    let listener = bed.listen(2 * CONNECTIONS.cast_signed());
    let peers = Peers::of(bed, listener.local_addr().unwrap());
    let address = |n: u32| SocketAddr::from((Ipv4Addr::from_bits(0x0a00_0000 + (n << 8)), 40_000));
    let from: Vec<_> = (0..CONNECTIONS).map(address).collect();
    let before = unreclaimable();
    peers.open_many(&from);
    thread::sleep(Duration::from_secs(1));
    (unreclaimable() - before) as f64 / f64::from(CONNECTIONS)
}

fn unreclaimable() -> i64 {
    let all = fs::read_to_string("/proc/meminfo").unwrap();
    let line = all.lines().find_map(|line| line.strip_prefix("SUnreclaim:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<i64>().unwrap() * 1024
}

#[test]
#[ignore = "half a minute: make test-agent-long"]
fn a_hundred_thousand_connections_take_what_the_documents_say() {
    let Some(bed) = Bed::new() else { return };
    let without = held(&bed);
    let state = std::env::temp_dir().join("headstart-agent-hundred-thousand.redb");
    // The file is not written before all are reported.
    let agent = bed.agent(&["--state", state.to_str().unwrap(), "--save-every", "3600"]);
    let before = agent.resident();
    let with = held(&bed);
    until("all are heard of", || {
        let status = agent.status();
        status.connections.closed() + status.summaries_lost >= CONNECTIONS.into()
    });
    assert_documented("bytes for each connection without the agent", without, CONNECTION);
    assert_documented("and beyond that with it", with - without, EXCESS_BYTES_PER_CONNECTION);
    let now = agent.resident();
    eprintln!("the agent: {before} kB before, {now} kB after");
    assert!(now < before + MAX_GROWTH_KB, "{now} kB, {before} before");
    drop(agent);
    fs::remove_file(state).unwrap();
}
