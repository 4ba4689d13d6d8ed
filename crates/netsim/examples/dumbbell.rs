//! Bulk TCP flows on the reference dumbbell, an ACK per packet.
//!
//! `dumbbell FLOWS MBIT SECONDS PAIRS [SCHEME]`: time it from outside, `SECONDS` = 0 for the
//! set-up.

mod dumbbell_path;

use dumbbell_path::{Run, WIRE_SIZES, give_up, nth_argument, start_times};
use netsim::{BulkSpec, BulkTransfer, Simulation, SimulationConfig};
use tcp::Scheme;

/// The peers' flows: full SACK, an ACK per packet, 1000 bytes on the wire.
const SCHEME: &str = "sack+mss=960+ack=all+rwnd=16MB";

fn main() {
    let (flows, run) =
        (nth_argument(1, 10), Run { mbit: nth_argument(2, 100), seconds: nth_argument(3, 60) });
    let bell = run.dumbbell(nth_argument(4, 10));
    let scheme = Scheme::parse(&nth_argument(5, SCHEME.to_owned()));
    let scheme = scheme.unwrap_or_else(|error| give_up(&error));
    let config = SimulationConfig { seed: 1, wire_sizes: WIRE_SIZES };
    let mut sim = Simulation::new(bell.topology, config);
    for (n, start) in start_times(flows).into_iter().enumerate() {
        let pair = n % bell.sources.len();
        let spec = BulkSpec {
            from: bell.sources[pair],
            to: bell.sinks[pair],
            bytes: None,
            scheme: scheme.clone(),
            receiver: scheme.clone(),
            close: false,
        };
        sim.add(start, BulkTransfer::new(spec));
    }
    run.finish(&mut sim, bell.bottleneck.forward);
}
