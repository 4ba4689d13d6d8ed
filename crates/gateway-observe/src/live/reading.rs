//! The thread that reads packets: it rebuilds senders, reads options, and detects visitors.

use super::idle::IdleConnections;
use super::packets::{PacketSource, SourceHealth};
use super::path_options::PathOptionReader;
use crate::config::{CaptureConfig, CapturePlace};
use crate::log::{LogPriority, say};
use crate::passive::PassiveSink;
use crate::reporting::{Found, GatewayReporter};
use capture::Observed;
use segment::Flags;
use std::sync::atomic::{AtomicBool, Ordering};
use support::clock::wall;
use trace::{EngineConfig, NamedServers, ServerPattern, TraceEngine, TraceSink, Vantage};
use units::{Duration, Instant};

/// Maximum number of connections that are followed at once; the engine documents the memory of
/// each.
const MAX_CONNECTIONS: usize = 1 << 18;
/// Idle time after which a connection is over.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Idle time after which a sender is compressed, and its transfer is over.
const COMPRESS_AFTER: Duration = Duration::from_secs(2);
/// Largest age of packets, by the clock, when they are read.
const MAX_PACKET_AGE: Duration = Duration::from_millis(500);
/// Time between two checks for ended connections.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Logs that a capture's packets are no longer read, however the capture ends.
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

fn ending(source: &CapturePlace) -> String {
    format!(
        "capture: the capture of {source} has ended; start the observer again to read more from there"
    )
}

/// Reads until there are no more packets, or the capture is to end.
pub(super) fn read(
    mut source: PacketSource,
    config: &CaptureConfig,
    reporter: &GatewayReporter,
    stop: &AtomicBool,
) {
    let _warning = EndWarning { place: &config.place, stop };
    let counts = &reporter.counts;
    let sink = PassiveSink::new(|report| reporter.send(Found::Report(report)));
    let mut engine = config.passive.then(|| TraceEngine::new(engine(config), sink));
    let (mut eye, mut health) = (SegmentEye::new(config, reporter), SourceHealth::default());
    let (mut batch, mut lost, mut looked) = (Vec::new(), 0, Instant::ZERO);
    while !stop.load(Ordering::Relaxed) {
        match source.next_batch(&mut batch) {
            Ok(true) => health.note_success(),
            Ok(false) => break,
            // Other packets of the source may still be readable.
            Err(why) => rest(health.note_failure(&why, &config.place), stop),
        }
        let gone = i64::try_from(health.look(&mut source)).unwrap_or(i64::MAX);
        counts.missing_interfaces.set(gone);
        batch.iter().for_each(|segment| eye.see(segment));
        if let Some(engine) = &mut engine {
            batch.iter().for_each(|segment| engine.on_segment(segment));
            pass_time(engine, config, &mut looked);
        }
        reporter.pace(&config.place);
        counts.segments.inc_by(batch.len() as u64);
        let now_lost = source.lost();
        counts.lost.inc_by(now_lost - std::mem::replace(&mut lost, now_lost));
    }
    // The open transfers are reported.
    drop(engine.map(TraceEngine::finish_all));
}

/// Ends connections that have been silent on interfaces. In a file, the times of its packets do
/// that.
fn pass_time(
    engine: &mut TraceEngine<impl TraceSink>,
    config: &CaptureConfig,
    looked: &mut Instant,
) {
    let now = wall();
    if config.place.is_live() && now.saturating_since(*looked) > LOOK_INTERVAL {
        *looked = now;
        engine.pass_time(Instant::from_nanos(
            now.as_nanos().saturating_sub(MAX_PACKET_AGE.as_nanos()),
        ));
    }
}

/// Finds visitors and options in single segments.
struct SegmentEye<'a> {
    config: &'a CaptureConfig,
    reporter: &'a GatewayReporter,
    options: PathOptionReader,
    idle: IdleConnections,
}

impl<'a> SegmentEye<'a> {
    fn new(config: &'a CaptureConfig, reporter: &'a GatewayReporter) -> Self {
        let (options, idle) = (PathOptionReader::new(config), IdleConnections::default());
        Self { config, reporter, options, idle }
    }

    /// Reports what a segment shows by itself: the start of a visit, or the TCP option of an agent.
    fn see(&mut self, segment: &Observed) {
        if self.config.push && wants_a_start(segment, &self.config.ports, &mut self.idle) {
            let (server, visitor) = (segment.destination.ip, segment.source.ip);
            self.reporter.send(Found::Arrival { server, visitor });
        }
        if let Some(found) = self.options.read(segment, &self.reporter.counts) {
            self.reporter.send(found);
        }
    }
}

/// Returns the configuration of the trace engine.
fn engine(config: &CaptureConfig) -> EngineConfig {
    let port = |port: &u16| port.to_string().parse::<ServerPattern>().ok();
    EngineConfig {
        vantage: Some(Vantage::Server),
        servers: config.ports.iter().filter_map(port).collect::<NamedServers>(),
        max_connections: MAX_CONNECTIONS,
        idle_timeout: IDLE_TIMEOUT,
        compress_after: COMPRESS_AFTER,
        ..EngineConfig::default()
    }
}

/// Returns true if its server is about to start: at the first SYN of a connection, also if it is
/// repeated, and at a request after a silence.
fn wants_a_start(segment: &Observed, ports: &[u16], idle: &mut IdleConnections) -> bool {
    if !ports.contains(&segment.destination.port) {
        return false;
    }
    // The call must come first: `idle` also has to see SYNs.
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
