//! Reading the files that the user names.

use crate::failure::Failure;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Standard input, as a file's name.
pub const STANDARD_INPUT: &str = "-";

/// The process may not open more files (`EMFILE`).
const TOO_MANY_OPEN: i32 = 24;

/// The bytes of a file, or of standard input if it is called `-`.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == STANDARD_INPUT {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        let named = |error| Failure::input(format!("standard input: {error}"));
        return read.map(|_| bytes).map_err(named);
    }
    fs::read(path).map_err(|error| Failure::input(unreadable(path, &error)))
}

/// The text of a file; `what` it is: "a plan".
pub fn read_text(path: &Path, what: &str) -> Result<String, Failure> {
    String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::input(format!("{}:{line}: not UTF-8; {what} is text", path.display()))
    })
}

/// Message for a file that cannot be read, with the way out.
pub fn unreadable(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        ErrorKind::NotFound => format!("{shown}: no such file{}", neighbours(path)),
        ErrorKind::IsADirectory => format!("{shown}: is a folder; name a file in it"),
        ErrorKind::PermissionDenied => {
            format!("{shown}: this user may not read it; change its permissions, or copy it")
        }
        _ if error.raw_os_error() == Some(TOO_MANY_OPEN) => format!(
            "{shown}: too many files are open at once; `ulimit -n 65536` allows more, and `mergecap` makes one of many"
        ),
        _ => format!("{shown}: {error}"),
    }
}

/// The files beside it with names like its own, or the folder that is missing.
fn neighbours(path: &Path) -> String {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(folder) else {
        return format!("; its folder {} does not exist", folder.display());
    };
    let names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match support::errors::meant(&name, &names) {
        near if near.is_empty() => "; check its name and folder".to_owned(),
        near => near,
    }
}
