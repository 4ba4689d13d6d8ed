//! Rapid Start (draft-kazuho-ccwg-rapid-start-02): the window triples each round trip until the
//! round trip grows, then doubles.
//!
//! Everything is paced: the initial window, up to twice the usual one, over a whole round trip. At
//! the first loss or mark the window is reduced step by step, by the delivered and the lost bytes.
//! It ends at `beta` times the path's capacity, however large the overshoot. The start-up answers
//! that first loss itself; congestion control takes over after it.

use super::{
    Beginning, LinuxSlowStart, LossEvent, Phase, Start, StartUp, StartUpCapabilities,
    StartUpDescriptor, StartupReason,
};
use crate::ack::AckSample;
use crate::registry::Make;
use crate::send_plan::SendPlan;
use crate::window::{Cause, Window};
use units::Duration;

/// Rapid Start.
pub static RAPID_START: StartUpDescriptor = StartUpDescriptor::new(
    "rapid-start",
    "triples the window each round trip, paced, until the round trip grows; falls by what is lost",
    "draft-kazuho-ccwg-rapid-start-02",
    Make::Alone(&|_| Box::<RapidStart>::default()),
)
.explained(&super::pages::RAPID_START);

/// The round trip has grown by this, or by a tenth, whichever is less: a queue builds up. Source:
/// draft-kazuho-ccwg-rapid-start-02.
const RISE: Duration = Duration::from_millis(4);
const RISE_PARTS: u64 = 10;
/// Factors in tenths for CUBIC's `beta` of 0.7, with `K` = 2/3: `silence_factor` and `loss_factor`
/// are 0.7 + 2/3 * 0.3, `ack_factor` is 2/3 * 0.3.
const BETA: u64 = 7;
const SILENCE: u64 = 9;
const PER_LOST: u64 = 9;
const PER_ACKED: u64 = 2;
/// A window that tripled ends above a third of its size.
const STEEPEST: u64 = 3;

/// Triples the window while no queue builds up.
#[derive(Clone, Copy, Debug, Default)]
pub struct RapidStart {
    stage: Stage,
    round: Round,
    initial_window: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Growing,
    /// The first loss is being answered.
    Recovering(LossResponse),
    /// Slow start, as of any sender.
    Over,
}

/// The answer to the first loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LossResponse {
    /// It lasts until this offset of what the path sends is acknowledged; the next ACK sets it.
    until: Option<u64>,
    /// The window falls no lower, bytes.
    least: u64,
}

/// The round trip under way: its end, as an offset of what the path sends, and its smallest sample.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    end: u64,
    floor: Option<Duration>,
}

impl RapidStart {
    /// Takes an ACK into the round; how many bytes the window grows for each one delivered.
    fn growth(&mut self, sample: &AckSample) -> u64 {
        if sample.acked_total > self.round.end {
            self.round = Round { end: sample.sent_total, floor: None };
        }
        if let Some(rtt) = sample.rtt {
            self.round.floor = Some(self.round.floor.map_or(rtt, |floor| floor.min(rtt)));
        }
        let threshold = sample.min_rtt + RISE.min(sample.min_rtt / RISE_PARTS);
        if self.round.floor.is_some_and(|floor| floor <= threshold) { 2 } else { 1 }
    }

    fn grow(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        let growth = self.growth(sample);
        if sample.cwnd_limited {
            let room = window.ssthresh().saturating_sub(window.cwnd());
            window.grow((sample.delivered * growth).min(room), Cause::SlowStart);
        }
        if !window.below_ssthresh() {
            self.end(window);
            return Phase::Done;
        }
        // The window of the round's end, three or two times as large, over a round trip.
        pace(window, sample.srtt / (growth + 1));
        Phase::Continue
    }

    /// Reduces the window by delivered and lost bytes; ends when all bytes sent at the loss were
    /// delivered or lost.
    fn recover(
        &mut self,
        window: &mut Window,
        sample: &AckSample,
        reduction: LossResponse,
    ) -> Phase {
        let LossResponse { until, least } = reduction;
        let lost = sample.delivery.map_or(0, |delivery| delivery.lost) * window.mss();
        let reduction = (PER_ACKED * sample.delivered + PER_LOST * lost) / 10;
        let cwnd = window.cwnd().saturating_sub(reduction).max(least).min(window.cwnd());
        if cwnd != window.cwnd() {
            window.set_cwnd(cwnd, Cause::Recovery);
        }
        let until = until.unwrap_or(sample.sent_total);
        self.stage = Stage::Recovering(LossResponse { until: Some(until), least });
        if sample.acked_total < until {
            return Phase::Continue;
        }
        window.set_ssthresh(window.cwnd(), Cause::RecoveryEnd);
        self.end(window);
        Phase::Done
    }

