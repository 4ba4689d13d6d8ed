//! The members of a shared path, and what each of them waits for.

use super::directory::Destination;
use super::scheduler::Scheduler;
use crate::client::ProxyClient;
use policy::sharing::{Content, Scheduling, Sharing, TurnClaim};
use segment::ConnId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One member.
#[derive(Debug)]
struct Member {
    weight: u32,
    content: Content,
    /// Segments of new data sent.
    packets: u64,
    /// Whom it is there for; `None`: for somebody of its own.
    client: Option<u64>,
    /// In the list of those to be asked.
    touched: bool,
    /// In the list of those to be finished.
    finishing: bool,
}

/// Connections that share a path.
#[derive(Debug)]
pub struct Ensemble {
    destination: Destination,
    scheduling: Scheduling,
    members: BTreeMap<ConnId, Member>,
    scheduler: Scheduler,
    /// Segments of a turn.
    turn: u32,
    /// Segments that a member's receiver acknowledges together.
    acked_together: u32,
    /// Whose turn is not over, and segments left of it.
    turn_left: Option<(ConnId, u32)>,
    /// Those to which something happened: they may have control or retransmissions to send.
    touched: VecDeque<ConnId>,
    /// Those with retransmissions for which the window has no room: asked first when it may have.
    blocked: Vec<ConnId>,
    /// Those that may have a bare ACK to send, and timers to set, when nothing else goes.
    finishing: VecDeque<ConnId>,
    /// In the host's queue of those that may have something to send.
    pub queued: bool,
    /// A member has left since it was asked last.
    pub shrunk: bool,
}

impl Ensemble {
    /// An ensemble towards `destination`, without members.
    pub fn new(destination: Destination, sharing: &Sharing) -> Self {
        Self {
            destination,
            scheduling: sharing.scheduling,
            members: BTreeMap::new(),
            scheduler: Scheduler::new(sharing.scheduling),
            turn: sharing.turn.max(1),
            acked_together: sharing.acked_together,
            turn_left: None,
            touched: VecDeque::new(),
            blocked: Vec::new(),
            finishing: VecDeque::new(),
            queued: false,
            shrunk: false,
        }
    }

    /// Where its path leads.
    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// Its members, in the order of their numbers.
    pub fn members(&self) -> impl ExactSizeIterator<Item = ConnId> + '_ {
        self.members.keys().copied()
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Takes in a connection.
    pub fn join(&mut self, id: ConnId, share: &MemberShare) {
        let member = Member {
            weight: share.weight,
            content: share.content,
            packets: 0,
            client: share.client,
            touched: false,
            finishing: false,
        };
        self.scheduler.join(id, self.claim(&member));
        self.members.insert(id, member);
    }

    /// Forgets a connection that leaves.
    pub fn leave(&mut self, id: ConnId) {
        self.members.remove(&id);
        self.shrunk = true;
        self.scheduler.leave(id);
        self.turn_left = self.turn_left.filter(|(of, _)| *of != id);
        self.touched.retain(|&other| other != id);
        self.blocked.retain(|&other| other != id);
        self.finishing.retain(|&other| other != id);
    }

    /// The application has changed what it wants for `id`.
    pub fn set_share(&mut self, id: ConnId, share: &MemberShare) {
        if let Some(member) = self.members.get_mut(&id) {
            member.weight = share.weight;
            member.content = share.content;
            member.client = share.client;
        }
        self.update_claim(id);
    }

    fn update_claim(&mut self, id: ConnId) {
        if let Some(member) = self.members.get(&id) {
            self.scheduler.set_claim(id, self.claim(member));
        }
    }

    fn claim(&self, member: &Member) -> TurnClaim {
        match self.scheduling {
            Scheduling::RoundRobin => TurnClaim::Proportional(1),
            Scheduling::WeightedRoundRobin => TurnClaim::Proportional(member.weight),
            Scheduling::Stride(tickets) => {
                tickets.claim(member.content, member.packets, member.weight)
            }
        }
    }

    /// For how many different clients its members are there.
    pub fn clients(&self) -> u32 {
        let known: BTreeSet<_> = self.members.values().filter_map(|member| member.client).collect();
        let unknown = self.members.values().filter(|member| member.client.is_none()).count();
        (known.len() + unknown) as u32
    }

    /// True if a member is there for the client of a number; nobody else serves one that has none.
    pub fn serves(&self, client: ProxyClient) -> bool {
        let ProxyClient::Named(number) = client else { return false };
        self.members.values().any(|member| member.client == Some(number))
    }

    /// Something happened to `id`, by which the window may have opened too.
    pub fn touch(&mut self, id: ConnId) {
        for id in std::mem::take(&mut self.blocked).into_iter().rev() {
            self.touched.push_front(id);
        }
        if let Some(member) = self.members.get_mut(&id)
            && !std::mem::replace(&mut member.touched, true)
        {
            self.touched.push_back(id);
        }
    }

