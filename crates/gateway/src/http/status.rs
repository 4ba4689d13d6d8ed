//! The values of the JSON API, as `docs/gateway-api-schema.json` describes them. Times are in
//! seconds and milliseconds, rates in bits per second, windows in bytes.

use crate::config::options::CollectorName;
use crate::os::clock::SiteClock;
use crate::site::GatewaySite;
use crate::site::counters::{NONES, REFUSALS, RefusedConnection, SOURCES};
use crate::site::presence::GatewayPresence;
use crate::site::tenant::Tenant;
use crate::site::tenant::busiest::HistoryPoint;
use crate::site::tenant::fleet::GainOfClass;
use crate::site::tenant::messages::{answering, source};
use canary::fleet::FleetFinding;
use canary::interval::ConfidenceInterval;
use ipnet::IpNet;
use memory::canonical_network;
use memory::site::SiteEstimate;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use units::Instant;

/// Maximum number of reporters in the list of a tenant.
const MAX_REPORTERS: usize = 200;

/// The gateway as a whole: `/api/v1/status`.
#[derive(Debug, Serialize)]
pub(super) struct SiteStatus {
    /// The program's version.
    pub version: &'static str,
    /// Time since its start.
    pub uptime_s: f64,
    /// True if it takes reports and answers.
    pub ready: bool,
    /// Open connections of reporters.
    pub connections: u64,
    /// Accepted reports, by way of collecting.
    pub taken: BTreeMap<&'static str, u64>,
    /// Refused reports, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Batches received more than once.
    pub repeated_batches: u64,
    /// Answers, by source.
    pub answered: BTreeMap<&'static str, u64>,
    /// Questions without an answer, by reason.
    pub unanswered: BTreeMap<&'static str, u64>,
    /// Mean time to find an answer.
    pub answer_mean_us: Option<f64>,
    /// Connections that were refused, by reason.
    pub refused_connections: BTreeMap<&'static str, u64>,
    /// Certificates in the list.
    pub revoked_certificates: u64,
    /// Gateways of the site: this one first.
    pub gateways: Vec<GatewayStatus>,
    /// Status of each tenant.
    pub tenants: Vec<TenantStatus>,
}

/// A gateway of the site.
#[derive(Debug, Serialize)]
pub(super) struct GatewayStatus {
    /// Name of its host.
    pub name: String,
    /// The number of its records in the shared store.
    pub origin: u32,
    /// True if it is the one that answers.
    pub this: bool,
    /// True if it has written within a minute, or is the one that answers.
    pub alive: bool,
    /// Time since it last wrote to the shared store; none without a store.
    pub wrote_s: Option<f64>,
}

impl GatewayStatus {
    fn all(site: &GatewaySite) -> Vec<Self> {
        let now = SiteClock::wall_seconds();
        let status = |one: GatewayPresence| Self {
            this: one.origin == site.origin,
            alive: one.is_alive(now),
            // Clocks of hosts differ a little.
            wrote_s: one.wrote.map(|wrote| (now - wrote).max(0) as f64),
            origin: one.origin,
            name: one.name,
        };
        site.gateways.all().into_iter().map(status).collect()
    }
}

/// A tenant.
#[derive(Debug, Serialize)]
pub(super) struct TenantStatus {
    /// Its name.
    pub name: String,
    /// Networks and covering prefixes with at least one sample.
    pub prefixes: u64,
    /// Hosts that sent a message within a minute.
    pub alive: u64,
    /// Agents' own counts of their questions.
    pub questions: QuestionsStatus,
    /// Hosts, the most recently active one first.
    pub reporters: Vec<ReporterStatus>,
    /// The gain of warm starts, by size.
    pub gains: Vec<GainOfClass>,
    /// Findings of all hosts together: of all connections, and of classes of paths.
    pub comparison: Vec<FindingStatus>,
}

