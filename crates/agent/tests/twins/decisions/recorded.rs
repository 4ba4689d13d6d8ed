//! The events that `hs-cubic` sees in simulated transfers. A start-up notes them and passes them on
//! to `warm`.

use super::core::{PACE_COLD, WIDE_COLD};
use super::event::{Event, Kind, NO_THRESHOLD};
use link::{LinkConfig, QueueLimit};
use netsim::{
    BulkSpec, BulkTransfer, Dumbbell, Duplex, RoundPair, Rounds, RoundsSpec, Simulation,
    SimulationConfig,
};
use policy::ack::AckSample;
use policy::bbr::ModelledPath;
use policy::registry::Make;
use policy::startup::warm::WARM;
use policy::startup::{
    Beginning, HostAccess, KernelEvents, LossEvent, OpenedBy, PendingData, Phase, SendingNeeds,
    SharedSending, Situation, Start, StartUp, StartUpCapabilities, StartUpDescriptor,
};
use policy::window::Window;
use std::cell::RefCell;
use std::net::IpAddr;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

/// Events of all connections of a host.
#[derive(Default)]
struct Tape {
    events: Vec<Event>,
    connections: u64,
    /// An ACK, until it is known whether the window grows for it.
    acknowledged: Option<Event>,
}

impl Tape {
    fn note(&mut self, kind: Kind, event: Event) {
        self.settle();
        let now_us = event.now_us.max(self.events.last().map_or(0, |last| last.now_us));
        self.events.push(Event { kind: kind as u64, now_us, ..event });
    }

    /// The last ACK was one of a recovery, if it has let nothing grow.
    fn settle(&mut self) {
        if let Some(event) = self.acknowledged.take() {
            self.note(Kind::Repair, event);
        }
    }
}

/// `warm`, whose events are noted.
static RECORDED: StartUpDescriptor = StartUpDescriptor::new(
    "recorded",
    "notes the events that warm sees",
    "tests/twins/decisions",
    Make::Around(|setup, inner| match WARM.make {
        Make::Around(make) => Box::new(Recorder::new(make(setup, inner))),
        Make::Alone(_) => unreachable!("warm wraps another start-up"),
    }),
)
.with(WARM.parameters)
.implying(WARM.implies);

struct Recorder {
    warm: Box<dyn StartUp>,
    /// The state of the connection at the last event.
    last: Event,
    is_open: bool,
    syns_repeated: u64,
}

impl Recorder {
    fn new(warm: Box<dyn StartUp>) -> Self {
        Self { warm, last: Event::default(), is_open: false, syns_repeated: 0 }
    }

    /// Notes what happens between the opening and the end.
    fn note(&self, kind: Kind, event: Event) {
        if self.is_open {
            TAPE.with_borrow_mut(|tape| tape.note(kind, event));
        }
    }

    fn warm_start(&mut self) -> &mut dyn KernelEvents {
        self.warm.kernel_events().expect("warm follows the kernel's events")
    }

    fn shared(&mut self) -> &mut dyn SharedSending {
        self.warm_start().shared_sending().expect("warm shares its sending")
    }

    fn see(&mut self, window: &Window, at: &Situation<'_>) -> Event {
        let mss = window.mss();
        let data = at.sent_total.div_ceil(mss);
        self.last = Event {
            now_us: micros(at.now),
            mss,
            acked: at.acked_total,
            sent: at.sent_total,
            written: self.last.written.max(at.sent_total),
            outstanding: at.outstanding().div_ceil(mss),
            most_outstanding: at.max_in_flight.div_ceil(mss),
            srtt_us: at.srtt_us().into(),
            min_rtt_us: at.min_rtt_us().into(),
            data_segments: data + at.segments_resent,
            retransmitted: self.syns_repeated + at.segments_resent,
            departure_us: micros(at.last_departure),
            ..self.last
        };
        self.see_window(window)
    }

