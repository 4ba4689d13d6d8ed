//! BBR's model of a path (draft-cardwell-iccrg-bbr-congestion-control-00 §4.1), and the pacing rate
//! and window that follow from it in every state (§4.2). The version is the first, as Linux 6.x
//! ships it.
//!
//! The model has one owner at a time. BBR's start-up makes it, fills the path and, when the path is
//! full, hands the model over to BBR's congestion controller, which drains, cruises and probes.
//! Their common parts are here. `round_trip` finds the lowest round trip and probes for it, and
//! `aggregation` measures bunches of ACKs. `window` sets the window, also while losses are
//! repaired, and `full_pipe` finds out when the path is full.
//!
//! Everything counts in segments and microseconds, in the fixed point of [`arith::bbr`].

mod aggregation;
mod full_pipe;
mod round_trip;
mod window;

use crate::ack::{AckSample, Delivery, Episode, RttEstimator};
use crate::window::Window;
use aggregation::{Aggregation, Carried};
use arith::bbr::{self, BW_WINDOW_ROUNDS, UNIT};
use arith::minmax::MaxFilter;
use arith::policer::{Policer, PolicerAck};
pub(crate) use full_pipe::FullPipe;
use round_trip::{Probe, RoundTrips};
use units::{Duration, Instant, Rate};
use window::Repair;

/// An ACK whose deliveries are metered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeteredAck<'a> {
    pub(crate) sample: &'a AckSample,
    /// The sample's own.
    pub(crate) delivery: &'a Delivery,
}

/// Segments of an initial window, where nothing else is known (RFC 6928).
const INITIAL_WINDOW: u64 = 10;
/// Round trip from which the first rate is computed if none was measured.
const NOMINAL_RTT_US: u64 = 1000;

/// Gains of rate and window in the present state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gains {
    pub(crate) pacing: u64,
    pub(crate) window: u64,
}

impl Gains {
    /// Gains while the round trip is probed.
    const PROBE_RTT: Self = Self { pacing: UNIT, window: UNIT };
}

/// State of the round-trip probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probing {
    /// There is no probe.
    No,
    /// The probe is under way.
    Yes,
    /// It has ended now: the state before starts again.
    Over,
}

/// The measurement of a path by a controller that models it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelledPath {
    /// Bandwidth in segments a microsecond, in the fixed point of [`arith::bbr`].
    pub bandwidth: u64,
    /// Lowest round trip, microseconds.
    pub min_rtt_us: u64,
}

/// Model of a path, kept by the owner of the window.
#[derive(Clone, Debug)]
pub struct Model {
    max_bw: MaxFilter,
    policer: Policer,
    rounds: u64,
    /// The round ends when a segment is acknowledged that left after this number of deliveries.
    round_ends: u64,
    /// A round began with the last ACK.
    round_started: bool,
    trips: RoundTrips,
    aggregation: Aggregation,
    repair: Repair,
    /// Sending resumed after idling, and no ACK of it came yet.
    resumed: bool,
    /// The first pacing rate was computed from a measured round trip.
    rtt_known: bool,
    /// The path was found full once.
    full: bool,
    /// The present phase of cruising probes for more bandwidth.
    probing_up: bool,
}

impl Default for Model {
    /// The model of an unknown path.
    fn default() -> Self {
        Self::unknown()
    }
}

impl Model {
    /// Creates the model at `now` with the handshake's measurements; the path is paced from now on.
    pub(crate) fn new(window: &mut Window, rtt: &RttEstimator, now: Instant) -> Self {
        let mut model = Self::unknown();
        model.trips = RoundTrips::new(rtt.min_rtt(), now);
        model.aggregation.restart(now);
        let srtt = rtt.has_sample().then(|| rtt.srtt());
        model.set_first_rate(window, srtt);
        model
    }

    /// Creates the model within a transfer that another policy started, with the path assumed to be
    /// full.
    pub(crate) fn take_over_at(sample: &AckSample) -> Self {
        let mut model = Self::unknown();
        model.trips = RoundTrips::new(sample.min_rtt, sample.now);
        model.aggregation.restart(sample.now);
        model.rtt_known = true;
        model.full = true;
        model
    }

    fn unknown() -> Self {
        Self {
            max_bw: MaxFilter::new(),
            policer: Policer::default(),
            rounds: 0,
            round_ends: 0,
            round_started: false,
            trips: RoundTrips::default(),
            aggregation: Aggregation::default(),
            repair: Repair::default(),
            resumed: false,
            rtt_known: false,
            full: false,
            probing_up: false,
        }
    }

