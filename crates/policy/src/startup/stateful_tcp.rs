//! Stateful-TCP (draft-lee-tcpm-stateful-tcp-00): the rate and round trip of the last connection
//! set the first window and its pacing.
//!
//! A connection measures the rate of deliveries once a round trip, and stores the best of its last
//! five rates. The next one paces `rate * min_rtt` at that rate. The first ACK that finds more than
//! a few segments in flight ends the pacing: the window becomes the bytes in flight, and the other
//! start-up continues. It never falls back, and the rate does not age.

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

/// Stateful-TCP.
pub static STATEFUL_TCP: StartUpDescriptor = StartUpDescriptor::new(
    "stateful-tcp",
    "paces the remembered rate times round trip at that rate, whole",
    "draft-lee-tcpm-stateful-tcp-00; project Stateful-TCP 2020",
    Make::Around(|_, inner| Box::new(Wrapping::new(StatefulTcp::default(), inner))),
)
.implying(Implied { memory: MemoryKind::Temporal, ..Implied::NOTHING })
.explained(&super::pages::STATEFUL_TCP);

/// Number of rates of which the best is stored. Source: draft-lee-tcpm-stateful-tcp-00.
const RATES: usize = 5;
/// A rate needs more ACKs than this. Source: draft-lee-tcpm-stateful-tcp-00.
const MIN_ACKS: u32 = 3;
/// Segments in flight above which an ACK ends the pacing. Source: draft-lee-tcpm-stateful-tcp-00.
const PACED_SEGMENTS_IN_FLIGHT: u64 = 5;
/// Window, segments, above which it is paced. A smaller one has so few segments in flight that
/// nothing would end the pacing. It is the initial window of RFC 6928.
const MIN_WINDOW: u64 = 10;

/// Begins with a remembered rate.
#[derive(Clone, Debug, Default)]
pub struct StatefulTcp {
    pacing: bool,
    initial_window: u64,
    /// The remembered rate, which stays if no better one is measured.
    remembered: Option<Rate>,
    gauge: Gauge,
}

/// Rates of deliveries, round trip by round trip.
#[derive(Clone, Debug, Default)]
struct Gauge {
    round: Option<RateRound>,
    rates: VecDeque<u64>,
}

/// A round trip's ACKs. The longest gap between two of them, and the ACK that ended it, are left
/// out: the sender paused there.
#[derive(Clone, Copy, Debug)]
struct RateRound {
    started: Instant,
    last: Instant,
    acks: u32,
    /// Bytes after the first ACK.
    bytes: u64,
    longest: Duration,
    /// Bytes of the ACK that ended the longest gap.
    after_longest: u64,
}

impl RateRound {
    fn new(now: Instant) -> Self {
        let (longest, after_longest) = (Duration::ZERO, 0);
        Self { started: now, last: now, acks: 1, bytes: 0, longest, after_longest }
    }

    fn on_ack(&mut self, now: Instant, bytes: u64) {
        let gap = now.saturating_since(self.last);
        if gap > self.longest {
            self.longest = gap;
            self.after_longest = bytes;
        }
        self.last = now;
        self.acks += 1;
        self.bytes += bytes;
    }

    /// Bytes per second.
    fn rate(&self) -> Option<u64> {
        let time = self.last.saturating_since(self.started).saturating_sub(self.longest);
        let bytes = self.bytes - self.after_longest;
        if self.acks <= MIN_ACKS || time.is_zero() || bytes == 0 {
            return None;
        }
        Some(Rate::from_bytes_over(bytes, time).as_bps() / 8)
    }
}

impl Gauge {
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.delivered == 0 {
            return;
        }
        let Some(round) = &mut self.round else {
            self.round = Some(RateRound::new(sample.now));
            return;
        };
        round.on_ack(sample.now, sample.delivered);
        if sample.now.saturating_since(round.started) < sample.srtt {
            return;
        }
        if let Some(rate) = round.rate() {
            self.rates.push_front(rate);
            self.rates.truncate(RATES);
        }
        self.round = Some(RateRound::new(sample.now));
    }

    /// Returns the best of the last rates; for a connection too short to have one, that of its only
    /// round.
    fn best_rate(&self) -> Option<u64> {
        let unfinished = || self.round.as_ref().and_then(RateRound::rate);
        self.rates.iter().copied().max().or_else(unfinished)
    }
}

impl StatefulTcp {
    fn end_pacing(&mut self, window: &mut Window) {
        if std::mem::take(&mut self.pacing) {
            window.end_plan();
        }
    }
}

impl Overlay for StatefulTcp {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        if start.reason != StartupReason::NewPath {
            self.end_pacing(window);
            return OverlayTurn::Left;
        }
        self.initial_window = start.initial_window;
        self.remembered = start.seed.and_then(|seed| seed.rate);
        let known = start.seed.and_then(|seed| Some((seed.rate?, seed.min_rtt?)));
        if let Some((rate, min_rtt)) = known {
            let segments = rate.bytes_in(min_rtt) / window.mss();
            let cwnd = segments * window.mss();
            if cwnd > start.initial_window.max(MIN_WINDOW * window.mss()) {
                window.set_cwnd(cwnd, Cause::Seed);
                window.follow_plan(SendPlan::spaced(1, rate.transmit_time(window.mss())));
                self.pacing = true;
            }
        }
        OverlayTurn::Left
    }

    fn suspended_duties(&self) -> Suspended {
        Suspended { observing: self.pacing, ruling: self.pacing }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.gauge.on_ack(sample);
        let few = PACED_SEGMENTS_IN_FLIGHT * window.mss();
        if self.pacing && window.cwnd() <= few {
            // Others have lowered it.
            self.end_pacing(window);
        } else if self.pacing && sample.in_flight > few {
            self.end_pacing(window);
            window.set_cwnd(sample.in_flight.max(self.initial_window), Cause::Seed);
        }
    }

    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Option<Phase> {
        self.pacing.then_some(Phase::Continue)
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event == LossEvent::Reduced {
            self.end_pacing(window);
        }
        None
    }

    fn leave(&self, state: &mut PathState) {
        let best = self.gauge.best_rate().map(|bytes| Rate::from_bps(bytes.saturating_mul(8)));
        state.rate = best.or(self.remembered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn ack(ms: u64, segments: u64) -> AckSample {
        AckSample {
            srtt: Duration::from_millis(100),
            ..AckSample::of(Instant::from_nanos(ms * 1_000_000), segments * MSS)
        }
    }

    fn gauge(acks: &[(u64, u64)]) -> Gauge {
        let mut gauge = Gauge::default();
        for &(ms, segments) in acks {
            gauge.on_ack(&ack(ms, segments));
        }
        gauge
    }

    #[test]
    fn the_longest_gap_and_its_ack_are_left_out() {
        // One segment each at 0, 2, 4, 6 ms, then a pause until 96, then 98 and 100: a round trip.
        // After the pause of 90 ms one does not count: five segments in 10 ms.
        let acks = [(0, 1), (2, 1), (4, 1), (6, 1), (96, 1), (98, 1), (100, 1)];
        assert_eq!(gauge(&acks).best_rate(), Some(500_000));
    }

    #[test]
    fn three_acks_tell_no_rate_and_an_unfinished_round_tells_if_there_is_no_other() {
        assert_eq!(gauge(&[(0, 1), (2, 1), (4, 1)]).best_rate(), None);
        // 0, 2, 4, 6 ms: the first of three equal gaps is left out. Two segments in 4 ms.
        assert_eq!(gauge(&[(0, 1), (2, 1), (4, 1), (6, 1)]).best_rate(), Some(500_000));
    }
}
