//! Fast start (Padmanabhan & Katz 1998 §3, §7.1): after an idle time, the last window that was
//! delivered whole is used at once, spread over a round trip.
//!
//! The part of the first window that plain slow start would not have sent leaves with low priority,
//! so that the attempt does no harm. If it fails, a fine timer or the first sign of several losses
//! takes it back: slow start follows as if there had been no attempt. A new path to a remembered
//! destination begins alike. The idle rule must leave the window to the start-up
//! ([`crate::config::IdleRestart::StartUp`]).

use super::{
    LossEvent, LossSignal, Overlay, OverlayTurn, Phase, Remembered, Start, StartUpDescriptor,
    StartupReason, Wrapping,
};
use crate::ack::AckSample;
use crate::config::MemoryKind;
use crate::registry::values::{duration, positive};
use crate::registry::{Implied, Make, Parameter, PolicySetup};
use crate::send_plan::{PriorityMark, SendPlan};
use crate::window::{Cause, TimeoutOrder, Window};
use arith::rtt::Estimator;
use units::Duration;

/// Fast start.
pub static FAST_START: StartUpDescriptor = StartUpDescriptor::new(
    "fs",
    "after idle the last window that went through whole, spaced; taken back if it fails",
    "Padmanabhan & Katz 1998 §3",
    Make::Around(|setup, inner| {
        Box::new(Wrapping::new(FastStart::new(FastStartOptions::of(setup)), inner))
    }),
)
.with(&[&BURST, &QUICK, &RESET, &ROUND_TRIP, &WEIGHT, &MAX_AGE, &CAP])
.implying(Implied { memory: MemoryKind::Temporal, ..Implied::IDLE })
.explained(&super::pages::FAST_START);

static BURST: Parameter<u32> =
    Parameter::segments("fs_burst", "4", "fs: most segments sent at once before ACKs clock");
/// Quick detection of and recovery from failure.
pub static QUICK: Parameter<bool> = Parameter::switch(
    "fs_quick",
    "on",
    "fs: reset timer, and falling back on it or on several losses",
);
static RESET: Parameter<ResetTimer> = Parameter::choice(
    "fs_reset",
    &[("marked", ResetTimer::Marked), ("attempt", ResetTimer::Attempt)],
    "marked",
    "fs: reset timer while a marked segment is the earliest outstanding, or until all are delivered",
);
static ROUND_TRIP: Parameter<bool> = Parameter::choice(
    "fs_rtt",
    &[("smoothed", false), ("first", true)],
    "smoothed",
    "fs: round trip that bursts and reset timer go by; first: for ever the first sample, as ns-2",
);
static WEIGHT: Parameter<u32> = Parameter::text(
    "fs_weight",
    ("1..16", |text| {
        positive(text).ok().filter(|n| *n <= 16).ok_or_else(|| "must be 1 to 16".to_owned())
    }),
    "1",
    "fs: weight of a fresh sample of the round trip until the first window is delivered",
);
static MAX_AGE: Parameter<Duration> = Parameter::text(
    "fs_max_age",
    ("duration", duration),
    "600s",
    "fs: older windows are not used again; of earlier connections none that the memory's gate refuses (older than 600 s)",
);
static CAP: Parameter<u32> = Parameter::segments(
    "fs_cap",
    "4096",
    "fs: most that is believed of a remembered window; of earlier connections no more than the gate lets through (4 MiB)",
);

/// A remembered round trip longer than any timeout (RFC 6298 §2.5) is no memory of a path.
const LONGEST_RTT: Duration = Duration::from_secs(60);

/// Time in which the reset timer replaces the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetTimer {
    /// The timer runs while the earliest unacknowledged segment has low priority, to detect its
    /// loss (§3.4.4). Segments that slow start would have sent too have slow start's timer.
    Marked,
    /// During the whole attempt (§7.1). It detects the loss of another segment as early, at the
    /// cost of a timeout.
    Attempt,
}

