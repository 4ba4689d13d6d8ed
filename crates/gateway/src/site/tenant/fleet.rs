//! The comparison of warm starts over all hosts of a site. Agents send sums of their own
//! comparisons. Applications, and agents of earlier versions, report the group of each transfer,
//! which is summed here in the same way, within a host and a stage ([`canary::fleet`]). Transfers
//! count by their assigned group (*intention to treat*), not by how they started.

use canary::fleet::{FleetFinding, fleet_finding};
use canary::interval::ConfidenceInterval;
use canary::part::{CanaryPart, SIZES, fleet_parts, size_class};
use canary::sequence::MIN_GROUP_CONNECTIONS;
use canary::trial::{CanaryGroup, CanaryOutcome, Trial, TrialSums};
use gateway_proto::v1::{Group, Report, Start};
use lru::LruCache;
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use units::{Duration, Instant};

/// Number of size classes: [`SIZES`] and more.
const CLASSES: usize = SIZES.len() + 1;
/// Maximum number of hosts that are compared, and of hosts that report groups. One more replaces
/// the host that has been silent longest.
const MAX_HOSTS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
/// Maximum number of epochs of a host that count: programs that report at a time, and restarts. One
/// more replaces the epoch that has been silent longest.
const MAX_EPOCHS: NonZeroUsize = NonZeroUsize::new(8).unwrap();
/// Longest plausible time of a transfer, microseconds: an hour.
const MAX_TRANSFER_US: u64 = 3_600_000_000;
/// Time for which the sums and the groups of a silent host count. A host that is gone for good can
/// no longer be armed, so its connections must not decide for ever.
pub(crate) const SUMS_LIFETIME: Duration = Duration::from_secs(3600);
/// Time for which findings are kept: a thousand agents ask a hundred times a second.
const FINDINGS_LIFETIME: Duration = Duration::from_secs(1);

/// Sums of a host, by part.
pub(crate) type HostSums = Vec<(CanaryPart, TrialSums)>;

/// Comparisons of the hosts of a site.
#[derive(Debug)]
pub struct SiteComparison {
    /// Sums that agents have sent, by the names in their certificates.
    hosts: LruCache<String, AgedSums>,
    /// Comparisons of hosts that report groups, by the names in their certificates.
    reported: LruCache<String, ReportedHost>,
    /// Transfers with a cold start because nothing was known, by size class.
    cold: [u64; CLASSES],
    findings: Option<(Instant, Vec<FleetFinding>)>,
}

#[derive(Debug)]
struct AgedSums {
    at: Instant,
    sums: HostSums,
    /// True if other gateways do not have them yet.
    is_unshared: bool,
}

#[derive(Debug)]
struct ReportedHost {
    /// Time of its last report.
    at: Instant,
    /// Its comparisons. A reporter draws an epoch at its start, and counts its stages from there.
    epochs: LruCache<u64, ReportedGroups>,
}

#[derive(Debug, Default)]
struct ReportedGroups {
    all: Trial,
    classes: [Trial; CLASSES],
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
    /// stages, with its interval. None if there are too few of either.
    pub time_ratio: Option<ConfidenceInterval>,
}

impl Default for SiteComparison {
    fn default() -> Self {
        Self {
            hosts: LruCache::new(MAX_HOSTS),
            reported: LruCache::new(MAX_HOSTS),
            cold: [0; CLASSES],
            findings: None,
        }
    }
}

impl ReportedHost {
    /// Returns the sums over all epochs.
    fn sums(&self, part: CanaryPart) -> TrialSums {
        let mut all = TrialSums::default();
        let sums = self.epochs.iter().filter_map(|(_, groups)| groups.sums(part));
        sums.for_each(|sums| all.join(&sums));
        all
    }
}

impl ReportedGroups {
    fn sums(&self, part: CanaryPart) -> Option<TrialSums> {
        match part {
            CanaryPart::All => Some(self.all.sums()),
            CanaryPart::Bytes(class) => self.classes.get(usize::from(class)).map(Trial::sums),
            _ => None,
        }
    }
}

