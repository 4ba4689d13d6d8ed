//! The findings of all servers of the site, and what this agent stops by them.
//!
//! A finding is judged by this agent's own limit, and never raises the share of warm starts. The
//! agent obeys a finding only as long as gateways repeat it: a gateway that has just been started
//! lacks hosts, so a stop outlives the finding by a minute. Without a gateway it stays.

use crate::os::clock::since;
use ::canary::comparisons::CanaryStop;
use ::canary::fleet::FleetFinding;
use ::canary::part::CanaryPart;

/// Time for which a stop outlives its finding, nanoseconds: agents send their sums six times in it.
const STOP_LIFETIME_NS: u64 = 60_000_000_000;
/// Servers whose finding counts: one server knows its own without a gateway.
const MIN_HOSTS: u32 = 2;

/// See the module. It does not outlive the agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FleetState {
    findings: Vec<FleetFinding>,
    /// Time at which they were received.
    received_ns: u64,
    stops: Vec<FleetStop>,
}

#[derive(Clone, Debug, PartialEq)]
struct FleetStop {
    stop: CanaryStop,
    /// Time of the last finding of harm.
    found_ns: u64,
}

/// Changes by new findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FleetChange {
    /// Stops from now on.
    pub(crate) begun: Vec<CanaryStop>,
    /// Parts that are no longer stopped.
    pub(crate) ended: Vec<CanaryPart>,
}

impl FleetChange {
    pub(crate) fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.ended.is_empty()
    }
}

impl FleetState {
    /// Takes findings of the time `now`, nanoseconds of the monotonic clock. `ratio`: the
    /// largest ratio of retransmissions that is no harm.
    pub(crate) fn take(
        &mut self,
        findings: Vec<FleetFinding>,
        ratio: f64,
        now: u64,
    ) -> FleetChange {
        (self.findings, self.received_ns) = (findings, now);
        let mut change = FleetChange::default();
        for found in &self.findings {
            let part = found.finding.part;
            let is_of_fleet = found.hosts >= MIN_HOSTS && part.can_be_stopped();
            let Some(why) = found.finding.harm(ratio).filter(|_| is_of_fleet) else { continue };
            match self.stops.iter_mut().find(|known| known.stop.part == part) {
                Some(known) => known.found_ns = now,
                None => {
                    let why = format!("on {} servers of the site {why}", found.hosts);
                    let stop = CanaryStop { part, why };
                    change.begun.push(stop.clone());
                    self.stops.push(FleetStop { stop, found_ns: now });
                }
            }
        }
        self.stops.retain(|known| {
            let is_over = since(known.found_ns, now) > STOP_LIFETIME_NS;
            if is_over {
                change.ended.push(known.stop.part);
            }
            !is_over
        });
        change
    }

    /// Returns the last findings.
    pub(crate) fn findings(&self) -> &[FleetFinding] {
        &self.findings
    }

    /// Returns the time since the last findings were received, nanoseconds. Without a gateway it
    /// grows.
    pub(crate) fn age_ns(&self, now: u64) -> u64 {
        since(self.received_ns, now)
    }

    /// Returns the parts that are stopped now.
    pub(crate) fn stops(&self) -> impl Iterator<Item = &CanaryStop> {
        self.stops.iter().map(|known| &known.stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::canary::comparisons::CanaryFinding;
    use ::canary::interval::ConfidenceInterval;

    const SECOND: u64 = 1_000_000_000;

    fn found(part: CanaryPart, hosts: u32, low: f64) -> FleetFinding {
        let times = Some(ConfidenceInterval { estimate: low * 1.2, low, high: low * 1.5 });
        let (retransmissions, lossy) = (None, None);
        let finding =
            CanaryFinding { part, chosen: 900, control: 100, times, retransmissions, lossy };
        FleetFinding { hosts, finding }
    }

    fn stopped(state: &FleetState) -> Vec<CanaryPart> {
        state.stops().map(|stop| stop.part).collect()
    }

    #[test]
    fn harm_stops_at_once_and_outlives_its_finding_by_a_minute() {
        let mut state = FleetState::default();
        let harm = || vec![found(CanaryPart::All, 20, 1.1), found(CanaryPart::Carried(2), 20, 0.9)];
        let change = state.take(harm(), 2.0, 0);
        assert_eq!((change.begun.len(), change.ended.len()), (1, 0));
        assert!(
            change.begun[0].why.starts_with("on 20 servers of the site warm starts (900) took")
        );
        assert!(state.take(harm(), 2.0, 10 * SECOND).is_empty());
        // Another gateway knows of no harm yet.
        let open = || vec![found(CanaryPart::All, 2, 0.9)];
        assert!(state.take(open(), 2.0, 70 * SECOND).is_empty());
        assert_eq!(stopped(&state), [CanaryPart::All]);
        let change = state.take(open(), 2.0, 71 * SECOND);
        assert_eq!(change.ended, [CanaryPart::All]);
        assert!(stopped(&state).is_empty());
    }

    #[test]
    fn findings_grow_old_without_a_gateway() {
        let mut state = FleetState::default();
        state.take(vec![found(CanaryPart::All, 20, 0.9)], 2.0, 30 * SECOND);
        assert_eq!(state.age_ns(100 * SECOND), 70 * SECOND);
        state.take(vec![found(CanaryPart::All, 20, 0.9)], 2.0, 110 * SECOND);
        assert_eq!(state.age_ns(115 * SECOND), 5 * SECOND);
    }

    #[test]
    fn one_server_and_classes_of_bytes_stop_nothing() {
        let mut state = FleetState::default();
        let alone = found(CanaryPart::All, 1, 1.1);
        let by_bytes = found(CanaryPart::Bytes(3), 20, 1.1);
        assert!(state.take(vec![alone, by_bytes], 2.0, 0).is_empty());
        assert_eq!(state.findings().len(), 2);
    }

    /// Retransmissions lie surely above 1.5 times those of the control group.
    #[test]
    fn the_limit_is_that_of_this_agent() {
        let mut lossy = found(CanaryPart::All, 20, 0.9);
        lossy.finding.retransmissions =
            Some(ConfidenceInterval { estimate: 1.8, low: 1.5, high: 2.2 });
        let stops = |ratio| FleetState::default().take(vec![lossy.clone()], ratio, 0).begun.len();
        assert_eq!((stops(1.4), stops(1.5)), (1, 0));
    }
}
