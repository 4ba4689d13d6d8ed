//! The prediction: the times of a group of transfers over their times under the first scheme, with
//! the interval that holds it.
//!
//! Three things make it unsure. Networks differ, chance decides which packets are lost, and a model
//! is a model. The first two are seen: in the scatter of networks, and of replays with other seeds.
//! For the third, the first scheme is a test: what it took is captured.

use crate::group::{ComparedTransfer, ForecastGroup};
use race::student::two_sided_95;
use serde::Serialize;
use units::Duration;

/// If the replay of the first scheme is off by more than this factor, either way, nothing is
/// predicted.
pub const MAX_ERROR: f64 = 4.0 / 3.0;

/// Error of the simulation: transfer times are within this of the kernel's, all but one in fifty
/// (docs/validation/three-worlds.md).
const SIMULATION_ERROR: f64 = 0.05;

/// Times of transfers; `None` for transfers that did not end.
pub(crate) type Times = [Option<Duration>];

/// Times under a scheme, replay by replay.
#[derive(Clone, Debug, Default)]
pub(crate) struct SchemeTimes {
    /// Times with the estimates of the paths, each draw with its own random numbers. Tables show
    /// the first draw.
    pub(crate) draws: Vec<Vec<Option<Duration>>>,
    /// Times with queues that end where they were seen, if the end of any queue is not known.
    pub(crate) short_queues: Option<Vec<Option<Duration>>>,
}

/// The baseline of gains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GainBasis<'a> {
    pub(crate) transfers: &'a [ComparedTransfer],
    /// Times under the first scheme.
    pub(crate) first: &'a SchemeTimes,
    /// Times under the first scheme with rates that do not change, if any rate changes.
    pub(crate) with_steady_rates: Option<&'a Times>,
}

/// Properties of the scheme of a gain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GainKind {
    /// True for the first scheme itself.
    pub(crate) is_first: bool,
    /// Under this scheme a queue held more than the capture has shown. The interval then also holds
    /// the ratio with short queues.
    pub(crate) exceeds_seen_queues: bool,
}

/// The time of a group of transfers, divided by their time under the first scheme.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupGain {
    /// The group.
    pub group: ForecastGroup,
    /// Transfers that ended under both schemes.
    pub transfers: u64,
    /// Geometric mean of replayed over captured time under the first scheme. If rates change, there
    /// is also a replay with rates that do not change, and the mean farther from 1 counts.
    pub back_test: f64,
    /// Geometric mean of a transfer's time over its time under the first scheme. `None` if the
    /// back-test is off by more than [`MAX_ERROR`].
    pub ratio: Option<f64>,
    /// Interval that holds the ratio in 95 of 100 cases; `None` for the first scheme itself, and
    /// without a ratio.
    pub interval: Option<(f64, f64)>,
}

/// Sums of the logarithms of ratios, network by network.
struct LogRatios(Vec<LogSum>);

/// Sum of the logarithms of one network's transfers, and the number of these transfers.
#[derive(Clone, Copy, Debug, Default)]
struct LogSum {
    sum: f64,
    count: f64,
}

impl LogRatios {
    /// Sums the logarithms of `taken` over `baseline` for the transfers of `group`, network by
    /// network. Transfers that did not end, or took no time, are left out. Transfers of the same
    /// network must be neighbours; `baseline` and `taken` are in the order of `transfers`.
    fn of(
        group: ForecastGroup,
        transfers: &[ComparedTransfer],
        baseline: impl Iterator<Item = Option<Duration>>,
        taken: &Times,
    ) -> Self {
        let mut networks: Vec<LogSum> = Vec::new();
        let mut last = None;
        for ((transfer, baseline), taken) in transfers.iter().zip(baseline).zip(taken) {
            let (Some(baseline), Some(taken)) = (baseline, taken) else { continue };
            if !group.contains(transfer) || baseline.is_zero() || taken.is_zero() {
                continue;
            }
            if last.replace(transfer.network) != Some(transfer.network) {
                networks.push(LogSum::default());
            }
            if let Some(of) = networks.last_mut() {
                of.sum += (taken.as_secs_f64() / baseline.as_secs_f64()).ln();
                of.count += 1.0;
            }
        }
        Self(networks)
    }

    /// Returns the number of transfers in all networks.
    fn count(&self) -> f64 {
        self.0.iter().map(|of| of.count).sum()
    }

    /// Returns the mean logarithm over all transfers; `None` without transfers.
    fn mean(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().map(|of| of.sum).sum();
        (!self.0.is_empty()).then(|| sum / self.count())
    }

    /// Returns half of the 95 % interval of the mean by Student's t, as far as networks differ: a
    /// ratio estimator (Cochran 1977 §6.4). Returns 0 for fewer than two networks, which do not
    /// show how networks differ.
    fn half_width(&self) -> f64 {
        let (n, count) = (self.0.len() as f64, self.count());
        let Some(mean) = self.mean().filter(|_| self.0.len() > 1) else { return 0.0 };
        let squares: f64 = self.0.iter().map(|of| (of.sum - of.count * mean).powi(2)).sum();
        two_sided_95(self.0.len() - 1) * (squares * n / (n - 1.0)).sqrt() / count
    }
}

