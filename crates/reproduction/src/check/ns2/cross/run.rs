//! One run: flow and cross traffic on links of their own to a common bottleneck.

use link::{LinkConfig, QueueLimit};
use netsim::{
    AppId, Body, BulkSpec, BulkTransfer, Cbr, CbrSpec, Dumbbell, Duplex, HostId, LinkId, Observer,
    SimPacket, Simulation, SimulationConfig, Step, WireSizes, stream,
};
use tcp::{Connection, Scheme};
use units::{Duration, Instant, Rate};

/// Payload of a packet of the flow; a whole packet of the cross traffic.
const PACKET: u32 = 1000;
/// Side links, too fast to matter.
const SIDE: Rate = Rate::from_mbps(1000);
/// Duration of a run.
const LENGTH: Duration = Duration::from_secs(50);
/// Time from the flow's start to the first look at ns-2, and between looks.
const FIRST_LOOK: Duration = Duration::from_micros(100);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The parameters in a row.
#[derive(Clone, Debug)]
pub(super) struct SetUp {
    pub(super) scheme: String,
    /// Bytes of header on top of a packet of the flow.
    pub(super) overhead: u32,
    pub(super) cross_bps: u64,
    pub(super) rate_bps: u64,
    pub(super) round_trip_us: u64,
    /// Packets with the one in service.
    pub(super) queue: u32,
    /// The cross traffic's intervals are.
    pub(super) random: bool,
}

/// The measurements of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) throughput_mbps: f64,
    /// Packets of the flow that the bottleneck dropped, of those sent.
    pub(super) loss: f64,
    pub(super) drops: u64,
    pub(super) timeouts: u64,
    /// Segments, at the looks.
    pub(super) max_cwnd: f64,
    pub(super) start_up: MeasuredStartUp,
}

/// Measurements up to the first look that found the flow in congestion avoidance; infinite if none
/// did. As in the reference, losses are those known two looks before.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredStartUp {
    /// Seconds since the first packet was sent.
    pub(super) time: f64,
    pub(super) throughput_mbps: f64,
    pub(super) loss: f64,
}

impl Default for MeasuredStartUp {
    fn default() -> Self {
        Self { time: f64::INFINITY, throughput_mbps: f64::INFINITY, loss: f64::INFINITY }
    }
}

/// Returns the scheme that stands for a variant of ns-2, and the bytes of header on top of a
/// packet; `None` for one that headstart lacks. ns-2's Vegas simulates neither handshake nor
/// headers.
pub(in super::super) fn scheme_of(variant: &str) -> Option<(&'static str, u32)> {
    Some(match variant {
        "tahoe" => ("tahoe+profile=ns2", 40),
        "reno" => ("reno+profile=ns2", 40),
        "newreno" => ("newreno+profile=ns2", 40),
        "newreno_hoe" => ("hoe+profile=ns2", 40),
        "sack1" => ("sack+profile=ns2", 40),
        "vegas" => ("vegas+profile=ns2-one-way+second=2", 0),
        _ => return None,
    })
}

/// Simulates the set-up and measures it.
pub(super) fn run(set_up: &SetUp, seed: u64) -> Result<Measured, String> {
    let mut run = Run::new(set_up, seed)?;
    let mut measured = run.measure_flow();
    run.simulation.run_until(Instant::ZERO + LENGTH).map_err(|e| e.to_string())?;
    let end = run.take_look();
    measured.throughput_mbps = mbps(end.acked, LENGTH);
    measured.loss = share(end.drops, end.sent);
    measured.drops = end.drops;
    measured.timeouts = end.timeouts;
    Ok(measured)
}

struct Run {
    simulation: Simulation,
    flow: AppId,
    sender: HostId,
}

/// The state of the flow at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct FlowSnapshot {
    /// Congestion window, bytes.
    cwnd: u64,
    ssthresh: u64,
    acked: u64,
    sent: u64,
    drops: u64,
    timeouts: u64,
}

impl FlowSnapshot {
    /// Returns true if congestion avoidance has grown the window since the look `before`, or slow
    /// start was left by lowering the threshold without a loss.
    fn is_in_avoidance(&self, before: &Self) -> bool {
        let was_above = before.cwnd > 0 && before.cwnd >= before.ssthresh;
        let has_grown = was_above && self.cwnd > before.cwnd && self.ssthresh == before.ssthresh;
        let was_left = self.cwnd >= self.ssthresh && self.ssthresh < before.ssthresh;
        has_grown || (was_left && self.drops == 0)
    }
}

