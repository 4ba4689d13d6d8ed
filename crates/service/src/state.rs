//! The database file in which a service keeps its state (redb), never mistaken for another file.
//!
//! An operator may name any file, also by a link or by mistake. So a file is opened only if it is
//! missing or empty, or if it begins as redb's files do and has a table of the service, or none. A
//! damaged file with this mark is put aside. Any other file is neither written, nor moved, nor
//! given other permissions.

use redb::backends::FileBackend;
use redb::{
    Builder, Database, DatabaseError, ReadableDatabase, StorageError, TableHandle, TransactionError,
};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// First bytes of each file of redb (its `docs/design.md`).
const MAGIC: [u8; 9] = [b'r', b'e', b'd', b'b', 0x1a, 0x0a, 0xa9, 0x0d, 0x0a];
/// Mode of a file for the owner alone: the state says with which networks a machine has spoken.
const PRIVATE: u32 = 0o600;
/// Time between two attempts to open a file that another process has open.
const RETRY: Duration = Duration::from_millis(20);
/// Bytes that the search for a table's name reads at once.
const CHUNK: usize = 1 << 20;

/// The state files of one service.
#[derive(Clone, Copy, Debug)]
pub struct StateFormat {
    /// The service, as messages name it.
    pub service: &'static str,
    /// Beginnings of the names of tables that only this service has, of every version. Each of its
    /// files has one of them from its first transaction on.
    pub tables: &'static [&'static str],
    /// Bytes of the file that are kept in memory.
    pub cache: usize,
}

/// An open state file.
#[derive(Debug)]
pub struct OpenState {
    /// The file.
    pub database: Database,
    /// The reason for which an earlier file of this name was put aside, and where it is now.
    pub put_aside: Option<String>,
}

/// Kinds of files, found before anything is changed.
enum FileKind {
    /// The file does not exist, or has no bytes.
    Nothing,
    Own,
    Foreign,
}

impl StateFormat {
    /// Opens the file, or makes one that its owner alone may read. `patience`: how long to wait for
    /// another process that has it open.
    ///
    /// # Errors
    /// If the file is not of this service, if another process keeps it open, or if it can be
    /// neither opened nor made. The message names the file and the way out.
    pub fn open(&self, file: &Path, patience: Duration) -> Result<OpenState, String> {
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        let mut left = patience;
        loop {
            match self.try_open(file)? {
                Ok(open) => return Ok(open),
                Err(DatabaseError::DatabaseAlreadyOpen) if left.is_zero() => {
                    return Err(format!("another {} has {} open", self.service, file.display()));
                }
                Err(DatabaseError::DatabaseAlreadyOpen) => {
                    thread::sleep(RETRY);
                    left = left.saturating_sub(RETRY);
                }
                Err(error) => return Err(format!("cannot open {}: {error}", file.display())),
            }
        }
    }

    /// Refuses what no service's state can be, without opening the database. The file may be in
    /// use.
    ///
    /// # Errors
    /// The error of [`Self::open`] for a file that is not of redb.
    pub fn check(&self, file: &Path) -> Result<(), String> {
        match is_database(file).map_err(|error| format!("{}: {error}", file.display()))? {
            Some(false) => Err(self.foreign_file_error(file)),
            _ => Ok(()),
        }
    }

    /// Opens the file, or creates it. A damaged file of this service is renamed, and an empty one
    /// replaces it. The inner error may pass, as if another process has the file open.
    fn try_open(&self, file: &Path) -> Result<Result<OpenState, DatabaseError>, String> {
        let found = match self.identify_file(file) {
            Ok(FileKind::Foreign) => return Err(self.foreign_file_error(file)),
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        match (self.create(file), found) {
            (Err(error), FileKind::Own) if is_damaged(&error) => {
                let aside = self.put_aside(file)?;
                let why = format!(
                    "{} is damaged ({error}): it is now {}, and nothing is remembered",
                    file.display(),
                    aside.display()
                );
                let database = self.create(file);
                Ok(database.map(|database| OpenState { database, put_aside: Some(why) }))
            }
            (created, _) => Ok(created.map(|database| OpenState { database, put_aside: None })),
        }
    }

    /// Finds out whose a file is, and only reads it.
    fn identify_file(&self, file: &Path) -> Result<FileKind, DatabaseError> {
        match is_database(file)? {
            None => return Ok(FileKind::Nothing),
            Some(false) => return Ok(FileKind::Foreign),
            Some(true) => {}
        }
        let is_own = match Builder::new().set_cache_size(self.cache).open_read_only(file) {
            Ok(database) => self.has_own_table(&database)?,
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                return Err(DatabaseError::DatabaseAlreadyOpen);
            }
            // Damaged, or not closed when its process ended: only a writer may repair it, so its
            // tables are not listed yet.
            Err(_) => self.names_own_table(File::open(file)?)?,
        };
        Ok(if is_own { FileKind::Own } else { FileKind::Foreign })
    }

