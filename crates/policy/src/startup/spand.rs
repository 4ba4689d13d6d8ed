//! TCP/SPAND (Zhang, Qiu & Keshav 2000 §4, §5). The first window of a transfer is computed from the
//! connection's share of the path, which a performance gateway knows, and from the transfer's size.
//!
//! A transfer, of a new connection or after an idle time, begins with `cwnd_opt` ([`arith::epoch`])
//! and directly in congestion avoidance. A token bucket spreads that first window over the
//! gateway's round trip. If there is no estimate, another start-up begins. Data that fits into the
//! initial window needs no larger one, and does not count as the transfer, like a TLS handshake.
//! The idle rule must leave the window to the start-up ([`crate::config::IdleRestart::StartUp`]).

use super::{
    LossEvent, Overlay, OverlayTurn, PendingData, Phase, Remembered, Start, StartUpDescriptor,
    StartupReason, Wrapping,
};
use crate::ack::AckSample;
use crate::config::{AckPolicy, MemoryKind};
use crate::registry::values::{choose, some_segments};
use crate::registry::{Implied, Make, Parameter, PolicySetup};
use crate::send_plan::SendPlan;
use crate::window::{Cause, Window};
use arith::epoch::{MAX_CAPACITY, PathShare, WindowChoice};

/// TCP/SPAND.
pub static SPAND: StartUpDescriptor = StartUpDescriptor::new(
    "spand",
    "begins with the window that a gateway's share of the path and the transfer's size make best",
    "Zhang, Qiu & Keshav 2000 §4, §5",
    Make::Around(|setup, inner| {
        Box::new(Wrapping::new(Spand::new(SpandOptions::of(setup)), inner))
    }),
)
.with(&[&PER_ACK, &SHIFT, &FLOOR, &SHARE, &ROUND, &BUCKET])
.implying(Implied { memory: MemoryKind::Gateway, ..Implied::IDLE })
.explained(&super::pages::SPAND);

static PER_ACK: Parameter<Option<u32>> = Parameter::or(
    "spand_b",
    ("1|2", |text| choose(text, &[("1", Some(1)), ("2", Some(2))])),
    None,
    "spand: segments that an ACK covers (default: as the scheme's receiver acknowledges)",
);
static SHIFT: Parameter<bool> =
    Parameter::switch("spand_shift", "on", "spand: the shift optimisation");
static FLOOR: Parameter<bool> = Parameter::switch(
    "spand_floor",
    "off",
    "spand: more than an epoch never begins below its bottom",
);
static SHARE: Parameter<Option<u32>> = Parameter::or(
    "spand_share",
    ("segments", some_segments),
    None,
    "spand: the share Wc once the gateway knows one, whatever it is",
);
static ROUND: Parameter<bool> = Parameter::choice(
    "spand_round",
    &[("down", false), ("nearest", true)],
    "down",
    "spand: to which whole segment the average share is rounded",
);
static BUCKET: Parameter<u32> =
    Parameter::segments("bucket", "4", "spand: depth of the token bucket");

/// Options of [`Spand`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpandOptions {
    /// Segments that an ACK of the receiver covers, `b`: 1, or 2 where it delays ACKs.
    pub per_ack: u32,
    /// Rule for the choice of the window.
    pub choice: WindowChoice,
    /// Depth of the token bucket, segments (§5.2.5).
    pub depth: u32,
    /// Segments that the share is taken to be, whatever the gateway has learnt: what a better
    /// estimate of it would be worth.
    pub assumed_share: Option<u32>,
    /// Rounding of an average between two whole segments: to the nearest if true, otherwise down.
    /// The paper does not define it.
    pub nearest: bool,
}

impl SpandOptions {
    fn of(setup: &PolicySetup<'_>) -> Self {
        let by_receiver = if setup.config.receive.ack == AckPolicy::Immediate { 1 } else { 2 };
        Self {
            per_ack: setup.get(&PER_ACK).unwrap_or(by_receiver),
            choice: WindowChoice { shift: setup.get(&SHIFT), not_below_bottom: setup.get(&FLOOR) },
            depth: setup.get(&BUCKET),
            assumed_share: setup.get(&SHARE),
            nearest: setup.get(&ROUND),
        }
    }
}

/// Begins with the window that ends the transfer with an epoch.
#[derive(Clone, Copy, Debug)]
pub struct Spand {
    options: SpandOptions,
    /// Bytes that the path had sent when the last ACK came.
    sent: u64,
    /// Sending is shaped until this offset of what the path sends.
    shaped_until: Option<u64>,
}

impl Spand {
    /// Creates a start-up that has not started.
    pub const fn new(options: SpandOptions) -> Self {
        Self { options, sent: 0, shaped_until: None }
    }

