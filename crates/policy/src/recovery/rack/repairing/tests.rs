//! Compares two recoveries that get the same events, one with fast paths and one without.

use super::super::super::{LossRecovery, Reduction, SentInfo};
use super::super::State;
use super::*;
use crate::ack::{AckProgress, RepeatedSegments, Scoreboard};
use proptest::prelude::*;
use units::{Duration, Instant};

const MSS: u64 = 1000;

#[derive(Clone, Copy, Debug)]
enum Step {
    Send,
    /// The next lost segment is retransmitted.
    Again,
    /// The number of segments acknowledged, and a SACK block, in halves of segments from there.
    Arrive {
        acked: u64,
        left: u64,
        len: u64,
    },
    Wait {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Send),
        2 => Just(Step::Again),
        // In whole segments behind a hole, as most; and anything.
        4 => (2_u64..30, 1_u64..5)
            .prop_map(|(left, len)| Step::Arrive { acked: 0, left: left * 2, len: len * 2 }),
        2 => (0_u64..4, 1_u64..40, 1_u64..6)
            .prop_map(|(acked, left, len)| Step::Arrive { acked, left, len }),
        1 => (1_u64..120).prop_map(|ms| Step::Wait { ms }),
    ]
}

/// Progress of the sender.
#[derive(Clone, Copy)]
struct Progress {
    now: Instant,
    una_before: u64,
    una: u64,
    nxt: u64,
}

impl Progress {
    fn take(&mut self, step: Step) {
        self.now += Duration::from_micros(700);
        self.una_before = self.una;
        match step {
            Step::Send => self.nxt += MSS,
            Step::Wait { ms } => self.now += Duration::from_millis(ms),
            Step::Arrive { acked, .. } => self.una = (self.una + acked * MSS).min(self.nxt),
            Step::Again => {}
        }
    }

    fn sent(&self, end: u64, retransmission: bool) -> SentInfo {
        let (srtt, rto) = (Duration::from_millis(50), Duration::from_millis(250));
        SentInfo { now: self.now, segments: 1, len: MSS, end, retransmission, srtt, rto }
    }
}

/// A sender's recovery and board.
struct Twin {
    rack: RackTlp,
    board: Scoreboard,
    /// True if it has fast paths.
    is_short: bool,
}

impl Twin {
    fn new(is_short: bool) -> Self {
        let rack = RackTlp::new(Duration::from_millis(200));
        Self { rack, board: Scoreboard::default(), is_short }
    }

