//! What is said of a scheme: over all cells, over those of each level, and in each.

use super::cells::{MatrixCell, MatrixFactor, Set};
use super::run::TransferOutcome;
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

/// Bounds of a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanBounds {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
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
        let cells = plan.set.cells();
        let version = env!("CARGO_PKG_VERSION");
        Self { version, set: plan.set, seed: plan.seed, cells, schemes }
    }
}

impl Score {
    /// From a scheme's outcomes and `linux`'s, by cell.
    pub(super) fn of(
        name: &str,
        cells: &[MatrixCell],
        (outcomes, baseline): (&[TransferOutcome], &[TransferOutcome]),
    ) -> Self {
        let pairs = outcomes.iter().zip(baseline);
        let scores: Vec<CellScore> = pairs.map(|(one, linux)| CellScore::of(one, linux)).collect();
        let all: Vec<&CellScore> = scores.iter().collect();
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
            levels: levels(cells, &scores),
            cells: scores,
        }
    }
}

/// A score for each level of each factor.
fn levels(cells: &[MatrixCell], scores: &[CellScore]) -> Vec<LevelScore> {
    let levels = MatrixFactor::ALL.into_iter();
    let levels = levels.flat_map(|f| f.levels().iter().enumerate().map(move |(n, l)| (f, n, *l)));
    let score = |(factor, n, level): (MatrixFactor, usize, &'static str)| {
        let inside = cells.iter().zip(scores).filter(|(cell, _)| cell.level(factor) == n);
        let inside: Vec<&CellScore> = inside.map(|(_, score)| score).collect();
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

fn values(scores: &[&CellScore], value: impl Fn(&CellScore) -> Option<f64>) -> Vec<f64> {
    scores.iter().filter_map(|score| value(score)).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

/// Of positive values.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    mean(&logarithms(values)).map(f64::exp)
}

/// The 95 % interval of the geometric mean: 1.96 standard errors of the mean logarithm on either side. It is one
/// point for fewer than two values.
fn interval(values: &[f64]) -> MeanBounds {
    let logarithms = logarithms(values);
    let centre = mean(&logarithms).unwrap_or(f64::NAN);
    let squares = logarithms.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
    let count = logarithms.len() as f64;
    let error = match logarithms.len() {
        0 | 1 => 0.0,
        _ => (squares / (count - 1.0) / count).sqrt(),
    };
    MeanBounds { low: (centre - 1.96 * error).exp(), high: (centre + 1.96 * error).exp() }
}

/// The least value that so many per cent do not exceed (nearest rank).
fn percentile(mut values: Vec<f64>, percent: usize) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
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

    #[test]
    fn twice_as_long_and_half_as_long_cancel() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(geometric_mean(&[2.0, 0.5]).unwrap(), 1.0);
        near(geometric_mean(&[2.0, 8.0]).unwrap(), 4.0);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn an_interval_by_hand() {
        // Logarithms -1 and 1: variance 2, standard error 1.
        let e = std::f64::consts::E;
        let MeanBounds { low, high } = interval(&[e, 1.0 / e]);
        assert!((low - (-1.96f64).exp()).abs() < 1e-12 && (high - 1.96f64.exp()).abs() < 1e-12);
        assert_eq!(interval(&[1.0, 1.0]), MeanBounds { low: 1.0, high: 1.0 });
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(hundred, 95), Some(95.0));
        // 95 % of 3 is 2.85: the third.
        assert_eq!(percentile(vec![3.0, 1.0, 2.0], 95), Some(3.0));
        assert_eq!(percentile(Vec::new(), 95), None);
    }
}
