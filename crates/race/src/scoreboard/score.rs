//! Results of a scheme over all cells and over those of each level, and of the limits beside it.

use super::causes::CauseCounts;
use super::cell_score::{CellRuns, CellScore};
use super::cell_setup::CellReference;
use super::half::Half;
use super::run::TransferOutcome;
use super::set::{BoardCell, Set};
use super::statistics::{
    CellValue, MeanBounds, geometric_mean, interval, mean, mean_interval, percentile,
};
use super::strata::WeighedCell;
use super::{ScoreboardPlan, TIME_LIMIT};
use crate::perfect;
use crate::{LIMIT, LIMIT_WITHOUT_HANDSHAKE, PERFECT_START};
use serde::Serialize;
use units::Duration;

/// All scores, the best scheme first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// Version of headstart.
    pub version: &'static str,
    /// The set of cells.
    pub set: Set,
    /// Half of the cells; `None`: both halves.
    pub half: Option<Half>,
    /// The first seed of start phases.
    pub seed: u64,
    /// Number of seeds under which each cell was run.
    pub seeds: u32,
    /// Hosts worked on packets for no time.
    pub is_exact: bool,
    /// The cells, in the order of [`Score::cells`].
    pub cells: Vec<BoardCell>,
    /// The share of the board that each of these stands for, together 1: the weights of means and
    /// percentiles.
    pub weights: Vec<f64>,
    /// Limits of every transport: with handshakes, then without.
    pub limits: Vec<LimitScore>,
    /// Perfect start: servers that know the path and their share of it.
    pub perfect_start: Score,
    /// Schemes, ascending by [`TimeScore::over_linux`].
    pub schemes: Vec<Score>,
}

/// Times of one scheme or limit over all cells. A transfer that was not over counts as
/// [`TIME_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeScore {
    /// Geometric mean over cells of time over `linux`'s. A cell that takes twice as long and one
    /// that takes half as long cancel, so that it does not matter which of two schemes is divided
    /// by which.
    pub over_linux: f64,
    /// 95 % interval of that mean: where it would lie over other cells drawn like these.
    pub over_linux_interval: MeanBounds,
    /// Median over cells of the same.
    pub over_linux_median: f64,
    /// Geometric mean over cells of time over the limit without handshakes:
    /// [`TimeScore::over_linux`] times `linux`'s own.
    pub over_limit: f64,
    /// 95th percentile of time over that limit.
    pub over_limit_p95: f64,
    /// Mean over cells of time less that limit, in round trips of the path.
    pub behind_rtts: f64,
    /// Median over cells of the same.
    pub behind_rtts_median: f64,
}

/// A limit beside the schemes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitScore {
    /// Its name, as in races.
    pub name: &'static str,
    /// Its times.
    #[serde(flatten)]
    pub time: TimeScore,
    /// Seconds, by cell.
    pub cells: Vec<f64>,
}

/// Harm of a transfer to the background, over all cells with one; `None` without a background in
/// any cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HarmScore {
    /// Mean of the time that the background took for its bytes over that beside `linux`, less one.
    pub harm: Option<f64>,
    /// 95 % interval of that mean.
    pub harm_interval: Option<MeanBounds>,
    /// Its 95th percentile.
    pub harm_p95: Option<f64>,
    /// Mean of the ratio of times over that under fair sharing, less one; see
    /// [`CellScore::harm_over_fair`].
    pub harm_over_fair: Option<f64>,
    /// 95 % interval of that mean.
    pub harm_over_fair_interval: Option<MeanBounds>,
    /// Its 95th percentile.
    pub harm_over_fair_p95: Option<f64>,
    /// Mean of the share of the background's packets that were dropped, less that beside `linux`.
    pub harm_loss: Option<f64>,
}

