//! Reading the files that the user names.

use crate::failure::Failure;
use std::fs;
use std::path::Path;
use workload::{BUILTINS, Page, parse_har};

/// A file's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// The page that `name` stands for: one that comes with headstart, or a HAR file.
pub(crate) fn page(name: &str) -> Result<Page, Failure> {
    if let Some(page) = Page::builtin(name) {
        return Ok(page);
    }
    let path = Path::new(name);
    let looks_like_file = path.components().count() > 1 || path.extension().is_some();
    if !looks_like_file && !path.exists() {
        let known = BUILTINS.map(|page| page.name).join(", ");
        return Err(Failure::input(format!(
            "no page {name:?}: name one of {known}, or a HAR file"
        )));
    }
    parse_har(&read(path)?, name).map_err(Failure::input)
}
