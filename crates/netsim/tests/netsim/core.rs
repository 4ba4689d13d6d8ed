//! Virtual time without TCP: arrivals worked out by hand, ties, conservation, repeatability.

use link::{LinkConfig, QueueLimit};
use netsim::{
    AppContext, Application, Body, Cbr, CbrSpec, Datagram, Dumbbell, Duplex, HostId, LinkId,
    Observer, SimPacket, Simulation, SimulationConfig, SimulationError, Step, Topology,
};
use units::{Duration, Instant, Rate};

const FOREVER: Instant = Instant::from_nanos(3_600_000_000_000);

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn wire(bps: u64, delay_ms: u64, queue: QueueLimit) -> LinkConfig {
    LinkConfig::new(Rate::from_bps(bps), Duration::from_millis(delay_ms), queue).unwrap()
}

fn simulation(topology: Topology) -> Simulation {
    Simulation::new(topology, SimulationConfig::default())
}

/// Returns 10 Mbit/s 1 ms beside 1.5 Mbit/s 50 ms, as in the reference measurements.
fn reference(pairs: usize, queue: QueueLimit) -> Dumbbell {
    let side = wire(10_000_000, 1, QueueLimit::Unlimited);
    Dumbbell::new(pairs, side, Duplex::symmetric(wire(1_500_000, 50, queue)))
}

fn cbr(from: HostId, to: HostId, count: u64) -> CbrSpec {
    let interval = Duration::from_millis(3);
    CbrSpec { from, to, wire_bytes: 1000, interval, count: Some(count) }
}

/// An event of a datagram.
#[derive(Clone, Debug, PartialEq)]
struct Happened {
    at: Instant,
    link: LinkId,
    step: Step,
    tag: u64,
}

/// All events.
#[derive(Default)]
struct Log(Vec<Happened>);

impl Observer for Log {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Body::Datagram(Datagram { tag, .. }) = packet.body else {
            return;
        };
        self.0.push(Happened { at, link, step, tag });
    }
}

impl Log {
    fn count(&self, link: LinkId, wanted: impl Fn(&Step) -> bool) -> usize {
        self.0.iter().filter(|one| one.link == link && wanted(&one.step)).count()
    }
}

#[test]
fn a_datagram_crosses_three_links() {
    let bell = reference(1, QueueLimit::Unlimited);
    let (from, to) = (bell.sources[0], bell.sinks[0]);
    let mut sim = simulation(bell.topology);
    let id = sim.add(at_ms(7), Cbr::new(cbr(from, to, 1)));
    sim.run_until(FOREVER).unwrap();
    let app = sim.application::<Cbr>(id).unwrap();
    assert_eq!((app.sent(), app.received()), (1, 1));
    // 7 ms + (0.8 + 1) + (5.333333 + 50) + (0.8 + 1) ms.
    assert_eq!(app.last_received_at(), Some(Instant::from_nanos(65_933_333)));
    assert_eq!(sim.now(), FOREVER);
}

/// Two packets arrive at the bottleneck at the same instant over two side links. The link that was
/// added first is served first. So with room for one packet the other is dropped, whichever source
/// started first.
#[test]
fn of_two_arrivals_at_once_the_earlier_link_is_served() {
    for first_to_start in [0, 1] {
        let bell = reference(2, QueueLimit::Packets(1));
        let bottleneck = bell.bottleneck.forward;
        let mut sim = simulation(bell.topology);
        let order = [first_to_start, 1 - first_to_start];
        let ids =
            order.map(|n| sim.add(at_ms(0), Cbr::new(cbr(bell.sources[n], bell.sinks[n], 1))));
        sim.run_until(FOREVER).unwrap();
        let received = |id| sim.application::<Cbr>(id).unwrap().received();
        assert_eq!(received(ids[first_to_start]), 1, "the source whose link was added first");
        assert_eq!(received(ids[1 - first_to_start]), 0);
        assert_eq!(sim.link(bottleneck).counters().dropped_packets, 1);
    }
}

/// Sends itself a datagram over a link that takes exactly as long as a timer set before.
struct Race {
    other: HostId,
    order: Vec<&'static str>,
}

impl Application for Race {
    fn start(&mut self, context: &mut AppContext<'_>) {
        // 1000 bytes at 8 Mbit/s and 1 ms of delay: 2 ms.
        context.set_timer(at_ms(2), 0);
        context.send_datagram(HostId(0), self.other, 1000, 0);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        self.order.push("timer");
        context.finish();
    }

    fn on_datagram(&mut self, _context: &mut AppContext<'_>, _host: HostId, _datagram: Datagram) {
        self.order.push("datagram");
    }

    fn describe(&self) -> String {
        "a race".to_owned()
    }
}

/// Two hosts with a wire from the first to the second.
struct OneWire {
    topology: Topology,
    a: HostId,
    b: HostId,
}

fn one_wire() -> OneWire {
    let mut topology = Topology::new();
    let (a, b) = (topology.add_host("a"), topology.add_host("b"));
    let (from, to) = (topology.node(a), topology.node(b));
    topology.add_link("wire", from, to, wire(8_000_000, 1, QueueLimit::Unlimited));
    OneWire { topology, a, b }
}

#[test]
fn an_arrival_goes_before_a_timer_of_the_same_instant() {
    let OneWire { topology, b: other, .. } = one_wire();
    let mut sim = simulation(topology);
    let id = sim.add(at_ms(0), Race { other, order: Vec::new() });
    assert_eq!(sim.run(FOREVER), Ok(at_ms(2)));
    assert_eq!(sim.application::<Race>(id).unwrap().order, ["datagram", "timer"]);
}

