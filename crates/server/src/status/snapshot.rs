//! The server at one moment, as `status.json` has it. Names say the unit.

use crate::regard::content_name;
use crate::site::Site;
use endpoint::{ConnectionInfo, EndpointStatus, PathInfo};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use units::Duration;

/// State of the whole server.
#[derive(Debug, Serialize)]
pub(super) struct Snapshot {
    pub(super) server: ServerSnapshot,
    pub(super) memory: MemorySnapshot,
    pub(super) paths: Vec<PathSnapshot>,
    pub(super) connections: Vec<ConnectionSnapshot>,
    pub(super) counters: CountersSnapshot,
}

#[derive(Debug, Serialize)]
pub(super) struct ServerSnapshot {
    pub(super) version: &'static str,
    pub(super) scheme: String,
    pub(super) weights: String,
    pub(super) uptime_seconds: u64,
    pub(super) requests: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct MemorySnapshot {
    /// Buffers of the streams, in both directions.
    pub(super) buffer_bytes: usize,
    /// Destinations that schemes with a memory remember.
    pub(super) remembered_destinations: usize,
}

/// State that connections to one client share, or that one has for itself.
#[derive(Debug, Serialize)]
pub(super) struct PathSnapshot {
    /// Numbers of its connections.
    pub(super) connections: Vec<u32>,
    pub(super) is_shared: bool,
    pub(super) client: String,
    pub(super) cwnd_bytes: u64,
    pub(super) ssthresh_bytes: Option<u64>,
    pub(super) in_flight_bytes: u64,
    pub(super) srtt_ms: Option<f64>,
    pub(super) rttvar_ms: Option<f64>,
    pub(super) min_rtt_ms: Option<f64>,
    pub(super) rto_ms: f64,
    pub(super) pacing_bps: Option<u64>,
    pub(super) is_in_startup: bool,
    /// Reason for the end of the first start-up.
    pub(super) startup_exit: Option<&'static str>,
    pub(super) is_remembered: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct ConnectionSnapshot {
    pub(super) number: u32,
    pub(super) peer: SocketAddr,
    pub(super) state: String,
    pub(super) scheme: String,
    /// Kind of its last response.
    pub(super) content: Option<&'static str>,
    pub(super) weight: Option<u32>,
    pub(super) mss_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) acked_bytes: u64,
    pub(super) unsent_bytes: u64,
    pub(super) received_bytes: u64,
    pub(super) peer_window_bytes: u64,
    pub(super) delivery_bps: u64,
    pub(super) lost_bytes: u64,
    pub(super) lost_segments: u64,
    pub(super) retransmitted_segments: u64,
    pub(super) timeouts: u64,
    pub(super) is_recovering: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct CountersSnapshot {
    pub(super) endpoint: BTreeMap<String, u64>,
    /// Counters by Linux's names, where it has one.
    pub(super) tcp: BTreeMap<String, u64>,
}

impl Snapshot {
    pub(super) fn new(site: &Site, status: &EndpointStatus) -> Self {
        let tcp = status.tcp.iter().map(|(name, n)| (name.to_owned(), n));
        Self {
            server: ServerSnapshot {
                version: env!("CARGO_PKG_VERSION"),
                scheme: site.scheme.name().to_owned(),
                weights: site.about_weights(),
                uptime_seconds: site.started.elapsed().as_secs(),
                requests: site.requests.load(Ordering::Relaxed),
            },
            memory: MemorySnapshot {
                buffer_bytes: status.buffers,
                remembered_destinations: status.remembered,
            },
            paths: paths(&status.connections),
            connections: status.connections.iter().map(|info| connection(site, info)).collect(),
            counters: CountersSnapshot {
                endpoint: status.counters.iter().collect(),
                tcp: tcp.collect(),
            },
        }
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        // Maps have strings for keys, and there is no number that JSON does not know.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// Each path once with its connections, though each connection reports it.
fn paths(connections: &[ConnectionInfo]) -> Vec<PathSnapshot> {
    let mut paths: BTreeMap<u32, PathSnapshot> = BTreeMap::new();
    for info in connections {
        let shared = paths.entry(info.path.number).or_insert_with(|| path(info));
        shared.connections.push(info.number);
    }
    paths.into_values().collect()
}

/// A path, from the report of one of its connections, still without its connections.
fn path(info: &ConnectionInfo) -> PathSnapshot {
    let PathInfo { cwnd, ssthresh, bytes_in_flight, srtt, rttvar, min_rtt, rto, .. } = info.path;
    let known = |time: Duration| (!srtt.is_zero()).then(|| milliseconds(time));
    PathSnapshot {
        connections: Vec::new(),
        is_shared: info.path.members > 0,
        client: info.peer.ip().to_string(),
        cwnd_bytes: cwnd,
        ssthresh_bytes: ssthresh,
        in_flight_bytes: bytes_in_flight,
        srtt_ms: known(srtt),
        rttvar_ms: known(rttvar),
        min_rtt_ms: known(min_rtt),
        rto_ms: milliseconds(rto),
        pacing_bps: info.path.pacing_rate.map(units::Rate::as_bps),
        is_in_startup: info.path.in_startup,
        startup_exit: info.path.startup.exit.map(tcp::StartUpExit::name),
        is_remembered: info.path.remembered,
    }
}

fn connection(site: &Site, info: &ConnectionInfo) -> ConnectionSnapshot {
    let carried = site.last_response_kind(&info.peer);
    ConnectionSnapshot {
        number: info.number,
        peer: info.peer,
        state: format!("{:?}", info.state),
        scheme: info.scheme.clone(),
        content: carried.map(|(kind, _)| content_name(kind)),
        weight: carried.and_then(|(_, weight)| weight),
        mss_bytes: info.mss,
        written_bytes: info.bytes_written,
        acked_bytes: info.bytes_acked,
        unsent_bytes: info.bytes_unsent,
        received_bytes: info.bytes_received,
        peer_window_bytes: info.snd_wnd,
        delivery_bps: info.delivery_rate.as_bps(),
        lost_bytes: info.bytes_lost,
        lost_segments: info.segments_lost,
        retransmitted_segments: info.stats.retransmitted_segments,
        timeouts: info.stats.timeouts,
        is_recovering: info.recovering,
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}
