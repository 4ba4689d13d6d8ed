//! What connections under way cost, by counting what is allocated: how much one, and how much at most.

mod common;

use capture::{CaptureFiles, Observed, SegmentSource, TcpEnd};
use peak_alloc::PeakAlloc;
use segment::{Flags, TcpOptions};
use std::io::Read;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use trace::testing::BusyServer;
use trace::testing::wire::{CapturedWire, at};
use trace::{ConnectionTrace, EngineConfig, TraceEngine, TraceSink};
use units::{Duration, Instant, SeqNum};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Tests take turns: all that the process allocates is counted.
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
const CONNECTIONS: u16 = 50_000;

/// Bytes per connection after each has answered a request with five segments, of which `acked` are
/// acknowledged, and `idle` seconds have passed.
fn bytes_per_connection(acked: u32, idle: u64) -> usize {
    let mut engine = engine();
    let mut wires = Vec::new();
    for n in 0..CONNECTIONS {
        let mut wire = CapturedWire { port: 1_000 + n, ..CapturedWire::new() };
        // One begins every ten milliseconds: most of those before are idle already.
        let begin = if idle > 0 { 10 * u64::from(n) } else { 0 };
        wire.open(begin, true);
        wire.ask(begin + 110, 0, 300, 0);
        wire.send(begin + 110, 0..5);
        wire.ack(begin + 210, acked);
        wires.extend(wire.segments);
    }
    wires.sort_by_key(|segment| segment.at);
    let mut other = CapturedWire { port: 60_000, ..CapturedWire::new() };
    let begun = if idle > 0 { 10 * u64::from(CONNECTIONS) } else { 0 };
    let end = begun + 210 + idle * 1_000;
    for n in 0..512 {
        other.ack(end + n / 64, 0);
    }
    let before = ALLOCATED.current_usage();
    wires.iter().chain(&other.segments).for_each(|segment| engine.on_segment(segment));
    let held = ALLOCATED.current_usage() - before;
    assert_eq!(engine.tally().connections, u64::from(CONNECTIONS) + 1);
    held / usize::from(CONNECTIONS)
}

#[test]
fn an_open_connection_costs_a_kilobyte() {
    let _turn = turn();
    let (idle, busy) = (bytes_per_connection(5, 10), bytes_per_connection(1, 0));
    let waiting = bytes_per_connection(1, 10);
    println!("idle {idle} bytes, waiting for ACKs {busy}, for more than two seconds {waiting}");
    assert!(idle <= KILOBYTE, "{idle}");
    assert!(busy <= 4 * KILOBYTE, "{busy}");
}

/// SYNs that nobody answers.
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
    assert_eq!((engine.tally().connections, engine.tally().evicted), (1_000_000, 0));
    assert!(held <= KILOBYTE, "{held}");
}

/// Payload of a segment here: the longest that an IPv4 packet has.
const LONG: u32 = 65_000;
/// 100 GB.
const BYTES: u64 = 100_000_000_000;

/// 100 GB of one connection, sixteen segments a millisecond, each acknowledged two milliseconds later, or none. Answers what
/// was allocated at most meanwhile, and how many bytes the engine counted.
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
    let (bytes, tally) = engine.finish_all();
    assert_eq!((tally.connections, bytes.0), (1, sent));
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

/// A number far ahead, which captures of one direction, or with gaps, have: nothing is booked for what lies between.
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

/// What is allocated at most while so many bytes of a busy server are read and followed, 500 connections at a time, and
/// how many connections they are.
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
    let (_, tally) = engine.finish_all();
    assert_eq!((tally.evicted, tally.backwards), (0, 0));
    (peak, tally.connections)
}

/// A connection has 33 packets of 82 bytes on average. Of 200 MB that makes 74,000. 500 of them are open at a time, and
/// 3,000 are over for less than two seconds and may still send again. That is so in the first 40 MB as well.
#[test]
fn two_hundred_megabytes_of_short_connections_cost_what_is_open() {
    let _turn = turn();
    let [(part, _), (whole, connections)] = [40_000_000, 200_000_000].map(of_busy_server);
    println!("{connections} connections, at most {part} bytes after 40 MB, {whole} after 200 MB");
    assert!(connections > 70_000, "{connections}");
    assert!(whole < 32 * MEGABYTE && whole < part + part / 10, "{part}, {whole}");
}
