//! The memory in the kernel, which a test may change: connections use its present values.

use agent::contract::{ConnectionSettings, LearntPath, PrefixKey};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::fs;
use std::os::fd::{AsFd, AsRawFd};

/// The paths of the one running agent.
pub(crate) struct Memory(MapHandle);

impl Memory {
    pub(crate) fn new() -> Self {
        let map = newest("paths");
        assert_eq!((map.key_size(), map.value_size()), SIZES);
        Self(map)
    }

    /// Changes the memory of the only network, and forgets its lines, so the next connection uses
    /// the changed path.
    pub(crate) fn change(&self, change: impl FnOnce(&mut LearntPath)) {
        let key = self.0.keys().next().expect("a path");
        let key = PrefixKey::from_bytes(&key).unwrap();
        let mut path = self.get(key);
        change(&mut path);
        self.put(key, &path);
        let lines = newest("lines");
        for line in lines.keys() {
            lines.delete(&line).unwrap();
        }
    }

    /// The memory of a path.
    pub(crate) fn get(&self, key: PrefixKey) -> LearntPath {
        let value = self.0.lookup(&key.to_bytes(), MapFlags::ANY).unwrap().expect("it is there");
        LearntPath::from_bytes(&value).unwrap()
    }

    /// Bytes of the kernel's that it takes, by its own count.
    pub(crate) fn bytes(&self) -> u64 {
        let map = self.0.as_fd().as_raw_fd();
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{map}")).unwrap();
        let line = info.lines().find_map(|line| line.strip_prefix("memlock:")).unwrap();
        line.trim().parse().unwrap()
    }

    /// Number of paths.
    pub(crate) fn count(&self) -> usize {
        self.0.keys().count()
    }

    /// The map itself.
    pub(crate) const fn map(&self) -> &MapHandle {
        &self.0
    }

    /// Puts one more path there.
    pub(crate) fn put(&self, key: PrefixKey, path: &LearntPath) {
        self.0.update(&key.to_bytes(), &path.to_bytes(), MapFlags::ANY).unwrap();
    }
}

/// A map of the one agent that runs, by its name.
pub(crate) fn newest(name: &str) -> MapHandle {
    // Ids only grow: sockets that still close, of whatever ran before, hold older ones.
    let newest = MapInfoIter::default()
        .filter(|info| info.name.to_string_lossy() == name)
        .max_by_key(|info| info.id);
    MapHandle::from_map_id(newest.expect("an agent runs").id).unwrap()
}

const SIZES: (u32, u32) = (PrefixKey::SIZE as u32, LearntPath::SIZE as u32);

/// Changes the settings of the one agent that runs, as bytes.
pub(crate) fn change_settings(change: impl FnOnce(&mut Vec<u8>)) {
    let named = MapInfoIter::default().filter(|info| {
        info.name.to_string_lossy().contains(".data")
            && info.value_size as usize == ConnectionSettings::SIZE
    });
    let newest = named.max_by_key(|info| info.id).expect("an agent runs");
    let map = MapHandle::from_map_id(newest.id).unwrap();
    let key = 0_u32.to_ne_bytes();
    let mut bytes = map.lookup(&key, MapFlags::ANY).unwrap().unwrap();
    change(&mut bytes);
    map.update(&key, &bytes, MapFlags::ANY).unwrap();
}
