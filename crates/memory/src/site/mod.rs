//! The knowledge of all hosts of a site about the networks of its visitors.
//!
//! Hosts report measurements of their connections ([`SiteReport`]); [`SiteMemory::estimate`]
//! answers what a network carries. A window without loss is a lower bound, not an estimate. So a
//! memory that gets reports on its own answers does not confirm itself (`survival`). Samples age,
//! and no host alone raises an answer by more than half. If a network has no samples, several
//! networks under a prefix that covers it answer, or several of the site ([`EstimateSource`]), or
//! nothing does.
//!
//! The memory is bounded, without I/O, clock or randomness. [`SiteRecord`]s outlive a restart, and
//! are exchanged with other gateways of the site.

mod ageing;
mod answer;
mod answers;
mod attempts;
mod change;
mod codes;
mod config;
mod estimate;
mod evidence;
mod forgotten;
mod kept;
mod note;
mod origins;
mod other_sites;
mod prefix;
mod queue_limit;
mod record;
mod report;
mod reporters;
mod revisions;
mod store;
mod survival;

pub use crate::bound::ReportBound as Bound;
pub use answers::KeptAnswers;
pub use config::SiteConfig;
pub use estimate::{EstimateSource, SiteEstimate};
pub use forgotten::{ForgottenNetworks, SiteForget};
pub use other_sites::by_other_sites;
pub use record::{SiteNetwork, SiteRecord};
pub use report::{Reporter, SiteReport};

use ageing::Ageing;
use evidence::Question;
use forgotten::ForgottenSamples;
use ipnet::IpNet;
use kept::{KeptSample, Tick};
use origins::Origins;
use prefix::Prefix;
use revisions::Revisions;
use std::net::IpAddr;
use store::{Entry, EntryKey, HashedKey, Store};
use units::{Duration, Instant};

/// Samples kept of a network. Chosen, not measured.
const SAMPLES_PER_NETWORK: usize = 8;
/// Number of samples kept of a frequently reported network. Chosen, not measured.
const SAMPLES_PER_BUSY_NETWORK: usize = 64;
/// One of this number of reports of a prefix is passed to its covering prefixes; the first report
/// always is. So a busy network does not dominate its neighbours. Chosen, not measured.
const REPORTS_PER_COVERING_UPDATE: u32 = 8;
/// One of this number of reports is passed to the site. Chosen, not measured.
const REPORTS_PER_SITE_UPDATE: u32 = 16;

/// Memory of a site's networks.
pub struct SiteMemory {
    config: SiteConfig,
    few: Store<SAMPLES_PER_NETWORK>,
    many: Store<SAMPLES_PER_BUSY_NETWORK>,
    origins: Origins,
    forgotten: ForgottenNetworks,
    ageing: Ageing,
    /// State for [`KeptAnswers`].
    revisions: Revisions,
}

/// A sample as it is received, and how many steps before that it was measured.
#[derive(Clone, Copy)]
struct Arrived {
    now: Tick,
    age: u32,
    sample: KeptSample,
}

impl SiteMemory {
    /// Creates a memory that knows nothing yet.
    pub fn new(config: SiteConfig) -> Self {
        Self {
            few: Store::new(config.max_networks, config.seed),
            many: Store::new(config.max_busy, config.seed),
            origins: Origins::new(config.origin),
            forgotten: ForgottenNetworks::default(),
            ageing: Ageing::new(&config),
            revisions: Revisions::new(config.max_networks, config.seed),
            config,
        }
    }

    /// Processes a report of a measurement at `now`, as [`Self::report_aged`] does.
    pub fn report(&mut self, now: Instant, report: &SiteReport) {
        self.report_aged(now, Duration::ZERO, report);
    }

    /// Processes, at `now`, a report of a measurement from an `age` ago. A prefix shorter than 16
    /// bits of IPv4 or 32 of IPv6 is no network of the site's visitors, and is ignored. A
    /// measurement from before its network was forgotten is ignored, too.
    pub fn report_aged(&mut self, now: Instant, age: Duration, report: &SiteReport) {
        let Some(network) = Prefix::of_report(report.network) else { return };
        let measured = Instant::from_nanos(now.as_nanos().saturating_sub(age.as_nanos()));
        let (now, measured) = (Tick::at(now), Tick::at(measured));
        if self.forgotten.has_sample(network, measured) {
            return;
        }
        let arrived = Arrived {
            now,
            age: now.0 - measured.0,
            sample: KeptSample::new(network.label(), report),
        };
        let spread = network.spread(self.config.seed);
        self.revisions.note(spread);
        let own = Arrived { sample: arrived.sample.of_own(report), ..arrived };
        let count = self.insert(HashedKey::of_own(network, spread), own);
        let mut mark_changed = |prefix: Prefix| {
            let spread = prefix.spread(self.config.seed);
            self.insert(HashedKey::of_own(prefix, spread), arrived);
        };
        if count % REPORTS_PER_COVERING_UPDATE == 1 {
            network.halves().for_each(&mut mark_changed);
        }
        if count % REPORTS_PER_SITE_UPDATE == 1 {
            mark_changed(Prefix::SITE);
        }
    }

