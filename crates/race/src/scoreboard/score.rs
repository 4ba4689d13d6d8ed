//! What is said of a scheme: over all cells, over those of each level, and in each.

use super::cells::{MatrixCell, MatrixFactor, Set};
use super::run::TransferOutcome;
use super::statistics::{CellValue, MeanBounds, geometric_mean, interval, mean, percentile};
use super::{ScoreboardPlan, TIME_LIMIT};
use serde::Serialize;

/// All scores, the best scheme first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// Version of headstart.
    pub version: &'static str,
    /// Which cells.
    pub set: Set,
    /// Seed of start phases.
    pub seed: u64,
    /// The cells, in the order of [`Score::cells`].
    pub cells: Vec<MatrixCell>,
    /// The share of the matrix that each of these stands for, together 1: what means and percentiles weigh it by.
    pub weights: Vec<f64>,
    /// By [`Score::over_linux`].
    pub schemes: Vec<Score>,
}

/// One scheme's score. Times are completion times; one that was not over counts as [`TIME_LIMIT`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The scheme.
    pub name: String,
    /// Geometric mean over cells of time over `linux`'s. A cell that takes twice as long and one that takes half as
    /// long cancel, so that it does not matter which of two schemes is divided by which.
    pub over_linux: f64,
    /// 95 % interval of that mean: where it would lie over other cells drawn like these.
    pub over_linux_interval: MeanBounds,
    /// Geometric mean over cells of time over the limit: [`Score::over_linux`] times `linux`'s own.
    pub over_limit: f64,
    /// 95th percentile of time over the limit.
    pub over_limit_p95: f64,
    /// Mean over cells with a background of the time it took for its bytes over that beside `linux`,
    /// less one.
    pub harm: Option<f64>,
    /// Its 95th percentile.
    pub harm_p95: Option<f64>,
    /// Mean over the same of the share of the background's packets that were dropped, less that
    /// beside `linux`.
    pub harm_loss: Option<f64>,
    /// Cells in which the transfer was not over in time.
    pub unfinished: usize,
    /// By factor and level.
    pub levels: Vec<LevelScore>,
    /// By cell.
    pub cells: Vec<CellScore>,
}

/// A scheme in the cells of one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelScore {
    /// The factor.
    pub factor: &'static str,
    /// Its level.
    pub level: &'static str,
    /// As [`Score::over_limit`]; `None` without a cell of the level.
    pub over_limit: Option<f64>,
    /// As [`Score::over_linux`].
    pub over_linux: Option<f64>,
    /// As [`Score::harm`].
    pub harm: Option<f64>,
}

/// A scheme in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellScore {
    /// Seconds; `None` if it was not over.
    pub time_s: Option<f64>,
    /// Time over the limit.
    pub over_limit: f64,
    /// Time over `linux`'s.
    pub over_linux: f64,
    /// As [`Score::harm`].
    pub harm: Option<f64>,
    /// As [`Score::harm_loss`].
    pub harm_loss: Option<f64>,
}

impl Board {
    pub(super) fn new(plan: &ScoreboardPlan, mut schemes: Vec<Score>) -> Self {
        // Stable: equal scores stay in the order in which the schemes were named.
        schemes.sort_by(|a, b| a.over_linux.total_cmp(&b.over_linux));
        let (cells, weights) = (plan.set.cells(), plan.set.weights());
        let version = env!("CARGO_PKG_VERSION");
        Self { version, set: plan.set, seed: plan.seed, cells, weights, schemes }
    }
}

/// A cell of a set, and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WeighedCell {
    pub(super) cell: MatrixCell,
    pub(super) weight: f64,
    pub(super) stratum: usize,
}

impl WeighedCell {
    /// The cells of a set, in its order.
    pub(super) fn all(set: Set) -> Vec<Self> {
        let strata = set.strata().into_iter().enumerate();
        let places = strata.flat_map(|(stratum, of)| {
            let weight = of.share / of.cells.len() as f64;
            of.cells.into_iter().map(move |cell| Self { cell, weight, stratum })
        });
        places.collect()
    }
}

/// A cell and what came of a scheme in it.
type Scored<'a> = (&'a WeighedCell, &'a CellScore);