    fn see_window(&mut self, window: &Window) -> Event {
        self.last.cwnd = window.cwnd() / window.mss();
        self.last.ssthresh = match window.ssthresh() {
            u64::MAX => NO_THRESHOLD,
            bytes => bytes / window.mss(),
        };
        self.last
    }
}

fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}

impl StartUp for Recorder {
    fn capabilities(&self) -> StartUpCapabilities {
        self.warm.capabilities()
    }

    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        self.warm.begin(window, start)
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.warm.observe(window, sample);
        if !self.is_open {
            return;
        }
        let mss = window.mss();
        let outstanding = sample.sent_total.saturating_sub(sample.acked_total).div_ceil(mss);
        let event = Event {
            now_us: micros(sample.now),
            acked: sample.acked_total,
            sent: sample.sent_total,
            written: self.last.written.max(sample.sent_total),
            outstanding,
            delivered: sample.delivered.div_ceil(mss),
            round_trip_us: sample.rtt.map_or(u32::MAX.into(), |rtt| rtt.as_nanos() / 1000),
            ..self.see_window(window)
        };
        TAPE.with_borrow_mut(|tape| {
            tape.settle();
            tape.acknowledged = Some(event);
        });
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        self.warm.on_ack(window, sample)
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        if event == LossEvent::Reduced {
            self.note(Kind::Loss, Event { stock: window.ssthresh() / window.mss(), ..self.last });
        }
        self.warm.on_loss(window, event)
    }

    fn kernel_events(&mut self) -> Option<&mut dyn KernelEvents> {
        Some(self)
    }
}

impl KernelEvents for Recorder {
    fn attach_host(&mut self, hooked: HostAccess) {
        let IpAddr::V4(address) = hooked.pool(|_, to| to.address) else {
            panic!("hosts of this simulation have IPv4 addresses");
        };
        self.last.address = u32::from(address).into();
        self.last.connection = TAPE.with_borrow_mut(|tape| {
            tape.connections += 1;
            tape.connections
        });
        // The event has no time of its own: that of the last one.
        let event = Event { cwnd: 10, mss: 1448, ssthresh: NO_THRESHOLD, ..self.last };
        TAPE.with_borrow_mut(|tape| tape.note(Kind::Handshake, event));
        self.warm_start().attach_host(hooked);
    }

    fn on_open(&mut self, window: &mut Window, at: &Situation<'_>, by: OpenedBy) {
        self.is_open = true;
        self.syns_repeated = u64::from(by == OpenedBy::Handshake { lossless: false });
        let event = self.see(window, at);
        self.note(Kind::Open, event);
        self.warm_start().on_open(window, at, by);
    }

    fn on_transfer_start(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        transfer: PendingData,
    ) {
        let announced = transfer.announced;
        self.last.written = at.acked_total + transfer.bytes;
        let event = self.see(window, at);
        self.note(Kind::Start, Event { announced, ..event });
        self.warm_start().on_transfer_start(window, at, transfer);
    }

    fn on_idle(&mut self, window: &mut Window, at: &Situation<'_>) {
        let event = self.see(window, at);
        self.note(Kind::Idle, event);
        self.warm_start().on_idle(window, at);
    }

    fn on_acked(&mut self, window: &mut Window, at: &Situation<'_>, sample: &AckSample) {
        let before = TAPE.with_borrow_mut(|tape| tape.acknowledged.take());
        let Event { cwnd: stock, .. } = self.see(window, at);
        if let Some(Event { cwnd, ssthresh, delivered, .. }) = before {
            self.note(Kind::Arrival, Event { cwnd, ssthresh, delivered, stock, ..self.last });
        }
        self.warm_start().on_acked(window, at, sample);
    }

    fn on_loss_or_mark(&mut self, window: &mut Window, at: &Situation<'_>) {
        // Noted when the congestion control has set its threshold.
        self.see(window, at);
        self.warm_start().on_loss_or_mark(window, at);
    }