    /// Returns the capacity of the network of `address` at `now`; `None` if too little is known. A
    /// transfer of a known `size`, bytes, gets no more than it can use.
    pub fn estimate(
        &self,
        now: Instant,
        address: IpAddr,
        size: Option<u64>,
    ) -> Option<SiteEstimate> {
        let mut estimate = answer::answer(Question::new(self, Tick::at(now), address))?;
        if let Some(size) = size {
            estimate.window = estimate.window.min(size.max(1));
        }
        Some(estimate)
    }

    /// Forgets the samples of a network, and of all networks in it, that were taken until then.
    /// Samples that arrive later from other gateways, and those that covering prefixes and the site
    /// keep, are included. Returns the number of networks that had samples.
    ///
    /// Covering prefixes know by eight bits of which network a sample is, so they forget some
    /// samples of other networks, too. For a network of more than 16 kept ones they forget all.
    pub fn forget(&mut self, forget: SiteForget) -> usize {
        self.forgotten.add(forget);
        self.revisions.note_all();
        let mut forgotten = ForgottenNetworks::default();
        forgotten.add(forget);
        self.few.forget(&forgotten) + self.many.forget(&forgotten)
    }

    /// Returns the forgotten networks.
    pub const fn forgotten(&self) -> &ForgottenNetworks {
        &self.forgotten
    }

    /// Returns the number of networks and covering prefixes that something is kept of.
    pub fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Returns true if nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the networks that something is kept of, in no order that means anything.
    pub fn networks(&self) -> impl Iterator<Item = SiteNetwork> {
        let few = self.few.iter().map(SiteNetwork::of);
        few.chain(self.many.iter().map(SiteNetwork::of)).flatten()
    }

    /// Returns the records for a snapshot or a shared store: the samples that were reported here,
    /// and those of other gateways.
    pub fn records(&self) -> impl Iterator<Item = SiteRecord> {
        let few = self.few.iter().map(|entry| SiteRecord::of(entry, &self.origins));
        few.chain(self.many.iter().map(|entry| SiteRecord::of(entry, &self.origins)))
    }

    /// Returns the records of the samples reported here of `network`, and of those passed to the
    /// prefixes that cover it: a report changes these records.
    pub fn records_of(&self, network: IpNet) -> Vec<SiteRecord> {
        let Some(network) = Prefix::of_report(network) else { return Vec::new() };
        self.own_records([network].into_iter().chain(network.halves()).chain([Prefix::SITE]))
    }

    /// Returns the records that lose samples of this gateway when `network` is forgotten, beside
    /// its own.
    pub fn records_covering(&self, network: IpNet) -> Vec<SiteRecord> {
        self.own_records(Prefix::of_any(network).halves().chain([Prefix::SITE]))
    }

    /// Returns the records of these prefixes, as far as their samples were reported here.
    fn own_records(&self, prefixes: impl Iterator<Item = Prefix>) -> Vec<SiteRecord> {
        let record = |prefix| {
            let key = self.sought(EntryKey { prefix, origin: Origins::OWN });
            let few = self.few.get(key).map(|entry| SiteRecord::of(entry, &self.origins));
            few.or_else(|| self.many.get(key).map(|entry| SiteRecord::of(entry, &self.origins)))
        };
        prefixes.filter_map(record).collect()
    }