/// One scheme's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The scheme.
    pub name: String,
    /// Its times.
    #[serde(flatten)]
    pub time: TimeScore,
    /// Its gain over `linux` in parts of that of perfect start; `None` if that is too small to
    /// divide by.
    pub share_of_perfect_start: Option<f64>,
    /// Its harm to other traffic.
    #[serde(flatten)]
    pub harm: HarmScore,
    /// Transfers that were not over in time, over all cells and seeds.
    pub unfinished: u64,
    /// Causes of its transfers' lost time: sums over all cells and seeds.
    pub causes: CauseCounts,
    /// Scores by factor and level.
    pub levels: Vec<LevelScore>,
    /// Scores by state of the sender's knowledge and load of the path.
    pub states: Vec<StateScore>,
    /// Scores by cell.
    pub cells: Vec<CellScore>,
}

/// A scheme in the cells of one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelScore {
    /// The factor.
    pub factor: &'static str,
    /// Its level.
    pub level: &'static str,
    /// Equals [`TimeScore::over_limit`]; `None` without a cell of the level.
    pub over_limit: Option<f64>,
    /// Equals [`TimeScore::over_linux`].
    pub over_linux: Option<f64>,
    /// Equals [`HarmScore::harm`].
    pub harm: Option<f64>,
    /// Equals [`HarmScore::harm_over_fair`].
    pub harm_over_fair: Option<f64>,
}

/// A scheme in the cells of one state of the sender's knowledge and one load of the path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateScore {
    /// The level of the factor for earlier state (the memory, or the visit), or `by use`.
    pub before: &'static str,
    /// The level of the load.
    pub load: &'static str,
    /// Geometric mean over these cells of time over `linux`'s; `None` if there are none.
    pub over_linux: Option<f64>,
    /// Gain in parts of that of perfect start.
    pub share_of_perfect_start: Option<f64>,
    /// 95th percentile of harm over these cells.
    pub harm_p95: Option<f64>,
}

/// Every outcome in every cell under every seed, and their references.
pub(super) struct BoardRuns {
    pub(super) cells: Vec<WeighedCell>,
    pub(super) references: Vec<CellReference>,
    /// Time of the background without a transfer, by cell and seed.
    pub(super) alone: Vec<Vec<Option<Duration>>>,
    /// Outcomes of perfect start, by cell and seed.
    pub(super) perfect: Vec<Vec<TransferOutcome>>,
    /// Outcomes by scheme of the plan, cell and seed.
    pub(super) outcomes: Vec<Vec<Vec<TransferOutcome>>>,
    /// Index of `linux` among the schemes.
    pub(super) baseline: usize,
}

/// A cell and the score of a scheme in it.
type Scored<'a> = (&'a WeighedCell, &'a CellScore);

impl Board {
    pub(super) fn new(plan: &ScoreboardPlan, runs: &BoardRuns) -> Self {
        let names = plan.schemes.iter().zip(&runs.outcomes);
        let mut schemes: Vec<Score> = names
            .map(|(scheme, outcomes)| Score::of(scheme.name(), plan.set, runs, outcomes))
            .collect();
        let mut perfect_start = Score::of(PERFECT_START, plan.set, runs, &runs.perfect);
        schemes.iter_mut().for_each(|score| score.divide_by(&perfect_start));
        perfect_start.divide_by(&perfect_start.clone());
        // Stable: equal scores stay in the order in which the schemes were named.
        schemes.sort_by(|a, b| a.time.over_linux.total_cmp(&b.time.over_linux));
        Self {
            version: env!("CARGO_PKG_VERSION"),
            set: plan.set,
            half: plan.half,
            seed: plan.seed,
            seeds: plan.seeds,
            is_exact: plan.is_exact(),
            cells: runs.cells.iter().map(|weighed| weighed.cell).collect(),
            weights: runs.cells.iter().map(|weighed| weighed.weight).collect(),
            limits: vec![
                LimitScore::of(LIMIT, runs, |reference| reference.limit),
                LimitScore::of(LIMIT_WITHOUT_HANDSHAKE, runs, |y| y.limit_without_handshake),
            ],
            perfect_start,
            schemes,
        }
    }
}

