//! Bulk TCP flows on the reference dumbbell, an ACK per packet.
//!
//! `dumbbell FLOWS MBIT SECONDS PAIRS [SCHEME]`: time it from outside, `SECONDS` = 0 for the set-up.

mod dumbbell_path;

use dumbbell_path::{Arguments, bell};
use netsim::{BulkSpec, BulkTransfer, Simulation, SimulationConfig, WireSizes};
use tcp::Scheme;
use units::Instant;

/// The peers' flows: full SACK, an ACK per packet, 1000 bytes on the wire.
const SCHEME: &str = "sack+mss=960+ack=all+rwnd=16MB";

fn scheme() -> Scheme {
    let name = std::env::args().nth(5).unwrap_or(SCHEME.to_owned());
    Scheme::parse(&name).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    })
}

fn main() {
    let arguments = Arguments::from_command_line();
    let (bell, scheme) = (bell(&arguments), scheme());
    let wire_sizes = WireSizes { data_overhead: Some(40), control_bytes: Some(40) };
    let mut sim = Simulation::new(bell.topology, SimulationConfig { seed: 1, wire_sizes });
    for n in 0..arguments.flows {
        let pair = (n % arguments.pairs) as usize;
        let spec = BulkSpec {
            from: bell.sources[pair],
            to: bell.sinks[pair],
            bytes: None,
            scheme: scheme.clone(),
            receiver: scheme.clone(),
            close: false,
        };
        sim.add(arguments.start_of(n), BulkTransfer::new(spec));
    }
    let end = Instant::from_nanos(arguments.seconds * 1_000_000_000);
    if let Err(error) = sim.run_until(end) {
        eprintln!("{error}");
        std::process::exit(1);
    }
    arguments.report(&sim, bell.bottleneck.forward);
}
