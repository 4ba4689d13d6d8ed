//! A bounded table of prefixes with `N` samples each: eighty bytes a prefix if few are kept, and
//! five for finding it.
//!
//! Entries lie in pages, which never move, and an index finds them. When the table is full, a hand
//! goes round (as in the CLOCK of page replacement). It removes the one of the next few entries
//! that has been without a report for longest.

use super::attempts::KeptBefore;
use super::forgotten::{ForgottenNetworks, ForgottenSamples};
use super::kept::{KeptSample, Samples, Tick};
use super::origins::Origins;
use super::prefix::Prefix;
use super::{SAMPLES_PER_BUSY_NETWORK, SAMPLES_PER_NETWORK};
use hashbrown::HashTable;

/// Entries of a page. Chosen, not measured.
const PAGE_ENTRIES: usize = 4096;
/// Number of entries of which the oldest is removed. Chosen, not measured.
const EVICTION_CANDIDATES: usize = 16;

/// Key of an entry: a prefix and the gateway that received the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryKey {
    pub(super) prefix: Prefix,
    /// Slot of the gateway in the list of gateways.
    pub(super) origin: u8,
}

/// A key with its hash, which all tables of a site share: a search in a second one takes no other.
#[derive(Clone, Copy, Debug)]
pub(super) struct HashedKey {
    key: EntryKey,
    hash: u64,
}

impl HashedKey {
    /// Creates a key for tables with this seed.
    pub(super) fn new(seed: u64, key: EntryKey) -> Self {
        Self { key, hash: hash(seed, key) }
    }

    /// Returns the key of this gateway's own samples of a prefix with this
    /// [spread](Prefix::spread).
    pub(super) const fn of_own(prefix: Prefix, spread: u64) -> Self {
        Self { key: EntryKey { prefix, origin: Origins::OWN }, hash: spread }
    }

    pub(super) const fn key(self) -> EntryKey {
        self.key
    }
}

/// Samples of a prefix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<const N: usize> {
    bits: u64,
    /// Reports taken in, and not only kept.
    pub(super) sequence: u32,
    pub(super) newest_at: Tick,
    pub(super) places: [KeptSample; N],
    tag: u8,
    origin: u8,
}

impl<const N: usize> Entry<N> {
    pub(super) fn new(key: EntryKey) -> Self {
        Self {
            bits: key.prefix.bits,
            sequence: 0,
            newest_at: Tick::default(),
            places: [KeptSample::default(); N],
            tag: key.prefix.tag,
            origin: key.origin,
        }
    }

    pub(super) const fn key(&self) -> EntryKey {
        EntryKey { prefix: Prefix { bits: self.bits, tag: self.tag }, origin: self.origin }
    }

    /// Inserts, at `now`, a sample of `age` steps before; returns the age of the sample that it
    /// replaces.
    pub(super) fn insert(&mut self, now: Tick, age: u32, sample: KeptSample) -> Option<u32> {
        let is_network = self.key().prefix.is_network();
        let are_few = is_network && N <= SAMPLES_PER_NETWORK;
        let sample = if is_network { self.annotate_sample(now, age, sample) } else { sample };
        self.sequence = self.sequence.wrapping_add(1);
        Samples { newest_at: &mut self.newest_at, places: &mut self.places, are_few }
            .insert(now, age, sample)
    }

    /// Returns a network's own sample, with a note on what the samples before it show.
    fn annotate_sample(&mut self, now: Tick, age: u32, sample: KeptSample) -> KeptSample {
        let measured = Tick(now.0.saturating_sub(age));
        let are_all = self.keeps_all();
        KeptBefore { newest_at: self.newest_at, places: &mut self.places, are_all }
            .annotate(sample, measured)
    }

    /// Returns true if all reports are still kept. Most frequently reported networks have long had
    /// more reports than slots.
    fn keeps_all(&self) -> bool {
        let reported = self.sequence as usize;
        reported <= N && reported == self.places.iter().filter(|place| !place.is_free()).count()
    }

