//! The reference dumbbell for speed: 1 ms, 8 ms and 1 ms each way, a bottleneck queue of one
//! bandwidth-delay product, starts spread over the first second, flows spread over host pairs.

use link::{LinkConfig, LinkError, QueueLimit};
use netsim::{Dumbbell, Duplex, LinkId, Simulation, stream};
use rand_core::RngCore;
use units::{Duration, Instant, Rate};

const PACKET: u64 = 1000;
const ROUND_TRIP_MS: u64 = 20;

pub(super) struct Arguments {
    pub(super) flows: u64,
    pub(super) mbit: u64,
    pub(super) seconds: u64,
    pub(super) pairs: u64,
    starts: Vec<Instant>,
}

impl Arguments {
    /// Four numbers, or the smallest of the three dumbbells.
    pub(super) fn from_command_line() -> Self {
        let given: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
        let number = |n: usize, default| given.get(n).copied().unwrap_or(default);
        let flows = number(0, 10);
        let mut random = stream(1, "starts");
        let starts =
            (0..flows).map(|_| Instant::from_nanos(u64::from(random.next_u32()) * 232 / 1000));
        Self {
            flows,
            mbit: number(1, 100),
            seconds: number(2, 60),
            pairs: number(3, 10),
            starts: starts.collect(),
        }
    }

    pub(super) fn start_of(&self, flow: u64) -> Instant {
        self.starts[flow as usize]
    }

    /// Packets in one bandwidth-delay product.
    pub(super) fn pipe(&self) -> u64 {
        self.mbit * 1000 * ROUND_TRIP_MS / 8 / PACKET
    }

    pub(super) fn report(&self, sim: &Simulation, bottleneck: LinkId) {
        let counters = sim.link(bottleneck).counters();
        let sent = counters.taken_bytes * 8;
        let room = (self.mbit * 1_000_000 * self.seconds).max(1);
        println!(
            "packets {} dropped {} utilisation {}.{:03}",
            counters.taken_packets,
            counters.dropped_packets,
            sent / room,
            sent % room * 1000 / room
        );
    }
}

fn wires(arguments: &Arguments) -> Result<(LinkConfig, LinkConfig), LinkError> {
    let rate = Rate::from_mbps(arguments.mbit);
    let queue = QueueLimit::Packets(arguments.pipe() as u32);
    let side_rate = Rate::from_mbps(arguments.mbit.max(1000));
    Ok((
        LinkConfig::new(side_rate, Duration::from_millis(1), QueueLimit::Unlimited)?,
        LinkConfig::new(rate, Duration::from_millis(8), queue)?,
    ))
}

pub(super) fn bell(arguments: &Arguments) -> Dumbbell {
    match wires(arguments) {
        Ok((side, bottleneck)) => {
            Dumbbell::new(arguments.pairs as usize, side, Duplex::symmetric(bottleneck))
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