    /// `cwnd_opt`, segments. A transfer of unknown size is taken as one of whole epochs.
    fn first_window(&self, share: u64, transfer: Option<PendingData>, mss: u64) -> u64 {
        let SpandOptions { per_ack, assumed_share, nearest, .. } = self.options;
        let share = if nearest { share.saturating_add(mss / 2) } else { share };
        let learnt = (share / mss).min(u64::from(MAX_CAPACITY)) as u32;
        let share = PathShare { capacity: assumed_share.unwrap_or(learnt), per_ack };
        match transfer {
            Some(PendingData { bytes, .. }) => {
                share.initial_window(bytes.div_ceil(mss), self.options.choice)
            }
            None => share.bottom(),
        }
    }

    fn resume(&mut self, window: &mut Window, start: &Start<'_>, seed: &Remembered, share: u64) {
        let segments = self.first_window(share, start.transfer, window.mss());
        let cwnd = segments * window.mss();
        window.set_ssthresh(cwnd, Cause::Seed);
        window.set_cwnd(cwnd, Cause::Seed);
        if segments > u64::from(self.options.depth) {
            window.follow_plan(SendPlan::bucket(self.options.depth, seed.srtt / segments));
            self.shaped_until = Some(self.sent.saturating_add(cwnd));
        }
    }

    fn stop_shaping(&mut self, window: &mut Window) {
        if self.shaped_until.take().is_some() {
            window.end_plan();
        }
    }
}

