//! The scoreboard against a model that keeps a flag for every byte.

use policy::ack::{AckProgress, Scoreboard};
use proptest::prelude::*;
use std::collections::BTreeSet;
use units::Instant;

const SEGMENT: u64 = 10;

#[derive(Clone, Copy, Debug)]
enum Step {
    Send,
    Ack(u64),
    Sack(u64, u64),
    Lose(usize),
    Repair,
    Timeout,
    Renege,
    Forgive,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Send),
        2 => (0u64..400).prop_map(Step::Ack),
        4 => (0u64..400, 1u64..60).prop_map(|(l, n)| Step::Sack(l, l + n)),
        2 => (0usize..40).prop_map(Step::Lose),
        3 => Just(Step::Repair),
        1 => Just(Step::Timeout),
        1 => Just(Step::Renege),
        1 => Just(Step::Forgive),
    ]
}

/// One segment of the model: start, SACKed, lost, retransmitted and on its way.
#[derive(Clone, Copy)]
struct Model {
    start: u64,
    len: u64,
    sacked: bool,
    lost: bool,
    again: bool,
}

#[derive(Default)]
struct World {
    board: Scoreboard,
    model: Vec<Model>,
    /// SACKed bytes: a segment counts once all of its bytes are.
    sacked: BTreeSet<u64>,
    una: u64,
    nxt: u64,
}

impl World {
    fn apply(&mut self, step: Step) {
        let now = Instant::from_nanos(self.nxt);
        match step {
            Step::Send => {
                self.board.push(self.nxt, SEGMENT as u32, now, 0);
                let start = self.nxt;
                let fresh = Model { start, len: SEGMENT, sacked: false, lost: false, again: false };
                self.model.push(fresh);
                self.nxt += SEGMENT;
            }
            Step::Ack(offset) => self.ack(offset.clamp(self.una, self.nxt)),
            Step::Sack(left, right) => self.sack(left, right),
            Step::Lose(i) => {
                if i < self.model.len() {
                    self.board.mark_lost(i);
                    lose(&mut self.model[i]);
                }
            }
            Step::Repair => self.repair(now),
            Step::Timeout => {
                self.board.mark_all_lost();
                self.model.iter_mut().for_each(lose);
            }
            Step::Renege => {
                self.board.forget_sacks();
                self.sacked.clear();
                self.model.iter_mut().for_each(|m| m.sacked = false);
            }
            Step::Forgive => {
                self.board.forgive_losses();
                self.model.iter_mut().for_each(|m| (m.lost, m.again) = (false, false));
            }
        }
    }

    fn ack(&mut self, una: u64) {
        let mut progress = AckProgress::default();
        self.board.acknowledge(una, &mut progress);
        assert_eq!(progress.acked, una - self.una);
        self.una = una;
        self.model.retain(|m| m.start + m.len > una);
        if let Some(m) = self.model.first_mut().filter(|m| m.start < una) {
            m.len -= una - m.start;
            m.start = una;
        }
        self.sacked = self.sacked.split_off(&una);
    }

    fn sack(&mut self, left: u64, right: u64) {
        let mut progress = AckProgress::default();
        self.board.sack(left, right, &mut progress);
        // A segment counts when all of its bytes are SACKed and this block brought one of them.
        let news: BTreeSet<u64> = (left.max(self.una)..right.min(self.nxt))
            .filter(|b| !self.sacked.contains(b))
            .collect();
        self.sacked.extend(&news);
        let mut fresh = 0;
        for m in self.model.iter_mut().filter(|m| !m.sacked) {
            let mut bytes = m.start..m.start + m.len;
            let whole = bytes.clone().all(|b| self.sacked.contains(&b));
            if whole && bytes.any(|b| news.contains(&b)) {
                m.sacked = true;
                fresh += m.len;
            }
        }
        assert_eq!(progress.sacked, fresh);
    }

    fn repair(&mut self, now: Instant) {
        let expected = self.model.iter().position(|m| m.lost && !m.again && !m.sacked);
        let found = self.board.next_lost();
        assert_eq!(found, expected);
        if let Some(i) = found {
            self.board.retransmit(i, now, 0);
            self.model[i].again = true;
        }
    }

    fn check(&self) {
        let sum = |f: fn(&Model) -> bool| -> u64 {
            self.model.iter().filter(|m| f(m)).map(|m| m.len).sum()
        };
        assert_eq!(self.board.outstanding(), self.nxt - self.una);
        assert_eq!(self.board.sacked(), sum(|m| m.sacked));
        assert_eq!(self.board.lost(), sum(|m| m.lost && !m.sacked));
        assert_eq!(self.board.retransmissions_in_flight(), sum(|m| m.again && !m.sacked));
        // In flight = sent - acknowledged - lost, plus the retransmissions (RFC 6675 §3).
        let in_flight = sum(|m| !m.sacked && (!m.lost || m.again));
        assert_eq!(self.board.pipe(), in_flight);
        let ignoring_sacks = sum(|m| !m.lost || m.again);
        assert_eq!(self.board.pipe_ignoring_sacks(), ignoring_sacks);
    }
}

fn lose(m: &mut Model) {
    if !m.sacked {
        (m.lost, m.again) = (true, false);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_board_counts_what_a_flag_per_byte_counts(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::default();
        for step in steps {
            world.apply(step);
            world.check();
        }
    }
}

/// A receiver that claims every second byte of 10,000, the highest first: ten segments and the
/// spare ranges are 266 ranges. A segment that it claims whole afterwards still counts.
#[test]
fn a_receiver_that_lies_does_not_grow_the_list_of_ranges_without_end() {
    let (mut board, mut progress) = (Scoreboard::default(), AckProgress::default());
    for n in 0..10 {
        board.push(n * 1000, 1000, Instant::ZERO, n);
    }
    for byte in (1..5000).rev() {
        board.sack(2 * byte, 2 * byte + 1, &mut progress);
    }
    assert_eq!(board.sacked_ranges().len(), 266);
    assert_eq!(board.sacked(), 0);
    board.sack(3000, 10_000, &mut progress);
    assert_eq!((board.sacked(), board.sacked_ranges()), (7000, &[(3000, 10_000)][..]));
}

/// Short segments count as well: three of five segments of 100 bytes are SACKed, in two ranges, and
/// the other two retransmitted.
#[test]
fn segments_are_counted_whatever_their_length() {
    let mut board = Scoreboard::default();
    for n in 0..5 {
        board.push(n * 100, 100, Instant::ZERO, n);
    }
    assert!(board.has_sacked(0) && !board.has_sacked(1));
    let mut progress = AckProgress::default();
    board.sack(100, 200, &mut progress);
    board.sack(300, 500, &mut progress);
    assert!(board.has_sacked(3) && !board.has_sacked(4));
    for index in [0, 2] {
        board.mark_lost(index);
        board.retransmit(index, Instant::ZERO, 5);
    }
    assert_eq!(board.segments_again(), 2);
    // Lost again, it is not on its way.
    board.mark_lost(0);
    assert_eq!(board.segments_again(), 1);
}
