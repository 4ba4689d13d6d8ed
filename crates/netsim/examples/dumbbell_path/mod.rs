//! The reference dumbbell for speed measurements, with its command line and output. It has 1 ms, 8
//! ms and 1 ms each way, and a bottleneck queue of one bandwidth-delay product.

#![allow(dead_code, reason = "no example uses all of it")]

use link::{LinkConfig, LinkError, QueueLimit};
use netsim::{Dumbbell, Duplex, LinkId, Simulation, WireSizes, stream};
use rand_core::Rng;
use std::fmt::Display;
use std::str::FromStr;
use units::{Duration, Instant, Rate};

/// Size of a data packet on the wire, and of its payload, bytes.
const PACKET: u64 = 1000;
pub(super) const PAYLOAD: u64 = 960;
const ROUND_TRIP_MS: u64 = 20;

/// Packet sizes of ns-2's agents: always 40 bytes of header.
pub(super) const WIRE_SIZES: WireSizes =
    WireSizes { data_overhead: Some(40), syn_data_overhead: None, control_bytes: Some(40) };

/// The rate of the bottleneck, and the length of the run.
pub(super) struct Run {
    pub(super) mbit: u64,
    pub(super) seconds: u64,
}

impl Run {
    /// Returns the number of packets in one bandwidth-delay product.
    pub(super) const fn pipe(&self) -> u64 {
        self.mbit * 1000 * ROUND_TRIP_MS / 8 / PACKET
    }

    pub(super) fn dumbbell(&self, pairs: u64) -> Dumbbell {
        let (side, bottleneck) =
            self.access_and_bottleneck().unwrap_or_else(|error| give_up(&error));
        Dumbbell::new(pairs as usize, side, Duplex::symmetric(bottleneck))
    }

    fn access_and_bottleneck(&self) -> Result<(LinkConfig, LinkConfig), LinkError> {
        let queue = QueueLimit::Packets(self.pipe() as u32);
        let side_rate = Rate::from_mbps(self.mbit.max(1000));
        Ok((
            LinkConfig::new(side_rate, Duration::from_millis(1), QueueLimit::Unlimited)?,
            LinkConfig::new(Rate::from_mbps(self.mbit), Duration::from_millis(8), queue)?,
        ))
    }

    /// Runs to the end and prints the bottleneck's counters.
    pub(super) fn finish(&self, sim: &mut Simulation, bottleneck: LinkId) {
        let end = Instant::from_nanos(self.seconds * 1_000_000_000);
        sim.run_until(end).unwrap_or_else(|error| give_up(&error));
        let counters = sim.link(bottleneck).counters();
        let room = (self.mbit * 1_000_000 * self.seconds).max(1);
        let permille = counters.taken_bytes * 8 * 1000 / room;
        println!(
            "packets {} dropped {} utilisation {}.{:03}",
            counters.taken_packets,
            counters.dropped_packets,
            permille / 1000,
            permille % 1000
        );
    }
}

/// Returns start times of flows, anywhere in the first second.
pub(super) fn start_times(flows: u64) -> Vec<Instant> {
    let mut random = stream(1, "starts");
    (0..flows).map(|_| Instant::from_nanos(u64::from(random.next_u32()) * 232 / 1000)).collect()
}

/// Returns the `n`-th argument from 1 on, or its default.
pub(super) fn nth_argument<T: FromStr>(n: usize, usual: T) -> T {
    let Some(text) = std::env::args().nth(n) else {
        return usual;
    };
    text.parse().unwrap_or_else(|_| give_up(&format!("argument {n}: {text:?} makes no sense")))
}

pub(super) fn give_up(why: &dyn Display) -> ! {
    eprintln!("{why}");
    std::process::exit(2);
}

/// Returns the peak memory of this process, kB; 0 if the system does not report it.
pub(super) fn peak_memory() -> u64 {
    memory("VmHWM:")
}

/// Returns the resident memory of this process, bytes; 0 if the system does not report it.
pub(super) fn resident_bytes() -> u64 {
    memory("VmRSS:") * 1024
}

fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|size| size.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}
