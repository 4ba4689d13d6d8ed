//! Gains of Linux by an agent: first and repeated visits, beside stock Linux and the limit, and
//! whether the gains meet their bounds. All of it by the kernel, over emulated links.
//!
//! `cases` has the loads, paths and bounds, `cold` those of the options for unknown paths.
//! `presets` compares the gains over the paths that people have with simulated ones. A case is one
//! race with all contenders interleaved. `claim` compares the measurements with the bounds.

mod cases;
mod claim;
mod cold;
mod presets;

pub use cases::{Beside, GainBound, GainCase, GainMeasure};
pub(crate) use cases::{IDLE, page_of_twelve, paths};
pub use claim::{GainClaim, GainVerdict};
pub use presets::SimulatedGain;

use crate::client::Browser;
use crate::contender::Contender;
use crate::contest::{self, ContestOptions, load_count};
use crate::kernel::{Agent, ServerProgram};
use race::{RaceMetric, RaceResult, SchemeResult, Spread, VisitKind, VisitSample, World};
use serde::Serialize;
use std::io;

/// The measurements to make.
#[derive(Clone, Debug)]
pub struct GainPlan {
    /// Cases, one race each.
    pub cases: Vec<GainCase>,
    /// Clients of each scheme in each case, each with a first visit and a repeated one.
    pub repeats: u32,
    /// The server program.
    pub server: ServerProgram,
    /// The client.
    pub browser: Browser,
}

impl GainPlan {
    /// All paths: about half an hour.
    pub fn full() -> Self {
        Self::new([cases::full_cases(), cold::full_cases()].concat(), 7)
    }

    /// CUBIC over one path: a minute.
    pub fn quick() -> Self {
        Self::new([cases::quick_cases(), cold::quick_cases()].concat(), 3)
    }

    /// Documents and pages over the paths that people have, also simulated: twenty minutes.
    pub fn presets() -> Self {
        Self::new(presets::full_cases(), 5)
    }

    const fn new(cases: Vec<GainCase>, repeats: u32) -> Self {
        Self { cases, repeats, server: ServerProgram::Builtin, browser: Browser::Loader }
    }

    /// Replaces the client, and returns the cases that it cannot run: their names, and the reasons.
    #[must_use]
    pub fn asked_by(mut self, browser: &Browser) -> (Self, Vec<(String, String)>) {
        let why = |case: &GainCase| {
            browser.refusal(&case.race(self.repeats), &case.contenders, &[World::Kernel])
        };
        let left_out = self.cases.iter().filter_map(|case| Some((case.name.clone(), why(case)?)));
        let left_out = left_out.collect();
        self.cases.retain(|case| why(case).is_none());
        (Self { browser: browser.clone(), ..self }, left_out)
    }

    /// Loads in real time, all in all.
    pub fn load_count(&self) -> u64 {
        let of_case =
            |case: &GainCase| load_count(&case.race(self.repeats), &case.contenders, case.worlds());
        self.cases.iter().map(of_case).sum()
    }

    /// All contenders of all cases, each once.
    pub fn contenders(&self) -> Vec<Contender> {
        let mut all: Vec<Contender> = Vec::new();
        for contender in self.cases.iter().flat_map(|case| &case.contenders) {
            if all.iter().all(|other| other.name() != contender.name()) {
                all.push(contender.clone());
            }
        }
        all
    }

    /// Leaves out contenders that are not among these, with all their bounds.
    #[must_use]
    pub fn of(mut self, present: &[Contender]) -> Self {
        let is_present = |name: &str| present.iter().any(|contender| contender.name() == name);
        for case in &mut self.cases {
            case.contenders.retain(|contender| is_present(contender.name()));
            case.bounds.retain(|bound| is_present(bound.scheme));
        }
        self
    }

    /// Measures every case; `on_run` is called after each load.
    ///
    /// # Errors
    /// If the machine does not let it.
    pub fn run(&self, agent: &Agent, on_run: &(dyn Fn() + Sync)) -> io::Result<Gains> {
        let mut gains = Gains { claims: Vec::new(), times: Vec::new(), simulated: Vec::new() };
        for case in &self.cases {
            let race = case.race(self.repeats);
            let how = ContestOptions {
                worlds: case.worlds(),
                contenders: &case.contenders,
                client: case.client,
                browser: &self.browser,
                server: &self.server,
                agent: Some(agent),
                captures: None,
                record: false,
                threads: 0,
                on_run,
            };
            let outcome = contest::run(&race, how)?;
            if let Some(out) = outcome.contestants.iter().find_map(|c| c.left_out.as_ref()) {
                return Err(io::Error::other(out.clone()));
            }
            let result = RaceResult::new(&race, &outcome);
            gains
                .claims
                .extend(case.bounds.iter().map(|bound| GainClaim::new(case, &result, bound)));
            let of_kernel = result.measured().filter(|row| row.world == Some(World::Kernel));
            gains.times.extend(of_kernel.map(|row| GainTime::new(case, &result, row)));
            gains.simulated.extend(SimulatedGain::of(case, &result));
        }
        Ok(gains)
    }
}