impl GroupGain {
    /// Returns the gain of a group; `None` if no transfer of it ended under both schemes.
    ///
    /// The scatter of networks, that of replays and the simulation's error add as squares. The
    /// error of the back-test is added to both sides. If `kind.exceeds_seen_queues`, the interval
    /// also reaches the ratio with short queues, as far as that was replayed.
    pub(crate) fn of(
        group: ForecastGroup,
        basis: GainBasis<'_>,
        taken: &SchemeTimes,
        kind: GainKind,
    ) -> Option<Self> {
        let of = |baseline: &Times, taken: &Times| {
            LogRatios::of(group, basis.transfers, baseline.iter().copied(), taken)
        };
        let both = basis.first.draws.iter().zip(&taken.draws);
        let draws: Vec<LogRatios> = both.map(|(baseline, taken)| of(baseline, taken)).collect();
        let nominal = draws.first()?;
        let means: Vec<f64> = draws.iter().filter_map(LogRatios::mean).collect();
        let mean = mean_of(&means)?;
        let off = back_test_log(group, basis)?;
        let is_accurate = off.abs() <= MAX_ERROR.ln();
        let chance =
            nominal.half_width().hypot(half_interval(&means, mean)).hypot(SIMULATION_ERROR);
        let short = basis.first.short_queues.as_deref().zip(taken.short_queues.as_deref());
        let short = short.filter(|_| kind.exceeds_seen_queues);
        let short = short.and_then(|(baseline, taken)| of(baseline, taken).mean());
        let short = short.unwrap_or(mean);
        let low = (mean - chance - off.abs()).min(short - SIMULATION_ERROR);
        let high = (mean + chance + off.abs()).max(short + SIMULATION_ERROR);
        Some(Self {
            group,
            transfers: nominal.count() as u64,
            back_test: off.exp(),
            ratio: is_accurate.then(|| mean.exp()),
            interval: (is_accurate && !kind.is_first).then(|| (low.exp(), high.exp())),
        })
    }
}

