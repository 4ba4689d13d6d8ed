//! A cell of the grid: one scheme's times for one load over one path, simulated and in one real
//! world, and how near they are.

use super::shares::same_courses;
use race::World;
use race::{RaceMetric, RaceResult, SchemeResult, Spread, VisitSample};
use serde::Serialize;

/// Bounds on the difference between the simulated time and the median of a real world, as a share
/// of the latter.
#[derive(Clone, Copy)]
pub(super) struct AgreementBounds {
    pub(super) world: World,
    /// Bound for nine of ten cells.
    inner: f64,
    /// Bound for all cells.
    outer: f64,
}

/// The bounds of each real world.
pub(super) const BOUNDS: [AgreementBounds; 2] = [
    AgreementBounds { world: World::Wire, inner: 0.03, outer: 0.10 },
    AgreementBounds { world: World::Kernel, inner: 0.05, outer: 0.15 },
];

/// One scheme's time for one load over one path, simulated and in one real world.
#[derive(Clone, Debug, Serialize)]
pub struct AgreementCell {
    /// Name of the load.
    pub load: String,
    /// Over new connections, or over those of the visit before.
    pub over: &'static str,
    /// First visit or repeated ones.
    pub visit: &'static str,
    /// The path, as it may be written.
    pub path: String,
    /// The scheme.
    pub scheme: String,
    /// The real world.
    pub world: &'static str,
    /// Seconds in simulation, over seeds: when a thread wakes up is drawn.
    pub sim_s: Option<Spread>,
    /// Measured time, seconds.
    pub real_s: Option<Spread>,
    /// Simulated over measured time, less one.
    pub difference: Option<f64>,
    /// Closeness of the two times.
    pub verdict: AgreementVerdict,
    /// Packets that the link dropped, in simulation (median).
    pub sim_drops: Option<f64>,
    /// Packets that the link dropped there.
    pub real_drops: Option<Spread>,
    /// Loads repeated because of scheduling delay.
    pub redone: u32,
    /// All loads there.
    pub samples: Vec<VisitSample>,
}

/// Closeness of a simulated time to a measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AgreementVerdict {
    /// Within the first bound, or both worlds take the same courses, or, beside the kernel, between
    /// its fastest and its slowest load.
    Inside,
    /// Inside the second bound.
    Near,
    /// Outside the second bound, or a load did not complete.
    Outside,
}

impl AgreementCell {
    /// The cells of `load`, one for each scheme, visit and real world.
    pub(super) fn of(load: &str, result: &RaceResult) -> Vec<Self> {
        let sim = result.measured().filter(|row| row.world == Some(World::Sim));
        let of = |row| BOUNDS.map(|bounds| Self::new(load, result, row, bounds));
        sim.flat_map(of).flatten().collect()
    }

    fn new(
        load: &str,
        result: &RaceResult,
        sim: &SchemeResult,
        AgreementBounds { world, inner, outer }: AgreementBounds,
    ) -> Option<Self> {
        let real = result.row(&sim.name, world, sim.visit)?;
        let (sim_s, real_s) =
            (sim.spread(RaceMetric::PageSeconds), real.spread(RaceMetric::PageSeconds));
        let median = sim_s.map(|spread| spread.median);
        let difference = median.zip(real_s).map(|(sim, real)| sim / real.median - 1.0);
        let is_among = |real: Spread| {
            world == World::Kernel && median.is_some_and(|s| (real.min..=real.max).contains(&s))
        };
        let verdict = match difference {
            Some(_) if real_s.is_some_and(is_among) => AgreementVerdict::Inside,
            Some(_) if same_courses(sim, real, inner) => AgreementVerdict::Inside,
            Some(by) if by.abs() <= inner => AgreementVerdict::Inside,
            Some(by) if by.abs() <= outer => AgreementVerdict::Near,
            _ => AgreementVerdict::Outside,
        };
        Some(Self {
            load: load.to_owned(),
            over: if result.visits.reconnects { "new" } else { "kept" },
            visit: sim.visit.name(),
            path: result.path.to_string(),
            scheme: sim.name.clone(),
            world: world.name(),
            sim_s,
            real_s,
            difference,
            verdict,
            sim_drops: sim.median(RaceMetric::DroppedPackets),
            real_drops: real.spread(RaceMetric::DroppedPackets),
            redone: real.redone,
            samples: real.samples.clone(),
        })
    }

    /// Simulated and measured times overlap. Where a load takes one of two courses, both worlds may
    /// have both and yet medians that are far apart.
    pub fn have_met(&self) -> bool {
        let both = self.sim_s.zip(self.real_s);
        both.is_some_and(|(sim, real)| sim.min <= real.max && real.min <= sim.max)
    }
}
