use super::*;
use crate::ack::RttEstimator;
use crate::startup::start::SoleUse;
use crate::startup::{SlowStart, StartUp, Wrapping};
use crate::window::PlanOrder;
use units::Duration;

const MSS: u64 = 1000;
const RTT: Duration = Duration::from_millis(100);

/// A sender that keeps its window full, with a round trip of 100 ms. IW 10.
struct Sender {
    window: Window,
    resume: Wrapping<CarefulResume>,
    sent: u64,
    acked: u64,
    now: Instant,
}

impl Sender {
    /// Creates a sender with a remembered window in segments and a lowest round trip in ms.
    fn new(cwnd: u64, min_rtt: u64) -> Self {
        Self::under(None, cwnd, min_rtt)
    }

    fn under(terms: Option<&SeedTerms>, cwnd: u64, min_rtt: u64) -> Self {
        let mut window = Window::new(MSS, 10 * MSS, u64::MAX, false);
        let resume = CarefulResume::new(CarefulResumeOptions { scale: 500, beta: 500 });
        let mut resume = Wrapping::new(resume, Box::new(SlowStart));
        let seed = Remembered {
            cwnd: cwnd * MSS,
            // A queue that was there then says nothing of the path.
            srtt: Duration::from_millis(10 * min_rtt),
            min_rtt: Some(Duration::from_millis(min_rtt)),
            ..Remembered::default()
        };
        let rtt = RttEstimator::new(crate::config::ConnectionConfig::default().rto);
        let start = Start {
            seed: Some(seed),
            terms,
            initial_window: 10 * MSS,
            ..Start::of(StartupReason::NewPath, &rtt)
        };
        resume.begin(&mut window, &start);
        Self { window, resume, sent: 10, acked: 0, now: Instant::ZERO + RTT }
    }

    /// Delivers an ACK of `segments`.
    fn see(&mut self, segments: u64) -> AckSample {
        let prior = self.sent - self.acked;
        self.acked += segments;
        let sample = AckSample {
            srtt: RTT,
            min_rtt: RTT,
            prior_in_flight: prior * MSS,
            in_flight: (self.sent - self.acked) * MSS,
            sent_total: self.sent * MSS,
            acked_total: self.acked * MSS,
            ..AckSample::of(self.now, segments * MSS)
        };
        self.resume.observe(&mut self.window, &sample);
        sample
    }

    /// Delivers this number of ACKs of a segment each. With `fill`, the segments that the window
    /// then releases leave.
    fn acks(&mut self, count: u64, fill: bool) {
        for _ in 0..count {
            let sample = self.see(1);
            self.resume.on_ack(&mut self.window, &sample);
            if fill {
                self.sent = self.sent.max(self.acked + self.window.cwnd() / MSS);
            }
        }
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd() / MSS
    }

    fn plan(&mut self) -> Option<PlanOrder> {
        self.window.take_order()
    }
}

/// The jump of 50 is ordered: 9 ACKs take the window from 10 to 19, the tenth jumps.
fn jumped() -> Sender {
    let mut s = Sender::new(100, 100);
    s.acks(9, true);
    assert_eq!((s.cwnd(), s.plan()), (19, None));
    s.acks(1, false);
    // 28 segments had left by then, 18 are outstanding.
    assert_eq!((s.sent, s.resume.overlay.pipe), (28, 18 * MSS));
    assert_eq!(s.cwnd(), 50);
    // 50 segments over 100 ms.
    let gap = Duration::from_millis(2);
    assert_eq!(s.plan(), Some(PlanOrder::Follow(SendPlan::spaced(1, gap))));
    s
}

#[test]
fn the_initial_window_confirms_the_path_then_half_of_what_is_remembered() {
    jumped();
}

#[test]
fn the_window_stands_until_something_unvalidated_is_acknowledged() {
    let mut s = jumped();
    // 18 ACKs of data sent before, while 17 unvalidated segments leave: nothing grows.
    s.sent = 45;
    s.acks(18, false);
    assert_eq!((s.cwnd(), s.plan()), (50, None));
    assert_eq!(s.resume.overlay.pipe, 36 * MSS);
    // Two unvalidated ones more leave, 47 in all. The ACK of the 29th: 18 are outstanding, 37 have
    // proved to fit: not even what is known was used, and that is the window.
    s.sent = 47;
    s.acks(1, false);
    assert_eq!(s.plan(), Some(PlanOrder::End));
    assert_eq!((s.cwnd(), s.resume.overlay.stage), (38, Stage::Normal));
}

#[test]
fn validated_the_jump_is_the_window_and_slow_start_goes_on() {
    let mut s = jumped();
    // The whole jump leaves: 10 acknowledged and 50 more. It is used up, so the window is what is
    // outstanding after this ACK, 49, which slow start makes 50.
    s.sent = 60;
    s.acks(1, false);
    assert_eq!(s.plan(), Some(PlanOrder::End));
    assert_eq!((s.cwnd(), s.resume.overlay.stage), (50, Stage::Validating { until: 60 * MSS }));
    s.acks(48, true);
    assert_eq!(s.cwnd(), 98);
    assert_eq!(s.resume.overlay.stage, Stage::Validating { until: 60 * MSS });
    s.acks(1, true);
    assert_eq!((s.cwnd(), s.resume.overlay.stage), (99, Stage::Normal));
}

