//! What a forecast says: the times of each scheme against those of the first one, by groups of transfers, and how well the
//! first one explains what was captured.

use crate::gain::{GainBasis, GainKind, GroupGain, MOST_ERROR, SchemeTimes, Times};
use crate::group::{ForecastGroup, Subject};
use crate::replay::Replayed;
use race::PERFECT_START;
use race::perfect;
use serde::Serialize;
use units::Duration;

/// Times under a scheme, or in the capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForecastRow {
    /// The scheme's text.
    pub scheme: String,
    /// Median of the times of transfers that ended, seconds; `None` if none did, as of the next two.
    pub median_s: Option<f64>,
    /// Their mean.
    pub mean_s: Option<f64>,
    /// Their 95th percentile by nearest rank.
    pub p95_s: Option<f64>,
    /// Transfers that did not end.
    pub unfinished: u64,
    /// Segments that servers sent again.
    pub retransmissions: u64,
    /// Expiries of servers' retransmission timers. Of the capture: those that sent something again.
    pub timeouts: u64,
    /// Share of transfers whose client's queue held more than the capture has shown that it does. If it does not, they lose packets, and
    /// take longer.
    pub beyond: f64,
    /// The gain over the first scheme in parts of that of perfect start; `None` of the capture, and
    /// where perfect start gains too little to divide by.
    pub share_of_perfect_start: Option<f64>,
    /// Gains by groups that have transfers; none of the capture.
    pub gains: Vec<GroupGain>,
    /// The time of each transfer, in the same order in all rows; `None` of those that did not end.
    #[serde(skip)]
    pub took: Vec<Option<Duration>>,
}

/// How well the first scheme, simulated, explains what was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModelFit {
    /// Transfers.
    pub transfers: u64,
    /// Quartiles of simulated over captured time; `None` of no transfers.
    pub quartiles: Option<[f64; 3]>,
    /// Share of transfers whose simulated time is within a quarter of the captured one; `None` of no transfers.
    pub within_quarter: Option<f64>,
}

/// What a forecast says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForecastResult {
    /// How well the first scheme explains the capture.
    pub fit: ModelFit,
    /// The capture's own times.
    pub captured: ForecastRow,
    /// A row for each scheme; the first alone if nothing is predicted.
    pub rows: Vec<ForecastRow>,
    /// Replays under each scheme that ratios are means of.
    pub draws: u64,
    /// Transfers whose client's rate changes, as the capture shows.
    pub changing: u64,
    /// Nothing is predicted, because the first scheme's replay is off by so much: the geometric
    /// mean of its times over those captured.
    pub refused: Option<f64>,
}

/// All that was replayed.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllTimes {
    /// By scheme.
    pub(crate) schemes: Vec<SchemeTimes>,
    /// The first scheme with rates that do not change, if any does.
    pub(crate) steady: Option<Vec<Option<Duration>>>,
    /// By scheme, in the first draw.
    pub(crate) nominal: Vec<Vec<Replayed>>,
}

impl ForecastResult {
    /// Summarises the replays under the schemes of these names.
    pub(crate) fn of(names: &[&str], subjects: &[Subject], times: &AllTimes) -> Self {
        let Some(first) = times.schemes.first() else { return Self::default() };
        let basis = GainBasis { subjects, first, steady: times.steady.as_deref() };
        let mut rows = Vec::new();
        for (number, (name, taken)) in names.iter().zip(&times.schemes).enumerate() {
            let replayed = &times.nominal[number];
            let needs_more = replayed.iter().any(|of| of.is_beyond);
            let kind = GainKind { is_first: number == 0, needs_more };
            let gain = |group| GroupGain::of(group, basis, taken, kind);
            let gains = ForecastGroup::all().filter_map(gain).collect();
            let nominal = taken.draws.first().map_or(&[][..], Vec::as_slice);
            rows.push(ForecastRow { gains, ..ForecastRow::replayed(name, nominal, replayed) });
        }
        divide_by_perfect_start(&mut rows);
        let all = rows.first().and_then(|row| row.gain(ForecastGroup::All));
        let is_refused = |off: &f64| off.ln().abs() > MOST_ERROR.ln();
        let refused = all.map(|gain| gain.back_test).filter(is_refused);
        if refused.is_some() {
            rows.truncate(1);
        }
        Self {
            fit: ModelFit::of(subjects, first.draws.first().map_or(&[][..], Vec::as_slice)),
            captured: ForecastRow::captured(subjects),
            rows,
            draws: first.draws.len() as u64,
            changing: 0,
            refused,
        }
    }
}

/// Gives each row its part of the gain of perfect start.
fn divide_by_perfect_start(rows: &mut [ForecastRow]) {
    let gain = |row: &ForecastRow| Some(1.0 - row.gain(ForecastGroup::All)?.ratio?);
    let whole = rows.iter().find(|row| row.scheme == PERFECT_START).and_then(gain);
    for row in rows {
        let both = gain(row).zip(whole);
        row.share_of_perfect_start = both.and_then(|(gain, whole)| perfect::share(gain, whole));
    }
}

impl ForecastRow {
    fn replayed(scheme: &str, taken: &Times, replayed: &[Replayed]) -> Self {
        Self {
            retransmissions: replayed.iter().map(|of| of.again).sum(),
            timeouts: replayed.iter().map(|of| of.timeouts).sum(),
            beyond: share_beyond(replayed),
            ..Self::timed(scheme, taken)
        }
    }

