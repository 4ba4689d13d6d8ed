//! Samples of a gateway for one destination in its sliding window, and their average: of all
//! values, or of each host's average.

use crate::window::{Average, SlidingWindow};
use std::collections::BTreeMap;
use std::net::IpAddr;
use units::{Duration, Instant};

/// Units of equal weight in an average (Zhang, Qiu & Keshav 2000 §5.2.3: "the average of all
/// values").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighing {
    /// Every sample. A host that reports often has much weight.
    #[default]
    Samples,
    /// Every host, by the average of its samples.
    Hosts,
}

/// Values of one kind towards one destination.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// Values by host; if every sample counts alike, all values are under no host.
    groups: BTreeMap<Option<IpAddr>, SlidingWindow>,
}

impl Values {
    /// Takes a value of the way to `remote`. At most `limit` values of a group are kept, and as
    /// many groups; the oldest ones are dropped.
    pub(crate) fn push(
        &mut self,
        now: Instant,
        value: u64,
        remote: IpAddr,
        weighing: Weighing,
        limit: usize,
    ) {
        let group = (weighing == Weighing::Hosts).then_some(remote);
        if !self.groups.contains_key(&group) && self.groups.len() >= limit.max(1) {
            self.forget_the_oldest();
        }
        self.groups.entry(group).or_default().push(now, value, limit);
    }

    /// Forgets values older than `length` at `now`, and values from the future.
    pub(crate) fn expire(&mut self, now: Instant, length: Duration) {
        self.groups.retain(|_, window| {
            window.expire(now, length);
            !window.is_empty()
        });
    }

    /// Returns the average of the groups' averages, rounded down, of all samples; `None` without
    /// any.
    pub(crate) fn average(&self) -> Option<Average> {
        let groups = || self.groups.values().filter_map(SlidingWindow::average);
        let newest = groups().map(|group| group.newest).max()?;
        let sum: u128 = groups().map(|group| u128::from(group.mean)).sum();
        // The mean of 64-bit values fits into 64 bits.
        let mean = (sum / groups().count() as u128) as u64;
        Some(Average { mean, count: groups().map(|group| group.count).sum(), newest })
    }

    /// Returns true if there is no value.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.values().all(SlidingWindow::is_empty)
    }

    fn forget_the_oldest(&mut self) {
        let newest = |window: &SlidingWindow| window.average().map(|average| average.newest);
        let oldest = self.groups.iter().min_by_key(|(_, window)| newest(window));
        if let Some(group) = oldest.map(|(group, _)| *group) {
            self.groups.remove(&group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Instant {
        Instant::from_nanos(s * 1_000_000_000)
    }

    fn host(n: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, n])
    }

    /// Host 1 reports 40, 42, 44 within a minute, host 2 reports 10 once.
    fn values_of(weighing: Weighing, limit: usize) -> Values {
        let mut values = Values::default();
        for (s, n, value) in [(0, 1, 40), (20, 2, 10), (30, 1, 42), (60, 1, 44)] {
            values.push(at(s), value, host(n), weighing, limit);
        }
        values
    }

    #[test]
    fn who_tells_often_counts_once_by_hosts() {
        // (40 + 10 + 42 + 44) / 4 = 34; ((40 + 42 + 44) / 3 + 10) / 2 = (42 + 10) / 2 = 26.
        let mean = |weighing| values_of(weighing, 100).average().unwrap();
        let newest = at(60);
        assert_eq!(mean(Weighing::Samples), Average { mean: 34, count: 4, newest });
        assert_eq!(mean(Weighing::Hosts), Average { mean: 26, count: 4, newest });
    }

    #[test]
    fn a_host_that_has_long_told_nothing_does_not_count() {
        let mut values = values_of(Weighing::Hosts, 100);
        // At 325 s host 2's only sample, of 20 s, is older than five minutes; of host 1 the samples
        // of 30 and 60 s are left.
        values.expire(at(325), Duration::from_secs(300));
        assert_eq!(values.average(), Some(Average { mean: 43, count: 2, newest: at(60) }));
        values.expire(at(361), Duration::from_secs(300));
        assert!(values.is_empty() && values.average().is_none());
    }

    #[test]
    fn no_more_hosts_are_kept_than_samples_of_one() {
        // With room for one host each newcomer drives out the other: 40, then 10, then 42 and 44,
        // of which the limit keeps one.
        assert_eq!(values_of(Weighing::Hosts, 1).average().unwrap().mean, 44);
    }
}