impl SiteComparison {
    /// Counts a report of a whole transfer, from the host `name` in this epoch. Its group counts
    /// only if the host sends no sums, of which the transfer may be part.
    pub fn add(&mut self, now: Instant, name: &str, epoch: u64, report: &Report) {
        if !(1..=MAX_TRANSFER_US).contains(&report.transfer_us) || report.transfer_bytes == 0 {
            return;
        }
        let size = usize::from(size_class(report.transfer_bytes));
        let Some(cold) = self.cold.get_mut(size) else { return };
        *cold += u64::from(report.start() == Start::Cold);
        let is_chosen = match report.group() {
            Group::Unspecified => return,
            Group::Chosen => true,
            Group::Control => false,
        };
        if self.hosts.peek(name).is_some_and(|sent| !sent.sums.is_empty() && counts(sent.at, now)) {
            return;
        }
        let time_s = report.transfer_us as f64 / 1e6;
        let (group, outcome) = (
            CanaryGroup { stage: report.stage, is_chosen },
            CanaryOutcome { time_s, retransmissions: report.lost },
        );
        let new = || ReportedHost { at: now, epochs: LruCache::new(MAX_EPOCHS) };
        let host = self.reported.get_or_insert_mut_ref(name, new);
        host.at = now;
        let groups = host.epochs.get_or_insert_mut(epoch, ReportedGroups::default);
        groups.all.add(group, &outcome, MIN_GROUP_CONNECTIONS);
        if let Some(class) = groups.classes.get_mut(size) {
            class.add(group, &outcome, MIN_GROUP_CONNECTIONS);
        }
    }

    /// Takes the sums of the host `name`, which replace its sums before. Groups that the host has
    /// reported before an upgrade are part of its sums, and are dropped.
    pub(crate) fn put(&mut self, now: Instant, name: &str, sums: HostSums) {
        self.replace(name, AgedSums { at: now, sums, is_unshared: true });
    }

    fn replace(&mut self, name: &str, sums: AgedSums) {
        if !sums.sums.is_empty() {
            self.reported.pop(name);
        }
        self.hosts.put(name.to_owned(), sums);
    }

    /// Takes sums that another gateway may have received, unless later ones of the host are here.
    pub(crate) fn merge(&mut self, at: Instant, name: &str, sums: HostSums) {
        if self.hosts.peek(name).is_none_or(|known| known.at < at) {
            self.replace(name, AgedSums { at, sums, is_unshared: false });
        }
    }

    /// Returns the sums that other gateways do not have yet, with their hosts and times.
    pub(crate) fn take_unshared(&mut self) -> Vec<(String, Instant, HostSums)> {
        let unshared = self.hosts.iter_mut().filter(|(_, host)| host.is_unshared);
        let taken = unshared.map(|(name, host)| {
            host.is_unshared = false;
            (name.clone(), host.at, host.sums.clone())
        });
        taken.collect()
    }

    /// Returns the findings of all hosts, as of a second ago at most.
    pub(crate) fn findings(&mut self, now: Instant) -> Vec<FleetFinding> {
        match &self.findings {
            Some((at, kept)) if now.saturating_since(*at) < FINDINGS_LIFETIME => kept.clone(),
            _ => {
                let findings: Vec<_> =
                    fleet_parts().map(|part| fleet_finding(part, &self.sums(now, part))).collect();
                self.findings = Some((now, findings.clone()));
                findings
            }
        }
    }

    /// Returns the sums of each host that counts.
    fn sums(&self, now: Instant, part: CanaryPart) -> Vec<TrialSums> {
        let hosts = self.hosts.iter().map(|(_, host)| host).filter(|host| counts(host.at, now));
        let sent = hosts.flat_map(|host| &host.sums).filter(|(other, _)| *other == part);
        let reported = self.reported.iter().map(|(_, host)| host);
        let reported = reported.filter(|host| counts(host.at, now)).map(|host| host.sums(part));
        sent.map(|(_, sums)| *sums).chain(reported).collect()
    }

