//! Hops that need no event of their own do not change results. An observer that does nothing makes
//! every link take its turn. So the same run with and without one must end alike. Every delivery
//! has its instant and its order, and every link its counters and its queue, at any cut of the run.

use link::{LinkConfig, LinkCounters, Occupancy, QueueLimit};
use netsim::{
    AppContext, Application, BulkSpec, BulkTransfer, Datagram, Dumbbell, Duplex, FlowRecord,
    HostId, LinkId, Observer, SimPacket, Simulation, SimulationConfig, Step, Topology,
};
use proptest::prelude::*;
use tcp::Scheme;
use units::{Duration, Instant, Rate};

/// An observer without an action; its presence is enough.
struct Witness;

impl Observer for Witness {
    fn on_packet(&mut self, _: Instant, _: LinkId, _: Step, _: &SimPacket) {}
}

/// A datagram.
#[derive(Clone, Copy, Debug)]
struct Planned {
    from: u32,
    to: u32,
    bytes: u32,
    /// Send time, microseconds.
    at: u64,
}

/// The delivery of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrived {
    at: Instant,
    host: HostId,
    tag: u64,
}

/// Sends datagrams and notes their deliveries.
struct Traffic {
    plan: Vec<Planned>,
    log: Vec<Arrived>,
}

impl Application for Traffic {
    fn start(&mut self, context: &mut AppContext<'_>) {
        for (n, planned) in self.plan.iter().enumerate() {
            context.set_timer(Instant::from_nanos(planned.at * 1000), n as u32);
        }
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, n: u32) {
        let Planned { from, to, bytes, .. } = self.plan[n as usize];
        context.send_datagram(HostId(from), HostId(to), bytes, u64::from(n));
    }

    fn on_datagram(&mut self, context: &mut AppContext<'_>, host: HostId, datagram: Datagram) {
        self.log.push(Arrived { at: context.now(), host, tag: datagram.tag });
        // Every third is answered, so that later events depend on earlier ones.
        let Planned { from, bytes, .. } = self.plan[datagram.tag as usize];
        if datagram.tag.is_multiple_of(3) && host.0 != from {
            context.send_datagram(host, HostId(from), bytes, datagram.tag);
        }
    }

    fn describe(&self) -> String {
        "traffic".to_owned()
    }
}

const HOSTS: u32 = 6;

#[derive(Clone, Copy, Debug)]
struct Wire {
    mbps: u64,
    delay_us: u64,
    /// True if the queue is short.
    short: bool,
    /// True if packets get lost.
    lossy: bool,
}

impl Wire {
    fn config(self) -> LinkConfig {
        let queue = if self.short { QueueLimit::Packets(4) } else { QueueLimit::Unlimited };
        let delay = Duration::from_micros(self.delay_us);
        let config = LinkConfig::new(Rate::from_mbps(self.mbps), delay, queue).unwrap();
        if self.lossy { config.with_loss(0.1).unwrap() } else { config }
    }
}

/// Returns three routers in a row, two hosts at each; no two packets need have different delays.
fn chain(wires: &[Wire]) -> Topology {
    let mut topology = Topology::new();
    let mut next = wires.iter().cycle().copied();
    let mut join = |topology: &mut Topology, a, b| {
        topology.add_link("there", a, b, next.next().unwrap().config());
        topology.add_link("back", b, a, next.next().unwrap().config());
    };
    let routers: Vec<_> = (0..3).map(|_| topology.add_router()).collect();
    for pair in routers.windows(2) {
        join(&mut topology, pair[0], pair[1]);
    }
    for n in 0..HOSTS as usize {
        let host = topology.add_host("host");
        let node = topology.node(host);
        join(&mut topology, node, routers[n / 2]);
    }
    topology
}

/// Everything that is visible at a cut.
#[derive(Debug, PartialEq)]
struct Seen {
    now: Instant,
    log: Vec<Arrived>,
    links: Vec<(LinkCounters, Occupancy)>,
    under_way: usize,
}

