//! Paced Start (Hu & Steenkiste 2003 §3): slow start sends evenly spaced trains, the spacing of
//! their ACKs shows the available rate, and the window jumps to it.
//!
//! A pair (or a longer first train) sent back to back measures the capacity. After that, trains
//! follow one at a time, each twice as long as the last. A train leaves when every ACK of the last
//! is in, at the gap of the search in [`arith::paced_start`]. The search ends at a gap `g`, which
//! gives `cwnd` = `srtt` / `g` (`past_rtt`: or another round trip). A train of that length and gap
//! fills the path, and congestion avoidance follows. Loss ends it as it ends slow start; another
//! start-up makes slow starts after that.
//!
//! The paper does not define these cases. With an ACK for the whole pair, as from a receiver that
//! delays them, longer trains are sent back to back until one shows the capacity. A train that data
//! or the peer's window cut short counts by its gaps, and the next one has the same length. A train
//! whose segments left later than they should proves a rate too high, never one that is low enough.

mod train;

use super::{
    LossEvent, Overlay, OverlayTurn, Phase, Start, StartUpDescriptor, StartupReason, Suspended,
    Wrapping,
};
use crate::ack::AckSample;
use crate::registry::values::{per_mille, positive};
use crate::registry::{Make, Parameter};
use crate::send_plan::SendPlan;
use crate::window::{Cause, Window};
use arith::paced_start::{Search, TrainVerdict, window as segments_per};
use train::{MeanGap, Train};
use units::Duration;

/// Paced Start.
pub static PACED_START: StartUpDescriptor = StartUpDescriptor::new(
    "past",
    "paced trains search the rate available, then the window jumps there",
    "Hu & Steenkiste 2003 §3",
    Make::Around(|setup, inner| {
        let options = PacedStartOptions {
            tolerance: setup.get(&TOLERANCE),
            first: setup.get(&FIRST),
            exit_rtt: setup.get(&EXIT_RTT),
        };
        Box::new(Wrapping::new(PacedStart::new(options), inner))
    }),
)
.with(&[&TOLERANCE, &FIRST, &EXIT_RTT])
.explained(&super::pages::PACED_START);

static TOLERANCE: Parameter<u32> = Parameter::text(
    "past_tolerance",
    ("fraction, like 0.05", |text| per_mille(text, 0)),
    "0.05",
    "past: a train whose gaps grew by more, in parts of the capacity's gap, was too fast",
);

static FIRST: Parameter<u32> = Parameter::text(
    "past_first",
    ("segments, at least 2", |text| {
        positive(text).ok().filter(|n| *n >= 2).ok_or_else(|| "must be at least 2".to_owned())
    }),
    "2",
    "past: the first train, back to back; the paper's pair, or an initial window of today",
);

static EXIT_RTT: Parameter<ExitRtt> = Parameter::choice(
    "past_rtt",
    &[("smoothed", ExitRtt::Smoothed), ("latest", ExitRtt::Latest), ("least", ExitRtt::Least)],
    "smoothed",
    "past: the round trip over which the gap found is spread: smoothed, the last train's, or the least",
);

/// The round trip in `cwnd` = RTT / gap at the exit. The paper does not say which (§3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitRtt {
    /// The smoothed one.
    Smoothed,
    /// The round trip of the last train's last segment, which includes the train's own queue. The
    /// smoothed one if that segment was retransmitted.
    Latest,
    /// The least that was seen, which is without a queue.
    Least,
}

impl ExitRtt {
    const fn of(self, sample: &AckSample) -> Duration {
        match (self, sample.rtt) {
            (Self::Latest, Some(rtt)) => rtt,
            (Self::Least, _) if sample.min_rtt.as_nanos() < Duration::MAX.as_nanos() => {
                sample.min_rtt
            }
            _ => sample.srtt,
        }
    }
}

/// Options of [`PacedStart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacedStartOptions {
    /// A train was too fast if its ACKs are further apart than its segments were by more than this,
    /// thousandths of the gap of the capacity.
    pub tolerance: u32,
    /// Segments of the first train.
    pub first: u32,
    /// Round trip from which the window of the exit is computed.
    pub exit_rtt: ExitRtt,
}

/// Searches for the rate available, then fills the path at it.
#[derive(Clone, Copy, Debug)]
pub struct PacedStart {
    options: PacedStartOptions,
    stage: Stage,
    /// Segments of the train under way.
    length: u64,
    train: Train,
    /// The receiver was seen to delay ACKs.
    delays_acks: bool,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Back to back, until two ACKs show the capacity.
    Capacity,
    /// The gap of the search.
    Search(Search),
    /// At the gap found, until this offset of all bytes sent on the path.
    Fill { until: u64 },
    /// The search ended by rate.
    Done,
    /// It ended otherwise: the other start-up's slow start, as of any sender.
    SlowStart,
}

/// The shortest train that shows a gap.
const SHORTEST: u64 = 2;

impl PacedStart {
    /// Creates a start-up that has not started.
    pub fn new(options: PacedStartOptions) -> Self {
        let (stage, train) = (Stage::SlowStart, Train::default());
        let length = u64::from(options.first);
        Self { options, stage, length, train, delays_acks: false }
    }

    fn is_under_way(&self) -> bool {
        matches!(self.stage, Stage::Capacity | Stage::Search(_) | Stage::Fill { .. })
    }

