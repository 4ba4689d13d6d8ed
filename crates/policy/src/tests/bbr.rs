//! Step tables: segments of 1000 bytes, a round trip of 80 ms, a batch of one or two segments.

use crate::ack::{AckSample, Delivery, Episode, RateSample, RttEstimator};
use crate::config::ConnectionConfig;
use crate::congestion::{Bbr, CongestionControl, CongestionEvent, ModellingControl};
use crate::startup::{BbrStart, Phase, Start, StartUp, StartupReason};
use crate::window::{Cause, Window};
use units::{Duration, Instant};

const MSS: u64 = 1000;
const RTT: u64 = 80;

/// A sender that gets one ACK a round.
struct Flow {
    window: Window,
    start: BbrStart,
    control: Option<Bbr>,
    now_ms: u64,
    total: u64,
    lost: u64,
    srtt: Duration,
}

/// Contents of an ACK.
#[derive(Clone, Copy)]
struct AckContents {
    /// Time since the last one.
    after_ms: u64,
    fresh: u64,
    lost: u64,
    in_flight: u64,
    rtt_ms: u64,
    app_limited: bool,
    episode: Episode,
}

/// Returns an ACK a round trip later of `fresh` segments, with no loss and nothing in flight.
const fn round(fresh: u64) -> AckContents {
    let (episode, rtt_ms) = (Episode::None, RTT);
    AckContents { after_ms: RTT, fresh, lost: 0, in_flight: 0, rtt_ms, app_limited: false, episode }
}

impl Flow {
    fn new() -> Self {
        let mut window = Window::new(MSS, 10 * MSS, u64::MAX, false);
        let mut rtt = RttEstimator::new(ConnectionConfig::default().rto);
        let now = Instant::from_nanos(RTT * 1_000_000);
        rtt.on_sample(Instant::ZERO, now, 0, 0);
        let mut start = BbrStart::default();
        start.begin(&mut window, &Start { now, ..Start::of(StartupReason::NewPath, &rtt) });
        Self { window, start, control: None, now_ms: RTT, total: 1, lost: 0, srtt: rtt.srtt() }
    }

    /// An ACK whose rate is `fresh` over the time since the last.
    fn ack(&mut self, ack: AckContents) {
        let prior_delivered = self.total;
        self.now_ms += ack.after_ms;
        self.total += ack.fresh;
        self.lost += ack.lost;
        let now = Instant::from_nanos(self.now_ms * 1_000_000);
        let rate = RateSample {
            prior_delivered,
            delivered: ack.fresh,
            interval_us: ack.after_ms * 1000,
            app_limited: ack.app_limited,
        };
        let delivery = Delivery {
            total: self.total,
            at: now,
            fresh: ack.fresh,
            lost: ack.lost,
            total_lost: self.lost,
            rate: Some(rate),
            episode: ack.episode,
            delayed: false,
            resumed: None,
            next_release: now,
        };
        let sample = AckSample {
            delivery: Some(delivery),
            rtt: Some(Duration::from_millis(ack.rtt_ms)),
            srtt: self.srtt,
            prior_in_flight: (ack.in_flight + ack.fresh) * MSS,
            in_flight: ack.in_flight * MSS,
            ..AckSample::of(now, ack.fresh * MSS)
        };
        self.window.set_now(now);
        if self.control.is_none() {
            if self.start.on_ack(&mut self.window, &sample) == Phase::Continue {
                return;
            }
            let mut control = Bbr::default();
            control.set_seed(1);
            control.take_over(self.start.hand_over().unwrap());
            self.control = Some(control);
        }
        self.control.as_mut().unwrap().on_ack(&mut self.window, &sample);
    }

    /// Data waits again after so long.
    fn resume_after(&mut self, idle_ms: u64) {
        self.now_ms += idle_ms;
        let now = Instant::from_nanos(self.now_ms * 1_000_000);
        self.window.set_now(now);
        let control = self.control.as_mut().unwrap();
        control.on_restart(&mut self.window, now, Duration::from_millis(idle_ms));
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd() / MSS
    }

    /// Pacing rate in per cent of `segments` per round trip.
    fn rate(&self, segments: u64) -> u64 {
        let rate = self.window.pacing_rate().unwrap().as_bps() / 8;
        (rate * RTT + 5 * MSS * segments) / (10 * MSS * segments)
    }

