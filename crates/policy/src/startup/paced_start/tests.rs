use super::*;
use crate::startup::{SlowStart, StartUp};
use crate::window::PlanOrder;
use arith::paced_start::ack_gap;
use units::Instant;

const MSS: u64 = 1000;
/// Gap of the capacity: 1 ms a segment.
const GB: u64 = 1_000_000;
const RTT: u64 = 100_000_000;

/// The trains of a run, and its exit.
#[derive(Debug, PartialEq)]
struct Trains {
    /// Segments of each train.
    lengths: Vec<u64>,
    /// Gap of the exit, in ns.
    gap: u64,
    /// Window of the exit, in segments.
    cwnd: u64,
}

/// A sender on a path of which a part is free, by the model of §3.2.3.
struct Sender {
    window: Window,
    start: Wrapping<PacedStart>,
    /// Millionths.
    available: u64,
    now: u64,
    acked: u64,
}

impl Sender {
    fn new(tolerance: u32, available: u64) -> Self {
        Self::with(tolerance, available, ExitRtt::Smoothed)
    }

    fn with(tolerance: u32, available: u64, exit_rtt: ExitRtt) -> Self {
        let window = Window::new(MSS, 3 * MSS, u64::MAX, false);
        let start = PacedStart::new(PacedStartOptions { tolerance, first: 2, exit_rtt });
        let start = Wrapping::new(start, Box::new(SlowStart));
        let mut sender = Self { window, start, available, now: 0, acked: 0 };
        let rtt = crate::ack::RttEstimator::new(crate::config::ConnectionConfig::default().rto);
        sender.start.begin(&mut sender.window, &Start::of(StartupReason::NewPath, &rtt));
        sender
    }

    fn order(&mut self) -> Option<SendPlan> {
        match self.window.take_order()? {
            PlanOrder::Follow(plan) => Some(plan),
            PlanOrder::End => None,
        }
    }

    /// Sends `length` segments and takes ACKs of `per_ack` each.
    fn train(&mut self, length: u64, gap: u64, per_ack: u64) {
        let (left, arrive) = (self.now, ack_gap(GB, gap, self.available));
        let sent_total = self.acked + length * MSS;
        for n in (0..length).skip(per_ack as usize - 1).step_by(per_ack as usize) {
            self.now = left + RTT + n * arrive;
            self.acked += per_ack * MSS;
            let rtt = Duration::from_nanos(self.now - left - n * gap);
            let sample = AckSample {
                rtt: Some(rtt),
                srtt: Duration::from_nanos(RTT),
                min_rtt: Duration::from_nanos(RTT - 10 * GB),
                sent_total,
                acked_total: self.acked,
                ..AckSample::of(Instant::from_nanos(self.now), per_ack * MSS)
            };
            self.start.observe(&mut self.window, &sample);
        }
    }

    /// Runs the trains up to the exit.
    fn run(&mut self, per_ack: u64) -> Trains {
        let mut lengths = Vec::new();
        while let Some(plan) = self.order() {
            let gap = plan.gap.as_nanos();
            let Some(length) = plan.stop_after else {
                return Trains { lengths, gap, cwnd: self.window.cwnd() / MSS };
            };
            assert_eq!(self.window.cwnd(), u64::from(length) * MSS);
            lengths.push(u64::from(length));
            self.train(u64::from(length), gap, per_ack);
        }
        panic!("neither a train nor an exit after {lengths:?}");
    }
}

#[test]
fn the_five_cases_of_table_2() {
    // Gaps as in `arith::paced_start`; windows are 100 ms over them, rounded down.
    let cases = [
        (800_000, vec![2, 4, 8], 1_142_857, 87),
        (600_000, vec![2, 4, 8], 1_533_333, 65),
        (400_000, vec![2, 4, 8], 2_200_000, 45),
        (100_000, vec![2, 4, 8, 16], 6_040_000, 16),
        (50_000, vec![2, 4, 8, 16], 26_738_000, 3),
    ];
    for (available, lengths, gap, cwnd) in cases {
        let mut sender = Sender::new(0, available);
        assert_eq!(sender.run(1), Trains { lengths, gap, cwnd }, "{available}");
        assert_eq!(sender.window.ssthresh(), sender.window.cwnd());
    }
}

/// Case 3 exits at 2.2 ms after eight segments 4.4 ms apart, which meet no queue. 100 ms over 2.2
/// ms are 45 segments, and the least round trip, 90 ms here, makes 40. Case 2 exits after eight
/// segments 4/3 ms apart, whose ACKs come 23/15 ms apart. The last waits 7 x 0.2 ms, and 101.4 ms
/// over 1.533 ms are 66 segments, not 65.
#[test]
fn the_round_trip_of_the_exit() {
    for (exit_rtt, cwnd) in [(ExitRtt::Smoothed, 45), (ExitRtt::Latest, 45), (ExitRtt::Least, 40)] {
        assert_eq!(Sender::with(0, 400_000, exit_rtt).run(1).cwnd, cwnd, "{exit_rtt:?}");
    }
    let exits = |exit_rtt| Sender::with(0, 600_000, exit_rtt).run(1).cwnd;
    assert_eq!([exits(ExitRtt::Smoothed), exits(ExitRtt::Latest)], [65, 66]);
}