impl Run {
    /// Builds the simulation: the measured flow, and the cross traffic beside it.
    fn new(set_up: &SetUp, seed: u64) -> Result<Self, String> {
        let core = |queue| {
            let delay = Duration::from_nanos(set_up.round_trip_us * 500);
            LinkConfig::new(Rate::from_bps(set_up.rate_bps), delay, queue)
                .map_err(|e| e.to_string())
        };
        let side = LinkConfig::new(SIDE, Duration::ZERO, QueueLimit::Unlimited);
        let bottleneck = Duplex {
            forward: core(QueueLimit::Packets(set_up.queue))?,
            reverse: core(QueueLimit::Unlimited)?,
        };
        let dumbbell = Dumbbell::new(2, side.map_err(|e| e.to_string())?, bottleneck);
        // No window of the receiver's in the way.
        let scheme = Scheme::parse(&format!("{}+rwnd=1000MB", set_up.scheme));
        let scheme = scheme.map_err(|e| e.to_string())?;
        let wire_sizes = WireSizes {
            data_overhead: Some(set_up.overhead),
            control_bytes: Some(40),
            ..WireSizes::default()
        };
        let mut simulation =
            Simulation::new(dumbbell.topology, SimulationConfig { seed, wire_sizes });
        simulation.observe(Drops { link: dumbbell.bottleneck.forward, count: 0 });
        let [sender, source] = [dumbbell.sources[0], dumbbell.sources[1]];
        let flow = BulkTransfer::new(BulkSpec {
            from: sender,
            to: dumbbell.sinks[0],
            bytes: None,
            scheme: scheme.clone(),
            receiver: scheme,
            close: false,
        });
        if set_up.cross_bps > 0 {
            let cross = Cbr::new(CbrSpec {
                from: source,
                to: dumbbell.sinks[1],
                wire_bytes: PACKET,
                interval: Rate::from_bps(set_up.cross_bps).transmit_time(u64::from(PACKET)),
                count: None,
            });
            simulation.add_background(
                Instant::ZERO,
                match set_up.random {
                    true => cross.with_jitter(stream(seed, "cross")),
                    false => cross,
                },
            );
        }
        let flow = simulation.add_background(Instant::ZERO, flow);
        Ok(Self { simulation, flow, sender })
    }

    /// Looks at the flow from its start to the end.
    fn measure_flow(&mut self) -> Measured {
        let mut measured = Measured::default();
        let mut before = [FlowSnapshot::default(); 2];
        let mut at = Instant::ZERO + FIRST_LOOK;
        while at < Instant::ZERO + LENGTH && self.simulation.run_until(at).is_ok() {
            let now = self.take_look();
            measured.max_cwnd = measured.max_cwnd.max(now.cwnd as f64 / f64::from(PACKET));
            if measured.start_up.time.is_infinite() && now.is_in_avoidance(&before[0]) {
                let time = at - Instant::ZERO;
                measured.start_up = MeasuredStartUp {
                    time: time.as_secs_f64(),
                    throughput_mbps: mbps(now.acked, time),
                    loss: share(before[1].drops, now.sent),
                };
            }
            before = [now, before[0]];
            at += LOOK_EVERY;
        }
        measured
    }

    /// Returns the state of the flow now.
    fn take_look(&self) -> FlowSnapshot {
        let host = self.simulation.host(self.sender);
        let transfer: Option<&BulkTransfer> = self.simulation.application(self.flow);
        let conn = transfer.and_then(BulkTransfer::sender);
        let window = conn.and_then(|conn| host.path_of(conn)).map(|path| path.window());
        let stats = conn.and_then(|conn| host.connection(conn)).map(Connection::stats);
        FlowSnapshot {
            cwnd: window.map_or(0, |w| w.cwnd()),
            ssthresh: window.map_or(u64::MAX, |w| w.ssthresh()),
            acked: transfer.map_or(0, BulkTransfer::acked),
            sent: stats.map_or(0, |s| s.data_segments_sent),
            drops: self.simulation.observer::<Drops>().map_or(0, |drops| drops.count),
            timeouts: stats.map_or(0, |s| s.timeouts),
        }
    }
}

/// Counts segments that a link drops.
struct Drops {
    link: LinkId,
    count: u64,
}

impl Observer for Drops {
    fn on_packet(&mut self, _: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let segment = matches!(packet.body, Body::Segment(_));
        if link == self.link && segment && matches!(step, Step::Drop { .. }) {
            self.count += 1;
        }
    }
}

fn mbps(bytes: u64, time: Duration) -> f64 {
    bytes as f64 * 8e-6 / time.as_secs_f64()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