    /// At 100 segments per round trip, found full.
    fn full() -> Self {
        let mut flow = Self::new();
        for fresh in [10, 20, 40, 80, 100, 100, 100, 100] {
            flow.ack(round(fresh));
        }
        assert!(flow.control.is_some());
        flow
    }

    /// The same, drained and cruising.
    fn cruising() -> Self {
        let mut flow = Self::full();
        flow.ack(round(100));
        flow
    }
}

#[test]
fn start_up_doubles_rate_and_window_every_round_trip() {
    let mut flow = Flow::new();
    // 10 segments per round trip, times 2.89, less 1 %.
    assert_eq!(flow.rate(10), 286);
    for (n, window) in [(10, 20), (20, 40), (40, 80), (80, 160)] {
        flow.ack(round(n));
        assert_eq!((flow.cwnd(), flow.rate(n)), (window, 286), "{n}");
    }
    assert_eq!(flow.window.last_cause(), Cause::Model);
}

#[test]
fn three_rounds_without_a_quarter_of_growth_are_a_full_path() {
    let mut flow = Flow::new();
    for fresh in [10, 20, 40, 80, 100] {
        flow.ack(round(fresh));
    }
    // 100 is a quarter more than 80, 124 not a quarter more than 100.
    flow.ack(round(124));
    flow.ack(round(124));
    assert!(flow.control.is_none());
    flow.ack(round(124));
    assert!(flow.control.is_some());
    // 124, and three batches: at 2.89 * 1.53 MB/s a millisecond is 4.5 kB, so four segments.
    assert_eq!(flow.window.ssthresh(), (124 + 12) * MSS);
}

#[test]
fn rounds_limited_by_the_application_neither_count_nor_lower_the_bandwidth() {
    let mut flow = Flow::new();
    for fresh in [10, 20, 40, 80] {
        flow.ack(round(fresh));
    }
    for _ in 0..20 {
        flow.ack(AckContents { app_limited: true, ..round(5) });
    }
    assert!(flow.control.is_none());
    assert_eq!(flow.rate(80), 286);
    // One that is faster all the same counts.
    flow.ack(AckContents { app_limited: true, ..round(160) });
    assert_eq!(flow.rate(160), 286);
}

#[test]
fn what_start_up_queued_is_drained_at_the_inverse_of_its_gain() {
    let mut flow = Flow::new();
    for fresh in [10, 20, 40, 80, 100, 100, 100] {
        flow.ack(round(fresh));
    }
    flow.ack(AckContents { in_flight: 180, ..round(100) });
    // 88 / 256 of 100, less 1 %.
    assert_eq!(flow.rate(100), 34);
    // The target in flight at gain 1: 100 and three batches of three (2.89 * 1.25 MB/s, a
    // millisecond is 3.6 kB), even: 110. The batch shrinks with the rate: two, 106.
    flow.ack(AckContents { in_flight: 107, ..round(100) });
    assert_eq!(flow.rate(100), 34);
    flow.ack(AckContents { in_flight: 100, ..round(100) });
    assert!(flow.rate(100) > 70, "{}", flow.rate(100));
}

#[test]
fn cruising_goes_through_eight_phases_of_a_round_trip() {
    let mut flow = Flow::cruising();
    let mut rates = Vec::new();
    for _ in 0..16 {
        // Slightly longer than the round trip, at the same bandwidth; enough in flight for any
        // phase to end.
        flow.ack(AckContents { after_ms: 84, in_flight: 140, ..round(105) });
        rates.push(flow.rate(100));
    }
    // 1.25, 0.75 and 1, less 1 %: each cycle has one of the first, then one of the second.
    let up = rates.iter().position(|&rate| rate == 124).unwrap();
    assert_eq!(rates[up..up + 8], [124, 74, 99, 99, 99, 99, 99, 99], "{rates:?}");
    // The window is twice what the path holds, plus the 105 that gather for an ACK (of 125 that 100
    // ms deliver), plus three batches of two. That is 311, made even; two more while more bandwidth
    // is probed for.
    assert!([312, 314].contains(&flow.cwnd()), "{}", flow.cwnd());
}