    /// Returns the entry with slots for more samples, or for the newest of them.
    pub(super) fn resize<const M: usize>(&self) -> Entry<M> {
        let mut resized = Entry::new(self.key());
        (resized.sequence, resized.newest_at) = (self.sequence, self.newest_at);
        resized.fill(&self.places);
        resized
    }

    /// Forgets samples; returns true if there were any.
    pub(super) fn forget(&mut self, forgotten: &ForgottenSamples) -> bool {
        let newest_at = self.newest_at;
        let mut has_forgotten = false;
        for place in self.places.iter_mut().filter(|place| !place.is_free()) {
            if forgotten.has(*place, newest_at) {
                *place = KeptSample::default();
                has_forgotten = true;
            }
        }
        has_forgotten
    }

    /// Returns true if no sample is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.places.iter().all(|place| place.is_free())
    }

    /// Keeps the newest of `samples`, whose ages relate to the entry's `newest_at`. If there are
    /// more than [`SAMPLES_PER_BUSY_NETWORK`], it uses the first ones.
    pub(super) fn fill(&mut self, samples: &[KeptSample]) {
        let (mut all, mut count) = ([KeptSample::default(); SAMPLES_PER_BUSY_NETWORK], 0);
        let taken = samples.iter().filter(|place| !place.is_free());
        for (place, sample) in all.iter_mut().zip(taken) {
            *place = *sample;
            count += 1;
        }
        let kept = &mut all[..count];
        kept.sort_by_key(|place| place.age_at(self.newest_at));
        self.places = [KeptSample::default(); N];
        for (place, sample) in self.places.iter_mut().zip(kept) {
            *place = *sample;
        }
    }
}

/// The table.
pub(super) struct Store<const N: usize> {
    index: HashTable<u32>,
    pages: Vec<Vec<Entry<N>>>,
    len: usize,
    limit: usize,
    /// Position at which the search for an entry to remove continues.
    hand: usize,
    /// Key of the hash, so that visitors cannot choose prefixes that collide.
    seed: u64,
}

impl<const N: usize> Store<N> {
    /// Creates an empty table of at most `limit` entries, at least one.
    pub(super) fn new(limit: usize, seed: u64) -> Self {
        let limit = limit.clamp(1, u32::MAX as usize);
        Self { index: HashTable::new(), pages: Vec::new(), len: 0, limit, hand: 0, seed }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Makes room for `more` entries, so that the index is not rebuilt several times.
    pub(super) fn reserve(&mut self, more: usize) {
        let (pages, seed) = (&self.pages, self.seed);
        let more = more.min(self.limit.saturating_sub(self.len));
        self.index.reserve(more, |place| hash_at(pages, seed, *place));
    }

    pub(super) fn get(&self, key: HashedKey) -> Option<&Entry<N>> {
        Some(self.at(self.find(key)?))
    }

    pub(super) fn get_mut(&mut self, key: HashedKey) -> Option<&mut Entry<N>> {
        let place = self.find(key)?;
        Some(self.at_mut(place))
    }

    /// Puts a new entry in. Answers the one that had to go for it.
    pub(super) fn put(&mut self, entry: Entry<N>) -> Option<Entry<N>> {
        let sought = HashedKey::new(self.seed, entry.key());
        if let Some(place) = self.find(sought) {
            *self.at_mut(place) = entry;
            return None;
        }
        let gone = (self.len >= self.limit).then(|| self.oldest_near()).and_then(|k| self.take(k));
        let place = self.len;
        if place.is_multiple_of(PAGE_ENTRIES) && place / PAGE_ENTRIES == self.pages.len() {
            self.pages.push(Vec::with_capacity(PAGE_ENTRIES.min(self.limit)));
        }
        self.pages[place / PAGE_ENTRIES].push(entry);
        self.len += 1;
        let (pages, seed) = (&self.pages, self.seed);
        let rehash = |place: &u32| hash_at(pages, seed, *place);
        self.index.insert_unique(sought.hash, place as u32, rehash);
        gone
    }

    /// Takes an entry out.
    pub(super) fn take(&mut self, key: EntryKey) -> Option<Entry<N>> {
        let hash = hash(self.seed, key);
        let pages = &self.pages;
        let found = self.index.find_entry(hash, |place| key_at(pages, *place) == key).ok()?;
        let (place, _) = found.remove();
        let taken = *self.at(place as usize);
        self.fill_gap(place as usize);
        Some(taken)
    }

    /// Forgets samples of networks, also in the prefixes that cover them. Returns the number of
    /// entries of networks with a forgotten sample.
    pub(super) fn forget(&mut self, forgotten: &ForgottenNetworks) -> usize {
        let of_key = |key: EntryKey| Some((key, forgotten.samples_of(key.prefix, Tick(0))?));
        let found: Vec<_> = self.iter().map(Entry::key).filter_map(of_key).collect();
        found
            .into_iter()
            .filter(|(key, samples)| self.forget_of(*key, samples) && key.prefix.is_network())
            .count()
    }

    /// Forgets the samples of one entry, and removes the entry if it has no others. Returns true if
    /// there were any to forget.
    fn forget_of(&mut self, key: EntryKey, samples: &ForgottenSamples) -> bool {
        let Some(entry) = self.get_mut(HashedKey::new(self.seed, key)) else { return false };
        let has_forgotten = entry.forget(samples);
        if entry.is_empty() {
            self.take(key);
        }
        has_forgotten
    }

    /// Removes all samples of the gateway in this slot.
    pub(super) fn take_origin(&mut self, origin: u8) {
        let of_origin = |key: &EntryKey| key.origin == origin;
        let keys: Vec<_> = self.iter().map(Entry::key).filter(of_origin).collect();
        keys.into_iter().for_each(|key| _ = self.take(key));
    }

    /// Returns all entries, in no order that means anything.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<N>> {
        self.pages.iter().flatten()
    }

