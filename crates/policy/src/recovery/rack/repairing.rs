//! ACKs that tell of the next segments behind all that have arrived, while losses are repaired: most of a recovery. Nothing becomes
//! overdue by them, so that only the window glides on.

use super::super::{RecoveryContext, Report, TimerAction};
use super::{Hold, RackTlp, delivers_after_head};
use crate::ack::{AckInfo, Newest};

impl RackTlp {
    /// Digests the ACK if it is such a one; in the state of fast recovery. `None`, and nothing has changed, if it may be something else.
    #[inline]
    pub(super) fn go_on_repairing(
        &mut self,
        cx: &RecoveryContext<'_>,
        ack: &AckInfo,
    ) -> Option<Report> {
        let (start, newest) = (ack.progress.lowest_original?, ack.progress.newest?);
        let is_told = ack.una < self.high && ack.dsack.is_none();
        let is_undone = self.undo.is_proven_by_dsack() || !self.probe.is_idle();
        let is_row = !ack.advanced() && start + ack.progress.delivered == newest.end;
        if !is_told || is_undone || start < self.highest_sacked || !is_row {
            return None;
        }
        if ack.progress.in_row != ack.progress.delivered
            || !self.detector.goes_on(cx.board, (start, newest), ack.now)
        {
            return None;
        }
        Some(self.glide_on(cx, ack, newest))
    }

    /// What [`RackTlp::digest`] comes to then.
    #[inline]
    fn glide_on(&mut self, cx: &RecoveryContext<'_>, ack: &AckInfo, newest: Newest) -> Report {
        self.hold = Hold::None;
        self.highest_sacked = newest.end;
        if ack.duplicate {
            self.duplicates.on_duplicate(cx.snd_nxt);
        }
        self.reordering.adapt(newest.sent_at, ack.now);
        let mut report = Report::default();
        self.glide(cx, ack.progress.delivered, false, &mut report);
        let restart = delivers_after_head(cx, ack);
        self.set_timer(cx, ack.now, None, restart);
        if restart {
            report.timer = TimerAction::Restart;
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{LossRecovery, SentInfo};
    use super::super::State;
    use super::*;
    use crate::ack::{AckProgress, Scoreboard};
    use proptest::prelude::*;
    use units::{Duration, Instant};

    const MSS: u64 = 1000;

    /// A sender's recovery and board. `short`: it has its short ways.
    struct Twin {
        rack: RackTlp,
        board: Scoreboard,
        short: bool,
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Send,
        /// The next lost segment leaves again.
        Again,
        /// So many segments are acknowledged, and one block is SACKed: halves of segments beyond.
        Arrive { acked: u64, left: u64, len: u64 },
        Wait { ms: u64 },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => Just(Step::Send),
            2 => Just(Step::Again),
            // In order behind a hole, as most are; and anything.
            4 => (2_u64..30, 1_u64..5).prop_map(|(left, len)| {
                Step::Arrive { acked: 0, left: left * 2, len: len * 2 }
            }),
            2 => (0_u64..4, 1_u64..40, 1_u64..6)
                .prop_map(|(acked, left, len)| Step::Arrive { acked, left, len }),
            1 => (1_u64..120).prop_map(|ms| Step::Wait { ms }),
        ]
    }

    impl Twin {
        fn new(short: bool) -> Self {
            let rack = RackTlp::new(Duration::from_millis(200));
            Self { rack, board: Scoreboard::default(), short }
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
                retreat: false,
                shared: false,
            };
            ask(&mut self.rack, &mut cx)
        }

        fn send(&mut self, now: Instant, start: u64) {
            self.board.push(start, MSS as u32, (now, start));
            self.rack.on_sent(&sent(now, start + MSS, false));
        }

        fn send_again(&mut self, now: Instant, nxt: u64) -> Option<usize> {
            let index = self.ask(nxt, |rack, cx| rack.next_retransmission(cx))?;
            self.board.retransmit(index, (now, nxt));
            let end = self.board.segment(index).expect("it is lost").end();
            self.rack.on_sent(&sent(now, end, true));
            Some(index)
        }

        fn arrive(&mut self, now: Instant, (una_before, una, nxt): (u64, u64, u64), block: (u64, u64)) -> Report {
            let mut progress = AckProgress::default();
            self.board.acknowledge(una, &mut progress);
            self.board.sack(block.0, block.1.min(nxt), &mut progress);
            let info = AckInfo {
                now,
                una_before,
                una,
                snd_nxt: nxt,
                duplicate: progress.sacked > 0,
                repeats: una == una_before,
                progress,
                dsack: None,
                echoes_original: false,
            };
            let short = self.short;
            self.ask(nxt, |rack, cx| if short { rack.on_ack(cx, &info) } else { rack.digest(cx, &info) })
        }

        fn run_timer(&mut self, now: Instant, nxt: u64) -> Option<Report> {
            self.rack.timeout().filter(|&due| due <= now)?;
            Some(self.ask(nxt, |rack, cx| rack.on_timeout(cx, now)))
        }

        /// What others see of it.
        fn seen(&mut self, nxt: u64) -> (Option<Instant>, u64, State, String) {
            let allowance = self.ask(nxt, |rack, cx| rack.allowance(cx));
            (self.rack.timeout(), allowance, self.rack.state, format!("{:?}", self.board))
        }
    }

    fn sent(now: Instant, end: u64, retransmission: bool) -> SentInfo {
        let (srtt, rto) = (Duration::from_millis(50), Duration::from_millis(250));
        SentInfo { now, len: MSS, end, retransmission, srtt, rto }
    }

    proptest! {
        /// Whatever is sent, lost and SACKed: the short ways answer and do what the long one does.
        #[test]
        fn short_ways_come_to_the_same(steps in proptest::collection::vec(step(), 1..120)) {
            let mut twins = [Twin::new(true), Twin::new(false)];
            let (mut now, mut una, mut nxt) = (Instant::from_nanos(1), 0, 0);
            let mut tell = |twins: &mut [Twin; 2], step: Step| {
                now += Duration::from_micros(700);
                let before = una;
                match step {
                    Step::Send => nxt += MSS,
                    Step::Wait { ms } => now += Duration::from_millis(ms),
                    Step::Arrive { acked, .. } => una = (una + acked * MSS).min(nxt),
                    Step::Again => {}
                }
                let told = twins.each_mut().map(|twin| {
                    let answer = match step {
                        Step::Send => { twin.send(now, nxt - MSS); String::new() }
                        Step::Again => format!("{:?}", twin.send_again(now, nxt)),
                        Step::Wait { .. } => format!("{:?}", twin.run_timer(now, nxt)),
                        Step::Arrive { left, len, .. } => {
                            let left = una + left * MSS / 2;
                            format!("{:?}", twin.arrive(now, (before, una, nxt), (left, left + len * MSS / 2)))
                        }
                    };
                    (answer, twin.seen(nxt))
                });
                (told[0] == told[1]).then_some(()).ok_or(told)
            };
            for _ in 0..20 {
                tell(&mut twins, Step::Send).expect("nothing is lost yet");
            }
            for step in steps {
                if let Err(told) = tell(&mut twins, step) {
                    return Err(TestCaseError::fail(format!("{step:?}: {told:#?}")));
                }
            }
        }
    }
}
