//! The members of a shared path, and the work that waits for each of them.

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
    /// Number of segments of new data sent.
    packets: u64,
    /// Client behind the peer (a proxy) that it serves; `None`: a client of its own.
    client: Option<u64>,
    /// True if it is in the list of touched members.
    touched: bool,
    /// True if it is in the list of members to finish.
    finishing: bool,
}

/// Connections that share a path.
#[derive(Debug)]
pub struct Ensemble {
    destination: Destination,
    scheduling: Scheduling,
    members: BTreeMap<ConnId, Member>,
    scheduler: Scheduler,
    /// Number of segments in a turn.
    turn: u32,
    /// Number of segments that a member's receiver acknowledges together.
    acked_together: u32,
    /// Member with the current turn, and segments left of it.
    turn_left: Option<(ConnId, u32)>,
    /// Members with a recent event: they may have control segments or retransmissions to send.
    touched: VecDeque<ConnId>,
    /// Members with retransmissions that the window has no room for: served first when it may have.
    blocked: Vec<ConnId>,
    /// Members that may have a bare ACK to send, and timers to set, when there is nothing else to
    /// send.
    finishing: VecDeque<ConnId>,
    /// True if it is in the host's queue of paths that may have something to send.
    queued: bool,
    /// True if a member has left since this was last read.
    shrunk: bool,
}

impl Ensemble {
    /// Creates an ensemble towards `destination`, without members.
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

    /// Notes that it enters the host's queue of paths that may have something to send. Returns
    /// false if it is there already.
    pub fn enter_queue(&mut self) -> bool {
        !std::mem::replace(&mut self.queued, true)
    }

    /// No member has anything to send. Returns true if it leaves the host's queue, and false if a
    /// member that has left since the last call made room for the others.
    pub fn leave_queue(&mut self) -> bool {
        self.queued = std::mem::take(&mut self.shrunk);
        !self.queued
    }

    /// Returns the destination of its path.
    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// Returns its members, in the order of their numbers.
    pub fn members(&self) -> impl ExactSizeIterator<Item = ConnId> + '_ {
        self.members.keys().copied()
    }

    /// Returns true without members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a connection.
    pub fn join(&mut self, id: ConnId, share: &MemberShare) {
        let member = Member {
            weight: share.weight,
            content: share.content,
            packets: 0,
            client: share.client,
            touched: false,
            finishing: false,
        };
        self.scheduler.join(id, self.turn_claim(&member));
        self.members.insert(id, member);
    }

    /// Removes a connection.
    pub fn leave(&mut self, id: ConnId) {
        self.members.remove(&id);
        self.shrunk = true;
        self.scheduler.leave(id);
        self.turn_left = self.turn_left.filter(|(of, _)| *of != id);
        self.touched.retain(|&other| other != id);
        self.blocked.retain(|&other| other != id);
        self.finishing.retain(|&other| other != id);
    }

    /// Sets the share that the application wants for `id`.
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
            self.scheduler.set_claim(id, self.turn_claim(member));
        }
    }

    fn turn_claim(&self, member: &Member) -> TurnClaim {
        match self.scheduling {
            Scheduling::RoundRobin => TurnClaim::Proportional(1),
            Scheduling::WeightedRoundRobin => TurnClaim::Proportional(member.weight),
            Scheduling::Stride(tickets) => {
                tickets.claim(member.content, member.packets, member.weight)
            }
        }
    }

    /// Returns the number of different clients that its members serve.
    pub fn clients(&self) -> u32 {
        let known: BTreeSet<_> = self.members.values().filter_map(|member| member.client).collect();
        let unknown = self.members.values().filter(|member| member.client.is_none()).count();
        (known.len() + unknown) as u32
    }

    /// Returns true if a member serves this client. A client without a number is served by no other
    /// member.
    pub fn serves(&self, client: ProxyClient) -> bool {
        let ProxyClient::Named(number) = client else { return false };
        self.members.values().any(|member| member.client == Some(number))
    }

    /// Notes an event of `id`, which may have opened the window too.
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

    /// Returns the next member to ask for control segments and retransmissions.
    pub fn first_touched(&self) -> Option<ConnId> {
        self.touched.front().copied()
    }

    /// Removes the first touched member, which has no more of either; `blocked`: because the window
    /// has no room.
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

    /// Returns true if `id` has not sent data yet, and no other member has any to send.
    pub fn finds_nobody_sending(&mut self, id: ConnId) -> bool {
        let fresh = self.members.get(&id).is_some_and(|member| member.packets == 0);
        fresh && self.scheduler.pick().is_none()
    }

    /// Notes that `id` has sent, or may have to acknowledge: it is finished when there is nothing
    /// else to send.
    pub fn finish_later(&mut self, id: ConnId) {
        if let Some(member) = self.members.get_mut(&id)
            && !std::mem::replace(&mut member.finishing, true)
        {
            self.finishing.push_back(id);
        }
    }

    /// Returns the next member to finish.
    pub fn first_finishing(&self) -> Option<ConnId> {
        self.finishing.front().copied()
    }

    /// Removes the first member of that list, which is finished.
    pub fn finished(&mut self) {
        let first = self.finishing.pop_front();
        if let Some(member) = first.and_then(|id| self.members.get_mut(&id)) {
            member.finishing = false;
        }
    }

    /// Notes that `id` has new data to send.
    pub fn wake(&mut self, id: ConnId) {
        self.scheduler.wake(id);
    }

    /// Returns the member with the current turn.
    pub fn next_in_turn(&mut self) -> Option<ConnId> {
        self.turn_left.map(|(id, _)| id).or_else(|| self.scheduler.pick())
    }

    /// Ends the turn of a member that has nothing to send, or cannot.
    pub fn on_passed(&mut self) {
        if self.turn_left.take().is_none() {
            self.scheduler.on_idle();
        }
    }

    /// Returns the length of a turn that begins with `outstanding` segments in flight, in segments.
    /// It ends where the receiver acknowledges at once, so that no segment waits for the next turn
    /// to get its ACK.
    fn turn_after(&self, outstanding: usize) -> u32 {
        let odd = outstanding as u32 % self.acked_together.clamp(1, self.turn);
        self.turn - odd
    }

    /// Notes that `id`, whose turn it is, has sent a segment of new data after `outstanding`
    /// others.
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

/// The share of the path that an application wants for a connection.
#[derive(Clone, Copy, Debug)]
pub struct MemberShare {
    /// Its weight among the members of the window.
    pub weight: u32,
    /// The kind of its content.
    pub content: Content,
    /// Client behind the peer (a proxy) that it serves; `None`: a client of its own.
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

    /// Returns the order of senders. A has one outstanding segment that waits for its ACK, B none.
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
        // A's first segment completes a pair, so it is B's turn; then both have even numbers
        // outstanding.
        assert_eq!(order(2, 2), [A, B, B, A, A, B, B, A]);
        assert_eq!(order(4, 2), [A, A, A, B, B, B, B, A]);
        // With turns of one, or receivers that acknowledge every segment, there are no pairs.
        assert_eq!(order(1, 2), [A, B, A, B, A, B, A, B]);
        assert_eq!(order(2, 1), [A, A, B, B, A, A, B, B]);
    }
}
