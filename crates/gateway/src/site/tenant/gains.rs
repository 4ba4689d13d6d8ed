//! The gain of a site: times of transfers that were randomly assigned to a warm start, beside those
//! of the control group, by size class.
//!
//! Hosts have their own shares, visitors and speeds, and change them from stage to stage. So groups
//! are compared within a host and a stage, and pooled as the agent does it ([`canary::trial`]).
//! Transfers count by their assigned group (*intention to treat*), not by how they started.

use canary::interval::ConfidenceInterval;
use canary::log_times::LogTimes;
use canary::part::{SIZES, size_class};
use canary::sequence::{ConfidenceSequence, FEWEST};
use canary::trial::{CanaryGroup, CanaryOutcome, PooledRatio, Trial};
use gateway_proto::v1::{Group, Report, Start};
use lru::LruCache;
use serde::Serialize;
use std::num::NonZeroUsize;

/// Number of size classes: [`SIZES`] and more.
const CLASSES: usize = SIZES.len() + 1;
/// Maximum number of hosts with open stages. For the host that has been silent longest, only the
/// pooled results are kept.
const HOSTS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
/// Longest plausible time of a transfer, microseconds: an hour.
const MAX_TRANSFER_US: u64 = 3_600_000_000;
/// Error probability: one sequence for each class and one for all together miss the truth at most
/// once in 20 sites.
const ALL_TOGETHER: f64 = 0.05;
/// Logarithm of the effect size that is found soonest.
const SCALE: f64 = 0.1;

/// Times of transfers by size class, host and stage.
#[derive(Debug)]
pub struct SiteGains {
    /// Results by the epoch of a reporter: an agent draws an epoch at its start, and its stages
    /// start again.
    hosts: LruCache<u64, HostGains>,
    classes: [ClassGains; CLASSES],
}

/// Comparisons of one host by size class.
type HostGains = [Trial; CLASSES];

/// The results of one size class that do not depend on open stages.
#[derive(Clone, Copy, Debug, Default)]
struct ClassGains {
    /// Results of hosts that have been silent for long.
    past: PooledRatio,
    chosen: u64,
    control: LogTimes,
    cold: u64,
}

/// The gain of one size class.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct GainOfClass {
    /// Maximum size of its transfers, bytes; none: larger than the class before.
    pub up_to_bytes: Option<u64>,
    /// Transfers assigned to a warm start.
    pub chosen: u64,
    /// Transfers of the control group.
    pub control: u64,
    /// Transfers with a cold start because nothing was known.
    pub cold: u64,
    /// Geometric mean of the times of the control group, seconds.
    pub control_s: Option<f64>,
    /// Ratio of the time of the assigned transfers to that of the control group, within hosts and
    /// stages, with its interval. None if there are too few of either in each stage.
    pub time_ratio: Option<ConfidenceInterval>,
}

impl Default for SiteGains {
    fn default() -> Self {
        Self { hosts: LruCache::new(HOSTS), classes: Default::default() }
    }
}

impl SiteGains {
    /// Counts a report of a whole transfer, from the reporter with this epoch.
    pub fn add(&mut self, epoch: u64, report: &Report) {
        if !(1..=MAX_TRANSFER_US).contains(&report.transfer_us) || report.transfer_bytes == 0 {
            return;
        }
        let size = usize::from(size_class(report.transfer_bytes));
        let time_s = report.transfer_us as f64 / 1e6;
        let Some(class) = self.classes.get_mut(size) else { return };
        class.cold += u64::from(report.start() == Start::Cold);
        let is_chosen = match report.group() {
            Group::Unspecified => return,
            Group::Chosen => true,
            Group::Control => false,
        };
        match is_chosen {
            true => class.chosen += 1,
            false => class.control.add(time_s),
        }
        let group = CanaryGroup { stage: report.stage, is_chosen };
        let outcome = CanaryOutcome { time_s, again: report.lost };
        if let Some(trial) = self.host(epoch).get_mut(size) {
            trial.add(group, &outcome, FEWEST);
        }
    }

    /// Returns the comparisons of a host, and closes those of the one that has been silent longest
    /// if there are too many.
    fn host(&mut self, epoch: u64) -> &mut HostGains {
        if !self.hosts.contains(&epoch)
            && let Some((_, silent)) = self.hosts.push(epoch, HostGains::default())
        {
            for (class, trial) in self.classes.iter_mut().zip(&silent) {
                class.past.join(&trial.times(FEWEST));
            }
        }
        self.hosts.get_or_insert_mut(epoch, HostGains::default)
    }

