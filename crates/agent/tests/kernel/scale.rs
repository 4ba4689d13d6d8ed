//! How much memory the agent takes of the kernel, and that it does not grow: paths from very many prefixes, and very
//! many connections.

use crate::bed::{Bed, timed, until};
use crate::memory::Memory;
use crate::peers::Peers;
use calm::calmly;
use libbpf_rs::{Object, ObjectBuilder, ProgramInput};
use nix::sys::signal::Signal;
use socket2::Domain;
use std::ffi::OsStr;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

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

    /// So many /24 of IPv4, one after the other from the lowest on.
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

/// Ten million are all of the 16 million /24 that there are, but for a few.
#[test]
fn a_scan_from_ten_million_prefixes_keeps_memory_flat() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let memory = Memory::new();
        let before = memory.bytes();
        let mut scan = Scan::of(&memory);
        scan.teach(10_000_000);
        assert_eq!(memory.bytes(), before);
        let count = memory.count();
        eprintln!("{count} paths in {before} bytes");
        let most = agent.status().max_paths as usize;
        // Each processor keeps some places free.
        assert!((most * 9 / 10..=most).contains(&count), "{count} of {most}");

        // What is learnt after that is remembered all the same.
        let server = bed.serve(Domain::IPV4, None);
        for closed in 1..=2 {
            bed.visit(&server, 30_000);
            agent.wait_for_closed(closed);
        }
        assert_eq!(agent.status().connections.warm.closed, 1);
    });
}

#[test]
#[ignore = "a measurement: docs/agent.md has what it prints"]
fn a_million_paths_take_what_the_documents_say() {
    let Some(bed) = Bed::new() else { return };
    let state = std::env::temp_dir().join("headstart-agent-million.redb");
    let mut agent = bed.agent(&["--max-paths", "1000000", "--state", state.to_str().unwrap()]);
    let memory = Memory::new();
    let before = agent.resident();
    Scan::of(&memory).teach(1_000_000);
    let (asking, status) = timed(|| agent.status());
    eprintln!(
        "{} paths in {} bytes of the kernel, status after {asking:?}",
        status.paths,
        memory.bytes()
    );
    let (asking, paths) = timed(|| agent.paths().len());
    eprintln!(
        "{paths} listed after {asking:?}; the agent had {before} kB and has {} kB",
        agent.resident()
    );
    let (saving, ()) = timed(|| {
        agent.signal(Signal::SIGTERM);
        agent.wait();
    });
    drop(agent);
    let bytes = fs::metadata(&state).unwrap().len();
    let (restoring, agent) =
        timed(|| bed.agent(&["--max-paths", "1000000", "--state", state.to_str().unwrap()]));
    eprintln!(
        "saved in {saving:?}, {bytes} bytes; begun anew in {restoring:?} with {} paths, {} kB",
        agent.status().paths,
        agent.resident()
    );
    fs::remove_file(state).unwrap();
}

const CONNECTIONS: u32 = 100_000;

/// Bytes of the kernel's that cannot be taken back, for each of very many open connections. Nobody accepts them, so that no
/// process needs as many descriptors.
fn held(bed: &Bed) -> f64 {
    let listener = bed.listen(2 * CONNECTIONS.cast_signed());
    let peers = Peers::of(bed, listener.local_addr().unwrap());
    let address = |n| SocketAddr::from((Ipv4Addr::from_bits(0x0a00_0000 + n), 40_000));
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
#[ignore = "a measurement: docs/agent.md has what it prints"]
fn a_hundred_thousand_connections_take_what_the_documents_say() {
    let Some(bed) = Bed::new() else { return };
    let without = held(&bed);
    let agent = bed.agent(&[]);
    let with = held(&bed);
    until("all are heard of", || {
        let status = agent.status();
        status.connections.closed() + status.summaries_lost >= CONNECTIONS.into()
    });
    eprintln!("bytes for each connection: {with} with the agent, {without} without");
}