/// Returns the mean logarithm of replayed over captured times under the first scheme, above 0 if
/// replays take longer. There is one mean for the draws, and one for steady rates if any rate
/// changes; the one farther from 0 is returned. Returns `None` without transfers in the group.
///
/// If only changing rates explain the capture, a scheme that sends at other times meets other
/// rates.
fn back_test_log(group: ForecastGroup, basis: GainBasis<'_>) -> Option<f64> {
    let of = |times: &Times| {
        let captured = basis.transfers.iter().map(|transfer| Some(transfer.captured));
        LogRatios::of(group, basis.transfers, captured, times).mean()
    };
    let draws: Vec<f64> = basis.first.draws.iter().filter_map(|draw| of(draw)).collect();
    let steady = basis.with_steady_rates.and_then(of);
    let offs = mean_of(&draws).into_iter().chain(steady);
    offs.max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// Returns the arithmetic mean; `None` if there are no values.
fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns half of a prediction interval: the mean of one more replay lies that near to `mean` in
/// 95 of 100 cases, by Student's t. Returns 0 for a single replay. `means`: logarithms.
fn half_interval(means: &[f64], mean: f64) -> f64 {
    let n = means.len() as f64;
    if means.len() < 2 {
        return 0.0;
    }
    let squares: f64 = means.iter().map(|of| (of - mean).powi(2)).sum();
    let deviation = (squares / (n - 1.0)).sqrt();
    two_sided_95(means.len() - 1) * deviation * (1.0 + 1.0 / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::SizeClass;

    /// A scheme under which queues held more than was seen.
    const OTHER: GainKind = GainKind { is_first: false, exceeds_seen_queues: true };

    fn seconds(times: &[f64]) -> Vec<Option<Duration>> {
        times.iter().map(|time| Some(Duration::from_secs_f64(*time))).collect()
    }

    fn transfer(network: usize, bytes: u64, is_first: bool, captured: f64) -> ComparedTransfer {
        let captured = Duration::from_secs_f64(captured);
        ComparedTransfer { network, bytes, is_first, captured, retransmissions: 1, timeouts: 0 }
    }

    fn once(times: &[f64]) -> SchemeTimes {
        SchemeTimes { draws: vec![seconds(times)], short_queues: None }
    }

    fn all(transfers: &[ComparedTransfer], first: &SchemeTimes, taken: &SchemeTimes) -> GroupGain {
        let basis = GainBasis { transfers, first, with_steady_rates: None };
        GroupGain::of(ForecastGroup::All, basis, taken, OTHER).expect("there are transfers")
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    /// Half the time on the first visit, an eighth and as long on later ones, which are of medium
    /// size: √(1/8) = 0.353553391. The geometric mean of all is the cube root of 1/16, 0.396850263.
    /// The replays took as long as the capture.
    #[test]
    fn gains_are_geometric_means_of_each_group() {
        let transfers = [
            transfer(0, 1_000, true, 2.0),
            transfer(0, 20_000, false, 8.0),
            transfer(1, 20_000, false, 1.0),
        ];
        let (first, taken) = (once(&[2.0, 8.0, 1.0]), once(&[1.0, 1.0, 1.0]));
        let basis = GainBasis { transfers: &transfers, first: &first, with_steady_rates: None };
        let ratio =
            |group| GroupGain::of(group, basis, &taken, OTHER).map(|gain| gain.ratio.unwrap());
        assert_near(ratio(ForecastGroup::All).unwrap(), 0.396_850_263);
        assert_near(ratio(ForecastGroup::First).unwrap(), 0.5);
        assert_near(ratio(ForecastGroup::Repeated).unwrap(), 0.353_553_391);
        assert_near(ratio(ForecastGroup::Size(SizeClass::Medium)).unwrap(), 0.353_553_391);
        assert_eq!(ratio(ForecastGroup::Size(SizeClass::Huge)), None);
    }

    /// Two networks of one transfer each, ln ratios −1 and −3: mean −2, squares 1 + 1, so the error
    /// is √(2 · 2) / 2 = 1. Student's t with one degree of freedom is 12.706; beside it the
    /// simulation's 0.05 adds 0.0001. Two parts of one network show nothing of others: 0.05 alone.
    #[test]
    fn few_networks_have_wide_intervals() {
        let interval = |networks: [usize; 2]| {
            let transfers = networks.map(|network| transfer(network, 1_000, true, 1.0));
            let taken = once(&[(-1.0_f64).exp(), (-3.0_f64).exp()]);
            let (low, high) = all(&transfers, &once(&[1.0, 1.0]), &taken).interval.unwrap();
            [low.ln(), high.ln()]
        };
        let [low, high] = interval([0, 1]);
        assert!((low + 14.706).abs() < 0.001 && (high - 10.706).abs() < 0.001, "{low} {high}");
        let [low, high] = interval([1, 1]);
        assert_near(low, -2.05);
        assert_near(high, -1.95);
    }

    /// The replay takes 1.1 times as long as the capture: its logarithm 0.09531 is added on both
    /// sides to the simulation's 0.05. With rates that do not change it would take 0.8 times as
    /// long, which is farther off: 0.22314. At 1.4 times there is no ratio.
    #[test]
    fn the_back_test_widens_the_interval_and_refuses() {
        let transfers = [transfer(0, 1_000, true, 2.0)];
        let gain = |first: f64, steady: Option<f64>| {
            let (first, steady) = (once(&[first]), steady.map(|time| seconds(&[time])));
            let steady = steady.as_deref();
            let basis =
                GainBasis { transfers: &transfers, first: &first, with_steady_rates: steady };
            GroupGain::of(ForecastGroup::All, basis, &first, OTHER).unwrap()
        };
        let off = gain(2.2, None);
        assert_near(off.back_test, 1.1);
        assert_near(off.interval.unwrap().1.ln(), 0.145_310_180);
        assert_near(off.interval.unwrap().0.ln(), -0.145_310_180);
        let steady = gain(2.2, Some(1.6));
        assert_near(steady.back_test, 0.8);
        assert_near(steady.interval.unwrap().1.ln(), 0.273_143_551);
        let refused = gain(2.8, None);
        assert_eq!((refused.ratio, refused.interval), (None, None));
        assert_near(refused.back_test, 1.4);
    }

    /// Replays with other chance have ln ratios 0 and 0.2: mean 0.1, standard deviation √0.02.
    /// Another one is within 12.706 · √0.02 · √1.5 of it in 95 of 100 cases. With short queues the
    /// ratio is e^9: the interval reaches that, and the simulation's 0.05 more.
    #[test]
    fn chance_and_queues_that_nobody_has_seen_widen_the_interval() {
        let transfers = [transfer(0, 1_000, true, 1.0)];
        let draws = |times: [f64; 2], short: Option<f64>| SchemeTimes {
            draws: times.map(|time| seconds(&[time])).to_vec(),
            short_queues: short.map(|time| seconds(&[time])),
        };
        let (first, taken) = (draws([1.0; 2], Some(1.0)), [1.0, 0.2_f64.exp()]);
        let gain = all(&transfers, &first, &draws(taken, None));
        let half = (12.706_f64 * 0.02_f64.sqrt() * 1.5_f64.sqrt()).hypot(0.05);
        assert_near(gain.ratio.unwrap().ln(), 0.1);
        assert!((gain.interval.unwrap().1.ln() - 0.1 - half).abs() < 0.001);
        let short = all(&transfers, &first, &draws(taken, Some(9.0_f64.exp())));
        assert_near(short.interval.unwrap().1.ln(), 9.05);
        assert_eq!(short.interval.unwrap().0, gain.interval.unwrap().0);
        // If a scheme does not exceed the seen queues, it would not fill short ones, either.
        let basis = GainBasis { transfers: &transfers, first: &first, with_steady_rates: None };
        let (within_seen_queues, taken) = (GainKind::default(), draws(taken, Some(9.0_f64.exp())));
        let of = GroupGain::of(ForecastGroup::All, basis, &taken, within_seen_queues).unwrap();
        assert_eq!(of.interval, gain.interval);
    }
}