#[test]
fn probing_for_more_lasts_until_more_is_in_flight_or_lost() {
    let mut flow = Flow::cruising();
    for _ in 0..8 {
        if flow.rate(100) == 124 {
            break;
        }
        flow.ack(AckContents { after_ms: 84, in_flight: 140, ..round(105) });
    }
    // 1.25 of 100 are not in flight: it goes on.
    for _ in 0..3 {
        flow.ack(AckContents { after_ms: 84, in_flight: 10, ..round(105) });
        assert_eq!(flow.rate(100), 124);
    }
    flow.ack(AckContents { after_ms: 84, in_flight: 10, lost: 1, ..round(105) });
    assert_eq!(flow.rate(100), 74);
    // Nothing to drain: the next phase at once, without waiting for a round trip.
    flow.ack(AckContents { after_ms: 4, ..round(5) });
    assert_eq!(flow.rate(100), 99);
}

#[test]
fn after_ten_seconds_the_round_trip_is_probed_for_200_ms_and_a_round() {
    let mut flow = Flow::cruising();
    // The lowest is the handshake's, from 80 ms on; equal ones since do not make it younger.
    let lowest_at = RTT;
    let busy = AckContents { rtt_ms: 90, in_flight: 140, ..round(100) };
    while flow.now_ms + RTT <= lowest_at + 10_000 {
        flow.ack(busy);
        assert!(flow.cwnd() > 100);
    }
    let before = flow.cwnd();
    flow.ack(busy);
    assert_eq!(flow.cwnd(), 4);
    // Few enough are in flight; from here 200 ms, in rounds of 80: the third ends it.
    let few = AckContents { in_flight: 4, ..round(4) };
    flow.ack(few);
    for n in 0..2 {
        flow.ack(few);
        assert_eq!(flow.cwnd(), 4, "{n}");
    }
    flow.ack(few);
    assert!(flow.cwnd() >= before - 2 && flow.cwnd() <= before + 2, "{} {before}", flow.cwnd());
}

/// Having been idle, BBR need not be faster than the path (Linux `bbr_cwnd_event`): gain 1, less 1
/// %.
#[test]
fn after_idle_the_pace_is_that_of_the_path() {
    let mut flow = Flow::cruising();
    while flow.rate(100) != 124 {
        flow.ack(AckContents { after_ms: 84, in_flight: 140, ..round(105) });
    }
    flow.resume_after(1000);
    assert_eq!(flow.rate(100), 99);
}

/// Nothing was in flight while the sender idled. A probe of the round trip that has lasted 200 ms
/// by then is over.
#[test]
fn idling_ends_a_probe_of_the_round_trip() {
    for (idle_ms, is_over) in [(200, false), (201, true)] {
        let mut flow = Flow::cruising();
        let before = flow.cwnd();
        while flow.cwnd() != 4 {
            flow.ack(AckContents { rtt_ms: 90, in_flight: 140, ..round(100) });
        }
        // Few enough are in flight from here on.
        flow.ack(AckContents { in_flight: 4, ..round(4) });
        flow.resume_after(idle_ms);
        assert_eq!(flow.cwnd() > 4, is_over, "{idle_ms} ms");
        assert!(!is_over || flow.cwnd() >= before - 2, "{} {before}", flow.cwnd());
    }
}

#[test]
fn a_repair_begins_with_a_round_that_sends_what_arrives_and_ends_where_it_began() {
    let mut flow = Flow::cruising();
    let before = flow.cwnd();
    let fast = Episode::FastRecovery;
    // Ten are lost; 80 are left in flight, and one was delivered with the ACK that reported it.
    flow.control.as_mut().unwrap().on_congestion(&flow.window, &event());
    let repair = AckContents { after_ms: 1, in_flight: 80, episode: fast, ..round(1) };
    flow.ack(AckContents { lost: 10, ..repair });
    assert_eq!(flow.cwnd(), 81);
    flow.ack(AckContents { in_flight: 81, ..repair });
    // A new round began with it, and conservation is over: two for one from now on.
    flow.ack(AckContents { in_flight: 81, ..repair });
    flow.ack(AckContents { in_flight: 82, ..repair });
    assert!((82..86).contains(&flow.cwnd()), "{}", flow.cwnd());
    flow.ack(AckContents { in_flight: 60, ..round(1) });
    assert!(flow.cwnd() >= before - 4, "{} {before}", flow.cwnd());
}

fn event() -> CongestionEvent {
    CongestionEvent {
        now: Instant::ZERO,
        flight_size: 0,
        usable_window: 0,
        timeout: false,
        repeated: false,
        losing_clients: 1,
    }
}
