//! `/metrics` for Prometheus and `/healthz`, by HTTP on an address or a Unix socket of the
//! operator's choice. Labels are of two kinds, the kind of a start and the size class. No label is
//! an address, so there are as many series on every machine.

mod canary;
mod gateway;

use super::question::AgentStatus;
use crate::canary::comparison::Side;
use crate::canary::totals::{Group, Sum, TIMES};
use crate::os::unix_socket::remove_socket;
use ::canary::interval::ConfidenceInterval;
use ::canary::part::SIZES;
use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use service::http::serve;
use service::metrics::metrics_page;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

/// Address at which the metrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricsAddress {
    /// `127.0.0.1:9464`
    Tcp(SocketAddr),
    /// `unix:/run/headstart-metrics.sock`
    Unix(PathBuf),
}

/// Listening, not yet answering.
#[derive(Debug)]
pub enum MetricsListener {
    /// A TCP socket.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

impl FromStr for MetricsAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some(file) => Ok(Self::Unix(file.into())),
            None => text.parse().map(Self::Tcp).map_err(|_| {
                format!(
                    "{text:?} is neither an address with a port like 127.0.0.1:9464 nor unix:FILE"
                )
            }),
        }
    }
}

impl MetricsAddress {
    /// Listens there.
    ///
    /// # Errors
    /// If that cannot be.
    pub fn listen(&self) -> io::Result<MetricsListener> {
        match self {
            Self::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(MetricsListener::Tcp(listener))
            }
            Self::Unix(file) => {
                remove_socket(file)?;
                let listener = UnixListener::bind(file)?;
                listener.set_nonblocking(true)?;
                Ok(MetricsListener::Unix(listener))
            }
        }
    }
}

impl MetricsListener {
    /// Answers on a thread of its own, which ends with the process.
    ///
    /// # Errors
    /// If there are no more threads or file descriptors.
    pub fn serve(self, status: impl Fn() -> AgentStatus + Send + Sync + 'static) -> io::Result<()> {
        let status = Arc::new(status);
        let (for_metrics, for_health) = (Arc::clone(&status), status);
        let health_page = async move || health(&for_health());
        let router = Router::new()
            .route(
                "/metrics",
                get(async move |headers: HeaderMap| {
                    metrics_page(&headers, metrics(&for_metrics()))
                }),
            )
            .route("/healthz", get(health_page.clone()))
            // The name before 0.1.0.
            .route("/health", get(health_page));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let name = thread::Builder::new().name("metrics".to_owned());
        name.spawn(move || runtime.block_on(self.serve_requests(router)))?;
        Ok(())
    }

    /// Serves the page at a TCP port or a Unix socket. All peers of a Unix socket share their
    /// slots.
    async fn serve_requests(self, router: Router) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                serve(listener, router, SocketAddr::ip, pending()).await;
            }
            Self::Unix(listener) => {
                let listener = tokio::net::UnixListener::from_std(listener)?;
                serve(listener, router, |_| Ipv4Addr::UNSPECIFIED.into(), pending()).await;
            }
        }
        Ok(())
    }
}

