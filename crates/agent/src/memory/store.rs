//! The memory on disk (redb: one file, with transactions that are complete or absent, whenever the
//! process ends). A path is kept with the moment at which it was saved, so that its age is known
//! after a restart. Rows of earlier boots are of this machine's own network namespace only: the
//! numbers of other namespaces have no meaning after a boot.

use super::paths::{self, own_namespace};
use crate::contract::{LearntPath, PrefixKey};
use crate::os::clock::{Moment, since};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use service::state::{OpenState, StateFormat};
use std::path::Path as FilePath;
use std::time::Duration;

pub(super) const PATHS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("paths-2");
/// Value in place of a network namespace's number: all namespaces share the row.
const SHARED: u32 = 0;
/// Facts of the agent itself.
pub(super) const FACTS: TableDefinition<'_, &str, &str> = TableDefinition::new("facts-1");

/// Facts about the agent itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentFact {
    /// Reason why all windows are stopped, if they are.
    Off,
    /// Findings of the canary, as JSON.
    Canary,
}

/// State files of agents of every version.
pub(super) const STATE: StateFormat = StateFormat {
    service: "agent",
    tables: &["paths-"],
    // It is written a little at a time, and read once.
    cache: 8 << 20,
};

/// The file, of the format of module `format`.
#[derive(Debug)]
pub(super) struct Store(Database);

/// A path with what its age needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    path: LearntPath,
    saved: Moment,
    is_own: bool,
}

impl Store {
    /// Opens the file, or makes one. `Ok` has the reason why a damaged file of the agent was put
    /// aside. `patience`: time to wait for another agent that is ending and still has the file
    /// open.
    ///
    /// # Errors
    /// Fails as [`StateFormat::open`] does.
    pub(super) fn open(
        file: &FilePath,
        patience: Duration,
    ) -> Result<(Self, Option<String>), String> {
        let OpenState { database, put_aside } = STATE.open(file, patience)?;
        Ok((Self(database), put_aside))
    }

    pub(super) const fn database(&self) -> &Database {
        &self.0
    }

    /// Puts the remembered paths into `map`, with their ages. Drops rows without a meaning, or
    /// older than `most_ns`. Returns the number of paths.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub(super) fn restore(
        &self,
        map: &MapHandle,
        now: &Moment,
        most_ns: u64,
    ) -> Result<usize, redb::Error> {
        let own = own_namespace();
        let (mut kept, mut is_as_it_was) = (0, true);
        {
            let reading = self.0.begin_read()?;
            let table = match reading.open_table(PATHS) {
                Ok(table) => table,
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(0),
                Err(error) => return Err(error.into()),
            };
            for row in table.iter()? {
                let (key, row) = row?;
                let path = restore_row(key.value(), row.value(), now, own);
                let path = path.filter(|(_, path)| age_of(path, now) <= most_ns);
                is_as_it_was &= path.is_some_and(|(new, _)| new.to_bytes() == key.value());
                let Some((key, path)) = path else { continue };
                // A smaller map than the last one's holds what fits.
                let _ = map.update(&key.to_bytes(), &path.to_bytes(), MapFlags::ANY);
                kept += 1;
            }
        }
        if !is_as_it_was {
            self.save_all(map, now, most_ns)?;
        }
        Ok(kept)
    }

    /// Saves the paths of these keys as they are in `map`; paths that are no longer in `map` are
    /// dropped.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn save<'a>(
        &self,
        map: &MapHandle,
        keys: impl IntoIterator<Item = &'a PrefixKey>,
        now: &Moment,
    ) -> Result<(), redb::Error> {
        let own = own_namespace();
        let writing = self.0.begin_write()?;
        {
            let mut table = writing.open_table(PATHS)?;
            for key in keys {
                let bytes = key.to_bytes();
                match map.lookup(&bytes, MapFlags::ANY).ok().flatten() {
                    Some(value) => {
                        let Some(path) = LearntPath::from_bytes(&value) else { continue };
                        let row = Row { path, saved: *now, is_own: key.namespace == own };
                        table.insert(bytes.as_slice(), row.to_bytes().as_slice())?;
                    }
                    None => drop(table.remove(bytes.as_slice())?),
                }
            }
            // Paths that the kernel has dropped for newer ones are not used any more.
            if table.len()? > u64::from(map.max_entries()) {
                table.retain(|key, _| matches!(map.lookup(key, MapFlags::ANY), Ok(Some(_))))?;
            }
        }
        writing.commit()?;
        Ok(())
    }

    /// Saves all that `map` has and that is no older than `most_ns`, and nothing else.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn save_all(
        &self,
        map: &MapHandle,
        now: &Moment,
        most_ns: u64,
    ) -> Result<(), redb::Error> {
        let own = own_namespace();
        let mut pairs = paths::pairs(map);
        pairs.retain(|(_, path)| age_of(path, now) <= most_ns);
        pairs.sort_by_key(|(key, _)| key.to_bytes());
        let writing = self.0.begin_write()?;
        writing.delete_table(PATHS)?;
        {
            let mut table = writing.open_table(PATHS)?;
            for (key, path) in pairs {
                let row = Row { path, saved: *now, is_own: key.namespace == own };
                table.insert(key.to_bytes().as_slice(), row.to_bytes().as_slice())?;
            }
        }
        writing.commit()?;
        Ok(())
    }

    /// Drops paths older than `most_ns`, which no connection uses any more.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn drop_old(&self, now: &Moment, most_ns: u64) -> Result<(), redb::Error> {
        let writing = self.0.begin_write()?;
        writing.open_table(PATHS)?.retain(|_, row| {
            let age =
                Row::from_bytes(row).and_then(|row| row.saved.age_of(row.path.learnt_ns, now));
            age.is_some_and(|age| age <= most_ns)
        })?;
        writing.commit()?;
        Ok(())
    }

    /// Drops the paths whose keys are not meant.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn keep_only(&self, is_meant: impl Fn(&[u8]) -> bool) -> Result<(), redb::Error> {
        let writing = self.0.begin_write()?;
        writing.open_table(PATHS)?.retain(|key, _| is_meant(key))?;
        writing.commit()?;
        Ok(())
    }

    /// Returns the value of a fact.
    pub(super) fn read_fact(&self, fact: AgentFact) -> Option<String> {
        let reading = self.0.begin_read().ok()?;
        let facts = reading.open_table(FACTS).ok()?;
        facts.get(fact.key()).ok()?.map(|value| value.value().to_owned())
    }

    /// Keeps it, or that there is nothing.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn set_fact(&self, fact: AgentFact, value: Option<&str>) -> Result<(), redb::Error> {
        let writing = self.0.begin_write()?;
        {
            let mut facts = writing.open_table(FACTS)?;
            match value {
                Some(value) => drop(facts.insert(fact.key(), value)?),
                None => drop(facts.remove(fact.key())?),
            }
        }
        writing.commit()?;
        Ok(())
    }
}

