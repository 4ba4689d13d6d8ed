//! Outdated memory: learnt on a path, used on one that is four times slower and has a quarter of
//! the queue. Its cost for the transfer itself, and for a flow beside it.
//!
//! Learnt at 20 Mbit/s and 80 ms: 138 packets. Used at 5 Mbit/s with a queue of 25: 33 packets in a
//! round trip, 58 with the queue.

use crate::bed::{Agent, Bed, Server, median};
use crate::memory::Memory;
use agent::contract::{LearntPath, PrefixKey};
use agent::os::clock::monotonic_ns;
use link::{Discipline, LinkConfig, QueueLimit};
use socket2::Domain;
use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;
use units::Rate;

const BYTES: u64 = 200_000;
/// Head start of the flow beside the transfer: it is out of slow start.
const HEAD_START: Duration = Duration::from_secs(5);
/// Its bytes count for so long from the transfer's start on.
const MEASURED_TIME: Duration = Duration::from_secs(10);
/// More than it gets in that time at 5 Mbit/s.
const COMPETING_BYTES: u64 = 20_000_000;

/// Kind of the transfer's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Starts as the kernel's CUBIC.
    Cold,
    /// Starts with the remembered window.
    Warm,
    /// Starts warm, marked for the queue to drop first.
    Marked,
}

const STARTS: [Start; 3] = [Start::Cold, Start::Warm, Start::Marked];

/// Segments, as learnt while it was fast: `warm` has visits that learn so much.
const LEARNT: u32 = 138;

/// A path that has become slow, with its key in the memory.
struct Stale {
    bed: Bed,
    key: PrefixKey,
}

/// Time of one transfer, and bytes of the flow beside it.
#[derive(Debug)]
struct Turn {
    time: Duration,
    beside: u64,
}

impl Stale {
    fn new() -> Option<Self> {
        let delay = units::Duration::from_millis(40);
        let link = LinkConfig::new(Rate::from_mbps(5), delay, QueueLimit::Packets(25)).unwrap();
        let bed = Bed::over(link.with_discipline(Discipline::PriorityDrop).unwrap())?;
        bed.widen_receive_window();
        let agent = bed.agent(&[]);
        bed.visit(&bed.serve(Domain::IPV4, None), 1000);
        agent.wait_for_closed(1);
        let path = &agent.paths()[0];
        let key = PrefixKey { prefix: path.prefix, namespace: path.namespace };
        drop(agent);
        Some(Self { bed, key })
    }

    /// One transfer; with a flow beside it, or alone.
    fn turn(&self, start: Start, is_alone: bool) -> Turn {
        let stock = Some("cubic");
        let mark: &[&str] = if start == Start::Marked { &["--mark"] } else { &[] };
        let agent = (start != Start::Cold).then(|| self.bed.agent(mark));
        let server = self.bed.serve(Domain::IPV4, stock.filter(|_| start == Start::Cold));
        let own = self.bed.serve(Domain::IPV4, stock);
        let beside = (!is_alone).then(|| Beside::begin(&self.bed, &own));
        if agent.is_some() {
            self.remember();
        }
        let before = beside.as_ref().map_or(0, Beside::bytes);
        let time = self.bed.visit(&server, BYTES);
        let beside = beside.map_or(0, |beside| {
            thread::sleep(MEASURED_TIME.saturating_sub(time));
            beside.bytes() - before
        });
        if let Some(agent) = agent {
            assert_began_with_it(&agent);
        }
        self.bed.settled();
        Turn { time, beside }
    }

    /// The path as it was a moment ago.
    fn remember(&self) {
        let path = LearntPath {
            learnt_ns: monotonic_ns(),
            window: LEARNT,
            // 1448 of 1500 bytes at 20 Mbit/s.
            rate: 2_413_333,
            srtt_us: 85_000,
            min_rtt_us: 81_000,
            // No connection has closed.
            ..LearntPath::from_bytes(&[0; LearntPath::SIZE]).unwrap()
        };
        Memory::new().put(self.key, &path);
    }

    /// The middle of some turns of each start, one after the other in turn.
    fn medians(&self, rounds: usize, is_alone: bool) -> [Turn; 3] {
        let rounds: Vec<_> =
            (0..rounds).map(|_| STARTS.map(|start| self.turn(start, is_alone))).collect();
        let middle = |n: usize| {
            eprintln!(
                "{:?}: {:?}",
                STARTS[n],
                rounds.iter().map(|round| &round[n]).collect::<Vec<_>>()
            );
            Turn {
                time: median(rounds.iter().map(|round| round[n].time)),
                beside: median(rounds.iter().map(|round| round[n].beside)),
            }
        };
        [middle(0), middle(1), middle(2)]
    }
}

/// Asserts that the only connection started with the remembered window, and lost a segment of it.
fn assert_began_with_it(agent: &Agent) {
    agent.wait_for_closed(1);
    let warm = agent.status().connections.warm;
    assert_eq!((warm.closed, warm.fallbacks), (1, 1), "{warm:?}");
    // By the time it is read it has aged a little.
    assert!((LEARNT - 1..=LEARNT).contains(&(warm.first_windows as u32)), "{warm:?}");
}

/// A CUBIC that sends as much as it can; ends when this goes.
struct Beside {
    stream: TcpStream,
    bytes: Arc<AtomicU64>,
}

impl Beside {
    fn begin(bed: &Bed, server: &Server) -> Self {
        let stream = bed.open(server, COMPETING_BYTES);
        let bytes = Arc::new(AtomicU64::new(0));
        let (mut from, count) = (stream.try_clone().unwrap(), Arc::clone(&bytes));
        thread::spawn(move || {
            let mut block = vec![0; 1 << 16];
            while let Ok(some @ 1..) = from.read(&mut block) {
                count.fetch_add(some as u64, Ordering::Relaxed);
            }
        });
        thread::sleep(HEAD_START);
        Self { stream, bytes }
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Times of warm and marked starts, relative to a cold start's.
fn times([cold, warm, marked]: &[Turn; 3]) -> [f64; 2] {
    [warm, marked].map(|turn| turn.time.as_secs_f64() / cold.time.as_secs_f64())
}

/// Bytes of the flow beside warm and marked starts, relative to those beside a cold start.
fn kept([cold, warm, marked]: &[Turn; 3]) -> [f64; 2] {
    [warm, marked].map(|turn| turn.beside as f64 / cold.beside as f64)
}

#[test]
fn a_transfer_is_not_slower_for_a_memory_that_is_out_of_date() {
    retry_on_stall(|| {
        let Some(stale) = Stale::new() else { return };
        let times = times(&stale.medians(1, true));
        eprintln!("of cold: {times:?}");
        assert!(times.iter().all(|part| *part <= 1.03), "{times:?}");
    });
}

#[test]
#[ignore = "six minutes: make test-agent-long"]
fn a_flow_beside_keeps_what_it_has_beside_a_cold_start() {
    let Some(stale) = Stale::new() else { return };
    let alone = times(&stale.medians(7, true));
    let turns = stale.medians(7, false);
    let (beside, kept) = (times(&turns), kept(&turns));
    eprintln!("time alone {alone:?}, with a flow beside {beside:?}; it keeps {kept:?}");
    assert!(alone.iter().all(|part| *part <= 1.03), "{alone:?}");
    let [_, marked] = kept;
    assert!(marked >= 0.95, "{kept:?}");
}
