//! HyStart++ (RFC 9406): slow start that slows down, rather than ends, at the first rise of the
//! delay.
//!
//! In every round trip, the smallest round-trip sample is compared with that of the round before. A
//! rise begins *Conservative Slow Start*, which grows a quarter as fast. If the delay decreases
//! again, the rise was no sign, and slow start continues. Otherwise five rounds later `ssthresh` :=
//! `cwnd`. Trains of ACKs are no sign here, unlike in HyStart.

use super::{Beginning, LossEvent, Phase, Start, StartUp, StartUpDescriptor, StartupReason};
use crate::ack::AckSample;
use crate::registry::values::positive;
use crate::registry::{Make, Parameter};
use crate::window::{Cause, Window};
use units::Duration;

/// HyStart++.
pub static HYSTART_PLUS_PLUS: StartUpDescriptor = StartUpDescriptor::new(
    "hystartpp",
    "slow start that a rise of the delay slows down, and ends five rounds later: HyStart++",
    "RFC 9406",
    Make::Alone(&|setup| {
        // §4.3: without pacing an ACK adds eight segments at most.
        let unpaced = (!setup.config.pacing).then_some(BURST);
        Box::new(HyStartPlusPlus::new(setup.get(&CSS_ROUNDS), unpaced))
    }),
)
.with(&[&CSS_ROUNDS])
.explained(&super::pages::HYSTART_PLUS_PLUS);

static CSS_ROUNDS: Parameter<u32> = Parameter::text(
    "css_rounds",
    ("number", positive),
    "5",
    "hystartpp: rounds of conservative slow start before slow start ends",
);

/// The constants of §4.3: `MIN_RTT_THRESH`, `MAX_RTT_THRESH`, `MIN_RTT_DIVISOR`, `N_RTT_SAMPLE`,
/// `CSS_GROWTH_DIVISOR`, `L`.
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);
const RISE_DIVISOR: u64 = 8;
const MIN_SAMPLES: u32 = 8;
const GROWTH_DIVISOR: u64 = 4;
const BURST: u64 = 8;

/// Slow start with HyStart++.
#[derive(Clone, Copy, Debug)]
pub struct HyStartPlusPlus {
    css_rounds: u32,
    /// Most segments that an ACK adds (`L`); `None`: any number, as sending is paced.
    burst: Option<u64>,
    stage: Stage,
    round: Round,
    /// `lastRoundMinRTT`.
    last_min: Option<Duration>,
    /// Rest of whole bytes in the growth of conservative slow start.
    rest: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    SlowStart,
    /// Conservative slow start, with the delay that it began at and the rounds it has lasted.
    Conservative {
        baseline: Duration,
        rounds: u32,
    },
    /// An exit point was found.
    Found,
}

/// The round trip under way, `windowEnd` as an offset of what the path sends.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    end: u64,
    min: Option<Duration>,
    samples: u32,
}

impl HyStartPlusPlus {
    /// Creates a start-up that ends after this number of rounds of conservative slow start; an ACK
    /// adds at most `burst` segments.
    pub fn new(css_rounds: u32, burst: Option<u64>) -> Self {
        let (stage, round) = (Stage::SlowStart, Round::default());
        Self { css_rounds, burst, stage, round, last_min: None, rest: 0 }
    }

    /// A round ends with this ACK: the next one begins (§4.2).
    fn begin_round(&mut self, window: &mut Window, sample: &AckSample) {
        self.last_min = self.round.min;
        self.round = Round { end: sample.sent_total, ..Round::default() };
        if let Stage::Conservative { baseline, rounds } = self.stage {
            self.stage = Stage::Conservative { baseline, rounds: rounds + 1 };
            if rounds + 1 >= self.css_rounds {
                self.stage = Stage::Found;
                window.set_ssthresh(window.cwnd(), Cause::HyStart);
            }
        }
    }

    /// Takes a sample into the round, and judges by what the round has shown (§4.2).
    fn on_rtt_sample(&mut self, rtt: Duration) {
        let min = self.round.min.map_or(rtt, |least| least.min(rtt));
        self.round.min = Some(min);
        self.round.samples += 1;
        if self.round.samples < MIN_SAMPLES {
            return;
        }
        match (self.stage, self.last_min) {
            (Stage::SlowStart, Some(last)) if min >= last + rtt_thresh(last) => {
                self.stage = Stage::Conservative { baseline: min, rounds: 0 };
            }
            (Stage::Conservative { baseline, .. }, _) if min < baseline => {
                self.stage = Stage::SlowStart;
            }
            _ => {}
        }
    }

    fn grow(&mut self, window: &mut Window, sample: &AckSample) {
        let most = self.burst.map_or(u64::MAX, |segments| segments * window.mss());
        let whole = sample.delivered.min(most);
        let bytes = if let Stage::Conservative { .. } = self.stage {
            let total = self.rest + whole;
            self.rest = total % GROWTH_DIVISOR;
            total / GROWTH_DIVISOR
        } else {
            whole
        };
        window.grow(bytes.min(window.ssthresh() - window.cwnd()), Cause::SlowStart);
    }
}

