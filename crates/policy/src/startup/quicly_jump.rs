//! The jump of quicly, a QUIC of the h2o project: a path begins with the whole rate of an earlier
//! connection, at once.
//!
//! The window is the remembered rate times the shorter of the two round trips, paced over the round
//! trip of the handshake. Unlike Careful Resume it does not wait for the initial window, and takes
//! the whole, not half. The first ACK of the jump makes the window the bytes in flight, and slow
//! start continues. After a loss the window is the bytes delivered by the jump, reduced once. A TLS
//! handshake is not the transfer: the jump waits for the data after it.

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
use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// The jump of quicly.
pub static QUICLY_JUMP: StartUpDescriptor = StartUpDescriptor::new(
    "quicly-jump",
    "paces the whole remembered rate times round trip over the first round trip",
    "project h2o/quicly, lib/quicly.c and include/quicly/cc.h, 2026",
    Make::Around(|_, inner| Box::new(Wrapping::new(QuiclyJump::default(), inner))),
)
.implying(Implied { memory: MemoryKind::Temporal, ..Implied::NOTHING })
.explained(&super::pages::QUICLY_JUMP);

/// Segments that leave at once. Source: quicly's code.
const BURST: u64 = 10;
/// Part of the jump's delivered bytes that is left after a loss, tenths (`QUICLY_RENO_BETA`).
const BETA_TENTHS: u64 = 7;
/// Duration of a sample of the rate (`QUICLY_DELIVERY_RATE_SAMPLE_PERIOD`).
const PERIOD: Duration = Duration::from_millis(50);
/// Samples kept (`QUICLY_DELIVERY_RATE_SAMPLE_COUNT`).
const SAMPLES: usize = 10;

/// Jumps to the rate of the last connection.
#[derive(Clone, Debug, Default)]
pub struct QuiclyJump {
    stage: Stage,
    initial_window: u64,
    /// Bytes of the path sent when the last ACK came.
    sent: u64,
    /// Bytes acknowledged of the jump.
    brought: u64,
    remembered: Option<Rate>,
    meter: RateMeter,
    awaits_transfer: bool,
}

/// Offsets count what the path sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Normal,
    /// All since this offset is of the jump.
    Jump { from: u64 },
    /// The jump ended here; not all of it is acknowledged.
    Validating { until: u64 },
    /// Something of it was lost.
    SafeRetreat { until: u64 },
}

/// Rate of deliveries while the window limited sending, in samples of 50 ms.
#[derive(Clone, Debug, Default)]
struct RateMeter {
    since: Option<Instant>,
    under_way: RateSample,
    past: VecDeque<RateSample>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RateSample {
    bytes: u64,
    time: Duration,
}

impl RateMeter {
    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.cwnd_limited {
            return self.commit(None);
        }
        let Some(since) = self.since else {
            self.since = Some(sample.now);
            return;
        };
        self.under_way.bytes += sample.delivered;
        self.under_way.time = sample.now.saturating_since(since);
        if self.under_way.time >= PERIOD {
            self.commit(Some(sample.now));
        }
    }

    /// Ends the sample under way; the next one begins then, or with an ACK.
    fn commit(&mut self, next: Option<Instant>) {
        let ended = std::mem::take(&mut self.under_way);
        if !ended.time.is_zero() {
            self.past.push_front(ended);
            self.past.truncate(SAMPLES);
        }
        self.since = next;
    }

    /// Returns the larger of the latest rate and the mean.
    fn rate(&self) -> Option<Rate> {
        let under_way = Some(self.under_way).filter(|sample| !sample.time.is_zero());
        let latest = self.past.front().copied().or(under_way)?;
        let mut all = RateSample::default();
        for sample in self.past.iter().chain(&under_way) {
            all.bytes += sample.bytes;
            all.time += sample.time;
        }
        let rate = |sample: RateSample| Rate::from_bytes_over(sample.bytes, sample.time);
        Some(rate(latest).max(rate(all)))
    }
}

impl QuiclyJump {
    /// Returns the window of the jump, bytes, if that is more than the initial window, and the
    /// round trip of the handshake.
    fn target(start: &Start<'_>, mss: u64) -> Option<(u64, Duration)> {
        let (seed, handshake) = (start.seed?, start.rtt.measured()?);
        let round_trip = handshake.min(seed.min_rtt.unwrap_or(seed.srtt));
        let bytes = seed.rate?.bytes_in(round_trip) / mss * mss;
        (bytes > start.initial_window).then_some((bytes, handshake))
    }

    fn send_jump(&mut self, window: &mut Window, cwnd: u64, round_trip: Duration) {
        window.set_cwnd(cwnd, Cause::Seed);
        let segments = cwnd / window.mss();
        let burst = u32::try_from(BURST).expect("ten");
        window.follow_plan(SendPlan::spaced(burst, round_trip.saturating_mul(BURST) / segments));
        self.brought = 0;
        self.stage = Stage::Jump { from: self.sent };
    }

    /// Returns the window that is left after a loss.
    fn window_after_loss(&self) -> u64 {
        self.brought.max(self.initial_window) * BETA_TENTHS / 10
    }