    fn ask<T>(
        &mut self,
        snd_nxt: u64,
        ask: impl FnOnce(&mut RackTlp, &mut RecoveryContext<'_>) -> T,
    ) -> T {
        let mut cx = RecoveryContext {
            board: &mut self.board,
            cwnd: 20 * MSS,
            ssthresh: 10 * MSS,
            mss: MSS,
            srtt: Duration::from_millis(50),
            min_rtt: Duration::from_millis(40),
            rto: Duration::from_millis(250),
            snd_nxt,
            new_data: true,
            shared: false,
        };
        ask(&mut self.rack, &mut cx)
    }

    /// Takes a step, and returns its answer and its visible state.
    fn take(&mut self, step: Step, at: &Progress) -> String {
        let answer = match step {
            Step::Send => self.send(at),
            Step::Again => format!("{:?}", self.send_again(at)),
            Step::Wait { .. } => format!("{:?}", self.run_timer(at)),
            Step::Arrive { left, len, .. } => {
                let left = at.una + left * MSS / 2;
                format!("{:?}", self.arrive(at, (left, left + len * MSS / 2)))
            }
        };
        let allowance = self.ask(at.nxt, |rack, cx| rack.allowance(cx));
        let Self { rack, board, .. } = self;
        format!("{answer} {:?} {:?} {allowance} {board:?}", rack.state, rack.timeout())
    }

    fn send(&mut self, at: &Progress) -> String {
        self.board.push(at.nxt - MSS, MSS as u32, at.now, at.nxt);
        self.rack.on_sent(&at.sent(at.nxt, false));
        String::new()
    }

    fn send_again(&mut self, at: &Progress) -> Option<usize> {
        let index = self.ask(at.nxt, |rack, cx| rack.next_retransmission(cx))?;
        self.board.retransmit(index, at.now, at.nxt);
        let end = self.board.segment(index)?.end();
        self.rack.on_sent(&at.sent(end, true));
        Some(index)
    }

    fn arrive(&mut self, at: &Progress, block: (u64, u64)) -> Report {
        let info = self.book(at, block);
        match self.is_short {
            true => self.ask(at.nxt, |rack, cx| rack.on_ack(cx, &info)),
            false => self.ask(at.nxt, |rack, cx| rack.digest(cx, &info)),
        }
    }

    /// Records an ACK with this block.
    fn book(&mut self, at: &Progress, block: (u64, u64)) -> AckInfo {
        let mut progress = AckProgress::default();
        self.board.acknowledge(at.una, &mut progress);
        self.board.sack(block.0, block.1.min(at.nxt), &mut progress);
        AckInfo {
            now: at.now,
            una_before: at.una_before,
            una: at.una,
            snd_nxt: at.nxt,
            duplicate: progress.sacked > 0,
            repeats: at.una == at.una_before,
            progress,
            dsack: None,
            repeated: RepeatedSegments::default(),
            echoes_original: false,
        }
    }

    fn run_timer(&mut self, at: &Progress) -> Option<Report> {
        self.rack.timeout().filter(|&due| due <= at.now)?;
        Some(self.ask(at.nxt, |rack, cx| rack.on_timeout(cx, at.now)))
    }
}

/// 20 segments leave, and the first is lost. Later ones are SACKed one by one: the fourth ACK
/// begins a recovery at the latest, and the fifth takes the fast path.
#[test]
fn the_next_segments_in_a_recovery_have_the_short_way() {
    let mut twin = Twin::new(true);
    let mut at = Progress { now: Instant::from_nanos(1), una_before: 0, una: 0, nxt: 0 };
    for _ in 0..20 {
        at.take(Step::Send);
        twin.take(Step::Send, &at);
    }
    at.take(Step::Wait { ms: 50 });
    for n in 1..5 {
        at.now += Duration::from_micros(700);
        twin.arrive(&at, (n * MSS, (n + 1) * MSS));
    }
    assert_eq!(twin.rack.state, State::Recovery);
    at.now += Duration::from_micros(700);
    let info = twin.book(&at, (5 * MSS, 6 * MSS));
    assert!(twin.ask(at.nxt, |rack, cx| rack.go_on_repairing(cx, &info)).is_some());
}

proptest! {
    /// For any events, the fast paths return and do the same as the slow path.
    #[test]
    fn short_ways_come_to_the_same(steps in proptest::collection::vec(step(), 1..120)) {
        let (mut short, mut long) = (Twin::new(true), Twin::new(false));
        let mut at = Progress { now: Instant::from_nanos(1), una_before: 0, una: 0, nxt: 0 };
        for step in [Step::Send; 20].into_iter().chain(steps) {
            at.take(step);
            prop_assert_eq!(short.take(step, &at), long.take(step, &at), "{:?}", step);
        }
    }
}

/// The first of 20 segments is lost, and five behind it are delivered. The recovery that begins
/// lowers the window to the threshold at once without PRR, and by what is delivered with it.
#[test]
fn without_prr_the_window_falls_at_once() {
    let reduction = |is_gradual: bool| {
        let mut twin = Twin::new(false);
        twin.rack.is_gradual = is_gradual;
        let mut at = Progress { now: Instant::from_nanos(1), una_before: 0, una: 0, nxt: 0 };
        for _ in 0..20 {
            at.take(Step::Send);
            twin.take(Step::Send, &at);
        }
        at.take(Step::Wait { ms: 50 });
        let reports = (1..6).map(|n| twin.arrive(&at, (n * MSS, (n + 1) * MSS)));
        let reduction = reports.into_iter().find_map(|report| report.congestion);
        (reduction, twin.rack.prr.is_some())
    };
    assert_eq!(reduction(true), (Some(Reduction::Gradual), true));
    assert_eq!(reduction(false), (Some(Reduction::ToSsthresh), false));
}