/// Options of [`FastStart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastStartOptions {
    /// `maxburst`, segments: no more leave in any interval of `maxburst * srtt / cwnd`.
    pub max_burst: u32,
    /// Quick detection of and recovery from failure (§3.4.4): the reset timer, and falling back.
    pub quick_recovery: bool,
    /// Time in which the reset timer runs.
    pub reset: ResetTimer,
    /// The round trip stays at its first sample, an effect of ns-2's integer division of its gains.
    pub first_rtt: bool,
    /// Factor of the usual weight of a round-trip sample during an attempt; at least 1. The weight
    /// is at most that of a whole round trip. §3.4.2 leaves larger weights to be tried.
    pub weight: u32,
    /// Older windows are not used again.
    pub max_age: Duration,
    /// Most segments that are used of a remembered window.
    pub cap: u32,
}

impl FastStartOptions {
    fn of(setup: &PolicySetup<'_>) -> Self {
        Self {
            max_burst: setup.get(&BURST),
            quick_recovery: setup.get(&QUICK),
            reset: setup.get(&RESET),
            first_rtt: setup.get(&ROUND_TRIP),
            weight: setup.get(&WEIGHT),
            max_age: setup.get(&MAX_AGE),
            cap: setup.get(&CAP),
        }
    }
}

/// Fast start; another start-up grows the window, and begins where nothing is remembered.
pub struct FastStart {
    options: FastStartOptions,
    /// Round trips, nanoseconds, independent of the retransmission timer's clock. A round trip has
    /// a weight of an eighth as usual, not each of its ACKs: with these it would follow the queue
    /// that the transfer itself builds.
    exact: Estimator,
    round: Round,
    attempt: Option<Attempt>,
    /// Bytes of new data sent and acknowledged on the path at the last ACK.
    sent: u64,
    acked: u64,
}

/// A fast start under way.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// The first window, bytes: whole segments.
    first_window: u64,
    /// Bytes of these that plain slow start would have sent too.
    unmarked: u64,
    /// Bytes sent and acknowledged before it.
    sent_before: u64,
    acked_before: u64,
    /// The threshold that is restored if the attempt fails.
    ssthresh: u64,
    /// The first window is still being clocked out.
    clocking: bool,
}

/// A round trip: from the sending of a segment to its acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Bytes sent when it began.
    end: u64,
    /// Most bytes in flight since.
    flight: u64,
}

impl Round {
    /// Returns the most bytes in flight during the round trip of this ACK.
    fn flight(&mut self, sample: &AckSample) -> u64 {
        if sample.acked_total > self.end {
            *self = Self { end: sample.sent_total, flight: 0 };
        }
        self.flight = self.flight.max(sample.prior_in_flight);
        self.flight
    }
}

impl FastStart {
    /// Creates a start-up that has not started.
    pub fn new(options: FastStartOptions) -> Self {
        let (exact, round) = (Estimator::new(), Round::default());
        Self { options, exact, round, attempt: None, sent: 0, acked: 0 }
    }

    fn srtt(&self) -> Duration {
        Duration::from_nanos(self.exact.srtt8() / 8)
    }

    /// Takes over remembered values, if they are usable. A handshake has measured the path since.
    fn begin_new(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        let Some(seed) = start.seed.filter(|seed| self.is_seed_usable(seed)) else {
            return OverlayTurn::Left;
        };
        let measured = self.exact;
        if !seed.srtt.is_zero() {
            self.exact = Estimator::seeded(seed.srtt.as_nanos(), seed.rttvar.as_nanos());
            if measured.srtt8() > 0 {
                self.exact.on_sample(measured.srtt8() / 8);
            }
        }
        let ssthresh = seed.ssthresh.unwrap_or(u64::MAX);
        let cap = u64::from(self.options.cap) * window.mss();
        let cwnd = went_through(seed.cwnd, ssthresh, window.mss()).min(cap);
        if ssthresh < window.ssthresh() {
            window.set_ssthresh(ssthresh, Cause::Seed);
        }
        self.send_first_window(window, cwnd, start.initial_window);
        OverlayTurn::Taken
    }