/// Measurements, and whether they meet the bounds.
#[derive(Clone, Debug, Serialize)]
pub struct Gains {
    /// The bounds and their results.
    pub claims: Vec<GainClaim>,
    /// The measured times.
    pub times: Vec<GainTime>,
    /// Gains beside the simulated ones, of cases that are also simulated.
    pub simulated: Vec<SimulatedGain>,
}

impl Gains {
    /// Whether every bound that can be met is met, and nine of ten gains are as simulated.
    pub fn holds(&self) -> bool {
        let agree = self.simulated.iter().filter(|gain| gain.agrees()).count();
        self.claims.iter().all(|claim| claim.verdict != GainVerdict::Fails)
            && agree * 10 >= self.simulated.len() * 9
    }
}

/// One scheme's visits of a kind in a case.
#[derive(Clone, Debug, Serialize)]
pub struct GainTime {
    /// Name of the load and its conditions.
    pub load: String,
    /// The path, as it may be written.
    pub path: String,
    /// The contender's name.
    pub scheme: String,
    /// First visit or repeated one.
    pub visit: &'static str,
    /// Seconds until all was there; `None` if a load did not complete.
    pub page_s: Option<Spread>,
    /// Seconds until it could have been.
    pub limit_s: f64,
    /// Packets that the link dropped in a visit.
    pub dropped_packets: Option<Spread>,
    /// Loads repeated because of scheduling delay.
    pub redone: u32,
    /// All visits.
    pub samples: Vec<VisitSample>,
}

impl GainTime {
    fn new(case: &GainCase, result: &RaceResult, row: &SchemeResult) -> Self {
        Self {
            load: case.name.clone(),
            path: result.path.to_string(),
            scheme: row.name.clone(),
            visit: row.visit.name(),
            page_s: row.spread(RaceMetric::PageSeconds),
            limit_s: limit_of(result, row.visit),
            dropped_packets: row.spread(RaceMetric::DroppedPackets),
            redone: row.redone,
            samples: row.samples.clone(),
        }
    }
}

/// Seconds; every kind of visit has a limit, and every limit a time.
fn limit_of(result: &RaceResult, visit: VisitKind) -> f64 {
    result.limit(visit).and_then(|row| row.median(RaceMetric::PageSeconds)).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_missing_is_asked_for_nothing() {
        let all = GainPlan::full();
        let mut present = all.contenders();
        // Linux with either control, three of the agent's schemes, and two of these options that
        // are off by default.
        assert_eq!(present.len(), 7);
        present.retain(|contender| contender.name() != "hs-bbr");
        let plan = all.of(&present);
        assert_eq!(plan.contenders().len(), 6);
        assert!(plan.cases.iter().all(|c| c.bounds.iter().all(|b| b.scheme != "hs-bbr")));
        assert!(plan.cases.iter().any(|c| c.bounds.iter().any(|b| b.scheme == "hs-session")));
    }

    #[test]
    fn curl_has_the_single_objects_over_new_connections() {
        let curl = Browser::Curl(crate::client::Curl::for_tests());
        let names = |plan: &GainPlan| plan.cases.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        let (plan, left_out) = GainPlan::quick().asked_by(&curl);
        let wide = ["30 KB, wide cold start", "200 KB, wide cold start"];
        assert_eq!(
            names(&plan),
            [&["30 KB", "200 KB", "200 KB, 1 MB offered"][..], &wide].concat()
        );
        let [(name, why), (page, _)] = &left_out[..] else { panic!("{left_out:?}") };
        assert!(name == "200 KB after 2s" && why.contains("--reconnect"), "{name}: {why}");
        assert_eq!(page, "page of 12, SYNs overflow the uplink");
        // Three pages of twelve objects, and connections that were idle on five paths.
        let full = GainPlan::full();
        let (plan, left_out) = full.clone().asked_by(&curl);
        assert_eq!((plan.cases.len(), left_out.len()), (full.cases.len() - 8, 8));
        assert_eq!(plan.browser.name(), "curl/7.88.1");
        let (same, nothing) = full.clone().asked_by(&Browser::Loader);
        assert_eq!((names(&same), nothing.len()), (names(&full), 0));
    }

    #[test]
    fn whoever_is_asked_or_held_beside_takes_part() {
        for case in GainPlan::full().cases.into_iter().chain(GainPlan::quick().cases) {
            let has = |name: &str| case.contenders.iter().any(|one| one.name() == name);
            for bound in &case.bounds {
                assert!(has(bound.scheme), "{case:?}");
                assert!(bound.beside == Beside::Limit || has(bound.beside.name()), "{case:?}");
            }
        }
    }
}