fn run(wires: &[Wire], plan: &[Planned], cuts: &[u64], witnessed: bool) -> Vec<Seen> {
    let mut sim = Simulation::new(chain(wires), SimulationConfig::default());
    if witnessed {
        sim.observe(Witness);
    }
    let traffic = Traffic { plan: plan.to_vec(), log: Vec::new() };
    let id = sim.add_background(Instant::ZERO, traffic);
    let mut seen = Vec::new();
    for cut in cuts {
        sim.run_until(Instant::from_nanos(cut * 1000)).unwrap();
        let links = 0..sim.topology().links().len() as u32;
        let links =
            links.map(LinkId).map(|id| (*sim.link(id).counters(), sim.occupancy(id))).collect();
        let log = sim.application::<Traffic>(id).unwrap().log.clone();
        seen.push(Seen { now: sim.now(), log, links, under_way: sim.packets_under_way() });
    }
    seen
}

fn wire() -> impl Strategy<Value = Wire> {
    // There are few values, so that arrivals coincide.
    let rate = prop::sample::select(vec![8u64, 80, 1_000]);
    let delay = prop::sample::select(vec![0u64, 100, 1_000]);
    let rare = || prop::bool::weighted(0.2);
    (rate, delay, rare(), rare()).prop_map(|(mbps, delay_us, short, lossy)| Wire {
        mbps,
        delay_us,
        short,
        lossy,
    })
}

fn planned() -> impl Strategy<Value = Planned> {
    let bytes = prop::sample::select(vec![40u32, 1_000]);
    (0..HOSTS, 0..HOSTS, bytes, 0u64..40).prop_map(|(from, to, bytes, step)| Planned {
        from,
        to,
        bytes,
        at: step * 100,
    })
}

proptest! {
    #[test]
    fn nothing_can_be_seen_of_it(
        wires in prop::collection::vec(wire(), 1..8),
        plan in prop::collection::vec(planned(), 1..80),
        cuts in prop::collection::btree_set((0u64..60).prop_map(|step| step * 100), 0..6),
    ) {
        let cuts: Vec<_> = cuts.into_iter().chain([10_000_000]).collect();
        let (with, without) = (run(&wires, &plan, &cuts, true), run(&wires, &plan, &cuts, false));
        for (with, without) in with.iter().zip(&without) {
            prop_assert_eq!(with, without);
        }
    }
}

/// Runs forty transfers of 300 kB over one queue: losses, timeouts and both directions of TCP.
fn transfers(scheme: &str, witnessed: bool) -> (Vec<FlowRecord>, Vec<LinkCounters>) {
    let wire = |mbps, ms, queue| {
        LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms), queue).unwrap()
    };
    let bottleneck = Duplex {
        forward: wire(20, 8, QueueLimit::Packets(30)),
        reverse: wire(20, 8, QueueLimit::Unlimited),
    };
    let bell = Dumbbell::new(10, wire(1_000, 1, QueueLimit::Unlimited), bottleneck);
    let scheme = Scheme::parse(scheme).unwrap();
    let mut sim = Simulation::new(bell.topology, SimulationConfig::default());
    if witnessed {
        sim.observe(Witness);
    }
    let apps: Vec<_> = (0..40usize)
        .map(|n| {
            let spec = BulkSpec {
                from: bell.sources[n % 10],
                to: bell.sinks[n % 10],
                bytes: Some(300_000),
                scheme: scheme.clone(),
                receiver: scheme.clone(),
                close: n % 2 == 0,
            };
            sim.add(Instant::from_nanos(7_000_000 * n as u64), BulkTransfer::new(spec))
        })
        .collect();
    sim.run(Instant::from_nanos(600_000_000_000)).unwrap();
    let flows = apps.iter().flat_map(|app| sim.application::<BulkTransfer>(*app).unwrap().flows());
    let links = (0..sim.topology().links().len() as u32).map(LinkId);
    (flows.copied().collect(), links.map(|id| *sim.link(id).counters()).collect())
}

#[test]
fn nor_does_tcp_see_any_of_it() {
    for scheme in ["sack+ack=all", "linux", "newreno+ack=100ms", "vegas"] {
        let (flows, links) = transfers(scheme, false);
        assert_eq!((flows.clone(), links), transfers(scheme, true), "{scheme}");
        assert!(
            flows.iter().any(|flow| flow.segments_retransmitted > 0),
            "{scheme}: no loss at all"
        );
    }
}
