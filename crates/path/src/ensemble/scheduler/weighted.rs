//! Interleaved weighted round robin (Padmanabhan & Katz 1998 §6.2: as finely as possible). In a
//! round every member with data has as many turns as its weight. Turns alternate segment by segment
//! as long as several members have turns left.

use segment::ConnId;
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug)]
struct Member {
    weight: u32,
    /// Turns left in `round`.
    left: u32,
    round: u64,
    ready: bool,
}

#[derive(Debug, Default)]
pub(crate) struct WeightedRoundRobin {
    members: BTreeMap<ConnId, Member>,
    /// Members with turns left in this round, next first.
    now: VecDeque<ConnId>,
    /// Members that wait for the next round.
    later: VecDeque<ConnId>,
    round: u64,
}

impl WeightedRoundRobin {
    pub(super) fn join(&mut self, id: ConnId, weight: u32) {
        let member = Member { weight, left: weight, round: self.round, ready: false };
        self.members.insert(id, member);
    }

    pub(super) fn leave(&mut self, id: ConnId) {
        if self.members.remove(&id).is_some_and(|member| member.ready) {
            self.now.retain(|&other| other != id);
            self.later.retain(|&other| other != id);
        }
    }

    /// Sets the weight, which takes effect at once: the rest of the round is scaled.
    pub(super) fn set_weight(&mut self, id: ConnId, weight: u32) {
        if let Some(member) = self.members.get_mut(&id) {
            let scaled = u64::from(member.left) * u64::from(weight);
            member.left = scaled.div_ceil(u64::from(member.weight)).min(u64::from(weight)) as u32;
            member.weight = weight;
        }
    }

    pub(super) fn wake(&mut self, id: ConnId) {
        let Some(member) = self.members.get_mut(&id).filter(|member| !member.ready) else {
            return;
        };
        member.ready = true;
        if member.round != self.round {
            (member.round, member.left) = (self.round, member.weight);
        }
        if member.left > 0 { self.now.push_back(id) } else { self.later.push_back(id) }
    }

    pub(super) fn pick(&mut self) -> Option<ConnId> {
        if self.now.is_empty() {
            self.begin_round();
        }
        self.now.front().copied()
    }

    fn begin_round(&mut self) {
        std::mem::swap(&mut self.now, &mut self.later);
        self.round += 1;
        for id in &self.now {
            if let Some(member) = self.members.get_mut(id) {
                (member.round, member.left) = (self.round, member.weight);
            }
        }
    }

    pub(super) fn on_sent(&mut self) {
        let Some(id) = self.now.pop_front() else { return };
        let Some(member) = self.members.get_mut(&id) else { return };
        member.left = member.left.saturating_sub(1);
        if member.left > 0 { self.now.push_back(id) } else { self.later.push_back(id) }
    }

    pub(super) fn on_idle(&mut self) {
        let front = self.now.pop_front();
        if let Some(member) = front.and_then(|id| self.members.get_mut(&id)) {
            member.ready = false;
        }
    }
}