impl AgentFact {
    const fn key(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Canary => "canary-1",
        }
    }
}

/// Returns the age of a path in the map, nanoseconds.
fn age_of(path: &LearntPath, now: &Moment) -> u64 {
    since(path.learnt_ns, now.monotonic_ns)
}

/// Returns a row as it is now; `None` if it means nothing any more.
fn restore_row(key: &[u8], row: &[u8], now: &Moment, own: u32) -> Option<(PrefixKey, LearntPath)> {
    let mut key = PrefixKey::from_bytes(key)?;
    let Row { mut path, saved, is_own } = Row::from_bytes(row)?;
    if key.namespace != SHARED && (saved.boot != now.boot || now.boot == 0) {
        if !is_own {
            return None;
        }
        key.namespace = own;
    }
    let age = saved.age_of(path.learnt_ns, now)?;
    path.learnt_ns = now.monotonic_ns.wrapping_sub(age);
    Some((key, path))
}

impl Row {
    const SIZE: usize = LearntPath::SIZE + 8 + 8 + 16 + 1;

    /// Encodes the row for the state file.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::SIZE);
        bytes.extend(self.path.to_bytes());
        bytes.extend(self.saved.monotonic_ns.to_ne_bytes());
        bytes.extend(self.saved.wall_ns.to_ne_bytes());
        bytes.extend(self.saved.boot.to_ne_bytes());
        bytes.push(self.is_own.into());
        bytes
    }

    /// Decodes a row of the state file; `None` if it is too short.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let path = LearntPath::from_bytes(bytes.get(..LearntPath::SIZE)?)?;
        let (monotonic, rest) = bytes[LearntPath::SIZE..].split_first_chunk()?;
        let (wall, rest) = rest.split_first_chunk()?;
        let (boot, rest) = rest.split_first_chunk()?;
        let saved = Moment {
            monotonic_ns: u64::from_ne_bytes(*monotonic),
            wall_ns: u64::from_ne_bytes(*wall),
            boot: u128::from_ne_bytes(*boot),
        };
        Some(Self { path, saved, is_own: *rest.first()? != 0 })
    }
}

#[cfg(test)]
mod tests;