/// Below the threshold, as with a first window of one segment, the other start-up grows the window.
impl Overlay for Spand {
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> OverlayTurn {
        self.stop_shaping(window);
        let awaits_transfer = start.transfer.is_some_and(|t| t.bytes <= start.initial_window);
        let share = start.seed.and_then(|seed| Some((seed, seed.share?)));
        let known = share.filter(|_| !awaits_transfer);
        match (start.reason, known) {
            (StartupReason::NewPath | StartupReason::Idle, Some((seed, share))) => {
                self.resume(window, start, &seed, share);
                return OverlayTurn::Taken;
            }
            (StartupReason::Idle, None) => {
                window.set_cwnd(start.initial_window.min(window.cwnd()), Cause::Idle);
            }
            (StartupReason::NewPath, None) | (StartupReason::Loss, _) => {}
        }
        if awaits_transfer { OverlayTurn::AwaitsTransfer } else { OverlayTurn::Left }
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.sent = sample.sent_total;
        if self.shaped_until.is_some_and(|until| self.sent >= until) {
            self.stop_shaping(window);
        }
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event == LossEvent::Reduced {
            self.stop_shaping(window);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::RttEstimator;
    use crate::registry::by_default;
    use crate::startup::{Beginning, SlowStart, StartUp};
    use crate::window::PlanOrder;
    use units::{Duration, Instant};

    /// Returns the options for a receiver that acknowledges every segment.
    fn options() -> SpandOptions {
        SpandOptions { per_ack: 1, ..by_default(SpandOptions::of) }
    }

    const MSS: u64 = 1000;

    fn seed(share: u64) -> Remembered {
        let (srtt, bytes) = (Duration::from_millis(100), share * MSS);
        Remembered { cwnd: bytes, srtt, share: Some(bytes), ..Remembered::default() }
    }

    fn stock() -> (Wrapping<Spand>, Window) {
        let spand = Wrapping::new(Spand::new(options()), Box::new(SlowStart));
        (spand, Window::new(MSS, 10 * MSS, u64::MAX, false))
    }

    /// Returns a window of 10 segments after a start with this reason and this share, in segments,
    /// if any.
    fn started(reason: StartupReason, share: Option<u64>, bytes: u64) -> (Wrapping<Spand>, Window) {
        let (mut spand, mut window) = stock();
        begin(&mut spand, &mut window, reason, share, bytes);
        (spand, window)
    }

    fn begin(
        spand: &mut Wrapping<Spand>,
        window: &mut Window,
        reason: StartupReason,
        share: Option<u64>,
        bytes: u64,
    ) -> Beginning {
        let rtt = RttEstimator::new(crate::config::ConnectionConfig::default().rto);
        let start = Start {
            seed: share.map(seed),
            transfer: Some(PendingData { bytes, admitted: u64::MAX, announced: 0 }),
            initial_window: 3 * MSS,
            ..Start::of(reason, &rtt)
        };
        spand.begin(window, &start)
    }

    #[test]
    fn the_papers_example_in_a_bucket_over_the_gateways_round_trip() {
        // Wc = 10, F = 11 (the last segment is not full): 5, straight in avoidance. A token every
        // 20 ms.
        for reason in [StartupReason::NewPath, StartupReason::Idle] {
            let (mut spand, mut window) = started(reason, Some(10), 10_500);
            assert_eq!((window.cwnd(), window.ssthresh()), (5 * MSS, 5 * MSS));
            let plan = SendPlan::bucket(4, Duration::from_millis(20));
            assert_eq!(window.take_order(), Some(PlanOrder::Follow(plan)));
            // Four have left when the first ACK comes; with the fifth it is plain TCP.
            let sample = |sent: u64| AckSample {
                sent_total: sent * MSS,
                ..AckSample::of(Instant::from_nanos(1), MSS)
            };
            spand.observe(&mut window, &sample(4));
            assert_eq!(window.take_order(), None);
            assert_eq!(spand.on_ack(&mut window, &sample(4)), Phase::Done);
            spand.observe(&mut window, &sample(5));
            assert_eq!(window.take_order(), Some(PlanOrder::End));
        }
    }

    #[test]
    fn an_assumed_share_takes_the_place_of_the_learnt_one() {
        // Wc = 31, F = 30: all in one window; with 12 it would be 9 (9 + 10 + 11 = 30).
        let assumed_share = Some(31);
        let spand = Spand::new(SpandOptions { assumed_share, ..options() });
        let transfer = Some(PendingData { bytes: 30 * MSS, admitted: u64::MAX, announced: 0 });
        assert_eq!(spand.first_window(12 * MSS, transfer, MSS), 30);
        assert_eq!(Spand::new(options()).first_window(12 * MSS, transfer, MSS), 9);
    }

    #[test]
    fn a_share_between_two_segments_is_the_lower_one_unless_said() {
        // F = 30: Wc = 8 begins with 4 (4 + ... + 8 = 30), Wc = 9 with 6 (6 + ... + 9 = 30).
        let transfer = Some(PendingData { bytes: 30 * MSS, admitted: u64::MAX, announced: 0 });
        let begins = |nearest, share| {
            let options = SpandOptions { nearest, ..options() };
            Spand::new(options).first_window(share, transfer, MSS)
        };
        assert_eq!([begins(false, 8999), begins(true, 8500), begins(true, 8499)], [4, 6, 4]);
    }

    #[test]
    fn a_tls_handshake_is_not_the_transfer() {
        // The initial window is 3: what fits leaves it alone, and the next data begins.
        let (mut spand, mut window) = stock();
        let mut begin =
            |bytes| begin(&mut spand, &mut window, StartupReason::NewPath, Some(10), bytes);
        assert_eq!(begin(3 * MSS), Beginning::AwaitsTransfer);
        assert_eq!(begin(3 * MSS + 1), Beginning::Whole);
        let (_, window) = started(StartupReason::NewPath, Some(10), 3 * MSS);
        assert_eq!(window.cwnd(), 10 * MSS);
    }

    #[test]
    fn what_the_bucket_holds_needs_no_spacing() {
        // Wc = 4, F = 4: the whole transfer in a window.
        let (_, mut window) = started(StartupReason::NewPath, Some(4), 4 * MSS);
        assert_eq!((window.cwnd(), window.take_order()), (4 * MSS, None));
    }

    #[test]
    fn a_window_of_one_is_as_good_as_avoidance() {
        // Wc = 10, F = 67 is an epoch and a segment: one. A threshold is at least two, so the first
        // ACK is slow start's; avoidance would add a segment as well.
        let (mut spand, mut window) = started(StartupReason::NewPath, Some(10), 67 * MSS);
        assert_eq!(window.cwnd(), MSS);
        let sample = AckSample::of(Instant::from_nanos(1), MSS);
        assert_eq!(spand.on_ack(&mut window, &sample), Phase::Done);
        assert_eq!(window.cwnd(), 2 * MSS);
    }

    #[test]
    fn without_an_estimate_slow_start() {
        let (_, window) = started(StartupReason::NewPath, None, 50 * MSS);
        assert_eq!((window.cwnd(), window.ssthresh()), (10 * MSS, u64::MAX));
        // After idle from the restart window (RFC 5681 §4.1).
        let (_, window) = started(StartupReason::Idle, None, 50 * MSS);
        assert_eq!((window.cwnd(), window.ssthresh()), (3 * MSS, u64::MAX));
    }

    #[test]
    fn congestion_ends_the_shaping() {
        let (mut spand, mut window) = started(StartupReason::NewPath, Some(10), 11 * MSS);
        spand.on_loss(&mut window, LossEvent::Reduced);
        assert_eq!(window.take_order(), Some(PlanOrder::End));
    }
}
