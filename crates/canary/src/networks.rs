//! Comparisons by network. A server meets more networks than anybody could compare, so the busiest
//! are kept: those that have more than one of [`NETWORKS`] connections are always among them (A.
//! Metwally et al., 2005, "Efficient computation of frequent and top-k elements in data streams",
//! *Space-Saving*). The choice depends on numbers of connections alone, and never on their
//! outcomes, so it does not bias a comparison.

use crate::trial::{CanaryGroup, CanaryOutcome, Trial};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Networks that are compared at a time.
pub const NETWORKS: usize = 64;

/// Networks with their comparisons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkTrials {
    kept: Vec<NetworkTrial>,
    /// Networks that could be compared so far.
    ranks: u64,
}

/// Returns true if an order to forget `prefix` concerns `network`, because either contains the
/// other. `None` concerns all networks.
pub fn is_of(network: IpNet, prefix: Option<IpNet>) -> bool {
    prefix.is_none_or(|prefix| prefix.contains(&network) || network.contains(&prefix))
}

/// The comparison of one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct NetworkTrial {
    network: IpNet,
    /// Connections since the network is kept, and the `count` of the network that it replaced.
    count: u64,
    /// Number of networks that could be compared before this one; `None`: it cannot be compared
    /// yet.
    rank: Option<u64>,
    trial: Trial,
}

impl NetworkTrials {
    /// Adds a connection to the comparison of its network. If [`NETWORKS`] are kept, a new network
    /// replaces the least busy one, and the comparison of that is dropped.
    pub fn add(
        &mut self,
        network: IpNet,
        group: CanaryGroup,
        outcome: &CanaryOutcome,
        fewest: u64,
    ) {
        let place = self.place_of(network).unwrap_or_else(|| self.make_place(network));
        let Some(kept) = self.kept.get_mut(place) else { return };
        kept.count += 1;
        kept.trial.add(group, outcome, fewest);
        if kept.rank.is_none() && kept.trial.is_comparable(fewest) {
            kept.rank = Some(self.ranks);
            self.ranks += 1;
        }
    }

    /// Returns the comparison of a network, and how many networks could be compared before it.
    /// Returns `None` if it cannot be compared yet.
    pub fn ranked_trial(&self, network: IpNet) -> Option<(&Trial, u64)> {
        let kept = self.kept.get(self.place_of(network)?)?;
        Some((&kept.trial, kept.rank?))
    }

    /// Returns the networks that can be compared, in the order in which that became possible.
    pub fn networks(&self) -> Vec<IpNet> {
        let mut ranked: Vec<_> =
            self.kept.iter().filter_map(|kept| Some((kept.rank?, kept.network))).collect();
        ranked.sort_unstable_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, network)| network).collect()
    }

    /// Forgets the comparisons of networks that an order to forget `prefix` concerns ([`is_of`]).
    pub fn forget(&mut self, prefix: Option<IpNet>) {
        self.kept.retain(|kept| !is_of(kept.network, prefix));
    }

    /// Returns the comparisons of all kept networks, also of those that cannot be compared yet.
    pub fn trials_mut(&mut self) -> impl Iterator<Item = &mut Trial> {
        self.kept.iter_mut().map(|kept| &mut kept.trial)
    }

    fn place_of(&self, network: IpNet) -> Option<usize> {
        self.kept.iter().position(|kept| kept.network == network)
    }

    /// Starts the comparison of `network` and returns its index. If [`NETWORKS`] are kept, it
    /// replaces the least busy one, whose number of connections it takes over.
    fn make_place(&mut self, network: IpNet) -> usize {
        let new = |count| NetworkTrial { network, count, rank: None, trial: Trial::default() };
        if self.kept.len() < NETWORKS {
            self.kept.push(new(0));
            return self.kept.len() - 1;
        }
        let least = self.kept.iter_mut().enumerate().min_by_key(|(_, kept)| kept.count);
        least.map_or(0, |(place, kept)| {
            *kept = new(kept.count);
            place
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(n: u32) -> IpNet {
        IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap()
    }

    fn add(trials: &mut NetworkTrials, n: u32, is_chosen: bool) {
        let outcome = CanaryOutcome { time_s: 1.0, retransmissions: 0 };
        trials.add(network(n), CanaryGroup { stage: 0, is_chosen }, &outcome, 100);
    }

    #[test]
    fn networks_rank_by_when_they_can_be_compared() {
        let mut trials = NetworkTrials::default();
        for n in 0..200 {
            add(&mut trials, 1, n % 2 == 0);
            assert_eq!(trials.ranked_trial(network(1)).is_some(), n == 199, "{n}");
        }
        (0..200).for_each(|n| add(&mut trials, 0, n % 2 == 0));
        assert_eq!(trials.networks(), [network(1), network(0)]);
        assert_eq!(
            trials.ranked_trial(network(0)).map(|(trial, rank)| (trial.chosen(), rank)),
            Some((100, 1))
        );
    }

    /// Networks 0 and 1 are 0.0.0.0/24 and 0.0.1.0/24.
    #[test]
    fn a_forgotten_network_is_not_named_any_more() {
        let both = || {
            let mut trials = NetworkTrials::default();
            (0..400).for_each(|n| add(&mut trials, n % 2, n % 4 < 2));
            trials
        };
        for (prefix, left) in [
            (Some("0.0.1.0/24"), &[network(0)][..]),
            (Some("0.0.1.7/32"), &[network(0)]),
            (Some("0.0.0.0/16"), &[]),
            (Some("0.0.2.0/24"), &[network(0), network(1)]),
            (Some("::/0"), &[network(0), network(1)]),
            (None, &[]),
        ] {
            let mut trials = both();
            trials.forget(prefix.map(|text| text.parse().unwrap()));
            assert_eq!(trials.networks(), left, "{prefix:?}");
        }
    }

    /// All slots are taken when a network begins to have every fiftieth connection. All others are
    /// of networks that never come again: the scan pushes these out, not the busy one.
    #[test]
    fn a_scan_does_not_push_a_busy_network_out() {
        let mut trials = NetworkTrials::default();
        for n in 0..100_000_u32 {
            if n >= 1000 && n.is_multiple_of(50) {
                add(&mut trials, 7, n.is_multiple_of(100));
            } else {
                add(&mut trials, 1000 + n, true);
            }
        }
        assert_eq!(trials.kept.len(), NETWORKS);
        let (trial, rank) = trials.ranked_trial(network(7)).expect("it is compared");
        // It is kept for good after the first few.
        assert!(trial.chosen() + trial.control() > 1900, "{}", trial.chosen());
        assert_eq!(rank, 0);
    }
}
