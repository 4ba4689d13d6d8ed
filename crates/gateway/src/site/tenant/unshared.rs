//! Changes that other gateways do not know yet.

use super::Tenant;
use super::changed_networks::MAX_CHANGED;
use ipnet::IpNet;
use memory::site::{ForgottenNetworks, SiteForget, SiteRecord};
use rustc_hash::FxHashSet;
use units::Instant;

/// Changes for other gateways.
#[derive(Debug, Default)]
pub struct Unshared {
    /// Networks with new reports.
    pub networks: Vec<IpNet>,
    /// Their records, and those of prefixes that cover them.
    pub records: Vec<SiteRecord>,
    /// Networks that an operator made the site forget.
    pub forgotten: ForgottenNetworks,
    /// Forgotten networks whose covering prefixes have lost samples.
    pub covered: Vec<IpNet>,
}

impl Unshared {
    /// Returns true if there is no change.
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty() && self.forgotten.is_empty() && self.covered.is_empty()
    }
}

/// Changes that the shared store does not have yet.
#[derive(Debug, Default)]
pub(crate) struct UnsharedChanges {
    networks: FxHashSet<IpNet>,
    forgotten: ForgottenNetworks,
    covered: FxHashSet<IpNet>,
}

impl UnsharedChanges {
    /// Notes a report of `network`. If there are too many, its next report notifies others.
    pub(crate) fn add(&mut self, network: IpNet) {
        if self.networks.len() < MAX_CHANGED {
            self.networks.insert(network);
        }
    }

    /// Notes that a network was forgotten.
    pub(crate) fn forget(&mut self, forget: SiteForget) {
        self.forgotten.add(forget);
    }

    /// Notes that prefixes that cover `network` have lost samples, whichever gateway was asked to
    /// forget it. If there are too many, their next report replaces what the store has.
    pub(crate) fn note_covered(&mut self, network: IpNet) {
        if self.covered.len() < MAX_CHANGED {
            self.covered.insert(network);
        }
    }

    /// Removes all forgotten networks, and at most `most` changed ones, without their records.
    pub(crate) fn take(&mut self, most: usize) -> Unshared {
        let networks: Vec<IpNet> = self.networks.iter().take(most).copied().collect();
        for network in &networks {
            self.networks.remove(network);
        }
        let forgotten = std::mem::take(&mut self.forgotten);
        let covered = std::mem::take(&mut self.covered).into_iter().collect();
        Unshared { networks, records: Vec::new(), forgotten, covered }
    }

    /// Keeps `shared` for the next time, after a failed write.
    pub(crate) fn give_back(&mut self, shared: Unshared) {
        shared.networks.into_iter().for_each(|network| self.add(network));
        shared.forgotten.iter().for_each(|forget| self.forgotten.add(forget));
        shared.covered.into_iter().for_each(|network| self.note_covered(network));
    }
}

impl Tenant {
    /// Collects changes for a shared store from now on. Forgotten networks go first: the store may
    /// lack them.
    pub fn begin_sharing(&self) {
        let forgotten: Vec<_> = self.memory().forgotten().iter().collect();
        let mut known = self.known();
        let unshared = known.unshared.get_or_insert_default();
        forgotten.into_iter().for_each(|forget| unshared.forget(forget));
    }

    /// Returns the changes that the shared store lacks, of at most `most` networks.
    pub fn take_unshared(&self, most: usize) -> Unshared {
        let taken = self.known().unshared.as_mut().map(|unshared| unshared.take(most));
        let mut shared = taken.unwrap_or_default();
        let memory = self.memory();
        let mut seen = FxHashSet::default();
        let records = shared.networks.iter().flat_map(|network| memory.records_of(*network));
        let covering = shared.covered.iter().flat_map(|network| memory.records_covering(*network));
        let records = records.chain(covering);
        shared.records = records.filter(|record| seen.insert(record.network)).collect();
        shared
    }

    /// Keeps `shared` for the next time, after a failed write.
    pub fn give_back_unshared(&self, shared: Unshared) {
        if let Some(unshared) = &mut self.known().unshared {
            unshared.give_back(shared);
        }
    }

    /// Notes that another gateway has processed batches up to `sequence`.
    pub fn note_claim(&self, now: Instant, reporter: &str, epoch: u64, sequence: u64) {
        self.known().reporters.hear(reporter, now).claim(epoch, sequence);
    }
}
