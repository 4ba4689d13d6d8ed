//! The thread that reads packets: it rebuilds senders, and sees visitors come.

use super::idle::IdleConnections;
use super::packets::{PacketSource, SourceHealth};
use super::path_options::PathOptionReader;
use super::reporting::{Found, wall};
use crate::config::capture::{CaptureConfig, CapturePlace};
use crate::config::options::CollectorName;
use crate::observe::passive::PassiveSink;
use crate::os::log::{LogPriority, say};
use crate::site::GatewaySite;
use capture::Observed;
use segment::Flags;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc::Sender;
use trace::{EngineConfig, NamedServers, ServerPattern, TraceEngine, TraceSink, Vantage};
use units::{Duration, Instant};

/// Connections that are followed at once; the engine says what each takes.
const MOST_CONNECTIONS: usize = 1 << 18;
/// A connection without packets for so long is over.
const IDLE: Duration = Duration::from_secs(60);

/// A transfer of a sender that has been silent for so long is over.
const PARK_AFTER: Duration = Duration::from_secs(2);
/// Packets may be so much older than the clock when they are read.
const LATE: Duration = Duration::from_millis(500);
/// It is looked so often whether something has ended.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Says, however a capture ends by itself, that the gateway does not see its packets any more.
struct EndWarning<'a> {
    place: &'a CapturePlace,
    /// True if the gateway has ended the capture.
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
        "capture: the capture of {place} has ended; the gateway sees nothing from there until it is started anew"
    )
}

/// Puts a finding into the queue; false if there is no room. Anybody can send SYNs, so arrivals take at most half of the queue:
/// reports always have the rest.
fn put(queue: &Sender<Found>, found: Found) -> bool {
    let is_arrival = matches!(found, Found::Arrival { .. });
    let is_for_reports = queue.capacity() <= queue.max_capacity() / 2;
    !(is_arrival && is_for_reports) && queue.try_send(found).is_ok()
}

/// Reads until there are no more packets, or the capture is to end.
pub(super) fn read(
    mut source: PacketSource,
    config: &CaptureConfig,
    (site, queue): (&Arc<GatewaySite>, &Sender<Found>),
    stop: &AtomicBool,
) {
    let _warning = EndWarning { place: &config.place, stop };
    let tell = |found| {
        if !put(queue, found) {
            site.counts.seen_dropped.add(1);
        }
    };
    let sink = PassiveSink::new(|report| {
        // Where such reports do not count, the gateway makes none: it would refuse each of them.
        if site.rules().collect.contains(&CollectorName::Passive) {
            tell(Found::Report(report));
        }
    });
    let mut engine = TraceEngine::new(engine(config), sink);
    let (mut options, mut idle) = (PathOptionReader::new(config), IdleConnections::default());
    let mut health = SourceHealth::default();
    let is_live = matches!(config.place, CapturePlace::Interfaces(_));
    let (mut batch, mut lost, mut looked) = (Vec::new(), 0, Instant::ZERO);
    while !stop.load(Ordering::Relaxed) {
        match source.next_batch(&mut batch) {
            Ok(true) => health.note_success(),
            Ok(false) => break,
            // Others of its packets can be read still.
            Err(why) => rest(health.note_failure(&why, &config.place), stop),
        }
        site.counts.seen_gone.set(health.look(&mut source) as u64);
        for segment in &batch {
            if config.push && wants_a_start(segment, &config.ports, &mut idle) {
                let (server, visitor) = (segment.destination.ip, segment.source.ip);
                tell(Found::Arrival { server, visitor });
            }
            if let Some(spoken) = options.read(segment, &site.counts) {
                tell(spoken);
            }
            engine.on_segment(segment);
        }
        let now = wall();
        if is_live && now.saturating_since(looked) > LOOK_EVERY {
            looked = now;
            engine.pass_time(Instant::from_nanos(now.as_nanos().saturating_sub(LATE.as_nanos())));
        }
        site.counts.seen_segments.add(batch.len() as u64);
        let now_lost = source.lost();
        site.counts.seen_lost.add(now_lost - std::mem::replace(&mut lost, now_lost));
    }
    finish(engine);
}

/// Reports the transfers under way. Of interfaces they count before the gateway ends; of a file they may not
/// ([`RunningCapture::end`](super::RunningCapture::end)).
fn finish(engine: TraceEngine<impl TraceSink>) {
    drop(engine.finish_all());
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
    use crate::observe::passive::PassiveReport;
    use gateway_proto::v1::Report;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn a_flood_of_syns_leaves_reports_half_of_the_queue() {
        let (queue, _found) = tokio::sync::mpsc::channel(4);
        let address = IpAddr::from(Ipv4Addr::LOCALHOST);
        let arrival = Found::Arrival { server: address, visitor: address };
        let report =
            PassiveReport { at: Instant::ZERO, client: address, report: Report::default() };
        let arrivals = [(); 4].map(|()| put(&queue, arrival));
        assert_eq!(arrivals, [true, true, false, false]);
        let reports = [(); 3].map(|()| put(&queue, Found::Report(report)));
        assert_eq!(reports, [true, true, false]);
    }

    #[test]
    fn a_capture_that_ends_is_named() {
        let said = ending(&CapturePlace::File("/run/packets".into()));
        assert!(said.contains("/run/packets") && said.contains("started anew"), "{said}");
    }
}
