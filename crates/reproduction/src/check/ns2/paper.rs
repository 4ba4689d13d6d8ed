//! Set-up of all measurements under the papers' profile: sizes on the wire, a short delay before
//! each packet, side links of 10 Mbit/s, a bottleneck of 1.5 Mbit/s.

use link::{Discipline, LinkConfig, QueueLimit};
use netsim::{Dumbbell, Duplex, Simulation, SimulationConfig, WireSizes};
use race::estimate::MeanEstimate;
use units::{Duration, Rate};

/// Payload of a packet, and all of it on the wire.
pub(super) const PACKET: u64 = 1000;
/// Window limit and first threshold, packets.
pub(super) const WINDOW: u32 = 32;
/// Longest delay before a packet leaves a source.
const OVERHEAD: Duration = Duration::from_millis(1);

/// The links of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wires {
    /// Sources, and sinks.
    pub(super) pairs: usize,
    /// One-way delay of a side link.
    pub(super) side_delay: Duration,
    /// One-way delay of the bottleneck.
    pub(super) delay: Duration,
    /// Packets that wait there besides the one in service.
    pub(super) buffer: u32,
    /// Discipline of the bottleneck's queue.
    pub(super) discipline: Discipline,
    /// Sources take up to a millisecond to send.
    pub(super) processing: bool,
}

impl Wires {
    /// Returns the simulation without traffic.
    ///
    /// # Errors
    /// If a link is impossible.
    pub(super) fn simulation(&self, seed: u64) -> Result<(Simulation, Dumbbell), String> {
        let link =
            |rate, delay, queue| LinkConfig::new(rate, delay, queue).map_err(|e| e.to_string());
        let side = link(Rate::from_mbps(10), self.side_delay, QueueLimit::Unlimited)?;
        let core = |queue| link(Rate::from_bps(1_500_000), self.delay, queue);
        let forward = core(QueueLimit::Packets(self.buffer + 1))?.with_discipline(self.discipline);
        let bottleneck = Duplex {
            forward: forward.map_err(|e| e.to_string())?,
            reverse: core(QueueLimit::Unlimited)?,
        };
        let mut bell = Dumbbell::new(self.pairs, side, bottleneck);
        for source in bell.sources.iter().filter(|_| self.processing) {
            bell.topology.set_processing(*source, OVERHEAD);
        }
        let wire_sizes =
            WireSizes { data_overhead: Some(0), control_bytes: Some(40), ..WireSizes::default() };
        let config = SimulationConfig { seed, wire_sizes };
        Ok((Simulation::new(bell.topology.clone(), config), bell))
    }
}

/// Returns the mean and standard error of the runs' values; infinite if a run has none.
pub(super) fn over_runs<T>(runs: &[T], value: impl Fn(&T) -> f64) -> MeanEstimate {
    let values: Vec<f64> = runs.iter().map(value).collect();
    MeanEstimate::of(&values).unwrap_or(MeanEstimate { mean: f64::INFINITY, standard_error: None })
}

/// Returns a mean with its standard error, as columns have them.
pub(super) const fn estimate(mean: f64, standard_error: f64) -> MeanEstimate {
    MeanEstimate { mean, standard_error: Some(standard_error) }
}