/// `RttThresh` above the last round's delay.
fn rtt_thresh(last: Duration) -> Duration {
    (last / RISE_DIVISOR).clamp(MIN_RISE, MAX_RISE)
}

impl StartUp for HyStartPlusPlus {
    /// HyStart++ is for the first slow start only (§4.3); after a timeout it is slow start up to
    /// the threshold.
    fn begin(&mut self, _: &mut Window, start: &Start<'_>) -> Beginning {
        if start.reason == StartupReason::Loss {
            self.stage = Stage::Found;
        }
        Beginning::Whole
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        if self.stage == Stage::Found || !window.below_ssthresh() {
            return;
        }
        if sample.acked_total > self.round.end {
            self.begin_round(window, sample);
        }
        if let Some(rtt) = sample.rtt {
            self.on_rtt_sample(rtt);
        }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        if sample.cwnd_limited && window.below_ssthresh() {
            self.grow(window, sample);
        }
        if window.below_ssthresh() { Phase::Continue } else { Phase::Done }
    }

    fn on_loss(&mut self, _: &mut Window, event: LossEvent) -> Phase {
        if event == LossEvent::Reduced {
            self.stage = Stage::Found;
        }
        Phase::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    const MSS: u64 = 1000;

    struct Sender {
        window: Window,
        policy: HyStartPlusPlus,
        sent: u64,
        acked: u64,
    }

    impl Sender {
        fn new(segments: u64) -> Self {
            let window = Window::new(MSS, segments * MSS, u64::MAX, false);
            let policy = HyStartPlusPlus::new(5, Some(BURST));
            Self { window, policy, sent: segments * MSS, acked: 0 }
        }

        fn ack(&mut self, segments: u64, rtt_ms: u64) -> Phase {
            self.acked += segments * MSS;
            let sample = AckSample {
                rtt: Some(Duration::from_millis(rtt_ms)),
                sent_total: self.sent,
                acked_total: self.acked,
                ..AckSample::of(Instant::ZERO, segments * MSS)
            };
            self.policy.observe(&mut self.window, &sample);
            let phase = self.policy.on_ack(&mut self.window, &sample);
            self.sent = self.acked + self.window.cwnd();
            phase
        }

        /// One ACK for every segment of the window as it is now, each with this round trip.
        fn round(&mut self, rtt_ms: u64) -> (u64, Phase) {
            let before = self.window.cwnd() / MSS;
            let phases: Vec<_> = (0..before).map(|_| self.ack(1, rtt_ms)).collect();
            (self.window.cwnd() / MSS, *phases.last().unwrap())
        }
    }

    #[test]
    fn a_rise_slows_growth_to_a_quarter_for_five_rounds() {
        // At 80 ms the threshold is a rise of 80 / 8 = 10 ms. The first ACK of a round already ends
        // the one before.
        let mut s = Sender::new(16);
        assert_eq!(s.round(80), (32, Phase::Continue));
        assert_eq!(s.round(89), (64, Phase::Continue), "a rise of 9 ms is none");
        // 99 ms are 10 above 89, less than 89 / 8 = 11.125; 101 are more. Seven samples are not
        // enough: seven segments of slow start. The eighth begins conservative slow start, its own
        // growth included: 57 / 4 = 14.25.
        assert_eq!(s.round(101).0, 64 + 7 + 14);
        // 85 ACKs of a quarter each, 21.25; with the rest of before 21.5.
        assert_eq!(s.round(101).0, 106);
    }

    #[test]
    fn slow_start_ends_where_five_conservative_rounds_have_passed() {
        let mut s = Sender::new(16);
        s.round(80);
        let mut rounds = 0;
        // The round in which the rise is seen, and five more that begin in conservative slow start.
        while s.window.ssthresh() == u64::MAX {
            s.round(100);
            rounds += 1;
        }
        assert_eq!(rounds, 6);
        assert_eq!(s.ack(1, 100), Phase::Done);
    }

    #[test]
    fn a_delay_below_that_of_the_rise_goes_back_to_slow_start() {
        let mut s = Sender::new(16);
        s.round(80);
        s.round(100);
        // 32 ACKs, seven of slow start and 25 of a quarter each: 32 + 7 + 6.25.
        assert_eq!(s.window.cwnd(), 45_250);
        // 45 ACKs. The first seven add a quarter each; with the eighth sample the lowest, 90, is
        // below the baseline of 100, and the other 38 add one each.
        s.round(90);
        assert_eq!(s.window.cwnd(), 45_250 + 1_750 + 38_000);
    }

    #[test]
    fn without_pacing_an_ack_adds_eight_segments_at_most() {
        let mut s = Sender::new(20);
        s.ack(12, 80);
        assert_eq!(s.window.cwnd(), 28 * MSS);
        s.policy.burst = None;
        s.ack(12, 80);
        assert_eq!(s.window.cwnd(), 40 * MSS);
    }
}