    fn is_seed_usable(&self, seed: &Remembered) -> bool {
        seed.age <= self.options.max_age && seed.srtt.max(seed.rttvar) <= LONGEST_RTT
    }

    /// The path's own last window, or, if that is too old, slow start again (RFC 5681 §4.1).
    fn begin_idle(&mut self, window: &mut Window, start: &Start<'_>) {
        let cwnd = went_through(window.cwnd(), window.ssthresh(), window.mss());
        if start.idle <= self.options.max_age && self.exact.srtt8() > 0 {
            self.send_first_window(window, cwnd, start.initial_window);
        } else {
            window.set_cwnd(start.initial_window.min(window.cwnd()), Cause::Idle);
        }
    }

    /// Sends `cwnd` bytes at once if that is more than slow start would.
    fn send_first_window(&mut self, window: &mut Window, cwnd: u64, initial_window: u64) {
        window.set_cwnd(cwnd.max(initial_window), Cause::Seed);
        let first_window = window.usable() / window.mss() * window.mss();
        if first_window <= initial_window || self.exact.srtt8() == 0 {
            return window.set_cwnd(initial_window, Cause::Seed);
        }
        let attempt = Attempt {
            first_window,
            unmarked: initial_window,
            sent_before: self.sent,
            acked_before: self.acked,
            ssthresh: window.ssthresh(),
            clocking: true,
        };
        self.attempt = Some(attempt);
        self.clock(window, &attempt);
    }

    /// Orders that the rest of the first window is spaced at `cwnd / srtt` and marked (§3.4.3,
    /// §7.1).
    fn clock(&self, window: &mut Window, attempt: &Attempt) {
        let burst = self.options.max_burst;
        let bytes = u128::from(burst) * u128::from(window.mss());
        let gap = bytes * u128::from(self.srtt().as_nanos()) / u128::from(window.usable());
        let gap = Duration::from_nanos(u64::try_from(gap).unwrap_or(u64::MAX));
        let sent = self.sent - attempt.sent_before;
        let after = attempt.unmarked.saturating_sub(sent);
        let len = attempt.first_window.saturating_sub(sent.max(attempt.unmarked));
        let mark = Some(PriorityMark { after, len });
        window.follow_plan(SendPlan { mark, ..SendPlan::spaced(burst, gap) });
    }

    /// Lets ACKs clock segments after the first window. The attempt is over when all of that is
    /// delivered.
    fn continue_attempt(&mut self, window: &mut Window, mut attempt: Attempt) {
        if self.acked >= attempt.acked_before + attempt.first_window {
            return self.end(window);
        }
        if attempt.clocking {
            attempt.clocking = self.sent < attempt.sent_before + attempt.first_window;
            if attempt.clocking {
                self.clock(window, &attempt);
            } else {
                window.end_plan();
            }
        }
        self.attempt = Some(attempt);
    }

    fn end(&mut self, window: &mut Window) {
        if self.attempt.take().is_some_and(|attempt| attempt.clocking) {
            window.end_plan();
        }
    }

    /// During an attempt the reset timer is `srtt + 4 * rttvar`, exact (§3.4.4).
    fn order_timeout(&self, window: &mut Window) {
        let attempt = self.attempt.filter(|_| self.options.quick_recovery);
        let timeout = attempt.and_then(|_| self.exact.rto()).map(Duration::from_nanos);
        let marked_only = self.options.reset == ResetTimer::Marked;
        window.order_timeout(timeout.map(|timeout| TimeoutOrder { timeout, marked_only }));
    }

