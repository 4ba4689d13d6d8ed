//! One case: two bursts over the reference's link, and the scheme that stands for an agent.

use link::{LinkConfig, QueueLimit};
use netsim::{
    AppContext, Application, Dumbbell, Duplex, HostId, Simulation, SimulationConfig, WireSizes,
};
use tcp::{ConnId, Event, EventKind, Scheme, Stats};
use units::{Duration, Instant, Rate};

/// Payload of a packet.
const PACKET: u64 = 1000;
/// Time from the last ACK of the first burst to the second burst.
const IDLE: Duration = Duration::from_secs(30);
/// Time that exceeds any case.
const LIMIT: Duration = Duration::from_secs(36_000);
/// Phase of the clock of a simulation's first agent within a tick, in thousandths of one: the first
/// draw of ns-2's default generator.
const PHASE: u64 = 556;
/// The window limit and first threshold, packets.
const WINDOW: u32 = 100;
const PORT: u16 = 9;

/// The set-up of a run.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// ns-2's class of sender.
    pub(super) class: String,
    /// `slow_start_restart_`.
    pub(super) slow_start_restart: bool,
    /// Bottleneck.
    pub(super) rate: Rate,
    /// Bottleneck, one way.
    pub(super) delay: Duration,
    /// Packets the bottleneck's queue holds, the one in service included.
    pub(super) queue: u32,
    /// Granularity of the sender's clock.
    pub(super) tick: Duration,
    /// ns-2's class of receiver.
    pub(super) sink: String,
    /// `rbp_scale_`.
    pub(super) scale: f64,
    /// `rbp_rate_algorithm_`: 1 is Vegas's rate, 2 the window.
    pub(super) algorithm: u32,
    /// Packets of the two bursts.
    pub(super) packets: [u64; 2],
}

/// The measurements of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Time from the data's write to TCP until its last ACK reaches the sender; `None` if it never
    /// did.
    pub(super) bursts: [Option<Duration>; 2],
    /// Retransmission timeouts, including idle ones where they have the cost of others.
    pub(super) timeouts: u64,
    /// Packets retransmitted.
    pub(super) rexmit: u64,
}

/// Returns the scheme of a sender and its receiver; `None` for those that headstart lacks.
pub(super) fn scheme_of(setup: &Setup) -> Option<String> {
    let restart = if setup.slow_start_restart { "ssr" } else { "nssr" };
    let paced = format!("rbp_scale={:.3}", setup.scale);
    let (base, pacing) = match (setup.class.as_str(), setup.algorithm) {
        ("Reno", _) => (format!("reno-{restart}"), String::new()),
        ("Vegas", _) => (format!("vegas-{restart}"), String::new()),
        ("Reno/RBP", _) => ("rbp".to_owned(), format!("+{paced}")),
        ("Vegas/RBP", 1) => ("rbp-vegas".to_owned(), format!("+{paced}+rbp_rate=measured")),
        ("Vegas/RBP", 2) => ("rbp-vegas".to_owned(), format!("+{paced}+rbp_rate=window")),
        _ => return None,
    };
    let ack = match setup.sink.as_str() {
        "TCPSink" => "all",
        "TCPSink/DelAck" => "100ms",
        _ => return None,
    };
    let tick = setup.tick.as_nanos();
    let phase = u128::from(tick) * u128::from(PHASE) / 1000;
    Some(format!(
        "{base}+profile=ns2-one-way+window={WINDOW}+ssthresh={WINDOW}+tick={tick}ns+phase={phase}ns\
         +ack={ack}{pacing}"
    ))
}

/// Runs one case: sources and sinks on 10 Mbit/s, 1 ms links.
///
/// # Errors
/// If the case is impossible.
pub(super) fn run_case(setup: &Setup, scheme: &str) -> Result<Outcome, String> {
    let scheme = Scheme::parse(scheme).map_err(|e| e.to_string())?;
    let link = |rate, delay, queue| LinkConfig::new(rate, delay, queue).map_err(|e| e.to_string());
    let side = link(Rate::from_mbps(10), Duration::from_millis(1), QueueLimit::Unlimited)?;
    let bottleneck = Duplex {
        forward: link(setup.rate, setup.delay, QueueLimit::Packets(setup.queue))?,
        reverse: link(setup.rate, setup.delay, QueueLimit::Unlimited)?,
    };
    let bell = Dumbbell::new(1, side, bottleneck);
    let (from, to) = (bell.sources[0], bell.sinks[0]);
    // ns-2's Vegas agents send all their packets without headers, others the first.
    let overhead = if setup.class.starts_with("Vegas") { 0 } else { 40 };
    let wire_sizes = WireSizes {
        data_overhead: Some(overhead),
        syn_data_overhead: Some(0),
        control_bytes: Some(40),
    };
    let config = SimulationConfig { wire_sizes, ..SimulationConfig::default() };
    let mut simulation = Simulation::new(bell.topology, config);
    let bytes = setup.packets.map(|packets| packets * PACKET);
    let id = simulation.add(Instant::ZERO, TwoBursts::new(from, to, scheme, bytes));
    // A burst that never ends has no time to show.
    let _ended = simulation.run(Instant::ZERO + LIMIT).is_ok();
    let Some(app) = simulation.application::<TwoBursts>(id) else {
        return Ok(Outcome::default());
    };
    let connection = app.conn.and_then(|conn| simulation.host(from).connection(conn));
    let stats = connection.map_or(Stats::default(), |c| c.stats());
    Ok(Outcome {
        bursts: app.times,
        timeouts: stats.timeouts,
        rexmit: stats.retransmitted_segments,
    })
}

/// A burst, a pause after its last ACK, another burst.
struct TwoBursts {
    from: HostId,
    to: HostId,
    scheme: Scheme,
    bytes: [u64; 2],
    conn: Option<ConnId>,
    started_at: Instant,
    times: [Option<Duration>; 2],
}

impl TwoBursts {
    fn new(from: HostId, to: HostId, scheme: Scheme, bytes: [u64; 2]) -> Self {
        let (started_at, times) = (Instant::ZERO, [None; 2]);
        Self { from, to, scheme, bytes, conn: None, started_at, times }
    }

    fn begin(&mut self, context: &mut AppContext<'_>, bytes: u64) {
        self.started_at = context.now();
        if let Some(conn) = self.conn {
            context.write(self.from, conn, bytes);
        }
    }
}

impl Application for TwoBursts {
    fn start(&mut self, context: &mut AppContext<'_>) {
        context.listen(self.to, PORT, self.scheme.clone());
        self.conn = Some(context.connect(self.from, self.to, PORT, &self.scheme));
        self.begin(context, self.bytes[0]);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _: u32) {
        self.begin(context, self.bytes[1]);
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        let EventKind::Acked { total } = event.kind else { return };
        if host != self.from {
            return;
        }
        let time = Some(context.now().saturating_since(self.started_at));
        let [first, second] = self.bytes;
        if total == first && self.times[0].is_none() {
            self.times[0] = time;
            context.set_timer(context.now() + IDLE, 0);
        } else if total == first + second {
            self.times[1] = time;
            context.finish();
        }
    }

    fn describe(&self) -> String {
        format!("two bursts: {:?}", self.times)
    }
}
