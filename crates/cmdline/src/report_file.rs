//! The file of `--report`: refused before long work if it may not be replaced or cannot be written
//! to, and written whole or not at all.

use crate::failure::{Failure, remark};
use report::{check_writable, write_atomically};
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Refuses a path that cannot be written to, a file that the command reads, and a file that is no
/// page: a mistake must not destroy a capture. `inputs` are the files that the command reads.
pub fn check<'a>(path: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let refused = |why: &str| Err(Failure::input(format!("--report {}: {why}", path.display())));
    if let Ok(there) = fs::metadata(path) {
        if let Some(input) = inputs.into_iter().find(|input| is_same(&there, input)) {
            return refused(&format!(
                "that is {} itself, which this command reads; name another file",
                input.display()
            ));
        }
        if there.is_file() && !may_be_replaced(path, &there) {
            return refused(
                "there is a file that is no HTML page; remove it, or name another file",
            );
        }
    }
    check_writable(path).or_else(|error| {
        refused(&format!(
            "{}; name a file in a folder that exists and can be written",
            error.cause()
        ))
    })
}

/// True if `input` is the file `there`, under whatever name.
fn is_same(there: &Metadata, input: &Path) -> bool {
    let is_device = there.file_type().is_char_device();
    fs::metadata(input)
        .is_ok_and(|input| !is_device && (input.dev(), input.ino()) == (there.dev(), there.ino()))
}

/// Beginnings of a page, in lower case: ours with the first, others' also with the second.
const BEGINNINGS: [&[u8]; 2] = [b"<!doctype html", b"<html"];
/// Bytes within which a page begins.
const BEGINNING: u64 = 256;

/// True of an empty file and of an HTML page.
fn may_be_replaced(path: &Path, there: &Metadata) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let bytes = bytes.trim_ascii_start().to_ascii_lowercase();
    let is_page = BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning));
    there.len() == 0 || (read.is_ok() && is_page)
}

/// Writes the page, and says where.
pub fn write(path: &Path, html: &str) -> Result<(), Failure> {
    save(path, html).map(|place| remark(&place))
}

/// Writes the page; returns the words that say where.
///
/// # Errors
/// If the file cannot be written.
pub fn save(path: &Path, html: &str) -> Result<String, Failure> {
    write_atomically(path, html.as_bytes()).map_err(Failure::failed)?;
    Ok(format!("report: {}", path.display()))
}
