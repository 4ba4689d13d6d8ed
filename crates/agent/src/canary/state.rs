//! The canary of a running agent: which connections are compared, and which parts of them are
//! stopped. Crate `canary` has the statistics; this side assigns the groups, and remembers the
//! outcome.
//!
//! Connections are compared by intention to treat. A connection counts among those chosen for a
//! remembered window even if it could not use one in the end. The same would hold for unknown
//! members of the control group.

use crate::canary::comparison::{FleetComparison, by_fleet};
use crate::canary::fleet::{FleetChange, FleetState};
use crate::contract::StartReason;
use crate::contract::{ConnectionSummary, StoppedParts};
use ::canary::comparisons::{Canary, CanaryConnection, CanaryFinding, CanaryStop};
use ::canary::fleet::FleetFinding;
use ::canary::networks::is_of;
use ::canary::part::CanaryPart;
use ::canary::trial::{CanaryGroup, CanaryOutcome, TrialSums};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Limits of harm from which on the agent stops remembered windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarmLimit {
    /// Largest ratio of a connection's retransmissions to those of the control group.
    pub ratio: f64,
    /// Fewest connections in each group before a conclusion.
    pub fewest: u64,
    /// There is a control group. Otherwise connections without a memory stand in for it, and only
    /// retransmissions are compared.
    pub has_control_group: bool,
}

/// See the module. It outlives the agent, in its state file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CanaryState {
    trials: Canary,
    stops: Vec<CanaryStop>,
    #[serde(skip)]
    fleet: FleetState,
}

impl CanaryState {
    /// Adds a closed connection, and returns the parts that have to stop from now on.
    pub(crate) fn add(
        &mut self,
        summary: &ConnectionSummary,
        limit: &HarmLimit,
    ) -> Vec<CanaryStop> {
        let Some(connection) = compared_connection(summary, limit.has_control_group) else {
            return Vec::new();
        };
        self.trials.set_fewest(limit.fewest);
        let findings = self.trials.add(&connection);
        let harmful = findings.into_iter().filter(|finding| {
            finding.part.can_be_stopped() && self.stops.iter().all(|stop| stop.part != finding.part)
        });
        let new = harmful.filter_map(|finding| {
            let why = finding.harm(limit.ratio)?;
            Some(CanaryStop { part: finding.part, why })
        });
        let new: Vec<_> = new.collect();
        self.stops.extend(new.iter().cloned());
        new
    }

    /// Takes findings of all servers of the site, of the time `now`, nanoseconds of the monotonic
    /// clock.
    pub(crate) fn take_fleet(
        &mut self,
        findings: Vec<FleetFinding>,
        limit: &HarmLimit,
        now: u64,
    ) -> FleetChange {
        self.fleet.take(findings, limit.ratio, now)
    }

    /// Sums of this server's comparison for the site; none without a control group, whose stand-ins
    /// chance has not chosen.
    pub(crate) fn sums(&self, limit: &HarmLimit) -> Vec<(CanaryPart, TrialSums)> {
        if limit.has_control_group { self.trials.sums() } else { Vec::new() }
    }

    /// Returns the last findings of all servers of the site; `None` without any. `now`: nanoseconds
    /// of the monotonic clock.
    pub(crate) fn by_fleet(&self, now: u64) -> Option<FleetComparison> {
        let age_s = self.fleet.age_ns(now) as f64 / 1e9;
        by_fleet(self.fleet.findings(), age_s, self.all_stops())
    }

    /// Returns the parts that this server has stopped by its own comparison.
    pub(crate) fn stops(&self) -> &[CanaryStop] {
        &self.stops
    }

    /// Returns the stopped parts, first by this server's own comparison, then by that of all
    /// servers.
    pub(crate) fn all_stops(&self) -> impl Iterator<Item = &CanaryStop> {
        self.stops.iter().chain(self.fleet.stops())
    }

