//! A cell of the grid: one scheme's times for one load over one path, simulated and in one real world, and how near they are.

use crate::summary::{Measured, Spread, Summary};
use crate::world::World;
use serde::Serialize;

/// How far the simulated time may be from the median of a real world: nine of ten cells within the
/// first, all within the second; as shares of the latter.
pub(super) const BOUNDS: [(World, f64, f64); 2] =
    [(World::Wire, 0.03, 0.10), (World::Kernel, 0.05, 0.15)];

/// One scheme's time for one load over one path, simulated and in one real world.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// What was loaded.
    pub load: String,
    /// The path, as it may be written.
    pub path: String,
    /// The scheme.
    pub scheme: String,
    /// The real world.
    pub world: &'static str,
    /// Seconds in simulation, over seeds: when a thread wakes up is drawn.
    pub sim_s: Option<Spread>,
    /// Seconds there.
    pub real_s: Option<Spread>,
    /// Simulated over measured time, less one.
    pub difference: Option<f64>,
    /// How near they are.
    pub verdict: Verdict,
    /// Packets that the link dropped, in simulation (median).
    pub sim_drops: Option<f64>,
    /// Packets that the link dropped there.
    pub real_drops: Option<Spread>,
    /// Loads repeated for lateness.
    pub redone: u32,
    /// All loads there.
    pub samples: Vec<Measured>,
}

/// How near a simulated time is to a measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the first bound, or, beside the kernel, between its fastest and its slowest load.
    Inside,
    /// Within the second bound.
    Near,
    /// Beyond it, or a load did not complete.
    Outside,
}

impl Cell {
    pub(super) fn of(summary: &Summary) -> Vec<Self> {
        let real = |scheme: &str| {
            let scheme = scheme.to_owned();
            BOUNDS.iter().filter_map(move |bounds| Self::new(summary, &scheme, *bounds))
        };
        let sim = summary.lines.iter().filter(|line| line.world == World::Sim.name());
        sim.flat_map(|line| real(&line.scheme).collect::<Vec<_>>()).collect()
    }

    fn new(
        summary: &Summary,
        scheme: &str,
        (world, inner, outer): (World, f64, f64),
    ) -> Option<Self> {
        let visit = "first";
        let sim = summary.line(scheme, World::Sim, visit)?;
        let real = summary.line(scheme, world, visit)?;
        let median = sim.page_s.map(|spread| spread.median);
        let difference = median.zip(real.page_s).map(|(sim, real)| sim / real.median - 1.0);
        let is_among = |real: Spread| {
            world == World::Kernel && median.is_some_and(|s| (real.min..=real.max).contains(&s))
        };
        let verdict = match difference {
            Some(_) if real.page_s.is_some_and(is_among) => Verdict::Inside,
            Some(by) if by.abs() <= inner => Verdict::Inside,
            Some(by) if by.abs() <= outer => Verdict::Near,
            _ => Verdict::Outside,
        };
        Some(Self {
            load: summary.page.clone(),
            path: summary.path.clone(),
            scheme: scheme.to_owned(),
            world: world.name(),
            sim_s: sim.page_s,
            real_s: real.page_s,
            difference,
            verdict,
            sim_drops: sim.dropped_packets.map(|spread| spread.median),
            real_drops: real.dropped_packets,
            redone: real.redone,
            samples: real.samples.clone(),
        })
    }

    /// Simulated and measured times overlap. Where a load takes one of two courses, both worlds may have both and yet medians
    /// that are far apart.
    pub fn have_met(&self) -> bool {
        let both = self.sim_s.zip(self.real_s);
        both.is_some_and(|(sim, real)| sim.min <= real.max && real.min <= sim.max)
    }
}
