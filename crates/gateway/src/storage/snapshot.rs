//! The memory on disk. The file is a redb database, whose transactions are atomic, whenever the
//! process ends. Each snapshot replaces the last one in one transaction. Blocks of many records
//! make reading ten million of them a matter of seconds.

use super::codec::{decode, encode};
use crate::os::clock::{CLOCKS_DIFFER, ticks};
use crate::os::log::{LogPriority, say};
use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use memory::site::{SiteForget, SiteMemory};
use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use service::state::StateFormat;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Records (module `codec`) by tenant and number of a block.
const BLOCKS: TableDefinition<'_, (&str, u32), &[u8]> = TableDefinition::new("blocks-2");
/// Time of the last forgetting by tenant and network.
const FORGETS: TableDefinition<'_, (&str, &str), u32> = TableDefinition::new("forgets-1");
/// Numbers of the gateway itself.
const FACTS: TableDefinition<'_, &str, u64> = TableDefinition::new("facts-1");
/// The key in `FACTS` of the number that distinguishes this gateway's records from others'.
const ORIGIN: &str = "origin";
/// Approximate size of a block, bytes. With one more record and redb's overhead it must fit into a
/// page, which is a power of two.
const BLOCK_BYTES: usize = (256 << 10) - 4096;
/// State files of gateways of every version.
pub(crate) const STATE: StateFormat = StateFormat {
    service: "gateway",
    tables: &["blocks-", "forgets-"],
    // The file is written whole and read once, so a small cache suffices.
    cache: 4 << 20,
};

/// The file.
#[derive(Debug)]
pub struct SnapshotFile {
    database: Database,
    file: PathBuf,
    /// Change counter of the site at the last write.
    saved: Mutex<Option<u64>>,
}

impl SnapshotFile {
    /// Opens the file, or creates one. A damaged file is moved aside.
    ///
    /// # Errors
    /// The same errors as [`StateFormat::open`].
    pub fn open(file: &Path) -> Result<Self, String> {
        let opened = STATE.open(file, Duration::ZERO).map_err(|why| format!("state: {why}"))?;
        if let Some(why) = opened.put_aside {
            say(LogPriority::Error, &why);
        }
        Ok(Self { database: opened.database, file: file.to_owned(), saved: Mutex::default() })
    }

    /// Refuses a file that cannot be a snapshot; the file may be in use.
    ///
    /// # Errors
    /// The same errors as [`StateFormat::check`].
    pub fn check(file: &Path) -> Result<(), String> {
        STATE.check(file).map_err(|why| format!("state: {why}"))
    }

    /// Returns the number that distinguishes this gateway's records from others', drawn once.
    ///
    /// # Errors
    /// If it cannot be read or kept.
    pub fn origin(&self) -> Result<u32, String> {
        self.read_origin().map_err(|error| self.named(error))
    }

    /// Returns this gateway's number, which is drawn once and kept in the file.
    fn read_origin(&self) -> Result<u32, redb::Error> {
        let writing = self.database.begin_write()?;
        // The first transaction makes a table that marks the file as a gateway's.
        drop(writing.open_table(FORGETS)?);
        let known = writing.open_table(FACTS)?.get(ORIGIN)?.map(|kept| kept.value());
        let origin = match known {
            Some(known) => known as u32,
            None => {
                let drawn = crate::os::draw::number();
                writing.open_table(FACTS)?.insert(ORIGIN, u64::from(drawn))?;
                drawn
            }
        };
        writing.commit()?;
        Ok(origin)
    }

    /// Restores the tenants of `site` from the file; returns the number of records.
    ///
    /// # Errors
    /// If it cannot be read. A fault in a block costs the rest of that block.
    pub fn restore(&self, site: &GatewaySite) -> Result<usize, String> {
        self.read(site).map_err(|error| self.named(error))
    }

    /// Restores all tenants' memories from the file. Returns the number of new records.
    fn read(&self, site: &GatewaySite) -> Result<usize, redb::Error> {
        let reading = self.database.begin_read()?;
        // Records of before a forgetting are not restored.
        read_forgets(&reading, site)?;
        let table = match reading.open_table(BLOCKS) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        // Records of the future are dropped: a clock went back.
        let newest = ticks(site.clock.now()).saturating_add(CLOCKS_DIFFER);
        let mut kept = 0;
        for row in table.range::<(&str, u32)>(..)? {
            let (key, block) = row?;
            let (name, number) = key.value();
            let Some(tenant) = site.tenant(name) else { continue };
            let mut memory = tenant.memory_mut();
            let taken = self.take_block(&mut memory, (number, block.value()), newest);
            if number == 0 {
                // The other blocks have about as many records, so memory for all is reserved once.
                let last = table.range((name, 0)..=(name, u32::MAX))?.next_back().transpose()?;
                memory.reserve(taken * last.map_or(0, |(key, _)| key.value().1 as usize));
            }
            kept += taken;
        }
        Ok(kept)
    }

