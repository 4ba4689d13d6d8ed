//! Short flows that start at random on the reference dumbbell: each connection opens, sends PACKETS
//! packets, closes and is forgotten.
//!
//! `short_flows MBIT SECONDS LOAD PACKETS PAIRS [SCHEME]`: LOAD in percent of the bottleneck. With
//! `open=data` there is no handshake, as ns-2's agents have none.

mod dumbbell_path;

use dumbbell_path::{PAYLOAD, Run, WIRE_SIZES, give_up, nth_argument, peak_memory};
use netsim::{PairChoice, PoissonFlows, PoissonSpec, Simulation, SimulationConfig};
use std::cell::Cell;
use std::rc::Rc;
use tcp::Scheme;
use units::{Duration, Instant};
use workload::{Distribution, DistributionError};

const SCHEME: &str = "sack+mss=960+ack=all+rwnd=16MB+iw=2+open=data";

/// Returns the seconds between flows, and the bytes of each.
fn traffic(mbit: u64, load: u64, packets: u64) -> Result<[Distribution; 2], DistributionError> {
    let each = packets as f64 * 8e-3 / mbit as f64;
    let gaps = Distribution::exponential(each * 100.0 / load as f64)?;
    Ok([gaps, Distribution::fixed((packets * PAYLOAD) as f64)?])
}

fn main() {
    let run = Run { mbit: nth_argument(1, 100), seconds: nth_argument(2, 60) };
    let traffic = traffic(run.mbit, nth_argument(3, 80), nth_argument(4, 30));
    let [gaps, bytes] = traffic.unwrap_or_else(|error| give_up(&error));
    let bell = run.dumbbell(nth_argument(5, 10));
    let scheme = Scheme::parse(&nth_argument(6, SCHEME.to_owned()));
    let scheme = scheme.unwrap_or_else(|error| give_up(&error));
    let config = SimulationConfig { seed: 1, wire_sizes: WIRE_SIZES };
    let mut sim = Simulation::new(bell.topology, config);
    let spec = PoissonSpec {
        name: "short".to_owned(),
        pairs: bell.sources.into_iter().zip(bell.sinks).collect(),
        choice: PairChoice::RoundRobin,
        gaps,
        bytes,
        count: None,
        receiver: scheme.clone(),
        scheme,
    };
    // The sum of the times of all finished flows, from start to last acknowledgement.
    let spent = Rc::new(Cell::new(Duration::ZERO));
    let sum = spent.clone();
    let flows = PoissonFlows::with_sink(spec, move |flow| {
        sum.set(sum.get() + flow.time_to_ack().unwrap_or(Duration::ZERO));
    });
    let id = sim.add_background(Instant::ZERO, flows);
    run.finish(&mut sim, bell.bottleneck.forward);
    let Some(flows) = sim.application::<PoissonFlows>(id) else { return };
    let finished = flows.totals().flows;
    let mean = spent.get() / finished.max(1);
    println!(
        "flows {} finished {finished} mean {}.{} ms peak memory {} kB",
        flows.started(),
        mean.as_nanos() / 1_000_000,
        mean.as_nanos() / 100_000 % 10,
        peak_memory()
    );
}
