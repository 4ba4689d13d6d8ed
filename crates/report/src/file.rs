//! Files that appear whole or not at all.
//!
//! A report is written to a temporary file in the folder of its final name, flushed to disk, and
//! renamed over it. So a reader, a full disk or a crash never meets half of it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Error of a file that could not be written; it names the path and the cause.
#[derive(Debug)]
pub struct WriteError {
    path: PathBuf,
    cause: io::Error,
}

impl WriteError {
    /// The operating system's error.
    pub const fn cause(&self) -> &io::Error {
        &self.cause
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Writes `bytes` under `path`, replacing a regular file there, so that the name always stands for
/// a whole file. A symbolic link is followed; a device or pipe is written to directly, since a
/// rename would replace it by a file.
///
/// # Errors
/// If the folder cannot be written or the disk is full: the name is then as it was before, and no
/// temporary file stays behind.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let written = match fs::metadata(path) {
        _ if names_a_folder(path) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(there) if there.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(there) if there.is_file() => fs::canonicalize(path).and_then(|p| replace(&p, bytes)),
        Ok(_) => OpenOptions::new().write(true).open(path).and_then(|mut f| f.write_all(bytes)),
        Err(_) => replace(path, bytes),
    };
    written.map_err(|cause| WriteError { path: path.to_owned(), cause })
}

/// Checks that [`write_atomically`] can write under `path`, by making and removing an empty file
/// beside it. For use before hours of work whose result is to be written there. A pipe is left
/// alone: its reader would take the end of the check for the end of the file.
///
/// # Errors
/// If the folder does not exist or cannot be written, or `path` is a folder or ends with a slash.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let tried = match fs::metadata(path) {
        _ if names_a_folder(path) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(there) if there.file_type().is_fifo() => Ok(()),
        Ok(there) if there.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(there) if there.is_file() => fs::canonicalize(path).and_then(|p| try_beside(&p)),
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(_) => try_beside(path),
    };
    tried.map_err(|cause| WriteError { path: path.to_owned(), cause })
}

/// `out/` and `out/.` name a folder, whether it is there or not.
fn names_a_folder(path: &Path) -> bool {
    let name = path.as_os_str().as_bytes();
    name.ends_with(b"/") || name.ends_with(b"/.")
}

fn try_beside(path: &Path) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    let (_, temporary) = create_beside(path)?;
    fs::remove_file(temporary)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    let (file, temporary) = create_beside(path)?;
    let done = keep_permissions(path, &file)
        .and_then(|()| write_and_sync(file, bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // The first error is the one to report; a file that cannot be removed either changes
        // nothing.
        let _ = fs::remove_file(&temporary);
        return done;
    }
    sync_folder(path);
    Ok(())
}

/// Gives the new file the permissions of the one it replaces: a private report stays private.
fn keep_permissions(path: &Path, file: &File) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) => file.set_permissions(there.permissions()),
        Err(_) => Ok(()),
    }
}

fn write_and_sync(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// Creates a new hidden file beside `path`. The name holds the process id, and a counter for what a
/// killed process of the same id may have left, so that nothing existing is ever opened.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0;
    loop {
        let name = format!(".headstart-{}-{attempt}.tmp", std::process::id());
        let temporary = path.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            opened => return opened.map(|file| (file, temporary)),
        }
    }
}

/// Makes the new name itself survive a power failure. Not every file system can; the file is whole
/// either way, so a refusal is no error.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
