//! Metrics of the canary, of how connections start, and of the programs at work.

use super::{MetricOf, Ratio, bounds, metric};
use crate::canary::comparison::ComparedPart;
use crate::canary::totals::WINDOW_BOUNDS;
use crate::contract::StartReason;
use crate::interface::question::AgentStatus;
use crate::programs::telemetry::gauges::{MapFill, ProgramTime};
use crate::programs::telemetry::handshake_timers::TimedHandshakes;
use ::canary::interval::ConfidenceInterval;
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

type Seconds = Counter<f64, AtomicU64>;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PartBound {
    part: String,
    bound: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PartOnly {
    part: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonOnly {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceOnly {
    source: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProgramOnly {
    program: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MapOnly {
    map: String,
}

/// Histogram of first windows, from counts that the agent keeps.
#[derive(Debug)]
struct FirstWindows {
    counts: [u64; WINDOW_BOUNDS.len() + 1],
    sum: u64,
}

impl EncodeMetric for FirstWindows {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let bounds = WINDOW_BOUNDS.into_iter().map(f64::from).chain([f64::INFINITY]);
        let buckets: Vec<_> = bounds.zip(self.counts).collect();
        let count = self.counts.iter().sum();
        encoder.encode_histogram::<NoLabelSet>(self.sum as f64, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Registers the metrics of the canary: its share, and the comparisons, which all hold at once and
/// at every look.
pub(super) fn canary(registry: &mut Registry, status: &AgentStatus) {
    let percent = Ratio::default();
    percent.set(status.percent);
    let help = "Percentage of the connections that may start warm, beside the control group";
    registry.register("canary_percent", help, percent);
    let holdout = Ratio::default();
    holdout.set(status.control_group_share * 100.0);
    registry.register("control_group_percent", "Percentage of the control group", holdout);
    let stage: Gauge = Gauge::default();
    stage.set(status.stage.into());
    let help = "Counts up whenever something changes that connections are compared under";
    registry.register("canary_stage", help, stage);
    let of: [MetricOf<ComparedPart, Option<ConfidenceInterval>>; 3] = [
        metric(
            "canary_time_ratio",
            "Completion time, chosen for a warm start by control group",
            |part| part.time_ratio,
        ),
        metric(
            "canary_retransmission_ratio",
            "Retransmissions of a connection, chosen for a warm start by control group",
            |part| part.retransmission_ratio,
        ),
        metric(
            "canary_lossy_ratio",
            "Connections that retransmitted anything, chosen for a warm start by control group",
            |part| part.lossy_ratio,
        ),
    ];
    for MetricOf { name, help, value: ratio } in of {
        let family = Family::<PartBound, Ratio>::default();
        for part in told_parts(status) {
            for (bound, value) in ratio(part).iter().flat_map(bounds) {
                family.get_or_create(&PartBound { part: part.part.clone(), bound }).set(value);
            }
        }
        registry.register(name, help, family);
    }
    let of: [MetricOf<ComparedPart, u64>; 2] = [
        metric("canary_chosen", "Connections chosen for a warm start", |part| part.chosen),
        metric("canary_control", "Connections of the control group", |part| part.control_group),
    ];
    for MetricOf { name, help, value } in of {
        let family = Family::<PartOnly, Gauge>::default();
        for part in told_parts(status) {
            let count = i64::try_from(value(part)).unwrap_or(i64::MAX);
            family.get_or_create(&PartOnly { part: part.part.clone() }).set(count);
        }
        registry.register(name, help, family);
    }
    let family = Family::<PartOnly, Gauge>::default();
    for stopped in status.stopped.iter().filter(|stopped| stopped.network.is_none()) {
        family.get_or_create(&PartOnly { part: stopped.part.clone() }).set(1);
    }
    registry.register("canary_stopped", "1: warm starts did harm here and are stopped", family);
    let networks: Gauge = Gauge::default();
    let count = status.stopped.iter().filter(|stopped| stopped.network.is_some()).count();
    networks.set(i64::try_from(count).unwrap_or(i64::MAX));
    let help = "Networks to which warm starts did harm and are stopped";
    registry.register("canary_stopped_networks", help, networks);
}

/// Registers the metrics of the comparison of all servers of the site, if a gateway compares them.
pub(super) fn register_fleet(registry: &mut Registry, status: &AgentStatus) {
    let Some(fleet) = &status.fleet else { return };
    let hosts: Gauge = Gauge::default();
    hosts.set(fleet.hosts.into());
    registry.register("site_servers", "Servers of the site that are compared", hosts);
    let age: Gauge<f64, AtomicU64> = Gauge::default();
    age.set(fleet.age_s);
    let help = "Time since a gateway reported the comparison of all servers";
    registry.register("site_age_seconds", help, age);
    let family = Family::<PartBound, Ratio>::default();
    for part in &fleet.parts {
        for (bound, value) in part.time_ratio.iter().flat_map(bounds) {
            family.get_or_create(&PartBound { part: part.part.clone(), bound }).set(value);
        }
    }
    let help = "Completion time on all servers of the site, chosen for a warm start divided by control group";
    registry.register("site_time_ratio", help, family);
}

/// Returns all parts but networks, of which no metric has the name.
fn told_parts(status: &AgentStatus) -> impl Iterator<Item = &ComparedPart> {
    status.parts.iter().filter(|part| part.network.is_none())
}

/// Registers the metrics of starts: warm ones, and the reasons for cold ones.
pub(super) fn register_starts(registry: &mut Registry, status: &AgentStatus) {
    let family = Family::<ReasonOnly, Counter>::default();
    for (reason, count) in StartReason::ALL.into_iter().zip(status.connections.starts) {
        family.get_or_create(&ReasonOnly { reason: reason.name() }).inc_by(count);
    }
    registry.register("starts", "Connections closed, by how they started", family);
    let sums = &status.connections;
    let sums = [&sums.warm, &sums.control_group, &sums.cold];
    let sum = sums.iter().map(|sum| sum.first_windows).sum();
    let windows = FirstWindows { counts: status.connections.windows, sum };
    registry.register("first_windows", "First windows of connections closed, segments", windows);
}

/// Registers the number of handshakes whose timer was shortened, if the operator asks for that.
pub(super) fn handshakes(registry: &mut Registry, status: &AgentStatus) {
    let Some(TimedHandshakes { by_memory, by_handshake }) = status.handshake_timers else { return };
    let family = Family::<SourceOnly, Counter>::default();
    for (source, count) in [("memory", by_memory), ("last-handshake", by_handshake)] {
        family.get_or_create(&SourceOnly { source }).inc_by(count);
    }
    let help =
        "Handshakes that began with a timer shorter than the kernel's, by the source of the time";
    registry.register("timed_handshakes", help, family);
}

/// Registers the metrics of the kernel about programs and maps.
pub(super) fn kernel(registry: &mut Registry, status: &AgentStatus) {
    let (runs, seconds) =
        (Family::<ProgramOnly, Counter>::default(), Family::<ProgramOnly, Seconds>::default());
    for ProgramTime { program, runs: count, time_s } in &status.programs {
        let of = ProgramOnly { program: program.clone() };
        runs.get_or_create(&of).inc_by(*count);
        seconds.get_or_create(&of).inc_by(*time_s);
    }
    let help = "Times that a program ran, if the kernel counts (kernel.bpf_stats_enabled)";
    registry.register("program_runs", help, runs);
    registry.register("program_run_seconds", "For how long it ran in all", seconds);
    let paths =
        MapFill { map: "paths".to_owned(), entries: status.paths as u64, most: status.max_paths };
    let (entries, most) =
        (Family::<MapOnly, Gauge>::default(), Family::<MapOnly, Gauge>::default());
    for fill in status.maps.iter().chain([&paths]) {
        let of = MapOnly { map: fill.map.clone() };
        entries.get_or_create(&of).set(i64::try_from(fill.entries).unwrap_or(i64::MAX));
        most.get_or_create(&of).set(fill.most.into());
    }
    registry.register("map_entries", "Entries of a map of the programs", entries);
    registry.register("map_entries_max", "Entries that it has room for", most);
}