#[test]
fn congestion_takes_the_window_to_half_of_what_the_path_held() {
    let mut s = jumped();
    s.sent = 60;
    s.acks(5, false);
    // 18 at the jump, 5 since, of which the first began validation.
    assert_eq!(s.resume.overlay.pipe, 23 * MSS);
    // Congestion control would halve what is outstanding; half the pipe is 11.5 segments.
    s.window.set_ssthresh(22 * MSS, Cause::Loss);
    s.resume.on_loss(&mut s.window, LossEvent::Reduced);
    assert_eq!(s.window.ssthresh(), 11_500);
    // Recovery: 45 are left, and the last of them ends `Safe Retreat`. Recovery, which ends with
    // the same ACK, finds the lowered threshold. The pipe is 23 + 45 segments.
    for _ in 0..44 {
        s.see(1);
    }
    assert_eq!(s.resume.overlay.stage, Stage::SafeRetreat { until: Some(60 * MSS) });
    s.see(1);
    assert_eq!((s.window.ssthresh(), s.resume.overlay.stage), (11_500, Stage::Normal));
    // The next ACK sets the threshold: half of 68, whatever it brings itself.
    s.sent = 70;
    s.see(1);
    assert_eq!(s.window.ssthresh(), 34 * MSS);
}

/// RFC 9959 §3.5: the window is half of the path's capacity, also if that is less than the initial
/// window; not below two segments (RFC 5681 §3.1).
#[test]
fn a_retreat_goes_below_the_initial_window() {
    for (pipe, half) in [(12, 6), (3, 2)] {
        let mut s = jumped();
        s.resume.overlay.pipe = pipe * MSS;
        s.resume.on_loss(&mut s.window, LossEvent::Reduced);
        assert_eq!(s.window.ssthresh(), half * MSS);
    }
}

/// RFC 9959 §3.3: without a loss the window is not reduced below the initial one, even if little
/// was sent.
#[test]
fn little_to_send_costs_no_initial_window() {
    // All but three of 28 segments were acknowledged at the jump. Their ACKs prove six; one
    // unvalidated segment leaves, and its ACK, the seventh, ends it.
    let mut s = jumped();
    s.resume.overlay.pipe = 3 * MSS;
    s.acked = 25;
    s.acks(3, false);
    s.sent = 29;
    s.see(1);
    assert_eq!(s.resume.overlay.pipe, 7 * MSS);
    assert_eq!((s.cwnd(), s.resume.overlay.stage), (10, Stage::Normal));
}

/// More is in flight than the path has proven, and less than the initial window: there is nothing
/// to validate.
#[test]
fn a_flight_below_the_initial_window_ends_it() {
    let mut s = jumped();
    s.resume.overlay.pipe = MSS;
    s.acked = 27;
    // ACKs of the last of 28 segments from before and of one of eight unvalidated ones: three are
    // proven, seven in flight.
    s.sent = 36;
    s.acks(1, false);
    s.see(1);
    assert_eq!((s.cwnd(), s.resume.overlay.stage), (10, Stage::Normal));
}

#[test]
fn no_more_than_half_can_be_asked_for() {
    assert!(SCALE.read("0.5").is_ok());
    assert!(SCALE.read("0.501").is_err());
}

#[test]
fn another_round_trip_is_another_path() {
    // Less than half of 201 ms; more than ten times 9 ms.
    for rtt in [201, 9] {
        let mut s = Sender::new(100, rtt);
        s.acks(12, true);
        assert_eq!((s.cwnd(), s.plan()), (22, None), "{rtt} ms remembered");
    }
    for rtt in [200, 10] {
        let mut s = Sender::new(100, rtt);
        s.acks(10, true);
        assert_eq!(s.cwnd(), 50, "{rtt} ms remembered");
    }
}

#[test]
fn nothing_is_jumped_to_that_slow_start_has_already() {
    let mut s = Sender::new(20, 100);
    s.acks(10, true);
    assert_eq!((s.cwnd(), s.plan()), (20, None));
}

/// RFC 9959 §3.2: of two connections with the same set, the first to jump does, and the other stays
/// in slow start.
#[test]
fn one_connection_alone_jumps() {
    let terms = SeedTerms { until: Instant::ZERO + RTT, sole_use: Some(SoleUse::default()) };
    let mut senders = [100, 100].map(|cwnd| Sender::under(Some(&terms), cwnd, 100));
    senders.iter_mut().for_each(|s| s.acks(10, true));
    assert_eq!(senders.map(|s| s.cwnd()), [50, 20]);
}

/// All ACKs come at 100 ms: a set that is valid until then is used, one that was valid until a
/// nanosecond before is not.
#[test]
fn a_set_that_has_expired_since_the_connection_began_is_not_used() {
    for (nanos, cwnd) in [(100_000_000, 50), (99_999_999, 20)] {
        let terms = SeedTerms { until: Instant::from_nanos(nanos), sole_use: None };
        let mut s = Sender::under(Some(&terms), 100, 100);
        s.acks(10, true);
        assert_eq!(s.cwnd(), cwnd);
    }
}

#[test]
fn loss_in_reconnaissance_ends_it() {
    let mut s = Sender::new(100, 100);
    s.acks(3, true);
    s.window.set_ssthresh(6 * MSS, Cause::Loss);
    s.resume.on_loss(&mut s.window, LossEvent::Reduced);
    assert_eq!((s.window.ssthresh(), s.resume.overlay.stage), (6 * MSS, Stage::Normal));
}