    /// Merges the records of a block into `memory`; returns how many of them were new.
    fn take_block(
        &self,
        memory: &mut SiteMemory,
        (number, mut bytes): (u32, &[u8]),
        newest: u32,
    ) -> usize {
        let mut kept = 0;
        while !bytes.is_empty() {
            match decode(&mut bytes) {
                Ok(record) if record.newest_at <= newest => {
                    kept += usize::from(memory.merge(&record));
                }
                Ok(_) => {}
                Err(why) => {
                    let what = format!("{}: block {number}: {why}", self.file.display());
                    say(LogPriority::Error, &what);
                    break;
                }
            }
        }
        kept
    }

    /// Writes the memory of `site`'s tenants; returns false if nothing has changed since the last
    /// write.
    ///
    /// # Errors
    /// If it cannot be written: the last snapshot stays.
    pub fn save(&self, site: &GatewaySite) -> Result<bool, String> {
        let mut saved = self.saved.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let version = site.changes();
        if *saved == Some(version) {
            return Ok(false);
        }
        match self.write(site) {
            Ok(()) => {
                *saved = Some(version);
                site.counts.snapshots.add(1);
                Ok(true)
            }
            Err(error) => {
                site.counts.failed_snapshots.add(1);
                Err(self.named(error))
            }
        }
    }

    /// Writes only the forgotten networks, which takes the same time however large the memory is.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save_forgets(&self, site: &GatewaySite) -> Result<(), String> {
        let write = || -> Result<(), redb::Error> {
            let writing = self.database.begin_write()?;
            write_forgets(&writing, site)?;
            Ok(writing.commit()?)
        };
        write().map_err(|error| self.named(error))
    }

    /// Replaces the file's contents by the memories of all tenants, in one transaction.
    fn write(&self, site: &GatewaySite) -> Result<(), redb::Error> {
        let writing = self.database.begin_write()?;
        writing.delete_table(BLOCKS)?;
        {
            let mut table = writing.open_table(BLOCKS)?;
            for tenant in site.tenants() {
                let mut number = 0_u32;
                write_blocks(&tenant, |block| {
                    table.insert((tenant.name.as_str(), number), block)?;
                    number += 1;
                    Ok(())
                })?;
            }
        }
        // This is last: a network that is forgotten while the rest is written may be in the blocks.
        write_forgets(&writing, site)?;
        writing.commit()?;
        Ok(())
    }

    fn named(&self, error: impl std::fmt::Display) -> String {
        format!("{}: {error}", self.file.display())
    }
}

/// Writes a tenant's memory block by block, since all of it would take as much memory once more.
/// The tenant takes no reports meanwhile, and goes on to answer; the wait for the disk is after
/// that.
fn write_blocks(
    tenant: &Tenant,
    mut write: impl FnMut(&[u8]) -> Result<(), redb::Error>,
) -> Result<(), redb::Error> {
    tenant.read_whole(|memory| {
        let mut block = Vec::with_capacity(BLOCK_BYTES + 512);
        for record in memory.records() {
            encode(&record, &mut block);
            if block.len() >= BLOCK_BYTES {
                write(&block)?;
                block.clear();
            }
        }
        write(&block)
    })
}

/// Writes which networks were forgotten, and when.
fn write_forgets(writing: &WriteTransaction, site: &GatewaySite) -> Result<(), redb::Error> {
    writing.delete_table(FORGETS)?;
    let mut table = writing.open_table(FORGETS)?;
    for tenant in site.tenants() {
        let forgotten: Vec<SiteForget> = tenant.memory().forgotten().iter().collect();
        for forget in forgotten {
            table.insert((tenant.name.as_str(), forget.network.to_string().as_str()), forget.at)?;
        }
    }
    Ok(())
}

/// Forgets the networks that were forgotten when the file was written.
fn read_forgets(reading: &ReadTransaction, site: &GatewaySite) -> Result<(), redb::Error> {
    let table = match reading.open_table(FORGETS) {
        Ok(table) => table,
        // The file is from an older version.
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let latest = ticks(site.clock.now()).saturating_add(CLOCKS_DIFFER);
    for row in table.range::<(&str, &str)>(..)? {
        let (key, at) = row?;
        let (name, network) = key.value();
        if let (Some(tenant), Ok(network)) = (site.tenant(name), network.parse()) {
            tenant.memory_mut().forget(SiteForget { network, at: at.value().min(latest) });
        }
    }
    Ok(())
}