    fn captured(subjects: &[Subject]) -> Self {
        let taken: Vec<_> = subjects.iter().map(|subject| Some(subject.captured)).collect();
        Self {
            retransmissions: subjects.iter().map(|subject| u64::from(subject.again)).sum(),
            timeouts: subjects.iter().map(|subject| u64::from(subject.timeouts)).sum(),
            ..Self::timed("captured", &taken)
        }
    }

    fn timed(scheme: &str, taken: &Times) -> Self {
        let mut seconds: Vec<f64> = taken.iter().flatten().map(|time| time.as_secs_f64()).collect();
        seconds.sort_by(f64::total_cmp);
        Self {
            scheme: scheme.to_owned(),
            median_s: quantile(&seconds, 0.5),
            mean_s: of_some(seconds.len(), seconds.iter().sum()),
            p95_s: quantile(&seconds, 0.95),
            unfinished: (taken.len() - seconds.len()) as u64,
            took: taken.to_vec(),
            ..Self::default()
        }
    }

    /// The gain of a group, if it has transfers.
    pub fn gain(&self, group: ForecastGroup) -> Option<&GroupGain> {
        self.gains.iter().find(|gain| gain.group == group)
    }
}

impl ModelFit {
    pub(crate) fn of(subjects: &[Subject], simulated: &Times) -> Self {
        let both = subjects.iter().zip(simulated).filter_map(|(subject, time)| {
            let captured = subject.captured.as_secs_f64();
            time.filter(|_| captured > 0.0).map(|time| time.as_secs_f64() / captured)
        });
        let mut ratios: Vec<f64> = both.collect();
        ratios.sort_by(f64::total_cmp);
        let near = ratios.iter().filter(|ratio| (0.75..=1.25).contains(*ratio)).count();
        let [low, middle, high] = [0.25, 0.5, 0.75].map(|part| quantile(&ratios, part));
        Self {
            transfers: ratios.len() as u64,
            quartiles: low.zip(middle).zip(high).map(|((low, middle), high)| [low, middle, high]),
            within_quarter: of_some(ratios.len(), near as f64),
        }
    }
}

/// Share of transfers over connections whose client's queue held more than was seen.
fn share_beyond(replayed: &[Replayed]) -> f64 {
    let transfers = |of: &Replayed| of.took.len();
    let beyond: usize = replayed.iter().filter(|of| of.is_beyond).map(transfers).sum();
    let all: usize = replayed.iter().map(transfers).sum();
    beyond as f64 / all.max(1) as f64
}

/// By nearest rank; `None` of none.
fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// A sum over their number; `None` of none.
fn of_some(count: usize, sum: f64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(times: &[f64]) -> Vec<Option<Duration>> {
        times.iter().map(|time| Some(Duration::from_secs_f64(*time))).collect()
    }

    fn subject() -> Subject {
        let captured = Duration::from_secs(2);
        Subject { network: 0, bytes: 1_000, is_first: true, captured, again: 1, timeouts: 0 }
    }

    /// No transfer ended under a scheme: it is not the fastest, its times are not known.
    #[test]
    fn times_of_no_transfer_are_undefined() {
        let row = ForecastRow::timed("x", &[None]);
        assert_eq!((row.median_s, row.mean_s, row.p95_s, row.unfinished), (None, None, None, 1));
        let fit = ModelFit::of(&[subject()], &[None]);
        assert_eq!((fit.transfers, fit.quartiles, fit.within_quarter), (0, None, None));
        let row = ForecastRow::timed("x", &seconds(&[3.0]));
        assert_eq!((row.median_s, row.mean_s, row.p95_s), (Some(3.0), Some(3.0), Some(3.0)));
    }

    /// What did not end counts as unfinished, and in no mean. Captured 2 s each: ratios 1/2 and 1.
    #[test]
    fn what_does_not_end_has_no_time() {
        let subjects = [subject(), subject(), subject()];
        let taken = [seconds(&[1.0, 2.0]), vec![None]].concat();
        let row = ForecastRow::timed("x", &taken);
        assert_eq!((row.unfinished, row.mean_s, row.median_s), (1, Some(1.5), Some(1.0)));
        let captured = ForecastRow::captured(&subjects);
        assert_eq!(
            (captured.retransmissions, captured.timeouts, captured.mean_s),
            (3, 0, Some(2.0))
        );
        let fit = ModelFit::of(&subjects, &taken);
        assert_eq!((fit.transfers, fit.quartiles), (2, Some([0.5, 0.5, 1.0])));
        assert_eq!(fit.within_quarter, Some(0.5));
    }

    /// Captured 2 s. The first scheme's replay takes 1.4 s, which is less than three quarters of
    /// it: nothing else is shown. With 1.6 s both schemes are.
    #[test]
    fn a_replay_that_is_far_off_predicts_nothing() {
        let result = |first: f64| {
            let scheme = |time| SchemeTimes { draws: vec![seconds(&[time])], short_queues: None };
            let nominal = vec![vec![Replayed::default()]; 2];
            let times =
                AllTimes { schemes: vec![scheme(first), scheme(1.0)], steady: None, nominal };
            ForecastResult::of(&["a", "b"], &[subject()], &times)
        };
        let refused = result(1.4);
        assert!((refused.refused.unwrap() - 0.7).abs() < 1e-9 && refused.rows.len() == 1);
        let told = result(1.6);
        assert_eq!((told.refused, told.rows.len()), (None, 2));
    }
}