    /// Returns the gains by size class, the smallest first.
    pub fn classes(&self) -> Vec<GainOfClass> {
        let sequence = ConfidenceSequence { alpha: ALL_TOGETHER / CLASSES as f64, scale: SCALE };
        let classes = self.classes.iter().enumerate();
        let gain = |(size, class): (usize, &ClassGains)| GainOfClass {
            up_to_bytes: SIZES.get(size).copied(),
            chosen: class.chosen,
            control: class.control.count,
            cold: class.cold,
            control_s: class.control.mean_s(),
            time_ratio: self.pooled(size, class).ratio().map(|ratio| sequence.ratio(ratio)),
        };
        classes.map(gain).collect()
    }

    /// Pools the hosts of a class.
    fn pooled(&self, size: usize, class: &ClassGains) -> PooledRatio {
        let mut pooled = class.past;
        let trials = self.hosts.iter().filter_map(|(_, host)| host.get(size));
        trials.for_each(|trial| pooled.join(&trial.times(FEWEST)));
        pooled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(group: Group, stage: u32, us: u64) -> Report {
        let (transfer_bytes, transfer_us) = (30_000, us);
        Report { group: group.into(), stage, transfer_bytes, transfer_us, ..Report::default() }
    }

    /// Returns the class of 30,000 bytes: above 16,384 and up to 65,536.
    fn class(gains: &SiteGains) -> GainOfClass {
        gains.classes()[1]
    }

    #[test]
    fn chosen_transfers_that_take_half_as_long_show_half() {
        let mut gains = SiteGains::default();
        for n in 0..4000 {
            // Times differ by ±10 %, so the standard error of a ratio is above 0.
            let swing = if n % 2 == 0 { 9 } else { 11 };
            // The actual start does not matter, only the random assignment.
            let start = if n % 3 == 0 { Start::Cold } else { Start::Warm };
            let chosen = transfer(Group::Chosen, 0, 10_000 * swing);
            gains.add(1, &Report { start: start.into(), ..chosen });
            gains.add(1, &transfer(Group::Control, 0, 20_000 * swing));
        }
        gains.add(1, &transfer(Group::Unspecified, 0, 1));
        gains.add(1, &transfer(Group::Chosen, 0, 0));
        let class = class(&gains);
        assert_eq!((class.up_to_bytes, class.chosen, class.control), (Some(65_536), 4000, 4000));
        assert_eq!(class.cold, 4000_u64.div_ceil(3));
        let ratio = class.time_ratio.expect("4000 of each are enough");
        assert!((ratio.estimate - 0.5).abs() < 1e-9 && ratio.low < 0.5 && ratio.high > 0.5);
        assert!(ratio.high < 0.52, "{ratio:?}");
        assert!(gains.classes()[0].time_ratio.is_none());
    }

    /// Warm starts have no effect. In a host that takes 0.1 s, 9 of 10 transfers are assigned; in
    /// one that takes 1 s, 1 of 10. Pooled naively, the assigned ones would take 10^-0.8 = 0.16 of
    /// the time. The same holds for two stages of one host.
    #[test]
    fn hosts_and_stages_with_other_shares_do_not_mix() {
        let places: [[(u64, u32); 2]; 2] = [[(1, 0), (2, 0)], [(1, 0), (1, 1)]];
        for [fast, slow] in places {
            let mut gains = SiteGains::default();
            for n in 0..10_000 {
                let swing = if n / 10 % 2 == 0 { 9 } else { 11 };
                let group = |is_chosen| if is_chosen { Group::Chosen } else { Group::Control };
                gains.add(fast.0, &transfer(group(n % 10 > 0), fast.1, 10_000 * swing));
                gains.add(slow.0, &transfer(group(n % 10 == 0), slow.1, 100_000 * swing));
            }
            let ratio = class(&gains).time_ratio.expect("thousands of each");
            assert!((ratio.estimate - 1.0).abs() < 1e-6, "{ratio:?}");
            assert!(ratio.low < 1.0 && ratio.high > 1.0, "{ratio:?}");
        }
    }

    #[test]
    fn what_a_silent_host_has_shown_outlives_its_place() {
        let mut gains = SiteGains::default();
        for n in 0..400 {
            let swing = if n % 4 < 2 { 9 } else { 11 };
            let group = if n % 2 == 0 { Group::Chosen } else { Group::Control };
            gains.add(1, &transfer(group, 0, 10_000 * swing));
        }
        let before = class(&gains).time_ratio.expect("200 of each");
        (2..=HOSTS.get() as u64 + 1)
            .for_each(|epoch| gains.add(epoch, &transfer(Group::Chosen, 0, 1)));
        assert!(!gains.hosts.contains(&1));
        let after = class(&gains).time_ratio.expect("they are kept");
        assert!((after.low - before.low).abs() < 1e-9, "{before:?} {after:?}");
    }
}