    /// Processes congestion: the jump is judged by the bytes that it delivers.
    fn fall_back(&mut self, window: &mut Window) {
        let until = match self.stage {
            Stage::Jump { .. } => self.sent,
            Stage::Validating { until } => until,
            Stage::Normal | Stage::SafeRetreat { .. } => return,
        };
        window.end_plan();
        window.set_ssthresh(self.window_after_loss(), Cause::FallBack);
        self.stage = Stage::SafeRetreat { until };
    }

    const fn overlay_turn(&self) -> OverlayTurn {
        if self.awaits_transfer { OverlayTurn::AwaitsTransfer } else { OverlayTurn::Left }
    }
}

impl Overlay for QuiclyJump {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        if start.reason != StartupReason::NewPath {
            return self.overlay_turn();
        }
        self.initial_window = start.initial_window;
        self.remembered = start.seed.and_then(|seed| seed.rate);
        self.awaits_transfer = start.transfer.is_some_and(|t| t.bytes <= start.initial_window);
        match Self::target(start, window.mss()).filter(|_| !self.awaits_transfer) {
            Some((cwnd, round_trip)) => self.send_jump(window, cwnd, round_trip),
            None => self.stage = Stage::Normal,
        }
        self.overlay_turn()
    }

    fn suspended_duties(&self) -> Suspended {
        Suspended {
            observing: matches!(self.stage, Stage::Jump { .. } | Stage::SafeRetreat { .. }),
            ruling: self.stage != Stage::Normal,
        }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.meter.on_ack(sample);
        self.sent = sample.sent_total;
        self.brought += sample.delivered;
        match self.stage {
            Stage::Jump { from } if sample.acked_total > from => {
                window.end_plan();
                window.set_cwnd(sample.prior_in_flight.max(self.initial_window), Cause::Seed);
                self.stage = Stage::Validating { until: sample.sent_total };
            }
            Stage::Validating { until } if sample.acked_total >= until => {
                self.stage = Stage::Normal;
            }
            Stage::SafeRetreat { until } => {
                window
                    .set_ssthresh(self.window_after_loss().max(window.ssthresh()), Cause::FallBack);
                if sample.acked_total >= until {
                    self.stage = Stage::Normal;
                }
            }
            _ => {}
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        matches!(self.stage, Stage::Jump { .. }).then_some(Phase::Continue)
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event == LossEvent::Reduced {
            self.fall_back(window);
        }
        None
    }

    fn leave(&self, state: &mut PathState) {
        state.rate = self.meter.rate().or(self.remembered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::RttEstimator;
    use crate::config::ConnectionConfig;
    use crate::startup::Remembered;

    const MSS: u64 = 1000;

    /// 1 MB/s and 100 ms are remembered. A handshake of 50 ms makes 50 segments of it, paced over
    /// 50 ms, and one of 200 ms makes 100 segments paced over 200 ms.
    #[test]
    fn the_handshake_is_measured_not_remembered() {
        for (handshake, segments) in [(50, 50), (200, 100)] {
            let saved = Duration::from_millis(100);
            let rate = Some(Rate::from_bps(8_000_000));
            let seed = Remembered { rate, min_rtt: Some(saved), ..Remembered::default() };
            let mut rtt = RttEstimator::new(ConnectionConfig::default().rto);
            rtt.seed(saved, saved / 2);
            rtt.on_sample(Instant::ZERO, Instant::from_nanos(handshake * 1_000_000), 0, 0);
            let start = Start { seed: Some(seed), ..Start::of(StartupReason::NewPath, &rtt) };
            let expected = Some((segments * MSS, Duration::from_millis(handshake)));
            assert_eq!(QuiclyJump::target(&start, MSS), expected);
        }
    }

    fn meter(acks: &[(u64, bool)]) -> Option<Rate> {
        let mut meter = RateMeter::default();
        for &(ms, cwnd_limited) in acks {
            let at = Instant::from_nanos(ms * 1_000_000);
            meter.on_ack(&AckSample { cwnd_limited, ..AckSample::of(at, MSS) });
        }
        meter.rate()
    }

    #[test]
    fn a_rate_is_that_of_50_ms_or_the_mean_if_that_is_more() {
        // The first ACK begins. Five segments in 50 ms, then one in 50 ms: the mean of six in 100
        // ms is more than the latest.
        let first = [(0, true), (10, true), (20, true), (30, true), (40, true), (50, true)];
        assert_eq!(meter(&first), Some(Rate::from_bytes_over(5 * MSS, PERIOD)));
        let both: Vec<_> = first.into_iter().chain([(100, true)]).collect();
        assert_eq!(meter(&both), Some(Rate::from_bytes_over(6 * MSS, Duration::from_millis(100))));
    }

    #[test]
    fn what_the_application_held_back_does_not_count() {
        // Two segments in 20 ms; then the application has nothing, and 100 ms pass.
        let acks = [(0, true), (10, true), (20, true), (120, false), (130, true)];
        assert_eq!(meter(&acks), Some(Rate::from_bytes_over(2 * MSS, Duration::from_millis(20))));
        assert_eq!(meter(&[(0, false), (10, false)]), None);
    }
}