impl BoardRuns {
    /// A scheme's scores by cell.
    fn scores(&self, outcomes: &[Vec<TransferOutcome>]) -> Vec<CellScore> {
        let score = |(at, scheme): (usize, &Vec<TransferOutcome>)| {
            CellScore::of(CellRuns {
                reference: self.references[at],
                alone: &self.alone[at],
                scheme,
                linux: &self.outcomes[self.baseline][at],
            })
        };
        outcomes.iter().enumerate().map(score).collect()
    }
}

impl TimeScore {
    fn of(all: &[Scored<'_>]) -> Self {
        let over_limit = cell_values(all, |s| Some(s.over_limit));
        let over_linux = cell_values(all, |s| Some(s.over_linux));
        let behind = cell_values(all, |s| Some(s.behind_rtts));
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Self {
            over_linux: or_nan(geometric_mean(&over_linux)),
            over_linux_interval: interval(&over_linux),
            over_linux_median: or_nan(percentile(over_linux, 50)),
            over_limit: or_nan(geometric_mean(&over_limit)),
            over_limit_p95: or_nan(percentile(over_limit, 95)),
            behind_rtts: or_nan(mean(&behind)),
            behind_rtts_median: or_nan(percentile(behind, 50)),
        }
    }
}

impl LimitScore {
    /// A limit is a transfer that takes that long in each cell.
    fn of(name: &'static str, runs: &BoardRuns, limit: fn(&CellReference) -> Duration) -> Self {
        let ended = |(reference, linux): (&CellReference, &Vec<TransferOutcome>)| {
            let completion = Some(limit(reference).min(TIME_LIMIT));
            vec![TransferOutcome { completion, ..TransferOutcome::default() }; linux.len()]
        };
        let linux = &runs.outcomes[runs.baseline];
        let outcomes: Vec<_> = runs.references.iter().zip(linux).map(ended).collect();
        let scores = runs.scores(&outcomes);
        let all: Vec<Scored<'_>> = runs.cells.iter().zip(&scores).collect();
        let cells = runs.references.iter().map(|y| limit(y).as_secs_f64()).collect();
        Self { name, time: TimeScore::of(&all), cells }
    }
}

impl HarmScore {
    fn of(all: &[Scored<'_>]) -> Self {
        let harm = cell_values(all, |s| s.harm);
        let over_fair = cell_values(all, |s| s.harm_over_fair);
        Self {
            harm: mean(&harm),
            harm_interval: mean_interval(&harm),
            harm_p95: percentile(harm, 95),
            harm_over_fair: mean(&over_fair),
            harm_over_fair_interval: mean_interval(&over_fair),
            harm_over_fair_p95: percentile(over_fair, 95),
            harm_loss: mean(&cell_values(all, |s| s.harm_loss)),
        }
    }
}

impl Score {
    /// Computes the score from a scheme's outcomes by cell and seed.
    fn of(name: &str, set: Set, runs: &BoardRuns, outcomes: &[Vec<TransferOutcome>]) -> Self {
        let scores = runs.scores(outcomes);
        let all: Vec<Scored<'_>> = runs.cells.iter().zip(&scores).collect();
        Self {
            name: name.to_owned(),
            time: TimeScore::of(&all),
            share_of_perfect_start: None,
            harm: HarmScore::of(&all),
            unfinished: scores.iter().map(|s| u64::from(s.unfinished)).sum(),
            causes: scores.iter().map(|s| s.causes).sum(),
            levels: levels(set, &all),
            states: states(set, &all),
            cells: scores,
        }
    }

