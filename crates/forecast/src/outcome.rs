//! The results of a forecast. They are the times of each scheme compared with those of the first
//! one, by groups of transfers, and the fit of the first one to the capture.

use crate::gain::{GainBasis, GainKind, GroupGain, MAX_ERROR, SchemeTimes, Times};
use crate::group::{ComparedTransfer, ForecastGroup};
use crate::replay::Replayed;
use race::PERFECT_START;
use race::perfect;
use serde::Serialize;
use units::Duration;

/// Times under a scheme, or in the capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForecastRow {
    /// Text of the scheme.
    pub scheme: String,
    /// Median of the times of finished transfers, seconds; this and the next two are `None` if none
    /// finished.
    pub median_s: Option<f64>,
    /// Mean of these times, seconds.
    pub mean_s: Option<f64>,
    /// 95th percentile of these times by nearest rank, seconds.
    pub p95_s: Option<f64>,
    /// Number of transfers that did not end.
    pub unfinished: u64,
    /// Number of segments that servers retransmitted.
    pub retransmissions: u64,
    /// Expiries of servers' retransmission timers; for the capture, those that retransmitted a
    /// segment.
    pub timeouts: u64,
    /// Share of transfers whose client's queue held more than the capture has shown. If the real
    /// queue is shorter, they lose packets, and take longer.
    pub beyond: f64,
    /// The gain over the first scheme divided by that of perfect start; `None` for the capture, and
    /// if perfect start gains too little to divide by.
    pub share_of_perfect_start: Option<f64>,
    /// Gains by groups that have transfers; none for the capture.
    pub gains: Vec<GroupGain>,
    /// The time of each transfer, in the same order in all rows; `None` for those that did not end.
    #[serde(skip)]
    pub took: Vec<Option<Duration>>,
}

/// The fit of the first scheme's simulation to the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModelFit {
    /// Number of transfers.
    pub transfers: u64,
    /// Quartiles of simulated over captured time; `None` without transfers.
    pub quartiles: Option<[f64; 3]>,
    /// Share of transfers whose simulated time is within a quarter of the captured one; `None`
    /// without transfers.
    pub within_quarter: Option<f64>,
}

/// The results of a forecast.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForecastResult {
    /// The fit of the first scheme to the capture.
    pub fit: ModelFit,
    /// The capture's own times.
    pub captured: ForecastRow,
    /// A row for each scheme; only the first if the forecast is refused.
    pub rows: Vec<ForecastRow>,
    /// Number of replays under each scheme over which ratios are averaged.
    pub draws: u64,
    /// Number of transfers whose client's rate changes in the capture.
    pub changing: u64,
    /// Set if the forecast is refused, because the first scheme's replay is too far off: the
    /// geometric mean of its times over the captured ones.
    pub refused: Option<f64>,
}

/// The times of all replays.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllTimes {
    /// Times by scheme.
    pub(crate) schemes: Vec<SchemeTimes>,
    /// The first scheme's times with constant rates, if any rate changes.
    pub(crate) with_steady_rates: Option<Vec<Option<Duration>>>,
    /// Results by scheme, in the first draw.
    pub(crate) nominal: Vec<Vec<Replayed>>,
}

impl ForecastResult {
    /// Summarises the replays under the schemes of these names.
    pub(crate) fn of(names: &[&str], transfers: &[ComparedTransfer], times: &AllTimes) -> Self {
        let Some(first) = times.schemes.first() else { return Self::default() };
        let basis =
            GainBasis { transfers, first, with_steady_rates: times.with_steady_rates.as_deref() };
        let mut rows = Vec::new();
        for (number, (name, taken)) in names.iter().zip(&times.schemes).enumerate() {
            let replayed = &times.nominal[number];
            let exceeds_seen_queues = replayed.iter().any(|of| of.is_beyond);
            let kind = GainKind { is_first: number == 0, exceeds_seen_queues };
            let gain = |group| GroupGain::of(group, basis, taken, kind);
            let gains = ForecastGroup::all().filter_map(gain).collect();
            let nominal = taken.draws.first().map_or(&[][..], Vec::as_slice);
            rows.push(ForecastRow { gains, ..ForecastRow::of_replays(name, nominal, replayed) });
        }
        divide_by_perfect_start(&mut rows);
        let all = rows.first().and_then(|row| row.gain(ForecastGroup::All));
        let is_refused = |off: &f64| off.ln().abs() > MAX_ERROR.ln();
        let refused = all.map(|gain| gain.back_test).filter(is_refused);
        if refused.is_some() {
            rows.truncate(1);
        }
        Self {
            fit: ModelFit::of(transfers, first.draws.first().map_or(&[][..], Vec::as_slice)),
            captured: ForecastRow::of_capture(transfers),
            rows,
            draws: first.draws.len() as u64,
            changing: 0,
            refused,
        }
    }
}

/// Computes each row's share of the gain of perfect start.
fn divide_by_perfect_start(rows: &mut [ForecastRow]) {
    let gain = |row: &ForecastRow| Some(1.0 - row.gain(ForecastGroup::All)?.ratio?);
    let whole = rows.iter().find(|row| row.scheme == PERFECT_START).and_then(gain);
    for row in rows {
        let both = gain(row).zip(whole);
        row.share_of_perfect_start = both.and_then(|(gain, whole)| perfect::share(gain, whole));
    }
}