    /// Returns the gains by size class, the smallest first.
    pub fn classes(&mut self, now: Instant) -> Vec<GainOfClass> {
        let findings: BTreeMap<_, _> =
            self.findings(now).into_iter().map(|found| (found.finding.part, found)).collect();
        let gain = |size: usize| {
            let part = CanaryPart::Bytes(size as u8);
            let mut all = TrialSums::default();
            self.sums(now, part).iter().for_each(|host| all.join(host));
            let mean = all.control_logs / all.control_times as f64;
            GainOfClass {
                up_to_bytes: SIZES.get(size).copied(),
                chosen: all.chosen,
                control: all.control,
                cold: self.cold[size],
                control_s: (all.control_times > 0).then(|| mean.exp()),
                time_ratio: findings.get(&part).and_then(|found| found.finding.times),
            }
        };
        (0..CLASSES).map(gain).collect()
    }
}

/// Returns whether a host counts whose last message came at `at`.
fn counts(at: Instant, now: Instant) -> bool {
    now.saturating_since(at) <= SUMS_LIFETIME
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_nanos(7_000_000_000);

    fn transfer(group: Group, stage: u32, us: u64) -> Report {
        let (transfer_bytes, transfer_us) = (30_000, us);
        Report { group: group.into(), stage, transfer_bytes, transfer_us, ..Report::default() }
    }

    /// Returns the class of 30,000 bytes: above 16,384 and up to 65,536.
    fn class(all: &mut SiteComparison) -> GainOfClass {
        all.classes(NOW)[1]
    }

    #[test]
    fn chosen_transfers_that_take_half_as_long_show_half() {
        let mut all = SiteComparison::default();
        for n in 0..4000 {
            // Times differ by ±10 %, so the standard error of a ratio is above 0.
            let swing = if n % 2 == 0 { 9 } else { 11 };
            // The actual start does not matter, only the random assignment.
            let start = if n % 3 == 0 { Start::Cold } else { Start::Warm };
            let chosen = transfer(Group::Chosen, 0, 10_000 * swing);
            all.add(NOW, "app", 1, &Report { start: start.into(), ..chosen });
            all.add(NOW, "app", 1, &transfer(Group::Control, 0, 20_000 * swing));
        }
        all.add(NOW, "app", 1, &transfer(Group::Unspecified, 0, 1));
        all.add(NOW, "app", 1, &transfer(Group::Chosen, 0, 0));
        let class = class(&mut all);
        assert_eq!((class.up_to_bytes, class.chosen, class.control), (Some(65_536), 4000, 4000));
        assert_eq!(class.cold, 4000_u64.div_ceil(3));
        // √(0.18 · 0.22) s.
        assert!((class.control_s.unwrap() - 0.0396_f64.sqrt()).abs() < 1e-9);
        let ratio = class.time_ratio.expect("4000 of each are enough");
        assert!((ratio.estimate - 0.5).abs() < 1e-9 && ratio.low < 0.5 && ratio.high > 0.5);
        assert!(ratio.high < 0.52, "{ratio:?}");
        assert!(all.classes(NOW)[0].time_ratio.is_none());
    }

    /// Warm starts have no effect. In a host that takes 0.1 s, 9 of 10 transfers are assigned; in
    /// one that takes 1 s, 1 of 10. Pooled naively, the assigned ones would take 10^-0.8 = 0.16 of
    /// the time. The same holds for two stages of one host.
    #[test]
    fn hosts_and_stages_with_other_shares_do_not_mix() {
        let places: [[(u64, u32); 2]; 2] = [[(1, 0), (2, 0)], [(1, 0), (1, 1)]];
        for [fast, slow] in places {
            let mut all = SiteComparison::default();
            for n in 0..10_000 {
                let swing = if n / 10 % 2 == 0 { 9 } else { 11 };
                let group = |is_chosen| if is_chosen { Group::Chosen } else { Group::Control };
                let (quick, long) = (10_000 * swing, 100_000 * swing);
                all.add(NOW, "app", fast.0, &transfer(group(n % 10 > 0), fast.1, quick));
                all.add(NOW, "app", slow.0, &transfer(group(n % 10 == 0), slow.1, long));
            }
            let ratio = class(&mut all).time_ratio.expect("thousands of each");
            assert!((ratio.estimate - 1.0).abs() < 1e-6, "{ratio:?}");
            assert!(ratio.low < 1.0 && ratio.high > 1.0, "{ratio:?}");
        }
    }

    /// Sums of 60 and 60 connections.
    fn sums() -> HostSums {
        let mut trial = Trial::default();
        for n in 0..120 {
            let group = CanaryGroup { stage: 0, is_chosen: n % 2 == 0 };
            let time_s = if n % 4 < 2 { 0.9 } else { 1.1 };
            trial.add(group, &CanaryOutcome { time_s, retransmissions: 0 }, MIN_GROUP_CONNECTIONS);
        }
        vec![(CanaryPart::All, trial.sums())]
    }

    fn hosts(all: &mut SiteComparison, now: Instant) -> (u32, u64) {
        let found = &all.findings(now)[0];
        (found.hosts, found.finding.chosen)
    }

    #[test]
    fn later_sums_of_a_host_replace_its_earlier_ones_and_count_for_an_hour() {
        let mut all = SiteComparison::default();
        for n in 0..100 {
            let group = if n % 2 == 0 { Group::Chosen } else { Group::Control };
            all.add(NOW, "web-1", 1, &transfer(group, 0, 10_000 + n));
            all.add(NOW, "app", 2, &transfer(group, 0, 10_000 + n));
        }
        assert_eq!(hosts(&mut all, NOW), (2, 100));
        // The groups that `web-1` has reported, and goes on to report, are part of its sums.
        let at = |seconds| NOW + Duration::from_secs(seconds);
        all.put(at(1), "web-1", sums());
        all.add(at(1), "web-1", 1, &transfer(Group::Chosen, 0, 10_000));
        assert_eq!(hosts(&mut all, at(1)), (2, 110));
        all.put(at(2), "web-1", sums());
        all.put(at(2), "web-2", sums());
        assert_eq!(hosts(&mut all, at(2)), (3, 170));
        all.put(at(3602), "web-2", Vec::new());
        assert_eq!(hosts(&mut all, at(3602)), (1, 60));
        // Without sums for an hour, groups count again.
        all.add(at(3603), "app", 2, &transfer(Group::Chosen, 0, 10_000));
        all.add(at(3603), "web-1", 3, &transfer(Group::Chosen, 0, 10_000));
        assert_eq!(hosts(&mut all, at(3603)), (1, 52));
        // Sums come back, and the groups are part of them.
        all.put(at(3604), "web-1", sums());
        assert_eq!(hosts(&mut all, at(3604)), (2, 111));
    }

    /// Each epoch has ten transfers of each group; the last eight epochs of a host count.
    #[test]
    fn many_epochs_of_one_name_are_one_host_and_displace_no_other() {
        let mut all = SiteComparison::default();
        let mut add = |name, epoch| {
            for n in 0..10 {
                all.add(NOW, name, epoch, &transfer(Group::Chosen, 0, 10_000 + n));
                all.add(NOW, name, epoch, &transfer(Group::Control, 0, 10_000 + n));
            }
        };
        add("web-1", 1);
        (0..2000).for_each(|epoch| add("app", epoch));
        assert_eq!(hosts(&mut all, NOW), (2, 10 + 80));
    }

    #[test]
    fn findings_are_made_once_a_second() {
        let mut all = SiteComparison::default();
        assert_eq!(hosts(&mut all, NOW), (0, 0));
        all.put(NOW, "web-1", sums());
        assert_eq!(hosts(&mut all, NOW), (0, 0));
        assert_eq!(hosts(&mut all, NOW + Duration::from_secs(1)), (1, 60));
    }
}
