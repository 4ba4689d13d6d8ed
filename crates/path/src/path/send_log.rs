//! Detects segments of a shared path that later ones have overtaken.
//!
//! Connections that share a path repair losses together (Balakrishnan et al. 1998 §5.3; Padmanabhan
//! & Katz 1998 §6.1, §7.3; Eggert, Heidemann & Touch 2000 §3.3). An ACK of a later segment, on any
//! connection, is evidence that an earlier one is lost. The papers count these "later ACKs" for
//! each segment.
//!
//! This log keeps no counters: *overtaken at least k times* is the same as *sent before the k-th
//! highest position acknowledged so far*. So a few ordered positions answer for all segments, and
//! each segment is examined once as each of them passes it.
//!
//! The log knows only the [`Front`] of a member; SACK ranges, retransmissions and all else stay
//! with the connection. Only shared paths whose scheme asks for it have one.

use policy::recovery::{MemberEvidence, Overtaken};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::{Duration, Instant};

/// A position after all segments.
const NOWHERE: u64 = u64::MAX;
/// Time after which a missing ACK is no delayed ACK. A receiver delays an ACK by 200 ms at most;
/// twice that is "well over" (Balakrishnan et al. 1998 §5.3, rule 5).
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(400);
/// Number of a member's segments that matter: with three overtaken at once its count of duplicates
/// is full.
const FRONT: usize = 3;

/// A member's oldest outstanding segments, by its own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// Positions in the order of sending of its lowest unacknowledged segments.
    pub orders: [u64; FRONT],
    /// Send time of the lowest one.
    pub sent_at: Instant,
    /// True if it is repairing already, and needs no notification.
    pub busy: bool,
    /// True if the delivery of its two lowest segments would cause an ACK at once. They fill two
    /// segments, so no receiver delays it (RFC 1122 §4.2.3.2), or the second was delivered.
    pub ack_due: bool,
}

impl Front {
    /// Nothing outstanding.
    pub const EMPTY: Self =
        Self { orders: [NOWHERE; FRONT], sent_at: Instant::ZERO, busy: false, ack_due: true };

    const fn lowest_order(&self) -> u64 {
        self.orders[0]
    }
}

/// A member, by its connection's number.
pub(crate) type Member = u32;

#[derive(Clone, Copy, Debug)]
struct Entry {
    front: Front,
    /// Position of its segment that was held, or lost: each position only once.
    held: u64,
    lost: u64,
    suspect: bool,
}

/// The send order of a path, and the overtaken part of it.
#[derive(Clone, Debug)]
pub struct SendLog {
    rule: Overtaken,
    members: FxHashMap<Member, Entry>,
    /// Segments in the order of sending that were not yet overtaken as often as matters.
    sent: VecDeque<(u64, Member)>,
    /// Number of these that were overtaken once less.
    near: usize,
    /// The highest positions acknowledged, descending: as many as the largest count that matters.
    highest: Vec<u64>,
    /// Position before which segments do not count: a timeout has emptied the list.
    since: u64,
    /// Position of the next segment to be noted.
    next: u64,
    /// Position, and send time, of the segment that the current ACK acknowledges.
    arrived: Option<(u64, Instant)>,
    /// Segments overtaken often enough, but whose receiver may be delaying the ACK.
    held: BinaryHeap<Reverse<(u64, Member)>>,
    /// Lost segments whose members have not been notified yet.
    lost: BinaryHeap<Reverse<(u64, Member)>>,
    /// Members with an overtaken outstanding segment ([`Overtaken::Each`]).
    suspects: Vec<Member>,
    evidence: VecDeque<(Member, MemberEvidence)>,
    /// True if this ACK may still cause one retransmission.
    due: bool,
    /// Number of segments and members examined, for the test that measures it.
    #[cfg(test)]
    steps: u64,
}

