//! `/metrics` for Prometheus. Label values are from fixed lists, and tenants from the
//! configuration: no label is a network or a host.

use super::status::TenantStatus;
use crate::config::options::CollectorName;
use crate::site::GatewaySite;
use crate::site::counters::{ANSWER_US, NONES, REFUSALS, RefusedConnection, SOURCES};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::atomic::AtomicU64;

/// Counters whose values are kept elsewhere, one for each value of a label.
#[derive(Clone, Debug)]
struct Counted {
    label: &'static str,
    values: Vec<(&'static str, u64)>,
}

impl EncodeMetric for Counted {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (word, value) in &self.values {
            let labels = [(self.label, *word)];
            let mut encoder = encoder.encode_family(&labels)?;
            encoder.encode_counter::<NoLabelSet, _, u64>(value, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfTenant {
    tenant: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfPart {
    tenant: String,
    part: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfBound {
    tenant: String,
    part: String,
    bound: &'static str,
}

/// Answer times, as a histogram.
#[derive(Clone, Debug)]
struct AnswerTimes {
    buckets: Vec<(f64, u64)>,
    sum: f64,
    count: u64,
}

impl EncodeMetric for AnswerTimes {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_histogram::<NoLabelSet>(self.sum, self.count, &self.buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Returns all metrics as text (OpenMetrics 1.0).
pub(super) fn metrics(site: &GatewaySite) -> String {
    let mut registry = Registry::with_prefix("headstart_gateway");
    about(&mut registry, site);
    by_label(&mut registry, site);
    plain(&mut registry, site);
    of_tenants(&mut registry, site);
    answer_times(&mut registry, site);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &registry);
    text
}

/// Registers the metrics about the gateway itself.
fn about(registry: &mut Registry, site: &GatewaySite) {
    let info = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "Version of the gateway", info);
    let ready = ConstGauge::new(i64::from(site.is_ready()));
    registry.register("ready", "1 if it takes reports and answers", ready);
    let uptime = ConstGauge::new(site.clock.uptime().as_secs_f64());
    registry.register("uptime_seconds", "Since it started", uptime);
    let end = ConstGauge::new(site.certificate_end());
    let help = "When the gateway's certificate ends, seconds since 1970";
    registry.register("certificate_expiration_timestamp_seconds", help, end);
}

/// Registers the counters with a label, such as refused reports by reason.
fn by_label(registry: &mut Registry, site: &GatewaySite) {
    let counts = &site.counts;
    let mut counted =
        |name, help, label, values| registry.register(name, help, Counted { label, values });
    let taken = CollectorName::ALL.map(|way| (way.word(), counts.taken.get(way as usize)));
    counted("reports", "Reports that count, by way of collecting", "collector", taken.to_vec());
    let refused = REFUSALS.map(|(why, word)| (word, counts.refused.get(why as usize)));
    counted("refused_reports", "Reports that do not count, by reason", "reason", refused.to_vec());
    let answered = SOURCES.map(|(source, word)| (word, counts.answered.get(source as usize)));
    counted("answers", "Answers, by what answered", "source", answered.to_vec());
    let unanswered = NONES.map(|(none, word)| (word, counts.unanswered.get(none as usize)));
    counted("unanswered", "Questions without an answer, by reason", "reason", unanswered.to_vec());
    let refused = RefusedConnection::ALL
        .map(|(why, word)| (word, counts.refused_connections.get(why as usize)));
    counted(
        "refused_connections",
        "Connections that were refused, by reason",
        "reason",
        refused.to_vec(),
    );
}

/// Registers the counters and gauges without a label.
fn plain(registry: &mut Registry, site: &GatewaySite) {
    let counts = &site.counts;
    let counters = [
        ("repeated_batches", "Batches that were known already", &counts.repeated_batches),
        ("bad_batches", "Batches of reports, and sums, that made no sense", &counts.bad_batches),
        ("dropped_updates", "Updates that subscribers were too slow for", &counts.dropped_updates),
        (
            "ended_streams",
            "Streams ended because a certificate was revoked or ended",
            &counts.ended_streams,
        ),
        ("failed_calls", "Calls ended by a fault in the gateway", &counts.failed_calls),
        ("forgotten", "Networks that operators had forgotten", &counts.forgotten),
        ("shared_records", "Records written for other gateways", &counts.shared),
        ("merged_records", "New records merged from other gateways", &counts.merged),
        ("unplaced_records", "Records of more gateways than are held apart", &counts.unplaced),
        (
            "arrivals",
            "Notifications of servers about visitors, at their SYNs or requests",
            &counts.arrivals,
        ),
        (
            "refused_arrivals",
            "Visitors whom an observer has announced and may not report",
            &counts.refused_arrivals,
        ),
        ("snapshots", "Snapshots written", &counts.snapshots),
        ("failed_snapshots", "Snapshots that could not be written", &counts.failed_snapshots),
    ];
    for (name, help, tick) in counters {
        registry.register(name, help, ConstCounter::new(tick.get()));
    }
    let connections = ConstGauge::new(counts.connections.get() as i64);
    registry.register("connections", "Connections of reporters that are open", connections);
    let unauthenticated =
        ConstGauge::new(i64::try_from(site.unauthenticated.len()).unwrap_or(i64::MAX));
    let help = "Connections that have shown no certificate yet";
    registry.register("unproven_connections", help, unauthenticated);
    let revoked = ConstGauge::new(site.revocations.len() as i64);
    registry.register("revoked_certificates", "Certificates in the list", revoked);
}

/// Registers the metrics of each tenant.
fn of_tenants(registry: &mut Registry, site: &GatewaySite) {
    let (prefixes, alive) =
        (Family::<OfTenant, Gauge>::default(), Family::<OfTenant, Gauge>::default());
    let status = super::status::site(site);
    let in_time = Family::<OfTenant, Gauge<f64, AtomicU64>>::default();
    for tenant in &status.tenants {
        let label = OfTenant { tenant: tenant.name.clone() };
        prefixes.get_or_create(&label).set(tenant.prefixes as i64);
        alive.get_or_create(&label).set(tenant.alive as i64);
        let questions = &tenant.questions;
        let all = questions.in_time + questions.late + questions.none;
        if all > 0 {
            in_time.get_or_create(&label).set(questions.in_time as f64 / all as f64);
        }
    }
    comparisons(registry, &status.tenants);
    let gateways = status.gateways.iter().filter(|gateway| gateway.alive).count();
    let help = "Gateways of the site that are alive, this one among them";
    registry.register("alive_gateways", help, ConstGauge::new(gateways as i64));
    registry.register("prefixes", "Networks and covering prefixes known of", prefixes);
    registry.register("alive_reporters", "Hosts that sent a message within a minute", alive);
    let help = "Share of agents' questions that were answered before the handshake was over";
    registry.register("in_time_ratio", help, in_time);
}

/// Registers the findings of all hosts of each tenant.
fn comparisons(registry: &mut Registry, tenants: &[TenantStatus]) {
    let hosts = Family::<OfPart, Gauge>::default();
    let slower = Family::<OfPart, Gauge>::default();
    let ratios: [Family<OfBound, Gauge<f64, AtomicU64>>; 2] = Default::default();
    for (tenant, found) in
        tenants.iter().flat_map(|of| of.comparison.iter().map(move |found| (of, found)))
    {
        let (tenant, part) = (tenant.name.clone(), found.part.clone());
        let label = OfPart { tenant: tenant.clone(), part: part.clone() };
        hosts.get_or_create(&label).set(found.hosts.into());
        slower.get_or_create(&label).set((found.verdict == "slower").into());
        for (family, ratio) in ratios.iter().zip([found.time_ratio, found.retransmission_ratio]) {
            let Some(ratio) = ratio else { continue };
            let bounds = [("estimate", ratio.estimate), ("low", ratio.low), ("high", ratio.high)];
            for (bound, value) in bounds {
                let (tenant, part) = (tenant.clone(), part.clone());
                family.get_or_create(&OfBound { tenant, part, bound }).set(value);
            }
        }
    }
    let [times, retransmissions] = ratios;
    let help = "Hosts with connections of both groups, whose sums or groups came within an hour";
    registry.register("compared_hosts", help, hosts);
    let help = "1: warm starts are slower, whichever host is left out, with 95 % confidence";
    registry.register("warm_starts_slower", help, slower);
    let help = "Completion time over all hosts, chosen for a warm start divided by control group";
    registry.register("time_ratio", help, times);
    let help = "Retransmissions over all hosts, chosen for a warm start divided by control group";
    registry.register("retransmission_ratio", help, retransmissions);
}

/// Registers the times of answers, as a histogram.
fn answer_times(registry: &mut Registry, site: &GatewaySite) {
    let counts = &site.counts;
    let bounds = ANSWER_US.iter().map(|us| *us as f64 / 1e6).chain([f64::MAX]);
    let buckets: Vec<(f64, u64)> =
        bounds.enumerate().map(|(class, bound)| (bound, counts.answer_times.get(class))).collect();
    let count = buckets.iter().map(|(_, count)| count).sum();
    let times = AnswerTimes { buckets, sum: counts.answer_ns.get() as f64 / 1e9, count };
    registry.register("answer_seconds", "Time to find an answer, without the network", times);
}
