//! Users: the times of their requests, each of which waits for the answers before.

use link::{LinkConfig, QueueLimit};
use netsim::{Dumbbell, Duplex, FlowRecord, Simulation, SimulationConfig, User, UserSpec};
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

const LIMIT: Instant = Instant::from_nanos(100_000_000_000_000);

fn fixed(value: f64) -> Distribution {
    Distribution::fixed(value).unwrap()
}

/// A finished run with a user.
struct Outcome {
    sim: Simulation,
    /// The record of each object.
    flows: Vec<FlowRecord>,
    pages: u64,
}

/// Runs a user of two pages over a bottleneck of `mbit`.
fn objects(mbit: u64, spec: impl Fn(UserSpec) -> UserSpec) -> Outcome {
    let wire = |mbit| {
        let delay = Duration::from_millis(5);
        LinkConfig::new(Rate::from_mbps(mbit), delay, QueueLimit::Unlimited).unwrap()
    };
    let bell = Dumbbell::new(1, wire(1000), Duplex::symmetric(wire(mbit)));
    let config = SimulationConfig { seed: 6, ..SimulationConfig::default() };
    let mut sim = Simulation::new(bell.topology.clone(), config);
    let scheme = Scheme::parse("sack").unwrap();
    let user = spec(UserSpec {
        name: "user".into(),
        from: bell.sources[0],
        to: bell.sinks[0],
        objects: fixed(3.0),
        bytes: fixed(20_000.0),
        pause: fixed(0.5),
        think: fixed(4.0),
        pages: Some(2),
        scheme: scheme.clone(),
        receiver: scheme,
    });
    let id = sim.add(Instant::ZERO, User::new(user));
    sim.run(LIMIT).unwrap();
    let user = sim.application::<User>(id).unwrap();
    let (flows, pages) = (user.flows().to_vec(), user.pages());
    Outcome { sim, flows, pages }
}

#[test]
fn a_page_after_thinking_and_an_object_after_a_pause() {
    let Outcome { mut sim, flows, pages } = objects(10, |spec| spec);
    assert_eq!((flows.len(), pages), (6, 2));
    assert!(flows.iter().all(|flow| flow.is_over() && flow.bytes == 20_000 && !flow.reset));
    assert_eq!(flows[0].started_at, Instant::ZERO + Duration::from_secs(4));
    let gaps = flows.windows(2).map(|pair| {
        let over = pair[0].acked_at.max(pair[0].received_at).unwrap();
        (pair[1].started_at - over).as_secs_f64()
    });
    assert_eq!(gaps.collect::<Vec<_>>(), [0.5, 0.5, 4.0, 0.5, 0.5]);
    // Connections close after their object, and none lingers.
    sim.run_until(sim.now() + Duration::from_secs(1)).unwrap();
    let hosts = [flows[0].from, flows[0].to];
    assert!(hosts.iter().all(|host| sim.host(*host).connection_count() == 0));
}

#[test]
fn draws_do_not_depend_on_how_fast_objects_arrive() {
    let drawn = |spec: UserSpec| UserSpec {
        objects: Distribution::pareto_from(1.0, 2.43).unwrap(),
        bytes: Distribution::exponential(30_000.0).unwrap(),
        pause: Distribution::weibull(1.46, 0.382).unwrap(),
        think: Distribution::pareto_from(1.0, 1.5).unwrap(),
        pages: Some(50),
        ..spec
    };
    let [fast, slow] = [100, 1].map(|mbit| objects(mbit, drawn).flows);
    let sizes = |flows: &[FlowRecord]| flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>();
    assert_eq!(sizes(&fast), sizes(&slow));
    // The loop is closed: on the slow link the last request is later.
    assert!(slow.last().unwrap().started_at > fast.last().unwrap().started_at);
}