impl SendLog {
    /// Creates an empty log.
    pub fn new(rule: Overtaken) -> Self {
        let counts = match rule {
            Overtaken::Lost { threshold, .. } => threshold as usize + 1,
            Overtaken::Each => 1,
        };
        Self {
            rule,
            members: FxHashMap::default(),
            sent: VecDeque::new(),
            near: 0,
            // No segment is sent before position 0.
            highest: vec![0; counts],
            since: 0,
            next: 0,
            arrived: None,
            held: BinaryHeap::new(),
            lost: BinaryHeap::new(),
            suspects: Vec::new(),
            evidence: VecDeque::new(),
            due: false,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Notes that the current ACK reports the segment at this position, sent then, as delivered.
    pub fn note_arrival(&mut self, order: u64, sent_at: Instant) {
        self.arrived = Some((order, sent_at));
    }

    /// Returns true if an ACK for position `order` must not make the window grow: another member
    /// has an earlier segment outstanding. `lowest` is the member's own lowest position before that
    /// ACK.
    pub fn withholds_growth(&self, order: u64, lowest: Option<u64>) -> bool {
        let overtakes = |entry: &Entry| {
            let place = entry.front.lowest_order();
            place < order && Some(place) != lowest
        };
        self.rule.withholds_growth() && self.members.values().any(overtakes)
    }

    /// Updates a member. All positions up to `next` that are not noted yet are its segments. Its
    /// front is now `front`, and then the ACK that it got is digested.
    pub fn follow(&mut self, member: Member, next: u64, front: Front) {
        while self.next < next {
            self.on_sent(member, self.next);
            self.next += 1;
        }
        self.set_front(member, front);
        if let Some((order, sent_at)) = self.arrived.take() {
            self.on_acked(member, order, sent_at);
        }
    }

    /// Notes that `member` sends the segment at this position.
    fn on_sent(&mut self, member: Member, order: u64) {
        self.sent.push_back((order, member));
    }

    /// Updates the front of a member: after each of its ACKs, timeouts and segments.
    fn set_front(&mut self, member: Member, front: Front) {
        let new = Entry { front, held: NOWHERE, lost: NOWHERE, suspect: false };
        self.members.entry(member).or_insert(new).front = front;
        // Its ACK may have uncovered a segment that was overtaken long ago.
        self.check_overtaken(member);
    }

    /// Forgets a member that leaves.
    pub fn leave(&mut self, member: Member) {
        self.members.remove(&member);
        self.suspects.retain(|m| *m != member);
        self.evidence.retain(|(m, _)| *m != member);
    }

    /// Empties the list after a retransmission timeout (Eggert et al. 2000 §3.3): later ACKs
    /// neither overtake segments before position `next`, nor mark them lost.
    pub fn on_timeout(&mut self, next: u64) {
        self.since = next;
        self.near = 0;
        self.sent.clear();
        self.held.clear();
        self.lost.clear();
        self.evidence.clear();
    }

    /// Digests an ACK, new or duplicate, that reports the segment at position `order`, sent at
    /// `sent_at`, as delivered; [`SendLog::settle`] was called for `member`, which got it.
    fn on_acked(&mut self, member: Member, order: u64, sent_at: Instant) {
        let at = self.highest.partition_point(|&place| place >= order);
        if at < self.highest.len() {
            self.highest.pop();
            self.highest.insert(at, order);
        }
        self.due = true;
        self.overtake();
        match self.rule {
            Overtaken::Lost { .. } => self.release_held(sent_at),
            Overtaken::Each => self.count_overtaken(member, order),
        }
    }

    /// Returns the next member to notify because of the last ACK.
    pub fn next_evidence(&mut self) -> Option<(Member, MemberEvidence)> {
        if let Some(evidence) = self.evidence.pop_front() {
            return Some(evidence);
        }
        if matches!(self.rule, Overtaken::Lost { one_per_ack: true, .. }) && !self.due {
            return None;
        }
        while let Some(Reverse((order, member))) = self.lost.pop() {
            if self.still_lost(order, member) {
                self.due = false;
                return Some((member, MemberEvidence::Lost));
            }
        }
        None
    }

    fn still_lost(&mut self, order: u64, member: Member) -> bool {
        let Some(entry) = self.members.get_mut(&member) else { return false };
        let lost = !entry.front.busy && entry.front.lowest_order() == order;
        if !lost {
            // The member is not notified, so the segment may be found again.
            entry.lost = NOWHERE;
        }
        lost
    }

    /// Examines the members of segments that the last ACK has overtaken one time too many, or one
    /// less.
    fn overtake(&mut self) {
        let (far, near) = self.limits();
        while let Some(&(order, member)) = self.sent.get(self.near) {
            if order >= near {
                break;
            }
            self.near += 1;
            self.check_overtaken(member);
        }
        while let Some(&(order, member)) = self.sent.front() {
            if order >= far {
                break;
            }
            self.sent.pop_front();
            self.near = self.near.saturating_sub(1);
            self.check_overtaken(member);
        }
    }

    /// Returns two limits: segments before the first were overtaken as often as matters, and those
    /// before the second once less.
    fn limits(&self) -> (u64, u64) {
        match self.highest[..] {
            [.., near, far] => (far, near),
            [far] => (far, far),
            [] => (0, 0),
        }
    }

    /// Checks whether a member has a segment that was overtaken often enough.
    fn check_overtaken(&mut self, member: Member) {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        let (far, near) = self.limits();
        let Some(entry) = self.members.get_mut(&member) else { return };
        let lowest = entry.front.lowest_order();
        if entry.front.busy || lowest < self.since || lowest >= far {
            return;
        }
        let Overtaken::Lost { delayed_acks, .. } = self.rule else {
            if !std::mem::replace(&mut entry.suspect, true) {
                self.suspects.push(member);
            }
            return;
        };
        if entry.lost == lowest {
            return;
        }
        let next = entry.front.orders[1];
        if !delayed_acks || (entry.front.ack_due && next < near) {
            entry.lost = lowest;
            self.lost.push(Reverse((lowest, member)));
        } else if entry.held != lowest {
            entry.held = lowest;
            self.held.push(Reverse((lowest, member)));
        }
    }

    /// Marks segments as lost that were sent so long before `acked` that no receiver delays their
    /// ACK.
    fn release_held(&mut self, acked: Instant) {
        while let Some(&Reverse((order, member))) = self.held.peek() {
            let entry = self.members.get_mut(&member).filter(|e| e.front.lowest_order() == order);
            if let Some(entry) = entry.filter(|e| !e.front.busy) {
                if acked <= entry.front.sent_at + LONGEST_ACK_DELAY {
                    return;
                }
                if entry.lost != order {
                    entry.lost = order;
                    self.lost.push(Reverse((order, member)));
                }
            }
            self.held.pop();
        }
    }

    /// Notifies each other member how many of its segments the ACK for position `order` has
    /// overtaken.
    fn count_overtaken(&mut self, acked: Member, order: u64) {
        let Self { members, suspects, evidence, since, highest, .. } = self;
        suspects.retain(|&member| {
            let Some(entry) = members.get_mut(&member) else { return false };
            let front = entry.front;
            let before = |place: u64| {
                let overtaken = front.orders.iter().filter(|o| (*since..place).contains(*o));
                overtaken.count() as u32
            };
            entry.suspect = !front.busy && before(highest[0]) > 0;
            let passed = before(order);
            if entry.suspect && member != acked && passed > 0 {
                evidence.push_back((member, MemberEvidence::Overtaken(passed)));
            }
            entry.suspect
        });
        #[cfg(test)]
        {
            self.steps += self.suspects.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests;
