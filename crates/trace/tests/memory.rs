//! The memory of open connections, measured by counting allocations: average for one, and the peak.
//! This is a program of its own, since its allocator counts for the whole process.

#[path = "trace/common/mod.rs"]
mod common;

use capture::{CaptureFiles, Observed, SegmentSource, TcpEnd};
use peak_alloc::PeakAlloc;
use segment::{Flags, TcpOptions};
use std::io::Read;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use trace::testing::BusyServer;
use trace::testing::wire::{CapturedWire, at};
use trace::{
    ConnectionTrace, EngineConfig, SenderModel, SenderModels, SenderProfile, TraceEngine, TraceSink,
};
use units::{Duration, Instant, SeqNum};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Lets tests take turns, because the allocator counts for the whole process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Nobody;

impl TraceSink for Nobody {
    fn on_connection(&mut self, _: &ConnectionTrace) {}
}

fn engine() -> TraceEngine<Nobody> {
    let idle_timeout = Duration::from_secs(3600);
    TraceEngine::new(EngineConfig { idle_timeout, ..EngineConfig::default() }, Nobody)
}

const KILOBYTE: usize = 1024;
const MEGABYTE: usize = 1024 * KILOBYTE;
/// Just above a size at which tables double.
const FEWER_CONNECTIONS: u16 = 520;
const MORE_CONNECTIONS: u16 = 8_300;

/// Many connections in one state.
#[derive(Clone)]
struct Crowd {
    config: EngineConfig,
    /// The packets of each connection, from its handshake on.
    scene: fn(&mut CapturedWire),
    /// Milliseconds between the starts of two connections. It decides whether the first ones have
    /// been idle for long at the end.
    apart: u64,
}

impl Crowd {
    /// Creates senders of a profile that all wait at the same time.
    fn of(profile: SenderProfile, scene: fn(&mut CapturedWire)) -> Self {
        let models = SenderModels::all(SenderModel::of(profile));
        let idle_timeout = Duration::from_secs(3600);
        let config = EngineConfig { models, idle_timeout, ..EngineConfig::default() };
        Self { config, scene, apart: 0 }
    }

    /// Returns the bytes that an engine holds with this many connections.
    fn held(&self, connections: u16) -> usize {
        let mut engine = TraceEngine::new(self.config.clone(), Nobody);
        let mut wires = Vec::new();
        for n in 0..connections {
            let mut wire = CapturedWire { port: 1_000 + n, ..CapturedWire::new() };
            (self.scene)(&mut wire);
            let later = Duration::from_millis(self.apart * u64::from(n));
            wire.segments.iter_mut().for_each(|segment| segment.at += later);
            wires.extend(wire.segments);
        }
        wires.sort_by_key(|segment| segment.at);
        let end = wires.last().map_or(at(0), |segment| segment.at);
        let before = ALLOCATED.current_usage();
        wires.iter().for_each(|segment| engine.on_segment(segment));
        if self.apart > 0 {
            // Ten seconds later the engine has searched for idle connections.
            let mut other = CapturedWire { port: 60_000, ..CapturedWire::new() };
            for n in 0..512 {
                other.ack(n / 64, 0).at = end + Duration::from_secs(10);
            }
            other.segments.iter().for_each(|segment| engine.on_segment(segment));
        }
        let held = ALLOCATED.current_usage() - before;
        let counters = engine.counters();
        assert_eq!(counters.connections, u64::from(connections) + u64::from(self.apart > 0));
        assert_eq!(counters.evicted, 0);
        held
    }
}

/// A request, and a response of five segments, of which one is acknowledged.
fn waits(wire: &mut CapturedWire) {
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..5);
    wire.ack(210, 1);
}

/// All five are acknowledged.
fn idles(wire: &mut CapturedWire) {
    waits(wire);
    wire.ack(211, 5);
}

/// Every second one of ten segments is lost, and the first two lost ones were retransmitted.
fn repairs(wire: &mut CapturedWire) {
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..10);
    wire.sack(210, 0, &[(1, 2)]);
    wire.sack(210, 0, &[(3, 4), (1, 2)]);
    wire.sack(210, 0, &[(5, 6), (3, 4), (1, 2)]);
    wire.send(210, [0]);
    wire.sack(211, 0, &[(7, 8), (5, 6), (3, 4)]);
    wire.send(211, [2]);
}