/// Returns 503 if the operator has to act: the agent has turned itself off, or its programs are
/// detached.
fn health(status: &AgentStatus) -> (StatusCode, String) {
    let missing = status.detachments.missing.join(", ");
    let trouble = match &status.off {
        Some(why) => format!("ALL WINDOWS ARE LEFT ALONE: {why}\n"),
        None if missing.is_empty() => return (StatusCode::OK, "ok\n".to_owned()),
        None => format!("another process has detached programs: {missing}\n"),
    };
    (StatusCode::SERVICE_UNAVAILABLE, trouble)
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Start {
    start: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Sized {
    start: &'static str,
    up_to_bytes: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Bound {
    up_to_bytes: String,
    bound: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SideBound {
    start: &'static str,
    up_to_bytes: String,
    bound: &'static str,
}

/// Histograms from counts that the agent keeps.
#[derive(Debug)]
struct CompletionTimes(Vec<(Sized, Group)>);

impl EncodeMetric for CompletionTimes {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        for (labels, group) in &self.0 {
            let bounds = TIMES.into_iter().chain([f64::INFINITY]);
            let buckets: Vec<_> = bounds.zip(group.times).collect();
            let mut encoder = encoder.encode_family(labels)?;
            encoder.encode_histogram::<NoLabelSet>(
                group.time_sum_s,
                group.log_times.count,
                &buckets,
                None,
            )?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

type Ratio = Gauge<f64, AtomicU64>;

/// A metric of a family: its label, and how it is read from a `T`.
struct MetricOf<T, V> {
    name: &'static str,
    help: &'static str,
    value: fn(&T) -> V,
}

const fn metric<T, V>(
    name: &'static str,
    help: &'static str,
    value: fn(&T) -> V,
) -> MetricOf<T, V> {
    MetricOf { name, help, value }
}

/// Returns the metrics in the text format of OpenMetrics.
fn metrics(status: &AgentStatus) -> String {
    let mut registry = Registry::with_prefix("headstart");
    gauges(&mut registry, status);
    sums(&mut registry, status);
    classes(&mut registry, status);
    canary::canary(&mut registry, status);
    canary::register_fleet(&mut registry, status);
    canary::register_starts(&mut registry, status);
    canary::handshakes(&mut registry, status);
    canary::kernel(&mut registry, status);
    gateway::gateway(&mut registry, status);
    gateway::tcp_option(&mut registry, status);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = text::encode(&mut text, &registry);
    text
}

/// Registers the gauges of the agent itself.
fn gauges(registry: &mut Registry, status: &AgentStatus) {
    let gauges = [
        ("paths", "Paths remembered", status.paths as i64),
        ("paths_max", "Paths remembered at most", status.max_paths.into()),
        ("cap_segments", "Largest first window", status.cap.into()),
        (
            "off",
            "1: all windows are left alone, because warm starts did harm",
            status.off.is_some().into(),
        ),
        (
            "detached_programs",
            "Programs of the agent that another process has detached and that are not attached again",
            status.detachments.missing.len() as i64,
        ),
        ("dry_run", "1: connections are measured alone, as was asked for", status.dry_run.into()),
    ];
    for (name, help, value) in gauges {
        let gauge: Gauge = Gauge::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    }
    let build = Info::new(vec![("version", status.version.clone())]);
    registry.register("agent_build", "Version of the agent", build);
    let lost: Counter = Counter::default();
    lost.inc_by(status.summaries_lost);
    registry.register("uncounted_connections", "Closed connections that are in no sum", lost);
    let detached: Counter = Counter::default();
    detached.inc_by(status.detachments.count);
    let help = "Programs of the agent that were found detached by another process";
    registry.register("detachments", help, detached);
}

/// Registers the sums over connections, by their kind of start.
fn sums(registry: &mut Registry, status: &AgentStatus) {
    let kinds = [
        ("warm", &status.connections.warm),
        ("control-group", &status.connections.control_group),
        ("cold", &status.connections.cold),
    ];
    let of: [MetricOf<Sum, u64>; 8] = [
        metric("connections", "Connections closed", |sum| sum.closed),
        metric("bytes_acked", "Bytes that peers acknowledged", |sum| sum.bytes_acked),
        metric("segments_sent", "Segments with data, retransmissions included", |sum| {
            sum.segments_sent
        }),
        metric("segments_retransmitted", "Segments retransmitted", |sum| {
            sum.segments_retransmitted
        }),
        metric("first_window_segments", "First windows added up", |sum| sum.first_windows),
        metric(
            "proposed_window_segments",
            "First windows that the memory proposed, added up",
            |sum| sum.proposed_windows,
        ),
        metric(
            "fallbacks",
            "Connections that lost something of a remembered first window",
            |sum| sum.fallbacks,
        ),
        metric("restarts", "Warm starts after idle", |sum| sum.restarts),
    ];
    for MetricOf { name, help, value } in of {
        let family = Family::<Start, Counter>::default();
        for (start, sum) in kinds {
            family.get_or_create(&Start { start }).inc_by(value(sum));
        }
        registry.register(name, help, family);
    }
}

/// Registers the metrics of both groups by class of size.
fn classes(registry: &mut Registry, status: &AgentStatus) {
    let names = SIZES.iter().map(u64::to_string).chain(["+Inf".to_owned()]);
    let names: Vec<_> = names.collect();
    let of: [MetricOf<Group, u64>; 3] = [
        metric("class_connections", "Connections closed, by bytes acknowledged", |group| {
            group.closed
        }),
        metric("class_retransmitting", "Number of those that retransmitted", |group| {
            group.retransmitting
        }),
        metric(
            "class_lost_first",
            "Number of those that lost a segment of their first flight",
            |group| group.lost_first,
        ),
    ];
    for MetricOf { name, help, value } in of {
        let family = Family::<Sized, Counter>::default();
        for (up_to_bytes, class) in names.iter().zip(&status.connections.classes) {
            for (start, group) in [("warm", &class.warm), ("control-group", &class.control_group)] {
                let up_to_bytes = up_to_bytes.clone();
                family.get_or_create(&Sized { start, up_to_bytes }).inc_by(value(group));
            }
        }
        registry.register(name, help, family);
    }
    let groups = names.iter().zip(&status.connections.classes).flat_map(|(up_to_bytes, class)| {
        let sized = |start| Sized { start, up_to_bytes: up_to_bytes.clone() };
        [(sized("warm"), class.warm), (sized("control-group"), class.control_group)]
    });
    registry.register(
        "completion_time_seconds",
        "From the opening of a connection to its last acknowledgement, less pauses longer than a round trip, by size",
        CompletionTimes(groups.collect()),
    );
    time_ratios(registry, (&names, status));
    register_group_shares(registry, (&names, status));
}

/// Registers the ratio of times of each class, with the bounds of its interval.
fn time_ratios(registry: &mut Registry, (names, status): (&[String], &AgentStatus)) {
    let family = Family::<Bound, Ratio>::default();
    for (up_to_bytes, class) in names.iter().zip(&status.comparison) {
        for (bound, value) in class.time_ratio.iter().flat_map(bounds) {
            let up_to_bytes = up_to_bytes.clone();
            family.get_or_create(&Bound { up_to_bytes, bound }).set(value);
        }
    }
    registry.register(
        "time_ratio",
        "Completion time of warm connections divided by that of the control group, by bytes delivered, with an interval that holds at every look",
        family,
    );
}

/// Registers the metrics of both compared groups, with intervals: an operator's proof that warm
/// starts do no harm.
fn register_group_shares(registry: &mut Registry, (names, status): (&[String], &AgentStatus)) {
    let of: [MetricOf<Side, Option<ConfidenceInterval>>; 2] = [
        metric("retransmitting_share", "Part that sent something again, 95 %", |side| {
            side.retransmitting
        }),
        metric("lost_first_share", "Part that lost something of its first flight, 95 %", |side| {
            side.lost_first
        }),
    ];
    for MetricOf { name, help, value: share } in of {
        let family = Family::<SideBound, Ratio>::default();
        for (up_to_bytes, class) in names.iter().zip(&status.comparison) {
            for (start, side) in [("warm", &class.warm), ("control-group", &class.control_group)] {
                for (bound, value) in share(side).iter().flat_map(bounds) {
                    let up_to_bytes = up_to_bytes.clone();
                    family.get_or_create(&SideBound { start, up_to_bytes, bound }).set(value);
                }
            }
        }
        registry.register(name, help, family);
    }
}

const fn bounds(interval: &ConfidenceInterval) -> [(&'static str, f64); 3] {
    [("estimate", interval.estimate), ("low", interval.low), ("high", interval.high)]
}

#[cfg(test)]
mod tests;