    /// Merges a record of another gateway, or of this one before a restart. The later one of two
    /// records of one gateway counts, so neither order nor repetition matters. Samples from before
    /// the network was forgotten do not count. False if it is not merged: it is no later than the
    /// present record, or forgotten, or malformed, or there is no slot for another gateway.
    pub fn merge(&mut self, record: &SiteRecord) -> bool {
        let Some(prefix) = Prefix::of_record(record.network) else { return false };
        let has_forgotten = !self.forgotten.is_empty();
        let oldest = has_forgotten.then(|| record.oldest());
        let forgotten = oldest.and_then(|oldest| self.forgotten.samples_of(prefix, oldest));
        let forgotten = forgotten.as_ref();
        let until = forgotten.and_then(ForgottenSamples::until);
        if until.is_some_and(|until| record.newest_at <= until.0) {
            return false;
        }
        let Some(origin) = self.place_of(record) else { return false };
        let key = EntryKey { prefix, origin };
        match self.version(key) {
            Some(version) if version >= record.version() => return false,
            Some(_) => self.take(key),
            None => {}
        }
        if prefix.is_network() {
            self.revisions.note(prefix.spread(self.config.seed));
        }
        if record.len() > SAMPLES_PER_NETWORK {
            let Some(entry) = record.entry(key, forgotten) else { return false };
            self.put_many(entry);
        } else {
            let Some(entry) = record.entry(key, forgotten) else { return false };
            self.put_few(entry);
        }
        true
    }

    /// Returns the number of records that were not merged because there was no slot for their
    /// gateway.
    pub const fn unplaced(&self) -> u64 {
        self.origins.unplaced
    }

    /// Returns true if there are samples of `network`, a network or a prefix that covers networks,
    /// that were reported here.
    pub fn has_own(&self, network: IpNet) -> bool {
        let key = |prefix| EntryKey { prefix, origin: Origins::OWN };
        Prefix::of_record(network).is_some_and(|prefix| self.version(key(prefix)).is_some())
    }

    /// Makes room for a number of prefixes that [`Self::merge`] is about to add.
    pub fn reserve(&mut self, prefixes: usize) {
        self.few.reserve(prefixes);
    }

    /// Returns the slot of the gateway that has written `record`. If all are taken, a gateway that
    /// has been silent for so long that none of its samples counts gives up its own.
    fn place_of(&mut self, record: &SiteRecord) -> Option<u8> {
        let newest_at = Tick(record.newest_at);
        if let Some(place) = self.origins.place_of(record.origin, newest_at) {
            return Some(place);
        }
        let Some(place) = self.origins.silent(newest_at, self.config.max_age_ticks()) else {
            self.origins.unplaced += 1;
            return None;
        };
        self.few.take_origin(place);
        self.many.take_origin(place);
        self.origins.replace(place, record.origin, newest_at);
        Some(place)
    }

    fn sought(&self, key: EntryKey) -> HashedKey {
        HashedKey::new(self.config.seed, key)
    }

    /// Takes a sample of a prefix in. Answers how many that makes, from 1.
    fn insert(&mut self, sought: HashedKey, arrived: Arrived) -> u32 {
        let Arrived { now, age, sample } = arrived;
        let key = sought.key();
        if let Some(entry) = self.few.get_mut(sought) {
            let before = *entry;
            let replaced = entry.insert(now, age, sample);
            let count = entry.sequence;
            if replaced.is_some_and(|age| age < self.config.busy_ticks()) {
                self.few.take(key);
                let mut busy = before.resize();
                busy.insert(now, age, sample);
                self.put_many(busy);
            }
            return count;
        }
        if let Some(entry) = self.many.get_mut(sought) {
            entry.insert(now, age, sample);
            return entry.sequence;
        }
        let mut entry = Entry::new(key);
        entry.insert(now, age, sample);
        self.put_few(entry);
        entry.sequence
    }

    fn put_few(&mut self, entry: Entry<SAMPLES_PER_NETWORK>) {
        self.few.put(entry);
    }

    /// Puts in an entry of a busy prefix; another may become one of few samples for it.
    fn put_many(&mut self, entry: Entry<SAMPLES_PER_BUSY_NETWORK>) {
        if let Some(gone) = self.many.put(entry) {
            self.put_few(gone.resize());
        }
    }

    fn take(&mut self, key: EntryKey) {
        self.few.take(key);
        self.many.take(key);
    }

    fn version(&self, key: EntryKey) -> Option<(u32, u32)> {
        let key = self.sought(key);
        let few = self.few.get(key).map(|entry| (entry.newest_at.0, entry.sequence));
        few.or_else(|| self.many.get(key).map(|entry| (entry.newest_at.0, entry.sequence)))
    }

    /// Returns the samples of a prefix by one gateway.
    fn places(&self, key: EntryKey) -> Option<(Tick, &[KeptSample])> {
        let key = self.sought(key);
        let few = self.few.get(key).map(|entry| (entry.newest_at, &entry.places[..]));
        few.or_else(|| self.many.get(key).map(|entry| (entry.newest_at, &entry.places[..])))
    }
}

#[cfg(test)]
mod tests;