    /// Returns true if all connections start cold.
    pub(crate) fn is_off(&self) -> bool {
        self.all_stops().any(|stop| stop.part == CanaryPart::All)
    }

    /// Returns the reason if all connections start cold by this server's own comparison.
    pub(crate) fn off(&self) -> Option<&str> {
        let of_all = self.stops.iter().find(|stop| stop.part == CanaryPart::All);
        of_all.map(|stop| stop.why.as_str())
    }

    /// Returns the stopped parts in the form of the kernel's programs.
    pub(crate) fn stopped_parts(&self) -> StoppedParts {
        let mut parts = StoppedParts::default();
        self.all_stops().for_each(|stop| parts.add(stop.part));
        parts
    }

    /// Returns the networks that are stopped by themselves.
    pub(crate) fn stopped_networks(&self) -> impl Iterator<Item = IpNet> {
        self.stops.iter().filter_map(|stop| stop.part.network())
    }

    /// Forgets the networks that an order to forget `prefix` concerns ([`is_of`]). Returns true if
    /// one of them was stopped, and is not any more.
    pub(crate) fn forget(&mut self, prefix: Option<IpNet>) -> bool {
        self.trials.forget(prefix);
        let before = self.stops.len();
        let concerned =
            |stop: &CanaryStop| stop.part.network().is_some_and(|one| is_of(one, prefix));
        self.stops.retain(|stop| !concerned(stop));
        self.stops.len() < before
    }

    /// Returns the comparisons' present results.
    pub(crate) fn findings(&self) -> Vec<CanaryFinding> {
        self.trials.findings()
    }

    /// Returns the state as the next agent resumes it: its stages count from 0. `off`: the reason
    /// why all windows were stopped, which also a version without any other state kept.
    pub(crate) fn into_resumed(mut self, off: Option<String>) -> Self {
        self.trials.end_stages();
        if let Some(why) = off.filter(|_| self.off().is_none()) {
            self.stops.push(CanaryStop { part: CanaryPart::All, why });
        }
        self
    }
}

