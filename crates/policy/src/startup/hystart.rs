//! Slow start as Linux does it, with HyStart (Ha & Rhee 2008) to leave it before the queue
//! overflows.
//!
//! Every round trip (from one offset sent to its acknowledgement) is checked for two signs that the
//! path is full. One is a train of closely spaced ACKs longer than half the smallest round trip.
//! The other is a smallest round trip of the first samples above the smallest ever. Either sets
//! `ssthresh` := `cwnd`. Facts of Linux `tcp_cubic.c`: `hystart_update`, `cubictcp_acked`.

use super::{Beginning, LinuxSlowStart, Phase, Start, StartUp, StartUpDescriptor, StartupReason};
use crate::ack::AckSample;
use crate::registry::Make;
use crate::window::{Cause, Window};
use units::{Duration, Instant};

/// HyStart.
pub static HYSTART: StartUpDescriptor = StartUpDescriptor::new(
    "hystart",
    "slow start that ends where ACK trains or delays show a full path",
    "Ha & Rhee 2008; Linux 6.x tcp_cubic.c",
    Make::Alone(&|_| Box::<HyStart>::default()),
)
.explained(&super::pages::HYSTART);

/// Below this window, segments, nothing is detected. Source: Linux `tcp_cubic.c`.
const LOW_WINDOW: u64 = 16;
/// ACKs at most this far apart are one train. Source: Linux `tcp_cubic.c`.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Samples a round needs before its delay is judged. Source: Linux `tcp_cubic.c`.
const MIN_SAMPLES: u32 = 8;
/// A rise of an eighth of the smallest round trip is a sign, within these bounds. Source: Linux
/// `tcp_cubic.c`.
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);
/// Longest allowance for the batching of ACKs by segmentation offload. Source: Linux `tcp_cubic.c`.
const MAX_BATCHING: Duration = Duration::from_millis(1);
/// Four batches of 64 KiB: what batching is allowed for. Source: Linux `tcp_cubic.c`.
const BATCHED_BYTES: u64 = 4 << 16;

/// Slow start with HyStart.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStart {
    /// An exit point was found; nothing more is detected until a timeout.
    found: bool,
    /// Smallest round trip since the path began or a timeout.
    min_delay: Option<Duration>,
    round: Round,
    /// Time and sent bytes of the last ACK, from which a round begins after a timeout.
    last_now: Instant,
    last_sent: u64,
    /// Trains of ACKs are no sign: another policy judges them.
    ignores_trains: bool,
}

/// One round trip under observation.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    begin: Instant,
    /// Its end, as an offset of the path's sent bytes.
    end: u64,
    last_in_train: Instant,
    min_delay: Option<Duration>,
    samples: u32,
}

impl StartUp for HyStart {
    /// A timeout restarts the search; after idling its result stays valid.
    fn begin(&mut self, _: &mut Window, start: &Start<'_>) -> Beginning {
        if start.reason == StartupReason::Loss {
            self.found = false;
            self.min_delay = None;
            self.round = Round::new(self.last_now, self.last_sent);
        }
        Beginning::Whole
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.last_now = sample.now;
        self.last_sent = sample.sent_total;
        if let Some(delay) = sample.rtt {
            self.min_delay = Some(self.min_delay.map_or(delay, |least| least.min(delay)));
            if !self.found && window.below_ssthresh() && self.is_path_full(window, sample, delay) {
                self.found = true;
                window.set_ssthresh(window.cwnd(), Cause::HyStart);
            }
        }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        LinuxSlowStart.on_ack(window, sample)
    }
}

impl HyStart {
    /// Whether trains of ACKs are a sign.
    pub(super) fn watch_trains(&mut self, watch: bool) {
        self.ignores_trains = !watch;
    }

    fn is_path_full(&mut self, window: &Window, sample: &AckSample, delay: Duration) -> bool {
        if sample.acked_total > self.round.end {
            self.round = Round::new(sample.now, sample.sent_total);
        }
        if window.cwnd() / window.mss() < LOW_WINDOW {
            return false;
        }
        let min_delay = self.min_delay.unwrap_or(delay);
        let train = self.round.train_length(sample.now);
        let long_train =
            train.is_some_and(|length| length > train_limit(window, sample, min_delay));
        let slow_round =
            self.round.delay(delay).is_some_and(|d| d > min_delay + delay_threshold(min_delay));
        (long_train && !self.ignores_trains) || slow_round
    }
}

/// A train longer than half the smallest round trip fills the path; paced ACKs are spread over up
/// to a whole one.
fn train_limit(window: &Window, sample: &AckSample, min_delay: Duration) -> Duration {
    let limit = min_delay + batching(window, sample.srtt);
    if window.pacing_rate().is_some() { limit } else { limit / 2 }
}