    /// A loss of segments with low priority shows only that the attempt was too bold (§3.4.4).
    fn fall_back_on_loss(&mut self, window: &mut Window, loss_signal: LossSignal) -> Option<Phase> {
        let attempt = self.attempt?;
        let failed = match loss_signal {
            LossSignal::Timeout { marked } => marked,
            LossSignal::PartialAck => true,
        };
        if failed && self.options.quick_recovery {
            self.end(window);
            window.set_ssthresh(attempt.ssthresh, Cause::FallBack);
            return Some(Phase::FallBack);
        }
        if loss_signal != LossSignal::PartialAck {
            self.end(window);
        }
        None
    }
}

/// The last window that was sent whole without loss: half of `cwnd` in slow start, one segment less
/// than it after (§3.4.2).
fn went_through(cwnd: u64, ssthresh: u64, mss: u64) -> u64 {
    if cwnd < ssthresh { cwnd / 2 / mss * mss } else { cwnd.saturating_sub(mss) }
}

impl Overlay for FastStart {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        self.end(window);
        let turn = match start.reason {
            StartupReason::NewPath => self.begin_new(window, start),
            StartupReason::Idle => {
                self.begin_idle(window, start);
                OverlayTurn::Taken
            }
            StartupReason::Loss => OverlayTurn::Left,
        };
        self.order_timeout(window);
        turn
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        (self.sent, self.acked) = (sample.sent_total, sample.acked_total);
        let known = self.options.first_rtt && self.exact.srtt8() > 0;
        if let Some(rtt) = sample.rtt.filter(|_| !known) {
            let weight = if self.attempt.is_some() { self.options.weight } else { 1 };
            let acks = self.round.flight(sample) / sample.delivered.max(window.mss());
            self.exact.on_one_of(acks / u64::from(weight), rtt.as_nanos());
        }
        if let Some(attempt) = self.attempt {
            self.continue_attempt(window, attempt);
        }
        self.order_timeout(window);
    }

    /// A mark counts however the attempt ends: its reduction of the threshold stays (§4.3).
    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if let LossEvent::LossSignal(loss_signal) = event {
            let phase = self.fall_back_on_loss(window, loss_signal);
            self.order_timeout(window);
            return phase;
        }
        if event == LossEvent::Reduced
            && let Some(attempt) = &mut self.attempt
            && window.last_cause() == Cause::Ecn
        {
            attempt.ssthresh = attempt.ssthresh.min(window.ssthresh());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::RttEstimator;
    use crate::registry::by_default;
    use crate::window::PlanOrder;
    use proptest::prelude::*;

    const MSS: u64 = 1460;
    const IW: u64 = 3 * MSS;

    fn begin(seed: Remembered, handshake: Option<Duration>) -> (Window, FastStart) {
        let mut window = Window::new(MSS, IW, u64::MAX, false);
        window.set_limit(u64::MAX);
        let mut policy = FastStart::new(by_default(FastStartOptions::of));
        if let Some(rtt) = handshake {
            policy.exact.on_sample(rtt.as_nanos());
        }
        let rtt = RttEstimator::new(crate::config::ConnectionConfig::default().rto);
        let start = Start {
            seed: Some(seed),
            initial_window: IW,
            ..Start::of(StartupReason::NewPath, &rtt)
        };
        policy.begin(&mut window, &start);
        (window, policy)
    }

    const SEED: Remembered = Remembered {
        cwnd: 40 * MSS,
        ssthresh: None,
        srtt: Duration::from_millis(100),
        rttvar: Duration::from_millis(10),
        min_rtt: None,
        age: Duration::from_secs(60),
        share: None,
        mss: None,
        rate: None,
        early_data: false,
    };

    #[test]
    fn a_remembered_path_begins_as_one_that_was_idle() {
        // Half of 40 in slow start; the timer is 100 + 4 * 10 ms.
        let (window, _) = begin(SEED, None);
        assert_eq!((window.cwnd(), window.ssthresh()), (20 * MSS, u64::MAX));
        assert_eq!(window.ordered_timeout(true), Some(Duration::from_millis(140)));
        // One segment less in avoidance, straight in which it goes on.
        let (window, _) = begin(Remembered { ssthresh: Some(20 * MSS), ..SEED }, None);
        assert_eq!((window.cwnd(), window.ssthresh()), (39 * MSS, 20 * MSS));
    }

    /// An attempt that fails takes its timer along. Without quick recovery there is no timer.
    #[test]
    fn the_reset_timer_lasts_as_long_as_the_attempt() {
        let (mut window, mut policy) = begin(SEED, None);
        assert_eq!(window.ordered_timeout(false), None, "it guards marked segments alone");
        let timeout = LossEvent::LossSignal(LossSignal::Timeout { marked: true });
        assert_eq!(policy.on_loss(&mut window, timeout), Some(Phase::FallBack));
        assert!(!window.has_ordered_timeout());
        let (mut window, mut policy) = begin(SEED, None);
        policy.options.quick_recovery = false;
        policy.observe(&mut window, &AckSample::of(units::Instant::ZERO, 0));
        assert!(policy.attempt.is_some() && !window.has_ordered_timeout());
    }

    #[test]
    fn what_is_too_old_or_of_no_path_is_as_good_as_nothing() {
        for seed in [
            Remembered { age: Duration::from_secs(601), ..SEED },
            Remembered { srtt: Duration::from_secs(61), ..SEED },
            Remembered { srtt: Duration::ZERO, ..SEED },
            Remembered { cwnd: 0, ..SEED },
        ] {
            let (mut window, policy) = begin(seed, None);
            assert_eq!((window.cwnd(), window.ssthresh()), (IW, u64::MAX), "{seed:?}");
            assert!(policy.attempt.is_none() && window.take_order().is_none());
        }
    }

    proptest! {
        /// With any remembered values, the first window is not below the initial one and not above
        /// the cap. The initial window is unmarked and all the rest of the first one marked, no
        /// longer than a round trip apart.
        #[test]
        fn an_absurd_seed_does_no_harm(
            cwnd: u64, ssthresh: Option<u64>, srtt: u64, rttvar: u64, age in 0u64..1 << 42,
            small: bool, handshake in proptest::option::of(1u64..1_000_000_000),
        ) {
            let cwnd = if small { cwnd % (100 * MSS) } else { cwnd };
            let [srtt, rttvar] = [srtt, rttvar].map(|n| Duration::from_nanos(if small { n % (1 << 33) } else { n }));
            let seed = Remembered { cwnd, ssthresh, srtt, rttvar, age: Duration::from_nanos(age), ..SEED };
            let (mut window, policy) = begin(seed, handshake.map(Duration::from_nanos));
            prop_assert!((IW..=4096 * MSS).contains(&window.cwnd()), "{}", window.cwnd());
            match window.take_order() {
                Some(PlanOrder::Follow(plan)) => {
                    let mark = plan.mark.unwrap();
                    prop_assert_eq!(mark.after, IW);
                    prop_assert_eq!(mark.after + mark.len, window.cwnd() / MSS * MSS);
                    prop_assert!(plan.gap <= policy.srtt() * 4);
                    prop_assert!(policy.attempt.is_some());
                }
                _ => prop_assert!(policy.attempt.is_none() && window.cwnd() == IW),
            }
        }

        /// The reset timer is never longer than that of a path whose round trip is a minute.
        #[test]
        fn the_reset_timer_is_bounded(srtt in 1u64..1 << 40, rttvar in 0u64..1 << 40) {
            let [srtt, rttvar] = [srtt, rttvar].map(Duration::from_nanos);
            let (window, _) = begin(Remembered { srtt, rttvar, ..SEED }, None);
            let timeout = window.ordered_timeout(true);
            prop_assert!(timeout.is_none_or(|t| t <= Duration::from_secs(300)));
        }
    }
}
