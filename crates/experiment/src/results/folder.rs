//! The folder of results: which plan owns it, which runs it holds.
//!
//! A folder is owned by one part of one plan, which its manifest names. One process at a time
//! writes to it.

use crate::results::run::{self, RUNS};
use crate::results::{Manifest, ResultsError, manifest, tables};
use report::check_writable;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A folder that no other process writes to.
pub struct Folder {
    path: PathBuf,
    /// Holds the lock.
    _lock: File,
}

impl Folder {
    /// Takes the folder for results that `manifest` describes.
    ///
    /// The folder may be new, empty, or hold results of the same part of the same plan. With
    /// `force` it may hold results of any plan, which are removed. A folder without results gets a
    /// manifest at once, without a completed run. Even if this process is killed, the plan owns the
    /// folder.
    ///
    /// # Errors
    /// If the folder holds something else, another process writes to it, or it cannot be written.
    pub fn open(path: &Path, manifest: &Manifest, force: bool) -> Result<Self, ResultsError> {
        let wrong = |why: &dyn std::fmt::Display| {
            ResultsError::refused(format!("{}: {why}", path.display()))
        };
        fs::create_dir_all(path).map_err(|error| wrong(&no_place(&error)))?;
        let lock = File::open(path).map_err(|error| wrong(&no_place(&error)))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(wrong(&"another headstart is writing there; use another --out"));
            }
            // Not every file system can lock; then the user has to avoid two processes in one
            // folder.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let folder = Self { path: path.to_owned(), _lock: lock };
        let is_owned = match Manifest::read(path)? {
            Some(there) if there.is_same_part(manifest) => true,
            Some(_) if force => {
                folder.remove_runs().map_err(|error| wrong(&error))?;
                false
            }
            Some(there) => return Err(wrong(&difference(&there, manifest))),
            None if folder.is_empty() => false,
            None => {
                return Err(wrong(
                    &"holds files that are no results of a plan; name another folder with --out",
                ));
            }
        };
        folder.refuse_unwritable_manifest()?;
        if !is_owned {
            Manifest { done: 0, failed: Vec::new(), ..manifest.clone() }.write(path)?;
        }
        folder.refuse_unwritable()?;
        Ok(folder)
    }

    /// Like [`Self::refuse_unwritable`], for the manifest.
    fn refuse_unwritable_manifest(&self) -> Result<(), ResultsError> {
        try_place(&self.path.join(manifest::FILE))
    }

    /// Tries the writes of the end: hours of runs must not be followed by a refusal.
    fn refuse_unwritable(&self) -> Result<(), ResultsError> {
        let runs = self.path.join(RUNS);
        fs::create_dir_all(&runs).map_err(|error| unwritable(&runs, &error))?;
        try_place(&runs.join("new"))?;
        for table in tables::ALL {
            let table = self.path.join(table);
            match OpenOptions::new().append(true).open(&table) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(unwritable(&table, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Splits `runs` into runs with a result and runs without.
    pub fn split(&self, runs: impl Iterator<Item = usize>) -> (Vec<usize>, Vec<usize>) {
        runs.partition(|run| run::is_done(&self.path, *run))
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none())
    }

    /// Removes the runs; tables and manifest are rewritten. The old manifest stays until the new
    /// one replaces it: a folder without one would have no owner.
    fn remove_runs(&self) -> std::io::Result<()> {
        match fs::remove_dir_all(self.path.join(RUNS)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn try_place(path: &Path) -> Result<(), ResultsError> {
    check_writable(path).map_err(|error| unwritable(path, error.cause()))
}

/// Error that names the path that cannot be written, and the way out.
fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> ResultsError {
    let shown = path.display();
    ResultsError::refused(format!(
        "cannot write {shown}: {error}; change its permissions, or name another folder with --out"
    ))
}

/// Reason why a path can be no folder of results, and the way out.
fn no_place(error: &io::Error) -> String {
    format!("cannot be a folder for results: {error}; name another with --out")
}

/// The difference between the existing results and the wanted ones.
fn difference(there: &Manifest, wanted: &Manifest) -> String {
    let what = if there.plan_sha256 != wanted.plan_sha256 {
        "results of another plan, or of this one before it was changed".to_owned()
    } else if there.headstart != wanted.headstart {
        format!("results of headstart {}", there.headstart)
    } else {
        format!(
            "results of {}",
            there.shard.as_deref().map_or("the whole plan".into(), |s| format!("part {s}"))
        )
    };
    format!("holds {what}; name another folder with --out, or throw them away with --force")
}
