//! Fleets of servers whose gateway combines their sums.

use super::{Effect, OFF_RATIO, Traffic};
use canary::comparisons::{Canary, CanaryConnection};
use canary::fleet::fleet_finding;
use canary::part::{CanaryPart, fleet_parts};

/// Servers of a fleet.
pub(crate) const SERVERS: u64 = 20;
/// Compared connections of each server.
pub(crate) const CONNECTIONS: u64 = 500;
/// Connections of each server between two looks of the gateway.
const LOOK_EVERY: u64 = 10;

/// Findings of a fleet, and of its servers.
#[derive(Debug, Default)]
pub(crate) struct Fleet {
    /// Servers that have found harm alone, in any part that can be stopped.
    pub(crate) alone: usize,
    /// Connections of each server after which the fleet has found harm in all connections.
    pub(crate) harm: Option<u64>,
    /// The fleet has found harm in any part, at any look.
    pub(crate) has_alarmed: bool,
    /// The fleet has found a gain in any part, at any look.
    pub(crate) has_claimed: bool,
}

/// A server, with its own traffic and share of the control group.
struct Server {
    traffic: Traffic,
    holdout: f64,
    canary: Canary,
    has_found_harm: bool,
}

impl Server {
    fn next(&mut self, stage: u32, effect: &Effect) {
        let is_chosen = self.traffic.random.uniform() >= self.holdout;
        let connection: CanaryConnection = self.traffic.connection(stage, is_chosen, effect);
        let found = self.canary.add(&connection);
        let mut stoppable = found.iter().filter(|finding| finding.part.can_be_stopped());
        self.has_found_harm |= stoppable.any(|finding| finding.harm(OFF_RATIO).is_some());
    }
}

impl Fleet {
    /// Plays a fleet. Servers differ in speed, spread and losses. Every second one has a control
    /// group of a quarter instead of a twentieth. Settings change once.
    pub(crate) fn play(seed: u64, effect: &Effect) -> Self {
        let server = |n: u64| Server {
            traffic: Traffic::new(seed * SERVERS + n),
            holdout: if n.is_multiple_of(2) { 0.05 } else { 0.25 },
            canary: Canary::default(),
            has_found_harm: false,
        };
        let mut servers: Vec<_> = (0..SERVERS).map(server).collect();
        let mut fleet = Self::default();
        for n in 1..=CONNECTIONS {
            let stage = u32::from(n > CONNECTIONS / 2);
            servers.iter_mut().for_each(|server| server.next(stage, effect));
            if n.is_multiple_of(LOOK_EVERY) {
                fleet.look(n, &servers);
            }
        }
        fleet.alone = servers.iter().filter(|server| server.has_found_harm).count();
        fleet
    }

    fn look(&mut self, now: u64, servers: &[Server]) {
        let sums: Vec<_> = servers.iter().map(|server| server.canary.sums()).collect();
        for part in fleet_parts() {
            let of_part = sums.iter().flatten().filter(|(other, _)| *other == part);
            let hosts: Vec<_> = of_part.map(|(_, sums)| *sums).collect();
            let finding = fleet_finding(part, &hosts).finding;
            self.has_claimed |= finding.is_gain();
            let is_harm = finding.harm(OFF_RATIO).is_some();
            self.has_alarmed |= is_harm;
            if is_harm && part == CanaryPart::All {
                self.harm.get_or_insert(now);
            }
        }
    }
}
