//! The thread that reads packets: it rebuilds senders, reads options, and sees visitors.

use super::idle::IdleConnections;
use super::packets::{PacketSource, SourceHealth};
use super::path_options::PathOptionReader;
use crate::clock::wall;
use crate::config::{CaptureConfig, CapturePlace};
use crate::log::{LogPriority, say};
use crate::passive::PassiveSink;
use crate::reporting::{Findings, Found};
use capture::Observed;
use segment::Flags;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::{EngineConfig, NamedServers, ServerPattern, TraceEngine, Vantage};
use units::{Duration, Instant};

/// Connections that are followed at once; the engine says what each takes.
const MOST_CONNECTIONS: usize = 1 << 18;
/// A connection without packets for so long is over.
const IDLE: Duration = Duration::from_secs(60);

/// A transfer of a sender that has been silent for so long is over.
const PARK_AFTER: Duration = Duration::from_secs(2);
/// Packets may be so much older than the clock when they are read.
const LATE: Duration = Duration::from_millis(500);
/// Reports of a file that are sent before the gateway has to acknowledge them.
const AT_ONCE: u64 = 4096;
/// It is looked so often whether something has ended.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Says, however a capture ends by itself, that nobody reads its packets any more.
struct EndWarning<'a> {
    place: &'a CapturePlace,
    /// True if the observer has ended the capture.
    stop: &'a AtomicBool,
}

impl Drop for EndWarning<'_> {
    fn drop(&mut self) {
        if !self.stop.load(Ordering::Relaxed) {
            say(LogPriority::Warning, &ending(self.place));
        }
    }
}

fn ending(place: &CapturePlace) -> String {
    format!(
        "capture: the capture of {place} has ended; start the observer again to read more from there"
    )
}

/// Reads until there are no more packets, or the capture is to end.
pub(super) fn read(
    mut source: PacketSource,
    config: &CaptureConfig,
    findings: &Findings,
    stop: &AtomicBool,
) {
    let _warning = EndWarning { place: &config.place, stop };
    let (counts, is_live) = (&findings.counts, config.place.is_live());
    let mut sent = 0_u64;
    let sink = PassiveSink::new(|report| {
        findings.send(Found::Report(report));
        sent += 1;
        // A file is read faster than a gateway takes reports; an interface waits for nobody.
        if !is_live && sent.is_multiple_of(AT_ONCE) {
            findings.flush();
        }
    });
    let mut engine = config.passive.then(|| TraceEngine::new(engine(config), sink));
    let (mut options, mut idle) = (PathOptionReader::new(config), IdleConnections::default());
    let mut health = SourceHealth::default();
    let (mut batch, mut lost, mut looked) = (Vec::new(), 0, Instant::ZERO);
    while !stop.load(Ordering::Relaxed) {
        match source.next_batch(&mut batch) {
            Ok(true) => health.note_success(),
            Ok(false) => break,
            // Others of its packets can be read still.
            Err(why) => rest(health.note_failure(&why, &config.place), stop),
        }
        let gone = i64::try_from(health.look(&mut source)).unwrap_or(i64::MAX);
        counts.missing_interfaces.set(gone);
        for segment in &batch {
            if config.push && wants_a_start(segment, &config.ports, &mut idle) {
                let (server, visitor) = (segment.destination.ip, segment.source.ip);
                findings.send(Found::Arrival { server, visitor });
            }
            if let Some(found) = options.read(segment, counts) {
                findings.send(found);
            }
            if let Some(engine) = &mut engine {
                engine.on_segment(segment);
            }
        }
        let now = wall();
        if let Some(engine) =
            engine.as_mut().filter(|_| is_live && now.saturating_since(looked) > LOOK_EVERY)
        {
            looked = now;
            engine.pass_time(Instant::from_nanos(now.as_nanos().saturating_sub(LATE.as_nanos())));
        }
        counts.segments.inc_by(batch.len() as u64);
        let now_lost = source.lost();
        counts.lost.inc_by(now_lost - std::mem::replace(&mut lost, now_lost));
    }
    // The transfers under way are reported.
    drop(engine.map(TraceEngine::finish_all));
}

fn engine(config: &CaptureConfig) -> EngineConfig {
    let port = |port: &u16| port.to_string().parse::<ServerPattern>().ok();
    EngineConfig {
        vantage: Some(Vantage::Server),
        servers: config.ports.iter().filter_map(port).collect::<NamedServers>(),
        max_connections: MOST_CONNECTIONS,
        idle_timeout: IDLE,
        park_after: PARK_AFTER,
        ..EngineConfig::default()
    }
}

/// Its server is about to start: at the first SYN of a connection, or the same once more, and where a client asks after a silence.
fn wants_a_start(segment: &Observed, ports: &[u16], idle: &mut IdleConnections) -> bool {
    if !ports.contains(&segment.destination.port) {
        return false;
    }
    // Also of a SYN it has to hear.
    let asks = idle.asks_again(segment);
    asks || segment.has(Flags::SYN) && !segment.has(Flags::ACK)
}

/// Waits, unless the capture is to end.
fn rest(wait: std::time::Duration, stop: &AtomicBool) {
    const STEP: std::time::Duration = std::time::Duration::from_millis(100);
    let mut left = wait;
    while !left.is_zero() && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(left.min(STEP));
        left = left.saturating_sub(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_that_ends_is_named() {
        let said = ending(&CapturePlace::File("/run/packets".into()));
        assert!(said.contains("/run/packets") && said.contains("start the observer"), "{said}");
    }
}
