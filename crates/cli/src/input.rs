//! Reading the files that the user names.

use crate::failure::Failure;
use std::fs;
use std::path::Path;
use workload::{BUILTINS, Page, parse_har};

/// A file's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// Larger objects take hours.
const MOST_BYTES: u64 = 10_000_000_000;

/// The page that `name` stands for: one that comes with headstart, one object of a size, or a HAR file.
pub(crate) fn page(name: &str) -> Result<Page, Failure> {
    if let Some(page) = Page::builtin(name) {
        return Ok(page);
    }
    match units::parse_bytes(name) {
        Ok(bytes @ 1..=MOST_BYTES) => return Ok(Page::single(bytes)),
        Ok(_) => {
            return Err(Failure::input(format!("an object of {name}: from 1B to 10000MB, please")));
        }
        Err(_) => {}
    }
    let path = Path::new(name);
    let looks_like_file = path.components().count() > 1 || path.extension().is_some();
    if !looks_like_file && !path.exists() {
        let known = BUILTINS.map(|page| page.name).join(", ");
        return Err(Failure::input(format!(
            "no page {name:?}: name one of {known}, a size like 30kB, or a HAR file"
        )));
    }
    parse_har(&read(path)?, name).map_err(Failure::input)
}
