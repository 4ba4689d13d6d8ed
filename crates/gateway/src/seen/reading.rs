//! The thread that reads packets: it rebuilds senders, and sees visitors come.

use super::telling::{Found, wall};
use crate::capture_config::{CaptureConfig, CapturePlace};
use crate::log::{LogPriority, say};
use crate::passive::PassiveSink;
use crate::site::GatewaySite;
use capture::{Observed, SegmentSource};
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

/// Reads until there is no more, or it is to end.
pub(super) fn read(
    mut source: Box<dyn SegmentSource + Send>,
    config: &CaptureConfig,
    (site, queue): (&Arc<GatewaySite>, &Sender<Found>),
    stop: &AtomicBool,
) {
    let put = |found| {
        if queue.try_send(found).is_err() {
            site.counts.seen_dropped.add(1);
        }
    };
    let sink = PassiveSink::new(|report| put(Found::Report(report)));
    let mut engine = TraceEngine::new(engine(config), sink);
    let is_live = matches!(config.place, CapturePlace::Interfaces(_));
    let (mut batch, mut lost, mut looked) = (Vec::new(), 0, Instant::ZERO);
    while !stop.load(Ordering::Relaxed) {
        match source.next_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => {
                say(LogPriority::Notice, "capture: there are no more packets");
                break;
            }
            // Others of its packets can be read still.
            Err(why) => say(LogPriority::Warning, &format!("capture: {why}")),
        }
        for segment in &batch {
            if config.push && comes_to_a_server(segment, &config.ports) {
                let (server, visitor) = (segment.destination.ip, segment.source.ip);
                put(Found::Arrival { server, visitor });
            }
            engine.on_segment(segment);
        }
        let now = wall();
        if is_live && now.saturating_since(looked) > LOOK_EVERY {
            looked = now;
            engine.pass_time(Instant::from_nanos(now.as_nanos().saturating_sub(LATE.as_nanos())));
        }
        site.counts.seen_segments.add(batch.len() as u64);
        let now_lost = source.tally().lost;
        site.counts.seen_lost.add(now_lost - std::mem::replace(&mut lost, now_lost));
    }
    finish(engine);
}

/// Tells of what was under way.
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

/// The first SYN of a connection, or the same once more.
fn comes_to_a_server(segment: &Observed, ports: &[u16]) -> bool {
    segment.has(Flags::SYN) && !segment.has(Flags::ACK) && ports.contains(&segment.destination.port)
}
