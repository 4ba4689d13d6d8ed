//! What a forecast says: the times of each scheme against those of the first one, by groups of transfers, and how well the
//! first one explains what was captured.

use crate::network::ClientNetwork;
use crate::replay::Replayed;
use findings::{SIZE_CLASSES, SizeClass};
use race::student::two_sided_95;
use serde::{Serialize, Serializer};
use units::Duration;

/// A transfer of the capture, as groups need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    network: usize,
    bytes: u64,
    /// Its connection began before its network had ended a transfer.
    is_first: bool,
    captured: Duration,
    again: u32,
    timeouts: u32,
}

impl Subject {
    /// Of all transfers, in the order of networks, connections and transfers.
    pub(crate) fn all(networks: &[ClientNetwork]) -> Vec<Self> {
        let mut subjects = Vec::new();
        for network in networks {
            let ends = network.connections().filter_map(|(_, connection)| {
                connection.transfers.first().map(|first| first.ended)
            });
            let known = ends.min();
            for (_, connection) in network.connections() {
                let is_first = known.is_none_or(|known| connection.began <= known);
                subjects.extend(connection.transfers.iter().map(|transfer| Self {
                    network: network.number,
                    bytes: transfer.bytes,
                    is_first,
                    captured: transfer.took,
                    again: transfer.again,
                    timeouts: transfer.timeouts,
                }));
            }
        }
        subjects
    }
}

/// Which transfers a gain is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForecastGroup {
    /// All.
    All,
    /// Over connections that began before their network had ended a transfer: nothing can be remembered.
    First,
    /// Over later ones.
    Repeated,
    /// By size of the answer.
    Size(SizeClass),
}

impl ForecastGroup {
    /// All groups: all, first and repeated visits, sizes from small to large.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::All, Self::First, Self::Repeated].into_iter().chain(SIZE_CLASSES.map(Self::Size))
    }

    /// A short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::First => "first visits",
            Self::Repeated => "repeated visits",
            Self::Size(class) => class.name(),
        }
    }

    fn has(self, subject: &Subject) -> bool {
        match self {
            Self::All => true,
            Self::First => subject.is_first,
            Self::Repeated => !subject.is_first,
            Self::Size(class) => class == SizeClass::of(subject.bytes),
        }
    }
}

impl Serialize for ForecastGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The time of a group of transfers over their time under the first scheme.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupGain {
    /// Which.
    pub group: ForecastGroup,
    /// Transfers that ended under both.
    pub transfers: u64,
    /// Geometric mean of time over time.
    pub ratio: f64,
    /// 95 % interval of it, as far as networks differ, by Student's t; `None` with fewer than two networks.
    pub interval: Option<(f64, f64)>,
}

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
    /// Gains by groups that have transfers.
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
    /// A row for each scheme.
    pub rows: Vec<ForecastRow>,
}

/// Times of transfers; `None` of those that did not end.
type Times = [Option<Duration>];

impl ForecastRow {
    pub(crate) fn of(
        scheme: &str,
        subjects: &[Subject],
        baseline: &Times,
        taken: &Times,
        replayed: &[Replayed],
    ) -> Self {
        Self {
            retransmissions: replayed.iter().map(|of| of.again).sum(),
            timeouts: replayed.iter().map(|of| of.timeouts).sum(),
            beyond: share_beyond(replayed),
            ..Self::timed(scheme, subjects, baseline, taken)
        }
    }

    pub(crate) fn captured(subjects: &[Subject], baseline: &Times) -> Self {
        let taken: Vec<_> = subjects.iter().map(|subject| Some(subject.captured)).collect();
        Self {
            retransmissions: subjects.iter().map(|subject| u64::from(subject.again)).sum(),
            timeouts: subjects.iter().map(|subject| u64::from(subject.timeouts)).sum(),
            ..Self::timed("captured", subjects, baseline, &taken)
        }
    }

    fn timed(scheme: &str, subjects: &[Subject], baseline: &Times, taken: &Times) -> Self {
        let mut seconds: Vec<f64> = taken.iter().flatten().map(|time| time.as_secs_f64()).collect();
        seconds.sort_by(f64::total_cmp);
        let gain = |group| GroupGain::of(group, subjects, baseline, taken);
        Self {
            scheme: scheme.to_owned(),
            median_s: quantile(&seconds, 0.5),
            mean_s: of_some(seconds.len(), seconds.iter().sum()),
            p95_s: quantile(&seconds, 0.95),
            unfinished: (taken.len() - seconds.len()) as u64,
            retransmissions: 0,
            timeouts: 0,
            beyond: 0.0,
            gains: ForecastGroup::all().filter_map(gain).collect(),
            took: taken.to_vec(),
        }
    }

    /// The gain of a group, if it has transfers.
    pub fn gain(&self, group: ForecastGroup) -> Option<&GroupGain> {
        self.gains.iter().find(|gain| gain.group == group)
    }
}

impl GroupGain {
    fn of(
        group: ForecastGroup,
        subjects: &[Subject],
        baseline: &Times,
        taken: &Times,
    ) -> Option<Self> {
        let mut networks: Vec<(f64, f64)> = Vec::new();
        let mut last = None;
        for ((subject, baseline), taken) in subjects.iter().zip(baseline).zip(taken) {
            let (Some(baseline), Some(taken)) = (baseline, taken) else { continue };
            if !group.has(subject) || baseline.is_zero() || taken.is_zero() {
                continue;
            }
            if last.replace(subject.network) != Some(subject.network) {
                networks.push((0.0, 0.0));
            }
            if let Some((sum, count)) = networks.last_mut() {
                *sum += (taken.as_secs_f64() / baseline.as_secs_f64()).ln();
                *count += 1.0;
            }
        }
        let count: f64 = networks.iter().map(|(_, count)| count).sum();
        if count == 0.0 {
            return None;
        }
        let mean = networks.iter().map(|(sum, _)| sum).sum::<f64>() / count;
        let interval = standard_error(&networks, mean).map(|error| {
            let half_width = two_sided_95(networks.len() - 1) * error;
            ((mean - half_width).exp(), (mean + half_width).exp())
        });
        Some(Self { group, transfers: count as u64, ratio: mean.exp(), interval })
    }
}

