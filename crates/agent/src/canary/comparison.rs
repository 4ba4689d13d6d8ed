//! Gain and cost of remembered windows on live traffic, as operators see them. Connections chosen
//! for a remembered window are compared with the control group, all together and part by part. The
//! intervals hold at every look (crate `canary`).

use super::totals::{Class, ConnectionTotals, Group};
use ::canary::comparisons::{CanaryFinding, CanaryStop};
use ::canary::fleet::FleetFinding;
use ::canary::interval::{ConfidenceInterval, share};
use ::canary::lossy::LossyRatio;
use ::canary::part::{CanaryPart, SIZES};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Connections.
    pub closed: u64,
    /// Geometric mean of the times from the opening to the last acknowledged data, less pauses
    /// longer than a round trip, seconds; `None` without connections.
    pub time_s: Option<f64>,
    /// Share of connections that retransmitted (Wilson's interval, for one look).
    pub retransmitting: Option<ConfidenceInterval>,
    /// Share of connections that lost a segment of the very first flight.
    pub lost_first: Option<ConfidenceInterval>,
}

/// Connections of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Bytes acknowledged, at most; `None` for the largest.
    pub up_to_bytes: Option<u64>,
    /// Chosen for a remembered window.
    pub warm: Side,
    /// Connections of the control group.
    pub control_group: Side,
    /// Geometric mean of warm times, divided by that of the control group; `None` if either group
    /// has too few connections.
    pub time_ratio: Option<ConfidenceInterval>,
    /// Conclusion of the comparison.
    pub verdict: CanaryVerdict,
}

/// Conclusion of a comparison so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryVerdict {
    /// No significant difference so far.
    Open,
    /// Warm starts are faster.
    Gain,
    /// Warm starts are surely slower, and nothing is stopped for that: these connections cannot be
    /// recognised when they start.
    Slower,
    /// Warm starts surely retransmit more, or in more connections, but not enough to be stopped.
    Lossier,
    /// Warm starts do harm, and are stopped.
    Stopped,
}

/// Connections that can be recognised before they start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedPart {
    /// Name of the part: `all`, by the remembered window, by the bytes and losses of earlier
    /// connections, by prefix length, or by network.
    pub part: String,
    /// The network, if the part is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<IpNet>,
    /// Connections chosen for a remembered window.
    pub chosen: u64,
    /// Connections of the control group.
    pub control_group: u64,
    /// Completion times, chosen by control group.
    pub time_ratio: Option<ConfidenceInterval>,
    /// Retransmissions of a connection, chosen by control group.
    pub retransmission_ratio: Option<ConfidenceInterval>,
    /// Connections that retransmitted anything, chosen by control group.
    pub lossy_ratio: Option<ConfidenceInterval>,
    /// Conclusion of the comparison.
    pub verdict: CanaryVerdict,
}

/// The comparison of all servers of a site, by the gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetComparison {
    /// Servers that have connections of both groups.
    pub hosts: u32,
    /// Time since the gateway reported it, seconds. Without a gateway it grows.
    #[serde(default)]
    pub age_s: f64,
    /// All connections first, then classes of paths.
    pub parts: Vec<ComparedPart>,
}

/// Returns the findings of all servers that are `age_s` seconds old; `None` without any, and if no
/// server has connections of both groups.
pub fn by_fleet<'a>(
    findings: &[FleetFinding],
    age_s: f64,
    stops: impl Iterator<Item = &'a CanaryStop>,
) -> Option<FleetComparison> {
    let stops: Vec<_> = stops.cloned().collect();
    let hosts = findings.iter().map(|found| found.hosts).max().filter(|hosts| *hosts > 0)?;
    let parts = findings.iter().filter(|found| found.hosts > 0).map(|found| &found.finding);
    let parts = parts.filter(|finding| finding.part.can_be_stopped());
    let parts = parts.map(|of| compared_part(of, &stops)).collect();
    Some(FleetComparison { hosts, age_s, parts })
}

/// Returns the comparisons by size, the smallest first.
pub fn by_size(totals: &ConnectionTotals, findings: &[CanaryFinding]) -> Vec<Compared> {
    let sizes = SIZES.iter().copied().map(Some).chain([None]);
    let classes = (0..).zip(sizes.zip(&totals.classes));
    classes
        .map(|(n, (up_to_bytes, class))| describe_class(n, up_to_bytes, class, findings))
        .collect()
}

/// Describes class `n` of connections by size, with its comparison if there is one.
fn describe_class(
    n: u8,
    up_to_bytes: Option<u64>,
    class: &Class,
    findings: &[CanaryFinding],
) -> Compared {
    let finding = findings.iter().find(|finding| finding.part == CanaryPart::Bytes(n));
    Compared {
        up_to_bytes,
        warm: side(&class.warm),
        control_group: side(&class.control_group),
        time_ratio: finding.and_then(|finding| finding.times),
        verdict: finding.map_or(CanaryVerdict::Open, |finding| verdict(finding, &[])),
    }
}