    /// Who is to be asked for control and retransmissions next.
    pub fn first_touched(&self) -> Option<ConnId> {
        self.touched.front().copied()
    }

    /// The first that was touched has no more of either; `blocked`: for want of window.
    pub fn served(&mut self, blocked: bool) {
        let Some(id) = self.touched.pop_front() else { return };
        if let Some(member) = self.members.get_mut(&id) {
            member.touched = blocked;
            if blocked {
                self.blocked.push(id);
            }
        }
        self.finish_later(id);
    }

    /// `id` has not sent data yet, and nobody else has any to send.
    pub fn finds_nobody_sending(&mut self, id: ConnId) -> bool {
        let fresh = self.members.get(&id).is_some_and(|member| member.packets == 0);
        fresh && self.scheduler.pick().is_none()
    }

    /// `id` has sent, or may have to acknowledge: it is seen to when nothing else goes.
    pub fn finish_later(&mut self, id: ConnId) {
        if let Some(member) = self.members.get_mut(&id)
            && !std::mem::replace(&mut member.finishing, true)
        {
            self.finishing.push_back(id);
        }
    }

    /// Who is to be finished next.
    pub fn first_finishing(&self) -> Option<ConnId> {
        self.finishing.front().copied()
    }

    /// The first of those to be finished is.
    pub fn finished(&mut self) {
        let first = self.finishing.pop_front();
        if let Some(member) = first.and_then(|id| self.members.get_mut(&id)) {
            member.finishing = false;
        }
    }

    /// `id` has new data to send.
    pub fn wake(&mut self, id: ConnId) {
        self.scheduler.wake(id);
    }

    /// Whose turn it is.
    pub fn next_in_turn(&mut self) -> Option<ConnId> {
        self.turn_left.map(|(id, _)| id).or_else(|| self.scheduler.pick())
    }

    /// The one whose turn it is has nothing to send, or cannot.
    pub fn on_passed(&mut self) {
        if self.turn_left.take().is_none() {
            self.scheduler.on_idle();
        }
    }

    /// Segments of a turn that begins behind `outstanding` others: it ends where the receiver
    /// acknowledges at once, so that no segment waits for the next turn beside its ACK.
    fn turn_after(&self, outstanding: usize) -> u32 {
        let odd = outstanding as u32 % self.acked_together.clamp(1, self.turn);
        self.turn - odd
    }

    /// `id`, whose turn it is, has sent a segment of new data behind `outstanding` others.
    pub fn on_sent(&mut self, id: ConnId, outstanding: usize) {
        let left = match self.turn_left {
            Some((_, left)) => left - 1,
            None => {
                self.scheduler.on_sent();
                self.turn_after(outstanding) - 1
            }
        };
        self.turn_left = (left > 0).then_some((id, left));
        if let Some(member) = self.members.get_mut(&id) {
            member.packets += 1;
        }
        if matches!(self.scheduling, Scheduling::Stride(tickets) if tickets.decay()) {
            self.update_claim(id);
        }
        self.finish_later(id);
    }
}

/// What an application wants for a connection of its, among others that share its path.
#[derive(Clone, Copy, Debug)]
pub struct MemberShare {
    /// Its part of the window among the others'.
    pub weight: u32,
    /// What it carries.
    pub content: Content,
    /// Whom it is there for; `None`: for somebody of its own.
    pub client: Option<u64>,
}

impl Default for MemberShare {
    fn default() -> Self {
        Self { weight: 1, content: Content::Other, client: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    const A: ConnId = ConnId(0);
    const B: ConnId = ConnId(1);

    /// Who sends, A having one segment outstanding that waits for its ACK, B none.
    fn order(turn: u32, acked_together: u32) -> Vec<ConnId> {
        let to = (IpAddr::V4(Ipv4Addr::LOCALHOST), Arc::from("any"));
        let sharing = Sharing { turn, acked_together, ..Sharing::default() };
        let mut ensemble = Ensemble::new(to, &sharing);
        let mut outstanding = BTreeMap::from([(A, 1), (B, 0)]);
        for id in [A, B] {
            ensemble.join(id, &MemberShare::default());
            ensemble.wake(id);
        }
        let mut order = Vec::new();
        for _ in 0..8 {
            let id = ensemble.next_in_turn().unwrap();
            let behind = outstanding.get_mut(&id).unwrap();
            ensemble.on_sent(id, *behind);
            *behind += 1;
            order.push(id);
        }
        order
    }

    #[test]
    fn a_turn_ends_where_the_receiver_acknowledges() {
        // A's first completes a pair, so it is B's turn; then both have even numbers outstanding.
        assert_eq!(order(2, 2), [A, B, B, A, A, B, B, A]);
        assert_eq!(order(4, 2), [A, A, A, B, B, B, B, A]);
        // Turns of one, and receivers that acknowledge every segment, know no pairs.
        assert_eq!(order(1, 2), [A, B, A, B, A, B, A, B]);
        assert_eq!(order(2, 1), [A, A, B, B, A, A, B, B]);
    }
}