impl Score {
    /// From a scheme's outcomes and `linux`'s, by cell.
    pub(super) fn of(
        name: &str,
        places: &[WeighedCell],
        (outcomes, baseline): (&[TransferOutcome], &[TransferOutcome]),
    ) -> Self {
        let pairs = outcomes.iter().zip(baseline);
        let scores: Vec<CellScore> = pairs.map(|(one, linux)| CellScore::of(one, linux)).collect();
        let all: Vec<Scored<'_>> = places.iter().zip(&scores).collect();
        let over_limit = values(&all, |s| Some(s.over_limit));
        let over_linux = values(&all, |s| Some(s.over_linux));
        let harm = values(&all, |s| s.harm);
        Self {
            name: name.to_owned(),
            over_linux: geometric_mean(&over_linux).unwrap_or(f64::NAN),
            over_linux_interval: interval(&over_linux),
            over_limit: geometric_mean(&over_limit).unwrap_or(f64::NAN),
            over_limit_p95: percentile(over_limit, 95).unwrap_or(f64::NAN),
            harm: mean(&harm),
            harm_p95: percentile(harm, 95),
            harm_loss: mean(&values(&all, |s| s.harm_loss)),
            unfinished: scores.iter().filter(|s| s.time_s.is_none()).count(),
            levels: levels(&all),
            cells: scores,
        }
    }
}

/// A score for each level of each factor.
fn levels(all: &[Scored<'_>]) -> Vec<LevelScore> {
    let levels = MatrixFactor::ALL.into_iter();
    let levels = levels.flat_map(|f| f.levels().iter().enumerate().map(move |(n, l)| (f, n, *l)));
    let score = |(factor, n, level): (MatrixFactor, usize, &'static str)| {
        let inside = all.iter().filter(|(place, _)| place.cell.level(factor) == n);
        let inside: Vec<Scored<'_>> = inside.copied().collect();
        LevelScore {
            factor: factor.name(),
            level,
            over_limit: geometric_mean(&values(&inside, |s| Some(s.over_limit))),
            over_linux: geometric_mean(&values(&inside, |s| Some(s.over_linux))),
            harm: mean(&values(&inside, |s| s.harm)),
        }
    };
    levels.map(score).collect()
}

impl CellScore {
    fn of(one: &TransferOutcome, linux: &TransferOutcome) -> Self {
        let time = |outcome: &TransferOutcome| {
            outcome.completion.unwrap_or(TIME_LIMIT).min(TIME_LIMIT).as_nanos() as f64
        };
        // Who never had its bytes took as long as was waited; a background that is not there sent none.
        let background = |outcome: &TransferOutcome| {
            (outcome.background_packets > 0)
                .then(|| outcome.background.unwrap_or(TIME_LIMIT).as_secs_f64())
        };
        let loss = |outcome: &TransferOutcome| {
            (outcome.background_packets > 0)
                .then(|| outcome.background_drops as f64 / outcome.background_packets as f64)
        };
        let pair =
            |value: &dyn Fn(&TransferOutcome) -> Option<f64>| Some((value(one)?, value(linux)?));
        Self {
            time_s: one.completion.map(|time| time.as_secs_f64()),
            over_limit: time(one) / one.limit.as_nanos() as f64,
            over_linux: time(one) / time(linux),
            harm: pair(&background).map(|(one, linux)| one / linux - 1.0),
            harm_loss: pair(&loss).map(|(one, linux)| one - linux),
        }
    }
}

fn values(scored: &[Scored<'_>], value: impl Fn(&CellScore) -> Option<f64>) -> Vec<CellValue> {
    let values = scored.iter().filter_map(|(place, score)| {
        let WeighedCell { weight, stratum, .. } = **place;
        Some(CellValue { value: value(score)?, weight, stratum })
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn outcome(ms: Option<u64>, background: Option<(u64, u64)>) -> TransferOutcome {
        TransferOutcome {
            completion: ms.map(Duration::from_millis),
            limit: Duration::from_millis(100),
            background: background.map(|(ms, _)| Duration::from_millis(ms)),
            background_packets: background.map_or(0, |_| 100),
            background_drops: background.map_or(0, |(_, drops)| drops),
        }
    }

    #[test]
    fn a_cell_by_hand() {
        // 300 ms against 100 ms of the limit and 200 ms of linux; the background takes 1.1 s instead of
        // 1 s and loses 3 of 100 packets instead of 1.
        let one = outcome(Some(300), Some((1100, 3)));
        let linux = outcome(Some(200), Some((1000, 1)));
        let cell = CellScore::of(&one, &linux);
        assert_eq!((cell.over_limit, cell.over_linux), (3.0, 1.5));
        assert!((cell.harm.unwrap() - 0.1).abs() < 1e-12);
        assert!((cell.harm_loss.unwrap() - 0.02).abs() < 1e-12);
        let alone = CellScore::of(&outcome(None, None), &linux);
        // 600 s over 100 ms.
        assert_eq!((alone.over_limit, alone.harm, alone.time_s), (6000.0, None, None));
    }
}