    /// Gives each gain its part of the gain of perfect start.
    fn divide_by(&mut self, perfect: &Self) {
        let share = |own: f64, best: f64| perfect::share(1.0 - own, 1.0 - best);
        self.share_of_perfect_start = share(self.time.over_linux, perfect.time.over_linux);
        for (state, perfect) in self.states.iter_mut().zip(&perfect.states) {
            let times = state.over_linux.zip(perfect.over_linux);
            state.share_of_perfect_start = times.and_then(|(own, best)| share(own, best));
        }
    }
}

/// The name of the state that stands for all visits, each by its share of use.
const BY_USE: &str = "by use";

/// A score for each state of the sender's knowledge under each load of the path. The board of
/// real shapes has one more for each load: of all paths and visits by their share of use.
fn states(set: Set, all: &[Scored<'_>]) -> Vec<StateScore> {
    let factors = set.factors();
    let place = |name: &str| factors.iter().position(|factor| factor.name == name);
    let before = place("memory").or_else(|| place("visit")).expect("each board has one of both");
    let load = place("load").expect("each board has loads");
    let levels = |at: usize| factors[at].levels.iter().copied().enumerate();
    let mut states = Vec::new();
    for (n, load_level) in levels(load) {
        let is_loaded = |scored: &&Scored<'_>| scored.0.cell.levels()[load] == n;
        let loaded: Vec<Scored<'_>> = all.iter().filter(is_loaded).copied().collect();
        states.extend(levels(before).map(|(m, level)| {
            let is_inside = |scored: &&Scored<'_>| scored.0.cell.levels()[before] == m;
            let inside: Vec<Scored<'_>> = loaded.iter().filter(is_inside).copied().collect();
            state(level, load_level, &inside)
        }));
        if set == Set::Real {
            let weighed: Vec<WeighedCell> = loaded.iter().map(|(cell, _)| cell.by_use()).collect();
            let scores = loaded.iter().map(|(_, score)| *score);
            let by_use: Vec<Scored<'_>> = weighed.iter().zip(scores).collect();
            states.push(state(BY_USE, load_level, &by_use));
        }
    }
    states
}

fn state(before: &'static str, load: &'static str, inside: &[Scored<'_>]) -> StateScore {
    StateScore {
        before,
        load,
        over_linux: geometric_mean(&cell_values(inside, |s| Some(s.over_linux))),
        share_of_perfect_start: None,
        harm_p95: percentile(cell_values(inside, |s| s.harm), 95),
    }
}

/// A score for each level of each factor.
fn levels(set: Set, all: &[Scored<'_>]) -> Vec<LevelScore> {
    let places: Vec<Vec<usize>> = all.iter().map(|(weighed, _)| weighed.cell.levels()).collect();
    let score = |(at, factor): (usize, &'static str), (n, level): (usize, &'static str)| {
        let inside = all.iter().zip(&places).filter(|(_, place)| place[at] == n);
        let inside: Vec<Scored<'_>> = inside.map(|(scored, _)| *scored).collect();
        LevelScore {
            factor,
            level,
            over_limit: geometric_mean(&cell_values(&inside, |s| Some(s.over_limit))),
            over_linux: geometric_mean(&cell_values(&inside, |s| Some(s.over_linux))),
            harm: mean(&cell_values(&inside, |s| s.harm)),
            harm_over_fair: mean(&cell_values(&inside, |s| s.harm_over_fair)),
        }
    };
    let mut levels = Vec::new();
    for (at, factor) in set.factors().into_iter().enumerate() {
        let named = factor.levels.iter().copied().enumerate();
        levels.extend(named.map(|level| score((at, factor.name), level)));
    }
    levels
}

fn cell_values(scored: &[Scored<'_>], value: impl Fn(&CellScore) -> Option<f64>) -> Vec<CellValue> {
    let values = scored.iter().filter_map(|(place, score)| {
        let WeighedCell { weight, stratum, .. } = **place;
        Some(CellValue { value: value(score)?, weight, stratum })
    });
    values.collect()
}