impl ForecastRow {
    /// Summarises replays under a scheme. Gains are left empty.
    fn of_replays(scheme: &str, taken: &Times, replayed: &[Replayed]) -> Self {
        Self {
            retransmissions: replayed.iter().map(|of| of.retransmissions).sum(),
            timeouts: replayed.iter().map(|of| of.timeouts).sum(),
            beyond: share_beyond(replayed),
            ..Self::from_times(scheme, taken)
        }
    }

    /// Summarises the capture itself.
    fn of_capture(transfers: &[ComparedTransfer]) -> Self {
        let taken: Vec<_> = transfers.iter().map(|transfer| Some(transfer.captured)).collect();
        Self {
            retransmissions: transfers
                .iter()
                .map(|transfer| u64::from(transfer.retransmissions))
                .sum(),
            timeouts: transfers.iter().map(|transfer| u64::from(transfer.timeouts)).sum(),
            ..Self::from_times("captured", &taken)
        }
    }

    /// Creates a row with the statistics of these times alone.
    fn from_times(scheme: &str, taken: &Times) -> Self {
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

    /// Returns the gain of a group, if it has transfers.
    pub fn gain(&self, group: ForecastGroup) -> Option<&GroupGain> {
        self.gains.iter().find(|gain| gain.group == group)
    }
}

impl ModelFit {
    /// Compares simulated times with captured ones. Transfers that did not end, or took no time in
    /// the capture, are left out.
    pub(crate) fn of(transfers: &[ComparedTransfer], simulated: &Times) -> Self {
        let both = transfers.iter().zip(simulated).filter_map(|(transfer, time)| {
            let captured = transfer.captured.as_secs_f64();
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

/// Returns the share of transfers on connections whose client's queue held more than was seen.
fn share_beyond(replayed: &[Replayed]) -> f64 {
    let transfers = |of: &Replayed| of.took.len();
    let beyond: usize = replayed.iter().filter(|of| of.is_beyond).map(transfers).sum();
    let all: usize = replayed.iter().map(transfers).sum();
    beyond as f64 / all.max(1) as f64
}

/// Returns a quantile by nearest rank; `None` without values.
fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Returns the mean; `None` without values.
fn of_some(count: usize, sum: f64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(times: &[f64]) -> Vec<Option<Duration>> {
        times.iter().map(|time| Some(Duration::from_secs_f64(*time))).collect()
    }

    fn transfer() -> ComparedTransfer {
        let captured = Duration::from_secs(2);
        ComparedTransfer {
            network: 0,
            bytes: 1_000,
            is_first: true,
            captured,
            retransmissions: 1,
            timeouts: 0,
        }
    }

    /// No transfer ended under a scheme: it is not the fastest, its times are unknown.
    #[test]
    fn times_of_no_transfer_are_undefined() {
        let row = ForecastRow::from_times("x", &[None]);
        assert_eq!((row.median_s, row.mean_s, row.p95_s, row.unfinished), (None, None, None, 1));
        let fit = ModelFit::of(&[transfer()], &[None]);
        assert_eq!((fit.transfers, fit.quartiles, fit.within_quarter), (0, None, None));
        let row = ForecastRow::from_times("x", &seconds(&[3.0]));
        assert_eq!((row.median_s, row.mean_s, row.p95_s), (Some(3.0), Some(3.0), Some(3.0)));
    }

    /// A transfer that does not end counts as unfinished, and in no mean. Each took 2 s in the
    /// capture: ratios 1/2 and 1.
    #[test]
    fn what_does_not_end_has_no_time() {
        let transfers = [transfer(), transfer(), transfer()];
        let taken = [seconds(&[1.0, 2.0]), vec![None]].concat();
        let row = ForecastRow::from_times("x", &taken);
        assert_eq!((row.unfinished, row.mean_s, row.median_s), (1, Some(1.5), Some(1.0)));
        let captured = ForecastRow::of_capture(&transfers);
        assert_eq!(
            (captured.retransmissions, captured.timeouts, captured.mean_s),
            (3, 0, Some(2.0))
        );
        let fit = ModelFit::of(&transfers, &taken);
        assert_eq!((fit.transfers, fit.quartiles), (2, Some([0.5, 0.5, 1.0])));
        assert_eq!(fit.within_quarter, Some(0.5));
    }

    /// The captured time is 2 s. The first scheme's replay takes 1.4 s, less than three quarters of
    /// it: no other scheme is shown. With 1.6 s both schemes are.
    #[test]
    fn a_replay_that_is_far_off_predicts_nothing() {
        let result = |first: f64| {
            let scheme = |time| SchemeTimes { draws: vec![seconds(&[time])], short_queues: None };
            let nominal = vec![vec![Replayed::default()]; 2];
            let times = AllTimes {
                schemes: vec![scheme(first), scheme(1.0)],
                with_steady_rates: None,
                nominal,
            };
            ForecastResult::of(&["a", "b"], &[transfer()], &times)
        };
        let refused = result(1.4);
        assert!((refused.refused.unwrap() - 0.7).abs() < 1e-9 && refused.rows.len() == 1);
        let outcome = result(1.6);
        assert_eq!((outcome.refused, outcome.rows.len()), (None, 2));
    }
}
