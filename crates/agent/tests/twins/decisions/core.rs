//! The twin in Rust: `warm` with its memory of paths, called as a path calls it.

use super::event::{Event, Kind, NO_THRESHOLD, Outcome, UNKNOWN};
use memory::{AnsweredPeer, ProvenPath, ReservationTerms, Scope};
use policy::ack::{AckSample, RttEstimator};
use policy::config::ConnectionConfig;
use policy::startup::warm::{ColdOpening, Underneath, WarmOptions};
use policy::startup::{
    HostAccess, KernelEvents, LossEvent, OpenedBy, Overlay, PendingData, SharedHostState,
    SharedSending, Situation, Warm,
};
use policy::window::{Cause, PacingOrder, Window};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant, Rate};

/// Bits of `struct settings` (`contract.h`).
pub(super) const PACE_COLD: u64 = 4;
pub(super) const END_EPOCHS: u64 = 16;
pub(super) const WIDE_COLD: u64 = 512;

/// A host and its connections.
#[derive(Default)]
pub(super) struct Core {
    host: SharedHostState,
    options: Option<WarmOptions>,
    connections: HashMap<u64, Connection>,
}

struct Connection {
    warm: Warm,
    window: Window,
    /// SYNs that were repeated.
    syns_repeated: u64,
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

fn micros(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn bytes(segments: u64, mss: u64) -> u64 {
    if segments >= NO_THRESHOLD { u64::MAX } else { segments * mss }
}

fn segments(bytes: u64, mss: u64) -> u64 {
    if bytes == u64::MAX { NO_THRESHOLD } else { bytes / mss }
}

fn options_of(e: &Event) -> WarmOptions {
    let terms = ReservationTerms {
        max_age: micros(e.max_age_us),
        half_life_rtts: e.half_life_rtts as u32,
        cap: e.cap as u32,
    };
    let cold = match (e.flags & PACE_COLD, e.flags & WIDE_COLD) {
        (0, _) => ColdOpening::Stock,
        (_, 0) => ColdOpening::Paced,
        _ => ColdOpening::Wide,
    };
    WarmOptions {
        terms,
        cold,
        uses_size: true,
        ends_epochs: e.flags & END_EPOCHS != 0,
        paces_together: false,
        jumps_by_dispersion: false,
        wide_among: 32,
        timer_gaps: 0,
        opens_early: false,
    }
}

/// Round trips as the event has them.
fn round_trips(e: &Event) -> RttEstimator {
    let mut rtt = RttEstimator::new(ConnectionConfig::default().rto);
    if e.min_rtt_us > 0 {
        rtt.on_sample(Instant::ZERO, at(e.min_rtt_us), 0, 0);
    }
    rtt.restore(micros(e.srtt_us), Duration::ZERO);
    rtt
}

impl Core {
    /// Outcomes of a sequence of events.
    pub(super) fn play_all(events: &[Event]) -> Vec<Outcome> {
        let mut core = Self::default();
        events.iter().map(|event| core.play(event)).collect()
    }

    pub(super) fn play(&mut self, e: &Event) -> Outcome {
        let (address, key) = (IpAddr::from(Ipv4Addr::from(e.address as u32)), e.connection);
        match e.what() {
            Kind::Reset => {
                *self = Self { options: Some(options_of(e)), ..Self::default() };
                return Outcome::default();
            }
            Kind::Handshake => {
                let host = self.host.clone();
                host.borrow_mut().pool.begin_handshake(at(e.now_us), address);
                let options = self.options.expect("a host is set up before connections come");
                let connection = Connection::new(HostAccess::new(host, address), options, e);
                self.connections.insert(key, connection);
            }
            _ => self.connection(key).play(e),
        }
        let mut outcome = self.memory(e, address);
        match e.what() {
            Kind::Handshake => {}
            Kind::Close => {
                let closed = self.connections.remove(&key);
                closed.iter().for_each(|connection| connection.note_history(&mut outcome));
            }
            _ => self.connection(key).note_sending(&mut outcome, e.mss),
        }
        outcome
    }

    fn connection(&mut self, key: u64) -> &mut Connection {
        self.connections.get_mut(&key).expect("events of a connection follow its SYN")
    }

    fn memory(&self, e: &Event, address: IpAddr) -> Outcome {
        let mut outcome =
            Outcome { line_learnt_us: UNKNOWN, network_learnt_us: UNKNOWN, ..Outcome::default() };
        let pool = &mut self.host.borrow_mut().pool;
        let peer = pool.answer(at(e.now_us), address);
        if let Some(line) = pool.path(peer) {
            outcome.note_line(&line, e.mss as u32);
        }
        if let Some(network) = pool.path(AnsweredPeer { by: Some(Scope::Network), ..peer }) {
            outcome.note_network(&network, e.mss as u32);
        }
        outcome
    }
}

impl Outcome {
    fn note_line(&mut self, path: &ProvenPath, mss: u32) {
        self.line_learnt_us = path.learnt.as_nanos() / 1000;
        self.line_window = path.window.into();
        self.line_ssthresh = path.ssthresh.into();
        self.line_srtt_us = path.srtt_us.into();
        self.line_min_rtt_us = path.min_rtt_us.into();
        self.line_rate = path.rate;
        self.line_reached = path.reached_window(mss).into();
        self.line_has_shown_no_width = path.has_shown_no_width().into();
    }

    fn note_network(&mut self, path: &ProvenPath, mss: u32) {
        self.network_learnt_us = path.learnt.as_nanos() / 1000;
        self.network_window = path.window.into();
        self.network_ssthresh = path.ssthresh.into();
        self.network_srtt_us = path.srtt_us.into();
        self.network_min_rtt_us = path.min_rtt_us.into();
        self.network_rate = path.rate;
        self.network_reached = path.reached_window(mss).into();
        self.network_has_shown_no_width = path.has_shown_no_width().into();
    }
}

impl Connection {
    fn new(hooked: HostAccess, options: WarmOptions, e: &Event) -> Self {
        let underneath = Underneath { models: false, is_paced: e.is_paced != 0 };
        let mut warm = Warm::new(options, underneath);
        warm.attach_host(hooked);
        let window = Window::new(e.mss, e.cwnd * e.mss, u64::MAX, false);
        Self { warm, window, syns_repeated: 0 }
    }

    fn note_sending(&self, outcome: &mut Outcome, mss: u64) {
        let PacingOrder { is_on, most, fixed } = self.window.pacing_order().unwrap_or_default();
        let rate = |rate: Option<Rate>| rate.map_or(0, |rate| rate.as_bps() / 8);
        outcome.cwnd = segments(self.window.cwnd(), mss);
        outcome.ssthresh = segments(self.window.ssthresh(), mss);
        outcome.is_paced = is_on.into();
        (outcome.most, outcome.fixed) = (rate(most), rate(fixed));
        outcome.phase = self.warm.phase() as u64;
        self.note_history(outcome);
    }

    fn note_history(&self, outcome: &mut Outcome) {
        let history = self.warm.history();
        outcome.first = history.first_flight.into();
        outcome.has_fallen_back = history.has_fallen_back.into();
        outcome.has_measured = history.has_measured.into();
        outcome.has_restarted = history.has_restarted.into();
    }

    fn play(&mut self, e: &Event) {
        self.window.set_now(at(e.now_us));
        self.window.set_cwnd(e.cwnd * e.mss, Cause::Avoidance);
        self.window.set_ssthresh(bytes(e.ssthresh, e.mss), Cause::Avoidance);
        if e.what() == Kind::Open {
            self.syns_repeated = e.retransmitted;
        }
        let rtt = round_trips(e);
        let at = Situation {
            now: at(e.now_us),
            rtt: &rtt,
            sent_total: e.sent,
            // Only the report to a site needs it, and this host has no site.
            segments_sent: e.data_segments,
            segments_resent: e.retransmitted - self.syns_repeated,
            acked_total: e.acked,
            max_in_flight: e.most_outstanding * e.mss,
            last_departure: at(e.departure_us),
            in_startup: true,
        };
        self.apply_event(e, &at);
    }

    fn apply_event(&mut self, e: &Event, at: &Situation<'_>) {
        let Self { warm, window, .. } = self;
        match e.what() {
            Kind::Reset | Kind::Handshake | Kind::Retransmission => {}
            Kind::Open => {
                let by = OpenedBy::Handshake { lossless: e.retransmitted == 0 };
                warm.on_open(window, at, by);
            }
            Kind::Start => {
                let bytes = e.written - e.acked;
                let admitted = u64::MAX;
                warm.on_transfer_start(
                    window,
                    at,
                    PendingData { bytes, admitted, announced: e.announced },
                );
            }
            Kind::Sending => {
                if warm.needs().watches_sending {
                    warm.before_sending(window, at, e.written - e.acked);
                }
            }
            Kind::Arrival => {
                let sample = sample(e, at);
                warm.observe(window, &sample);
                window.set_cwnd(e.stock * e.mss, Cause::SlowStart);
                warm.on_acked(window, at, &sample);
            }
            Kind::Repair => warm.observe(window, &sample(e, at)),
            Kind::Loss => {
                warm.on_loss_or_mark(window, at);
                window.set_ssthresh(e.stock * e.mss, Cause::Loss);
                warm.on_loss(window, LossEvent::Reduced);
            }
            Kind::Idle => warm.on_idle(window, at),
            Kind::Close => {
                // Its FIN's ACK, of which no data is.
                warm.observe(window, &sample(e, at));
                warm.on_close(window, at, None);
            }
        }
    }
}

fn sample(e: &Event, at: &Situation<'_>) -> AckSample {
    AckSample {
        rtt: Some(micros(e.round_trip_us)),
        srtt: micros(e.srtt_us),
        min_rtt: micros(e.min_rtt_us),
        sent_total: e.sent,
        acked_total: e.acked,
        ..AckSample::of(at.now, e.delivered * e.mss)
    }
}