/// Three requests, each answered at once; four segments of the last response are in the network.
fn goes_on(wire: &mut CapturedWire) {
    wire.open(0, true);
    for n in 0..3 {
        let ms = 110 + u64::from(n) * 110;
        wire.ask(ms, 300 * n, 300, 20 * n);
        wire.send(ms, 20 * n..20 * n + 10);
        for m in 1..=5 {
            wire.ack(ms + 100 + u64::from(m), 20 * n + 2 * m);
            wire.send(ms + 100 + u64::from(m), 20 * n + 8 + 2 * m..20 * n + 10 + 2 * m);
        }
        if n < 2 {
            wire.ack(ms + 109, 20 * n + 20);
        }
    }
}

/// A connection costs at most 8 KB, whatever its sender does.
#[test]
fn an_open_connection_costs_a_few_kilobytes() {
    let _turn = turn();
    use SenderProfile::{Bbr, Linux, NewReno};
    let waiting = |profile| Crowd::of(profile, waits);
    let acks_only =
        |crowd: Crowd| Crowd { config: EngineConfig { acks_only: true, ..crowd.config }, ..crowd };
    let crowds = [
        ("idle for ten seconds", Crowd { apart: 10, ..Crowd::of(Linux, idles) }),
        ("four segments under way", waiting(Linux)),
        ("four segments under way for ten seconds", Crowd { apart: 10, ..waiting(Linux) }),
        ("four segments under way, NewReno", waiting(NewReno)),
        ("four segments under way, BBR", waiting(Bbr)),
        ("four segments under way, by ACKs alone", acks_only(waiting(Linux))),
        ("third response", Crowd::of(Linux, goes_on)),
        ("third response, BBR", Crowd::of(Bbr, goes_on)),
        ("in recovery", Crowd::of(Linux, repairs)),
        ("in recovery, NewReno", Crowd::of(NewReno, repairs)),
        ("in recovery, BBR", Crowd::of(Bbr, repairs)),
    ];
    for (state, crowd) in crowds {
        let each = (crowd.held(MORE_CONNECTIONS) - crowd.held(FEWER_CONNECTIONS))
            / usize::from(MORE_CONNECTIONS - FEWER_CONNECTIONS);
        println!("{state}: {each} bytes");
        assert!(each <= 8 * KILOBYTE, "{state}: {each}");
    }
}

/// The capture has SYNs without an answer.
#[test]
fn a_million_half_open_connections_cost_less_than_a_kilobyte_each() {
    let _turn = turn();
    let mut engine = engine();
    let before = ALLOCATED.current_usage();
    let options = TcpOptions { mss: Some(1460), sack_permitted: true, ..TcpOptions::default() };
    for n in 0..1_000_000_u32 {
        let [_, a, b, c] = n.to_be_bytes();
        let client = TcpEnd { ip: IpAddr::from([10, a, b, c]), port: 40_000 };
        engine.on_segment(&Observed {
            at: at(u64::from(n) / 10),
            source: client,
            destination: TcpEnd { ip: IpAddr::from([192, 0, 2, 1]), port: 80 },
            seq: SeqNum(n),
            flags: Flags::SYN,
            options: (&options).into(),
            ..Observed::default()
        });
    }
    let held = (ALLOCATED.current_usage() - before) / 1_000_000;
    println!("half open {held} bytes");
    assert_eq!((engine.counters().connections, engine.counters().evicted), (1_000_000, 0));
    assert!(held <= KILOBYTE, "{held}");
}

/// Payload of a segment in this test: the longest that an IPv4 packet has.
const LONG: u32 = 65_000;
/// 100 GB.
const BYTES: u64 = 100_000_000_000;

