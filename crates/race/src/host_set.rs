//! A set of hosts with a fast look-up for each packet.

use netsim::HostId;

/// Hosts of one simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostSet {
    /// Membership by index; hosts after the last one are not in the set.
    members: Vec<bool>,
}

impl HostSet {
    /// Creates the set of these hosts.
    pub(crate) fn of(hosts: &[HostId]) -> Self {
        let mut members = vec![false; hosts.iter().map(|host| host.index() + 1).max().unwrap_or(0)];
        for host in hosts {
            members[host.index()] = true;
        }
        Self { members }
    }

    /// Whether the set has the host.
    #[inline]
    pub(crate) fn contains(&self, host: HostId) -> bool {
        self.members.get(host.index()).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_was_made_of() {
        let set = HostSet::of(&[HostId(3), HostId(1)]);
        let held = (0..6).filter(|n| set.contains(HostId(*n))).collect::<Vec<_>>();
        assert_eq!(held, [1, 3]);
        assert!(!HostSet::of(&[]).contains(HostId(0)));
    }
}
