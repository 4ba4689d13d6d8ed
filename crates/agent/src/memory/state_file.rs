//! Keeps the memory on disk while the agent runs: changes every few seconds, everything at the end,
//! and deletions at once. Failures are logged and retried: connections do not wait for a disk.
//! After one failed write redb refuses all others, so the file is reopened.

use super::format;
use super::paths::is_meant;
use super::store::{AgentFact, STATE, Store};
use crate::canary::state::CanaryState;
use crate::contract::PrefixKey;
use crate::os::clock::{Moment, monotonic_ns, since};
use crate::os::lock::lock;
use crate::os::log::{Level, say};
use ipnet::IpNet;
use libbpf_rs::MapHandle;
use std::collections::HashSet;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// See the module.
#[derive(Debug)]
pub(crate) struct StateFile {
    file: PathBuf,
    /// `None`: it could not be opened again after a write had failed.
    store: Mutex<Option<Store>>,
    changed: Mutex<Changed>,
    /// Paths that there can be.
    most: usize,
    saved_ns: Mutex<u64>,
    dropped_ns: Mutex<u64>,
}

/// All of the file is looked at then: a minute is little beside the ages that are of use.
const DROP_EVERY_NS: u64 = 60_000_000_000;

/// Paths that have changed since the last save.
#[derive(Debug, PartialEq, Eq)]
enum Changed {
    These(HashSet<PrefixKey>),
    /// More paths than the map holds have changed: all of the map is saved. So a scan of very many
    /// prefixes takes no more memory, however long the interval is.
    All,
}

impl Default for Changed {
    fn default() -> Self {
        Self::These(HashSet::new())
    }
}

impl Changed {
    /// Adds these paths. If there are more than `most`, all paths count as changed.
    fn add(&mut self, keys: impl IntoIterator<Item = PrefixKey>, most: usize) {
        for key in keys {
            let Self::These(named) = self else { return };
            named.insert(key);
            if named.len() > most {
                *self = Self::All;
            }
        }
    }

    /// Puts back the paths that could not be saved, beside those that have changed meanwhile.
    fn put_back(&mut self, unsaved: Self, most: usize) {
        match unsaved {
            Self::These(named) => self.add(named, most),
            Self::All => *self = Self::All,
        }
    }
}

impl StateFile {
    /// Refuses what no state file can be; the file may be in use.
    ///
    /// # Errors
    /// The same errors as [`service::state::StateFormat::check`].
    pub(crate) fn check(file: &Path) -> Result<(), String> {
        STATE.check(file)
    }

    /// Opens a file. `most`: maximum number of paths. `patience`: time to wait for an ending agent
    /// that still has the file open.
    ///
    /// # Errors
    /// As [`Store::open`], and if the file is of a newer agent's format.
    pub(crate) fn open(file: &Path, most: u32, patience: Duration) -> Result<Self, String> {
        let (store, damage) = Store::open(file, patience)?;
        let count = format::bring_up(store.database())
            .map_err(|why| format!("cannot use {}: {why}", file.display()))?;
        if count > 0 {
            say(Level::Notice, &format!("{count} paths were of an older format, and are kept"));
        }
        if let Some(damage) = damage {
            say(Level::Error, &damage);
        }
        let [saved_ns, dropped_ns] = [monotonic_ns(); 2].map(Mutex::new);
        Ok(Self {
            file: file.to_owned(),
            store: Mutex::new(Some(store)),
            changed: Mutex::default(),
            most: most as usize,
            saved_ns,
            dropped_ns,
        })
    }

    /// Runs `act` on the file, which is reopened if necessary.
    fn with_store<T>(&self, act: impl Fn(&Store) -> Result<T, redb::Error>) -> Result<T, String> {
        let mut store = lock(&self.store);
        let tried = store.as_ref().map(&act);
        let done = match tried {
            Some(Err(redb::Error::PreviousIo)) | None => {
                // The file can be had once only.
                *store = None;
                let (again, damage) = Store::open(&self.file, Duration::ZERO)?;
                if let Some(damage) = damage {
                    say(Level::Error, &damage);
                }
                act(store.insert(again))
            }
            Some(done) => done,
        };
        done.map_err(|error| format!("{}: {error}", self.file.display()))
    }

    /// Puts the paths on disk into `map`, unless they are older than `most_ns`.
    pub(crate) fn restore(&self, map: &MapHandle, most_ns: u64) {
        match self.with_store(|store| store.restore(map, &Moment::now(), most_ns)) {
            Ok(count) => say(Level::Notice, &format!("{count} paths are remembered from before")),
            Err(error) => say(Level::Error, &format!("cannot read what was remembered: {error}")),
        }
    }

    /// Notes that these paths have to be saved.
    pub(crate) fn has_changed(&self, keys: &[PrefixKey]) {
        lock(&self.changed).add(keys.iter().copied(), self.most);
    }

    /// Returns true if the last save is long enough ago; if so, the interval starts again.
    pub(crate) fn is_due(&self, every_s: u32) -> bool {
        let mut saved_ns = lock(&self.saved_ns);
        let now = monotonic_ns();
        let is_due = since(*saved_ns, now) >= u64::from(every_s) * 1_000_000_000;
        if is_due {
            *saved_ns = now;
        }
        is_due
    }

