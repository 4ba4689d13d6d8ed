//! Estimates as messages, and hosts' status reports, cut to a maximum length.

use gateway_proto::v1::{self, HostStatus};
use ipnet::IpNet;
use memory::site::{EstimateSource, SiteEstimate};

/// Longest version of a host that is kept, in characters.
const MAX_VERSION_CHARS: usize = 64;

/// Returns `estimate` as a message, with the network whose samples answer: the site's own
/// distribution has none.
pub(crate) fn estimate(estimate: &SiteEstimate) -> v1::Estimate {
    v1::Estimate {
        network: answering(estimate).map(v1::Network::of),
        window: estimate.window,
        rate: estimate.rate.map_or(0, |rate| rate.as_bps()),
        min_rtt_us: estimate.min_rtt.map_or(0, |rtt| rtt.as_micros()),
        confidence: estimate.confidence as f32,
        age_ms: estimate.age.as_millis(),
        samples: estimate.samples,
        reporters: estimate.reporters,
        source: source(estimate.source).into(),
    }
}

/// Returns the network whose samples answer; `None` for the site's own distribution.
pub(crate) fn answering(estimate: &SiteEstimate) -> Option<IpNet> {
    (estimate.source != EstimateSource::Prior).then_some(estimate.network)
}

/// Returns the estimate as a message under the name of the network in question, even if other
/// networks' samples answer.
pub(crate) fn estimate_of(network: IpNet, of: &SiteEstimate) -> v1::Estimate {
    v1::Estimate { network: Some(v1::Network::of(network)), ..estimate(of) }
}

/// Returns the estimate's source as a message.
pub(crate) fn source(source: EstimateSource) -> v1::Source {
    match source {
        EstimateSource::Network => v1::Source::Network,
        EstimateSource::Covering => v1::Source::Covering,
        EstimateSource::Neighbours => v1::Source::Neighbours,
        EstimateSource::Prior => v1::Source::Prior,
        EstimateSource::OtherSites => v1::Source::OtherSites,
    }
}

/// Returns the part of a host's status that is kept.
pub(crate) fn bounded(status: &HostStatus) -> HostStatus {
    let printable = |c: &char| !c.is_control();
    let version = status.version.chars().filter(printable).take(MAX_VERSION_CHARS).collect();
    HostStatus { version, ..status.clone() }
}