    /// Moves the last entry to a slot that became free.
    fn fill_gap(&mut self, place: usize) {
        let last = self.len - 1;
        let Some(moved) = self.pages[last / PAGE_ENTRIES].pop() else { return };
        if self.pages[last / PAGE_ENTRIES].is_empty() {
            self.pages.pop();
        }
        self.len = last;
        if place == last {
            return;
        }
        *self.at_mut(place) = moved;
        let hash = hash(self.seed, moved.key());
        if let Some(known) = self.index.find_mut(hash, |known| *known == last as u32) {
            *known = place as u32;
        }
    }

    /// Returns the one of the next few entries that has been without a report for longest.
    fn oldest_near(&mut self) -> EntryKey {
        let places =
            (0..EVICTION_CANDIDATES.min(self.len)).map(|step| (self.hand + step) % self.len);
        let oldest = places.min_by_key(|place| self.at(*place).newest_at).unwrap_or(0);
        self.hand = (self.hand + EVICTION_CANDIDATES) % self.len.max(1);
        self.at(oldest).key()
    }

    fn find(&self, sought: HashedKey) -> Option<usize> {
        let found = self.index.find(sought.hash, |place| self.key_at(*place) == sought.key);
        found.map(|place| *place as usize)
    }

    fn key_at(&self, place: u32) -> EntryKey {
        key_at(&self.pages, place)
    }

    fn at(&self, place: usize) -> &Entry<N> {
        &self.pages[place / PAGE_ENTRIES][place % PAGE_ENTRIES]
    }

    fn at_mut(&mut self, place: usize) -> &mut Entry<N> {
        &mut self.pages[place / PAGE_ENTRIES][place % PAGE_ENTRIES]
    }
}

fn key_at<const N: usize>(pages: &[Vec<Entry<N>>], place: u32) -> EntryKey {
    pages[place as usize / PAGE_ENTRIES][place as usize % PAGE_ENTRIES].key()
}

fn hash_at<const N: usize>(pages: &[Vec<Entry<N>>], seed: u64, place: u32) -> u64 {
    hash(seed, key_at(pages, place))
}

/// Returns the spread of the prefix, which is secret, and a number that differs for each gateway: 0
/// for the own one.
fn hash(seed: u64, key: EntryKey) -> u64 {
    key.prefix.spread(seed) ^ u64::from(key.origin).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
