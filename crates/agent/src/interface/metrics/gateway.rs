//! Metrics of the site's gateways. They are not served if there are none.

use super::{MetricOf, metric};
use crate::interface::question::AgentStatus;
use crate::programs::telemetry::option_counts::OptionCounts;
use gateway_client::ClientStatus;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

const ANSWERS: [MetricOf<ClientStatus, u64>; 3] = [
    metric("in-time", "", |status| status.in_time),
    metric("late", "", |status| status.late),
    metric("none", "", |status| status.none),
];
const REPORTS: [MetricOf<ClientStatus, u64>; 3] = [
    metric("taken", "", |status| status.reports_taken),
    metric("refused", "", |status| status.reports_refused),
    metric("dropped", "", |status| status.reports_dropped),
];

const ARRIVALS: &str =
    "Visitors that a gateway has reported unasked, when their SYNs or requests arrive";

const OPTIONS: [MetricOf<OptionCounts, u64>; 5] = [
    metric("written", "", |counts| counts.written),
    metric("passed", "", |counts| counts.passed),
    metric("choked", "", |counts| counts.choked),
    metric("spared", "", |counts| counts.spared),
    metric("no-room", "", |counts| counts.no_room),
];

/// Registers the metrics of TCP options by their fate, if the agent writes options.
pub(super) fn tcp_option(registry: &mut Registry, status: &AgentStatus) {
    let Some(counts) = &status.tcp_option else { return };
    let family = Family::<Outcome, Counter>::default();
    for MetricOf { name, value, .. } in OPTIONS {
        family.get_or_create(&Outcome { outcome: name }).inc_by(value(counts));
    }
    registry.register(
        "tcp_options",
        "TCP options that report paths, by what became of them",
        family,
    );
}

/// Registers the metrics of the gateway's client, if there is a gateway.
pub(super) fn gateway(registry: &mut Registry, status: &AgentStatus) {
    let Some(status) = &status.gateway else { return };
    let connected: Gauge = Gauge::default();
    connected.set(status.gateway.is_some().into());
    registry.register("gateway_connected", "1: a gateway of the site answers", connected);
    let arrivals: Counter = Counter::default();
    arrivals.inc_by(status.arrivals);
    registry.register("gateway_arrivals", ARRIVALS, arrivals);
    let families = [
        (
            "gateway_answers",
            "Paths asked for: answered before the handshake can have ended, later, or not",
            ANSWERS,
        ),
        ("gateway_reports", "Connections reported to a gateway, by what became of that", REPORTS),
    ];
    for (name, help, outcomes) in families {
        let family = Family::<Outcome, Counter>::default();
        for MetricOf { name, value, .. } in outcomes {
            family.get_or_create(&Outcome { outcome: name }).inc_by(value(status));
        }
        registry.register(name, help, family);
    }
}
