//! The networks with new reports since subscribers were last notified.

use ipnet::IpNet;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Maximum number of changed networks that wait until subscribers, or the shared store, are
/// notified.
pub(crate) const MAX_CHANGED: usize = 65_536;

/// Networks in the order of their first change, each once.
#[derive(Debug, Default)]
pub(crate) struct ChangedNetworks {
    members: FxHashSet<IpNet>,
    waiting: VecDeque<IpNet>,
}

impl ChangedNetworks {
    /// Adds a network. If [`MAX_CHANGED`] networks wait already, it is dropped, and subscribers are
    /// notified at its next report.
    pub(crate) fn add(&mut self, network: IpNet) {
        if self.waiting.len() < MAX_CHANGED && self.members.insert(network) {
            self.waiting.push_back(network);
        }
    }

    /// Returns true if none waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Removes at most `most` networks that have waited longest.
    pub(crate) fn take(&mut self, most: usize) -> Vec<IpNet> {
        let most = most.min(self.waiting.len());
        let taken: Vec<IpNet> = self.waiting.drain(..most).collect();
        for network in &taken {
            self.members.remove(network);
        }
        taken
    }

    /// Removes all networks within `whole`.
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
        assert_eq!(changed.take(usize::MAX).len(), MAX_CHANGED);
    }
}