/// Time of four batches at the pacing rate (twice the window per round trip in slow start, 1.2
/// times near its end), at most 1 ms. Linux computes this rate whether or not it paces.
fn batching(window: &Window, srtt: Duration) -> Duration {
    let percent = if window.cwnd() < window.ssthresh() / 2 { 200 } else { 120 };
    let bytes_per_srtt = (window.cwnd().saturating_mul(percent) / 100).max(1);
    let batches = u128::from(BATCHED_BYTES) * u128::from(srtt.as_nanos());
    if batches >= u128::from(MAX_BATCHING.as_nanos()) * u128::from(bytes_per_srtt) {
        // Nearly all paths have this bound, and a 128-bit division is expensive.
        return MAX_BATCHING;
    }
    Duration::from_nanos((batches / u128::from(bytes_per_srtt)) as u64)
}

fn delay_threshold(min_delay: Duration) -> Duration {
    (min_delay / 8).clamp(MIN_RISE, MAX_RISE)
}

impl Round {
    fn new(now: Instant, end: u64) -> Self {
        Self { begin: now, end, last_in_train: now, min_delay: None, samples: 0 }
    }

    /// Returns the length of the train of ACKs since the round began, if this ACK is still in it.
    fn train_length(&mut self, now: Instant) -> Option<Duration> {
        if now.saturating_since(self.last_in_train) > TRAIN_GAP {
            return None;
        }
        self.last_in_train = now;
        Some(now.saturating_since(self.begin))
    }