    fn on_close(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        modelled: Option<ModelledPath>,
    ) {
        let event = self.see(window, at);
        self.note(Kind::Close, Event { stock: event.cwnd, ..event });
        self.is_open = false;
        self.warm_start().on_close(window, at, modelled);
    }

    fn shared_sending(&mut self) -> Option<&mut dyn SharedSending> {
        Some(self)
    }
}

impl SharedSending for Recorder {
    fn needs(&self) -> SendingNeeds {
        // Each sending is noted: the kernel asks before each.
        SendingNeeds { watches_sending: true, shares_pace: false }
    }

    fn before_sending(&mut self, window: &mut Window, at: &Situation<'_>, unacked: u64) {
        self.last.written = at.acked_total + unacked;
        let event = self.see(window, at);
        self.note(Kind::Sending, event);
        let shared = self.shared();
        if shared.needs().watches_sending {
            shared.before_sending(window, at, unacked);
        }
    }

    fn book_departure(&mut self, now: Instant, bytes: u64) -> Option<Instant> {
        self.shared().book_departure(now, bytes)
    }

    fn on_departure(&mut self) {
        self.shared().on_departure();
    }

    fn on_all_acked(&mut self) {
        self.shared().on_all_acked();
    }
}

/// Events of a host that sends several files over one bottleneck. Then it sends more over
/// connections that stay open, with pauses.
pub(super) fn transfers(seed: u64) -> Vec<Event> {
    let reset = Event {
        kind: Kind::Reset as u64,
        flags: PACE_COLD | WIDE_COLD,
        cap: 256,
        max_age_us: 600_000_000,
        half_life_rtts: 3000,
        ..Event::default()
    };
    TAPE.set(Tape { events: vec![reset], ..Tape::default() });
    simulation(seed).run(Instant::ZERO + Duration::from_secs(120)).expect("it runs");
    TAPE.take().events
}

fn simulation(seed: u64) -> Simulation {
    let mbps = [1, 5, 20, 100, 400][seed as usize % 5];
    let one_way = Duration::from_millis([2, 10, 40, 150][seed as usize / 5 % 4]);
    let packets = [10, 40, 200][seed as usize % 3];
    let wire = LinkConfig::new(Rate::from_mbps(10_000), Duration::ZERO, QueueLimit::Unlimited);
    let bottleneck = LinkConfig::new(Rate::from_mbps(mbps), one_way, QueueLimit::Packets(packets));
    let dumbbell =
        Dumbbell::new(1, wire.expect("a link"), Duplex::symmetric(bottleneck.expect("a link")));
    let (from, to) = (dumbbell.sources[0], dumbbell.sinks[0]);
    let scheme = Scheme::parse("hs-cubic").expect("a scheme").with_start_up(&RECORDED);
    let receiver = Scheme::parse("linux").expect("a scheme");
    let config = SimulationConfig { seed, ..SimulationConfig::default() };
    let mut simulation = Simulation::new(dumbbell.topology, config);
    for n in 0..12 {
        let bytes = Some(20_000 << (n % 6));
        let (scheme, receiver) = (scheme.clone(), receiver.clone());
        let spec = BulkSpec { from, to, bytes, scheme, receiver, close: true };
        // Three at a time.
        let at = Instant::ZERO + Duration::from_secs(n / 3 * 4);
        simulation.add(at, BulkTransfer::new(spec));
    }
    let pair = RoundPair { from, to, scheme, receiver };
    let rounds = RoundsSpec {
        name: "rounds".to_owned(),
        pairs: vec![pair.clone(), pair],
        rounds: 6,
        bytes: Distribution::uniform(1000.0, 400_000.0).expect("a distribution"),
        start: Distribution::fixed(0.0).expect("a distribution"),
        first_start: None,
        idle: Duration::from_secs(3),
        every: Duration::ZERO,
    };
    simulation.add(Instant::ZERO + Duration::from_secs(20), Rounds::new(rounds));
    simulation
}