/// Plays 100 GB of one connection, sixteen segments a millisecond. Each is acknowledged two
/// milliseconds later, or none is. Returns the peak of allocated bytes, and the bytes that the
/// engine found.
fn of_one_connection(is_acknowledged: bool) -> (usize, u64) {
    struct Bytes(u64);
    impl TraceSink for Bytes {
        fn on_connection(&mut self, summary: &ConnectionTrace) {
            self.0 += summary.server_sent.bytes;
        }
    }
    let mut engine = TraceEngine::new(EngineConfig::default(), Bytes(0));
    let [client, server] = [(9, 40_000), (1, 80)]
        .map(|(host, port)| TcpEnd { ip: IpAddr::from([192, 0, 2, host]), port });
    let options = TcpOptions {
        mss: Some(LONG as u16),
        window_scale: Some(14),
        sack_permitted: true,
        ..TcpOptions::default()
    };
    let syn = Observed {
        at: at(0),
        source: client,
        destination: server,
        flags: Flags::SYN,
        options: (&options).into(),
        window: 60_000,
        ..Observed::default()
    };
    let answer = Observed {
        source: server,
        destination: client,
        flags: Flags::SYN.with(Flags::ACK),
        ack: SeqNum(1),
        ..syn
    };
    let ack = |at: Instant, bytes: u64| Observed {
        at,
        source: client,
        destination: server,
        seq: SeqNum(1),
        ack: SeqNum(1) + bytes as u32,
        flags: Flags::ACK,
        window: 60_000,
        ..Observed::default()
    };
    [syn, answer, ack(at(1), 0)].iter().for_each(|segment| engine.on_segment(segment));
    ALLOCATED.reset_peak_usage();
    let before = ALLOCATED.current_usage();
    let (mut sent, mut ms) = (0_u64, 2);
    while sent < BYTES {
        if is_acknowledged && sent > 0 {
            engine.on_segment(&ack(at(ms), sent.saturating_sub(16 * u64::from(LONG))));
        }
        for _ in 0..16 {
            engine.on_segment(&Observed {
                at: at(ms),
                source: server,
                destination: client,
                seq: SeqNum(1) + sent as u32,
                ack: SeqNum(1),
                payload: LONG,
                flags: Flags::ACK,
                window: 60_000,
                ..Observed::default()
            });
            sent += u64::from(LONG);
        }
        ms += 1;
    }
    let peak = ALLOCATED.peak_usage() - before;
    let (bytes, counters) = engine.finish_all();
    assert_eq!((counters.connections, bytes.0), (1, sent));
    (peak, bytes.0)
}

#[test]
fn a_hundred_gigabytes_of_one_connection_cost_a_megabyte() {
    let _turn = turn();
    for is_acknowledged in [true, false] {
        let (peak, bytes) = of_one_connection(is_acknowledged);
        println!("{bytes} bytes, acknowledged: {is_acknowledged}; at most {peak} bytes allocated");
        assert!(bytes >= BYTES && peak < MEGABYTE, "{peak}");
    }
}

/// A number far ahead occurs in captures of one direction, or with gaps. The engine books nothing
/// for the data between.
#[test]
fn a_gigabyte_that_was_not_captured_costs_nothing() {
    let _turn = turn();
    let mut wire = CapturedWire::new();
    wire.open(0, true);
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..2);
    wire.ack(210, 1_000_000);
    wire.send(211, 1_000_000..1_000_002);
    let mut engine = engine();
    ALLOCATED.reset_peak_usage();
    let before = ALLOCATED.current_usage();
    wire.segments.iter().for_each(|segment| engine.on_segment(segment));
    let peak = ALLOCATED.peak_usage() - before;
    assert!(peak < 64 * KILOBYTE, "{peak}");
}

/// Reads and follows `bytes` of a busy server, with 500 connections at a time. Returns the peak of
/// allocated memory, and the number of connections.
fn of_busy_server(bytes: u64) -> (usize, u64) {
    ALLOCATED.reset_peak_usage();
    let before = ALLOCATED.current_usage();
    let reader = Box::new(BusyServer::new(500, 4096).take(bytes));
    let mut source =
        CaptureFiles::from_reader("busy", reader).expect("it begins as a capture does");
    let (mut engine, mut batch) = (engine(), Vec::new());
    // The last packet is cut.
    while source.next_batch(&mut batch).unwrap_or(false) {
        batch.iter().for_each(|segment| engine.on_segment(segment));
    }
    let peak = ALLOCATED.peak_usage() - before;
    let (_, counters) = engine.finish_all();
    assert_eq!((counters.evicted, counters.backwards), (0, 0));
    (peak, counters.connections)
}

/// A connection has 33 packets of 82 bytes on average, so 200 MB hold 74,000 connections. 500
/// connections are open at a time. Another 3,000 are over for less than two seconds and may still
/// retransmit. The same holds in the first 40 MB.
#[test]
fn two_hundred_megabytes_of_short_connections_cost_what_is_open() {
    let _turn = turn();
    let [(part, _), (whole, connections)] = [40_000_000, 200_000_000].map(of_busy_server);
    println!("{connections} connections, at most {part} bytes after 40 MB, {whole} after 200 MB");
    assert!(connections > 70_000, "{connections}");
    assert!(whole < 32 * MEGABYTE && whole < part + part / 10, "{part}, {whole}");
}
