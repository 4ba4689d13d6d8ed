//! BBR over a link of 20 Mbit/s and 80 ms. It fills it with a short queue, whether or not packets
//! are lost, and shares it. It lets the queue drain every ten seconds to measure the round trip.

use link::{LinkConfig, QueueLimit};
use netsim::{AppId, BulkSpec, BulkTransfer, Dumbbell, Duplex, Simulation, SimulationConfig};
use tcp::{ConnId, Scheme};
use units::{Duration, Instant, Rate};

/// Payload of a full segment with timestamps, and the part of the link's rate that carries it: 1448
/// of 1500 bytes.
const MSS: u64 = 1448;
const GOODPUT: u64 = 20_000_000 / 8 * 1448 / 1500;
/// Payload in flight when the path is just full: 80 ms of it.
const BDP: u64 = GOODPUT * 80 / 1000;

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A number of endless flows, started half a second apart.
struct World {
    sim: Simulation,
    bell: Dumbbell,
    flows: Vec<AppId>,
}

impl World {
    fn new(flows: usize, queue: u32, loss: f64) -> Self {
        let fast = Rate::from_mbps(1000);
        let near = LinkConfig::new(fast, Duration::ZERO, QueueLimit::Unlimited).unwrap();
        let limit = QueueLimit::Packets(queue);
        let far = LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(40), limit).unwrap();
        let far = far.with_loss(loss).unwrap();
        let bell = Dumbbell::new(flows, near, Duplex::symmetric(far));
        let config = SimulationConfig { seed: 5, ..SimulationConfig::default() };
        let mut sim = Simulation::new(bell.topology.clone(), config);
        let scheme = Scheme::parse("linux-bbr").unwrap();
        let flows = (0..flows)
            .map(|pair| {
                let (from, to) = (bell.sources[pair], bell.sinks[pair]);
                let (scheme, receiver) = (scheme.clone(), scheme.clone());
                let spec = BulkSpec { from, to, bytes: None, scheme, receiver, close: false };
                sim.add(at_ms(500 * pair as u64), BulkTransfer::new(spec))
            })
            .collect();
        Self { sim, bell, flows }
    }

    fn run_to(&mut self, ms: u64) {
        self.sim.run_until(at_ms(ms)).unwrap();
    }

    fn received(&self, flow: usize) -> u64 {
        self.sim.application::<BulkTransfer>(self.flows[flow]).unwrap().received()
    }

    fn in_flight(&self, flow: usize) -> u64 {
        let host = self.sim.host(self.bell.sources[flow]);
        host.path_of(ConnId(0)).unwrap().bytes_in_flight()
    }

    /// Returns the bytes that a flow receives from one time to another.
    fn goodput(&mut self, flow: usize, (from, to): (u64, u64)) -> u64 {
        self.run_to(from);
        let before = self.received(flow);
        self.run_to(to);
        self.received(flow) - before
    }
}

#[test]
fn one_flow_fills_the_link_with_little_queued() {
    let mut world = World::new(1, 1000, 0.0);
    world.run_to(3000);
    let before = world.received(0);
    let mut in_flight = Vec::new();
    for ms in (3000..9000).step_by(10) {
        world.run_to(ms);
        in_flight.push(world.in_flight(0));
    }
    // The mean pacing rate is 1 % below the bandwidth, and the cycle's probing regains a part of
    // that.
    let share = (world.received(0) - before) * 100 / (GOODPUT * 6);
    assert!(share >= 96, "{share} %");
    // A cycle adds a quarter more than the path holds, and removes it again. The total never
    // exceeds twice the path's, plus the segments of batches and of delayed ACKs.
    let mean = in_flight.iter().sum::<u64>() / in_flight.len() as u64;
    let most = in_flight.iter().max().copied().unwrap();
    assert!((BDP * 95 / 100..BDP * 5 / 4).contains(&mean), "{mean} of {BDP}");
    assert!(most <= BDP * 3 / 2, "{most} of {BDP}");
}

#[test]
fn every_ten_seconds_the_round_trip_is_probed() {
    let mut world = World::new(1, 1000, 0.0);
    let mut probes: Vec<(u64, u64)> = Vec::new();
    for ms in (1000..32_000).step_by(10) {
        world.run_to(ms);
        if world.in_flight(0) <= 4 * MSS {
            match probes.last_mut() {
                Some((_, last)) if *last + 10 == ms => *last = ms,
                _ => probes.push((ms, ms)),
            }
        }
    }
    // The handshake's round trip is from 80 ms; none with data is as short. It is too old at 10.08
    // s. Then the data in flight drains in about a round trip, and 200 ms and a round follow.
    assert!(!probes.is_empty(), "none");
    let (from, to) = probes[0];
    assert!((10_080..10_300).contains(&from), "{probes:?}");
    assert!((200..400).contains(&(to - from)), "{probes:?}");
    // It probes again ten seconds later at the earliest.
    for pair in probes.windows(2) {
        assert!(pair[1].0 >= pair[0].1 + 9_900, "{probes:?}");
    }
}

#[test]
fn two_flows_share_the_link() {
    let mut world = World::new(2, 300, 0.0);
    let first = world.goodput(0, (20_000, 40_000));
    // The run has gone on: the second flow's bytes in the same time are the rest.
    let mut again = World::new(2, 300, 0.0);
    let second = again.goodput(1, (20_000, 40_000));
    let share = first * 100 / (first + second);
    assert!((35..=65).contains(&share), "{share} %");
    assert!((first + second) * 100 / (GOODPUT * 20) >= 95);
}

#[test]
fn random_loss_costs_little() {
    // 1 % of the packets of either direction are lost. Reno would get 1.22 / sqrt(0.01) segments
    // per round trip, a ninth of the link (Mathis et al. 1997).
    let mut world = World::new(1, 300, 0.01);
    let share = world.goodput(0, (2000, 32_000)) * 100 / (GOODPUT * 30);
    assert!(share >= 80, "{share} %");
}
