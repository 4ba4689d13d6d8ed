//! Flows that come and go: how many, how large, between whom, and that nothing of them stays.

use link::{LinkConfig, QueueLimit};
use netsim::{
    AppContext, Application, Dumbbell, Duplex, FlowRecord, FlowTotals, PairChoice, PoissonFlows,
    PoissonSpec, Simulation, SimulationConfig, SimulationError,
};
use std::cell::RefCell;
use std::rc::Rc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

fn at_s(s: u64) -> Instant {
    Instant::from_nanos(s * 1_000_000_000)
}

fn bell(pairs: usize, mbit: u64, loss: f64) -> Dumbbell {
    let wire = |mbit, us| {
        let delay = Duration::from_micros(us);
        LinkConfig::new(Rate::from_mbps(mbit), delay, QueueLimit::Unlimited).unwrap()
    };
    let bottleneck = wire(mbit, 500).with_loss(loss).unwrap();
    Dumbbell::new(pairs, wire(10_000, 10), Duplex::symmetric(bottleneck))
}

fn simulation(bell: &Dumbbell) -> Simulation {
    Simulation::new(bell.topology.clone(), SimulationConfig { seed: 8, ..Default::default() })
}

fn spec(bell: &Dumbbell, count: u64) -> PoissonSpec {
    PoissonSpec {
        name: "flows".into(),
        pairs: bell.sources.iter().copied().zip(bell.sinks.iter().copied()).collect(),
        choice: PairChoice::Random,
        gaps: Distribution::exponential(0.01).unwrap(),
        bytes: Distribution::exponential(20_000.0).unwrap(),
        count: Some(count),
        scheme: Scheme::parse("sack").unwrap(),
        receiver: Scheme::parse("sack").unwrap(),
    }
}

fn sum(flows: &[FlowRecord]) -> FlowTotals {
    let mut totals = FlowTotals::default();
    flows.iter().for_each(|flow| totals.add(flow));
    totals
}

#[test]
fn flows_have_the_rate_the_sizes_and_the_pairs_they_should() {
    let bell = bell(4, 1000, 0.0);
    let mut sim = simulation(&bell);
    let id = sim.add(at_s(1), PoissonFlows::new(spec(&bell, 10_000)));
    sim.run(at_s(10_000)).unwrap();
    let app = sim.application::<PoissonFlows>(id).unwrap();
    let flows = app.flows();
    assert_eq!((flows.len(), app.started(), app.active()), (10_000, 10_000, 0));
    assert!(flows.iter().all(|flow| flow.is_over() && !flow.reset));
    // 10,000 gaps of 10 ms, each as variable as long: 100 s, give or take 1 s; five of these.
    let last = flows.iter().map(|flow| flow.started_at).max().unwrap();
    assert!((95.0..105.0).contains(&(last - at_s(1)).as_secs_f64()), "{last}");
    let mean = sum(flows).bytes as f64 / 10_000.0;
    assert!((19_000.0..21_000.0).contains(&mean), "{mean}");
    for (source, sink) in bell.sources.iter().zip(&bell.sinks) {
        let n = flows.iter().filter(|flow| (flow.from, flow.to) == (*source, *sink)).count();
        // Five deviations of sqrt(10,000 / 4 * 3 / 4) = 43.
        assert!(n.abs_diff(2500) < 5 * 43, "{n}");
    }
    assert_eq!(*app.totals(), sum(flows));
}

#[test]
fn round_robin_takes_pairs_in_turn() {
    let bell = bell(3, 1000, 0.0);
    let mut sim = simulation(&bell);
    let spec = PoissonSpec { choice: PairChoice::RoundRobin, ..spec(&bell, 9) };
    let id = sim.add(at_s(0), PoissonFlows::new(spec));
    sim.run(at_s(100)).unwrap();
    let mut flows = sim.application::<PoissonFlows>(id).unwrap().flows().to_vec();
    flows.sort_by_key(|flow| flow.started_at);
    let from: Vec<_> = flows.iter().map(|flow| flow.from).collect();
    assert_eq!(from, bell.sources.repeat(3));
}

#[test]
fn a_sink_gets_every_record_and_none_is_kept() {
    let bell = bell(2, 1000, 0.01);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let into = Rc::clone(&seen);
    let mut sim = simulation(&bell);
    let app = PoissonFlows::with_sink(spec(&bell, 500), move |flow| into.borrow_mut().push(*flow));
    let id = sim.add(at_s(0), app);
    sim.run(at_s(10_000)).unwrap();
    let app = sim.application::<PoissonFlows>(id).unwrap();
    assert!(app.flows().is_empty());
    let seen = seen.borrow();
    assert_eq!((seen.len(), *app.totals()), (500, sum(&seen)));
    assert!(app.totals().segments_retransmitted > 0);
}