/// A finding of all hosts.
#[derive(Debug, Serialize)]
pub(super) struct FindingStatus {
    /// The part of the connections, in the agent's words.
    pub part: String,
    /// Hosts that have connections of both groups.
    pub hosts: u32,
    /// Connections chosen for a warm start.
    pub chosen: u64,
    /// Connections of the control group.
    pub control: u64,
    /// Ratio of completion times, chosen by control group.
    pub time_ratio: Option<ConfidenceInterval>,
    /// Ratio of retransmissions of a connection.
    pub retransmission_ratio: Option<ConfidenceInterval>,
    /// Conclusion: open, faster, slower or lossier.
    pub verdict: &'static str,
}

impl FindingStatus {
    fn of(found: &FleetFinding) -> Self {
        let finding = &found.finding;
        Self {
            part: finding.part.to_string(),
            hosts: found.hosts,
            chosen: finding.chosen,
            control: finding.control,
            time_ratio: finding.times,
            retransmission_ratio: finding.retransmissions,
            verdict: found.verdict(),
        }
    }
}

/// Questions of agents to gateways, by their own counts.
#[derive(Debug, Default, Serialize)]
pub(super) struct QuestionsStatus {
    /// Questions answered before the handshake was over.
    pub in_time: u64,
    /// Questions answered after it.
    pub late: u64,
    /// Questions never answered.
    pub none: u64,
}

/// A host.
#[derive(Debug, Serialize)]
pub(super) struct ReporterStatus {
    /// Name in its certificate.
    pub name: String,
    /// Role in its certificate: agent, operator or observer.
    pub role: &'static str,
    /// Time since its last message.
    pub heard_s: f64,
    /// True if that is less than a minute.
    pub alive: bool,
    /// Its accepted reports.
    pub taken: u64,
    /// Its refused reports.
    pub refused: u64,
    /// Version of its agent, if reported.
    pub version: Option<String>,
}

/// A network: `/api/v1/networks` has many, `/api/v1/network` one.
#[derive(Debug, Serialize)]
pub(super) struct NetworkStatus {
    /// Its prefix.
    pub network: IpNet,
    /// Reports since the gateway watches it; none if it does not.
    pub reports: Option<u64>,
    /// The current answer for it; none if nothing is known.
    pub estimate: Option<EstimateStatus>,
    /// Past estimates; only for a single network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<HistoryPoint>>,
}

/// An estimate: `/api/v1/estimate`.
#[derive(Debug, Serialize)]
pub(super) struct EstimateStatus {
    /// The prefix that answers; none if the site's own distribution does.
    pub network: Option<IpNet>,
    /// Window, bytes.
    pub window: u64,
    /// Rate, bits per second.
    pub rate: Option<u64>,
    /// Lowest round trip, milliseconds.
    pub min_rtt_ms: Option<f64>,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Age of the newest sample, seconds.
    pub age_s: f64,
    /// Number of samples that count.
    pub samples: u32,
    /// Number of hosts that have reported them.
    pub reporters: u32,
    /// Source: network, covering, neighbours, prior or other-sites.
    pub source: &'static str,
}

impl EstimateStatus {
    fn of(estimate: &SiteEstimate) -> Self {
        let word =
            |of| SOURCES.iter().find(|(each, _)| *each == of).map_or("unknown", |(_, word)| word);
        Self {
            network: answering(estimate),
            window: estimate.window,
            rate: estimate.rate.map(|rate| rate.as_bps()),
            min_rtt_ms: estimate.min_rtt.map(|rtt| rtt.as_secs_f64() * 1e3),
            confidence: estimate.confidence,
            age_s: estimate.age.as_secs_f64(),
            samples: estimate.samples,
            reporters: estimate.reporters,
            source: word(source(estimate.source)),
        }
    }
}