/// Returns the conclusion of a comparison. Harm comes first, since it needs attention.
fn verdict(finding: &CanaryFinding, stops: &[CanaryStop]) -> CanaryVerdict {
    if stops.iter().any(|stop| stop.part == finding.part) {
        CanaryVerdict::Stopped
    } else if finding.is_slower() {
        CanaryVerdict::Slower
    } else if finding.is_lossier(1.0) {
        CanaryVerdict::Lossier
    } else if finding.is_gain() {
        CanaryVerdict::Gain
    } else {
        CanaryVerdict::Open
    }
}

/// Describes one group of a class, with the shares of its connections that lost anything.
fn side(group: &Group) -> Side {
    Side {
        closed: group.closed,
        time_s: group.log_times.mean_s(),
        retransmitting: share(group.retransmitting, group.closed),
        lost_first: share(group.lost_first, group.closed),
    }
}

/// Returns the comparisons of parts that can be stopped: all connections first, then by remembered
/// window and by prefix length.
pub fn by_part(findings: &[CanaryFinding], stops: &[CanaryStop]) -> Vec<ComparedPart> {
    let parts = findings.iter().filter(|finding| finding.part.can_be_stopped());
    parts.map(|finding| compared_part(finding, stops)).collect()
}

/// Describes the comparison of a part, with its conclusion.
fn compared_part(finding: &CanaryFinding, stops: &[CanaryStop]) -> ComparedPart {
    ComparedPart {
        part: finding.part.to_string(),
        network: finding.part.network(),
        chosen: finding.chosen,
        control_group: finding.control,
        time_ratio: finding.times,
        retransmission_ratio: finding.retransmissions,
        lossy_ratio: finding.lossy.as_ref().map(LossyRatio::interval),
        verdict: verdict(finding, stops),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gateway has a finding of each part, also of parts that no server has.
    #[test]
    fn a_fleet_without_hosts_has_no_comparison() {
        let found = |part, hosts| {
            let (chosen, control) = (u64::from(hosts) * 9, u64::from(hosts));
            let (times, retransmissions, lossy) = (None, None, None);
            let finding = CanaryFinding { part, chosen, control, times, retransmissions, lossy };
            FleetFinding { hosts, finding }
        };
        let stops = std::iter::empty::<&CanaryStop>;
        assert_eq!(by_fleet(&[], 1.0, stops()), None);
        assert_eq!(by_fleet(&[found(CanaryPart::All, 0)], 1.0, stops()), None);
        let of_all = [found(CanaryPart::All, 3), found(CanaryPart::Carried(1), 0)];
        let fleet = by_fleet(&of_all, 2.5, stops()).unwrap();
        assert_eq!((fleet.hosts, fleet.age_s, fleet.parts.len()), (3, 2.5, 1));
    }

    #[test]
    fn what_is_found_is_a_gain_or_stopped_or_open() {
        let between = |low, high| Some(ConfidenceInterval { estimate: 0.9, low, high });
        let of = |part, times| CanaryFinding {
            part,
            chosen: 200,
            control: 100,
            times,
            retransmissions: None,
            lossy: None,
        };
        let findings = [
            of(CanaryPart::All, between(0.8, 0.99)),
            of(CanaryPart::Window(0), between(0.8, 1.01)),
            of(CanaryPart::Window(1), between(0.8, 0.99)),
            of(CanaryPart::Bytes(2), between(0.7, 0.9)),
            // Faster, and lossier: the operator has to look at it.
            CanaryFinding {
                retransmissions: between(1.1, 1.9),
                ..of(CanaryPart::Window(2), between(0.8, 0.9))
            },
        ];
        let stops = [CanaryStop { part: CanaryPart::Window(1), why: "harm".to_owned() }];
        let parts = by_part(&findings, &stops);
        let verdicts: Vec<_> = parts.iter().map(|part| part.verdict).collect();
        let [gain, open] = [CanaryVerdict::Gain, CanaryVerdict::Open];
        assert_eq!(verdicts, [gain, open, CanaryVerdict::Stopped, CanaryVerdict::Lossier]);
        let sizes = by_size(&ConnectionTotals::default(), &findings);
        assert_eq!((sizes[2].time_ratio, sizes[2].verdict), (between(0.7, 0.9), gain));
        // Harm to a size is named, and stops nothing.
        let slow =
            by_size(&ConnectionTotals::default(), &[of(CanaryPart::Bytes(4), between(1.4, 2.4))]);
        assert_eq!((slow[4].verdict, slow[3].verdict), (CanaryVerdict::Slower, open));
        assert_eq!((sizes.len(), sizes[1].time_ratio), (5, None));
    }
}
