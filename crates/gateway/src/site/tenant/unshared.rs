//! Changes that other gateways do not know yet.

use super::Tenant;
use super::changed_networks::MAX_CHANGED;
use ipnet::IpNet;
use memory::site::{ForgottenNetworks, SiteForget, SiteRecord};
use rustc_hash::FxHashSet;
use units::Instant;

/// Changes for other gateways, as the shared store gets them.
#[derive(Debug, Default)]
pub struct Unshared {
    /// Networks with new reports.
    pub networks: Vec<IpNet>,
    /// Records of `networks`, and of the prefixes that cover those or any of `covered`.
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
    /// Notes a report of `network`. If [`MAX_CHANGED`] networks wait already, the note is dropped,
    /// and others learn of the network at its next report.
    pub(crate) fn add(&mut self, network: IpNet) {
        if self.networks.len() < MAX_CHANGED {
            self.networks.insert(network);
        }
    }

    /// Notes that a network was forgotten. Earlier notes of its reports stay.
    pub(crate) fn note_forgotten(&mut self, forget: SiteForget) {
        self.forgotten.add(forget);
    }

    /// Notes that prefixes that cover `network` have lost samples, because this gateway or another
    /// one forgot it. If [`MAX_CHANGED`] networks wait already, the note is dropped. The store then
    /// keeps the old records of these prefixes until their next report.
    pub(crate) fn note_covered(&mut self, network: IpNet) {
        if self.covered.len() < MAX_CHANGED {
            self.covered.insert(network);
        }
    }

    /// Removes and returns at most `most` networks with new reports, and all forgotten and covered
    /// ones. The result has no records yet.
    pub(crate) fn take(&mut self, most: usize) -> Unshared {
        let networks: Vec<IpNet> = self.networks.iter().take(most).copied().collect();
        for network in &networks {
            self.networks.remove(network);
        }
        let forgotten = std::mem::take(&mut self.forgotten);
        let covered = std::mem::take(&mut self.covered).into_iter().collect();
        Unshared { networks, records: Vec::new(), forgotten, covered }
    }

    /// Notes the changes of `shared` again, after a failed write. If [`MAX_CHANGED`]
    /// networks wait already, further notes are dropped.
    pub(crate) fn give_back(&mut self, shared: Unshared) {
        shared.networks.into_iter().for_each(|network| self.add(network));
        shared.forgotten.iter().for_each(|forget| self.forgotten.add(forget));
        shared.covered.into_iter().for_each(|network| self.note_covered(network));
    }
}

impl Tenant {
    /// Begins to collect changes for the shared store. All networks that are still remembered as
    /// forgotten are noted first, since the store may lack them. After a failure of the store this
    /// is called again; changes that were collected before are kept.
    pub fn begin_sharing(&self) {
        let forgotten: Vec<_> = self.memory().forgotten().iter().collect();
        let mut known = self.known();
        let unshared = known.unshared.get_or_insert_default();
        forgotten.into_iter().for_each(|forget| unshared.note_forgotten(forget));
    }

    /// Takes the changes that the shared store lacks, with their records as they are now. `most`
    /// bounds the networks with new reports alone. The result is empty before
    /// [`Tenant::begin_sharing`].
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

    /// Notes the changes of `shared` again, after a failed write. If `MAX_CHANGED` networks wait
    /// already, further notes are dropped.
    pub fn give_back_unshared(&self, shared: Unshared) {
        if let Some(unshared) = &mut self.known().unshared {
            unshared.give_back(shared);
        }
    }

    /// Notes that another gateway has claimed batch `sequence` of `reporter`. This gateway then
    /// treats all batches of `epoch` up to it as done. An epoch is one run of the reporter. The
    /// reporter counts as alive at `now`.
    pub fn note_claim(&self, now: Instant, reporter: &str, epoch: u64, sequence: u64) {
        self.known().reporters.hear(reporter, now).claim(epoch, sequence);
    }
}
