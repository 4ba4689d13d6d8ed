//! The event core alone on the reference dumbbell: no TCP, but a fixed window of datagrams per
//! flow, each answered by a small one. The time is the cost of links and events.
//!
//! `event_core FLOWS MBIT SECONDS PAIRS`: time it from outside, `SECONDS` = 0 for the set-up.

mod dumbbell_path;

use dumbbell_path::{Run, nth_argument, start_times};
use netsim::{AppContext, Application, Datagram, HostId, Simulation, SimulationConfig};

const DATA: u64 = 0;
const ACK: u64 = 1;

/// Keeps `window` datagrams in flight between two hosts.
struct Clocked {
    from: HostId,
    to: HostId,
    window: u64,
}

impl Application for Clocked {
    fn start(&mut self, context: &mut AppContext<'_>) {
        for _ in 0..self.window {
            context.send_datagram(self.from, self.to, 1000, DATA);
        }
    }

    fn on_datagram(&mut self, context: &mut AppContext<'_>, _host: HostId, datagram: Datagram) {
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
    let (flows, run) =
        (nth_argument(1, 10), Run { mbit: nth_argument(2, 100), seconds: nth_argument(3, 60) });
    let bell = run.dumbbell(nth_argument(4, 10));
    let mut sim = Simulation::new(bell.topology, SimulationConfig::default());
    // The window is a pipe and a half: the queue is half full and nothing is dropped.
    let window = (run.pipe() * 3 / 2 / flows).max(1);
    for (n, start) in start_times(flows).into_iter().enumerate() {
        let pair = n % bell.sources.len();
        let (from, to) = (bell.sources[pair], bell.sinks[pair]);
        sim.add(start, Clocked { from, to, window });
    }
    run.finish(&mut sim, bell.bottleneck.forward);
}