    /// The gap of the train under way.
    fn gap(&self) -> Duration {
        match &self.stage {
            Stage::Search(search) => Duration::from_nanos(search.gap()),
            _ => Duration::ZERO,
        }
    }

    /// Orders the next train.
    fn send(&mut self, window: &mut Window) {
        let gap = self.gap();
        self.train = Train::default();
        window.set_cwnd(self.length.saturating_mul(window.mss()), Cause::SlowStart);
        let stop_after = Some(u32::try_from(self.length).unwrap_or(u32::MAX));
        window.follow_plan(SendPlan { stop_after, ..SendPlan::spaced(1, gap) });
    }

    /// Every ACK of the train is in. With nothing outstanding, a segment that has not left by a gap
    /// after the last one will not leave: data or the peer's window ended.
    fn is_over(&self, sample: &AckSample) -> bool {
        let all_in = sample.acked_total >= sample.sent_total;
        let acknowledged = self.train.segments();
        let cut_short = sample.rtt.is_none_or(|since_last| since_last >= self.gap());
        all_in && (acknowledged >= self.length || (acknowledged > 0 && cut_short))
    }

    /// The train under way is over: the next one, or the exit.
    fn on_train_end(&mut self, window: &mut Window, sample: &AckSample) {
        self.delays_acks |= self.train.shows_delayed_acks();
        if let Some(gap) = self.train.mean(self.delays_acks).and_then(|gaps| self.exit_gap(gaps)) {
            return self.exit_by_rate(window, sample, gap);
        }
        if self.train.segments() >= self.length {
            self.length = self.length.saturating_mul(2);
        }
        self.send(window);
    }

    /// Continues the search with the result of a train; returns the gap to exit with, if it is
    /// over.
    fn exit_gap(&mut self, gaps: MeanGap) -> Option<u64> {
        let (sent, acked) = (gaps.sent.as_nanos(), gaps.acked.as_nanos());
        match &mut self.stage {
            Stage::Capacity => {
                // Further apart than that, something else than the bottleneck set the gap.
                if sent <= acked / 2 {
                    self.stage = Stage::Search(Search::new(acked, self.tolerance(acked)));
                }
                None
            }
            Stage::Search(search) => {
                let delay = sent.saturating_sub(search.gap());
                let left_late = search.is_too_fast(sent);
                if left_late && !search.is_too_fast(acked.saturating_sub(delay)) {
                    return None;
                }
                match search.on_train(acked) {
                    TrainVerdict::Exit { gap } => Some(gap),
                    TrainVerdict::Train { .. } => None,
                }
            }
            Stage::Fill { .. } | Stage::Done | Stage::SlowStart => None,
        }
    }

    fn tolerance(&self, capacity_gap: u64) -> u64 {
        capacity_gap.saturating_mul(u64::from(self.options.tolerance)) / 1000
    }

    /// Exit by rate (§3.2.2).
    fn exit_by_rate(&mut self, window: &mut Window, sample: &AckSample, gap: u64) {
        self.length = segments_per(self.options.exit_rtt.of(sample).as_nanos(), gap).max(SHORTEST);
        let cwnd = self.length.saturating_mul(window.mss());
        window.set_ssthresh(cwnd, Cause::Seed);
        window.set_cwnd(cwnd, Cause::Seed);
        window.follow_plan(SendPlan::spaced(1, Duration::from_nanos(gap)));
        self.stage = Stage::Fill { until: sample.sent_total.saturating_add(cwnd) };
    }

    fn end(&mut self, window: &mut Window, stage: Stage) {
        window.end_plan();
        self.stage = stage;
    }
}

impl Overlay for PacedStart {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        match start.reason {
            StartupReason::NewPath => {
                self.stage = Stage::Capacity;
                self.send(window);
                OverlayTurn::Taken
            }
            StartupReason::Idle | StartupReason::Loss => {
                if self.is_under_way() {
                    window.end_plan();
                }
                self.stage = Stage::SlowStart;
                OverlayTurn::Left
            }
        }
    }

    fn suspended_duties(&self) -> Suspended {
        Suspended { observing: self.is_under_way(), ..Default::default() }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        match self.stage {
            Stage::Capacity | Stage::Search(_) => {
                self.train.on_ack(sample, window.mss());
                if self.is_over(sample) {
                    self.on_train_end(window, sample);
                }
            }
            Stage::Fill { until } => {
                if sample.sent_total >= until || sample.acked_total >= sample.sent_total {
                    self.end(window, Stage::Done);
                }
            }
            Stage::Done | Stage::SlowStart => {}
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        match self.stage {
            Stage::SlowStart => None,
            Stage::Done => Some(Phase::Done),
            Stage::Capacity | Stage::Search(_) | Stage::Fill { .. } => Some(Phase::Continue),
        }
    }

    /// Exit by loss (§3.2.2): after a timeout slow start to half the last train, else recovery's
    /// window.
    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event != LossEvent::Reduced || !self.is_under_way() {
            return None;
        }
        if window.last_cause() == Cause::Timeout {
            window.set_ssthresh((self.length / 2).saturating_mul(window.mss()), Cause::Timeout);
        }
        self.end(window, Stage::SlowStart);
        None
    }
}

#[cfg(test)]
mod tests;
