//! The resumption of picoquic under CUBIC: once the handshake has shown the remembered round trip,
//! the window is the whole remembered one, in congestion avoidance.
//!
//! A connection stores the best rate of its round trips times the smallest round trip. The first
//! window is paced over the round trip of the handshake. There is no slow start after it and no way
//! to fall back: a loss is answered as usual. If the round trip differs by more than a quarter, or
//! nothing is remembered, the other start-up begins.

use super::{
    LossEvent, Overlay, OverlayTurn, Phase, Start, StartUpDescriptor, StartupReason, Suspended,
    Wrapping,
};
use crate::ack::AckSample;
use crate::config::MemoryKind;
use crate::registry::{Implied, Make};
use crate::send_plan::SendPlan;
use crate::window::{Cause, Window};
use memory::PathState;
use units::{Duration, Instant, Rate};

/// The resumption of picoquic.
pub static PICOQUIC_RESUME: StartUpDescriptor = StartUpDescriptor::new(
    "picoquic-resume",
    "begins with the whole remembered window, paced, where the round trip is the remembered one",
    "project picoquic, picoquic/timing.c and picoquic/cubic.c, 2026",
    Make::Around(|_, inner| Box::new(Wrapping::new(PicoquicResume::default(), inner))),
)
.implying(Implied { memory: MemoryKind::Temporal, ..Implied::NOTHING })
.explained(&super::pages::PICOQUIC_RESUME);

/// The remembered round trip may differ from the sample by one part in this many. Source:
/// picoquic's code.
const MARGIN: u64 = 4;

/// Resumes with the whole window.
#[derive(Clone, Copy, Debug, Default)]
pub struct PicoquicResume {
    /// It took the path's beginning, and owns it until this offset of what the path sends has left.
    paced_until: Option<u64>,
    resumed: bool,
    round: Round,
    /// The best rate of a round trip.
    best: Option<Rate>,
}

/// The round trip under way.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Its end, as an offset of what the path sends.
    end: u64,
    started: Option<Instant>,
    bytes: u64,
}

impl PicoquicResume {
    /// Returns the remembered window, if the path is the remembered one, and the round trip of the
    /// handshake.
    fn seed(start: &Start<'_>) -> Option<(u64, Duration)> {
        let (seed, rtt) = (start.seed?, start.rtt.measured()?);
        let (saved, margin) = (seed.min_rtt?, rtt / MARGIN);
        let same = rtt.saturating_sub(margin) <= saved && saved <= rtt + margin;
        same.then_some((seed.cwnd, rtt))
    }

    fn resume(&mut self, window: &mut Window, cwnd: u64, round_trip: Duration) {
        let segments = (cwnd.max(window.cwnd()) / window.mss()).max(1);
        let cwnd = segments * window.mss();
        window.set_ssthresh(cwnd, Cause::Seed);
        window.set_cwnd(cwnd, Cause::Seed);
        window.follow_plan(SendPlan::spaced(1, round_trip / segments));
        self.paced_until = Some(cwnd);
        self.resumed = true;
    }

    fn measure(&mut self, sample: &AckSample) {
        self.round.bytes += sample.delivered;
        if sample.acked_total <= self.round.end {
            return;
        }
        if let Some(started) = self.round.started {
            let time = sample.now.saturating_since(started);
            let rate = (!time.is_zero()).then(|| Rate::from_bytes_over(self.round.bytes, time));
            self.best = self.best.max(rate);
        }
        self.round = Round { end: sample.sent_total, started: Some(sample.now), bytes: 0 };
    }

    fn end_pacing(&mut self, window: &mut Window) {
        if self.paced_until.take().is_some() {
            window.end_plan();
        }
    }
}

impl Overlay for PicoquicResume {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        if start.reason != StartupReason::NewPath {
            self.end_pacing(window);
            self.resumed = false;
            return OverlayTurn::Left;
        }
        match Self::seed(start) {
            Some((cwnd, round_trip)) => {
                self.resume(window, cwnd, round_trip);
                OverlayTurn::Taken
            }
            None => OverlayTurn::Left,
        }
    }

    fn suspended_duties(&self) -> Suspended {
        Suspended { observing: self.resumed, ..Default::default() }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.measure(sample);
        let all_in = sample.acked_total >= sample.sent_total;
        if all_in || self.paced_until.is_some_and(|until| sample.sent_total >= until) {
            self.end_pacing(window);
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        self.resumed.then_some(Phase::Done)
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event == LossEvent::Reduced {
            self.end_pacing(window);
        }
        None
    }

    /// Without a rate, of what was over in a round trip, the window stays what it was.
    fn leave(&self, state: &mut PathState) {
        if let (Some(rate), Some(min_rtt)) = (self.best, state.min_rtt) {
            state.cwnd = rate.bytes_in(min_rtt).max(state.mss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::RttEstimator;
    use crate::config::ConnectionConfig;
    use crate::startup::Remembered;

    /// 100 ms are remembered. Handshakes of 80 ms and of 133 ms are within a quarter of themselves;
    /// 79 and 134 ms are not. The memory's smoothed round trip has no effect. The window is paced
    /// over the handshake's round trip.
    #[test]
    fn the_handshake_alone_tells_whether_the_path_is_the_same() {
        let begin = |handshake: u64| {
            let saved = Duration::from_millis(100);
            let seed = Remembered { cwnd: 50_000, min_rtt: Some(saved), ..Remembered::default() };
            let mut rtt = RttEstimator::new(ConnectionConfig::default().rto);
            rtt.seed(saved, saved / 2);
            rtt.on_sample(Instant::ZERO, Instant::from_nanos(handshake * 1_000_000), 0, 0);
            let start = Start { seed: Some(seed), ..Start::of(StartupReason::NewPath, &rtt) };
            PicoquicResume::seed(&start)
        };
        assert_eq!([79, 134].map(begin), [None, None]);
        let same = |ms| Some((50_000, Duration::from_millis(ms)));
        assert_eq!([80, 133].map(begin), [same(80), same(133)]);
    }

    #[test]
    fn what_is_left_behind_is_the_best_round_times_the_smallest_round_trip() {
        // 40 segments are sent at first. The first ACK, at 100 ms, begins a round that ends when
        // byte 40,001 is acknowledged.
        let mut policy = PicoquicResume::default();
        let mut window = Window::new(1000, 40_000, u64::MAX, false);
        let mut ack = |ms: u64, acked: u64, acked_total: u64, sent_total: u64| {
            let at = Instant::from_nanos(ms * 1_000_000);
            let sample = AckSample { acked_total, sent_total, ..AckSample::of(at, acked) };
            policy.observe(&mut window, &sample);
            let min_rtt = Some(Duration::from_millis(100));
            let mut state = PathState { cwnd: 7, min_rtt, mss: 1000, ..PathState::default() };
            policy.leave(&mut state);
            state.cwnd
        };
        assert_eq!(ack(100, 1000, 1000, 40_000), 7, "no round has ended");
        assert_eq!(ack(150, 39_000, 40_000, 60_000), 7);
        // 49,000 bytes in 200 ms: 24,500 in 100.
        assert_eq!(ack(300, 10_000, 50_000, 60_000), 24_500);
    }
}