    /// Bandwidth of the path (`BBR.BtlBw`), or the policer's.
    pub(crate) fn bandwidth(&self) -> u64 {
        self.policer.bandwidth().unwrap_or_else(|| self.max_bw.max())
    }

    /// Largest bandwidth of the last rounds.
    pub(crate) fn max_bandwidth(&self) -> u64 {
        self.max_bw.max()
    }

    /// A policer's rate is in use.
    pub(crate) fn is_policed(&self) -> bool {
        self.policer.bandwidth().is_some()
    }

    /// Lowest round trip, microseconds; `None` before the first.
    pub(crate) fn min_rtt_us(&self) -> Option<u64> {
        self.trips.lowest_us()
    }

    /// A round began with the last ACK.
    pub(crate) fn has_round_started(&self) -> bool {
        self.round_started
    }

    /// The round trip is being probed.
    pub(crate) fn is_probing_rtt(&self) -> bool {
        self.trips.probe.is_some()
    }

    /// The path is full: the window follows the model down, too, from now on.
    pub(crate) fn on_full_path(&mut self) {
        self.full = true;
    }

    /// The present phase of cruising probes for more bandwidth, or not.
    pub(crate) fn set_probing_up(&mut self, up: bool) {
        self.probing_up = up;
    }

    /// Processes an ACK for rounds, bandwidth and aggregation (§4.1.1); `cruising`: the owner
    /// allows that bandwidth is probed. True if a policer's rate was used up, so that probing
    /// starts again.
    pub(crate) fn on_ack(&mut self, window: &Window, delivery: &Delivery, cruising: bool) -> bool {
        if let Some(at) = delivery.resumed {
            self.resumed = true;
            self.aggregation.restart(at);
        }
        if self.repair.on_episode(delivery.episode) == Some(Episode::Timeout) {
            // A timeout ends the round, and with it an interval of the policer's.
            let ended = PolicerAck { round: true, ..self.policer_ack(window, delivery) };
            self.policer.on_ack(&ended);
        }
        self.round_started = false;
        let Some(rate) = delivery.rate else { return false };
        if rate.prior_delivered >= self.round_ends {
            self.begin_round(delivery.total);
            self.rounds += 1;
            self.round_started = true;
            self.repair.end_conservation();
        }
        let probing = cruising && !self.is_probing_rtt();
        let (round, fresh_loss) = (self.round_started, delivery.lost > 0);
        let ack = PolicerAck { round, probing, fresh_loss, ..self.policer_ack(window, delivery) };
        let used_up = self.policer.on_ack(&ack);
        let bw = bbr::bandwidth(rate.delivered, rate.interval_us);
        if !rate.app_limited || bw >= self.max_bw.max() {
            self.max_bw.update(BW_WINDOW_ROUNDS, self.rounds, bw);
        }
        let carried = Carried { bw: self.bandwidth(), cwnd: window.cwnd() / window.mss() };
        self.aggregation.on_ack(delivery, carried, self.round_started);
        used_up
    }

    /// An ACK within a round, as the policer's detector takes it.
    fn policer_ack(&self, window: &Window, delivery: &Delivery) -> PolicerAck {
        PolicerAck {
            delivered_ms: delivery.at.as_nanos() / 1_000_000,
            delivered: delivery.total,
            lost: delivery.total_lost,
            fresh_loss: true,
            round: false,
            app_limited: delivery.rate.is_some_and(|rate| rate.app_limited),
            probing: false,
            mss: window.mss(),
        }
    }

    /// A round begins now; it ends when what leaves from now on is acknowledged.
    fn begin_round(&mut self, delivered: u64) {
        self.round_ends = delivered;
    }

    /// Takes an ACK's round trip, and begins, goes on or ends probing it (§4.1.2, §4.3.5).
    pub(crate) fn on_round_trip(
        &mut self,
        window: &mut Window,
        sample: &AckSample,
        delivery: &Delivery,
    ) -> Probing {
        let expired = self.trips.on_ack(sample, delivery.delayed);
        if expired && !self.resumed && !self.is_probing_rtt() {
            self.trips.probe = Some(Probe::default());
            self.repair.save_window(window, true);
        }
        let probing = self.go_on_probing(window, sample, delivery);
        if delivery.rate.is_some_and(|rate| rate.delivered > 0) {
            self.resumed = false;
        }
        probing
    }

