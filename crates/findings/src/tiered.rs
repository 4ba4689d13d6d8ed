//! Memory of hosts and networks: all with open connections, and the latest of the others.
//!
//! The engine limits the number of open connections. If there are too many others, the least
//! recently used one is dropped, so memory is bounded.

use lru::LruCache;
use rustc_hash::FxHashMap;
use slab::Slab;
use std::hash::Hash;
use std::num::NonZeroUsize;

/// Creates a cache with a limit that allocates nothing before it holds something.
pub(crate) fn at_most<K: Hash + Eq, V>(limit: NonZeroUsize) -> LruCache<K, V> {
    let mut cache = LruCache::unbounded();
    cache.resize(limit);
    cache
}

struct InUse<K, V> {
    key: K,
    value: V,
    users: u32,
}

/// Values by key, some of them in use.
pub(crate) struct Tiered<K, V> {
    in_use: Slab<InUse<K, V>>,
    by_key: FxHashMap<K, u32>,
    idle: LruCache<K, V>,
}

impl<K: Hash + Eq + Clone, V: Default> Tiered<K, V> {
    /// Creates a table that keeps at most `idle` unused values.
    pub(crate) fn new(idle: NonZeroUsize) -> Self {
        Self { in_use: Slab::new(), by_key: FxHashMap::default(), idle: at_most(idle) }
    }

    /// Adds a user of the value of `key`, which is new if it is not known. Returns its slot, which
    /// is valid until its last user leaves.
    pub(crate) fn add_user(&mut self, key: K) -> u32 {
        if let Some(&place) = self.by_key.get(&key) {
            self.in_use[place as usize].users += 1;
            return place;
        }
        let value = self.idle.pop(&key).unwrap_or_default();
        // More than 2^32 values do not fit into memory.
        let place = self.in_use.insert(InUse { key: key.clone(), value, users: 1 }) as u32;
        self.by_key.insert(key, place);
        place
    }

    /// Removes a user of the value at `place`. Returns a value that is dropped because of that.
    pub(crate) fn leave(&mut self, place: u32) -> Option<V> {
        let found = self.in_use.get_mut(place as usize)?;
        found.users -= 1;
        if found.users > 0 {
            return None;
        }
        let InUse { key, value, .. } = self.in_use.remove(place as usize);
        self.by_key.remove(&key);
        self.idle.push(key, value).map(|(_, dropped)| dropped)
    }

    /// Returns the value in a slot that is in use.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> Option<&mut V> {
        self.in_use.get_mut(place as usize).map(|found| &mut found.value)
    }

    /// Returns all values.
    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        let idle = self.idle.into_iter().map(|(_, value)| value);
        self.in_use.into_iter().map(|(_, found)| found.value).chain(idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_idle_value_is_dropped() {
        let mut hosts: Tiered<&str, u32> = Tiered::new(NonZeroUsize::new(1).unwrap());
        let (a, b) = (hosts.add_user("a"), hosts.add_user("b"));
        assert_eq!(hosts.add_user("a"), a);
        *hosts.at(a).unwrap() = 1;
        *hosts.at(b).unwrap() = 2;
        // "a" has another user.
        assert_eq!(hosts.leave(a), None);
        assert_eq!(hosts.leave(b), None);
        assert_eq!(hosts.leave(a), Some(2));
        let a = hosts.add_user("a");
        assert_eq!(hosts.at(a), Some(&mut 1));
        let b = hosts.add_user("b");
        assert_eq!(hosts.at(b), Some(&mut 0));
        assert_eq!(hosts.into_values().count(), 2);
    }
}
