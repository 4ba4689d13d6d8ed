//! The agent's gains over the paths that people have, in the kernel beside simulation. Documents
//! and pages are those of the board of real shapes; a fixed first window of 32 is in each race.

use super::cases::{Beside, GainBound, GainCase, GainMeasure};
use crate::contender::Contender;
use link::path::preset;
use race::scoreboard::RealCell;
use race::{RaceMetric, RaceResult, VisitKind, World};
use serde::Serialize;
use workload::Page;

const STOCK: &str = "linux";
const WARM: &str = "hs-cubic";
const SCHEMES: [&str; 3] = [STOCK, "linux+iw=32", WARM];
/// The board has a satellite, too, whose loads take ten times as long.
const PATHS: [&str; 6] = ["fiber", "cable", "dsl", "lte", "5g", "wifi-cafe"];
const CONTENTS: [&str; 4] = ["18 kB", "78.6 kB", "app", "article"];
/// Clients on a path that loses packets at random, for each client on another: a median over few
/// loads is chance there.
const MORE_ON_LOSSY_PATHS: u32 = 4;
/// Greatest distance between the two ratios to [`STOCK`], for a document and for a page.
const DOCUMENT_WITHIN: f64 = 0.05;
const PAGE_WITHIN: f64 = 0.10;

/// A case for each content over each path, both visits.
pub(super) fn full_cases() -> Vec<GainCase> {
    PATHS
        .iter()
        .flat_map(|path| CONTENTS.iter().map(|content| preset_case(content, path)))
        .collect()
}

fn preset_case(content: &str, path: &str) -> GainCase {
    let path = preset(path).expect("a preset").spec();
    let page = RealCell::page_of(content).expect("a content of the board");
    let contenders = SCHEMES.map(|name| Contender::parse(name).expect("a contender"));
    let mut case = GainCase::over_new_connections(
        content.to_owned(),
        Page::clone(&page),
        path,
        contenders.into(),
    );
    case.more = if path.loss() > 0.0 { MORE_ON_LOSSY_PATHS } else { 1 };
    case.simulated_within =
        Some(if page.objects().len() > 1 { PAGE_WITHIN } else { DOCUMENT_WITHIN });
    // By chance a lossy path makes any of two equal schemes slower.
    if path.loss() == 0.0 {
        case.bounds = [VisitKind::First, VisitKind::Repeated].map(no_slower).into();
    }
    case
}

fn no_slower(visit: VisitKind) -> GainBound {
    let (measure, beside) = (GainMeasure::Time, Beside::Scheme(STOCK));
    GainBound { scheme: WARM, visit, measure, beside, at_most: 1.03 }
}

/// A scheme's gain in the kernel beside the same in simulation.
#[derive(Clone, Debug, Serialize)]
pub struct SimulatedGain {
    /// Name of the content.
    pub load: String,
    /// The path, as it may be written.
    pub path: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Kind of visit.
    pub visit: &'static str,
    /// Median time in the kernel over that of `linux`; `None` if a load did not complete.
    pub measured: Option<f64>,
    /// Same ratio in simulation.
    pub simulated: Option<f64>,
    /// Greatest distance at which the two agree.
    pub within: f64,
}

impl SimulatedGain {
    /// The gains of each scheme in each visit; none of a case that is not simulated.
    pub(super) fn of(case: &GainCase, result: &RaceResult) -> Vec<Self> {
        let Some(within) = case.simulated_within else { return Vec::new() };
        let time = |scheme: &str, world, visit| {
            result.row(scheme, world, visit)?.median(RaceMetric::PageSeconds)
        };
        let mut gains = Vec::new();
        for scheme in case.contenders.iter().map(|one| one.name()).filter(|name| *name != STOCK) {
            for visit in [VisitKind::First, VisitKind::Repeated] {
                let ratio = |world| Some(time(scheme, world, visit)? / time(STOCK, world, visit)?);
                gains.push(Self {
                    load: case.name.clone(),
                    path: result.path.to_string(),
                    scheme: scheme.to_owned(),
                    visit: visit.name(),
                    measured: ratio(World::Kernel),
                    simulated: ratio(World::Sim),
                    within,
                });
            }
        }
        gains
    }

    /// Whether both exist, and are near enough to each other.
    pub fn agrees(&self) -> bool {
        let apart = self.measured.zip(self.simulated).map(|(kernel, sim)| (kernel - sim).abs());
        apart.is_some_and(|apart| apart <= self.within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two documents and two pages over six paths. Every one has stock Linux, a fixed window and
    /// the agent.
    #[test]
    fn every_content_meets_every_path() {
        let cases = full_cases();
        assert_eq!(cases.len(), 4 * 6);
        let of = |within| cases.iter().filter(|case| case.simulated_within == Some(within)).count();
        assert_eq!((of(DOCUMENT_WITHIN), of(PAGE_WITHIN)), (12, 12));
        assert!(cases.iter().all(|case| case.contenders.len() == 3 && case.visits.count == 2));
        // Four cases over the path that loses packets.
        assert_eq!(cases.iter().filter(|case| case.bounds.is_empty() && case.more == 4).count(), 4);
    }

    #[test]
    fn gains_agree_that_are_near_and_there() {
        let of = |measured, simulated| {
            let (load, path, scheme) = ("18 kB".into(), "dsl".into(), WARM.into());
            SimulatedGain { load, path, scheme, visit: "first", measured, simulated, within: 0.05 }
        };
        assert!(of(Some(0.80), Some(0.845)).agrees());
        assert!(!of(Some(0.80), Some(0.855)).agrees());
        assert!(!of(Some(0.90), Some(0.845)).agrees());
        assert!(!of(None, Some(0.80)).agrees());
    }
}