/// Waits for a datagram that is never sent.
struct Patient;

impl Application for Patient {
    fn start(&mut self, _context: &mut AppContext<'_>) {}

    fn describe(&self) -> String {
        "the patient one".to_owned()
    }
}

#[test]
fn a_deadlock_names_who_waits() {
    let OneWire { topology, a, b } = one_wire();
    let mut sim = simulation(topology);
    sim.add(at_ms(0), Cbr::new(cbr(a, b, 2)));
    sim.add(at_ms(1), Patient);
    // The second datagram leaves at 3 ms and arrives 2 ms later: that is the last event.
    let waiting = vec!["the patient one".to_owned()];
    assert_eq!(sim.run(FOREVER), Err(SimulationError::Deadlock { at: at_ms(5), waiting }));
}

#[test]
fn a_time_limit_is_not_a_deadlock() {
    let OneWire { topology, a, b } = one_wire();
    let mut sim = simulation(topology);
    sim.add_background(at_ms(0), Cbr::new(CbrSpec { count: None, ..cbr(a, b, 0) }));
    sim.add(at_ms(1), Patient);
    let error = sim.run(at_ms(100)).unwrap_err();
    assert!(matches!(error, SimulationError::TimeLimit { at, .. } if at == at_ms(100)));
    assert!(error.to_string().contains("the patient one"), "{error}");
}

#[test]
fn no_route_is_an_error_that_names_both_ends() {
    let OneWire { topology, a, b } = one_wire();
    let mut sim = simulation(topology);
    sim.add(at_ms(0), Cbr::new(cbr(b, a, 1)));
    let expected = SimulationError::NoRoute { from: "b".to_owned(), to: "a".to_owned() };
    assert_eq!(sim.run(FOREVER), Err(expected));
}

#[test]
fn a_host_reaches_itself_and_its_neighbours_at_once() {
    let mut topology = Topology::new();
    let a = topology.add_host("a");
    let b = topology.add_host_at("b", topology.node(a));
    let mut sim = simulation(topology);
    let ids = [a, b].map(|to| sim.add(at_ms(4), Cbr::new(cbr(a, to, 1))));
    sim.run_until(FOREVER).unwrap();
    for id in ids {
        assert_eq!(sim.application::<Cbr>(id).unwrap().last_received_at(), Some(at_ms(4)));
    }
}

/// Returns three sources over a lossy bottleneck with a short queue.
fn busy(seed: u64) -> (Simulation, LinkId) {
    let lossy = wire(1_500_000, 50, QueueLimit::Packets(5)).with_loss(0.1).unwrap();
    let side = wire(10_000_000, 1, QueueLimit::Unlimited);
    let bell = Dumbbell::new(3, side, Duplex::symmetric(lossy));
    let config = SimulationConfig { seed, ..SimulationConfig::default() };
    let mut sim = Simulation::new(bell.topology, config);
    sim.observe(Log::default());
    for n in 0..3 {
        let spec = CbrSpec {
            wire_bytes: 100 + 400 * n as u32,
            interval: Duration::from_micros(2_900 + 77 * n as u64),
            ..cbr(bell.sources[n], bell.sinks[n], 500)
        };
        sim.add(at_ms(n as u64), Cbr::new(spec));
    }
    sim.run_until(FOREVER).unwrap();
    (sim, bell.bottleneck.forward)
}

#[test]
fn every_packet_is_accounted_for_at_every_link() {
    let (sim, bottleneck) = busy(1);
    let log = sim.observer::<Log>().unwrap();
    for n in 0..sim.topology().links().len() {
        let link = LinkId(n as u32);
        let entered = log.count(link, |step| matches!(step, Step::Enter { .. }));
        let left = log.count(link, |step| *step == Step::Leave);
        let arrived = log.count(link, |step| *step == Step::Arrive);
        let lost = log.count(link, |step| *step == Step::Lose);
        let dropped = log.count(link, |step| matches!(step, Step::Drop { .. }));
        assert_eq!(entered, left, "the queue has drained");
        assert_eq!(left, arrived + lost);
        let counters = sim.link(link).counters();
        assert_eq!(
            (counters.taken_packets, counters.dropped_packets),
            (left as u64, dropped as u64)
        );
        assert_eq!(counters.lost_packets, lost as u64);
    }
    let counters = sim.link(bottleneck).counters();
    assert!(counters.dropped_packets > 0 && counters.lost_packets > 0, "{counters:?}");
    assert_eq!(counters.taken_packets + counters.dropped_packets, 1500);
    assert_eq!(sim.packets_under_way(), 0);
}

#[test]
fn steps_at_a_link_are_in_order_of_time() {
    let (sim, bottleneck) = busy(1);
    let log = sim.observer::<Log>().unwrap();
    for wanted in [Step::Leave, Step::Arrive] {
        let here = log.0.iter().filter(|one| one.link == bottleneck && one.step == wanted);
        let times: Vec<_> = here.map(|one| one.at).collect();
        assert!(times.is_sorted());
    }
}

#[test]
fn a_seed_gives_the_same_run_and_another_gives_another() {
    let log = |seed| busy(seed).0.observer::<Log>().unwrap().0.clone();
    assert_eq!(log(1), log(1));
    assert_ne!(log(1), log(2));
}