    /// Returns true for a table of this service, or if there is no table at all: the process ended
    /// before its first transaction.
    fn has_own_table(&self, database: &impl ReadableDatabase) -> Result<bool, DatabaseError> {
        let reading = database.begin_read().map_err(|error| match error {
            TransactionError::Storage(error) => error,
            other => StorageError::Corrupted(other.to_string()),
        })?;
        let mut tables = reading.list_tables()?.peekable();
        let is_empty = tables.peek().is_none();
        let is_own = |name: &str| self.tables.iter().any(|own| name.starts_with(own));
        Ok(is_empty || tables.any(|table| is_own(table.name())))
    }

    /// Returns true if the name of a table of this service stands anywhere in the file: redb keeps
    /// names as they are.
    fn names_own_table(&self, mut file: impl Read) -> io::Result<bool> {
        let longest = self.tables.iter().map(|name| name.len()).max().unwrap_or_default();
        let mut bytes = Vec::new();
        loop {
            let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)?;
            let has = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
            if self.tables.iter().any(|name| has(name.as_bytes())) {
                return Ok(true);
            }
            if read == 0 {
                return Ok(false);
            }
            // A name may begin in one chunk and end in the next one.
            bytes.drain(..bytes.len().saturating_sub(longest));
        }
    }

    /// Opens or creates the database, and lets only its owner read and write the file.
    fn create(&self, file: &Path) -> Result<Database, DatabaseError> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false).mode(PRIVATE);
        let file = options.open(file)?;
        // The file may have been made by hand.
        file.set_permissions(Permissions::from_mode(PRIVATE))?;
        Builder::new().set_cache_size(self.cache).create_with_backend(FileBackend::new(file)?)
    }

    /// Moves a damaged file, and says where to. Only an earlier damaged file of the service is
    /// replaced.
    fn put_aside(&self, file: &Path) -> Result<PathBuf, String> {
        let aside = file.with_extension("damaged");
        let cannot = |error: io::Error| {
            format!("cannot put {} aside as {}: {error}", file.display(), aside.display())
        };
        if fs::symlink_metadata(&aside).is_ok()
            && !File::open(&aside).and_then(|old| self.names_own_table(old)).map_err(cannot)?
        {
            return Err(format!(
                "{} is damaged, and {}, where it would be put, is not a state file of the {}: move one of them away",
                file.display(),
                aside.display(),
                self.service
            ));
        }
        fs::rename(file, &aside).map_err(cannot)?;
        Ok(aside)
    }

    fn foreign_file_error(&self, file: &Path) -> String {
        format!(
            "{} is not a state file of the {}, and stays as it is: name another file, or move this one away",
            file.display(),
            self.service
        )
    }
}

/// Returns true if it begins as redb's files do; `None` if it does not exist or is empty. Only
/// regular files are databases.
fn is_database(file: &Path) -> io::Result<Option<bool>> {
    let data = match fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        data => data?,
    };
    if !data.is_file() {
        return Ok(Some(false));
    }
    let mut begin = Vec::new();
    File::open(file)?.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok((!begin.is_empty()).then_some(begin == MAGIC))
}

/// Returns true if another file may work where this one does not.
fn is_damaged(error: &DatabaseError) -> bool {
    match error {
        DatabaseError::Storage(StorageError::Corrupted(_))
        | DatabaseError::UpgradeRequired(_)
        | DatabaseError::RepairAborted => true,
        DatabaseError::Storage(StorageError::Io(error)) => {
            matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