    fn go_on_probing(
        &mut self,
        window: &mut Window,
        sample: &AckSample,
        delivery: &Delivery,
    ) -> Probing {
        let Some(probe) = &mut self.trips.probe else { return Probing::No };
        // With this few in flight the samples do not show the bandwidth.
        window.ignore_rates();
        let in_flight = sample.in_flight.div_ceil(window.mss());
        if probe.on_ack(sample.now, in_flight, self.round_started) {
            self.round_ends = delivery.total;
        }
        if probe.has_lasted_a_round() { self.end_probing(window, sample.now) } else { Probing::Yes }
    }

    /// Ends probing if it is time.
    fn end_probing(&mut self, window: &mut Window, now: Instant) -> Probing {
        if !self.trips.end_probe(now) {
            return Probing::Yes;
        }
        self.repair.restore(window);
        Probing::Over
    }

    /// Sending goes on with nothing in flight, and too little to send.
    pub(crate) fn on_restart(&mut self, window: &mut Window, now: Instant) -> Probing {
        if !self.is_probing_rtt() {
            return Probing::No;
        }
        self.end_probing(window, now)
    }

    /// Sets pacing rate and window from the model (§4.2).
    pub(crate) fn set_rate_and_window(
        &mut self,
        window: &mut Window,
        ack: MeteredAck<'_>,
        gains: Gains,
    ) {
        let MeteredAck { sample, .. } = ack;
        let gains = if self.is_probing_rtt() { Gains::PROBE_RTT } else { gains };
        if !self.rtt_known && !sample.srtt.is_zero() {
            self.set_first_rate(window, Some(sample.srtt));
        }
        self.set_rate(window, gains.pacing);
        self.set_window(window, ack, gains.window);
    }

    /// Paces at `gain` times the bandwidth; until the path is full never slower than before.
    pub(crate) fn set_rate(&self, window: &mut Window, gain: u64) {
        let bw = self.bandwidth();
        let rate = bbr::pacing_rate(bw, window.mss(), gain);
        let now = window.pacing_rate().map_or(0, bytes_per_second);
        if bw > 0 && (self.full || rate > now) {
            pace(window, rate);
        }
    }

    /// Before anything was delivered: the window over the round trip, with the gain of start-up.
    fn set_first_rate(&mut self, window: &mut Window, srtt: Option<Duration>) {
        self.rtt_known = srtt.is_some();
        let us = srtt.map_or(NOMINAL_RTT_US, |srtt| srtt.as_micros().max(1));
        let bw = bbr::bandwidth(window.cwnd() / window.mss(), us);
        pace(window, bbr::pacing_rate(bw, window.mss(), bbr::HIGH_GAIN));
    }

    /// Segments in flight that fill the path, times `gain`, with what end systems hold.
    pub(crate) fn inflight(&self, window: &Window, gain: u64) -> u64 {
        self.quantized(window, self.bdp(self.max_bandwidth(), gain))
    }

    fn bdp(&self, bw: u64, gain: u64) -> u64 {
        self.min_rtt_us().map_or(INITIAL_WINDOW, |us| bbr::bdp(bw, us, gain))
    }

    fn quantized(&self, window: &Window, segments: u64) -> u64 {
        let rate = window.pacing_rate().map_or(0, bytes_per_second);
        let batch = bbr::budgeted_batch(rate, window.mss());
        bbr::quantized(segments, batch) + if self.probing_up { 2 } else { 0 }
    }

    /// Returns the segments that will be in the network when the pacer releases the next batch,
    /// which counts if it is to raise the number in flight. `in_flight` are now.
    pub(crate) fn in_network(
        &self,
        window: &Window,
        ack: MeteredAck<'_>,
        in_flight: u64,
        raising: bool,
    ) -> u64 {
        let MeteredAck { sample, delivery } = ack;
        let wait = crate::ack::micros(sample.now, delivery.next_release.max(sample.now));
        let delivered = (self.bandwidth().saturating_mul(wait)) >> bbr::BW_SCALE;
        let rate = window.pacing_rate().map_or(0, bytes_per_second);
        let batch = if raising { bbr::budgeted_batch(rate, window.mss()) } else { 0 };
        (in_flight + batch).saturating_sub(delivered)
    }

    /// Keeps the window at congestion, to return to it later, unless it is already reduced.
    pub(crate) fn on_congestion(&mut self, window: &Window) {
        let probing = self.is_probing_rtt();
        self.repair.save_window(window, probing);
    }

    /// Forgets the policer, because the repair was needless.
    pub(crate) fn on_undo(&mut self) {
        self.policer = Policer::default();
    }
}

fn bytes_per_second(rate: Rate) -> u64 {
    rate.as_bps() / 8
}

fn pace(window: &mut Window, bytes_per_second: u64) {
    window.set_pacing_rate(Some(Rate::from_bps(bytes_per_second.max(1).saturating_mul(8))));
}
