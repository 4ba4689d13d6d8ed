//! A bounded table of destinations; the least recently used one is dropped first.

use crate::PathKey;
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use std::num::NonZeroUsize;

/// Values of a bounded number of destinations.
pub struct DestinationTable<V> {
    entries: LruCache<PathKey, V, FxBuildHasher>,
}

impl<V> DestinationTable<V> {
    /// Creates an empty table for `limit` destinations, at least one.
    pub fn new(limit: usize) -> Self {
        let limit = NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN);
        // Unbounded, and bounded on insertion: the crate would reserve the whole at once.
        let mut entries = LruCache::unbounded_with_hasher(FxBuildHasher);
        entries.resize(limit);
        Self { entries }
    }

    /// Returns the entry of `key`, which becomes the youngest.
    pub fn entry(&mut self, key: PathKey) -> Option<&mut V> {
        self.entries.get_mut(&key)
    }

    /// Returns the entry of `key`, made if need be; the oldest other one may go.
    pub fn entry_or(&mut self, key: PathKey, make: impl FnOnce() -> V) -> &mut V {
        self.entries.get_or_insert_mut(key, make)
    }

    /// Replaces the entry of `key`; the oldest other one may go.
    pub fn insert(&mut self, key: PathKey, value: V) {
        self.entries.put(key, value);
    }

    /// Forgets `key`.
    pub fn remove(&mut self, key: PathKey) {
        self.entries.pop(&key);
    }

    /// Returns true if no destination is held.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of held destinations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns all destinations, in the order of their keys.
    pub fn keys(&self) -> Vec<PathKey> {
        let mut keys: Vec<_> = self.entries.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }
}