    /// Takes a sample and answers the round's smallest once there were enough before it.
    fn delay(&mut self, sample: Duration) -> Option<Duration> {
        let least = self.min_delay.map_or(sample, |d| d.min(sample));
        self.min_delay = Some(least);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return None;
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::RttEstimator;
    use units::Rate;

    const MSS: u64 = 1000;

    /// A sender of whole segments: the segments sent and acknowledged, and its slow start.
    struct Sender {
        window: Window,
        hystart: HyStart,
        sent: u64,
        acked: u64,
    }

    impl Sender {
        fn new(segments: u64) -> Self {
            let window = Window::new(MSS, segments * MSS, u64::MAX, false);
            let hystart = HyStart::default();
            Self { window, hystart, sent: segments * MSS, acked: 0 }
        }

        /// An ACK of `segments` at `us` with a round trip of `rtt_us`; the window is filled after.
        fn ack(&mut self, us: u64, segments: u64, rtt_us: u64) -> Phase {
            let sample = self.see(us, segments, rtt_us);
            let phase = self.hystart.on_ack(&mut self.window, &sample);
            self.sent = self.acked + self.window.cwnd();
            phase
        }

        /// An ACK that does not grow the window.
        fn see(&mut self, us: u64, segments: u64, rtt_us: u64) -> AckSample {
            self.acked += segments * MSS;
            let sample = AckSample {
                now: Instant::from_nanos(us * 1000),
                acked: segments * MSS,
                delivered: segments * MSS,
                rtt: Some(Duration::from_micros(rtt_us)),
                srtt: Duration::from_micros(rtt_us),
                min_rtt: Duration::from_micros(rtt_us),
                prior_in_flight: self.window.cwnd(),
                in_flight: self.window.cwnd(),
                cwnd_limited: true,
                sent_total: self.sent,
                acked_total: self.acked,
                round: None,
                delivery: None,
            };
            self.hystart.observe(&mut self.window, &sample);
            sample
        }
    }

    #[test]
    fn a_stretch_ack_grows_the_window_by_all_its_segments_up_to_the_threshold() {
        let mut s = Sender::new(10);
        assert_eq!(s.ack(80_000, 4, 80_000), Phase::Continue);
        assert_eq!(s.window.cwnd(), 14 * MSS);
        s.window.set_ssthresh(15_500, Cause::Loss);
        assert_eq!(s.ack(80_000, 4, 80_000), Phase::Done);
        assert_eq!(s.window.cwnd(), 15_500);
    }

    #[test]
    fn a_train_of_acks_over_half_the_smallest_round_trip_ends_slow_start() {
        // 20 segments, round trip 80 ms. The train limit is (80 + 1) / 2 = 40.5 ms: batching is
        // 262144 B at 2 * 20000 B / 80 ms, far above its bound of 1 ms.
        let mut s = Sender::new(20);
        s.ack(80_000, 1, 80_000);
        // The first round ends when byte 20001 is acknowledged, with the 20th ACK after the first:
        // its train was 19 * 2 = 38 ms long. That ACK begins the next round and the next train.
        for n in 1..=20 {
            assert_eq!(s.ack(80_000 + n * 2_000, 1, 80_000), Phase::Continue, "at {n}");
        }
        // The second round is 40 segments long; 20 ACKs on the train is 40 ms, one more is 42.
        for n in 1..=20 {
            assert_eq!(s.ack(120_000 + n * 2_000, 1, 80_000), Phase::Continue, "at {n}");
        }
        let before = s.window.cwnd();
        assert_eq!(s.ack(120_000 + 21 * 2_000, 1, 80_000), Phase::Done);
        assert_eq!(s.window.ssthresh(), before);
        assert_eq!(s.window.cwnd(), before);
        assert_eq!(s.window.last_cause(), Cause::HyStart);
    }

    #[test]
    fn a_gap_of_more_than_2_ms_ends_the_train() {
        let mut s = Sender::new(40);
        s.ack(80_000, 1, 80_000);
        assert_eq!(s.ack(82_001, 1, 80_000), Phase::Continue);
        // Closely spaced again, but the train is over for this round.
        for n in 0..35 {
            assert_eq!(s.ack(125_000 + n * 100, 1, 80_000), Phase::Continue, "at {n}");
        }
    }

    #[test]
    fn pacing_lets_the_train_be_a_whole_round_trip_long() {
        let mut s = Sender::new(60);
        s.window.set_pacing_rate(Some(Rate::from_mbps(10)));
        s.ack(80_000, 1, 80_000);
        for n in 1..=40 {
            assert_eq!(s.ack(80_000 + n * 2_000, 1, 80_000), Phase::Continue, "at {n}");
        }
        // 82 ms > 81 ms.
        assert_eq!(s.ack(162_000, 1, 80_000), Phase::Done);
    }

    #[test]
    fn a_round_whose_smallest_delay_rose_by_an_eighth_ends_slow_start() {
        // ACKs 3 ms apart, so no train. First round: 80 ms. Then 91 ms: 80 + 10 < 91.
        let mut s = Sender::new(20);
        for n in 0..20 {
            assert_eq!(s.ack(80_000 + n * 3_000, 1, 80_000), Phase::Continue);
        }
        for n in 0..8 {
            assert_eq!(s.ack(170_000 + n * 3_000, 1, 91_000), Phase::Continue, "sample {n}");
        }
        // The ninth sample is the first that is judged.
        assert_eq!(s.ack(200_000, 1, 91_000), Phase::Done);
    }

    #[test]
    fn a_full_path_is_found_during_recovery_too() {
        // Recovery has taken the window below its threshold; only `observe` is asked there.
        let mut s = Sender::new(20);
        for n in 0..20 {
            s.ack(80_000 + n * 3_000, 1, 80_000);
        }
        s.window.set_ssthresh(30 * MSS, Cause::Loss);
        s.window.set_cwnd(25 * MSS, Cause::Recovery);
        for n in 0..9 {
            s.see(170_000 + n * 3_000, 1, 91_000);
        }
        assert_eq!((s.window.cwnd(), s.window.ssthresh()), (25 * MSS, 25 * MSS));
    }

    #[test]
    fn one_quick_sample_in_the_round_says_the_path_is_not_full() {
        let mut s = Sender::new(20);
        for n in 0..20 {
            s.ack(80_000 + n * 3_000, 1, 80_000);
        }
        s.ack(170_000, 1, 89_000);
        for n in 1..20 {
            assert_eq!(s.ack(170_000 + n * 3_000, 1, 120_000), Phase::Continue, "sample {n}");
        }
    }

    #[test]
    fn the_rise_is_bounded_to_4_and_16_ms() {
        assert_eq!(delay_threshold(Duration::from_millis(10)), Duration::from_millis(4));
        assert_eq!(delay_threshold(Duration::from_millis(80)), Duration::from_millis(10));
        assert_eq!(delay_threshold(Duration::from_millis(500)), Duration::from_millis(16));
    }

    #[test]
    fn small_windows_are_left_alone() {
        let mut s = Sender::new(10);
        s.window.set_ssthresh(15 * MSS, Cause::Initial);
        s.ack(80_000, 1, 80_000);
        for n in 1..5 {
            // Up to 15 segments: neither the delay nor the train counts.
            assert_eq!(s.ack(80_000 + n * 2_000, 1, 500_000).eq(&Phase::Done), n == 4);
        }
        assert_eq!(s.window.ssthresh(), 15 * MSS);
    }

    fn start(reason: StartupReason, rtt: &RttEstimator) -> Start<'_> {
        let (now, idle) = (Instant::ZERO, Duration::ZERO);
        Start { now, initial_window: MSS, idle, ..Start::of(reason, rtt) }
    }

    #[test]
    fn what_was_found_holds_after_idling_but_not_after_a_timeout() {
        let mut s = Sender::new(20);
        s.hystart.found = true;
        let rtt = RttEstimator::new(crate::config::ConnectionConfig::default().rto);
        s.hystart.begin(&mut s.window, &start(StartupReason::Idle, &rtt));
        assert!(s.hystart.found);
        s.hystart.begin(&mut s.window, &start(StartupReason::Loss, &rtt));
        assert!(!s.hystart.found);
    }
}