#[test]
fn delayed_acks_lengthen_the_search_by_a_train() {
    // One ACK for the pair shows no gap: four go back to back too. Then as in case 3.
    let mut sender = Sender::new(0, 400_000);
    assert_eq!(sender.run(2), Trains { lengths: vec![2, 4, 8, 16], gap: 2_200_000, cwnd: 45 });
}

#[test]
fn a_queue_within_the_tolerance_does_not_count() {
    // alpha 0.74: three quarters of the capacity queue by 1 + 0.26 * 4/3 - 4/3 = 1.3 % of g_B.
    assert_eq!(Sender::new(0, 740_000).run(1).gap, 1_346_666);
    assert_eq!(Sender::new(50, 740_000).run(1).gap, 1_142_857);
}

#[test]
fn the_path_is_filled_before_avoidance_takes_over() {
    let mut sender = Sender::new(0, 400_000);
    sender.run(1);
    // 45 segments: the ACK that comes when 44 have left changes nothing, the next ends the plan.
    let before = sender.acked;
    let sample = |sent: u64| AckSample {
        sent_total: before + sent * MSS,
        acked_total: before + MSS,
        ..AckSample::of(Instant::from_nanos(sender.now + RTT), MSS)
    };
    let (early, last) = (sample(44), sample(45));
    sender.start.observe(&mut sender.window, &early);
    assert_eq!(sender.start.on_ack(&mut sender.window, &early), Phase::Continue);
    assert!(!sender.window.has_order());
    sender.start.observe(&mut sender.window, &last);
    assert_eq!(sender.window.take_order(), Some(PlanOrder::End));
    assert_eq!(sender.start.on_ack(&mut sender.window, &last), Phase::Done);
}

#[test]
fn data_that_ends_within_a_train() {
    // Two of the four are sent: one gap shows as much. The next train has four again.
    let mut sender = Sender::new(0, 400_000);
    sender.train(2, 0, 1);
    assert_eq!(sender.order().unwrap().stop_after, Some(4));
    sender.train(2, 2 * GB, 1);
    let next = sender.order().unwrap();
    assert_eq!((next.stop_after, next.gap.as_nanos()), (Some(4), 4_400_000));
    // A lone segment shows nothing: the same train is due again.
    sender.train(1, 4_400_000, 1);
    assert_eq!(sender.order(), Some(next));
}

#[test]
fn a_train_slower_than_the_round_trip_is_waited_for() {
    // 300 ms a segment on a path of 100 ms: each is acknowledged before the next has left, and the
    // train of four at 600 ms goes on.
    let mut sender = Sender::new(0, 1_000_000);
    sender.start.overlay.stage = Stage::Search(Search::new(300 * GB, 0));
    sender.start.overlay.length = 4;
    sender.train(3, 600 * GB, 1);
    assert_eq!(sender.order().unwrap().stop_after, Some(2), "the first order still stands");
    assert_eq!(sender.order(), None);
    sender.train(1, 600 * GB, 1);
    assert_eq!(sender.order().unwrap().gap.as_nanos(), 400 * GB);
}

#[test]
fn a_sender_too_slow_for_a_train_proves_nothing() {
    // The application lets a segment go every 10 ms: no queue, but none at 2 ms either is shown.
    let mut sender = Sender::new(0, 400_000);
    sender.train(2, 0, 1);
    let due = sender.order().unwrap();
    sender.train(3, 10 * GB, 1);
    assert_eq!(sender.order(), Some(due));
}

#[test]
fn after_a_timeout_slow_start_to_half_the_last_train() {
    let mut sender = Sender::new(0, 50_000);
    sender.train(2, 0, 1);
    sender.train(4, 2 * GB, 1);
    // Eight were under way.
    sender.window.set_ssthresh(3 * MSS, Cause::Timeout);
    sender.start.on_loss(&mut sender.window, LossEvent::Reduced);
    assert_eq!(sender.window.ssthresh(), 4 * MSS);
    assert_eq!(sender.window.take_order(), Some(PlanOrder::End));
    sender.window.set_cwnd(MSS, Cause::Timeout);
    let sample = AckSample::of(Instant::from_nanos(1), MSS);
    for (cwnd, phase) in [(2, Phase::Continue), (3, Phase::Continue), (4, Phase::Done)] {
        assert_eq!(sender.start.on_ack(&mut sender.window, &sample), phase);
        assert_eq!(sender.window.cwnd(), cwnd * MSS);
    }
}

#[test]
fn fast_recovery_keeps_its_own_threshold() {
    let mut sender = Sender::new(0, 50_000);
    sender.window.set_ssthresh(5 * MSS, Cause::Loss);
    sender.start.on_loss(&mut sender.window, LossEvent::Reduced);
    assert_eq!(sender.window.ssthresh(), 5 * MSS);
}