/// Returns the current status of the gateway.
pub(super) fn site(site: &GatewaySite) -> SiteStatus {
    let (counts, now) = (&site.counts, site.clock.now());
    let answered: BTreeMap<_, _> =
        SOURCES.map(|(source, word)| (word, counts.answered.get(source as usize))).into();
    let unanswered: BTreeMap<_, _> =
        NONES.map(|(none, word)| (word, counts.unanswered.get(none as usize))).into();
    let answers: u64 = answered.values().chain(unanswered.values()).sum();
    SiteStatus {
        version: env!("CARGO_PKG_VERSION"),
        uptime_s: site.clock.uptime().as_secs_f64(),
        ready: site.is_ready(),
        connections: counts.connections.get(),
        taken: CollectorName::ALL.map(|way| (way.word(), counts.taken.get(way as usize))).into(),
        refused: REFUSALS.map(|(why, word)| (word, counts.refused.get(why as usize))).into(),
        repeated_batches: counts.repeated_batches.get(),
        answered,
        unanswered,
        answer_mean_us: (answers > 0).then(|| counts.answer_ns.get() as f64 / answers as f64 / 1e3),
        refused_connections: RefusedConnection::ALL
            .map(|(why, word)| (word, counts.refused_connections.get(why as usize)))
            .into(),
        revoked_certificates: site.revocations.len() as u64,
        gateways: GatewayStatus::all(site),
        tenants: site.tenants().iter().map(|tenant| self::tenant(tenant, now)).collect(),
    }
}

/// Describes a tenant with its reporters, questions and comparisons.
fn tenant(tenant: &Tenant, now: Instant) -> TenantStatus {
    let prefixes = tenant.memory().len() as u64;
    let mut known = tenant.known();
    let findings = known.comparison.findings(now);
    let stoppable = findings.iter().filter(|found| found.finding.part.can_be_stopped());
    let compared = stoppable.filter(|found| found.hosts > 0);
    let gains = known.comparison.classes(now);
    let alive = known.reporters.iter().filter(|(_, record)| record.is_alive(now)).count() as u64;
    let mut questions = QuestionsStatus::default();
    for status in known.reporters.iter().filter_map(|(_, record)| record.status.as_ref()) {
        questions.in_time += status.answers_in_time;
        questions.late += status.answers_late;
        questions.none += status.answers_none;
    }
    let reporters = known.reporters.iter().take(MAX_REPORTERS);
    let reporters = reporters.map(|(name, record)| ReporterStatus {
        name: name.to_owned(),
        role: record.role.word(),
        heard_s: now.saturating_since(record.heard).as_secs_f64(),
        alive: record.is_alive(now),
        taken: record.taken,
        refused: record.refused,
        version: record.status.as_ref().map(|status| status.version.clone()),
    });
    TenantStatus {
        name: tenant.name.clone(),
        prefixes,
        alive,
        questions,
        reporters: reporters.collect(),
        gains,
        comparison: compared.map(FindingStatus::of).collect(),
    }
}

/// Returns the busiest networks of a tenant.
pub(super) fn networks(tenant: &Tenant, now: Instant, most: usize) -> Vec<NetworkStatus> {
    let busiest = tenant.known().busy.busiest(most);
    let memory = tenant.memory();
    let status = |(network, reports): (IpNet, u64)| NetworkStatus {
        network,
        reports: Some(reports),
        estimate: memory
            .estimate(now, network.addr(), None)
            .map(|found| EstimateStatus::of(&found)),
        history: None,
    };
    busiest.into_iter().map(status).collect()
}

/// Returns one network, with its history.
pub(super) fn network(tenant: &Tenant, now: Instant, network: IpNet) -> NetworkStatus {
    let network = canonical_network(network.trunc());
    let known = tenant.known();
    let busy = known.busy.get(&network);
    NetworkStatus {
        network,
        reports: busy.map(|busy| busy.reports),
        estimate: estimate(tenant, now, network.addr(), None),
        history: Some(busy.map(|busy| busy.history.iter().copied().collect()).unwrap_or_default()),
    }
}

/// Returns the answer that a question would get.
pub(super) fn estimate(
    tenant: &Tenant,
    now: Instant,
    address: IpAddr,
    size: Option<u64>,
) -> Option<EstimateStatus> {
    tenant.estimate_anew(now, address, size).map(|found| EstimateStatus::of(&found))
}