/// Returns the connection as it is compared; `None` if it is not compared.
fn compared_connection(
    summary: &ConnectionSummary,
    has_control_group: bool,
) -> Option<CanaryConnection> {
    let is_stand_in = !has_control_group
        && matches!(summary.start, StartReason::Unknown | StartReason::Old)
        && !summary.is_compared;
    if !summary.is_compared && !is_stand_in {
        return None;
    }
    Some(CanaryConnection {
        group: CanaryGroup {
            stage: summary.stage,
            is_chosen: !summary.in_control_group && !is_stand_in,
        },
        remembered: summary.remembered,
        network: summary.path.prefix,
        carried: summary.path_carried,
        lost: summary.path_lost,
        bytes: summary.bytes_acked,
        outcome: CanaryOutcome {
            // Times are not comparable: first visits go to other destinations, and other distances.
            time_s: if has_control_group { summary.lasted_ns as f64 / 1e9 } else { 0.0 },
            retransmissions: summary.retransmitted,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary::part::PrefixLength;

    const LIMIT: HarmLimit = HarmLimit { ratio: 2.0, fewest: 100, has_control_group: true };

    fn summary(n: u64, in_control_group: bool, retransmitted: u32) -> ConnectionSummary {
        let none = ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).unwrap();
        let remembered = 30;
        let lasted_ns = 1_000_000_000 + n % 7 * 100_000_000;
        ConnectionSummary {
            is_compared: true,
            in_control_group,
            retransmitted,
            remembered,
            lasted_ns,
            ..none
        }
    }

    /// Warm starts retransmit twenty segments each, the control group one in ten connections.
    fn harmed(limit: &HarmLimit, control: ConnectionSummary) -> CanaryState {
        let mut canary = CanaryState::default();
        for n in 0..400 {
            let again = u32::from(n % 10 == 0);
            canary.add(&ConnectionSummary { retransmitted: again, ..control }, limit);
            let stops = canary.add(&summary(n, false, 20), limit);
            // A stop is reported once.
            assert!(stops.iter().all(|stop| stop.why.contains("retransmitted")), "{stops:?}");
        }
        canary
    }

    /// The summaries' network is ::/0, which 2001:db8::/48 is a part of. The stop of all stays: it
    /// names no network.
    #[test]
    fn a_forgotten_network_is_no_longer_named_or_stopped() {
        let mut canary = harmed(&LIMIT, summary(0, true, 0));
        let named = |canary: &CanaryState| {
            serde_json::to_string(canary).unwrap().contains("::/0")
                || canary.stopped_networks().next().is_some()
        };
        assert!(!canary.forget(Some("192.0.2.0/24".parse().unwrap())) && named(&canary));
        assert!(canary.forget(Some("2001:db8::/48".parse().unwrap())) && !named(&canary));
        assert!(canary.is_off());
    }

    #[test]
    fn harm_stops_all_and_the_parts_in_which_it_is_seen() {
        let canary = harmed(&LIMIT, summary(0, true, 0));
        let mut parts: Vec<_> = canary.stops().iter().map(|stop| stop.part.to_string()).collect();
        parts.sort();
        // An empty summary has the prefix ::/0.
        let past = ["path carried to 16384", "path lost to 0.1 %"];
        assert_eq!(parts, ["IPv6 /0", "all", "network ::/0", past[0], past[1], "window to 32"]);
        assert_eq!(canary.stopped_networks().count(), 1);
        assert!(canary.off().unwrap().contains("retransmitted 200.00 times as much"));
        let mut expected = StoppedParts::default();
        expected.add(CanaryPart::Window(1));
        expected.add(CanaryPart::Carried(0));
        expected.add(CanaryPart::Lost(0));
        expected.add(CanaryPart::Network("::/0".parse().unwrap()));
        expected.add(CanaryPart::Length(PrefixLength { is_v4: false, bits: 0 }));
        assert_eq!(canary.stopped_parts(), expected);
    }

    #[test]
    fn first_visits_stand_in_only_where_nobody_is_control_and_say_nothing_of_times() {
        let first = ConnectionSummary {
            is_compared: false,
            start: StartReason::Unknown,
            ..summary(0, false, 0)
        };
        assert_eq!(harmed(&LIMIT, first).off(), None);
        let limit = HarmLimit { has_control_group: false, ..LIMIT };
        let canary = harmed(&limit, first);
        assert!(canary.off().is_some());
        assert!(canary.findings().iter().all(|finding| finding.times.is_none()));
        // A connection that lost its handshake is no stand-in: warm starts have lost none.
        let lost = ConnectionSummary { start: StartReason::Handshake, ..first };
        assert_eq!(harmed(&limit, lost).off(), None);
    }

    /// State files of earlier versions have the numbers of lossy connections under these keys.
    #[test]
    fn a_state_file_keeps_the_keys_of_earlier_versions() {
        let text = serde_json::to_string(&harmed(&LIMIT, summary(0, true, 0))).unwrap();
        assert!(text.contains(r#""losing":{"closed":400,"losing":40}"#), "{text}");
        assert!(text.contains(r#""past_losing":["#), "{text}");
    }

    #[test]
    fn what_was_found_outlives_the_agent() {
        let canary = harmed(&LIMIT, summary(0, true, 0));
        let text = serde_json::to_string(&canary).unwrap();
        let resumed = serde_json::from_str::<CanaryState>(&text).unwrap().into_resumed(None);
        assert_eq!(resumed.stops(), canary.stops());
        let old = CanaryState::default().into_resumed(Some("harm".to_owned()));
        assert_eq!((old.off(), old.stops().len()), (Some("harm"), 1));
        for (was, is) in canary.findings().iter().zip(resumed.findings()) {
            let (was, is) = (was.times.unwrap(), is.times.unwrap());
            assert!((was.estimate - is.estimate).abs() < 1e-9 && (was.low - is.low).abs() < 1e-9);
        }
    }
}
