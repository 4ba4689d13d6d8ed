//! Keeps the memory on disk while the agent runs: what has changed every few seconds, all of it at the end, and what
//! is forgotten at once. What fails is said and tried again: connections do not wait for a disk.

use crate::agent::lock;
use crate::clock::{Moment, monotonic_ns, since};
use crate::contract::PathKey;
use crate::log::{Level, say};
use crate::store::Store;
use ipnet::IpNet;
use libbpf_rs::MapHandle;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;

/// See the module.
#[derive(Debug)]
pub struct Keeper {
    store: Store,
    changed: Mutex<HashSet<PathKey>>,
    saved_ns: Mutex<u64>,
}

impl Keeper {
    /// Upon a file.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open(file: &Path) -> Result<Self, String> {
        let (store, damage) = Store::open(file)?;
        if let Some(damage) = damage {
            say(Level::Error, &damage);
        }
        Ok(Self { store, changed: Mutex::default(), saved_ns: Mutex::new(monotonic_ns()) })
    }

    /// Puts into `map` what is on disk.
    pub fn restore(&self, map: &MapHandle) {
        match self.store.restore(map, &Moment::now()) {
            Ok(count) => say(Level::Notice, &format!("{count} paths are remembered from before")),
            Err(error) => say(Level::Error, &format!("cannot read what was remembered: {error}")),
        }
    }

    /// These have to be saved.
    pub fn has_changed(&self, keys: &[PathKey]) {
        lock(&self.changed).extend(keys);
    }

    /// Saves what has changed, if the last time is as long ago.
    pub fn save_if_due(&self, map: &MapHandle, every_s: u32) {
        let mut saved_ns = lock(&self.saved_ns);
        let now = monotonic_ns();
        if since(*saved_ns, now) < u64::from(every_s) * 1_000_000_000 {
            return;
        }
        *saved_ns = now;
        let changed = std::mem::take(&mut *lock(&self.changed));
        if changed.is_empty() {
            return;
        }
        if let Err(error) = self.store.save(map, &changed, &Moment::now()) {
            complain(&error);
            lock(&self.changed).extend(changed);
        }
    }

    /// Saves everything.
    pub fn save_all(&self, map: &MapHandle) {
        self.store.save_all(map, &Moment::now()).unwrap_or_else(|error| complain(&error));
    }

    /// Drops what lies within a prefix, or everything.
    pub fn forget(&self, prefix: Option<IpNet>) {
        let is_meant = |key: &[u8]| match prefix {
            None => true,
            Some(prefix) => {
                PathKey::from_bytes(key).is_some_and(|key| prefix.contains(&key.prefix))
            }
        };
        self.store.keep_only(|key| !is_meant(key)).unwrap_or_else(|error| complain(&error));
    }

    /// Why windows were left alone when it was last said.
    pub fn off(&self) -> Option<String> {
        self.store.off()
    }

    /// Keeps why windows are left alone, or that they are not.
    pub fn set_off(&self, why: Option<&str>) {
        self.store.set_off(why).unwrap_or_else(|error| complain(&error));
    }
}

fn complain(error: &redb::Error) {
    say(Level::Error, &format!("cannot save what is remembered: {error}"));
}
