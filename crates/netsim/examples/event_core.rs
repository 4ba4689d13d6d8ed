//! The event core alone on the reference dumbbell: no TCP, a fixed window of datagrams per flow,
//! each answered by a small one. What remains is the cost of links and events.
//!
//! `event_core FLOWS MBIT SECONDS PAIRS`: time it from outside, `SECONDS` = 0 for the set-up.

mod dumbbell_path;

use dumbbell_path::{Arguments, bell};
use netsim::{Application, Context, Datagram, HostId, Simulation, SimulationConfig};
use units::Instant;

const DATA: u64 = 0;
const ACK: u64 = 1;

/// Keeps `window` datagrams under way between two hosts.
struct Clocked {
    from: HostId,
    to: HostId,
    window: u64,
}

impl Application for Clocked {
    fn start(&mut self, context: &mut Context<'_>) {
        for _ in 0..self.window {
            context.send_datagram(self.from, self.to, 1000, DATA);
        }
    }

    fn on_datagram(&mut self, context: &mut Context<'_>, _host: HostId, datagram: Datagram) {
        match datagram.tag {
            DATA => context.send_datagram(self.to, self.from, 40, ACK),
            _ => context.send_datagram(self.from, self.to, 1000, DATA),
        }
    }

    fn describe(&self) -> String {
        "a fixed window".to_owned()
    }
}

fn main() {
    let arguments = Arguments::from_command_line();
    let bell = bell(&arguments);
    let mut sim = Simulation::new(bell.topology, SimulationConfig::default());
    for n in 0..arguments.flows {
        let pair = (n % arguments.pairs) as usize;
        let (from, to) = (bell.sources[pair], bell.sinks[pair]);
        // A pipe and a half: the queue is half full and nothing is dropped.
        let window = (arguments.pipe() * 3 / 2 / arguments.flows).max(1);
        sim.add(arguments.start_of(n), Clocked { from, to, window });
    }
    let end = Instant::from_nanos(arguments.seconds * 1_000_000_000);
    if let Err(error) = sim.run_until(end) {
        eprintln!("{error}");
        std::process::exit(1);
    }
    arguments.report(&sim, bell.bottleneck.forward);
}
