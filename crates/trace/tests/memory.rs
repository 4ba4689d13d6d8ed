//! What connections under way cost: memory of this process while an engine follows many.

mod common;

use common::wire::Wire;
use trace::{ConnectionTrace, EngineConfig, TraceEngine, TraceSink};
use units::Duration;

/// Bytes of this process that are in memory (`proc(5)`, `statm`), or `None` where nothing says so.
fn resident() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

struct Nobody;

impl TraceSink for Nobody {
    fn on_connection(&mut self, _: &ConnectionTrace) {}
}

const CONNECTIONS: u16 = 50_000;

/// Bytes per connection after each has answered a request with five segments, of which `acked` are
/// acknowledged, and `idle` seconds have passed.
fn bytes_per_connection(acked: u32, idle: u64) -> Option<usize> {
    let idle_timeout = Duration::from_secs(3600);
    let config = EngineConfig { idle_timeout, ..EngineConfig::default() };
    let mut engine = TraceEngine::new(config, Nobody);
    let mut wires = Vec::new();
    for n in 0..CONNECTIONS {
        let mut wire = Wire { port: 1_000 + n, ..Wire::new() };
        // One begins every ten milliseconds: most of those before are idle already.
        let begin = if idle > 0 { 10 * u64::from(n) } else { 0 };
        wire.open(begin, true);
        wire.ask(begin + 110, 0, 300, 0);
        wire.send(begin + 110, 0..5);
        wire.ack(begin + 210, acked);
        wires.extend(wire.segments);
    }
    wires.sort_by_key(|segment| segment.at);
    let before = resident()?;
    wires.iter().for_each(|segment| engine.on_segment(segment));
    let mut other = Wire { port: 60_000, ..Wire::new() };
    let begun = if idle > 0 { 10 * u64::from(CONNECTIONS) } else { 0 };
    let end = begun + 210 + idle * 1_000;
    for n in 0..512 {
        other.ack(end + n / 64, 0);
    }
    other.segments.iter().for_each(|segment| engine.on_segment(segment));
    let held = resident()?.saturating_sub(before);
    assert_eq!(engine.tally().connections, u64::from(CONNECTIONS) + 1);
    Some(held / usize::from(CONNECTIONS))
}

/// A million open connections of which most are idle fit into a gigabyte. One that waits for ACKs costs its
/// path, its recovery and its segments until then.
#[test]
fn idle_connections_cost_less_than_a_kilobyte() {
    // What was freed is used again, so the smaller one comes first: it is measured from nothing.
    let (Some(idle), Some(busy)) = (bytes_per_connection(5, 10), bytes_per_connection(1, 0)) else {
        return calm::skipped("no /proc/self/statm");
    };
    println!("idle {idle} bytes, waiting for ACKs at most {busy} bytes more than is free");
    assert!(idle <= 1024, "{idle}");
    assert!(busy <= 4 * 1024, "{busy}");
}
