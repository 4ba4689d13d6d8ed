//! Decides whether a report counts. A report about a path is accepted only within the limits of a
//! possible connection.

use crate::config::options::CollectorName;
use crate::config::permission::Allowed;
use crate::config::{LongestPrefix, Rules, SHORTEST_V4, SHORTEST_V6};
use crate::pki::HolderRole;
use gateway_proto::v1::{self, Refusal, ReportBatch};
use ipnet::IpNet;
use memory::holds_translated;
use memory::site::{Bound, Reporter, SiteReport};
use units::{Duration, Rate};

/// Largest window that TCP can offer, bytes (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 1 << 30;
/// Upper limit of a rate, bits per second: faster than any interface.
const MAX_RATE: u64 = 10_000_000_000_000;
/// Upper limit of a round trip, microseconds: longer than any handshake waits (RFC 6298 §2.5).
const MAX_RTT_US: u64 = 60_000_000;

/// A report that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedReport {
    /// The report for the estimator.
    pub report: SiteReport,
    /// Its age.
    pub age: Duration,
}

/// Returns the way in which the reports of `batch` were collected.
///
/// # Errors
/// If the batch makes no sense as a whole: the reason.
pub(crate) fn sense_of(batch: &ReportBatch, rules: &Rules) -> Result<CollectorName, &'static str> {
    if batch.epoch == 0 || batch.sequence == 0 {
        return Err("epoch and sequence begin at 1");
    }
    if batch.reports.len() > rules.max_batch {
        return Err("more reports than max-batch allows");
    }
    collector(batch.collector).ok_or("no collector, or an unknown one")
}

/// Returns true if a holder of this role may collect in this way: an observer has only what packets
/// show.
pub(super) const fn may_collect(role: HolderRole, collector: CollectorName) -> bool {
    match role {
        HolderRole::Agent | HolderRole::Operator => true,
        HolderRole::Observer => {
            matches!(collector, CollectorName::Option | CollectorName::Passive)
        }
    }
}

/// Judges `report` of `reporter`.
///
/// # Errors
/// If it does not count: the reason.
pub(crate) fn judge(
    report: &v1::Report,
    reporter: Reporter,
    rules: &Rules,
    allowed: &Allowed,
) -> Result<JudgedReport, Refusal> {
    let network = reported_network(report.network.as_ref(), allowed)?;
    if !is_short(&network, rules.longest) {
        return Err(Refusal::TooLong);
    }
    let age = Duration::from_millis(report.age_ms.into());
    if age.as_nanos() > u64::try_from(rules.retention.as_nanos()).unwrap_or(u64::MAX) {
        return Err(Refusal::TooOld);
    }
    let bound = bound(report.bound).ok_or(Refusal::Figures)?;
    let is_possible = (1..=MAX_WINDOW).contains(&report.window)
        && report.rate <= MAX_RATE
        && report.min_rtt_us <= MAX_RTT_US
        && report.lost <= report.sent;
    if !is_possible {
        return Err(Refusal::Figures);
    }
    let report = SiteReport {
        network,
        reporter,
        window: report.window,
        rate: (report.rate > 0).then(|| Rate::from_bps(report.rate)),
        min_rtt: (report.min_rtt_us > 0).then(|| Duration::from_micros(report.min_rtt_us)),
        sent: report.sent,
        lost: report.lost,
        bound,
    };
    Ok(JudgedReport { report, age })
}

/// Returns the network of visitors that a message names.
///
/// # Errors
/// If the message names none, or one that its sender may not report.
pub(crate) fn reported_network(
    network: Option<&v1::Network>,
    allowed: &Allowed,
) -> Result<IpNet, Refusal> {
    let network = network.and_then(v1::Network::to_net).ok_or(Refusal::Network)?;
    if network.prefix_len() < shortest(&network) || holds_translated(&network) {
        return Err(Refusal::Network);
    }
    allowed.may_report(&network).then_some(network).ok_or(Refusal::NotAllowed)
}

/// Returns true if `network` is no longer than the prefixes that may be reported about visitors.
pub(crate) fn is_short(network: &IpNet, longest: LongestPrefix) -> bool {
    network.prefix_len() <= if network.addr().is_ipv4() { longest.v4 } else { longest.v6 }
}

/// Returns the length of the shortest prefix that is a network of visitors and not a part of the
/// Internet.
const fn shortest(network: &IpNet) -> u8 {
    match network {
        IpNet::V4(_) => SHORTEST_V4,
        IpNet::V6(_) => SHORTEST_V6,
    }
}

/// Returns the way of collecting that a message names; `None` if it is unknown.
pub(crate) fn collector(number: i32) -> Option<CollectorName> {
    match v1::Collector::try_from(number).ok()? {
        v1::Collector::Unspecified => None,
        v1::Collector::Agent => Some(CollectorName::Agent),
        v1::Collector::Application => Some(CollectorName::Application),
        v1::Collector::Option => Some(CollectorName::Option),
        v1::Collector::Passive => Some(CollectorName::Passive),
        v1::Collector::Replay => Some(CollectorName::Replay),
    }
}

/// Returns the bound with this number of the protocol; `None` if it is unspecified, or of a later
/// version.
fn bound(number: i32) -> Option<Bound> {
    match v1::Bound::try_from(number).ok()? {
        v1::Bound::Unspecified => None,
        v1::Bound::Loss => Some(Bound::Loss),
        v1::Bound::ReceiveWindow => Some(Bound::ReceiveWindow),
        v1::Bound::Application => Some(Bound::Application),
        v1::Bound::OwnStart => Some(Bound::OwnStart),
        v1::Bound::Over => Some(Bound::Over),
    }
}