/// Standard error of a mean over groups with these sums and counts, whose members are alike: a ratio estimator (Cochran 1977
/// §6.4). `None` of fewer than two groups.
fn standard_error(groups: &[(f64, f64)], mean: f64) -> Option<f64> {
    let n = groups.len() as f64;
    if groups.len() < 2 {
        return None;
    }
    let count: f64 = groups.iter().map(|(_, count)| count).sum();
    let squares: f64 = groups.iter().map(|(sum, count)| (sum - count * mean).powi(2)).sum();
    Some((squares * n / (n - 1.0)).sqrt() / count)
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

    fn subject(network: usize, bytes: u64, is_first: bool) -> Subject {
        let captured = Duration::from_secs(2);
        Subject { network, bytes, is_first, captured, again: 1, timeouts: 0 }
    }

    /// Half the time on the first visit, an eighth and as long on later ones, which are of medium size: √(1/8) = 0.353553391. The
    /// geometric mean of all is the cube root of 1/16, 0.396850263.
    #[test]
    fn gains_are_geometric_means_of_each_group() {
        let subjects =
            [subject(0, 1_000, true), subject(0, 20_000, false), subject(1, 20_000, false)];
        let (baseline, taken) = (seconds(&[2.0, 8.0, 1.0]), seconds(&[1.0, 1.0, 1.0]));
        let row = ForecastRow::timed("x", &subjects, &baseline, &taken);
        let ratio = |group| row.gain(group).map(|gain| (gain.ratio * 1e9).round() / 1e9);
        assert_eq!(ratio(ForecastGroup::All), Some(0.396_850_263));
        assert_eq!(ratio(ForecastGroup::First), Some(0.5));
        assert_eq!(ratio(ForecastGroup::Repeated), Some(0.353_553_391));
        assert_eq!(ratio(ForecastGroup::Size(SizeClass::Medium)), Some(0.353_553_391));
        assert_eq!(ratio(ForecastGroup::Size(SizeClass::Huge)), None);
    }

    /// Two networks of one transfer each, ln ratios −1 and −3: mean −2, squares 1 + 1, so the error is √(2 · 2) / 2 = 1.
    #[test]
    fn the_interval_is_of_networks() {
        assert_eq!(standard_error(&[(-1.0, 1.0), (-3.0, 1.0)], -2.0), Some(1.0));
        // Ten transfers of one network tell no more of others than one does.
        assert_eq!(standard_error(&[(-10.0, 10.0)], -1.0), None);
    }

    /// No transfer ended under a scheme: it is not the fastest, its times are not known.
    #[test]
    fn times_of_no_transfer_are_undefined() {
        let subjects = [subject(0, 1_000, true)];
        let (ended, not_ended) = (seconds(&[3.0]), vec![None]);
        let row = ForecastRow::timed("x", &subjects, &ended, &not_ended);
        assert_eq!((row.median_s, row.mean_s, row.p95_s, row.unfinished), (None, None, None, 1));
        assert_eq!(row.gain(ForecastGroup::All), None);
        let fit = ModelFit::of(&subjects, &not_ended);
        assert_eq!((fit.transfers, fit.quartiles, fit.within_quarter), (0, None, None));
        let row = ForecastRow::timed("x", &subjects, &ended, &ended);
        assert_eq!((row.median_s, row.mean_s, row.p95_s), (Some(3.0), Some(3.0), Some(3.0)));
    }

    /// The same two networks: Student's t with one degree of freedom is 12.706, so the interval is from e^(−2 − 12.706) to e^(−2 + 12.706). Two parts
    /// of one network have no interval.
    #[test]
    fn few_networks_have_wide_intervals() {
        let interval = |networks: [usize; 2]| {
            let subjects = networks.map(|network| subject(network, 1_000, true));
            let (baseline, taken) = ([1.0, 1.0], [(-1.0_f64).exp(), (-3.0_f64).exp()]);
            let row = ForecastRow::timed("x", &subjects, &seconds(&baseline), &seconds(&taken));
            row.gain(ForecastGroup::All).and_then(|gain| gain.interval)
        };
        let (low, high) = interval([0, 1]).expect("two networks");
        assert!((low.ln() + 14.706).abs() < 0.001 && (high.ln() - 10.706).abs() < 0.001);
        assert_eq!(interval([1, 1]), None);
    }

    /// What did not end counts as unfinished, and in no mean. Captured 2 s each: ratios 1/2 and 1.
    #[test]
    fn what_does_not_end_has_no_time() {
        let subjects = [subject(0, 1, true), subject(0, 1, true), subject(0, 1, true)];
        let taken = [seconds(&[1.0, 2.0]), vec![None]].concat();
        let row = ForecastRow::timed("x", &subjects, &taken, &taken);
        assert_eq!((row.unfinished, row.mean_s, row.median_s), (1, Some(1.5), Some(1.0)));
        let captured = ForecastRow::captured(&subjects, &taken);
        assert_eq!(
            (captured.retransmissions, captured.timeouts, captured.mean_s),
            (3, 0, Some(2.0))
        );
        let fit = ModelFit::of(&subjects, &taken);
        assert_eq!((fit.transfers, fit.quartiles), (2, Some([0.5, 0.5, 1.0])));
        assert_eq!(fit.within_quarter, Some(0.5));
    }
}
