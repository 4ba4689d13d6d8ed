//! The file of `--report`: refused before long work if it cannot be written to, and written whole or not at all.

use crate::failure::{Failure, remark};
use report::{check_writable, write_atomically};
use std::path::Path;

/// Refuses a place that cannot be written to.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    check_writable(path).map_err(|why| Failure::input(format!("--report: {why}")))
}

/// Writes the page, and says where.
pub(crate) fn write(path: &Path, html: &str) -> Result<(), Failure> {
    write_atomically(path, html.as_bytes()).map_err(Failure::failed)?;
    remark(&format!("report: {}", path.display()));
    Ok(())
}