/// More flows than a host has ports, within the time that TIME-WAIT would hold them.
#[test]
fn ports_and_connections_are_used_again() {
    let bell = bell(1, 10_000, 0.0);
    let mut sim = simulation(&bell);
    let spec = PoissonSpec {
        gaps: Distribution::exponential(0.000_5).unwrap(),
        bytes: Distribution::fixed(1000.0).unwrap(),
        ..spec(&bell, 60_000)
    };
    let id = sim.add(at_s(0), PoissonFlows::with_sink(spec, |_| {}));
    let end = sim.run(at_s(59)).unwrap();
    sim.run_until(end + Duration::from_secs(1)).unwrap();
    let totals = sim.application::<PoissonFlows>(id).unwrap().totals();
    assert_eq!((totals.flows, totals.resets, totals.segments_retransmitted), (60_000, 0, 0));
    for host in [bell.sources[0], bell.sinks[0]] {
        assert_eq!(sim.host(host).connection_count(), 0);
    }
}

#[test]
fn flows_that_are_lost_altogether_are_over_when_they_are_given_up() {
    let bell = bell(1, 1000, 0.999_999);
    let mut sim = simulation(&bell);
    let id = sim.add(at_s(0), PoissonFlows::new(spec(&bell, 20)));
    sim.run(at_s(10_000)).unwrap();
    let app = sim.application::<PoissonFlows>(id).unwrap();
    assert_eq!((app.totals().flows, app.totals().resets, app.active()), (20, 20, 0));
    assert_eq!(app.totals().bytes, 0, "none has arrived");
}

/// Arrivals and sizes are draws of the application alone: the same under another scheme, over
/// another path, beside other flows.
#[test]
fn schemes_meet_the_same_flows() {
    let arrivals = |mbit, loss, scheme: &str, others: bool| {
        let bell = bell(2, mbit, loss);
        let mut sim = simulation(&bell);
        if others {
            let spec = PoissonSpec { name: "others".into(), ..spec(&bell, 100) };
            sim.add_background(at_s(0), PoissonFlows::new(spec));
        }
        let scheme = Scheme::parse(scheme).unwrap();
        let spec = PoissonSpec { scheme: scheme.clone(), receiver: scheme, ..spec(&bell, 200) };
        let id = sim.add(at_s(0), PoissonFlows::new(spec));
        sim.run(at_s(10_000)).unwrap();
        let flows = sim.application::<PoissonFlows>(id).unwrap().flows();
        let mut all: Vec<_> = flows.iter().map(|f| (f.started_at, f.from, f.bytes)).collect();
        all.sort();
        all
    };
    let one = arrivals(1000, 0.0, "sack", false);
    assert_eq!(one, arrivals(20, 0.02, "reno", false));
    assert_eq!(one, arrivals(1000, 0.0, "linux", true));
}

/// Opens a number of connections at one instant.
struct Crowd(Dumbbell, u32);

impl Application for Crowd {
    fn start(&mut self, context: &mut AppContext<'_>) {
        let scheme = Scheme::parse("sack").unwrap();
        for _ in 0..self.1 {
            context.connect(self.0.sinks[0], self.0.sources[0], 80, &scheme);
        }
    }

    fn describe(&self) -> String {
        "a crowd".to_owned()
    }
}

/// 55,536 ports are not enough, nor are those below them, and nothing can end the run before all
/// are asked for.
#[test]
fn any_number_of_connections_at_one_instant_ends_the_run() {
    let bell = bell(1, 1000, 0.0);
    let mut sim = simulation(&bell);
    sim.add(at_s(0), Crowd(bell, 70_000));
    let error = sim.run(at_s(10)).unwrap_err();
    assert!(matches!(error, SimulationError::OutOfPorts { .. }), "{error}");
}

/// From ports 10,000 to 65,535 there are 55,536 connections at most. Nothing arrives, and none is
/// given up within a second.
#[test]
fn arrivals_that_exceed_the_path_end_the_run_with_the_workload_s_name() {
    let bell = bell(1, 1000, 0.999_999);
    let mut sim = simulation(&bell);
    let gaps = Distribution::exponential(0.000_01).unwrap();
    sim.add(at_s(0), PoissonFlows::with_sink(PoissonSpec { gaps, ..spec(&bell, 60_000) }, |_| {}));
    let error = sim.run(at_s(10)).unwrap_err();
    assert!(matches!(error, SimulationError::OutOfPorts { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("55537 started, 55537 not over") && text.contains("arrive faster"),
        "{text}"
    );
}
