//! Compares the log with the papers' own bookkeeping: a list of all outstanding segments, each with
//! a counter that every ACK updates.

use super::*;
use proptest::prelude::*;

const MEMBERS: u32 = 4;

/// A segment on the naive list.
#[derive(Clone, Copy, Debug)]
struct Listed {
    order: u64,
    member: Member,
    seq: u64,
    sent_at: Instant,
    later_acks: u32,
    /// True if rule 5 once applied.
    long_ago: bool,
}

/// A member with its receiver.
#[derive(Clone, Debug, Default)]
struct Peer {
    nxt: u64,
    una: u64,
    arrived: Vec<u64>,
    /// True if its lowest segment was retransmitted.
    pending: bool,
    /// Number of duplicate ACKs that others' ACKs stand for.
    duplicates: u32,
}

/// The naive model that the log must agree with.
struct World {
    rule: Overtaken,
    log: SendLog,
    /// Outstanding segments in the order of sending.
    listed: Vec<Listed>,
    peers: Vec<Peer>,
    next: u64,
    now: Instant,
    /// Retransmissions by member, of the naive list and of the log.
    expected: Vec<(Member, u32)>,
    found: Vec<(Member, u32)>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u32),
    /// The n-th oldest segment on the list is delivered, and acknowledged.
    Arrive(usize),
    Wait(u64),
    Timeout(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..MEMBERS).prop_map(Step::Send),
        6 => (0usize..8).prop_map(Step::Arrive),
        2 => (1u64..300).prop_map(Step::Wait),
        1 => (0..40 * MEMBERS).prop_map(Step::Timeout),
    ]
}

fn rule() -> impl Strategy<Value = Overtaken> {
    let lost = (1u32..5, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(threshold, delayed_acks, one_per_ack, again)| Overtaken::Lost {
            threshold,
            delayed_acks,
            one_per_ack,
            again,
            grow: true,
        },
    );
    prop_oneof![3 => lost, 1 => Just(Overtaken::Each)]
}

