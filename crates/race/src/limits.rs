//! The limits that visits are compared with. If a rate of the path changes, each visit has its own.

use super::contestant::{Contestant, MeasuredLoad};
use super::limit::Limit;
use super::{Race, RaceOutcome, VisitKind};
use std::collections::BTreeMap;
use units::Duration;

/// The limits of visits that begin at one phase.
#[derive(Clone, Debug)]
pub(super) struct PhaseLimits {
    pub(super) with_handshake: Limit,
    pub(super) without_handshake: Limit,
}

/// The limits of all visits of a kind in a race.
#[derive(Clone, Debug)]
pub(super) struct VisitLimits {
    /// The limits of a path whose rates do not change; else of the first repeat.
    pub(super) first: PhaseLimits,
    by_phase: BTreeMap<Duration, PhaseLimits>,
}

impl VisitLimits {
    pub(super) fn new(race: &Race, outcome: &RaceOutcome, kind: VisitKind) -> Self {
        let of_phase = |phase| PhaseLimits {
            with_handshake: race.limit(kind, Some(phase)),
            without_handshake: race.limit_without_handshake(Some(phase)),
        };
        let with = match kind {
            VisitKind::First => &outcome.limit,
            VisitKind::Repeated => &outcome.limit_again,
        };
        let first = PhaseLimits {
            with_handshake: with.clone(),
            without_handshake: outcome.limit_without_handshake.clone(),
        };
        let turns = outcome.contestants.iter().flat_map(Contestant::counted);
        let phases = turns.flat_map(|turn| turn.loads(kind)).filter_map(|load| load.phase);
        let mut by_phase = BTreeMap::new();
        for phase in phases {
            by_phase.entry(phase).or_insert_with(|| of_phase(phase));
        }
        Self { first, by_phase }
    }

    /// The limits of a visit.
    pub(super) fn of(&self, load: &MeasuredLoad) -> &PhaseLimits {
        load.phase.and_then(|phase| self.by_phase.get(&phase)).unwrap_or(&self.first)
    }

    /// True if all visits have the same limits.
    pub(super) fn are_one(&self) -> bool {
        self.by_phase.is_empty()
    }
}
