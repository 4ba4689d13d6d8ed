//! Stride scheduling (Waldspurger & Weihl 1995). Each member has a position in virtual time. The
//! earliest one sends, and advances by a stride that is the shorter the more tickets it holds.
//!
//! A member that joins, or returns, enters at the position of the last sender. It has its share at
//! once, and missed turns are not made up for.

use policy::sharing::TurnClaim;
use segment::ConnId;
use std::collections::{BTreeMap, BTreeSet};

/// The stride of one ticket.
const ONE_TICKET: u64 = 1 << 32;

/// Precedence class: members of class 0 precede all of class 1.
type Class = u8;

/// Position in the queue: by class, then by virtual time, then first come, first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueuePosition {
    class: Class,
    pass: u64,
    /// Number of positions assigned before.
    number: u64,
    id: ConnId,
}

#[derive(Debug)]
struct Member {
    class: Class,
    stride: u64,
    /// Its position in virtual time.
    pass: u64,
    /// Its position in the queue, while it has data to send.
    place: Option<QueuePosition>,
}

#[derive(Debug, Default)]
pub(crate) struct Stride {
    members: BTreeMap<ConnId, Member>,
    queue: BTreeSet<QueuePosition>,
    /// Virtual time of each class: the position of the last sender.
    time: [u64; 2],
    /// Number of positions assigned so far.
    places: u64,
}

const fn class_and_stride(claim: TurnClaim) -> (Class, u64) {
    match claim {
        TurnClaim::Preempting(tickets) => (0, stride_for(tickets)),
        TurnClaim::Proportional(tickets) => (1, stride_for(tickets)),
    }
}

const fn stride_for(tickets: u32) -> u64 {
    let tickets = if tickets == 0 { 1 } else { tickets };
    ONE_TICKET / tickets as u64
}

impl Stride {
    pub(super) fn join(&mut self, id: ConnId, claim: TurnClaim) {
        let (class, stride) = class_and_stride(claim);
        self.members.insert(id, Member { class, stride, pass: 0, place: None });
    }

    pub(super) fn leave(&mut self, id: ConnId) {
        if let Some(place) = self.members.remove(&id).and_then(|member| member.place) {
            self.queue.remove(&place);
        }
    }

    /// Sets the claim, which takes effect at once: the distance to its next turn is scaled.
    pub(super) fn set_claim(&mut self, id: ConnId, claim: TurnClaim) {
        let Some(member) = self.members.get_mut(&id) else { return };
        let (class, stride) = class_and_stride(claim);
        let ahead = member.pass.saturating_sub(self.time[usize::from(member.class)]);
        let scaled = u128::from(ahead) * u128::from(stride) / u128::from(member.stride);
        member.pass = self.time[usize::from(class)] + scaled as u64;
        (member.class, member.stride) = (class, stride);
        if let Some(place) = member.place.take() {
            self.queue.remove(&place);
            self.enqueue(id);
        }
    }

    pub(super) fn wake(&mut self, id: ConnId) {
        if self.members.get(&id).is_some_and(|member| member.place.is_none()) {
            self.enqueue(id);
        }
    }

    fn enqueue(&mut self, id: ConnId) {
        let Some(member) = self.members.get_mut(&id) else { return };
        member.pass = member.pass.max(self.time[usize::from(member.class)]);
        let place =
            QueuePosition { class: member.class, pass: member.pass, number: self.places, id };
        self.places += 1;
        member.place = Some(place);
        self.queue.insert(place);
    }

    pub(super) fn pick(&mut self) -> Option<ConnId> {
        self.queue.first().map(|place| place.id)
    }

    pub(super) fn on_sent(&mut self) {
        let Some(QueuePosition { class, pass, id, .. }) = self.queue.pop_first() else { return };
        self.time[usize::from(class)] = pass;
        if let Some(member) = self.members.get_mut(&id) {
            member.pass += member.stride;
            self.enqueue(id);
        }
    }

    pub(super) fn on_idle(&mut self) {
        if let Some(QueuePosition { id, .. }) = self.queue.pop_first()
            && let Some(member) = self.members.get_mut(&id)
        {
            member.place = None;
        }
    }
}