impl World {
    fn new(rule: Overtaken) -> Self {
        Self {
            rule,
            log: SendLog::new(rule),
            listed: Vec::new(),
            peers: vec![Peer::default(); MEMBERS as usize],
            next: 0,
            now: Instant::ZERO,
            expected: Vec::new(),
            found: Vec::new(),
        }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Send(member) => {
                let peer = &mut self.peers[member as usize];
                peer.nxt += 1;
                let seq = peer.nxt - 1;
                self.send(member, seq);
            }
            Step::Arrive(n) if n < self.listed.len() => self.arrive(self.listed[n]),
            Step::Arrive(_) => {}
            Step::Wait(ms) => self.now += Duration::from_millis(ms),
            Step::Timeout(n) if n < MEMBERS => self.time_out(n),
            Step::Timeout(_) => {}
        }
    }

    fn send(&mut self, member: Member, seq: u64) {
        let (order, sent_at) = (self.next, self.now);
        self.next += 1;
        self.listed.push(Listed { order, member, seq, sent_at, later_acks: 0, long_ago: false });
        self.log.on_sent(member, order);
        self.settle(member);
    }

    fn lowest(&self, member: Member) -> Option<&Listed> {
        self.listed.iter().filter(|s| s.member == member).min_by_key(|s| s.seq)
    }

    fn settle(&mut self, member: Member) {
        let peer = &self.peers[member as usize];
        let mut own: Vec<_> = self.listed.iter().filter(|s| s.member == member).collect();
        own.sort_by_key(|s| s.seq);
        let mut front = Front::EMPTY;
        for (slot, segment) in front.orders.iter_mut().zip(&own) {
            *slot = segment.order;
        }
        front.sent_at = own.first().map_or(Instant::ZERO, |s| s.sent_at);
        front.busy = (peer.pending && !self.rule.judges_again()) || peer.duplicates >= 3;
        self.log.set_front(member, front);
    }

    /// Delivers a segment: its ACK is cumulative, and identifies the segment that caused it.
    fn arrive(&mut self, segment: Listed) {
        let member = segment.member;
        let peer = &mut self.peers[member as usize];
        if peer.arrived.contains(&segment.seq) {
            return;
        }
        peer.arrived.push(segment.seq);
        let before = peer.una;
        while peer.arrived.contains(&peer.una) {
            peer.una += 1;
        }
        let una = peer.una;
        if una > before {
            peer.pending = false;
            peer.duplicates = 0;
        }
        self.listed.retain(|s| s.member != member || s.seq >= una);
        self.settle(member);
        for s in self.listed.iter_mut().filter(|s| s.order < segment.order) {
            s.later_acks += 1;
        }
        self.log.on_acked(member, segment.order, segment.sent_at);
        match self.rule {
            Overtaken::Each => self.count_duplicates(&segment),
            Overtaken::Lost { .. } => self.retransmit(&segment),
        }
        assert_eq!(self.found, self.expected);
    }

    /// Applies rules 1 to 5 of Balakrishnan et al. 1998 §5.3, word by word.
    fn retransmit(&mut self, acked: &Listed) {
        let Overtaken::Lost { threshold, delayed_acks, one_per_ack, again, .. } = self.rule else {
            return;
        };
        let mut candidates = Vec::new();
        for i in 0..self.listed.len() {
            let s = self.listed[i];
            let lowest = self.lowest(s.member).is_some_and(|l| l.seq == s.seq);
            let pending = self.peers[s.member as usize].pending && !again;
            if s.later_acks <= threshold || !lowest || pending {
                continue;
            }
            let neighbour = self.listed.iter().any(|other| {
                other.member == s.member && other.seq != s.seq && other.later_acks >= threshold
            });
            let long_ago = s.long_ago || acked.sent_at > s.sent_at + LONGEST_ACK_DELAY;
            self.listed[i].long_ago = long_ago;
            if !delayed_acks || neighbour || long_ago {
                candidates.push(s);
            }
        }
        candidates.sort_by_key(|s| s.order);
        candidates.truncate(if one_per_ack { 1 } else { usize::MAX });
        self.expected.extend(candidates.iter().map(|s| (s.member, 0)));
        while let Some((member, evidence)) = self.log.next_evidence() {
            assert_eq!(evidence, MemberEvidence::Lost);
            self.found.push((member, 0));
            let seq = self.lowest(member).expect("has something outstanding").seq;
            self.listed.retain(|s| (s.member, s.seq) != (member, seq));
            self.peers[member as usize].pending = true;
            self.send(member, seq);
        }
    }

    /// Notifies a member without three duplicates of each segment passed. It looks at three at
    /// most: more make no difference.
    fn count_duplicates(&mut self, acked: &Listed) {
        for member in (0..MEMBERS).filter(|m| *m != acked.member) {
            let own = self.listed.iter().filter(|s| s.member == member);
            let mut own: Vec<_> = own.map(|s| (s.seq, s.order)).collect();
            own.sort_unstable();
            let passed = own.iter().take(3).filter(|s| s.1 < acked.order).count() as u32;
            if passed > 0 && self.peers[member as usize].duplicates < 3 {
                self.expected.push((member, passed));
            }
        }
        let mut evidence_of = Vec::new();
        while let Some((member, evidence)) = self.log.next_evidence() {
            let MemberEvidence::Overtaken(count) = evidence else { panic!("{evidence:?}") };
            evidence_of.push((member, count));
            self.peers[member as usize].duplicates += count;
            self.settle(member);
        }
        evidence_of.sort_unstable();
        self.found.extend(evidence_of);
    }

    /// Runs one member's timer out: the list is emptied, and all its outstanding segments are
    /// retransmitted.
    fn time_out(&mut self, member: Member) {
        self.log.on_timeout(self.next);
        self.listed.retain(|s| s.member == member);
        let mut again = std::mem::take(&mut self.listed);
        again.sort_by_key(|s| s.seq);
        // Outstanding segments of others are not on the list, so they get no notifications for
        // them.
        for peer in &mut self.peers {
            peer.una = peer.nxt;
            peer.arrived = (0..peer.nxt).collect();
            peer.pending = false;
            peer.duplicates = 0;
        }
        if let Some(first) = again.first() {
            let peer = &mut self.peers[member as usize];
            peer.una = first.seq;
            peer.arrived.retain(|seq| *seq < first.seq);
        }
        for m in 0..MEMBERS {
            self.settle(m);
        }
        for s in again {
            self.send(member, s.seq);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The order statistic finds the same segments as counters, at the same time.
    #[test]
    fn the_log_agrees_with_counters_on_every_segment(
        rule in rule(),
        steps in prop::collection::vec(step(), 1..400),
    ) {
        let mut world = World::new(rule);
        for step in steps {
            world.apply(step);
        }
    }
}

/// Lets members send one segment each in turn, with a hundred rounds of ACKs in order; every
/// `lose`-th segment is lost. Returns the work per ACK.
fn work_per_ack(members: u32, lose: u64, rule: Overtaken) -> f64 {
    let mut log = SendLog::new(rule);
    let mut acks = 0;
    let mut order = 0;
    let mut outstanding: VecDeque<(u64, Member)> = VecDeque::new();
    // Lowest outstanding position, by member; a lost one stays until it is retransmitted.
    let mut lowest = vec![NOWHERE; members as usize];
    let front =
        |order: u64, busy| Front { orders: [order, NOWHERE, NOWHERE], busy, ..Front::EMPTY };
    for _ in 0..100 {
        for member in 0..members {
            if lowest[member as usize] == NOWHERE {
                lowest[member as usize] = order;
                log.on_sent(member, order);
                log.set_front(member, front(order, false));
                outstanding.push_back((order, member));
                order += 1;
            }
        }
        for (place, member) in std::mem::take(&mut outstanding) {
            if place % lose == 0 && place > 0 {
                continue;
            }
            lowest[member as usize] = NOWHERE;
            log.set_front(member, Front::EMPTY);
            log.on_acked(member, place, Instant::ZERO);
            acks += 1;
            while let Some((late, _)) = log.next_evidence() {
                lowest[late as usize] = order;
                log.on_sent(late, order);
                log.set_front(late, front(order, true));
                outstanding.push_back((order, late));
                order += 1;
            }
        }
    }
    log.steps as f64 / f64::from(acks)
}

#[test]
fn an_ack_costs_as_much_with_a_thousand_members_as_with_ten() {
    // Each segment is examined when sent, when acknowledged, and at each of two limits; a
    // retransmitted one twice more. The work does not depend on the number of members or
    // outstanding segments.
    for one_per_ack in [true, false] {
        let rule = Overtaken::Lost {
            threshold: 3,
            delayed_acks: false,
            one_per_ack,
            again: false,
            grow: true,
        };
        for lose in [u64::MAX, 20, 5] {
            for members in [10, 1000] {
                let steps = work_per_ack(members, lose, rule);
                assert!(steps < 8.0, "{members} members, every {lose}th lost: {steps}");
            }
        }
    }
}

#[test]
fn reordering_below_the_threshold_loses_nothing() {
    // Position 0 is delivered after 1, 2 and 3: three later ACKs are not more than three.
    let rule = Overtaken::Lost {
        threshold: 3,
        delayed_acks: false,
        one_per_ack: false,
        again: false,
        grow: true,
    };
    let mut log = SendLog::new(rule);
    for member in 0..5 {
        let order = u64::from(member);
        log.on_sent(member, order);
        log.set_front(member, Front { orders: [order, NOWHERE, NOWHERE], ..Front::EMPTY });
    }
    for member in 1..4 {
        log.set_front(member, Front::EMPTY);
        log.on_acked(member, u64::from(member), Instant::ZERO);
        assert_eq!(log.next_evidence(), None);
    }
    // A fourth later ACK exceeds the limit.
    log.set_front(4, Front::EMPTY);
    log.on_acked(4, 4, Instant::ZERO);
    assert_eq!(log.next_evidence(), Some((0, MemberEvidence::Lost)));
    assert_eq!(log.next_evidence(), None);
}

#[test]
fn a_member_that_vanished_is_told_nothing() {
    let rule = Overtaken::Lost {
        threshold: 0,
        delayed_acks: false,
        one_per_ack: false,
        again: false,
        grow: true,
    };
    for rule in [rule, Overtaken::Each] {
        let mut log = SendLog::new(rule);
        for member in 0..2 {
            let order = u64::from(member);
            log.on_sent(member, order);
            log.set_front(member, Front { orders: [order, NOWHERE, NOWHERE], ..Front::EMPTY });
        }
        log.set_front(1, Front::EMPTY);
        log.on_acked(1, 1, Instant::ZERO);
        let mut gone = log.clone();
        assert!(log.next_evidence().is_some());
        gone.leave(0);
        assert_eq!(gone.next_evidence(), None);
    }
}

#[test]
fn an_ack_that_overtakes_another_member_withholds_growth_where_the_rule_says_so() {
    // Member 0 sends position 0, member 1 positions 1 and 2; both of its segments are delivered
    // under one delayed ACK.
    let withheld = |grow: bool, missing: bool| {
        let rule = Overtaken::Lost {
            threshold: 3,
            delayed_acks: false,
            one_per_ack: false,
            again: true,
            grow,
        };
        let mut log = SendLog::new(rule);
        for (order, member) in [(0, 0), (1, 1), (2, 1)] {
            log.on_sent(member, order);
        }
        let first = Front { orders: [0, NOWHERE, NOWHERE], ..Front::EMPTY };
        log.set_front(0, if missing { first } else { Front::EMPTY });
        log.set_front(1, Front { orders: [1, 2, NOWHERE], ..Front::EMPTY });
        log.withholds_growth(2, Some(1))
    };
    assert!(withheld(false, true));
    assert!(!withheld(false, false), "its own segments are no others'");
    assert!(!withheld(true, true));
}
