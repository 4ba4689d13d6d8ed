//! Networks of which reports have counted since subscribers were last told.

use ipnet::IpNet;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Networks that have changed and of which subscribers, or the shared store, have not been told yet.
pub(crate) const MOST_CHANGED: usize = 65_536;

/// Networks in the order in which they have changed first, each once.
#[derive(Debug, Default)]
pub(crate) struct ChangedNetworks {
    members: FxHashSet<IpNet>,
    waiting: VecDeque<IpNet>,
}

impl ChangedNetworks {
    /// Who has no room to be told of hears of the network at its next report.
    pub(crate) fn add(&mut self, network: IpNet) {
        if self.waiting.len() < MOST_CHANGED && self.members.insert(network) {
            self.waiting.push_back(network);
        }
    }

    /// At most `most` of those that have waited longest.
    pub(crate) fn take(&mut self, most: usize) -> Vec<IpNet> {
        let most = most.min(self.waiting.len());
        let taken: Vec<IpNet> = self.waiting.drain(..most).collect();
        for network in &taken {
            self.members.remove(network);
        }
        taken
    }

    /// Nothing within `whole` has changed.
    pub(crate) fn forget(&mut self, whole: &IpNet) {
        self.waiting.retain(|network| !whole.contains(network));
        self.members.retain(|network| !whole.contains(network));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_waited_longest_is_told_first_and_once() {
        let network = |n: u32| IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
        let mut changed = ChangedNetworks::default();
        (0..5).chain(0..5).for_each(|n| changed.add(network(n)));
        assert_eq!(changed.take(2), [network(0), network(1)]);
        changed.add(network(0));
        changed.forget(&network(3));
        assert_eq!(changed.take(9), [network(2), network(4), network(0)]);
        assert!(changed.take(9).is_empty());
        (0..100_000).for_each(|n| changed.add(network(n)));
        assert_eq!(changed.take(usize::MAX).len(), MOST_CHANGED);
    }
}
