//! Schedules turns among members that have data to send.
//!
//! A scheduler knows the ready members, picks the next one, and is notified when it has used its
//! turn. A turn is one segment of new data. Retransmissions, control segments and ACKs are not
//! scheduled.

mod stride;
mod weighted;

use policy::sharing::{Scheduling, TurnClaim};
use segment::ConnId;
use stride::Stride;
use weighted::WeightedRoundRobin;

/// Picks the next sender.
#[derive(Debug)]
pub(crate) enum Scheduler {
    Weighted(WeightedRoundRobin),
    Stride(Stride),
}

impl Scheduler {
    pub(crate) fn new(scheduling: Scheduling) -> Self {
        match scheduling {
            Scheduling::RoundRobin | Scheduling::WeightedRoundRobin => {
                Self::Weighted(WeightedRoundRobin::default())
            }
            Scheduling::Stride(_) => Self::Stride(Stride::default()),
        }
    }

    /// Adds `id`, with nothing to send yet.
    pub(crate) fn join(&mut self, id: ConnId, claim: TurnClaim) {
        match self {
            Self::Weighted(s) => s.join(id, weight(claim)),
            Self::Stride(s) => s.join(id, claim),
        }
    }

    /// Removes `id`.
    pub(crate) fn leave(&mut self, id: ConnId) {
        match self {
            Self::Weighted(s) => s.leave(id),
            Self::Stride(s) => s.leave(id),
        }
    }

    /// Sets the claim of `id` from now on.
    pub(crate) fn set_claim(&mut self, id: ConnId, claim: TurnClaim) {
        match self {
            Self::Weighted(s) => s.set_weight(id, weight(claim)),
            Self::Stride(s) => s.set_claim(id, claim),
        }
    }

    /// Notes that `id` has data to send; a repetition has no effect.
    pub(crate) fn wake(&mut self, id: ConnId) {
        match self {
            Self::Weighted(s) => s.wake(id),
            Self::Stride(s) => s.wake(id),
        }
    }

    /// Returns the member with the current turn. It stays the same until it has used its turn or
    /// has nothing to send.
    pub(crate) fn pick(&mut self) -> Option<ConnId> {
        match self {
            Self::Weighted(s) => s.pick(),
            Self::Stride(s) => s.pick(),
        }
    }

    /// Notes that the picked member has sent a segment.
    pub(crate) fn on_sent(&mut self) {
        match self {
            Self::Weighted(s) => s.on_sent(),
            Self::Stride(s) => s.on_sent(),
        }
    }

    /// Notes that the picked member has nothing to send for now.
    pub(crate) fn on_idle(&mut self) {
        match self {
            Self::Weighted(s) => s.on_idle(),
            Self::Stride(s) => s.on_idle(),
        }
    }
}

/// Returns the weight of a claim; a round robin has no precedence.
const fn weight(claim: TurnClaim) -> u32 {
    match claim {
        TurnClaim::Preempting(weight) | TurnClaim::Proportional(weight) => weight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::sharing::Tickets;
    use std::collections::BTreeMap;

    fn schedulers() -> [Scheduler; 2] {
        [Scheduling::WeightedRoundRobin, Scheduling::Stride(Tickets::Fair)].map(Scheduler::new)
    }

    /// Returns the turns of each member in `n` turns, if all have data all the time.
    fn turns(scheduler: &mut Scheduler, n: u32) -> BTreeMap<u32, u32> {
        let mut count = BTreeMap::new();
        for _ in 0..n {
            let id = scheduler.pick().unwrap();
            scheduler.on_sent();
            *count.entry(id.0).or_insert(0) += 1;
        }
        count
    }

    #[test]
    fn turns_are_proportional_to_weights_also_after_they_change() {
        for mut scheduler in schedulers() {
            for (id, weight) in [(0, 1), (1, 2), (2, 5)] {
                scheduler.join(ConnId(id), TurnClaim::Proportional(weight));
                scheduler.wake(ConnId(id));
            }
            // The members get 1, 2 and 5 eighths of 800 turns, within the current round.
            let count = turns(&mut scheduler, 800);
            for (id, share) in [(0, 100), (1, 200), (2, 500)] {
                assert!(count[&id].abs_diff(share) <= 1, "{count:?}");
            }
            scheduler.set_claim(ConnId(0), TurnClaim::Proportional(4));
            scheduler.set_claim(ConnId(2), TurnClaim::Proportional(2));
            turns(&mut scheduler, 8);
            let count = turns(&mut scheduler, 800);
            for (id, share) in [(0, 400), (1, 200), (2, 200)] {
                assert!(count[&id].abs_diff(share) <= 2, "{count:?}");
            }
        }
    }

    #[test]
    fn equal_members_take_turns_segment_by_segment() {
        for mut scheduler in schedulers() {
            for id in 0..3 {
                scheduler.join(ConnId(id), TurnClaim::Proportional(1));
                scheduler.wake(ConnId(id));
            }
            let order: Vec<_> = (0..9)
                .map(|_| {
                    let id = scheduler.pick().unwrap();
                    scheduler.on_sent();
                    id.0
                })
                .collect();
            assert_eq!(order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        }
    }

    #[test]
    fn who_was_away_gets_its_share_at_once_and_no_more() {
        for mut scheduler in schedulers() {
            for id in 0..2 {
                scheduler.join(ConnId(id), TurnClaim::Proportional(1));
            }
            scheduler.wake(ConnId(0));
            turns(&mut scheduler, 1000);
            scheduler.wake(ConnId(1));
            // Missed turns are not made up for: ten each, within one.
            let count = turns(&mut scheduler, 20);
            assert!(count[&1].abs_diff(10) <= 1, "{count:?}");
        }
    }

    #[test]
    fn who_has_nothing_is_passed_over_and_who_left_is_gone() {
        for mut scheduler in schedulers() {
            for id in 0..3 {
                scheduler.join(ConnId(id), TurnClaim::Proportional(1));
                scheduler.wake(ConnId(id));
            }
            assert_eq!(scheduler.pick(), Some(ConnId(0)));
            scheduler.on_idle();
            scheduler.leave(ConnId(1));
            assert_eq!(turns(&mut scheduler, 4), BTreeMap::from([(2, 4)]));
            // The number is used again by a member with nothing to send.
            scheduler.join(ConnId(1), TurnClaim::Proportional(1));
            assert_eq!(turns(&mut scheduler, 4), BTreeMap::from([(2, 4)]));
            scheduler.pick();
            scheduler.on_idle();
            assert_eq!(scheduler.pick(), None);
        }
    }

    #[test]
    fn preempting_members_go_first_and_share_among_themselves() {
        let mut scheduler = Scheduler::new(Scheduling::Stride(Tickets::HtmlFirst));
        scheduler.join(ConnId(0), TurnClaim::Proportional(12));
        for id in [1, 2] {
            scheduler.join(ConnId(id), TurnClaim::Preempting(1));
        }
        for id in 0..3 {
            scheduler.wake(ConnId(id));
        }
        assert_eq!(turns(&mut scheduler, 10), BTreeMap::from([(1, 5), (2, 5)]));
        for _ in 0..2 {
            scheduler.pick();
            scheduler.on_idle();
        }
        assert_eq!(turns(&mut scheduler, 3), BTreeMap::from([(0, 3)]));
    }
}