    /// Saves the changed paths, and now and then drops paths older than `most_ns`.
    pub(crate) fn save_changed(&self, map: &MapHandle, most_ns: u64) {
        let changed = mem::take(&mut *lock(&self.changed));
        if let Err(error) = self.save_rows(map, &changed, most_ns) {
            log_save_error(&error);
            lock(&self.changed).put_back(changed, self.most);
        }
        if self.is_due_to_drop() {
            let dropped = self.with_store(|store| store.drop_old(&Moment::now(), most_ns));
            dropped.unwrap_or_else(|error| log_save_error(&error));
        }
    }

    /// Does as [`Self::is_due`], for dropping.
    fn is_due_to_drop(&self) -> bool {
        let mut dropped_ns = lock(&self.dropped_ns);
        let now = monotonic_ns();
        let is_due = since(*dropped_ns, now) >= DROP_EVERY_NS;
        if is_due {
            *dropped_ns = now;
        }
        is_due
    }

    /// Saves the changed paths, or all paths if too many have changed.
    fn save_rows(&self, map: &MapHandle, changed: &Changed, most_ns: u64) -> Result<(), String> {
        match changed {
            Changed::These(named) if named.is_empty() => Ok(()),
            Changed::These(named) => {
                self.with_store(|store| store.save(map, named, &Moment::now()))
            }
            Changed::All => self.with_store(|store| store.save_all(map, &Moment::now(), most_ns)),
        }
    }

    /// Saves everything that is no older than `most_ns`.
    pub(crate) fn save_all(&self, map: &MapHandle, most_ns: u64) {
        self.save_rows(map, &Changed::All, most_ns).unwrap_or_else(|error| log_save_error(&error));
    }

    /// Drops what may be of an address in a prefix, or everything.
    ///
    /// # Errors
    /// If it is on disk still, with the name of the file.
    pub(crate) fn forget(&self, prefix: Option<IpNet>) -> Result<(), String> {
        self.with_store(|store| store.keep_only(|key| !is_meant(key, prefix)))
    }

    /// Returns the findings of the canary. Older versions kept only the reason why all windows were
    /// stopped.
    pub(crate) fn canary(&self) -> CanaryState {
        let fact = |fact| self.with_store(|store| Ok(store.read_fact(fact))).unwrap_or_default();
        let text = fact(AgentFact::Canary);
        let read = text.as_deref().map(serde_json::from_str::<CanaryState>).transpose();
        let state = read.unwrap_or_else(|error| {
            let what = format!(
                "the comparison starts from nothing, since the file's cannot be read: {error}"
            );
            say(Level::Warning, &what);
            None
        });
        state.unwrap_or_default().into_resumed(fact(AgentFact::Off))
    }

    /// Saves the findings of the canary.
    pub(crate) fn save_canary(&self, state: &CanaryState) {
        let text = serde_json::to_string(state).expect("plain fields");
        let kept = self.with_store(|store| {
            store.set_fact(AgentFact::Canary, Some(&text))?;
            store.set_fact(AgentFact::Off, state.off())
        });
        kept.unwrap_or_else(|error| log_save_error(&error));
    }
}

fn log_save_error(error: &str) {
    say(Level::Error, &format!("cannot save what is remembered: {error}; it is tried again"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// redb's answer to every operation after a failed write, until the file is reopened.
    #[test]
    fn after_a_write_that_failed_the_file_is_opened_anew() {
        let folder = std::env::temp_dir().join(format!("headstart-keeper-{}", std::process::id()));
        let state_file = StateFile::open(&folder.join("agent.redb"), 10, Duration::ZERO).unwrap();
        let tries = std::cell::Cell::new(0);
        let done = state_file.with_store(|_| {
            tries.set(tries.get() + 1);
            if tries.get() == 1 { Err(redb::Error::PreviousIo) } else { Ok(tries.get()) }
        });
        assert_eq!(done, Ok(2));
        let failed = state_file
            .with_store(|_| Err::<(), _>(redb::Error::Io(std::io::ErrorKind::StorageFull.into())));
        assert!(failed.unwrap_err().contains("agent.redb"));
        assert_eq!(state_file.forget(None), Ok(()));
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// 10.0.0.0/24, 10.0.1.0/24, ...
    fn keys(count: u32) -> impl Iterator<Item = PrefixKey> {
        (0..count).map(|n| {
            let network = std::net::Ipv4Addr::from_bits((10 << 24) + (n << 8));
            PrefixKey { prefix: IpNet::new(network.into(), 24).unwrap(), namespace: 1 }
        })
    }

    #[test]
    fn what_is_named_is_never_more_than_there_can_be() {
        let mut changed = Changed::default();
        // The same again is no more.
        for _ in 0..2 {
            changed.add(keys(100), 100);
            assert_eq!(changed, Changed::These(keys(100).collect()));
        }
        changed.add(keys(101), 100);
        assert_eq!(changed, Changed::All);
        changed.add(keys(1), 100);
        assert_eq!(changed, Changed::All);
    }

    #[test]
    fn what_could_not_be_saved_has_changed_still() {
        let mut changed = Changed::default();
        changed.add(keys(3), 100);
        let unsaved = mem::take(&mut changed);
        changed.add(keys(5).skip(3), 100);
        changed.put_back(unsaved, 100);
        assert_eq!(changed, Changed::These(keys(5).collect()));
        changed.put_back(Changed::All, 100);
        assert_eq!(changed, Changed::All);
    }
}