    /// Congestion is met: the first loss is answered here.
    fn reduction(&mut self, window: &mut Window) {
        if self.stage == Stage::Over {
            return;
        }
        let cwnd = window.cwnd();
        if window.last_cause() == Cause::Timeout {
            window.set_ssthresh(cwnd * BETA / 10, Cause::Timeout);
            return self.end(window);
        }
        if self.stage == Stage::Growing {
            let least = cwnd * BETA / 10 / STEEPEST;
            let least = least.max(self.initial_window * BETA / 10).min(cwnd);
            self.stage = Stage::Recovering(LossResponse { until: None, least });
            window.end_plan();
            window.set_cwnd((cwnd * SILENCE / 10).max(least), Cause::Loss);
        }
    }

    fn end(&mut self, window: &mut Window) {
        window.end_plan();
        self.stage = Stage::Over;
    }
}

/// Spaces a window over `time`.
fn pace(window: &mut Window, time: Duration) {
    if !time.is_zero() {
        let segments = (window.cwnd() / window.mss()).max(1);
        window.follow_plan(SendPlan::spaced(1, time / segments));
    }
}

impl StartUp for RapidStart {
    fn capabilities(&self) -> StartUpCapabilities {
        let rules_recovery = self.stage != Stage::Over;
        StartUpCapabilities { observes: false, rules_recovery, ..Default::default() }
    }

    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        match start.reason {
            StartupReason::NewPath => {
                self.initial_window = start.initial_window;
                if let Some(round_trip) = start.rtt.measured() {
                    pace(window, round_trip);
                }
            }
            StartupReason::Idle => {}
            StartupReason::Loss if matches!(self.stage, Stage::Recovering(_)) => {}
            StartupReason::Loss => self.end(window),
        }
        Beginning::Whole
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        match self.stage {
            Stage::Growing => self.grow(window, sample),
            Stage::Recovering(reduction) => self.recover(window, sample, reduction),
            Stage::Over => LinuxSlowStart.on_ack(window, sample),
        }
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        match (event, self.stage) {
            (LossEvent::Reduced, _) => self.reduction(window),
            (LossEvent::Undone, Stage::Recovering(_)) => self.stage = Stage::Growing,
            (LossEvent::Undone | LossEvent::LossSignal(_), _) => {}
        }
        Phase::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::{Delivery, DeliveryMeter};
    use units::Instant;

    const MSS: u64 = 1000;

    fn sample(rtt_ms: u64, acked: u64) -> AckSample {
        AckSample {
            rtt: Some(Duration::from_millis(rtt_ms)),
            srtt: Duration::from_millis(rtt_ms),
            min_rtt: Duration::from_millis(100),
            sent_total: 1_000_000,
            ..AckSample::of(Instant::ZERO, acked * MSS)
        }
    }

    #[test]
    fn three_times_up_to_a_rise_of_four_milliseconds_then_two_times() {
        let mut policy = RapidStart::default();
        let mut window = Window::new(MSS, 20 * MSS, u64::MAX, false);
        // At 100 ms a tenth is 10 ms; 4 ms are less.
        policy.on_ack(&mut window, &sample(104, 1));
        assert_eq!(window.cwnd(), 22 * MSS);
        policy.round.floor = None;
        policy.on_ack(&mut window, &sample(105, 1));
        assert_eq!(window.cwnd(), 23 * MSS);
        // At 30 ms a tenth is less than 4 ms.
        policy.round.floor = None;
        let short = AckSample { min_rtt: Duration::from_millis(30), ..sample(34, 1) };
        policy.on_ack(&mut window, &short);
        assert_eq!(window.cwnd(), 24 * MSS);
    }

    /// Returns the window after `lost` of 90 segments are lost, one with every ACK.
    fn left_of(lost: u64) -> u64 {
        let mut policy = RapidStart { initial_window: 10 * MSS, ..RapidStart::default() };
        let mut window = Window::new(MSS, 90 * MSS, u64::MAX, false);
        window.set_ssthresh(u64::MAX, Cause::Loss);
        policy.on_loss(&mut window, LossEvent::Reduced);
        assert_eq!(window.cwnd(), 81 * MSS);
        let acked = 90 - lost;
        for n in 1..=acked {
            let fresh = if n <= lost { lost.div_ceil(acked).min(lost) } else { 0 };
            let delivery = Delivery { lost: fresh, ..DeliveryMeter::default().delivery(1, None) };
            let acked_total = if n == acked { 1_000_000 } else { n * MSS };
            let ack = AckSample { acked_total, delivery: Some(delivery), ..sample(100, 1) };
            let phase = policy.on_ack(&mut window, &ack);
            assert_eq!(phase == Phase::Done, n == acked);
        }
        assert_eq!(window.ssthresh(), window.cwnd());
        window.cwnd()
    }

    #[test]
    fn recovery_ends_at_beta_times_what_the_path_held() {
        // Appendix A: for any loss out of 90, seven tenths of the rest are left. 45 of 45: 31.5. 30
        // of 60: 42.
        assert_eq!(left_of(45), 31_500);
        assert_eq!(left_of(30), 42_000);
        // 60 of 90 lost: the steepest that tripling can bring about; 90 * 0.7 / 3.
        assert_eq!(left_of(60), 21_000);
    }
}
